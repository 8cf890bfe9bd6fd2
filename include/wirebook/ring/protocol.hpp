// The protocol of the segment: one writer, any number of readers that write nothing.
//
// MEMORY ORDER. A block is a row of words. Word 0 says which record n the others hold:
//   0      none yet          2n+1   n is being written          2n+2   n is complete
//   W1  word[0].store(2n+1, relaxed)      R1  v = word[0].load(acquire): even and not 0
//   W2  fence(release)                    R2  word[i].load(relaxed)
//   W3  word[i].store(relaxed)            R3  fence(acquire)
//   W4  word[0].store(2n+2, release)      R4  word[0].load(relaxed) == v, else thrown away
// E1  W4 -> R1: who sees 2n+2 sees all words of n.
// E2  W2 -> R3: if R2 reads a word of n' > n, R4 is ordered after W1 of n': thrown away.
// Slots of the ring, entries of the last-value table, rows of instruments: all are blocks. Slot s
// holds record n when n % slots == s; entry i the newest snapshot of instrument i, under its n.
//
// A publication of n:
//   P1  the slot (W1..W4)    P2  a snapshot's entry (W1..W4)    P3  published.store(n+1, release)
// Joining without a hole:
//   J1  first = published.load(acquire)        what is before `first` is in the table (P3 -> J1)
//   J2  read each entry once; a busy one is being written with a record n >= first (J1 orders the
//       W4 of earlier ones before our R1), so the ring will bring it
//   J3  read the ring from `first`, leaving out snapshots not newer than their entry
// Lapped (R1 or R4 sees a later record in our slot):
//   L1  fence(acquire)    L2  published.load(acquire)
// E3  the last release fence before the W1 that was seen is of a later record than ours, so
//     after L1 the counter is beyond our record: a lapped reader always moves on (slots >= 2),
//     and E4 (P3 -> L2) all before the counter is in the table, as in J1.
// Side words (a channel's quality, count of instruments): Q1 stored before the publication that
// they concern; Q2 loaded after the record: W4 -> R1 makes the word at least as new as it.
//
// The words are relaxed atomics because the race is real; on x86-64 all of it is plain moves.
// tests/ring_model_test.cpp explores what the memory model allows; ring_mutants_test.py weakens
// every labelled line and demands that it notices.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "wirebook/core/base.hpp"

namespace wirebook::ring {

// The memory the protocol runs on. The model checker substitutes its own.
struct HardwareMemory {
    using Word = std::atomic<std::uint64_t>;
    static_assert(Word::is_always_lock_free && sizeof(Word) == 8, "must work across processes");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wtsan"  // TSan ignores fences; every racing word is an atomic
    static void fence(std::memory_order order) noexcept {
        std::atomic_thread_fence(order);
    }
#pragma GCC diagnostic pop
};

// Words 1 .. words-1 of `record` (its word 0 is not used) into the block, as record n.
template <class Memory>
inline void write_block(typename Memory::Word* block, std::uint64_t n, const std::byte* record,
                        std::size_t words) noexcept {
    block[0].store(2 * n + 1, std::memory_order_relaxed);  // W1
    Memory::fence(std::memory_order_release);              // W2
    for (std::size_t i = 1; i < words; ++i) {
        std::uint64_t word = 0;
        std::memcpy(&word, record + 8 * i, 8);
        block[i].store(word, std::memory_order_relaxed);  // W3
    }
    block[0].store(2 * n + 2, std::memory_order_release);  // W4
}

template <class Memory>
[[nodiscard]] inline std::uint64_t block_version(const typename Memory::Word* block) noexcept {
    return block[0].load(std::memory_order_acquire);  // R1
}

// The rest of a block whose version was `version`. False: overwritten meanwhile, `out` is junk.
// Format::words(out) says from the first head_words how many there are; never more than capacity.
template <class Memory, class Format>
[[nodiscard]] inline bool copy_block(const typename Memory::Word* block, std::uint64_t version,
                                     std::byte* out, std::size_t capacity) noexcept {
    const auto copy = [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) {
            const std::uint64_t word = block[i].load(std::memory_order_relaxed);  // R2
            std::memcpy(out + 8 * i, &word, 8);
        }
    };
    copy(1, Format::head_words);
    const std::size_t words = std::min(Format::words(out), capacity);
    if (words > Format::head_words) copy(Format::head_words, words);
    Memory::fence(std::memory_order_acquire);                               // R3
    if (block[0].load(std::memory_order_relaxed) != version) return false;  // R4
    const std::uint64_t n = version / 2 - 1;
    std::memcpy(out, &n, 8);
    return true;
}

[[nodiscard]] constexpr bool block_complete(std::uint64_t version) noexcept {
    return version != 0 && version % 2 == 0;
}

