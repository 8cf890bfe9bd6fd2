// Order books fed by a seeded stream shaped like TotalView-ITCH: 8,000 instruments (Zipf), about a
// million live orders, A 47 % D 40 % U 8 % E 2 % X 1 % of messages, references handed out in
// ascending order, 22 % of adds making a level, 1 % of prices far away.
//
//   BM_book_apply/<look-ahead>/<depth>   ns a message; the batch is filled inside the clock, as
//                                        decoding would; depth: levels a side that the observer
//                                        reads of each touched book (0: none)
//   BM_book_new_session                  ms to forget a full table
// Build with optimisation; pin to one core; compare within one run only.
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <unordered_map>
#include <vector>

#include "wirebook/book/book_set.hpp"
#include "wirebook/core/arena.hpp"

namespace {

using namespace wirebook;
using namespace wirebook::book;

constexpr std::uint32_t instruments = 8'000;
constexpr std::uint32_t live_target = 1'000'000;
constexpr std::uint32_t measured_messages = 4'000'000;
constexpr std::uint32_t packet_messages = 3;

struct Message {
    UpdateKind kind;
    Side side;
    std::uint32_t instrument;
    std::uint32_t id;
    std::uint32_t new_id;
    std::uint32_t quantity;
    std::int32_t price;
};

struct Stream {
    std::vector<Message> warm_up;  // adds only
    std::vector<Message> measured;
    double adds_that_make_a_level = 0;
};

class Generator {
public:
    explicit Generator(std::uint64_t seed) : engine_(seed) {
        double sum = 0;
        for (std::uint32_t i = 0; i < instruments; ++i) {
            sum += 1.0 / std::pow(i + 1.0, 0.9);
            zipf_[i] = sum;
            centre_[i] = 20'000 + static_cast<std::int32_t>(below(500'000));
        }
    }

    Stream make() {
        Stream stream;
        while (live_.size() < live_target) stream.warm_up.push_back(add());
        levels_made_ = 0;
        std::uint64_t adds = 0;
        while (stream.measured.size() < measured_messages) {
            const std::uint64_t dice = below(980);
            if (dice < 470) {
                ++adds;
                stream.measured.push_back(add());
            } else {
                stream.measured.push_back(change(dice));
            }
        }
        stream.adds_that_make_a_level =
            static_cast<double>(levels_made_) / static_cast<double>(adds);
        return stream;
    }

