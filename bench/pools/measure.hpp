// How pool_bench measures a pool: threads that each take and give back objects of their own.
//
//   lifo    take one, write to it, give it back
//   random  `live` objects are shared out among the threads; a random one is given back, one is
//           taken for it and written to
//   single  as random, with the time stamp counter read around each pair (lfence before both
//           readings): percentiles, which contain the reading itself
// Wall time and the threads' own processor time, for a pair of taking and giving back, a thread.
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "wirebook/core/arena.hpp"
#include "wirebook/core/clock.hpp"
#include "wirebook/core/histogram.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace wirebook::bench {

struct Settings {
    std::size_t live = 1'000'000;
    std::vector<std::size_t> sizes = {64, 128, 1024};
    std::vector<unsigned> threads = {1, 2, 4};
    int milliseconds = 20;
    int repetitions = 2;
};

struct Row {
    std::string pattern;
    std::size_t bytes = 0;
    unsigned threads = 0;
    double wall_ns = 0;       // a pair, a thread
    double processor_ns = 0;  // the same, without what other programs took of the processor
    double p50_ns = 0, p99_ns = 0;
    double lock_share = -1;  // of the time, in locks; -1: has none
};

// The compiler must have the object in memory, and may assume nothing about the pool's state.
template <class Object>
inline void use(Object* object) noexcept {
    object->stamp += 1;
    __asm__ __volatile__("" : : "r"(object) : "memory");
}

inline std::uint64_t fenced_ticks() noexcept {
#if defined(__x86_64__)
    _mm_lfence();
#endif
    return rdtsc();
}

inline void pin(unsigned thread) noexcept {
    const auto processors = std::max(1U, std::thread::hardware_concurrency());
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(thread % processors, &set);
    (void)sched_setaffinity(0, sizeof(set), &set);
}

