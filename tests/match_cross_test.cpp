// The matching engine's crosses: price, priority, what is left, what is told. See match_test.cpp.
#include <catch2/catch.hpp>

#include <string>

#include "match_rig.hpp"

namespace {

using namespace match_rig;

constexpr auto on_open = TimeInForce::on_open;
constexpr auto on_close = TimeInForce::on_close;
constexpr auto opening = CrossKind::opening;
constexpr auto closing = CrossKind::closing;
constexpr auto halt = CrossKind::halt;

// In quotation: orders are collected.
OpenRig collecting(InstrumentTerms terms = {.tick = 1, .lot = 1, .reference_price = 100}) {
    return OpenRig(small_options(), terms, TradingState::quotation);
}

std::string ends_with_cross(const std::string& told) {
    return told.substr(told.rfind("crossed"));
}

TEST_CASE("cross: nothing that matches is told as 0 at 0") {
    auto rig = collecting();
    CHECK(rig.told(indicating(opening)) == "paired 0@100 near 0 far 0 imbalance 0");
    CHECK(rig.told(crossing(opening)) == "crossed 0@0");
    rig.apply(bid(1, 99, 10));
    rig.apply(ask(2, 101, 10));
    CHECK(rig.told(indicating(opening)) == "paired 0@100 near 0 far 0 imbalance 0");
    CHECK(rig.told(crossing(opening)) == "crossed 0@0");
    CHECK(rig.engine.live_orders() == 2);
    CHECK(rig.engine.last_trade_price(0) == 0);
    CHECK(rig.engine.counters().crosses == 0);
}

TEST_CASE("cross: the price has the largest volume") {
    auto rig = collecting();
    rig.apply(bid(1, 103, 10));
    rig.apply(bid(2, 102, 20));
    rig.apply(ask(3, 101, 15));
    rig.apply(ask(4, 102, 15));
    CHECK(rig.told(indicating(opening)) == "paired 30@102 near 102 far 0 imbalance 0");
    CHECK(rig.told(crossing(opening)) ==
          "executed #1 10@102 left 0 in_cross last; executed #2 20@102 left 0 in_cross last; "
          "executed #3 15@102 left 0 in_cross last; executed #4 15@102 left 0 in_cross last; "
          "crossed 30@102");
    CHECK(rig.engine.last_trade_price(0) == 102);
    CHECK(rig.engine.counters().executed_quantity == 30);
}

TEST_CASE("cross: among prices of equal volume the least imbalance decides") {
    auto rig = collecting();
    rig.apply(bid(1, 105, 10));
    rig.apply(bid(2, 102, 5));
    rig.apply(ask(3, 100, 10));
    // 10 at 100 to 105; up to 102 five more are bid for.
    CHECK(ends_with_cross(rig.told(crossing(opening))) == "crossed 10@103");
    auto other = collecting();
    other.apply(bid(1, 105, 10));
    other.apply(ask(2, 95, 10));
    other.apply(ask(3, 98, 5));
    CHECK(ends_with_cross(other.told(crossing(opening))) == "crossed 10@97");
}

TEST_CASE("cross: then the nearest to the reference price, on the tick or off it, then the lower") {
    const auto price = [](std::int64_t reference, std::int64_t tick) {
        auto rig = collecting({.tick = tick, .lot = 1, .reference_price = reference});
        rig.apply(bid(1, 120, 10));
        rig.apply(ask(2, 80, 10));
        return rig.apply(indicating(opening))[1].near_price;
    };
    CHECK(price(100, 1) == 100);
    CHECK(price(70, 1) == 80);
    CHECK(price(500, 1) == 120);
    CHECK(price(0, 1) == 80);
    CHECK(price(103, 10) == 100);
    CHECK(price(105, 10) == 100);
    CHECK(price(106, 10) == 110);
    CHECK(price(119, 10) == 120);
    CHECK(price(91, 8) == 88);
    CHECK(price(93, 8) == 96);
}

TEST_CASE("cross: the last trade is the reference price once there is one") {
    auto rig = collecting();
    rig.apply(bid(1, 110, 10));
    rig.apply(ask(2, 110, 10));
    rig.apply(crossing(opening));
    CHECK(rig.told(indicating(halt)) == "paired 0@110 near 0 far 0 imbalance 0");
    rig.apply(bid(3, 120, 10));
    rig.apply(ask(4, 80, 10));
    CHECK(ends_with_cross(rig.told(crossing(halt))) == "crossed 10@110");
}

TEST_CASE("cross: market orders trade first, and alone at the reference price") {
    auto rig = collecting();
    rig.apply(bid(1, 105, 10));
    rig.apply(market(bid(2, 0, 10)));
    rig.apply(ask(3, 100, 10));
    CHECK(rig.told(crossing(opening)) ==
          "executed #2 10@106 left 0 unseen in_cross last; "
          "executed #3 10@106 left 0 in_cross last; crossed 10@106");
    auto other = collecting({.tick = 5, .lot = 1, .reference_price = 102});
    other.apply(market(bid(1, 0, 10)));
    CHECK(other.told(indicating(opening)) == "paired 0@102 near 0 far 0 imbalance 10 bid");
    other.apply(market(ask(2, 0, 30)));
    CHECK(other.told(indicating(opening)) == "paired 10@100 near 100 far 100 imbalance 20 ask");
    CHECK(other.told(crossing(opening)) ==
          "executed #1 10@100 left 0 unseen in_cross last; "
          "executed #2 10@100 left 20 unseen in_cross; "
          "removed #2 20 cross_over unseen last; crossed 10@100");
}

TEST_CASE("cross: priority is price, displayed before unseen, time") {
    auto rig = collecting();
    rig.apply(hidden(bid(1, 100, 10)));
    rig.apply(timed(bid(2, 100, 10), on_open));
    rig.apply(bid(3, 100, 10));
    rig.apply(hidden(bid(4, 100, 10)));
    rig.apply(timed(market(bid(5, 0, 10)), on_open));
    rig.apply(market(bid(6, 0, 10)));
    rig.apply(bid(7, 101, 10));
    rig.apply(ask(8, 90, 65));
    CHECK(rig.told(crossing(opening)) ==
          "executed #5 10@100 left 0 unseen in_cross last; "
          "executed #6 10@100 left 0 unseen in_cross last; "
          "executed #7 10@100 left 0 in_cross last; executed #3 10@100 left 0 in_cross last; "
          "executed #1 10@100 left 0 unseen in_cross last; "
          "executed #2 10@100 left 0 unseen in_cross last; "
          "executed #4 5@100 left 5 unseen in_cross; executed #8 65@100 left 0 in_cross last; "
          "crossed 65@100");
}

TEST_CASE("cross: reserves take part and refill at the tail") {
    auto rig = collecting();
    rig.apply(showing(bid(1, 100, 30), 10));
    rig.apply(bid(2, 100, 10));
    rig.apply(ask(3, 100, 25));
    CHECK(rig.told(indicating(halt)) == "paired 25@100 near 100 far 100 imbalance 15 bid");
    CHECK(rig.told(crossing(halt)) ==
          "executed #1 10@100 left 0 in_cross; added #1 10@100 in_cross refill; "
          "executed #2 10@100 left 0 in_cross last; executed #1 5@100 left 5 in_cross; "
          "executed #3 25@100 left 0 in_cross last; crossed 25@100");
    CHECK(rig.engine.find(1)->reserve == 10);
}

TEST_CASE("cross: all executions of a cross have its match number") {
    auto rig = collecting();
    rig.apply(bid(1, 100, 10));
    rig.apply(ask(2, 100, 10));
    const auto reports = rig.apply(crossing(opening));
    REQUIRE(reports.size() == 4);
    for (std::size_t i = 1; i < 4; ++i) CHECK(reports[i].match_number == 1);
    CHECK(reports[1].contra_order_id == 0);
    CHECK(reports[3].cross == opening);
    CHECK(rig.apply(crossing(opening))[1].match_number == 0);
    rig.apply(bid(3, 100, 10));
    rig.apply(ask(4, 100, 10));
    CHECK(rig.apply(crossing(halt))[3].match_number == 2);
}

TEST_CASE("cross: each cross takes the orders that are for it and leaves those for another") {
    auto rig = collecting();
    rig.apply(timed(bid(1, 100, 10), on_open));
    rig.apply(timed(ask(2, 100, 10), on_close));
    CHECK(rig.told(indicating(opening)) == "paired 0@100 near 0 far 0 imbalance 10 bid");
    CHECK(rig.told(indicating(closing)) == "paired 0@100 near 0 far 0 imbalance 10 ask");
    CHECK(rig.told(crossing(halt)) == "crossed 0@0");
    CHECK(rig.told(crossing(opening)) == "removed #1 10 cross_over unseen last; crossed 0@0");
    rig.apply(timed(bid(3, 101, 4), on_close));
    CHECK(rig.told(indicating(closing)) == "paired 4@100 near 100 far 100 imbalance 6 ask");
}

TEST_CASE("cross: near is with the continuous book, far with the orders for this cross alone") {
    auto rig = collecting();
    rig.apply(timed(bid(1, 105, 10), on_open));
    rig.apply(timed(ask(2, 103, 10), on_open));
    rig.apply(bid(3, 99, 50));
    rig.apply(ask(4, 98, 50));
    CHECK(rig.told(indicating(opening)) == "paired 50@99 near 99 far 103 imbalance 10 bid");
    CHECK(rig.told(indicating(halt)) == "paired 50@99 near 99 far 99 imbalance 0");
    const std::uint64_t before = rig.engine.state_hash();
    rig.apply(indicating(opening));
    CHECK(rig.engine.state_hash() == before);
}

TEST_CASE("cross: the closing cross joins continuous orders with those that waited") {
    OpenRig rig(small_options(), {.tick = 1, .lot = 1, .reference_price = 100});
    rig.apply(bid(1, 99, 10));
    rig.apply(ask(2, 101, 10));
    rig.apply(timed(market(bid(3, 0, 15)), on_close));
    rig.apply(timed(ask(4, 100, 5), on_close));
    CHECK(rig.told(crossing(closing)) ==
          "executed #3 15@101 left 0 unseen in_cross last; "
          "executed #4 5@101 left 0 unseen in_cross last; "
          "executed #2 10@101 left 0 in_cross last; crossed 15@101");
    CHECK(rig.engine.best(0, Side::bid).price == 99);
    CHECK(rig.told(to_state(TradingState::closed)) == "state 0");
}

TEST_CASE("cross: after it the book is not crossed and trading can start") {
    auto rig = collecting();
    rig.apply(bid(1, 105, 10));
    rig.apply(bid(2, 103, 10));
    rig.apply(ask(3, 100, 15));
    rig.apply(ask(4, 104, 10));
    CHECK(rig.refused(to_state(TradingState::continuous)) == "book_crossed");
    CHECK(ends_with_cross(rig.told(crossing(opening))) == "crossed 15@100");
    CHECK(rig.engine.best(0, Side::bid).price == 103);
    CHECK(rig.engine.best(0, Side::ask).price == 104);
    CHECK(rig.told(to_state(TradingState::continuous)) == "state 1");
}

TEST_CASE("cross: nobody is the incoming order, so self-trade prevention does not apply") {
    auto rig = collecting();
    rig.apply(by(bid(1, 100, 10), 7, SelfTrade::cancel_both));
    rig.apply(by(ask(2, 100, 10), 7, SelfTrade::cancel_both));
    CHECK(ends_with_cross(rig.told(crossing(opening))) == "crossed 10@100");
}

TEST_CASE("cross: wrong requests are refused") {
    auto rig = collecting();
    rig.apply(bid(1, 100, 10));
    CHECK(rig.refused(crossing(CrossKind{3})) == "bad_request");
    CHECK(rig.refused(indicating(CrossKind{3})) == "bad_request");
    Request r = crossing(opening);
    r.instrument = 2;
    CHECK(rig.refused(r) == "unknown_instrument");
}

TEST_CASE("cross: prices at the ends of the range are found") {
    EngineOptions options = small_options();
    options.largest_price = EngineOptions::price_limit;
    OpenRig rig(options, {.tick = 1, .lot = 1, .reference_price = EngineOptions::price_limit},
                TradingState::quotation);
    rig.apply(bid(1, EngineOptions::price_limit, 10));
    rig.apply(ask(2, 1, 10));
    CHECK(rig.apply(indicating(opening))[1].near_price == EngineOptions::price_limit);
    rig.apply(ask(3, EngineOptions::price_limit, 5));
    CHECK(rig.apply(indicating(opening))[1].near_price == EngineOptions::price_limit - 1);
}

}  // namespace
