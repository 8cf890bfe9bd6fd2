// What the readers for strategies cost over a plain Reader (ring_bench): docs/readers.md, depth 5.
//
//   BM_readers_plain, _conflate, _merge, _failover          a record that is given: `a_record`
//   BM_readers_*_empty                                      a poll when there is nothing
//   BM_readers_subscription                                 asking whether a record is wanted
// One thread writes 8,192 records, then they are read; only the reading is counted. Merge and
// failover have two segments with the same records, as two handlers publish them: of merge both
// are given, of failover one of each. Conflate: a poll of all of them, 1,024 instruments and
// every eighth record a trade, is divided by their number.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "wirebook/ring/conflate.hpp"
#include "wirebook/ring/failover.hpp"
#include "wirebook/ring/merge.hpp"
#include "wirebook/ring/writer.hpp"

using namespace wirebook;

namespace {

constexpr std::uint64_t batch = 8192;
constexpr std::uint32_t instruments = 1024;

// One segment or two with the same records; the files go with it.
class Handlers {
public:
    explicit Handlers(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            names_.push_back("readers." + std::to_string(::getpid()) + "." + std::to_string(i));
            writers_.push_back(make(names_.back()));
        }
        record_.bid_levels = record_.ask_levels = 5;
        record_.bid_price = record_.ask_price = 1'000'000'000;
        record_.levels.fill({{1, 2, 3, 0}, {4, 5, 6, 0}});
    }
    ~Handlers() {
        for (const ring::Writer& writer : writers_) ::unlink(writer.path().c_str());
    }
    Handlers(const Handlers&) = delete;
    Handlers& operator=(const Handlers&) = delete;

