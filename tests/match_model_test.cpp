// The engine against the obvious one (match_reference.hpp): long random streams of every request,
// wrong ones too. All reports must be equal byte for byte, the displayed books equal to the
// reference's and, after every report, to those of the tape. WIREBOOK_SEED repeats a run,
// WIREBOOK_OPERATIONS makes it longer.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <cstring>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "match_reference.hpp"
#include "match_rig.hpp"

namespace {

using namespace match_rig;
using match_reference::Reference;

std::uint64_t test_seed() {
    const char* text = std::getenv("WIREBOOK_SEED");
    const std::uint64_t seed =
        text != nullptr ? std::strtoull(text, nullptr, 0) : std::random_device{}();
    WARN("WIREBOOK_SEED=" << seed);
    return seed;
}

std::uint64_t operations(std::uint64_t usual) {
    const char* text = std::getenv("WIREBOOK_OPERATIONS");
    return text != nullptr ? std::strtoull(text, nullptr, 0) : usual;
}

struct Profile {
    std::string what;
    std::uint32_t instruments = 3;
    std::uint32_t orders = 1'000, levels = 500;
    std::uint64_t ids = 120;  // drawn from this many: collisions and unknown orders are common
    std::int64_t middle = 100, spread = 8;  // prices in ticks, around the middle
    std::int64_t tick = 1;
    std::uint32_t lot = 1;
    std::uint16_t participants = 4;  // the first is 0
    unsigned batch = 1;              // requests in one call
    unsigned calm = 85;              // % of state changes that open continuous trading
};

class Generator {
public:
    Generator(const Profile& profile, std::uint64_t seed) : profile_(profile), engine_(seed) {}

    Request next(const Reference& reference) {
        Request r;
        r.time_ns = static_cast<std::int64_t>(++time_);
        r.instrument = static_cast<std::uint32_t>(below(profile_.instruments));
        if (chance(3)) r.instrument += profile_.instruments;
        r.participant = static_cast<std::uint16_t>(below(profile_.participants));
        r.producer = static_cast<std::uint16_t>(below(3));
        r.order_id = below(profile_.ids);
        r.self_trade = static_cast<SelfTrade>(chance(2) ? 4 : below(4));
        const std::uint64_t dice = below(1000);
        if (dice < 560) {
            enter(r);
        } else if (dice < 660) {
            r.kind = RequestKind::cancel;
        } else if (dice < 740) {
            r.kind = RequestKind::reduce;
            r.quantity = quantity();
        } else if (dice < 920) {
            replace(r);
        } else if (dice < 960) {
            r.kind = RequestKind::set_state;
            r.state = below(100) < profile_.calm ? TradingState::continuous
                                                 : static_cast<TradingState>(below(6));
        } else if (dice < 998) {
            r.kind = dice < 980 ? RequestKind::indicate : RequestKind::cross;
            r.cross = static_cast<CrossKind>(chance(20) ? 3 : below(3));
        } else {
            r.kind = static_cast<RequestKind>(7 + below(3));
        }
        if (r.kind == RequestKind::cancel || r.kind == RequestKind::reduce ||
            r.kind == RequestKind::replace) {
            aim(r, reference);
        }
        return r;
    }

private:
    std::uint64_t below(std::uint64_t limit) { return engine_() % limit; }
    bool chance(unsigned per_mille) { return below(1000) < per_mille; }

