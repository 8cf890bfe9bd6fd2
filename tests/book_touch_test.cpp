// BookSet: what touches an instrument and when it is let out; events, crossed books, level and
// quote books.
#include <catch2/catch.hpp>

#include "book_rig.hpp"

namespace {

using namespace wirebook;
using namespace wirebook::book;
using Heard = std::vector<std::string>;

TEST_CASE("book: touched instruments are let out once a packet, in order of first touch") {
    BookRig rig;
    rig.add(3, Side::bid, 1, 100, 5).add(1, Side::bid, 2, 100, 5).add(3, Side::bid, 3, 99, 5);
    rig.packet_end();
    rig.order(UpdateKind::remove, 3).order(UpdateKind::reduce, 2, 0).apply();
    CHECK(rig.take_heard() == Heard{"touched 3", "touched 1", "touched 3", "touched 1"});
}

TEST_CASE("book: an update belongs to the instrument of its order") {
    BookRig rig;
    rig.add(3, Side::bid, 1, 100, 5).apply();
    rig.order(UpdateKind::reduce, 1, 1).apply();  // names instrument 0
    CHECK(rig.take_heard() == Heard{"touched 3", "touched 3"});
}

TEST_CASE("book: events are heard at their place") {
    BookRig rig;
    rig.event(1).add(0, Side::bid, 1, 100, 5).event(2).order(UpdateKind::execute, 1, 5).event(3);
    rig.packet_end().event(4).apply();
    CHECK(rig.take_heard() ==
          Heard{"event 1", "event 2", "execution 0 B 100 x5", "event 3", "touched 0", "event 4"});
}

TEST_CASE("book: a packet that goes on in the next batch lets out at its end") {
    BookRig rig;
    rig.add(1, Side::bid, 1, 100, 5).packet_end();
    rig.add(2, Side::bid, 2, 100, 5).event(1).apply_open();
    CHECK(rig.take_heard() == Heard{"touched 1", "event 1"});
    rig.add(0, Side::bid, 3, 100, 5).apply();
    CHECK(rig.take_heard() == Heard{"touched 2", "touched 0"});
}

TEST_CASE("book: an instrument with an open event waits, before those first touched later") {
    BookRig rig;
    rig.level(UpdateKind::level_set, 0, Side::bid, 100, 5, true);
    rig.level(UpdateKind::level_set, 1, Side::bid, 100, 5).apply();
    CHECK(rig.take_heard() == Heard{"touched 1"});
    CHECK(rig.books.event_open(0));
    rig.level(UpdateKind::level_set, 2, Side::bid, 100, 5, true).apply();
    CHECK(rig.heard.empty());
    rig.level(UpdateKind::level_set, 1, Side::bid, 100, 6);
    rig.level(UpdateKind::level_set, 2, Side::bid, 101, 5);
    rig.level(UpdateKind::level_set, 0, Side::bid, 101, 5).apply();
    CHECK(rig.take_heard() == Heard{"touched 0", "touched 2", "touched 1"});
}

TEST_CASE("book: a refused level removal is counted and opens or closes the event all the same") {
    BookRig rig;
    rig.level(UpdateKind::level_remove, 0, Side::bid, 100, 0, true).apply();
    CHECK(rig.books.counters().unknown_levels == 1);
    CHECK(rig.heard.empty());
    CHECK(rig.books.event_open(0));
    rig.level(UpdateKind::level_set, 0, Side::bid, 100, 5, true).apply();
    CHECK(rig.heard.empty());
    rig.level(UpdateKind::level_remove, 0, Side::ask, 100, 0).apply();
    CHECK(rig.take_heard() == Heard{"touched 0"});
}

TEST_CASE("book: close_event opens and closes without a change") {
    BookRig rig;
    rig.tell(UpdateKind::close_event, 0, 0, 0, update_flag::event_open);
    rig.level(UpdateKind::level_set, 1, Side::bid, 100, 5, true).apply();
    CHECK(rig.books.event_open(0));
    CHECK(rig.heard.empty());
    rig.tell(UpdateKind::close_event, 1).apply();
    CHECK(rig.take_heard() == Heard{"touched 1"});
}

TEST_CASE("book: a clear and a session change close events and drop what waits") {
    const UpdateKind kind = GENERATE(UpdateKind::clear_books, UpdateKind::new_session);
    BookRig rig;
    rig.level(UpdateKind::level_set, 0, Side::bid, 100, 5, true).apply();
    rig.tell(kind).apply();
    CHECK(rig.take_heard() == Heard{"clear"});
    CHECK_FALSE(rig.books.event_open(0));
    rig.level(UpdateKind::level_remove, 0, Side::bid, 100, 0).apply();
    CHECK(rig.books.counters().unknown_levels == 1);
    rig.level(UpdateKind::level_set, 0, Side::bid, 100, 5).apply();
    CHECK(rig.take_heard() == Heard{"touched 0"});
}

TEST_CASE("book: a level book sets, changes and removes levels without orders") {
    BookRig rig;
    rig.level(UpdateKind::level_set, 0, Side::ask, 100, std::uint64_t{1} << 40U);
    rig.level(UpdateKind::level_set, 0, Side::ask, 99, 3);
    rig.level(UpdateKind::level_set, 0, Side::ask, 99, 4).apply();
    CHECK(rig.asks() == "99x4/0 100x1099511627776/0");
    rig.level(UpdateKind::level_remove, 0, Side::ask, 99, 0);
    rig.level(UpdateKind::level_set, 0, Side::ask, 100, 0).apply();  // nothing is no level
    CHECK(rig.asks().empty());
    CHECK(rig.books.books_ever() == 1);
}

TEST_CASE("book: a quote book has at most one level a side; size 0 alone makes a side empty") {
    BookRig rig;
    rig.quote(0, 100, 5, 101, 6).apply();
    CHECK(rig.bids() == "100x5/0");
    CHECK(rig.asks() == "101x6/0");
    rig.quote(0, 99, 5, 0, 7).apply();
    CHECK(rig.bids() == "99x5/0");
    CHECK(rig.asks() == "0x7/0");
    rig.quote(0, 99, 0, 0, 0).apply();
    CHECK(rig.bids().empty());
    CHECK(rig.asks().empty());
    rig.quote(0, 99, 0, 0, 0).apply();
    CHECK(rig.take_heard().size() == 4);
}

TEST_CASE("book: a quote without room changes nothing") {
    BookSetOptions options = small_options();
    options.levels = 3;
    BookRig rig(options);
    rig.quote(0, 100, 5, 101, 6).quote(1, 100, 5, 101, 6).apply();
    CHECK(rig.books.counters().no_room_levels == 1);
    CHECK(rig.bids(1).empty());
    CHECK(rig.take_heard() == Heard{"touched 0"});
    rig.quote(0, 99, 5, 102, 6).quote(1, 100, 5, 101, 0).apply();
    CHECK(rig.bids(0) == "99x5/0");
    CHECK(rig.bids(1) == "100x5/0");
}

TEST_CASE("book: the verbs of level and quote books leave levels of orders alone") {
    BookRig rig;
    rig.add(0, Side::bid, 1, 100, 5).apply();
    rig.level(UpdateKind::level_set, 0, Side::bid, 100, 9);
    rig.level(UpdateKind::level_remove, 0, Side::bid, 100, 0).quote(0, 100, 1, 101, 1).apply();
    CHECK(rig.books.counters().unknown_levels == 3);
    CHECK(rig.bids() == "100x5/1");
}

TEST_CASE("book: crossed counts where the instrument and its market trade, above equal prices") {
    BookRig rig;
    rig.add(0, Side::bid, 1, 100, 5).add(0, Side::ask, 2, 99, 5).apply();
    CHECK(rig.books.counters().crossed == 0);  // no status was told
    rig.tell(UpdateKind::group, 0, 7).tell(UpdateKind::trading, 0, 1);
    rig.add(0, Side::bid, 3, 90, 5).apply();
    CHECK(rig.books.counters().crossed == 0);  // its market is closed
    rig.tell(UpdateKind::market, 0, 7, 1).apply();
    CHECK(rig.books.trades_continuously(0));
    CHECK(rig.books.counters().crossed == 0);  // not touched
    rig.add(0, Side::bid, 4, 91, 5).apply();
    CHECK(rig.books.counters().crossed == 1);
    rig.order(UpdateKind::remove, 1).add(0, Side::bid, 5, 99, 5).apply();  // equal
    CHECK(rig.books.counters().crossed == 1);
    rig.tell(UpdateKind::trading, 0, 0).add(0, Side::bid, 6, 99, 5).apply();
    CHECK_FALSE(rig.books.trades_continuously(0));
}

TEST_CASE("book: where unknown status trades, a crossed book with an open event waits") {
    BookSetOptions options = small_options();
    options.trading_by_default = true;
    BookRig rig(options);
    rig.level(UpdateKind::level_set, 0, Side::bid, 100, 5);
    rig.level(UpdateKind::level_set, 0, Side::ask, 99, 5, true).apply();
    CHECK(rig.books.counters().crossed == 0);
    rig.tell(UpdateKind::close_event, 0).apply();
    CHECK(rig.books.counters().crossed == 1);
    rig.tell(UpdateKind::trading, 0, 0).level(UpdateKind::level_set, 0, Side::ask, 99, 6).apply();
    CHECK(rig.books.counters().crossed == 1);
    rig.tell(UpdateKind::new_session).quote(1, 100, 1, 99, 1).apply();
    CHECK(rig.books.counters().crossed == 2);
    rig.tell(UpdateKind::market, 0, 0, 0).quote(1, 100, 1, 99, 1).apply();
    CHECK(rig.books.counters().crossed == 2);
}

TEST_CASE("book: a market group out of range is refused") {
    BookRig rig;
    rig.tell(UpdateKind::market, 0, 65'536, 1).tell(UpdateKind::group, 0, 65'536).apply();
    CHECK(rig.books.counters().no_room_instruments == 2);
}

}  // namespace
