// What the ring costs: the writer alone, the reader alone, and one way between two threads.
//
//   BM_ring_publish/DEPTH       one snapshot of all levels into slot and table, no reader
//   BM_ring_publish_event       one trade
//   BM_ring_poll/DEPTH          reading what a full ring holds
//   BM_ring_poll_empty          polling when there is nothing
//   BM_ring_attach/INSTRUMENTS/PREFAULT  attach, and the first snapshot of every instrument
//   BM_ring_one_way             a record a microsecond to a thread that polls: percentiles of the
//                               time from the intended send to the read, as counters, beside the
//                               jitter of a loop that only reads the TSC
// Two cores are needed for the last; run it alone on the machine.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <thread>

#include "wirebook/core/histogram.hpp"
#include "wirebook/ring/reader.hpp"
#include "wirebook/ring/writer.hpp"

using namespace wirebook;

namespace {

ring::SegmentOptions options_for(std::uint32_t depth, std::uint32_t instruments) {
    ring::SegmentOptions options;
    options.name = "bench." + std::to_string(::getpid());
    options.directory = "/dev/shm";
    options.geometry = {.depth = depth, .slots = 65'536, .instruments = 16'384, .channels = 1};
    options.geometry.instruments = instruments;
    options.clock = TscClock::calibrate();
    return options;
}

// A segment for one benchmark; the file goes with it.
class Bench {
public:
    explicit Bench(std::uint32_t depth, std::uint32_t instruments = 1024)
        : options_(options_for(depth, instruments)), writer_(make()) {
        for (std::uint32_t i = 0; i < instruments; ++i)
            (void)writer_.add_instrument("S" + std::to_string(i), 0, 4);
        record.bid_levels = record.ask_levels = static_cast<std::uint8_t>(depth);
        record.bid_price = record.ask_price = 1'000'000'000;
        record.levels.fill({{1, 2, 3, 0}, {4, 5, 6, 0}});
    }
    ~Bench() { ::unlink(writer_.path().c_str()); }
    Bench(const Bench&) = delete;
    Bench& operator=(const Bench&) = delete;

