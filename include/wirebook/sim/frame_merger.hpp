// Frames of several lines, or of one whose frames overtake each other, in the order of their times:
// one file of both lines, one clock for what is sent.
//
// A frame waits until it is known that nothing earlier can come: until advance() has passed its
// time. Equal times: the lower line first, then the order of arrival. May depend on core. One
// thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "wirebook/sim/frame.hpp"

namespace wirebook::sim {

template <FrameSink Next>
class FrameMerger {
public:
    explicit FrameMerger(Next& next) noexcept : next_(next) {}

    void on_frame(const FrameView& frame) {
        Waiting waiting{frame, number_++, take_spare()};
        waiting.bytes.assign(frame.bytes.begin(), frame.bytes.end());
        heap_.push_back(std::move(waiting));
        std::push_heap(heap_.begin(), heap_.end(), later);
    }

    // No frame of a time before `time_ns` will come any more.
    void advance(std::int64_t time_ns) {
        while (!heap_.empty() && heap_.front().frame.time_ns < time_ns) pass_on();
    }
    void finish() {
        while (!heap_.empty()) pass_on();
    }
    [[nodiscard]] std::size_t waiting() const noexcept { return heap_.size(); }

private:
    struct Waiting {
        FrameView frame;
        std::uint64_t number = 0;
        std::vector<std::byte> bytes;
    };

    static bool later(const Waiting& a, const Waiting& b) noexcept {
        if (a.frame.time_ns != b.frame.time_ns) return a.frame.time_ns > b.frame.time_ns;
        if (a.frame.line != b.frame.line) return a.frame.line > b.frame.line;
        return a.number > b.number;
    }
    void pass_on() {
        std::pop_heap(heap_.begin(), heap_.end(), later);
        Waiting waiting = std::move(heap_.back());
        heap_.pop_back();
        waiting.frame.bytes = waiting.bytes;
        next_.on_frame(waiting.frame);
        spare_.push_back(std::move(waiting.bytes));
    }
    std::vector<std::byte> take_spare() {
        if (spare_.empty()) return {};
        std::vector<std::byte> buffer = std::move(spare_.back());
        spare_.pop_back();
        return buffer;
    }

    Next& next_;
    std::vector<Waiting> heap_;
    std::vector<std::vector<std::byte>> spare_;  // buffers to be used again
    std::uint64_t number_ = 0;
};

}  // namespace wirebook::sim
