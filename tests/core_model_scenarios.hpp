// Small programs of core's two protocols, hand_back.hpp and epoch.hpp, on the model memory, each
// with what must never be seen. Each returns the number of executions explored and sets `fault` to
// a sentence when one broke the rule. Used by core_model_test.cpp, and by core_mutants.cpp against
// weakened headers.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "model_memory.hpp"
#include "wirebook/core/epoch.hpp"
#include "wirebook/core/hand_back.hpp"
#include "wirebook/core/slab_pool.hpp"

namespace wirebook::test {

// Objects 1 .. 3 (their numbers) with links and payloads in model memory, and the owner's word.
struct ModelHome {
    ModelAtomic word, mailbox;
    std::array<ModelPlain, 4> next, payload;
    std::vector<std::uint64_t> taken;  // by the owner

    // As a freeing thread does with objects `first` .. `last`: the last use, the chain, the put.
    void put(std::uint32_t first, std::uint32_t last) {
        for (std::uint32_t number = first; number <= last; ++number) {
            (void)payload[number].load();
            if (number != last) next[number].store(number + 1);
        }
        const FreeChain chain{.first = first, .last = last};
        hand_back::put(word, chain, [this](std::uint32_t number, std::uint32_t following) {
            next[number].store(following);
        });
    }
    // As the owner: takes all, and uses each object. True: `number` was among them.
    bool take_all(std::uint64_t number) {
        bool found = false;
        for (std::uint64_t n = hand_back::take_all(word); n != 0 && taken.size() < 9;) {
            taken.push_back(n);
            found = found || n == number;
            const std::uint64_t following = next[n].load();
            payload[n].store(1);
            n = following;
        }
        return found;
    }
    // After the run: with what is still in the word, `expected` came back, each once.
    void check(std::vector<std::uint64_t> expected, std::string& fault) const {
        std::vector<std::uint64_t> all = taken;
        for (std::uint64_t n = word.newest(); n != 0 && all.size() < 9;) {
            all.push_back(n);
            n = next[n].newest();
        }
        std::sort(all.begin(), all.end());
        if (all != expected) fault = "objects were lost or came back twice";
    }
};

inline void check_races(std::string& fault) {
    if (ModelPlain::raced) fault = "plain memory was raced on";
    ModelPlain::raced = false;
}

// Two threads hand back, one of them a chain of two; the owner looks twice.
inline std::uint64_t explore_hand_back(std::string& fault) {
    return explore(Schedule::interleaved, [&](Machine& machine) {
        auto home = std::make_shared<ModelHome>();
        machine.spawn([home] { home->put(1, 2); });
        machine.spawn([home] { home->put(3, 3); });
        machine.spawn([home] {
            home->take_all(0);
            home->take_all(0);
        });
        return [home, &fault] {
            home->check({1, 2, 3}, fault);
            check_races(fault);
        };
    });
}

// Object 1 comes home, goes out again and comes home again, while another thread puts object 2:
// that thread may find the word as it was before (ABA).
inline std::uint64_t explore_hand_back_again(std::string& fault) {
    return explore(Schedule::interleaved, [&](Machine& machine) {
        auto home = std::make_shared<ModelHome>();
        auto again = std::make_shared<bool>(false);
        machine.spawn([home, again] {
            home->put(1, 1);
            *again = home->mailbox.load(std::memory_order_acquire) != 0;
            if (*again) home->put(1, 1);
        });
        machine.spawn([home] { home->put(2, 2); });
        machine.spawn([home] {
            if (home->take_all(1)) home->mailbox.store(1, std::memory_order_release);
        });
        return [home, again, &fault] {
            if (*again)
                home->check({1, 1, 2}, fault);
            else
                home->check({1, 2}, fault);
            check_races(fault);
        };
    });
}

// One thread plays both: what was put is there, in the order that the pool's list has.
inline std::uint64_t explore_hand_back_in_turn(std::string& fault) {
    return explore(Schedule::in_order, [&](Machine& machine) {
        auto home = std::make_shared<ModelHome>();
        machine.spawn([home, &fault] {
            home->take_all(0);
            if (!home->taken.empty()) fault = "an object came from nowhere";
            home->put(1, 1);
            home->put(2, 3);
            home->take_all(0);
            if (home->taken != std::vector<std::uint64_t>{2, 3, 1})
                fault = "what was handed back is not there";
        });
        return [home, &fault] { home->check({1, 2, 3}, fault); };
    });
}

// The classes around the protocol, on real memory and one thread: batches, and the pool's count.
inline std::uint64_t exercise_hand_back(std::string& fault) {
    Result<Arena> arena = Arena::create({.bytes = 1, .hugetlb = false, .transparent = false});
    SlabPool<std::uint64_t> pool;
    if (!arena.ok() || !pool.start(arena.value(), 9)) return 0;
    HandBack<std::uint64_t> home(pool);
    for (int round = 0; round < 3; ++round) {
        std::array<std::uint64_t*, 8> taken{};
        for (auto& object : taken) object = home.take();
        if (pool.used() != 8) fault = "objects taken were not counted";
        HandBackBatch<std::uint64_t> batch(home, 3);
        for (auto* object : taken) batch.give_back(object);
        if (batch.held() != 2) fault = "a full batch was not handed over";
        batch.flush();
        batch.flush();
        if (batch.held() != 0 || pool.used() != 8) fault = "a flush was not one";
        for (int i = 0; i < 8; ++i)
            if (home.take() == nullptr) fault = "an object was lost";
        if (pool.used() != 8) fault = "objects that came home were taken and not counted";
        for (auto* object : taken) pool.give_back(object);
    }
    if (pool.used() != 0 || pool.index_of(pool.take()) == 8) fault = "untouched before handed back";
    return 1;
}

// A pointer (the index of one of two objects) that a reclaimer swaps, frees what it was, and
// readers that follow it.
struct ModelSwap {
    static constexpr std::uint64_t freed = 99;
    using Object = ModelPlain;
    EpochReclaimer<Object, 1, 2, ModelMemory> reclaimer;
    ModelAtomic pointer;
    std::array<Object, 2> objects;
    std::array<bool, 3> ended{};  // what each reclaim() said
    std::size_t freed_count = 0;