    // Mostly at a live order, by its participant.
    void aim(Request& r, const Reference& reference) {
        if (chance(60) || reference.orders().empty()) return;
        auto found = reference.orders().lower_bound(r.order_id);
        if (found == reference.orders().end()) found = reference.orders().begin();
        r.order_id = found->first;
        if (!chance(30)) r.participant = found->second.participant;
        if (r.kind == RequestKind::replace && chance(300)) r.new_order_id = r.order_id;
        if (chance(400)) r.quantity = found->second.shown + below(3) * profile_.lot;
    }
    std::uint64_t quantity() {
        if (chance(6)) return 0;
        if (chance(6)) return std::uint64_t{1} << below(64);
        const std::uint64_t lots = 1 + (chance(150) ? below(60) : below(9));
        return lots * profile_.lot + (profile_.lot > 1 && chance(10) ? 1 : 0);
    }
    std::int64_t price() {
        if (chance(6)) return -static_cast<std::int64_t>(below(3));
        if (chance(4)) return static_cast<std::int64_t>(engine_());
        const auto width = static_cast<std::uint64_t>(2 * profile_.spread + 1);
        const std::int64_t ticks =
            profile_.middle - profile_.spread + static_cast<std::int64_t>(below(width));
        return ticks * profile_.tick + (profile_.tick > 1 && chance(10) ? 1 : 0);
    }
    void enter(Request& r) {
        r.side = static_cast<Side>(chance(2) ? 2 : below(2));
        r.type = static_cast<OrderType>(chance(2) ? 2 : chance(90) ? 1 : 0);
        const std::uint64_t dice = below(100);
        r.time_in_force = dice < 62   ? TimeInForce::day
                          : dice < 72 ? TimeInForce::immediate_or_cancel
                          : dice < 82 ? TimeInForce::fill_or_kill
                          : dice < 91 ? TimeInForce::on_open
                                      : TimeInForce::on_close;
        if (chance(2)) r.time_in_force = static_cast<TimeInForce>(5);
        r.price = price();
        r.quantity = quantity();
        if (r.time_in_force == TimeInForce::day || chance(10)) {
            if (chance(120)) r.flags |= request_flag::hidden;
            if (chance(100)) r.flags |= request_flag::post_only;
            if (chance(2)) r.flags |= 4;
            if (chance(200)) r.display = (1 + below(3)) * profile_.lot;
        }
    }
    void replace(Request& r) {
        r.kind = RequestKind::replace;
        r.new_order_id = below(profile_.ids);
        r.price = price();
        r.quantity = quantity();
        if (chance(60)) r.flags |= request_flag::post_only;
        if (chance(3)) r.flags |= request_flag::hidden;
        if (chance(150)) r.display = (1 + below(3)) * profile_.lot;
    }

    Profile profile_;
    std::mt19937_64 engine_;
    std::uint64_t time_ = 0;
};

bool same_bytes(const std::vector<Report>& a, const std::vector<Report>& b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(Report)) == 0);
}

// Every order with all its fields.
void compare_orders(const Engine& engine, const Reference& reference) {
    REQUIRE(engine.live_orders() == reference.orders().size());
    for (const auto& [id, order] : reference.orders()) {
        const auto view = engine.find(id);
        REQUIRE(view.has_value());
        REQUIRE(view->reference == order.reference);
        REQUIRE(view->price == order.price);
        REQUIRE(view->shown == order.shown);
        REQUIRE(view->reserve == order.reserve);
        REQUIRE(view->instrument == order.instrument);
        REQUIRE(view->participant == order.participant);
        REQUIRE(view->producer == order.producer);
        REQUIRE(view->side == order.side);
    }
}

void compare_books(const Engine& engine, const Reference& reference) {
    for (std::uint32_t i = 0; i < engine.instruments(); ++i) {
        REQUIRE(engine.state(i) == reference.state(i));
        REQUIRE(engine.last_trade_price(i) == reference.last_trade(i));
        for (const Side side : {Side::bid, Side::ask}) {
            const auto expected = reference.levels(i, side);
            std::vector<LevelView> got(expected.size() + 1);
            got.resize(engine.depth(i, side, got));
            REQUIRE(got.size() == expected.size());
            for (std::size_t n = 0; n < got.size(); ++n) {
                REQUIRE(got[n].price == expected[n].price);
                REQUIRE(got[n].quantity == expected[n].quantity);
                REQUIRE(got[n].orders == expected[n].orders);
            }
        }
    }
}

