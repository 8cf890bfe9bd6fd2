// The conflating reader against what went into the ring.
#include <cstdlib>
#include <map>
#include <random>

#include "ring_fixture.hpp"
#include "wirebook/ring/conflate.hpp"

using namespace wirebook;
using namespace wirebook::ring;
using wirebook::test::add_instruments;
using wirebook::test::must_attach;
using wirebook::test::must_create;
using wirebook::test::small_segment;
using wirebook::test::TemporaryFolder;

namespace {

Subscription wanted(std::vector<std::string> symbols) {
    auto made = Subscription::make({.symbols = std::move(symbols)});
    REQUIRE(made.ok());
    return std::move(made).value();
}
using Numbers = std::vector<std::uint64_t>;
Numbers packets(const ConflatingReader::Records& records) {
    Numbers numbers;
    for (const Record& record : records) numbers.push_back(record.packet);
    return numbers;
}

}  // namespace

TEST_CASE("conflate: a poll gives all events, and each changed book once, newest, by first change",
          "[ring]") {
    const TemporaryFolder folder;
    Writer writer = must_create(small_segment(folder.path()));
    add_instruments(writer);
    ConflatingReader books(must_attach(folder.path()), wanted({"SYM[2-7]"}));
    CHECK(books.poll() == Poll::empty);
    Record in;
    for (int n = 0; n < 20; ++n) test::publish(writer, in, 1);  // 16 .. 19 are of 0 .. 3
    CHECK(books.poll() == Poll::record);
    CHECK(packets(books.events()) == Numbers{7, 15});
    CHECK(packets(books.snapshots()) == Numbers{18, 19, 12, 13, 14});
    for (const Record& book : books.snapshots()) CHECK(test::is_whole(book, 1));
    CHECK(books.poll() == Poll::empty);
    CHECK(books.events().empty());
    CHECK(books.snapshots().empty());
    REQUIRE(books.newest(2) != nullptr);
    CHECK(books.newest(2)->packet == 18);
    CHECK(books.newest(0) == nullptr);
    CHECK(books.newest(99) == nullptr);
    in.instrument = no_instrument;
    in.set_event(GapEvent{.first = 3, .last = 4});
    writer.publish_event(in);
    CHECK(books.poll() == Poll::record);
    REQUIRE(books.events().size() == 1);
    CHECK(books.events()[0].event<GapEvent>().last == 4);
    CHECK(books.subscription().contains(2));
    CHECK(books.quality(in) == Quality::good);
}

TEST_CASE("conflate: a poll ends before its events overflow, and the next one goes on", "[ring]") {
    const TemporaryFolder folder;
    Writer writer = must_create(small_segment(folder.path()));
    add_instruments(writer);
    ConflatingReader books(must_attach(folder.path()), wanted({}), {.events = 2});
    CHECK(books.poll() == Poll::empty);
    Record in;
    for (int n = 0; n < 64; ++n) test::publish(writer, in, 1);
    Numbers all;
    for (int poll = 0; poll < 4; ++poll) {
        REQUIRE(books.poll() == Poll::record);
        const Numbers events = packets(books.events());
        REQUIRE(events.size() == 2);
        all.insert(all.end(), events.begin(), events.end());
        // The books stand where the events do.
        for (const Record& book : books.snapshots()) CHECK(book.packet < events[1]);
        CHECK(books.newest(6)->packet == events[1] - 1);
    }
    CHECK(books.poll() == Poll::empty);
    CHECK(all == Numbers{7, 15, 23, 31, 39, 47, 55, 63});
}

TEST_CASE("conflate: after a lap the books that changed come from the table, the loss is exact",
          "[ring]") {
    const TemporaryFolder folder;
    Writer writer = must_create(small_segment(folder.path()));
    add_instruments(writer);
    ConflatingReader books(must_attach(folder.path()), wanted({}));
    CHECK(books.poll() == Poll::empty);
    Record in;
    for (int n = 0; n < 10; ++n) test::publish(writer, in, 1);
    REQUIRE(books.poll() == Poll::record);
    test::fill(in, 1, 9);  // only instrument 1 changes
    for (int n = 0; n < 100; ++n) writer.publish_snapshot(in);
    CHECK(books.poll() == Poll::lapped);
    CHECK(books.reader().lost() == 100);
    CHECK(books.poll() == Poll::record);
    REQUIRE(books.snapshots().size() == 1);
    CHECK(books.snapshots()[0].sequence == 109);
    CHECK(books.snapshots()[0].from_table());
    CHECK(books.poll() == Poll::empty);
}