    explicit ModelSwap(std::size_t readers = 1) : reclaimer(readers) {}

    // The swap, and then `times` attempts to end an epoch.
    void swap(std::size_t times) {
        pointer.store(1, std::memory_order_release);
        if (!reclaimer.retire(&objects[0])) freed_count = freed;
        for (std::size_t i = 0; i < times; ++i) reclaim(i);
    }
    void reclaim(std::size_t i) {
        ended[i] = reclaimer.reclaim([this](Object& object) {
            object.store(freed);
            freed_count += 1;
        });
    }
    // A reader's piece of work.
    void use(std::string& fault) {
        if (objects[pointer.load(std::memory_order_acquire)].load() == freed)
            fault = "a reader used freed memory";
    }
};

enum class Between { quiescent_point, absence, nothing };

// Reader `which` (those before it are away all the time) works twice, with something in between.
inline std::uint64_t explore_epoch(std::size_t which, Between between, std::string& fault) {
    return explore(Schedule::interleaved, [&, which, between](Machine& machine) {
        auto swap = std::make_shared<ModelSwap>(which + 1);
        machine.spawn([swap, which, between, &fault] {
            auto reader = swap->reclaimer.reader(which);
            reader.join();
            swap->use(fault);
            if (between == Between::quiescent_point) reader.quiescent();
            if (between == Between::absence) {
                reader.leave();
                reader.join();
            }
            swap->use(fault);
        });
        machine.spawn([swap] { swap->swap(2); });
        return [swap, &fault] {
            if (swap->freed_count > 1) fault = "an object was freed twice";
            check_races(fault);
        };
    });
}

// A reader that comes and goes, comes again, works, and goes: the reclaimer may see the first
// absence, and then find the second.
inline std::uint64_t explore_epoch_leaving(std::string& fault) {
    return explore(Schedule::interleaved, [&](Machine& machine) {
        auto swap = std::make_shared<ModelSwap>();
        machine.spawn([swap, &fault] {
            auto reader = swap->reclaimer.reader(0);
            reader.join();
            reader.leave();
            reader.join();
            swap->use(fault);
            reader.leave();
        });
        machine.spawn([swap] { swap->swap(2); });
        return [&fault] { check_races(fault); };
    });
}

// One thread plays both: epochs end when they can, and only then, and what is retired is freed.
inline std::uint64_t explore_epoch_in_turn(std::string& fault) {
    return explore(Schedule::in_order, [&](Machine& machine) {
        auto swap = std::make_shared<ModelSwap>();
        machine.spawn([swap, &fault] {
            auto reader = swap->reclaimer.reader(0);
            reader.join();
            swap->swap(2);
            if (!swap->ended[0] || swap->ended[1] || swap->freed_count != 0)
                fault = "an epoch ended that a reader has not seen, or one did not that all have";
            if (!swap->reclaimer.retire(&swap->objects[1]) ||
                swap->reclaimer.retire(&swap->objects[1]))
                fault = "a batch does not hold what it should";
            reader.quiescent();
            swap->reclaim(0);
            if (!swap->ended[0] || swap->freed_count != 1 || swap->reclaimer.pending() != 1)
                fault = "the older batch was not freed, or the younger was";
            reader.leave();
            swap->reclaim(0);
            if (!swap->ended[0] || swap->freed_count != 2 || swap->reclaimer.pending() != 0)
                fault = "a reader that is away holds up the epoch";
        });
        return [&fault] { check_races(fault); };
    });
}

}  // namespace wirebook::test
