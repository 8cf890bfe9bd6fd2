// sim: the engine under random requests of every kind; a receiver that builds books from the
// encoded messages alone has the engine's displayed books, after each message of ITCH and each
// event of DEEP. WIREBOOK_SEED repeats a run.
#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <random>
#include <unordered_map>
#include <vector>

#include "wirebook/core/arena.hpp"
#include "wirebook/core/random.hpp"
#include "wirebook/match/engine.hpp"
#include "wirebook/sim/deep_encoder.hpp"
#include "wirebook/sim/flat_map.hpp"
#include "wirebook/sim/itch_encoder.hpp"
#include "wirebook/wire/iex_decode.hpp"
#include "wirebook/wire/itch50.hpp"

namespace {

using namespace wirebook;
using namespace wirebook::sim;
using match::Request;
using match::RequestKind;
using match::Side;

constexpr std::uint32_t instruments = 3;
constexpr std::int64_t unit_e4 = 10;  // of the engine's prices
constexpr std::int64_t start_ns = 1'796'135'400'000'000'000;
constexpr std::int64_t midnight_ns = start_ns - 34'200'000'000'000;

std::uint64_t test_seed() {
    const char* text = std::getenv("WIREBOOK_SEED");
    const std::uint64_t seed =
        text != nullptr ? std::strtoull(text, nullptr, 0) : std::random_device{}();
    WARN("WIREBOOK_SEED=" << seed);
    return seed;
}

std::vector<FeedInstrument> feed_instruments() {
    std::vector<FeedInstrument> all(instruments);
    for (std::uint32_t i = 0; i < instruments; ++i) {
        all[i].symbol = padded<8>(std::string(1, static_cast<char>('A' + i)));
        all[i].stock_locate = static_cast<std::uint16_t>(i + 1);
        all[i].price_unit_e4 = unit_e4;
    }
    return all;
}

struct Level {
    std::uint64_t quantity = 0;
    std::uint32_t orders = 0;
    friend bool operator==(const Level&, const Level&) = default;
};
using Ladder = std::map<std::int64_t, Level>;  // by price_e4

Ladder ladder_of(const match::Engine& engine, std::uint32_t instrument, Side side) {
    Ladder ladder;
    engine.for_each_level(instrument, side, [&](const match::LevelView& level) {
        ladder[level.price * unit_e4] = {level.quantity, level.orders};
        return true;
    });
    return ladder;
}

// A receiver of ITCH; every reference has to be known, no quantity may be too large.
class ItchReceiver {
public:
    std::array<std::array<Ladder, 2>, instruments> books;

    template <class M>
    void on(const M&) {}
    void on(const wire::itch50::AddOrder& m) { add(m); }
    void on(const wire::itch50::AddOrderAttributed& m) { add(m); }
    void on(const wire::itch50::OrderExecuted& m) {
        take(m.order_ref.get(), m.executed_shares.get());
    }
    void on(const wire::itch50::OrderExecutedWithPrice& m) {
        take(m.order_ref.get(), m.executed_shares.get());
    }
    void on(const wire::itch50::OrderCancel& m) {
        take(m.order_ref.get(), m.cancelled_shares.get());
    }
    void on(const wire::itch50::OrderDelete& m) {
        take(m.order_ref.get(), orders_.at(m.order_ref.get()).left);
    }
    void on(const wire::itch50::OrderReplace& m) {
        Order order = orders_.at(m.original_ref.get());
        take(m.original_ref.get(), order.left);
        order.price_e4 = m.price_e4.get();
        order.left = m.shares.get();
        enter(m.new_ref.get(), order);
    }

private:
    struct Order {
        std::uint32_t instrument;
        std::size_t side;
        std::int64_t price_e4;
        std::uint64_t left;
    };

    template <class M>
    void add(const M& m) {
        enter(m.order_ref.get(),
              {m.header.stock_locate.get() - 1U, m.side == 'B' ? std::size_t{0} : std::size_t{1},
               m.price_e4.get(), m.shares.get()});
    }
    void enter(std::uint64_t reference, const Order& order) {
        REQUIRE(order.left > 0);
        REQUIRE(orders_.emplace(reference, order).second);
        Level& level = books.at(order.instrument).at(order.side)[order.price_e4];
        level.quantity += order.left;
        ++level.orders;
    }
    void take(std::uint64_t reference, std::uint64_t quantity) {
        REQUIRE(orders_.contains(reference));
        Order& order = orders_[reference];
        REQUIRE(quantity > 0);
        REQUIRE(quantity <= order.left);
        Ladder& ladder = books.at(order.instrument).at(order.side);
        Level& level = ladder[order.price_e4];
        level.quantity -= quantity;
        order.left -= quantity;
        if (order.left != 0) return;
        if (--level.orders == 0) ladder.erase(order.price_e4);
        orders_.erase(reference);
    }