TEST_CASE("conflate: after a lap no book stays stale, wherever the reader resumes", "[ring]") {
    const TemporaryFolder folder;
    Writer writer = must_create(small_segment(folder.path()));
    add_instruments(writer);
    const auto resume = GENERATE(Resume::table, Resume::newest, Resume::oldest);
    ConflatingReader books(must_attach(folder.path(), {.resume = resume}), wanted({}));
    Record in;
    for (int n = 0; n < 8; ++n) test::publish(writer, in, 1);
    REQUIRE(books.poll() == Poll::record);
    test::publish(writer, in, 1);  // instrument 0 changes, then only 1 does, and trades
    for (int n = 0; n < 100; ++n) {
        test::fill(in, 1, n % 10 == 9 ? 7 : 9);
        in.packet = writer.next_sequence();
        if (in.kind == RecordKind::trade)
            writer.publish_event(in);
        else
            writer.publish_snapshot(in);
        in = {};
    }
    CHECK(books.poll() == Poll::lapped);
    const std::uint64_t lost = books.reader().lost();
    CHECK(lost == (resume == Resume::oldest ? 109 - 64 + 8 - 8 : 101));
    CHECK(books.poll() == Poll::record);
    CHECK(packets(books.snapshots()) == Numbers{8, 107});
    CHECK(books.newest(0)->packet == 8);
    CHECK(books.events().size() == (resume == Resume::oldest ? 6 : 0));  // what the ring held
    CHECK(books.reader().lost() == lost);
    CHECK(books.poll() == Poll::empty);
}

TEST_CASE("conflate: a rename to a wanted name gives the newest book at once, one away drops it",
          "[ring]") {
    const TemporaryFolder folder;
    Writer writer = must_create(small_segment(folder.path()));
    add_instruments(writer);
    const std::uint32_t room = GENERATE(0U, 1U);
    ConflatingReader books(must_attach(folder.path()), wanted({"SYM1", "NEW"}),
                           {.instruments = room});
    Record in;
    for (int n = 0; n < 8; ++n) test::publish(writer, in, 1);
    REQUIRE(books.poll() == Poll::record);
    CHECK(packets(books.snapshots()) == Numbers{1});
    writer.rename_instrument(3, "NEW", 4);
    if (room == 1) {
        CHECK(books.poll() == Poll::empty);
        CHECK(books.unheld() == 1);
    } else {
        CHECK(books.poll() == Poll::record);
        CHECK(packets(books.snapshots()) == Numbers{3});
        CHECK(books.snapshots()[0].from_table());
    }
    CHECK(books.poll() == Poll::empty);
    writer.rename_instrument(1, "GONE", 4);
    CHECK(books.poll() == (room == 1 ? Poll::record : Poll::empty));  // there is room now
    CHECK(books.newest(1) == nullptr);
    REQUIRE(books.newest(3) != nullptr);
    CHECK(books.newest(3)->packet == 3);
    CHECK(books.unheld() == 0);
    for (int n = 0; n < 8; ++n) test::publish(writer, in, 1);
    CHECK(books.poll() == Poll::record);
    CHECK(packets(books.snapshots()) == Numbers{11});
    // And back again: the book that it has now.
    writer.rename_instrument(1, "SYM1", 4);
    CHECK(books.poll() == (room == 1 ? Poll::empty : Poll::record));
    CHECK(books.unheld() == room);
    if (room == 0) CHECK(packets(books.snapshots()) == Numbers{9});
    CHECK(books.poll() == Poll::empty);
}