inline double thread_seconds() noexcept {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// What one thread did in one run.
struct Tally {
    double pairs = 0, wall_s = 0, processor_s = 0, lock_s = 0;
};

// One pool, one size, one number of threads: the threads stay for all patterns.
template <class Pool>
class Measurement {
    using Object = typename Pool::Object;
    static constexpr std::uint64_t between_looks = 256;
    static constexpr bool random_lifetime = [] {
        if constexpr (requires { Pool::random_lifetime; }) return Pool::random_lifetime;
        return true;
    }();
    static constexpr std::size_t spare = 4096;  // objects a thread, beyond what lives

public:
    Measurement(const Settings& settings, unsigned threads)
        : settings_(settings),
          threads_(threads),
          clock_(TscClock::calibrate()),
          barrier_(static_cast<std::ptrdiff_t>(threads) + 1),
          tallies_(threads),
          pool_((random_lifetime ? settings.live : 0) + spare * threads, threads) {}

    std::vector<Row> run() {
        std::vector<std::thread> workers;
        for (unsigned thread = 0; thread < threads_; ++thread)
            workers.emplace_back([this, thread] { work(thread); });
        barrier_.arrive_and_wait();  // all have their pools
        std::vector<Row> rows;
        for (int i = 0; i < settings_.repetitions; ++i) rows.push_back(timed_run("lifo"));
        if constexpr (has_locks) {
            const Row timed = timed_run("lock");
            for (Row& row : rows) row.lock_share = timed.lock_share;
        }
        if constexpr (random_lifetime) {
            barrier_.arrive_and_wait();  // all have filled theirs
            for (int i = 0; i < settings_.repetitions; ++i) rows.push_back(timed_run("random"));
            rows.push_back(timed_run("single"));
            rows.back().p50_ns = nanoseconds(singles_.percentile(50));
            rows.back().p99_ns = nanoseconds(singles_.percentile(99));
        }
        for (std::thread& worker : workers) worker.join();
        return rows;
    }

private:
    using LocalType = decltype(std::declval<Pool&>().local(0U));
    static constexpr bool has_locks = requires(LocalType & local) { local.lock_ticks; };

    Row timed_run(const char* pattern) {
        stop_.store(false, std::memory_order_relaxed);
        barrier_.arrive_and_wait();
        std::this_thread::sleep_for(std::chrono::milliseconds(settings_.milliseconds));
        stop_.store(true, std::memory_order_relaxed);
        barrier_.arrive_and_wait();
        Row row{.pattern = pattern, .bytes = sizeof(Object), .threads = threads_};
        double lock_s = 0, wall_s = 0;
        for (const Tally& tally : tallies_) {
            row.wall_ns += 1e9 * tally.wall_s / tally.pairs / threads_;
            row.processor_ns += 1e9 * tally.processor_s / tally.pairs / threads_;
            lock_s += tally.lock_s, wall_s += tally.wall_s;
        }
        if (has_locks) row.lock_share = lock_s / wall_s;
        return row;
    }

    void work(unsigned thread) {
        pin(thread);
        auto&& local = pool_.local(thread);
        const auto lifo = [&] {
            Object* object = local.take();
            use(object);
            local.give_back(object);
        };
        barrier_.arrive_and_wait();
        for (int i = 0; i < settings_.repetitions; ++i) tally_run(thread, lifo);
        if constexpr (has_locks) {
            local.timed = true;
            tally_run(thread, lifo, [&] { return local.lock_ticks; });
            local.timed = false;
        }
        if constexpr (random_lifetime) work_random(thread, local);
    }

    template <class Local>
    void work_random(unsigned thread, Local& local) {
        // On 2 MiB pages, so that finding the object costs the same whatever the pool.
        auto arena = Arena::create({.bytes = settings_.live * sizeof(void*), .prefault = true});
        WIREBOOK_CHECK(arena.ok());
        const auto live = arena.value().make_array<Object*>(settings_.live / threads_);
        for (Object*& object : live) {
            object = local.take();
            WIREBOOK_CHECK(object != nullptr);
            use(object);
        }
        std::uint64_t state = thread + 1;
        const auto random = [&] {
            state = state * 6364136223846793005U + 1442695040888963407U;
            Object*& object = live[((state >> 32) * live.size()) >> 32];
            local.give_back(object);
            object = local.take();
            use(object);
        };
        Histogram ticks;
        const auto single = [&] {
            const std::uint64_t before = fenced_ticks();
            random();
            ticks.record(static_cast<std::int64_t>(fenced_ticks() - before));
        };
        barrier_.arrive_and_wait();
        for (int i = 0; i < settings_.repetitions; ++i) tally_run(thread, random);
        tally_run(thread, single);
        if (thread == 0) singles_ = ticks;
        for (Object* object : live) local.give_back(object);
    }

    // Until the main thread says stop. `lock_ticks()`: spent in locks since the start.
    template <class Pair, class LockTicks = std::uint64_t (*)()>
    void tally_run(
        unsigned thread, const Pair& pair,
        const LockTicks& lock_ticks = [] { return std::uint64_t{0}; }) {
        barrier_.arrive_and_wait();
        const auto start = std::chrono::steady_clock::now();
        const double processor_start = thread_seconds();
        std::uint64_t pairs = 0;
        do {
            for (std::uint64_t i = 0; i < between_looks; ++i) pair();
            pairs += between_looks;
        } while (!stop_.load(std::memory_order_relaxed));
        const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
        tallies_[thread] = {.pairs = static_cast<double>(pairs),
                            .wall_s = wall.count(),
                            .processor_s = thread_seconds() - processor_start,
                            .lock_s = 1e-9 * nanoseconds(static_cast<std::int64_t>(lock_ticks()))};
        barrier_.arrive_and_wait();
    }

    [[nodiscard]] double nanoseconds(std::int64_t ticks) const noexcept {
        return static_cast<double>(ticks) * clock_.ns_per_tick;
    }

    Settings settings_;
    unsigned threads_;
    TscClock clock_;
    std::atomic<bool> stop_{false};
    std::barrier<> barrier_;
    std::vector<Tally> tallies_;
    Histogram singles_;
    Pool pool_;
};

// All sizes and numbers of threads of one pool.
template <template <class> class Pool>
std::vector<Row> measure(const Settings& settings) {
    std::vector<Row> rows;
    const auto of_size = [&]<std::size_t bytes>() {
        if (std::find(settings.sizes.begin(), settings.sizes.end(), bytes) == settings.sizes.end())
            return;
        for (const unsigned threads : settings.threads) {
            Measurement<Pool<Object<bytes>>> measurement(settings, threads);
            const std::vector<Row> measured = measurement.run();
            rows.insert(rows.end(), measured.begin(), measured.end());
        }
    };
    of_size.template operator()<64>();
    of_size.template operator()<128>();
    of_size.template operator()<1024>();
    return rows;
}

}  // namespace wirebook::bench