private:
    struct Live {
        std::uint32_t id;
        std::uint32_t instrument;
        std::uint32_t quantity;
        std::int32_t price;
        Side side;
    };

    std::uint64_t below(std::uint64_t limit) { return engine_() % limit; }
    double unit() { return static_cast<double>(engine_() >> 11U) * 0x1p-53; }

    std::int32_t price(std::uint32_t instrument, Side side) {
        if (below(200) == 0) centre_[instrument] += static_cast<std::int32_t>(below(5)) - 2;
        const std::uint64_t dice = below(1000);
        auto away = static_cast<std::int32_t>(-3.5 * std::log(1.0 - unit()));
        if (dice < 400) away = 8 + static_cast<std::int32_t>(-22.0 * std::log(1.0 - unit()));
        if (dice < 11) away = 1'024 + static_cast<std::int32_t>(below(8'000));
        return centre_[instrument] + (side == Side::bid ? -1 - away : 1 + away);
    }
    static std::uint64_t level_key(const Live& order) {
        return std::uint64_t{order.instrument} << 33U |
               static_cast<std::uint64_t>(order.side) << 32U |
               static_cast<std::uint32_t>(order.price);
    }
    void enter(const Live& order) {
        if (++level_orders_[level_key(order)] == 1) ++levels_made_;
        live_.push_back(order);
    }
    void leave(std::size_t at) {
        const auto level = level_orders_.find(level_key(live_[at]));
        if (--level->second == 0) level_orders_.erase(level);
        live_[at] = live_.back();
        live_.pop_back();
    }

    Message add() {
        const double where = unit() * zipf_.back();
        const auto instrument =
            static_cast<std::uint32_t>(std::ranges::lower_bound(zipf_, where) - zipf_.begin());
        const Side side = below(2) == 0 ? Side::bid : Side::ask;
        const Live order{next_id_ += 1 + static_cast<std::uint32_t>(below(3)), instrument,
                         100 * (1 + static_cast<std::uint32_t>(below(9))), price(instrument, side),
                         side};
        enter(order);
        return {UpdateKind::add, side, instrument, order.id, 0, order.quantity, order.price};
    }

    Message change(std::uint64_t dice) {
        const std::size_t at = below(live_.size());
        Live order = live_[at];
        if (dice < 870) {
            leave(at);
            return {UpdateKind::remove, order.side, order.instrument, order.id, 0, 0, 0};
        }
        if (dice < 950) {
            const std::uint32_t old = order.id;
            leave(at);
            order.id = next_id_ += 1 + static_cast<std::uint32_t>(below(3));
            order.price = price(order.instrument, order.side);
            enter(order);
            return {UpdateKind::replace, Side::bid,  order.instrument, old, order.id,
                    order.quantity,      order.price};
        }
        const UpdateKind kind = dice < 970 ? UpdateKind::execute : UpdateKind::reduce;
        const bool whole = kind == UpdateKind::execute && below(2) == 0;
        const std::uint32_t taken = whole || order.quantity <= 50 ? order.quantity : 50;
        live_[at].quantity -= taken;
        if (live_[at].quantity == 0) leave(at);
        return {kind, Side::bid, order.instrument, order.id, 7, taken, 0};
    }

    std::mt19937_64 engine_;
    std::array<double, instruments> zipf_{};
    std::array<std::int32_t, instruments> centre_{};
    std::vector<Live> live_;
    std::unordered_map<std::uint64_t, std::uint32_t> level_orders_;
    std::uint32_t next_id_ = 1;
    std::uint64_t levels_made_ = 0;
};

const Stream& stream() {
    static const Stream made = [] {
        const char* text = std::getenv("WIREBOOK_SEED");
        const std::uint64_t seed = text != nullptr ? std::strtoull(text, nullptr, 0) : 1;
        auto generator = std::make_unique<Generator>(seed);
        Stream result = generator->make();
        std::fprintf(stderr, "stream: seed %llu, %.1f %% of adds make a level\n",
                     static_cast<unsigned long long>(seed), 100 * result.adds_that_make_a_level);
        return result;
    }();
    return made;
}

struct Observer {
    const BookSet* books = nullptr;
    std::size_t levels = 0;
    std::uint64_t seen = 0;

    void on_event(const Event&, const PacketEnd&) noexcept {}
    void on_execution(const Execution& execution, const PacketEnd&) noexcept {
        seen += execution.quantity;
    }
    void on_clear(const PacketEnd&) noexcept {}
    void on_touched(std::uint32_t instrument, const PacketEnd&) noexcept {
        ++seen;
        if (levels == 0) return;
        std::array<LevelView, 10> out;
        for (const Side side : {Side::bid, Side::ask}) {
            const std::size_t count = books->depth(instrument, side, std::span(out).first(levels));
            for (std::size_t i = 0; i < count; ++i) seen += out[i].quantity;
        }
    }
    void on_packet_end(const PacketEnd&) noexcept {}
};