// Where the ring and the table are, in somebody's mapping.
template <class Word>
struct RingView {
    Word* slots = nullptr;
    Word* table = nullptr;  // entries of the same size as slots
    Word* published = nullptr;
    std::uint64_t slot_count = 2;  // a power of two, at least 2
    std::size_t slot_words = 0;

    [[nodiscard]] Word* slot(std::uint64_t n) const noexcept {
        return slots + (n & (slot_count - 1)) * slot_words;
    }
    [[nodiscard]] Word* entry(std::size_t i) const noexcept { return table + i * slot_words; }
};

// Publishes record n (n one more each time, from 0). `entry`: of a snapshot's instrument.
template <class Memory>
inline void publish(const RingView<typename Memory::Word>& ring, std::uint64_t n,
                    typename Memory::Word* entry, const std::byte* record,
                    std::size_t words) noexcept {
    write_block<Memory>(ring.slot(n), n, record, words);      // P1
    if (entry) write_block<Memory>(entry, n, record, words);  // P2
    ring.published->store(n + 1, std::memory_order_release);  // P3
}

enum class CursorPoll : std::uint8_t { empty, record, lapped };

// A reader's place. One thread; shown (an element an instrument) belongs to the caller.
template <class Memory, class Format>
class Cursor {
public:
    using View = RingView<const typename Memory::Word>;
    Cursor() = default;
    Cursor(const View& ring, std::span<std::uint64_t> shown) noexcept
        : ring_(ring), shown_(shown) {}

    // Starts a join at the newest record; then read_entry each instrument that is known by now.
    void begin_join(bool count_skipped) noexcept {
        const std::uint64_t first = ring_.published->load(std::memory_order_acquire);  // J1
        if (count_skipped && first > next_) lost_ += first - next_;
        next_ = first;
        join_here();
    }
    // The same at next(), right after poll said lapped: L2 was the load that a join needs.
    void join_here() noexcept {
        join_end_ = 0;
        std::fill(shown_.begin(), shown_.end(), 0);
    }
    // True: `out` is the instrument's newest snapshot. False: it has none, or the ring brings it.
    [[nodiscard]] bool read_entry(std::size_t i, std::byte* out) noexcept {
        const std::uint64_t version = block_version<Memory>(ring_.entry(i));
        if (!block_complete(version)) return false;
        const bool whole =
            copy_block<Memory, Format>(ring_.entry(i), version, out, ring_.slot_words);
        if (!whole) return false;  // J2
        shown_[i] = version / 2;   // its sequence + 1
        join_end_ = std::max(join_end_, shown_[i]);
        return true;
    }

    // record: `out` holds record next() - 1. lapped: lost() grew by 1 or more and next() moved to
    // the newest (or to the oldest held, with a margin, if keep_old). On empty `out` is untouched.
    [[nodiscard]] CursorPoll poll(std::byte* out, bool keep_old) noexcept {
        for (;;) {
            const auto* slot = ring_.slot(next_);
            const std::uint64_t complete = 2 * next_ + 2;
            const std::uint64_t version = block_version<Memory>(slot);
            if (version < complete) return CursorPoll::empty;
            if (version > complete) return lapped(keep_old);
            const bool whole = copy_block<Memory, Format>(slot, version, out, ring_.slot_words);
            if (!whole) return lapped(keep_old);
            next_ += 1;
            if (next_ <= join_end_ && already_shown(out)) continue;  // J3
            return CursorPoll::record;
        }
    }

    [[nodiscard]] std::uint64_t next() const noexcept { return next_; }
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }

private:
    [[nodiscard]] bool already_shown(const std::byte* out) const noexcept {
        const std::size_t i = Format::snapshot_of(out);  // not below shown_.size(): no snapshot
        return i < shown_.size() && next_ <= shown_[i];
    }
    [[nodiscard]] CursorPoll lapped(bool keep_old) noexcept {
        Memory::fence(std::memory_order_acquire);                                          // L1
        const std::uint64_t published = ring_.published->load(std::memory_order_acquire);  // L2
        std::uint64_t resume = published;
        if (keep_old && published > ring_.slot_count)  // an eighth of the ring ahead of the writer
            resume = std::max(next_ + 1, published - ring_.slot_count + ring_.slot_count / 8);
        lost_ += resume - next_;
        next_ = resume;
        return CursorPoll::lapped;
    }

    View ring_;
    std::span<std::uint64_t> shown_;
    std::uint64_t next_ = 0;
    std::uint64_t join_end_ = 0;  // while next_ is below, shown_ must be asked
    std::uint64_t lost_ = 0;
};

}  // namespace wirebook::ring
