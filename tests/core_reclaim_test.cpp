// core: hand-back and epochs on real threads. What the memory model allows is core_model_test.cpp.
#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "wirebook/core/clock.hpp"
#include "wirebook/core/epoch.hpp"
#include "wirebook/core/hand_back.hpp"
#include "wirebook/core/slab_pool.hpp"

using namespace wirebook;

namespace {

struct Message {
    std::uint64_t number;
    std::array<std::uint64_t, 5> copies;
};

Arena small_arena() {
    Result<Arena> made = Arena::create({.bytes = 1, .hugetlb = false, .transparent = false});
    REQUIRE(made.ok());
    return std::move(made).value();
}

// One thread to one other, bounded: as plain as can be.
class Lane {
public:
    bool put(Message* message) {
        const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
        if (tail - head_.load(std::memory_order_acquire) == slots_.size()) return false;
        slots_[tail % slots_.size()] = message;
        tail_.store(tail + 1, std::memory_order_release);
        return true;
    }
    Message* take() {
        const std::uint64_t head = head_.load(std::memory_order_relaxed);
        if (head == tail_.load(std::memory_order_acquire)) return nullptr;
        Message* message = slots_[head % slots_.size()];
        head_.store(head + 1, std::memory_order_release);
        return message;
    }

private:
    std::array<Message*, 64> slots_{};
    alignas(128) std::atomic<std::uint64_t> head_{0};
    alignas(128) std::atomic<std::uint64_t> tail_{0};
};

}  // namespace

TEST_CASE("hand-back: a batch is handed over when it is full, flushed or gone") {
    Arena arena = small_arena();
    SlabPool<Message> pool;
    REQUIRE(pool.start(arena, 6));
    HandBack<Message> home(pool);
    std::vector<Message*> taken;
    for (int i = 0; i < 6; ++i) taken.push_back(home.take());
    CHECK(home.take() == nullptr);
    {
        HandBackBatch<Message> batch(home, 4);
        for (int i = 0; i < 3; ++i) batch.give_back(taken[std::size_t(i)]);
        CHECK(batch.held() == 3);
        CHECK(home.take() == nullptr);
        batch.flush();
        CHECK(batch.held() == 0);
        CHECK(home.take() == taken[2]);
        CHECK(pool.used() == 4);  // three came back, one went out again
        for (int i = 2; i < 6; ++i) batch.give_back(taken[std::size_t(i)]);
        CHECK(batch.held() == 0);
    }
    std::set<Message*> again;
    for (int i = 0; i < 6; ++i) again.insert(home.take());
    CHECK(again == std::set<Message*>(taken.begin(), taken.end()));
    {
        HandBackBatch<Message> batch(home, 4);
        batch.give_back(taken[0]);
    }
    CHECK(home.take() == taken[0]);
    CHECK(home.take() == nullptr);
    CHECK(pool.used() == 6);
}

TEST_CASE("hand-back: objects freed on two other threads come back whole, and none is lost") {
    constexpr std::uint64_t messages = 200'000;
    Arena arena = small_arena();
    SlabPool<Message> pool;
    REQUIRE(pool.start(arena, 200));
    HandBack<Message> home(pool);
    std::array<Lane, 2> lanes;
    std::atomic<bool> sent{false};
    std::array<std::uint64_t, 2> received{}, wrong{};

    const auto consume = [&](std::size_t which) {
        HandBackBatch<Message> batch(home, which == 0 ? 1 : 16);
        for (;;) {
            const bool last = sent.load(std::memory_order_acquire);
            if (Message* message = lanes[which].take()) {
                for (const std::uint64_t copy : message->copies)
                    wrong[which] += copy != message->number;
                received[which] += 1;
                batch.give_back(message);
            } else if (last) {
                return;
            } else {
                batch.flush();
                std::this_thread::yield();
            }
        }
    };
    std::thread first(consume, 0), second(consume, 1);
    for (std::uint64_t number = 0; number < messages; ++number) {
        Message* message = home.take();
        while (message == nullptr) {
            std::this_thread::yield();
            message = home.take();
        }
        message->number = number;
        message->copies.fill(number);
        while (!lanes[number % 2].put(message)) std::this_thread::yield();
    }
    sent.store(true, std::memory_order_release);
    first.join();
    second.join();
    CHECK(received[0] + received[1] == messages);
    CHECK(wrong[0] + wrong[1] == 0);
    std::set<Message*> all;
    while (Message* message = home.take()) all.insert(message);
    CHECK(all.size() == 200);
    CHECK(pool.used() == 200);
}