    ring::Writer& writer() { return writer_; }
    ring::Reader reader(bool prefault = true) {
        ring::AttachOptions attach;
        attach.directory = options_.directory;
        attach.prefault = prefault;
        auto attached = ring::Reader::attach(options_.name, attach);
        WIREBOOK_CHECK(attached.ok());
        return std::move(attached).value();
    }
    // To an instrument that varies, so that the table is not one hot line.
    void publish() {
        record.instrument = static_cast<std::uint32_t>(writer_.next_sequence() * 2654435761U) %
                            writer_.instruments();
        writer_.publish_snapshot(record);
    }
    ring::Record record;

private:
    ring::Writer make() {
        auto created = ring::Writer::create(options_);
        if (!created) std::fprintf(stderr, "%s\n", created.error().context.c_str());
        WIREBOOK_CHECK(created.ok());
        return std::move(created).value();
    }
    ring::SegmentOptions options_;
    ring::Writer writer_;
};

void BM_ring_publish(benchmark::State& state) {
    Bench bench(static_cast<std::uint32_t>(state.range(0)));
    for (auto unused : state) bench.publish();
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_ring_publish)->Arg(1)->Arg(5)->Arg(10)->Arg(20);

void BM_ring_publish_event(benchmark::State& state) {
    Bench bench(5);
    bench.record.instrument = 3;
    bench.record.set_event(ring::TradeEvent{.price = 1, .quantity = 2, .match = 3});
    for (auto unused : state) bench.writer().publish_event(bench.record);
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_ring_publish_event);

void BM_ring_poll(benchmark::State& state) {
    Bench bench(static_cast<std::uint32_t>(state.range(0)));
    ring::Reader reader = bench.reader();
    ring::Record record;
    std::uint64_t left = 0;
    for (auto unused : state) {
        if (left == 0) {
            state.PauseTiming();
            for (left = 0; left < 32'768; ++left) bench.publish();
            state.ResumeTiming();
        }
        benchmark::DoNotOptimize(reader.poll(record));
        left -= 1;
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_ring_poll)->Arg(1)->Arg(5)->Arg(20);

void BM_ring_poll_empty(benchmark::State& state) {
    Bench bench(5);
    ring::Reader reader = bench.reader();
    ring::Record record;
    for (auto unused : state) benchmark::DoNotOptimize(reader.poll(record));
}
BENCHMARK(BM_ring_poll_empty);

void BM_ring_attach(benchmark::State& state) {
    const auto instruments = static_cast<std::uint32_t>(state.range(0));
    Bench bench(5, instruments);
    for (std::uint32_t i = 0; i < instruments; ++i) {
        bench.record.instrument = i;
        bench.writer().publish_snapshot(bench.record);
    }
    ring::Record record;
    for (auto unused : state) {
        std::optional<ring::Reader> reader(bench.reader(state.range(1) != 0));
        std::uint32_t snapshots = 0;
        while (reader->poll(record) == ring::Poll::record) snapshots += 1;
        WIREBOOK_CHECK(snapshots == instruments);
        state.PauseTiming();  // giving the pages back is not attaching
        reader.reset();
        state.ResumeTiming();
    }
}
BENCHMARK(BM_ring_attach)->Args({8000, 1})->Args({8000, 0})->Unit(benchmark::kMicrosecond);

// How long this machine takes away from a loop that does nothing: the floor of every tail below.
Histogram jitter(const TscClock& clock, std::int64_t for_ns) {
    Histogram histogram;
    const std::uint64_t end = rdtsc() + clock.ticks_from_ns(for_ns);
    for (std::uint64_t last = rdtsc(); last < end;) {
        const std::uint64_t now = rdtsc();
        histogram.record(clock.ns_from_ticks(now - last));
        last = now;
    }
    return histogram;
}

void BM_ring_one_way(benchmark::State& state) {
    Bench bench(1);
    const TscClock clock = TscClock::calibrate();
    constexpr std::uint64_t records = 200'000;
    const std::uint64_t gap = clock.ticks_from_ns(1000);
    Histogram one_way;
    std::uint64_t lost = 0;
    for (auto unused : state) {
        std::atomic<bool> ready{false};
        std::thread follower([&] {
            ring::Reader reader = bench.reader();
            ring::Record record;
            while (reader.poll(record) == ring::Poll::record) {
            }
            ready.store(true, std::memory_order_release);
            for (std::uint64_t seen = 0; seen + reader.lost() < records;) {
                if (reader.poll(record) != ring::Poll::record) continue;
                const std::uint64_t now = rdtsc();
                if (record.from_table()) continue;
                seen += 1;
                if (now > record.receive_tsc)
                    one_way.record(clock.ns_from_ticks(now - record.receive_tsc));
            }
            lost += reader.lost();
        });
        while (!ready.load(std::memory_order_acquire)) wirebook::pause();
        std::uint64_t due = rdtsc() + gap;
        for (std::uint64_t n = 0; n < records; ++n, due += gap) {
            while (rdtsc() < due) wirebook::pause();
            bench.record.receive_tsc = due;  // from when it should have been sent
            bench.publish();
        }
        follower.join();
    }
    const Histogram quiet = jitter(clock, 100'000'000);
    state.counters["p50_ns"] = static_cast<double>(one_way.percentile(50));
    state.counters["p99_ns"] = static_cast<double>(one_way.percentile(99));
    state.counters["p999_ns"] = static_cast<double>(one_way.percentile(99.9));
    state.counters["max_ns"] = static_cast<double>(one_way.max());
    state.counters["jitter_p999_ns"] = static_cast<double>(quiet.percentile(99.9));
    state.counters["jitter_max_ns"] = static_cast<double>(quiet.max());
    state.counters["lost"] = static_cast<double>(lost);
}
BENCHMARK(BM_ring_one_way)->Iterations(1)->Repetitions(3)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