TEST_CASE("conflate: instruments beyond its room are counted", "[ring]") {
    const TemporaryFolder folder;
    Writer writer = must_create(small_segment(folder.path()));
    add_instruments(writer);
    ConflatingReader books(must_attach(folder.path()), wanted({}), {.instruments = 3});
    CHECK(books.poll() == Poll::empty);
    Record in;
    for (int n = 0; n < 16; ++n) test::publish(writer, in, 1);
    REQUIRE(books.poll() == Poll::record);
    CHECK(packets(books.snapshots()) == Numbers{8, 9, 10});
    CHECK(packets(books.events()) == Numbers{7, 15});
    CHECK(books.unheld() == 4);
    CHECK(books.newest(5) == nullptr);
}

TEST_CASE("conflate: the next writer's instruments begin anew", "[ring]") {
    const TemporaryFolder folder;
    std::optional<Writer> writer(must_create(small_segment(folder.path())));
    add_instruments(*writer);
    const bool follow = GENERATE(true, false);
    ConflatingReader books(must_attach(folder.path(), {.follow = follow}), wanted({"SYM6"}));
    Record in;
    for (int n = 0; n < 7; ++n) test::publish(*writer, in, 1);
    REQUIRE(books.poll() == Poll::record);
    CHECK(books.newest(6)->packet == 6);
    writer.reset();
    Poll polled;
    while ((polled = books.poll()) == Poll::empty) {
    }
    CHECK(polled == Poll::writer_closed);
    auto options = small_segment(folder.path());
    options.geometry.instruments = 32;
    writer.emplace(must_create(options));
    REQUIRE(writer->add_instrument("SYM6", 1, 4) == 0);
    test::publish(*writer, in, 2);
    if (follow) {
        while ((polled = books.poll()) == Poll::writer_closed) {
        }
        CHECK(polled == Poll::reattached);
    } else {
        CHECK(books.reattach().value());
    }
    CHECK(books.newest(6) == nullptr);
    REQUIRE(books.poll() == Poll::record);
    REQUIRE(books.snapshots().size() == 1);
    CHECK(books.snapshots()[0].feed_sequence == 2);
    CHECK(books.newest(0) == &books.snapshots()[0]);
}

// WIREBOOK_SEED=N repeats a run.
TEST_CASE("conflate: random streams agree with a plain map of newest books", "[ring]") {
    const char* given = std::getenv("WIREBOOK_SEED");
    const std::uint64_t seed = given ? std::strtoull(given, nullptr, 10) : 20'261'130;
    INFO("WIREBOOK_SEED=" << seed);
    std::mt19937_64 random(seed);
    for (int round = 0; round < 20; ++round) {
        const TemporaryFolder folder;
        Writer writer = must_create(small_segment(folder.path()));
        add_instruments(writer);
        const std::uint32_t events = 1 + static_cast<std::uint32_t>(random() % 6);
        ConflatingReader books(must_attach(folder.path()), wanted({"SYM[0-4]", "SYM7"}),
                               {.events = events});
        REQUIRE(books.poll() == Poll::empty);
        Numbers sent_events, got_events;
        std::map<std::uint32_t, std::uint64_t> sent_books, got_books;
        Record in;
        for (int step = 0; step < 200; ++step) {
            for (std::uint64_t n = random() % 60; n > 0; --n) {
                test::fill(in, 1, random() % 8);
                in.packet = writer.next_sequence();
                if (in.kind == RecordKind::trade) {
                    writer.publish_event(in);
                    sent_events.push_back(in.packet);
                } else {
                    in.kind = RecordKind::snapshot;
                    writer.publish_snapshot(in);
                    if (in.instrument <= 4) sent_books[in.instrument] = in.packet;
                }
                in = {};
            }
            Poll polled;
            do {
                polled = books.poll();
                REQUIRE(books.events().size() <= events);
                const Numbers now = packets(books.events());
                got_events.insert(got_events.end(), now.begin(), now.end());
                std::map<std::uint32_t, std::uint64_t> once;
                for (const Record& book : books.snapshots()) {
                    REQUIRE(once.emplace(book.instrument, book.packet).second);
                    REQUIRE((got_books.count(book.instrument) == 0 ||
                             got_books[book.instrument] < book.packet));
                    got_books[book.instrument] = book.packet;
                }
            } while (polled == Poll::record);
            REQUIRE(polled == Poll::empty);
            REQUIRE(got_books == sent_books);
            REQUIRE(got_events == sent_events);
        }
        CHECK(books.reader().lost() == 0);
    }
}
