// One producer's two ends: requests into the engine's queue, acknowledgements and fills back.
//
// A producer has at most in_flight requests that it has not read the acknowledgement of: each has
// a cell of its own there, free again with that acknowledgement, and room for the acknowledgement
// is kept in its ring. So none is ever lost, and the engine never waits for a producer. What else
// the engine tells a producer (fills of resting orders, removals ...) has no bound: where the ring
// has no room for it, it is left out and counted, and the next record that fits says so.
//
// May depend on core. One thread at a time per producer; different ones at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "wirebook/core/base.hpp"
#include "wirebook/match/report.hpp"
#include "wirebook/match/request_queue.hpp"
#include "wirebook/match/staged_ring.hpp"

namespace wirebook::match {

// What a producer reads back.
struct alignas(cache_line_bytes) Ack {
    Report report{};
    std::uint64_t sequence = 0;  // of the request that caused it, from 1: its place in the journal
    std::uint64_t lost = 0;      // reports for this producer left out so far; grown: some before
    std::uint64_t unused[6] = {};
};
static_assert(sizeof(Ack) == 192 && std::is_trivially_copyable_v<Ack>);

enum class PushResult : std::uint8_t {
    pushed,
    no_credit,   // in_flight requests are not acknowledged, or their acknowledgements not read
    queue_full,  // as far as this producer can see
};

template <class Memory>
class BasicProducer {
public:
    using Queue = QueueView<Memory>;
    using Acks = RingPlace<Memory, Ack>;

    BasicProducer() = default;
    // Uses cells index * in_flight and up of the queue.
    BasicProducer(const Queue& queue, const Acks& acks, std::uint16_t index,
                  std::uint32_t in_flight) noexcept
        : queue_(queue),
          acks_(acks),
          first_cell_(std::size_t{index} * in_flight),
          in_flight_(in_flight),
          index_(index) {}

    // Never waits. Request::producer becomes this one's.
    [[nodiscard]] PushResult push(Request request) noexcept {
        if (unacknowledged() == in_flight_) return PushResult::no_credit;
        request.producer = index_;
        // Acknowledgements come in the order of the requests: the oldest cell is the free one.
        if (!push_request(queue_, first_cell_ + cell_, request)) return PushResult::queue_full;
        pushed_ += 1;
        cell_ = cell_ + 1 == in_flight_ ? 0 : cell_ + 1;
        return PushResult::pushed;
    }

    // The next report for this producer, in the order in which the engine made them.
    [[nodiscard]] bool poll(Ack& out) noexcept {
        if (acks_.available() == 0) return false;
        acks_.read(out);
        acks_.consume();
        if (is_acknowledgement(out.report)) acknowledged_ += 1;
        lost_ = out.lost;
        return true;
    }

    [[nodiscard]] std::uint16_t index() const noexcept { return index_; }
    [[nodiscard]] std::uint64_t pushed() const noexcept { return pushed_; }
    [[nodiscard]] std::uint64_t unacknowledged() const noexcept { return pushed_ - acknowledged_; }
    // Reports left out before the newest that was read.
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }

private:
    Queue queue_;
    StagedReader<Memory, Ack> acks_;
    std::size_t first_cell_ = 0;
    std::uint64_t pushed_ = 0, acknowledged_ = 0, lost_ = 0;
    std::uint32_t in_flight_ = 0, cell_ = 0;
    std::uint16_t index_ = 0;
};

// The engine's side of a producer's ring. One thread, the engine's.
template <class Memory>
class BasicAckWriter {
public:
    BasicAckWriter() = default;
    // More slots than in_flight.
    BasicAckWriter(const RingPlace<Memory, Ack>& ring, std::uint32_t in_flight) noexcept
        : ring_(ring), writer_(ring), in_flight_(in_flight) {}

    // There is always room: of all slots, those that hold something else are never more than
    // slots - in_flight (deliver() sees to it), and acknowledgements, read or not, never more
    // than in_flight (push() does).
    void acknowledge(const Report& report, std::uint64_t sequence) noexcept {
        WIREBOOK_CHECK(writer_.room(1) != 0);
        writer_.stage({report, sequence, lost_, {}});
    }
    // False: no room beside what acknowledgements may need; left out and counted.
    bool deliver(const Report& report, std::uint64_t sequence) noexcept {
        if (writer_.room(in_flight_ + 1) <= in_flight_) {
            lost_ += 1;
            return false;
        }
        writer_.stage({report, sequence, lost_, {}});
        return true;
    }
    // Shows the producer all reports of requests up to `sequence`.
    void release(std::uint64_t sequence) noexcept {
        std::uint64_t end = released_;
        while (end != writer_.staged() && ring_.slot(end).get().sequence <= sequence) end += 1;
        if (end == released_) return;
        released_ = end;
        writer_.publish(end);
    }
    [[nodiscard]] bool all_released() const noexcept { return released_ == writer_.staged(); }
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }

private:
    RingPlace<Memory, Ack> ring_;
    StagedWriter<Memory, Ack> writer_;
    std::uint64_t released_ = 0;
    std::uint64_t lost_ = 0;
    std::uint32_t in_flight_ = 0;
};

using Producer = BasicProducer<HardwareMemory>;
using AckWriter = BasicAckWriter<HardwareMemory>;

}  // namespace wirebook::match
