// Objects of one thread's pool that other threads are done with, on their way home in batches.
//
// The owner takes from its SlabPool as if it were alone. A thread that frees objects of it chains
// them through their own first bytes, as the pool's list does, and hands a whole chain over by one
// compare-exchange of one word. The owner, when its own list is empty, takes everything that was
// handed back by one exchange, and has its new list: no object is looked at on the way.
//
// MEMORY ORDER. The word is 0, or index + 1 of the first object of the chain. Links and objects are
// plain memory. A freeing thread, with a chain of its own and the word as it last
// saw it (`before`: a guess, H2 finds out):
//   H1  last->next = the first object of `before`, or none
//   H2  word.compare_exchange(before -> our first; release), else H1 again
// The owner, when its list is empty (and a relaxed load did not say 0, which costs less than T1):
//   T1  all = word.exchange(0, acquire)
//   T2  all is the list now; links are read as objects are taken
// E1  H2 -> T1: the owner sees the links of the chain, and whatever it writes into an object is
//     after all that the freeing thread did with it.
// E2  Chains that others had put there before: the H2s after theirs are read-modify-writes and so
//     continue their release sequences. T1 reads the last of them and synchronises with each: H2
//     needs no acquire, for nobody but the owner follows a link.
// E3  The word going from X to 0 and back to X before H2 (ABA) does no harm: H1 says "after us
//     comes the chain that starts with X's first", and that is so whenever H2 finds X. Only T1
//     takes out, and it takes all.
// The relaxed load may miss a chain that has come, but not for ever: stores become visible in
// finite time. T1 sees the newest word, so no chain is lost or taken twice.
//
// tests/core_model_test.cpp explores what the memory model allows; core_mutants_test.py weakens
// every labelled line and demands that it notices.
// Layer 0. Each function says its thread. How an object came to the other thread is not our
// matter, but it has to be an ordering one (a queue's release and acquire).
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "wirebook/core/base.hpp"
#include "wirebook/core/slab_pool.hpp"

namespace wirebook {

// Objects linked to each other, by number (index + 1). first 0: none.
struct FreeChain {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
};

namespace hand_back {

// Any thread. set_next(number, number of the next or 0) writes a link.
template <class Word, class SetNext>
inline void put(Word& word, const FreeChain& chain, const SetNext& set_next) noexcept {
    auto before = word.load(std::memory_order_relaxed);
    for (;;) {
        set_next(chain.last, static_cast<std::uint32_t>(before));                       // H1
        if (word.compare_exchange_weak(before, chain.first, std::memory_order_release,  // H2
                                       std::memory_order_relaxed)) {
            return;
        }
    }
}

// The owner. The number of the first of all that was handed back, or 0.
template <class Word>
[[nodiscard]] inline std::uint32_t take_all(Word& word) noexcept {
    if (word.load(std::memory_order_relaxed) == 0) return 0;
    return static_cast<std::uint32_t>(word.exchange(0, std::memory_order_acquire));  // T1
}

}  // namespace hand_back

// Where objects of one pool come home. Lives as long as the threads that use it. The padding keeps
// the word that all write away from what all read.
template <class T>
class HandBack {  // NOLINT(clang-analyzer-optin.performance.Padding)
public:
    // The owner, after the pool was started.
    explicit HandBack(SlabPool<T>& pool) noexcept : pool_(&pool), slabs_(pool.slabs()) {}
    ~HandBack() = default;
    HandBack(const HandBack&) = delete;
    HandBack& operator=(const HandBack&) = delete;
    HandBack(HandBack&&) = delete;
    HandBack& operator=(HandBack&&) = delete;

    // The owner: the pool's take(), and what others handed back before what was never touched.
    [[nodiscard]] T* take() noexcept {
        if (pool_->list_empty()) collect();
        return pool_->take();
    }
    // The owner: makes what was handed back the pool's list, which is empty.
    void collect() noexcept {
        const std::uint32_t all = hand_back::take_all(word_);
        if (all == 0) return;
        pool_->adopt(at(all));  // T2
    }

    // Any thread. One chain, all objects of this pool.
    void put(const FreeChain& chain) noexcept {
        hand_back::put(word_, chain, [this](std::uint32_t number, std::uint32_t next) {
            SlabPool<T>::set_next(at(number), next == 0 ? nullptr : at(next));
        });
    }
    // Any thread. `object` is one of this pool's.
    [[nodiscard]] std::uint32_t number_of(const T* object) const noexcept {
        const auto index = static_cast<std::size_t>(SlabPool<T>::slab_of(object) - slabs_.data());
        WIREBOOK_CHECK(index < slabs_.size());
        return static_cast<std::uint32_t>(index + 1);
    }

private:
    [[nodiscard]] T* at(std::uint32_t number) const noexcept {
        return &slabs_.data()[number - 1].object;
    }

    using Word = std::atomic<std::uint32_t>;
    static_assert(Word::is_always_lock_free);

    SlabPool<T>* pool_;  // only the owner looks at it: its line is written all the time
    std::span<typename SlabPool<T>::Slab> slabs_;
    alignas(false_sharing_bytes) Word word_{0};
};

// A freeing thread's side: gathers a batch, hands it over when it is full. One thread; the word
// that it shares with the owner is touched once a batch.
template <class T>
class HandBackBatch {
public:
    // `batch`: objects a hand-over, at least 1. So many may be held back until flush().
    HandBackBatch(HandBack<T>& home, std::uint32_t batch) noexcept : home_(&home), batch_(batch) {
        WIREBOOK_CHECK(batch != 0);
    }
    ~HandBackBatch() { flush(); }
    HandBackBatch(const HandBackBatch&) = delete;
    HandBackBatch& operator=(const HandBackBatch&) = delete;
    HandBackBatch(HandBackBatch&&) = delete;
    HandBackBatch& operator=(HandBackBatch&&) = delete;

    // `object`: of the home's pool, and ours; not to be used after.
    void give_back(T* object) noexcept {
        if (count_ == 0) last_ = object;
        SlabPool<T>::set_next(object, first_);
        first_ = object;
        count_ += 1;
        if (count_ == batch_) flush();
    }
    // Hands over what there is. Call it before this thread goes idle.
    void flush() noexcept {
        if (count_ == 0) return;
        home_->put({.first = home_->number_of(first_), .last = home_->number_of(last_)});
        first_ = nullptr;
        count_ = 0;
    }
    [[nodiscard]] std::uint32_t held() const noexcept { return count_; }

private:
    HandBack<T>* home_;
    T* first_ = nullptr;
    T* last_ = nullptr;
    std::uint32_t count_ = 0;
    std::uint32_t batch_;
};

}  // namespace wirebook