void feed(BookSet& books, const std::vector<Message>& messages, UpdateBatch& batch,
          Observer& observer) {
    batch.clear();
    const auto end_packet = [&batch] { batch.packet[batch.packets++].updates_end = batch.updates; };
    std::uint32_t in_packet = 0;
    for (const Message& message : messages) {
        const std::uint32_t u = batch.updates++;
        batch.kind[u] = message.kind;
        batch.side[u] = message.side;
        batch.flags[u] = 0;
        batch.instrument[u] = message.instrument;
        batch.order_id[u] = message.id;
        batch.new_order_id[u] = message.new_id;
        batch.price[u] = message.price;
        batch.quantity[u] = message.quantity;
        batch.exchange_time_ns[u] = 1;
        if (++in_packet < packet_messages && batch.updates < UpdateBatch::capacity) continue;
        in_packet = 0;
        end_packet();
        if (batch.updates < UpdateBatch::capacity) continue;
        books.apply(batch, observer);
        batch.clear();
    }
    if (in_packet != 0) end_packet();
    books.apply(batch, observer);
}

// Of this thread: other load on the machine costs it caches, but not its time.
double cpu_seconds() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Rig {
    explicit Rig(bool look_ahead)
        : options{.instruments = instruments,
                  .live_orders = 1'600'000,
                  .levels = 600'000,
                  .look_ahead = look_ahead,
                  .hash_seed = 1},
          arena(std::move(
              Arena::create(
                  {.bytes = BookSet::bytes_needed(options), .prefault = true, .hugetlb = false})
                  .value())),
          books(std::move(BookSet::create(arena, options).value())) {}

    BookSetOptions options;
    Arena arena;
    BookSet books;
};

void run_once(benchmark::State& state, BookSet& books, UpdateBatch& batch) {
    Observer observer{&books, 0, 0};
    batch.clear();
    batch.updates = 1;
    batch.kind[0] = UpdateKind::new_session;
    batch.packets = 1;
    batch.packet[0].updates_end = 1;
    books.apply(batch, observer);
    feed(books, stream().warm_up, batch, observer);
    observer.levels = static_cast<std::size_t>(state.range(1));
    const double start = cpu_seconds();
    feed(books, stream().measured, batch, observer);
    const double stop = cpu_seconds();
    benchmark::DoNotOptimize(observer.seen);
    state.SetIterationTime(stop - start);
}

void BM_book_apply(benchmark::State& state) {
    static_cast<void>(stream());
    Rig rig(state.range(0) != 0);
    const auto batch = std::make_unique<UpdateBatch>();
    for (auto _ : state) run_once(state, rig.books, *batch);
    const BookCounters& counters = rig.books.counters();
    if (counters.unknown_orders + counters.duplicate_orders + counters.no_room_orders +
            counters.no_room_levels !=
        0) {
        state.SkipWithError("the stream was refused in part");
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * measured_messages);
    state.counters["ns/message"] = benchmark::Counter(
        static_cast<double>(measured_messages) * 1e-9,
        benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
    state.counters["levels"] = static_cast<double>(rig.books.live_levels());
    state.counters["orders"] = static_cast<double>(rig.books.live_orders());
    state.counters["in hash"] = static_cast<double>(rig.books.orders().in_hash());
    state.counters["MiB"] = static_cast<double>(rig.arena.bytes_used() >> 20U);
}
BENCHMARK(BM_book_apply)
    ->ArgNames({"look_ahead", "depth"})
    ->Args({1, 0})
    ->Args({0, 0})
    ->Args({1, 1})
    ->Args({1, 5})
    ->UseManualTime()
    ->Iterations(2)
    ->Unit(benchmark::kMillisecond);

void BM_book_new_session(benchmark::State& state) {
    Rig rig(true);
    const auto batch = std::make_unique<UpdateBatch>();
    Observer observer{&rig.books, 0, 0};
    for (auto _ : state) {
        feed(rig.books, stream().warm_up, *batch, observer);
        batch->clear();
        batch->updates = 1;
        batch->kind[0] = UpdateKind::new_session;
        batch->packets = 1;
        batch->packet[0].updates_end = 1;
        const double start = cpu_seconds();
        rig.books.apply(*batch, observer);
        const double stop = cpu_seconds();
        state.SetIterationTime(stop - start);
    }
}
BENCHMARK(BM_book_new_session)->UseManualTime()->Iterations(3)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