EngineCounters run(const Profile& profile, std::uint64_t seed, std::uint64_t count) {
    INFO(profile.what << ", seed " << seed);
    EngineOptions options;
    options.instruments = profile.instruments;
    options.orders = profile.orders;
    options.levels = profile.levels;
    options.largest_quantity = 100 * profile.lot;
    options.largest_price = (profile.middle + 2 * profile.spread) * profile.tick;
    options.hash_seed = seed;
    std::vector<InstrumentTerms> terms;
    for (std::uint32_t i = 0; i < profile.instruments; ++i) {
        const std::int64_t reference_price = profile.middle * profile.tick + 3 * i;
        terms.push_back({profile.tick, profile.lot, i == 0 ? 0 : reference_price});
    }
    Rig rig(options, terms);
    Reference reference(options, terms);
    Generator generator(profile, seed);
    std::vector<Request> batch;
    for (std::uint64_t n = 0; n < count; n += profile.batch) {
        batch.clear();
        const std::uint64_t before = rig.engine.counters().accepted;
        const std::uint64_t hash = n % 64 == 0 ? rig.engine.state_hash() : 0;
        for (unsigned i = 0; i < profile.batch; ++i) batch.push_back(generator.next(reference));
        for (const Request& request : batch) reference.apply(request);
        if (profile.batch == 1) {
            rig.engine.apply(batch.front(), rig.sink);
        } else {
            rig.engine.apply(std::span<const Request>(batch), rig.sink);
        }
        if (!same_bytes(rig.sink.reports, reference.out) || !rig.sink.good()) {
            INFO("operation " << n << ", kind " << static_cast<int>(batch.front().kind));
            INFO(rig.sink.reports.size() << " reports, expected " << reference.out.size());
            REQUIRE(rig.sink.good());
            REQUIRE(same_bytes(rig.sink.reports, reference.out));
        }
        rig.sink.reports.clear();
        reference.out.clear();
        if (hash != 0 && rig.engine.counters().accepted == before) {
            REQUIRE(rig.engine.state_hash() == hash);
        }
        if (n % 2048 == 0) {
            rig.engine.check();
            compare_books(rig.engine, reference);
            compare_orders(rig.engine, reference);
        }
    }
    rig.engine.check();
    compare_books(rig.engine, reference);
    compare_orders(rig.engine, reference);
    return rig.engine.counters();
}

constexpr std::uint64_t share = 300'000;

std::uint64_t refused(const EngineCounters& counters, Reason reason) {
    return counters.rejected[as_index(reason)];
}

TEST_CASE("match model: every kind of request, one by one, agrees with the reference") {
    const EngineCounters counters = run({.what = "plain"}, test_seed(), operations(share));
    CHECK(counters.executions > 1'000);
    CHECK(counters.refills > 100);
    CHECK(counters.crosses > 50);
    for (std::size_t reason = 1; reason < as_index(Reason::cancelled); ++reason) {
        INFO("rejection " << reason);
        if (static_cast<Reason>(reason) == Reason::no_room) continue;
        CHECK(counters.rejected[reason] > 0);
    }
}

TEST_CASE("match model: batches with look-ahead agree with the reference") {
    run({.what = "batches", .ids = 400, .batch = 50}, test_seed(), operations(share));
}

TEST_CASE("match model: full pools refuse and nothing else goes wrong") {
    const EngineCounters counters = run({.what = "tiny", .orders = 40, .levels = 14, .spread = 5},
                                        test_seed(), operations(share));
    CHECK(refused(counters, Reason::no_room) > 1'000);
}

TEST_CASE("match model: ticks and lots above one, prices far apart") {
    run({.what = "ticks", .ids = 200, .middle = 60, .spread = 50, .tick = 5, .lot = 10},
        test_seed(), operations(share));
}

TEST_CASE("match model: books that are crossed most of the time") {
    const EngineCounters counters =
        run({.what = "auctions", .instruments = 1, .ids = 60, .spread = 12, .tick = 2, .calm = 10},
            test_seed(), operations(share));
    CHECK(counters.crosses > 200);
    CHECK(refused(counters, Reason::book_crossed) > 10);
}

TEST_CASE("match model: long queues of few participants at few prices") {
    run({.what = "queues", .instruments = 1, .ids = 150, .spread = 2, .participants = 2},
        test_seed(), operations(share));
}

}  // namespace