    std::unordered_map<std::uint64_t, Order> orders_;
};

struct DeepReceiver {
    std::array<std::array<Ladder, 2>, instruments> books;

    template <class M>
    void on(const M&) {}
    void on(const wire::iex::PriceLevelBuy& m) { level(m, 0); }
    void on(const wire::iex::PriceLevelSell& m) { level(m, 1); }

    template <class M>
    void level(const M& m, std::size_t side) {
        Ladder& ladder = books.at(static_cast<std::size_t>(m.symbol[0] - 'A')).at(side);
        if (m.size.get() == 0) {
            REQUIRE(ladder.erase(m.price_e4.get()) == 1);
        } else {
            ladder[m.price_e4.get()].quantity = m.size.get();
        }
    }
};

// Draws requests that are mostly valid; some are not, which the engine has to find.
class Requests {
public:
    explicit Requests(std::uint64_t seed) : random_(seed) {}

    Request next(std::int64_t time_ns) {
        Request request;
        request.time_ns = time_ns;
        request.instrument = static_cast<std::uint32_t>(random_.below(instruments));
        request.participant = static_cast<std::uint16_t>(1 + random_.below(4));
        const std::uint64_t draw = random_.below(1'000);
        if (draw < 480) return enter(request);
        if (draw < 940) return change(request, draw);
        return operate(request, draw);
    }

private:
    struct Known {
        std::uint64_t id;
        std::uint32_t instrument;
        std::uint16_t participant;
    };

    Request enter(Request& request) {
        request.kind = RequestKind::enter;
        request.side = random_.chance(0.5) ? Side::bid : Side::ask;
        request.order_id = ++ids_;
        request.price = 1'000 + static_cast<std::int64_t>(random_.below(24));
        request.quantity = 1 + random_.below(500);
        if (random_.chance(0.2)) request.display = 1 + random_.below(request.quantity);
        if (random_.chance(0.15)) request.flags = match::request_flag::hidden, request.display = 0;
        if (random_.chance(0.05)) request.flags = match::request_flag::post_only;
        if (random_.chance(0.1)) request.time_in_force = match::TimeInForce::immediate_or_cancel;
        if (random_.chance(0.05)) request.type = match::OrderType::market;
        if (random_.chance(0.05)) request.time_in_force = match::TimeInForce::on_close;
        request.self_trade = static_cast<match::SelfTrade>(random_.below(4));
        known_.push_back({request.order_id, request.instrument, request.participant});
        return request;
    }
    Request change(Request& request, std::uint64_t draw) {
        if (known_.empty()) return enter(request);
        const std::size_t at = random_.below(known_.size());
        Known& order = known_[at];
        request.instrument = order.instrument;
        request.participant = order.participant;
        request.order_id = order.id;
        if (draw < 800) {
            request.kind = RequestKind::cancel;
            order = known_.back();
            known_.pop_back();
        } else if (draw < 870) {
            request.kind = RequestKind::reduce;
            request.quantity = 1 + random_.below(200);
        } else {
            request.kind = RequestKind::replace;
            request.new_order_id = random_.chance(0.5) ? request.order_id : ++ids_;
            request.price = 1'000 + static_cast<std::int64_t>(random_.below(24));
            request.quantity = 1 + random_.below(500);
            order.id = request.new_order_id;
        }
        return request;
    }
    Request operate(Request& request, std::uint64_t draw) {
        request.cross = static_cast<match::CrossKind>(random_.below(3));
        if (draw < 955) {
            request.kind = RequestKind::indicate;
        } else if (draw < 965) {
            request.kind = RequestKind::cross;
        } else {
            request.kind = RequestKind::set_state;
            request.state = random_.chance(0.8)
                                ? match::TradingState::continuous
                                : static_cast<match::TradingState>(random_.below(5));
        }
        return request;
    }

    Random random_;
    std::uint64_t ids_ = 0;
    std::vector<Known> known_;
};

template <class Receiver, class Context, template <class> class Encoder>
class StreamRun {
public:
    StreamRun(Context context, const match::Engine& engine)
        : engine_(engine), context_(std::move(context)), out_{*this}, encoder_(context_, out_) {}

    // The engine's sink.
    void on_report(const match::Report& report) noexcept {
        if (report.kind == match::ReportKind::executed) ++executions;
        if ((report.flags & match::report_flag::refill) != 0) ++refills;
        if ((report.flags & match::report_flag::in_cross) != 0) ++in_cross;
        encoder_.on_report(report);
    }
    void message(std::span<const std::byte> bytes, std::uint32_t instrument,
                 const TouchInfo& touch) {
        ++messages;
        decode(bytes);
        if (!touch.touches || touch.event_open) return;
        compare(instrument);
    }
    void end_of_request() { encoder_.end_of_request(); }
    void compare(std::uint32_t instrument) {
        for (const Side side : {Side::bid, Side::ask}) {
            Ladder expected = ladder_of(engine_, instrument, side);
            if constexpr (std::is_same_v<Receiver, DeepReceiver>) {
                for (auto& [price, level] : expected) level.orders = 0;
            }
            const std::size_t at = side == Side::bid ? 0 : 1;
            REQUIRE(receiver_.books.at(instrument).at(at) == expected);
        }
    }

