// Memory that other threads may still be looking at, freed once they cannot be any more.
//
// Readers follow a pointer that the reclaimer swaps, without a lock or a count. Between two pieces
// of work, when it holds no such pointer, a reader says so (a quiescent point: a load, and a store
// if the epoch has moved). The reclaimer retires what it has swapped out into a batch; a batch is
// freed two epochs after it was filled, when every reader has passed a quiescent point in between.
// A reader that stops polling for long leaves, and joins again, or nothing is freed meanwhile.
//
// MEMORY ORDER. `epoch` is written by the reclaimer alone, from 1. Each reader has a word: the
// epoch that it saw at its last quiescent point, or 0 while it is away.
// The reclaimer, after its own U: pointer.store(new, release), retire(old); in epoch e:
//   C1  each reader's word.load(acquire): passed if e
//   C2  if 0: word.compare_exchange(0 -> 0, acq_rel): passed if it was still 0
//   C3  all passed: free the batch that was filled in epoch e - 1; the next to go is that of e
//   C4  epoch.store(e + 1, release)
// A reader, between pieces of work:           joining:                      leaving:
//   Q1  e = epoch.load(acquire)                 N1  e = epoch.load(acquire)   V1  word.store(0,
//   Q2  if e is new: word.store(e, release)     N2  word.exchange(e, acquire)       release)
// What is freed in e was swapped out (U) before C4 wrote e. Per reader one of these held at C1/C2:
// E1  its word is e, from Q2 or N2. C4 -> Q1 or N1: the U is behind it, so each pointer that it
//     loads from then on is a newer one. Q2 -> C1, or V1 -> C1 whose release sequence N2 goes on
//     with: what it did with older ones is done.
// E2  it was away at C2. V1 -> C1 or C2: what it did is done. When it comes back, N2 finds what C2
//     wrote, for both are read-modify-writes of one word (were N2 the first, C2 would not have
//     found 0): C2 -> N2, so the U is behind it.
// Not storing an epoch twice (Q2) is sound: E1 speaks of the first store of e, and nothing that
// the reader loads after it can be older.
//
// tests/core_model_test.cpp explores what the memory model allows; core_mutants_test.py weakens
// every labelled line and demands that it notices.
// Layer 0. One reclaimer thread, and one thread a reader.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wirebook/core/base.hpp"

namespace wirebook {

// The memory the protocol runs on. The model checker substitutes its own.
struct EpochHardware {
    using Word = std::atomic<std::uint64_t>;
    static_assert(Word::is_always_lock_free);
};

// A word that one thread writes and others read, on lines of its own.
template <class Memory>
struct alignas(false_sharing_bytes) EpochLine {
    typename Memory::Word word{};
};

// One reader's side. Pointers may be loaded while it has joined.
template <class Memory = EpochHardware>
class EpochReader {
public:
    EpochReader(const EpochLine<Memory>& epoch, EpochLine<Memory>& mine) noexcept
        : epoch_(&epoch), mine_(&mine) {}

    void join() noexcept {
        WIREBOOK_CHECK(announced_ == 0);
        announced_ = epoch_->word.load(std::memory_order_acquire);    // N1
        mine_->word.exchange(announced_, std::memory_order_acquire);  // N2
    }
    // Pointers loaded before are not used after.
    void quiescent() noexcept {
        const std::uint64_t epoch = epoch_->word.load(std::memory_order_acquire);  // Q1
        if (epoch == announced_) return;
        announced_ = epoch;
        mine_->word.store(epoch, std::memory_order_release);  // Q2
    }
    // As quiescent(), and then no pointer is loaded until join().
    void leave() noexcept {
        announced_ = 0;
        mine_->word.store(0, std::memory_order_release);  // V1
    }

private:
    const EpochLine<Memory>* epoch_;
    EpochLine<Memory>* mine_;
    std::uint64_t announced_ = 0;
};

// The reclaimer's side, and where the words live: outlives the readers. At most `batch_capacity`
// objects are retired an epoch.
template <class T, std::size_t batch_capacity = 256, std::size_t max_readers = 64,
          class Memory = EpochHardware>
class EpochReclaimer {
public:
    explicit EpochReclaimer(std::size_t readers) noexcept : readers_(readers) {
        WIREBOOK_CHECK(readers <= max_readers);
    }
    ~EpochReclaimer() = default;
    EpochReclaimer(const EpochReclaimer&) = delete;
    EpochReclaimer& operator=(const EpochReclaimer&) = delete;
    EpochReclaimer(EpochReclaimer&&) = delete;
    EpochReclaimer& operator=(EpochReclaimer&&) = delete;

    // For the thread that is reader number `reader`, once. Away until it joins.
    [[nodiscard]] EpochReader<Memory> reader(std::size_t reader) noexcept {
        WIREBOOK_CHECK(reader < readers_);
        return {epoch_, words_[reader]};
    }

    // `object` can no longer be reached by loading a pointer. False: the batch is full, and
    // nothing was done; reclaim() until it is not.
    [[nodiscard]] bool retire(T* object) noexcept {
        if (filling_.count == batch_capacity) return false;
        filling_.objects[filling_.count++] = object;
        return true;
    }
    // Ends the epoch if every reader has seen it; then calls free(T&) for each object of the batch
    // before. False: a reader has not, and nothing was done.
    template <class Free>
    bool reclaim(Free&& free) noexcept {
        for (std::size_t reader = 0; reader < readers_; ++reader) {
            if (!passed(words_[reader].word)) return false;
        }
        for (T* object : std::span(waiting_.objects).first(waiting_.count)) free(*object);  // C3
        waiting_ = filling_;
        filling_.count = 0;
        now_ += 1;
        epoch_.word.store(now_, std::memory_order_release);  // C4
        return true;
    }
    // Retired and not yet freed.
    [[nodiscard]] std::size_t pending() const noexcept { return filling_.count + waiting_.count; }

private:
    struct Batch {
        std::array<T*, batch_capacity> objects;
        std::size_t count = 0;
    };

    [[nodiscard]] bool passed(typename Memory::Word& word) noexcept {
        std::uint64_t seen = word.load(std::memory_order_acquire);  // C1
        if (seen != 0) return seen == now_;
        return word.compare_exchange_strong(seen, 0, std::memory_order_acq_rel,  // C2
                                            std::memory_order_relaxed);
    }

    static constexpr std::uint64_t first_epoch = 1;
    EpochLine<Memory> epoch_{typename Memory::Word(first_epoch)};
    std::array<EpochLine<Memory>, max_readers> words_{};
    std::uint64_t now_ = first_epoch;
    std::size_t readers_;
    Batch filling_{}, waiting_{};
};

}  // namespace wirebook
