// The matching engine's rules in continuous trading, one by one, and its refusals: each leaves the
// state as it was. After every request the structures are checked, after every report the displayed
// books against the tape (match_rig.hpp). Crosses: match_cross_test.cpp.
#include <catch2/catch.hpp>

#include <limits>
#include <string>

#include "match_rig.hpp"

namespace {

using namespace match_rig;

constexpr auto ioc = TimeInForce::immediate_or_cancel;
constexpr auto fok = TimeInForce::fill_or_kill;
constexpr auto on_open = TimeInForce::on_open;
constexpr auto on_close = TimeInForce::on_close;

Request cancelling(std::uint64_t id) {
    return change(RequestKind::cancel, id);
}
Request reducing(std::uint64_t id, std::uint64_t quantity) {
    return change(RequestKind::reduce, id, quantity);
}

TEST_CASE("match: a limit order that meets nothing rests, and is displayed") {
    OpenRig rig;
    const auto reports = rig.apply(bid(7, 100, 30));
    REQUIRE(reports.size() == 1);
    CHECK(text_of(reports[0]) == "added #7 30@100");
    CHECK(is_acknowledgement(reports[0]));
    CHECK(reports[0].reference == 1);
    CHECK(reports[0].quantity == 30);
    CHECK(reports[0].time_ns == 7'000);
    CHECK(reports[0].number == 3);  // the state was told before
    CHECK(rig.engine.best(0, Side::bid).price == 100);
    CHECK(rig.engine.best(0, Side::bid).quantity == 30);
    CHECK(rig.engine.best(0, Side::bid).orders == 1);
    CHECK(rig.engine.best(0, Side::ask).orders == 0);
    CHECK(rig.engine.live_orders() == 1);
    CHECK(rig.engine.live_orders(1) == 0);
}

TEST_CASE("match: trades are made at resting prices, best first, then in time") {
    OpenRig rig;
    rig.apply(ask(1, 101, 10));
    rig.apply(ask(2, 100, 10));
    rig.apply(ask(3, 100, 10));
    rig.apply(ask(4, 102, 10));
    CHECK(rig.told(bid(5, 101, 35)) ==
          "executed #2 10@100 left 0 last; executed #3 10@100 left 0 last; "
          "executed #1 10@101 left 0 last; added #5 5@101");
    CHECK(rig.engine.last_trade_price(0) == 101);
    CHECK(rig.engine.best(0, Side::ask).price == 102);
    CHECK(rig.engine.counters().executions == 3);
    CHECK(rig.engine.counters().executed_quantity == 30);
}

TEST_CASE("match: an execution names both orders, and match numbers are dense") {
    OpenRig rig;
    rig.apply(by(ask(1, 100, 10), 3));
    const auto reports = rig.apply(by(bid(2, 100, 4), 5));
    REQUIRE(reports.size() == 2);
    CHECK(reports[1].order_id == 1);
    CHECK(reports[1].reference == 1);
    CHECK(reports[1].participant == 3);
    CHECK(reports[1].side == Side::ask);
    CHECK(reports[1].contra_order_id == 2);
    CHECK(reports[1].contra_reference == 2);
    CHECK(reports[1].match_number == 1);
    CHECK(rig.apply(bid(3, 100, 1))[1].match_number == 2);
}

TEST_CASE("match: what a market order does not match is cancelled") {
    OpenRig rig;
    rig.apply(ask(1, 100, 10));
    rig.apply(ask(2, 90'000, 10));
    CHECK(rig.told(market(bid(3, 0, 25))) ==
          "executed #1 10@100 left 0 last; executed #2 10@90000 left 0 last; "
          "removed #3 5 not_matched unseen last");
    CHECK(rig.told(market(ask(4, 0, 5))) == "removed #4 5 not_matched unseen last");
    CHECK(rig.engine.live_orders() == 0);
}

TEST_CASE("match: an immediate order takes what its limit allows and never rests") {
    OpenRig rig;
    rig.apply(ask(1, 100, 10));
    rig.apply(ask(2, 101, 10));
    CHECK(rig.told(timed(bid(3, 100, 15), ioc)) ==
          "executed #1 10@100 left 0 last; removed #3 5 not_matched unseen last");
    CHECK(rig.told(timed(bid(4, 101, 10), ioc)) == "executed #2 10@101 left 0 last");
}

TEST_CASE("match: fill-or-kill takes all or nothing") {
    OpenRig rig;
    rig.apply(by(ask(1, 100, 10), 2));
    rig.apply(by(hidden(ask(2, 101, 10)), 2));
    rig.apply(by(showing(ask(3, 102, 30), 10), 2));
    CHECK(rig.refused(timed(bid(4, 102, 51), fok)) == "not_fillable");
    CHECK(rig.refused(timed(bid(4, 101, 21), fok)) == "not_fillable");
    CHECK(rig.refused(timed(market(bid(4, 0, 51)), fok)) == "not_fillable");
    CHECK(rig.told(timed(bid(4, 102, 50), fok)) ==
          "executed #1 10@100 left 0 last; executed #2 10@101 left 0 unseen last; "
          "executed #3 10@102 left 0; added #3 10@102 refill; executed #3 10@102 left 0; "
          "added #3 10@102 refill; executed #3 10@102 left 0 last");
    CHECK(rig.engine.live_orders() == 0);
}

TEST_CASE("match: fill-or-kill does not count what self-trade prevention excludes") {
    const auto fill = [](Request r, SelfTrade prevention) {
        OpenRig rig;
        rig.apply(by(showing(ask(1, 100, 30), 10), 2));
        rig.apply(by(ask(2, 100, 10), 1));
        rig.apply(by(ask(3, 100, 10), 2));
        rig.apply(by(hidden(ask(4, 99, 10)), 2));
        r.self_trade = prevention;
        r.time_in_force = fok;
        return rig.apply(r)[0].kind == ReportKind::accepted;
    };
    CHECK(fill(bid(9, 100, 60), SelfTrade::allow));
    CHECK_FALSE(fill(bid(9, 100, 61), SelfTrade::allow));
    CHECK(fill(bid(9, 100, 50), SelfTrade::cancel_resting));
    CHECK_FALSE(fill(bid(9, 100, 51), SelfTrade::cancel_resting));
    // The reserve of #1 comes behind #2, which ends the order.
    CHECK(fill(bid(9, 100, 20), SelfTrade::cancel_incoming));
    CHECK_FALSE(fill(bid(9, 100, 21), SelfTrade::cancel_incoming));
    CHECK(fill(bid(9, 100, 20), SelfTrade::cancel_both));
    CHECK_FALSE(fill(bid(9, 100, 21), SelfTrade::cancel_both));
    CHECK(fill(by(bid(9, 100, 60), 0), SelfTrade::cancel_both));
}

TEST_CASE("match: post-only is rejected where it would match, at a hidden order too") {
    OpenRig rig;
    rig.apply(hidden(ask(1, 100, 10)));
    rig.apply(ask(2, 101, 10));
    CHECK(rig.refused(flagged(bid(3, 100, 5), request_flag::post_only)) == "would_match");
    CHECK(rig.told(flagged(bid(3, 99, 5), request_flag::post_only)) == "added #3 5@99");
    Request r = replacing(3, 4, 101, 5);
    r.flags = request_flag::post_only;
    CHECK(rig.refused(r) == "would_match");
    r.price = 98;
    CHECK(rig.told(r) == "replaced #3 #4 5@98");
}

TEST_CASE("match: at a price what is displayed trades before what is hidden, whatever came first") {
    OpenRig rig;
    rig.apply(hidden(bid(1, 100, 10)));
    rig.apply(bid(2, 100, 10));
    rig.apply(hidden(bid(3, 101, 10)));
    rig.apply(hidden(bid(4, 100, 10)));
    CHECK(rig.engine.best(0, Side::bid).quantity == 10);
    CHECK(rig.told(ask(5, 100, 35)) ==
          "executed #3 10@101 left 0 unseen last; executed #2 10@100 left 0 last; "
          "executed #1 10@100 left 0 unseen last; executed #4 5@100 left 5 unseen");
}

TEST_CASE("match: a reserve order refills at the tail, under a new reference") {
    OpenRig rig;
    CHECK(rig.told(showing(ask(1, 100, 25), 10)) == "added #1 10@100");
    rig.apply(ask(2, 100, 10));
    const auto reports = rig.apply(bid(3, 100, 10));
    REQUIRE(reports.size() == 3);
    CHECK(text_of(reports[1]) == "executed #1 10@100 left 0");
    CHECK(text_of(reports[2]) == "added #1 10@100 refill");
    CHECK(reports[1].reference == 1);
    CHECK(reports[2].reference == 4);
    CHECK(rig.told(bid(4, 100, 24)) ==
          "executed #2 10@100 left 0 last; executed #1 10@100 left 0; added #1 5@100 refill; "
          "executed #1 4@100 left 1");
    CHECK(rig.engine.counters().refills == 2);
}

TEST_CASE("match: a display of the whole quantity has no reserve") {
    OpenRig rig;
    CHECK(rig.told(showing(ask(1, 100, 10), 10)) == "added #1 10@100");
    CHECK(rig.engine.find(1)->reserve == 0);
    CHECK(rig.told(bid(2, 100, 10)) == "executed #1 10@100 left 0 last");
}

TEST_CASE("match: a cancel takes the order with its reserve") {
    OpenRig rig;
    rig.apply(showing(ask(1, 100, 25), 10));
    const auto reports = rig.apply(cancelling(1));
    REQUIRE(reports.size() == 2);
    CHECK(reports[0].quantity == 25);
    CHECK(text_of(reports[1]) == "removed #1 10 cancelled last");
    CHECK(rig.refused(cancelling(1)) == "unknown_order");
    CHECK(rig.engine.best(0, Side::ask).orders == 0);
}

TEST_CASE("match: a reduction takes the reserve first and keeps the priority") {
    OpenRig rig;
    rig.apply(showing(bid(1, 100, 25), 10));
    rig.apply(bid(2, 100, 10));
    CHECK(rig.told(reducing(1, 5)) == "reduced #1 5 left 10 unseen");
    CHECK(rig.told(reducing(1, 14)) == "reduced #1 10 left 10 unseen; reduced #1 4 left 6");
    CHECK(rig.told(ask(3, 100, 7)) == "executed #1 6@100 left 0 last; executed #2 1@100 left 9");
    CHECK(rig.told(reducing(2, 9)) == "removed #2 9 cancelled last");
    rig.apply(hidden(bid(4, 100, 10)));
    CHECK(rig.told(reducing(4, 3)) == "reduced #4 3 left 7 unseen");
    CHECK(rig.told(reducing(4, 30)) == "removed #4 7 cancelled unseen last");
}

TEST_CASE("match: a replacement goes to the tail, even at its price and with less") {
    OpenRig rig;
    rig.apply(bid(1, 100, 10));
    rig.apply(bid(2, 100, 10));
    const auto reports = rig.apply(replacing(1, 1, 100, 5));
    REQUIRE(reports.size() == 1);
    CHECK(text_of(reports[0]) == "replaced #1 #1 5@100");
    CHECK(is_acknowledgement(reports[0]));
    CHECK(reports[0].reference == 1);
    CHECK(reports[0].new_reference == 3);
    CHECK(rig.told(ask(3, 100, 11)) == "executed #2 10@100 left 0 last; executed #1 1@100 left 4");
    CHECK(rig.told(replacing(1, 8, 99, 20)) == "replaced #1 #8 20@99");
    CHECK(rig.refused(cancelling(1)) == "unknown_order");
    CHECK(rig.engine.find(8)->price == 99);
}

TEST_CASE("match: a replacement that matches is a removal and a new order") {
    OpenRig rig;
    rig.apply(bid(1, 99, 10));
    rig.apply(ask(2, 101, 4));
    CHECK(rig.told(replacing(1, 3, 101, 10)) ==
          "removed #1 10 cancelled last; executed #2 4@101 left 0 last; added #3 6@101");
}

TEST_CASE("match: a hidden or waiting order is replaced by removal and addition") {
    OpenRig rig;
    rig.apply(hidden(bid(1, 99, 10)));
    CHECK(rig.told(replacing(1, 2, 98, 5)) ==
          "removed #1 10 cancelled unseen last; added #2 5@98 unseen");
    CHECK(rig.engine.find(2)->book == OrderBook::hidden);
    rig.apply(timed(bid(3, 99, 10), on_close));
    CHECK(rig.told(replacing(3, 4, 98, 5)) ==
          "removed #3 10 cancelled unseen last; added #4 5@98 unseen");
    CHECK(rig.engine.find(4)->book == OrderBook::on_close);
}

TEST_CASE("match: a replacement may get another display") {
    OpenRig rig;
    rig.apply(showing(bid(1, 99, 30), 10));
    CHECK(rig.told(replacing(1, 2, 99, 30)) == "replaced #1 #2 30@99");
    CHECK(rig.told(showing(replacing(2, 3, 99, 30), 20)) == "replaced #2 #3 20@99");
    CHECK(rig.engine.find(3)->reserve == 10);
}

TEST_CASE("match: self-trade prevention is decided by the incoming order") {
    const auto trade = [](SelfTrade prevention, std::uint16_t participant = 1) {
        OpenRig rig;
        rig.apply(by(ask(1, 100, 5), 2));
        rig.apply(by(showing(ask(2, 100, 20), 5), participant, SelfTrade::cancel_both));
        rig.apply(by(ask(3, 100, 5), 2));
        return rig.told(by(bid(4, 100, 12), participant, prevention));
    };
    const std::string first = "executed #1 5@100 left 0 last; ";
    CHECK(trade(SelfTrade::allow) ==
          first + "executed #2 5@100 left 0; added #2 5@100 refill; executed #3 2@100 left 3");
    CHECK(trade(SelfTrade::cancel_resting) ==
          first + "removed #2 5 self_trade last; executed #3 5@100 left 0 last; added #4 2@100");
    CHECK(trade(SelfTrade::cancel_incoming) == first + "removed #4 7 self_trade unseen last");
    CHECK(trade(SelfTrade::cancel_both) ==
          first + "removed #2 5 self_trade last; removed #4 7 self_trade unseen last");
    CHECK(trade(SelfTrade::cancel_both, 0) == trade(SelfTrade::allow));
}

TEST_CASE("match: each wrong order is refused with its reason and changes nothing") {
    OpenRig rig(small_options(), {.tick = 5, .lot = 10, .reference_price = 0});
    rig.apply(bid(1, 100, 10));
    const auto with = [](auto&& edit) {
        Request r = bid(2, 95, 10);
        edit(r);
        return r;
    };
    constexpr auto largest = std::numeric_limits<std::uint64_t>::max();
    CHECK(rig.refused(with([](Request& r) { r.instrument = 2; })) == "unknown_instrument");
    CHECK(rig.refused(with([](Request& r) { r.order_id = 1; })) == "duplicate_id");
    CHECK(rig.refused(with([](Request& r) { r.quantity = 0; })) == "bad_quantity");
    CHECK(rig.refused(with([](Request& r) { r.quantity = 11; })) == "bad_quantity");
    CHECK(rig.refused(with([](Request& r) { r.quantity = 1'000'010; })) == "bad_quantity");
    CHECK(rig.refused(with([](Request& r) { r.quantity = largest; })) == "bad_quantity");
    CHECK(rig.refused(with([](Request& r) { r.quantity = (1ULL << 32U) + 10; })) == "bad_quantity");
    CHECK(rig.refused(with([](Request& r) { r.price = 0; })) == "bad_price");
    CHECK(rig.refused(with([](Request& r) { r.price = -5; })) == "bad_price");
    CHECK(rig.refused(with([](Request& r) { r.price = 96; })) == "bad_price");
    CHECK(rig.refused(with([](Request& r) { r.price = 100'005; })) == "bad_price");
    CHECK(rig.refused(with([](Request& r) { r.price = (1LL << 40U) * 5; })) == "bad_price");
    CHECK(rig.refused(with([](Request& r) { r.display = 20; })) == "bad_display");
    CHECK(rig.refused(with([](Request& r) { r.display = 5; })) == "bad_display");
    CHECK(rig.refused(with([](Request& r) { r.display = 10, r.flags = request_flag::hidden; })) ==
          "bad_display");
    CHECK(rig.refused(timed(showing(bid(2, 95, 20), 10), ioc)) == "bad_combination");
    CHECK(rig.refused(timed(flagged(bid(2, 95, 20), request_flag::post_only), fok)) ==
          "bad_combination");
    CHECK(rig.refused(market(hidden(bid(2, 0, 20)))) == "bad_combination");
    CHECK(rig.refused(timed(hidden(bid(2, 95, 20)), on_open)) == "bad_combination");
    CHECK(rig.refused(with([](Request& r) { r.flags = 4; })) == "bad_request");
    CHECK(rig.refused(with([](Request& r) { r.side = Side{2}; })) == "bad_request");
    CHECK(rig.refused(with([](Request& r) { r.type = OrderType{2}; })) == "bad_request");
    CHECK(rig.refused(with([](Request& r) { r.time_in_force = TimeInForce{5}; })) == "bad_request");
    CHECK(rig.refused(with([](Request& r) { r.self_trade = SelfTrade{4}; })) == "bad_request");
    CHECK(rig.refused(with([](Request& r) { r.kind = RequestKind{7}; })) == "bad_request");
    CHECK(rig.engine.counters().rejected[as_index(Reason::bad_request)] == 6);
    CHECK(rig.told(bid(2, 95, 1'000'000)) == "added #2 1000000@95");
}

TEST_CASE("match: each wrong change of an order is refused with its reason") {
    OpenRig rig(small_options(), {.tick = 5, .lot = 10, .reference_price = 0});
    rig.apply(bid(1, 100, 20));
    rig.apply(bid(2, 95, 20));
    rig.apply(timed(bid(3, 95, 20), on_open));
    CHECK(rig.refused(by(cancelling(1), 2)) == "unknown_order");
    CHECK(rig.refused(cancelling(9)) == "unknown_order");
    CHECK(rig.refused(by(reducing(1, 10), 2)) == "unknown_order");
    CHECK(rig.refused(reducing(1, 0)) == "bad_quantity");
    CHECK(rig.refused(reducing(1, 15)) == "bad_quantity");
    CHECK(rig.refused(by(replacing(1, 4, 100, 10), 2)) == "unknown_order");
    CHECK(rig.refused(replacing(1, 2, 100, 10)) == "duplicate_id");
    CHECK(rig.refused(replacing(1, 4, 101, 10)) == "bad_price");
    CHECK(rig.refused(replacing(1, 4, 100, 15)) == "bad_quantity");
    CHECK(rig.refused(showing(replacing(1, 4, 100, 10), 20)) == "bad_display");
    CHECK(rig.refused(hidden(replacing(1, 4, 100, 10))) == "bad_request");
    CHECK(rig.refused(by(replacing(1, 4, 100, 10), 1, SelfTrade{4})) == "bad_request");
    CHECK(rig.refused(showing(replacing(3, 4, 95, 20), 10)) == "bad_combination");
    CHECK(rig.refused(flagged(replacing(3, 4, 95, 20), request_flag::post_only)) ==
          "bad_combination");
    CHECK(rig.told(cancelling(1)) == "removed #1 20 cancelled last");
}

TEST_CASE("match: states decide what enters") {
    Rig rig;
    CHECK(rig.refused(bid(1, 100, 10)) == "not_open");
    rig.apply(to_state(TradingState::quotation));
    CHECK(rig.told(bid(1, 100, 10)) == "added #1 10@100");
    CHECK(rig.told(flagged(ask(2, 99, 10), request_flag::post_only)) == "added #2 10@99");
    CHECK(rig.told(market(bid(3, 0, 10))) == "added #3 10@0 unseen");
    CHECK(rig.told(timed(bid(4, 100, 10), on_open)) == "added #4 10@100 unseen");
    CHECK(rig.refused(timed(bid(5, 100, 10), ioc)) == "not_open");
    CHECK(rig.refused(timed(bid(5, 100, 10), fok)) == "not_open");
    CHECK(rig.told(replacing(1, 1, 101, 10)) == "replaced #1 #1 10@101");
    for (const auto state : {TradingState::halted, TradingState::paused, TradingState::closed}) {
        rig.apply(to_state(state));
        CHECK(rig.engine.state(0) == state);
        CHECK(rig.refused(bid(5, 100, 10)) == "not_open");
        CHECK(rig.refused(timed(bid(5, 100, 10), on_open)) == "not_open");
        CHECK(rig.refused(replacing(1, 1, 101, 10)) == "not_open");
        CHECK(rig.told(reducing(1, 1)).substr(0, 7) == "reduced");
    }
    CHECK(rig.told(cancelling(2)) == "removed #2 10 cancelled last");
    CHECK(rig.engine.state(1) == TradingState::closed);
}

TEST_CASE("match: continuous trading does not start while the book crosses, hidden or not") {
    OpenRig rig(small_options(), {}, TradingState::quotation);
    rig.apply(bid(1, 100, 10));
    rig.apply(hidden(ask(2, 100, 10)));
    CHECK(rig.refused(to_state(TradingState::continuous)) == "book_crossed");
    rig.apply(to_state(TradingState::halted));
    CHECK(rig.refused(to_state(TradingState::continuous)) == "book_crossed");
    rig.apply(cancelling(2));
    rig.apply(timed(ask(3, 90, 10), on_open));
    rig.apply(market(ask(4, 0, 10)));
    CHECK(rig.told(to_state(TradingState::continuous)) == "state 1");
    CHECK(rig.refused(to_state(TradingState{5})) == "bad_request");
    CHECK(rig.refused(to_state(TradingState::halted, 2)) == "unknown_instrument");
}

TEST_CASE("match: in continuous trading orders for a cross wait unseen and do not match") {
    OpenRig rig;
    rig.apply(ask(1, 100, 10));
    CHECK(rig.told(timed(bid(2, 100, 10), on_close)) == "added #2 10@100 unseen");
    CHECK(rig.told(timed(market(bid(3, 0, 10)), on_open)) == "added #3 10@0 unseen");
    CHECK(rig.told(ask(4, 99, 10)) == "added #4 10@99");
    CHECK(rig.engine.best(0, Side::bid).orders == 0);
    CHECK(rig.told(cancelling(3)) == "removed #3 10 cancelled unseen last");
}

TEST_CASE("match: full pools refuse orders that may rest, and only those") {
    EngineOptions options = small_options();
    options.orders = 3;
    options.levels = 2;
    OpenRig rig(options);
    rig.apply(bid(1, 99, 10));
    rig.apply(ask(2, 101, 10));
    CHECK(rig.refused(bid(3, 98, 10)) == "no_room");
    CHECK(rig.refused(hidden(bid(3, 99, 10))) == "no_room");
    CHECK(rig.refused(replacing(9, 9, 98, 10)) == "unknown_order");
    CHECK(rig.told(replacing(1, 1, 98, 10)) == "replaced #1 #1 10@98");
    CHECK(rig.told(showing(bid(3, 98, 10), 2)) == "added #3 2@98");
    CHECK(rig.refused(replacing(3, 3, 97, 10)) == "no_room");
    CHECK(rig.refused(ask(4, 101, 10)) == "no_room");
    CHECK(rig.refused(bid(4, 101, 10)) == "no_room");
    CHECK(rig.told(timed(bid(4, 101, 20), ioc)) ==
          "executed #2 10@101 left 0 last; removed #4 10 not_matched unseen last");
    CHECK(rig.told(ask(5, 98, 12)) ==
          "executed #1 10@98 left 0 last; executed #3 2@98 left 0; added #3 2@98 refill");
}

TEST_CASE("match: the state hash tells states apart, and not how their reports were numbered") {
    OpenRig one;
    OpenRig other;
    const auto differs = [&] { return one.engine.state_hash() != other.engine.state_hash(); };
    CHECK_FALSE(differs());
    one.refused(bid(1, 0, 1));
    CHECK_FALSE(differs());
    one.apply(bid(1, 100, 10));
    CHECK(differs());
    other.apply(by(bid(1, 100, 10), 2));
    CHECK(differs());
    one.apply(cancelling(1));
    other.apply(by(cancelling(1), 2));
    CHECK_FALSE(differs());
    one.apply(to_state(TradingState::quotation));
    CHECK(differs());
}

TEST_CASE("match: options and terms out of range are refused in words") {
    Arena arena = Arena::create({.bytes = 1 << 20, .hugetlb = false}).value();
    const auto error = [&](EngineOptions options, InstrumentTerms terms, std::size_t count) {
        const std::vector<InstrumentTerms> all(count, terms);
        const auto engine = Engine::create(arena, options, all);
        return engine.ok() ? "" : engine.error().context;
    };
    using Catch::Contains;
    EngineOptions options = small_options();
    CHECK_THAT(error(options, {}, 1), Contains("terms of 1 instruments, not 2"));
    CHECK_THAT(error(options, {.tick = 0}, 2), Contains("instrument 0"));
    CHECK_THAT(error(options, {.lot = 0}, 2), Contains("instrument 0"));
    CHECK_THAT(error(options, {.reference_price = -1}, 2), Contains("reference price"));
    options.orders = 0;
    CHECK_THAT(error(options, {}, 2), Contains("orders must be 1 to"));
    options.orders = 10'000'000;
    CHECK_THAT(error(options, {}, 2), Contains("bytes of its arena"));
    options.largest_price = -1;
    CHECK_THAT(error(options, {}, 2), Contains("largest_price must be 1 to"));
    options = small_options();
    options.largest_quantity = 1ULL << 32U;
    CHECK_THAT(error(options, {}, 2), Contains("largest_quantity must be 1 to 4294967295"));
    options.instruments = 0;
    CHECK_THAT(error(options, {}, 0), Contains("instruments must be 1 to"));
}

}  // namespace