    std::uint64_t messages = 0, executions = 0, refills = 0, in_cross = 0;

private:
    struct Out {  // the encoder's sink
        StreamRun& run;
        void on_message(std::span<const std::byte> bytes, std::uint32_t instrument,
                        const TouchInfo& touch) {
            run.message(bytes, instrument, touch);
        }
    };

    void decode(std::span<const std::byte> message) {
        if constexpr (std::is_same_v<Receiver, DeepReceiver>) {
            REQUIRE(wire::iex::decode_deep(message, receiver_) == wire::DecodeStatus::ok);
        } else {
            REQUIRE(wire::itch50::decode(message, receiver_) == wire::DecodeStatus::ok);
        }
    }

    const match::Engine& engine_;
    Receiver receiver_;
    Context context_;
    Out out_;
    Encoder<Out> encoder_;
};

template <class Run, class Context>
void run_stream(Context context, std::uint64_t seed, int requests) {
    auto arena = Arena::create({.bytes = std::size_t{16} << 20U, .hugetlb = false});
    REQUIRE(arena.ok());
    match::EngineOptions options;
    options.instruments = instruments;
    options.orders = 4'096;
    options.levels = 4'096;
    const std::vector<match::InstrumentTerms> terms(instruments, {1, 1, 1'012});
    auto made = match::Engine::create(arena.value(), options, terms);
    REQUIRE(made.ok());
    match::Engine engine = std::move(made).value();
    Run run(std::move(context), engine);
    Requests requests_of(seed);
    for (std::uint32_t i = 0; i < instruments; ++i) {
        Request request;
        request.kind = RequestKind::set_state;
        request.state = match::TradingState::continuous;
        request.instrument = i;
        request.time_ns = start_ns;
        engine.apply(request, run);
        run.end_of_request();
    }
    for (int i = 0; i < requests; ++i) {
        const Request request = requests_of.next(start_ns + i * 1'000);
        engine.apply(request, run);
        run.end_of_request();
        if (i % 64 == 0) {
            for (std::uint32_t at = 0; at < instruments; ++at) run.compare(at);
        }
    }
    for (std::uint32_t at = 0; at < instruments; ++at) run.compare(at);
    // Else the run has shown nothing.
    CHECK(run.messages > static_cast<std::uint64_t>(requests) / 2);
    CHECK(run.executions > 100);
    CHECK(run.refills > 10);
    CHECK(run.in_cross > 10);
}

struct KeyHash {
    std::size_t operator()(std::uint64_t key) const noexcept { return key % 7; }  // many collide
};

}  // namespace

TEST_CASE("itch: books built from the stream are the engine's after each message") {
    const std::uint64_t seed = test_seed();
    for (std::uint64_t round = 0; round < 4; ++round) {
        ItchContext context({feed_instruments(), midnight_ns, {{}, padded<4>("ABCD")}});
        run_stream<StreamRun<ItchReceiver, ItchContext, ItchEncoder>>(context, seed + round, 8'000);
    }
}

TEST_CASE("deep: books built from the stream are the engine's at the end of each event") {
    const std::uint64_t seed = test_seed();
    for (std::uint64_t round = 0; round < 4; ++round) {
        DeepContext context(feed_instruments());
        run_stream<StreamRun<DeepReceiver, DeepContext, DeepEncoder>>(context, seed + round, 8'000);
    }
}

TEST_CASE("flat map: agrees with std::map, whatever collides and is erased") {
    const std::uint64_t seed = test_seed();
    Random random(seed);
    FlatMap<std::uint64_t, std::uint64_t, KeyHash> map(1);
    std::map<std::uint64_t, std::uint64_t> expected;
    for (int i = 0; i < 20'000; ++i) {
        const std::uint64_t key = random.below(60);
        if (random.chance(0.5)) {
            map[key] = expected[key] = random.next();
        } else if (expected.erase(key) != 0) {
            map.erase(key);
        }
        REQUIRE(map.size() == expected.size());
        for (std::uint64_t k = 0; k < 60; ++k) {
            const auto found = expected.find(k);
            const std::uint64_t* value = map.find(k);
            REQUIRE((value != nullptr) == (found != expected.end()));
            if (value != nullptr) REQUIRE(*value == found->second);
        }
    }
    map.clear();
    CHECK(map.size() == 0);
    CHECK(map.find(1) == nullptr);
}
