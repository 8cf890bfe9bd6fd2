// The way into the engine: a bounded queue, several producers, one consumer.
//
// A request is written into a cell that belongs to its producer, and enters the queue when one
// compare-and-swap puts the cell's number into a slot: drawing the ticket and storing are one step.
// So there is no moment at which a producer holds a place that it has not filled: one that stops
// for ever, wherever it stops, loses at most its own request and keeps nobody waiting.
//
// MEMORY ORDER. The word of a slot grows: ticket t (slot t % slots, lap l = t / slots) finds it as
//   l, 0        free for ticket t
//   l, 1 + c    ticket t is the request in cell c;  then l + 1, 0: free for ticket t + slots
// with the lap in the upper bits, so no value ever comes back. tail is a hint: every slot of a
// ticket below it was filled; never more, and perhaps a few less than all that are.
//   Producer                                         Consumer, at ticket h
//   P1  cell.put(request)                            T1  word.load(acquire): h is filled
//   P2  t = tail.load(relaxed)                       T2  cell.get()
//   P3  word.load(relaxed): free for t?              T3  word.store(free for h + slots, relaxed)
//   P4  CAS word: free for t -> t is c (release)
//   P5  CAS tail: t -> t + 1 (relaxed); again from P2 unless P4 was ours
// E1  P4 -> T1: who sees the number of the cell sees the request in it. Between two producers and
//     from T3 to P4 no data passes, only the word itself, and a CAS reads the newest: relaxed.
// E2  T2 -> P1 of the next request in the same cell: not by this queue. The producer must have
//     seen, with acquire, something the consumer stored with release after T2: in
//     match/producer.hpp it is the acknowledgement, of which each request has one.
//
// Why P5 may be anybody's: P3 saw a word that is not older than "t is filled", so t is filled, and
// tail moves over it. A producer that stops between P4 and P5 leaves a tail that others move. A
// tail that was read late leads to a word that is newer than free for t: P5 fails and, as every
// CAS, has read a newer tail. Somebody's P4 succeeds whenever another's fails: lock-free.
// Full: the word is older than free for t, that is, ticket t - slots has not been taken as far as
// this producer can see. What is taken before a push in the order of happens-before is seen.
// Order: tickets of one producer grow, and so do those of two where one push happens before the
// other. The consumer takes in the order of the tickets.
// Wrap: laps have 44 bits; at 10^7 requests a second and 1,024 slots that is 57 years.
//
// tests/match_queue_model_test.cpp explores what the memory model allows, producers killed at every
// step among it; match_mutants_test.py weakens every labelled line and demands that it notices.
// May depend on core.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wirebook/core/base.hpp"
#include "wirebook/match/memory.hpp"
#include "wirebook/match/request.hpp"

namespace wirebook::match {

// Where a queue lies in somebody's memory, all zero at first.
template <class Memory>
struct QueueView {
    using Word = typename Memory::Word;
    using Cell = typename Memory::template Cell<Request>;

    Word* slots = nullptr;         // slot s: slots[s * slot_stride]
    std::uint64_t slot_count = 1;  // a power of two
    Word* tail = nullptr;
    Cell* cells = nullptr;
    std::size_t cell_count = 0;  // at most max_cells

    // A slot has a cache line of its own: neighbours are in use by other threads.
    static constexpr std::size_t slot_stride = cache_line_bytes / 8;
    static constexpr int cell_bits = 20;
    static constexpr std::size_t max_cells = (std::size_t{1} << cell_bits) - 1;

    [[nodiscard]] Word& slot(std::uint64_t ticket) const noexcept {
        return slots[(ticket & (slot_count - 1)) * slot_stride];
    }
    [[nodiscard]] std::uint64_t free_for(std::uint64_t ticket) const noexcept {
        return ticket >> std::countr_zero(slot_count) << cell_bits;
    }
};

// False: the queue is full, nothing happened. `cell` is the caller's to write (E2).
template <class Memory>
[[nodiscard]] inline bool push_request(const QueueView<Memory>& queue, std::size_t cell,
                                       const Request& request) noexcept {
    queue.cells[cell].put(request);  // P1
    for (;;) {
        std::uint64_t t = queue.tail->load(std::memory_order_relaxed);  // P2
        auto& slot = queue.slot(t);
        const std::uint64_t free = queue.free_for(t), filled = free + 1 + cell;
        std::uint64_t word = slot.load(std::memory_order_relaxed);  // P3
        if (word < free) return false;
        bool ours = false;
        if (word == free)
            ours = slot.compare_exchange_strong(word, filled, std::memory_order_release,  // P4
                                                std::memory_order_relaxed);
        queue.tail->compare_exchange_strong(t, t + 1, std::memory_order_relaxed,  // P5
                                            std::memory_order_relaxed);
        if (ours) return true;
    }
}

// The consumer's end. One thread.
template <class Memory>
class QueueTaker {
public:
    QueueTaker() = default;
    explicit QueueTaker(const QueueView<Memory>& queue) noexcept : queue_(queue) {}

    // Fills `out` from the front with what there is. Returns how many.
    [[nodiscard]] std::size_t take(std::span<Request> out) noexcept {
        std::size_t count = 0;
        for (; count < out.size(); ++count, ++next_) {
            auto& slot = queue_.slot(next_);
            const std::uint64_t free = queue_.free_for(next_);
            const std::uint64_t word = slot.load(std::memory_order_acquire);  // T1
            if (word <= free) break;
            out[count] = queue_.cells[word - free - 1].get();  // T2
            const std::uint64_t next_lap = queue_.free_for(next_ + queue_.slot_count);
            slot.store(next_lap, std::memory_order_relaxed);  // T3
        }
        return count;
    }

    [[nodiscard]] std::uint64_t taken() const noexcept { return next_; }

private:
    QueueView<Memory> queue_;
    std::uint64_t next_ = 0;
};

}  // namespace wirebook::match