TEST_CASE("epoch: a retired object is freed after each reader has passed a quiescent point") {
    EpochReclaimer<int, 2> reclaimer(2);
    auto first = reclaimer.reader(0), second = reclaimer.reader(1);
    first.join();
    second.join();
    int object = 0;
    const auto reclaim = [&] { return reclaimer.reclaim([](int& freed) { freed += 1; }); };
    REQUIRE(reclaimer.retire(&object));
    CHECK(reclaim());  // both joined in this epoch
    first.quiescent();
    CHECK_FALSE(reclaim());
    CHECK_FALSE(reclaim());
    CHECK(object == 0);
    second.quiescent();
    CHECK(reclaim());
    CHECK(object == 1);
    CHECK(reclaimer.pending() == 0);
}

TEST_CASE("epoch: readers that are away hold nothing up, a reader that came back does") {
    EpochReclaimer<int, 2> reclaimer(2);
    auto reader = reclaimer.reader(1);
    int object = 0;
    const auto reclaim = [&] { return reclaimer.reclaim([](int& freed) { freed += 1; }); };
    CHECK(reclaim());
    CHECK(reclaim());
    reader.join();
    CHECK(reclaim());
    REQUIRE(reclaimer.retire(&object));
    CHECK_FALSE(reclaim());
    reader.leave();
    CHECK(reclaim());
    CHECK(object == 0);
    CHECK(reclaim());
    CHECK(object == 1);
}

TEST_CASE("epoch: a full batch refuses until an epoch ends") {
    EpochReclaimer<int, 2> reclaimer(0);
    std::array<int, 5> objects{};
    const auto reclaim = [&] { return reclaimer.reclaim([](int& freed) { freed += 1; }); };
    CHECK(reclaimer.retire(&objects[0]));
    CHECK(reclaimer.retire(&objects[1]));
    CHECK_FALSE(reclaimer.retire(&objects[2]));
    CHECK(reclaim());
    CHECK(reclaimer.retire(&objects[2]));
    CHECK(reclaimer.pending() == 3);
    CHECK(reclaim());
    CHECK(objects == std::array<int, 5>{1, 1, 0, 0, 0});
    CHECK(reclaim());
    CHECK(objects == std::array<int, 5>{1, 1, 1, 0, 0});
}

TEST_CASE("epoch: readers on other threads never see a freed set while sets are swapped") {
    constexpr std::uint64_t swaps = 20'000, freed_mark = 0;
    struct Set {
        std::array<std::uint64_t, 4> words;  // plain memory: ThreadSanitizer watches
    };
    Arena arena = small_arena();
    SlabPool<Set> pool;
    REQUIRE(pool.start(arena, 64));
    EpochReclaimer<Set, 16> reclaimer(2);
    const auto made = [&pool](std::uint64_t value) {
        Set* set = pool.take();
        if (set != nullptr) set->words.fill(value);
        return set;
    };
    std::atomic<Set*> current{made(1)};
    std::atomic<std::uint64_t> joined{0}, done{0};
    std::array<std::uint64_t, 2> wrong{}, uses{};

    const auto read = [&](std::size_t which) {
        auto reader = reclaimer.reader(which);
        reader.join();
        joined.fetch_add(1, std::memory_order_relaxed);
        std::uint64_t newest = 0;
        while (done.load(std::memory_order_acquire) == 0) {
            const Set* set = current.load(std::memory_order_acquire);
            const std::uint64_t value = set->words[0];
            wrong[which] += value == freed_mark || value < newest;
            for (const std::uint64_t word : set->words) wrong[which] += word != value;
            newest = value;
            uses[which] += 1;
            reader.quiescent();
            if (which == 1 && uses[which] % 64 == 0) {
                reader.leave();
                std::this_thread::yield();
                reader.join();
            }
        }
        reader.leave();
    };
    std::thread first(read, 0), second(read, 1);
    const auto free = [&](Set& set) {
        set.words.fill(freed_mark);
        pool.give_back(&set);
    };
    // From here on the readers have to keep up: the pool is small.
    while (joined.load(std::memory_order_relaxed) != 2) std::this_thread::yield();
    for (std::uint64_t value = 2; value < swaps; ++value) {
        Set* next = made(value);
        while (next == nullptr) {
            if (!reclaimer.reclaim(free)) std::this_thread::yield();
            next = made(value);
        }
        Set* old = current.exchange(next, std::memory_order_acq_rel);
        while (!reclaimer.retire(old)) {
            if (!reclaimer.reclaim(free)) std::this_thread::yield();
        }
    }
    done.store(1, std::memory_order_release);
    first.join();
    second.join();
    while (reclaimer.pending() != 0) REQUIRE(reclaimer.reclaim(free));
    CHECK(wrong[0] + wrong[1] == 0);
    CHECK(uses[0] + uses[1] > 0);
    CHECK(pool.used() == 1);
}
