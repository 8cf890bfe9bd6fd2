// BookSet: one rule a case. What touches and lets out is in book_touch_test.cpp.
#include <catch2/catch.hpp>

#include <cstdint>
#include <limits>
#include <random>

#include "book_rig.hpp"

namespace {

using namespace wirebook;
using namespace wirebook::book;
using Heard = std::vector<std::string>;

TEST_CASE("book: orders of a price add up and queue in order of arrival") {
    BookRig rig;
    rig.add(0, Side::bid, 1, 100, 5).add(0, Side::bid, 2, 100, 7).add(0, Side::bid, 3, 101, 1);
    rig.add(0, Side::ask, 4, 102, 2).add(0, Side::ask, 5, 103, 3).apply();
    CHECK(rig.bids() == "101x1/1 100x12/2");
    CHECK(rig.asks() == "102x2/1 103x3/1");
    CHECK(rig.books.queue_position(2)->orders_ahead == 1);
    CHECK(rig.books.queue_position(2)->quantity_ahead == 5);
    CHECK(rig.books.live_orders() == 5);
    CHECK(rig.books.order(4)->price == 102);
    CHECK_FALSE(rig.books.queue_position(6).has_value());
    CHECK(rig.books.best(0, Side::bid)->price == 101);
    CHECK_FALSE(rig.books.best(1, Side::bid).has_value());
}

TEST_CASE("book: an execution reports the order's price, or its own where it has one") {
    BookRig rig;
    rig.add(2, Side::ask, 1, 100, 10).apply();
    rig.order(UpdateKind::execute, 1, 3, update_flag::printable);
    rig.order(UpdateKind::execute, 1, 2, update_flag::has_price, 95).apply();
    CHECK(rig.take_heard() == Heard{"touched 2", "execution 2 S 100 x3 printable",
                                    "execution 2 S 95 x2 priced", "touched 2"});
    CHECK(rig.asks(2) == "100x5/1");
}

TEST_CASE("book: reducing to nothing removes the order and its empty level") {
    BookRig rig;
    rig.add(0, Side::bid, 1, 100, 5).order(UpdateKind::reduce, 1, 2).apply();
    CHECK(rig.bids() == "100x3/1");
    rig.order(UpdateKind::reduce, 1, 3).apply();
    CHECK(rig.bids().empty());
    CHECK(rig.books.live_orders() == 0);
    CHECK(rig.books.counters().overfills == 0);
}

TEST_CASE("book: taking more than is left removes the order and counts an overfill") {
    BookRig rig;
    rig.add(0, Side::bid, 1, 100, 5).add(0, Side::bid, 2, 100, 6).apply();
    rig.order(UpdateKind::execute, 1, std::numeric_limits<std::uint64_t>::max()).apply();
    CHECK(rig.bids() == "100x6/1");
    CHECK(rig.books.counters().overfills == 1);
    rig.order(UpdateKind::execute, 1, 1).apply();
    CHECK(rig.books.counters().unknown_orders == 1);
}

TEST_CASE("book: updates of unknown orders are refused and counted") {
    BookRig rig;
    for (const UpdateKind kind :
         {UpdateKind::execute, UpdateKind::reduce, UpdateKind::remove, UpdateKind::replace}) {
        rig.order(kind, 77, 1);
    }
    rig.apply();
    CHECK(rig.books.counters().unknown_orders == 4);
    CHECK(rig.heard.empty());
    CHECK(rig.books.instruments_end() == 0);
}

TEST_CASE("book: an add with a live reference is refused, on its instrument and on another") {
    BookRig rig;
    rig.add(0, Side::bid, 1, 100, 5).apply();
    rig.take_heard();
    rig.add(0, Side::bid, 1, 101, 5).add(1, Side::ask, 1, 100, 5).apply();
    CHECK(rig.books.counters().duplicate_orders == 2);
    CHECK(rig.heard.empty());
    CHECK(rig.bids() == "100x5/1");
    rig.order(UpdateKind::remove, 1).add(1, Side::ask, 1, 100, 5).apply();
    CHECK(rig.asks(1) == "100x5/1");
}

TEST_CASE("book: an add of no quantity, too much or no side is a bad order") {
    BookRig rig;
    rig.add(0, Side::bid, 1, 100, 0).add(0, Side::bid, 2, 100, 0x1'0000'0000);
    rig.add(0, Side::bid, 3, 100, 5, update_flag::bad_side).apply();
    CHECK(rig.books.counters().bad_orders == 3);
    CHECK(rig.books.live_orders() == 0);
    rig.add(0, Side::bid, 1, 100, 0xFFFF'FFFF).apply();
    CHECK(rig.bids() == "100x4294967295/1");
}

TEST_CASE("book: a replacement inherits side and instrument and goes to the end of its queue") {
    BookRig rig;
    rig.add(3, Side::ask, 1, 100, 5).add(3, Side::ask, 2, 100, 6).apply();
    rig.replace(1, 9, 100, 4).apply();
    CHECK(rig.asks(3) == "100x10/2");
    CHECK(rig.books.queue_position(9)->orders_ahead == 1);
    CHECK_FALSE(rig.books.order(1).has_value());
    rig.replace(9, 9, 101, 4).apply();  // onto itself
    CHECK(rig.asks(3) == "100x6/1 101x4/1");
    CHECK(rig.books.counters().duplicate_orders == 0);
}

TEST_CASE("book: a refused replacement removes and touches the original all the same") {
    BookRig rig;
    rig.add(0, Side::bid, 1, 100, 5).add(1, Side::bid, 2, 100, 6).add(0, Side::bid, 3, 99, 1);
    rig.apply();
    rig.take_heard();
    rig.replace(1, 2, 101, 7).apply();
    CHECK(rig.books.counters().duplicate_orders == 1);
    CHECK(rig.bids(0) == "99x1/1");
    CHECK(rig.bids(1) == "100x6/1");
    rig.replace(3, 4, 101, 0).apply();
    CHECK(rig.books.counters().bad_orders == 1);
    CHECK(rig.bids(0).empty());
    CHECK(rig.take_heard() == Heard{"touched 0", "touched 0"});
}

TEST_CASE("book: every 64-bit price is a price, on both sides") {
    BookRig rig;
    constexpr auto least = std::numeric_limits<std::int64_t>::min();
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    std::uint64_t id = 0;
    for (const std::int64_t price : {std::int64_t{0}, least, most, std::int64_t{-1}}) {
        rig.add(0, Side::bid, ++id, price, 1);
        rig.add(0, Side::ask, ++id, price, 1);
    }
    rig.apply();
    CHECK(rig.bids() == "9223372036854775807x1/1 0x1/1 -1x1/1 -9223372036854775808x1/1");
    CHECK(rig.asks() == "-9223372036854775808x1/1 -1x1/1 0x1/1 9223372036854775807x1/1");
}

TEST_CASE("book: a level of many orders keeps its queue through removals anywhere") {
    BookRig rig;
    std::vector<std::uint64_t> queue;
    for (std::uint64_t id = 1; id <= 200; ++id) {
        rig.add(0, Side::bid, id, 100, id);
        queue.push_back(id);
    }
    rig.apply();
    std::mt19937_64 random(5);
    std::uint64_t next = 201;
    while (!queue.empty()) {
        const std::size_t at = random() % queue.size();
        rig.order(UpdateKind::remove, queue[at]);
        queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(at));
        if (next < 300) {
            rig.add(0, Side::bid, next, 100, next);
            queue.push_back(next++);
        }
        rig.apply();
        std::vector<std::uint64_t> got;
        rig.books.for_each_order(0, Side::bid, [&](std::uint64_t id, std::int64_t, std::uint32_t) {
            got.push_back(id);
        });
        REQUIRE(got == queue);
    }
    CHECK(rig.bids().empty());
}

TEST_CASE("book: depth gives the best levels first and no more than asked") {
    BookRig rig;
    for (std::uint64_t i = 0; i < 100; ++i) {
        rig.add(0, Side::bid, i, static_cast<std::int64_t>(i * 7 % 100), 1);
    }
    rig.apply();
    std::array<LevelView, 5> out;
    REQUIRE(rig.books.depth(0, Side::bid, out) == 5);
    CHECK(out[0].price == 99);
    CHECK(out[4].price == 95);
    CHECK(rig.books.depth(0, Side::ask, out) == 0);
    CHECK(rig.books.depth(0, Side::bid, {}) == 0);
}

TEST_CASE("book: without room for orders, levels or instruments updates are refused and counted") {
    BookSetOptions options = small_options();
    options.live_orders = 30;
    options.levels = 3;
    options.queue_lines = 1;
    BookRig rig(options);
    for (std::uint64_t id = 1; id <= 4; ++id) {
        rig.add(0, Side::bid, id, static_cast<std::int64_t>(id), 1);
    }
    rig.apply();
    CHECK(rig.books.counters().no_room_levels == 1);
    for (std::uint64_t id = 11; id <= 40; ++id) rig.add(0, Side::bid, id, 1, 1);
    rig.apply();
    CHECK(rig.bids() == "3x1/1 2x1/1 1x19/19");  // 7 in the level's line, 12 in the one more
    CHECK(rig.books.counters().no_room_levels == 13);
    rig.order(UpdateKind::remove, 2).add(0, Side::ask, 2, 50, 1).apply();  // room came back
    CHECK(rig.asks() == "50x1/1");
    for (std::uint64_t id = 100; id < 120; ++id) rig.add(0, Side::ask, id, 50, 1);
    rig.apply();
    CHECK(rig.asks() == "50x7/7");
    CHECK(rig.books.counters().no_room_orders == 0);
    rig.add(8, Side::bid, 500, 1, 1).level(UpdateKind::level_set, no_instrument, Side::bid, 1, 1);
    rig.quote(9, 1, 1, 2, 1).tell(UpdateKind::trading, 8, 1).apply();
    CHECK(rig.books.counters().no_room_instruments == 4);
}

TEST_CASE("book: an order beyond live_orders is refused, and a replacement keeps its room") {
    BookSetOptions options = small_options();
    options.live_orders = 2;
    BookRig rig(options);
    rig.add(0, Side::bid, 1, 1, 1).add(0, Side::bid, 2, 1, 1).add(0, Side::bid, 3, 1, 1);
    rig.replace(1, 4, 2, 1).apply();
    CHECK(rig.books.counters().no_room_orders == 1);
    CHECK(rig.bids() == "2x1/1 1x1/1");
}

TEST_CASE("book: orders of instruments that are not followed leave no trace but their reference") {
    BookRig rig;
    rig.name(1, "OTHER", false).apply();
    CHECK_FALSE(rig.books.followed(1));
    rig.add(1, Side::bid, 1, 100, 5).add(1, Side::bid, 2, 100, 0).add(1, Side::bid, 1, 1, 1);
    rig.order(UpdateKind::execute, 1, 2).order(UpdateKind::reduce, 1, 9).apply();
    rig.add(1, Side::bid, 3, 100, 5).replace(3, 4, 100, 5).apply();
    CHECK(rig.heard.empty());
    CHECK(rig.books.live_orders() == 0);
    CHECK(rig.books.books_ever() == 0);
    CHECK(rig.books.instruments_ever() == 1);
    CHECK(rig.books.counters().overfills == 0);
    CHECK(rig.books.counters().bad_orders == 0);
    CHECK(rig.books.counters().duplicate_orders == 0);
    rig.add(0, Side::bid, 4, 100, 5).apply();  // the reference is taken
    CHECK(rig.books.counters().duplicate_orders == 1);
    const std::uint32_t unknown = rig.push(UpdateKind::remove, 1);
    static_cast<void>(unknown);
    rig.apply();
    CHECK(rig.books.counters().unknown_orders == 0);
}

TEST_CASE("book: an instrument renamed to one that is not followed leaves the books") {
    BookRig rig;
    rig.name(0, "KEPT");
    for (std::uint64_t id = 1; id <= 30; ++id) rig.add(0, Side::bid, id, 100, 5);
    rig.apply();
    rig.name(0, "DROPPED", false).apply();
    CHECK(rig.bids().empty());
    CHECK(rig.books.live_orders() == 0);
    rig.order(UpdateKind::remove, 5).apply();
    CHECK(rig.books.counters().unknown_orders == 0);
    rig.name(0, "AGAIN").add(0, Side::bid, 5, 100, 5).apply();
    CHECK(rig.bids() == "100x5/1");
}

TEST_CASE("book: names come with places, and a rename keeps the book") {
    BookRig rig;
    rig.name(2, "ABCDEFGHIJKLMNOP").add(2, Side::bid, 1, 5, 5).apply();
    CHECK(rig.books.symbol(2) == "ABCDEFGHIJKLMNOP");
    CHECK(rig.books.price_places(2) == 4);
    CHECK(rig.books.last_touch_time_ns(2) == 2);
    rig.name(2, "XY").apply();
    CHECK(rig.books.symbol(2) == "XY");
    CHECK(rig.bids(2) == "5x5/1");
    CHECK(rig.books.instruments_end() == 3);
    CHECK(rig.books.instruments_ever() == 1);
}

TEST_CASE("book: a new session forgets all but what was ever seen; a clear keeps names") {
    BookRig rig;
    rig.name(0, "A").add(0, Side::bid, 1, 5, 5).add(1, Side::ask, 2, 6, 5).apply();
    rig.tell(UpdateKind::clear_books).apply();
    CHECK(rig.bids().empty());
    CHECK(rig.books.live_orders() == 0);
    CHECK(rig.books.symbol(0) == "A");
    rig.add(0, Side::bid, 1, 7, 5).apply();
    CHECK(rig.bids() == "7x5/1");
    rig.tell(UpdateKind::new_session).apply();
    CHECK(rig.bids().empty());
    CHECK_FALSE(rig.books.named(0));
    CHECK(rig.books.symbol(0).empty());
    CHECK(rig.books.instruments_ever() == 2);
    CHECK(rig.books.books_ever() == 2);
    rig.add(0, Side::bid, 1, 7, 5).apply();
    CHECK(rig.bids() == "7x5/1");
    CHECK(rig.books.counters().duplicate_orders == 0);
}

TEST_CASE("book: a set without its memory, or of impossible sizes, says so") {
    auto arena = Arena::create({.bytes = 1, .hugetlb = false});
    const auto small = BookSet::create(arena.value(), {});
    REQUIRE_FALSE(small.ok());
    CHECK(small.error().context.find("do not fit") != std::string::npos);
    CHECK_FALSE(BookSet::create(arena.value(), {.instruments = 0}).ok());
    CHECK_FALSE(BookSet::create(arena.value(), {.live_orders = 0}).ok());
    CHECK_FALSE(BookSet::create(arena.value(), {.levels = std::uint64_t{1} << 60U}).ok());
}

}  // namespace