    // Packets of one record each.
    void publish() {
        for (std::uint64_t n = 0; n < batch; ++n) {
            ring::Record record = record_;
            record.feed_sequence = ++sequence_;
            record.flags = ring::record_flag::last_of_packet;
            record.instrument = static_cast<std::uint32_t>(sequence_ * 2654435761U) % instruments;
            if (n % 8 == 7) record.set_event(ring::TradeEvent{.price = 1, .match = sequence_});
            for (ring::Writer& writer : writers_) {
                record.receive_tsc = rdtsc();
                if (n % 8 == 7)
                    writer.publish_event(record);
                else
                    writer.publish_snapshot(record);
            }
        }
        beat();
    }
    void beat() {
        for (ring::Writer& writer : writers_) writer.heartbeat(rdtsc());
    }
    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
    [[nodiscard]] static ring::AttachOptions attach() {
        ring::AttachOptions options;
        options.directory = "/dev/shm";
        return options;
    }
    [[nodiscard]] ring::Reader reader() const {
        auto attached = ring::Reader::attach(names_[0], attach());
        WIREBOOK_CHECK(attached.ok());
        return std::move(attached).value();
    }

private:
    static ring::Writer make(const std::string& name) {
        ring::SegmentOptions options;
        options.name = name;
        options.directory = "/dev/shm";
        options.geometry = {.depth = 5, .slots = 65'536, .instruments = instruments, .channels = 1};
        options.clock = TscClock::calibrate();
        auto created = ring::Writer::create(options);
        if (!created) std::fprintf(stderr, "%s\n", created.error().context.c_str());
        WIREBOOK_CHECK(created.ok());
        ring::Writer writer = std::move(created).value();
        for (std::uint32_t i = 0; i < instruments; ++i)
            (void)writer.add_instrument("S" + std::to_string(i), 0, 4);
        writer.set_channel_quality(0, ring::Quality::good);
        return writer;
    }

    std::vector<std::string> names_;
    std::vector<ring::Writer> writers_;
    ring::Record record_;
    std::uint64_t sequence_ = 0;
};

template <class T>
T checked(Result<T> made) {
    WIREBOOK_CHECK(made.ok());
    return std::move(made).value();
}

// Time of one record that is given.
template <class AnyReader>
void time_records(benchmark::State& state, Handlers& handlers, AnyReader& reader) {
    ring::Record record;
    std::uint64_t given = 0;
    for (int empty = 0; empty < 1000;)  // the table
        empty = reader.poll(record) == ring::Poll::empty ? empty + 1 : 0;
    for (auto unused : state) {
        state.PauseTiming();
        handlers.publish();
        state.ResumeTiming();
        ring::Poll polled;
        while ((polled = reader.poll(record)) == ring::Poll::record) given += 1;
        WIREBOOK_CHECK(polled == ring::Poll::empty);
    }
    WIREBOOK_CHECK(given >= batch * static_cast<std::uint64_t>(state.iterations()));
    state.counters["a_record"] = benchmark::Counter(
        static_cast<double>(given), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
template <class AnyReader>
void time_empty(benchmark::State& state, Handlers& handlers, AnyReader& reader) {
    ring::Record record;
    for (int empty = 0; empty < 1000;)
        empty = reader.poll(record) == ring::Poll::empty ? empty + 1 : 0;
    handlers.beat();
    for (auto unused : state) benchmark::DoNotOptimize(reader.poll(record));
}

void BM_readers_plain(benchmark::State& state) {
    Handlers handlers(1);
    ring::Reader reader = handlers.reader();
    time_records(state, handlers, reader);
}
void BM_readers_merge(benchmark::State& state) {
    Handlers handlers(2);
    auto reader = checked(ring::MergeReader::attach(handlers.names(), Handlers::attach()));
    time_records(state, handlers, reader);
}
void BM_readers_merge_empty(benchmark::State& state) {
    Handlers handlers(2);
    auto reader = checked(ring::MergeReader::attach(handlers.names(), Handlers::attach()));
    time_empty(state, handlers, reader);
}
void BM_readers_failover(benchmark::State& state) {
    Handlers handlers(2);
    auto reader = checked(ring::FailoverReader::attach({handlers.names()[0], handlers.names()[1]},
                                                       Handlers::attach()));
    time_records(state, handlers, reader);
    WIREBOOK_CHECK(reader.lost() == 0 && reader.breaks() == 0);
}
void BM_readers_failover_empty(benchmark::State& state) {
    Handlers handlers(2);
    auto reader = checked(ring::FailoverReader::attach({handlers.names()[0], handlers.names()[1]},
                                                       Handlers::attach()));
    handlers.publish();
    time_empty(state, handlers, reader);
}

ring::ConflatingReader conflating(const Handlers& handlers) {
    return {handlers.reader(), checked(ring::Subscription::make({}))};
}
void BM_readers_conflate(benchmark::State& state) {
    Handlers handlers(1);
    ring::ConflatingReader books = conflating(handlers);
    std::uint64_t records = 0;
    for (auto unused : state) {
        state.PauseTiming();
        handlers.publish();
        state.ResumeTiming();
        while (books.poll() == ring::Poll::record) benchmark::DoNotOptimize(books.snapshots());
        records += batch;
    }
    state.counters["a_record"] = benchmark::Counter(
        static_cast<double>(records), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
void BM_readers_conflate_empty(benchmark::State& state) {
    Handlers handlers(1);
    ring::ConflatingReader books = conflating(handlers);
    for (auto unused : state) benchmark::DoNotOptimize(books.poll());
}

void BM_readers_subscription(benchmark::State& state) {
    Handlers handlers(1);
    const ring::Reader reader = handlers.reader();
    ring::Subscription wanted = checked(ring::Subscription::make({.symbols = {"S1*", "S[23]?"}}));
    ring::Record record;
    std::uint32_t n = 0;
    for (auto unused : state) {
        record.instrument = n = (n + 7) % instruments;
        benchmark::DoNotOptimize(wanted.wants(reader, record));
    }
}

BENCHMARK(BM_readers_plain);
BENCHMARK(BM_readers_conflate);
BENCHMARK(BM_readers_merge);
BENCHMARK(BM_readers_failover);
BENCHMARK(BM_readers_conflate_empty);
BENCHMARK(BM_readers_merge_empty);
BENCHMARK(BM_readers_failover_empty);
BENCHMARK(BM_readers_subscription);

}  // namespace

BENCHMARK_MAIN();
