// The heap of heads. An input without a head holds everything up: it might be the earliest.
#include "wirebook/io/capture_merge.hpp"

#include <algorithm>

namespace wirebook::io {

CaptureMerge::CaptureMerge(std::vector<std::unique_ptr<CaptureInput>> inputs)
    : inputs_(std::move(inputs)) {
    lanes_.reserve(inputs_.size());
    heap_.reserve(inputs_.size());
    starved_.reserve(inputs_.size());
    for (const auto& input : inputs_) {
        lanes_.push_back(std::make_unique<Lane>());
        lanes_.back()->input = input.get();
        starved_.push_back(lanes_.back().get());
    }
}

std::size_t CaptureMerge::take(std::span<wire::Packet> out) noexcept {
    std::size_t count = 0;
    while (count < out.size()) {
        const auto wait = count == 0 ? patience : patience.zero();
        std::size_t taken = 0;
        if (heap_.empty() && starved_.size() == 1) {
            taken = take_alone(out.subspan(count), wait);
        } else if (feed_starved(wait) && !heap_.empty()) {
            taken = take_run(out.subspan(count));
        }
        if (taken == 0) break;
        count += taken;
    }
    return count;
}

// One input is left: its packets need no look-ahead.
std::size_t CaptureMerge::take_alone(std::span<wire::Packet> out,
                                     std::chrono::milliseconds wait) noexcept {
    CaptureInput& input = *starved_.front()->input;
    const std::size_t count = input.fill(out, wait);
    if (count == 0 && input.ended()) starved_.clear();
    return count;
}

// Takes from the input with the earliest head as long as no other goes before it; at least one.
std::size_t CaptureMerge::take_run(std::span<wire::Packet> out) noexcept {
    Lane& lane = *heap_.front();
    const Lane* other = second();
    std::size_t count = 0;
    while (count < out.size() && (other == nullptr || before(&lane, other))) {
        out[count++] = lane.ahead[lane.first++];
        if (!lane.empty()) continue;
        if (other == nullptr || !refill(lane, patience.zero())) {
            pop_to_starved();
            return count;
        }
    }
    sift_down();
    return count;
}

std::size_t CaptureMerge::take_due(std::span<wire::Packet> out, Pacer& pacer,
                                   std::uint64_t now_tsc) noexcept {
    std::size_t count = 0;
    while (count < out.size()) {
        if (!feed_starved(count == 0 ? patience : patience.zero()) || heap_.empty()) break;
        Lane& lane = *heap_.front();
        const wire::Packet& head = lane.head();
        const bool has_time = head.time_source != wire::TimeSource::none;
        const std::uint64_t due = pacer.due(head.receive_time_ns, has_time, now_tsc);
        if (due > now_tsc) break;
        out[count] = head;
        out[count++].receive_tsc = due;
        ++lane.first;
        if (lane.empty() && !refill(lane, patience.zero())) {
            pop_to_starved();
        } else {
            sift_down();
        }
    }
    return count;
}

bool CaptureMerge::look_ahead(std::vector<wire::Packet>& out) {
    if (!feed_starved(patience)) return false;
    for (const Lane* lane : heap_) {
        const auto ahead = std::span<const wire::Packet>(lane->ahead);
        const auto known = ahead.subspan(lane->first, lane->last - lane->first);
        out.insert(out.end(), known.begin(), known.end());
    }
    return true;
}

const wire::Packet* CaptureMerge::head() const noexcept {
    return heap_.empty() || !starved_.empty() ? nullptr : &heap_.front()->head();
}

bool CaptureMerge::before(const Lane* a, const Lane* b) const noexcept {
    const wire::Packet& left = a->head();
    const wire::Packet& right = b->head();
    if (left.receive_time_ns != right.receive_time_ns) {
        return left.receive_time_ns < right.receive_time_ns;
    }
    return left.input < right.input;
}

bool CaptureMerge::refill(Lane& lane, std::chrono::milliseconds wait) noexcept {
    lane.first = 0;
    lane.last = lane.input->fill(lane.ahead, wait);
    return lane.last > 0;
}

// True when every input that has not ended shows its head.
bool CaptureMerge::feed_starved(std::chrono::milliseconds wait) noexcept {
    while (!starved_.empty()) {
        Lane* lane = starved_.back();
        if (refill(*lane, wait)) {
            push(lane);
        } else if (!lane->input->ended()) {
            return false;
        }
        starved_.pop_back();
    }
    return true;
}

void CaptureMerge::push(Lane* lane) noexcept {
    heap_.push_back(lane);
    std::push_heap(heap_.begin(), heap_.end(),
                   [this](const Lane* a, const Lane* b) { return before(b, a); });
}

// The front's head changed: puts it where it belongs.
void CaptureMerge::sift_down() noexcept {
    std::size_t at = 0;
    for (;;) {
        std::size_t child = 2 * at + 1;
        if (child >= heap_.size()) return;
        if (child + 1 < heap_.size() && before(heap_[child + 1], heap_[child])) ++child;
        if (!before(heap_[child], heap_[at])) return;
        std::swap(heap_[child], heap_[at]);
        at = child;
    }
}

// The front has no head any more: it waits with the starved ones (or has ended, which
// feed_starved() finds).
void CaptureMerge::pop_to_starved() noexcept {
    starved_.push_back(heap_.front());
    heap_.front() = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sift_down();
}

const CaptureMerge::Lane* CaptureMerge::second() const noexcept {
    if (heap_.size() < 2) return nullptr;
    if (heap_.size() == 2 || before(heap_[1], heap_[2])) return heap_[1];
    return heap_[2];
}

}  // namespace wirebook::io
