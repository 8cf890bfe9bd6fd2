// Failover between two handlers: every record once, whoever of them fails, and how.
#include "ring_failover_rig.hpp"
#include "wirebook/ring/subscription.hpp"

using namespace wirebook;
using namespace wirebook::ring;
using wirebook::test::FailoverRig;
using wirebook::test::no_limit;
using wirebook::test::Texts;

namespace {
constexpr std::chrono::microseconds at_once{0};
}

TEST_CASE("failover: both publish the same, each record comes once, whoever is first", "[ring]") {
    FailoverRig rig;
    rig.start();
    rig.packet(0, 100), rig.packet(1, 100);
    rig.packet(1, 101), rig.packet(1, 102);
    CHECK(rig.read() == Texts{"t100", "S0@100"});  // b's wait: a leads
    rig.packet(0, 101), rig.packet(0, 102), rig.packet(0, 103), rig.packet(1, 103);
    CHECK(rig.read() == Texts{"t101", "S1@101", "t102", "S2@102", "t103", "S3@103"});
    CHECK(rig.reader->switches() == 0);
    CHECK(rig.reader->leader(0) == 0);
    CHECK(rig.reader->lost() == 0);
    CHECK(rig.reader->breaks() == 0);
}

TEST_CASE("failover: instruments have one number each, whichever rows they have", "[ring]") {
    FailoverRig rig(at_once);
    rig.start();
    rig.packet(0, 101), rig.packet(1, 101), rig.packet(1, 102), rig.packet(1, 103);
    rig.writers[1]->heartbeat(~std::uint64_t{0});
    CHECK(rig.read() == Texts{"t101", "S1@101", "t102", "S2@102", "t103", "S3@103"});
    const auto one = rig.reader->find("S1");
    REQUIRE(one.has_value());
    CHECK(rig.reader->row(0, *one) == 1U);
    CHECK(rig.reader->row(1, *one) == 3U);
    CHECK(rig.reader->find("S1", 0) == one);
    CHECK_FALSE(rig.reader->find("S1", 1).has_value());
    CHECK_FALSE(rig.reader->find("S9").has_value());
    CHECK_FALSE(rig.reader->identity(999).has_value());
    CHECK_FALSE(rig.reader->row(0, 999).has_value());
    auto made = Subscription::make({.symbols = {"S[12]", "LATER"}});
    REQUIRE(made.ok());
    Subscription wanted = std::move(made).value();
    Record record;
    record.instrument = *one;
    CHECK(wanted.wants(*rig.reader, record));
    CHECK(wanted.instruments().size() == 2);
    record.instrument = *rig.reader->find("S3");
    CHECK_FALSE(wanted.wants(*rig.reader, record));
    rig.writers[0]->rename_instrument(3, "LATER", 4);
    rig.trade(0, 104, 104, true);
    CHECK(rig.read() == Texts{"t104"});
    CHECK(wanted.wants(*rig.reader, record));
}

TEST_CASE("failover: a leader that hangs or is behind is passed after the limit", "[ring]") {
    FailoverRig rig(at_once);
    rig.start();
    rig.packet(0, 100), rig.packet(1, 100), rig.packet(1, 101);
    CHECK(rig.read() == Texts{"t100", "S0@100", "t101", "S1@101"});
    CHECK(rig.reader->leader(0) == 1);
    CHECK(rig.reader->switches() == 1);
    CHECK(rig.reader->leader(1) == 0);  // by channel
    rig.packet(0, 101), rig.packet(0, 102);
    CHECK(rig.read() == Texts{"t102", "S2@102"});
    CHECK(rig.reader->leader(0) == 0);
}

TEST_CASE("failover: a packet that one handler left half is completed by the other", "[ring]") {
    FailoverRig rig(at_once);
    rig.start();
    rig.packet(0, 99), rig.packet(1, 99);
    rig.trade(0, 100, 1), rig.trade(0, 100, 2), rig.book(0, 100, 1);
    CHECK(rig.read() == Texts{"t99", "S3@99", "t1", "t2", "S1@100"});
    rig.trade(1, 100, 1), rig.trade(1, 100, 2), rig.trade(1, 100, 3);
    rig.book(1, 100, 1), rig.book(1, 100, 3, true);
    rig.packet(1, 104);
    CHECK(rig.read() == Texts{"t3", "S3@100", "t104", "S0@104"});
    // The first one comes back to life and has nothing new.
    rig.trade(0, 100, 3), rig.book(0, 100, 3, true), rig.packet(0, 104);
    CHECK(rig.read().empty());
}

TEST_CASE("failover: what the leader gave up comes from the other, without the gap", "[ring]") {
    FailoverRig rig;
    rig.start();
    rig.packet(0, 100), rig.packet(1, 100);
    rig.gap(0, 101, 102), rig.packet(0, 103);
    CHECK(rig.read() == Texts{"t100", "S0@100"});  // b may still bring them
    rig.packet(1, 101), rig.packet(1, 102), rig.packet(1, 103);
    CHECK(rig.read() == Texts{"t101", "S1@101", "t102", "S2@102", "t103", "S3@103"});
    CHECK(rig.reader->leader(0) == 1);  // its books are right
    // The other one loses something else: its books are no worse than b's now.
    rig.gap(1, 104, 105), rig.packet(0, 104), rig.packet(0, 105), rig.packet(0, 106);
    CHECK(rig.read() ==
          Texts{"quality1", "=S0@104", "=S1@105", "=S2@106", "=S3@103", "t104", "t105", "t106"});
    CHECK(rig.reader->breaks() == 0);
}

TEST_CASE("failover: a gap of both is given once, without what one of them had", "[ring]") {
    FailoverRig rig;
    rig.start();
    rig.packet(0, 100), rig.packet(1, 100);
    rig.gap(0, 101, 105), rig.packet(0, 106);
    rig.packet(1, 101), rig.gap(1, 102, 103), rig.packet(1, 104), rig.gap(1, 105, 107);
    rig.packet(0, 107);
    const Texts texts = rig.read();
    Texts events;
    std::copy_if(texts.begin(), texts.end(), std::back_inserter(events),
                 [](const std::string& t) { return t[0] == 't' || t[0] == 'g'; });
    CHECK(events == Texts{"t100", "t101", "gap102-103", "t104", "gap105-105", "t106", "t107"});
}

TEST_CASE("failover: a gap begins where the other's begins that had more", "[ring]") {
    FailoverRig rig;
    rig.start();
    rig.packet(0, 100), rig.packet(1, 100);
    rig.gap(0, 101, 104), rig.trade(0, 105, 105, true);
    rig.trade(1, 101, 101), rig.trade(1, 101, 102, true), rig.gap(1, 103, 106);
    // The books of the first one lack what the other gave: they are told anew.
    CHECK(rig.read() ==
          Texts{"t100", "S0@100", "t101", "t102", "=S0@100", "gap103-104", "quality1", "t105"});
}

TEST_CASE("failover: a gap is given after the limit where the other brings nothing", "[ring]") {
    FailoverRig rig(at_once);
    rig.start();
    rig.packet(0, 100), rig.packet(1, 100);
    rig.gap(0, 101, 102), rig.packet(0, 103);
    CHECK(rig.read() == Texts{"t100", "S0@100", "gap101-102", "quality1", "t103", "S3@103"});
    // It is not better as long as it has not come so far.
    CHECK(rig.reader->leader(0) == 0);
    rig.packet(1, 101), rig.packet(1, 102), rig.packet(1, 103);
    const Texts better{"quality0", "=S3@103", "=S2@102", "=S1@101", "=S0@100"};
    CHECK(rig.read() == better);
    // One that does not beat is not asked.
    FailoverRig hung(std::chrono::seconds(10));
    hung.start();
    hung.packet(0, 100), hung.packet(1, 100);
    hung.writers[1]->heartbeat(0);
    hung.gap(0, 101, 102), hung.packet(0, 103);
    CHECK(hung.read() == Texts{"t100", "S0@100", "gap101-102", "quality1", "t103", "S3@103"});
}

TEST_CASE("failover: a leader that closes is followed by the other at once", "[ring]") {
    FailoverRig rig;
    rig.start();
    rig.packet(0, 100), rig.packet(1, 100), rig.packet(1, 101);
    CHECK(rig.read() == Texts{"t100", "S0@100"});
    rig.writers[0].reset();
    Texts texts;
    while (texts.size() < 2) {
        const Texts more = rig.read();
        texts.insert(texts.end(), more.begin(), more.end());
    }
    CHECK(texts == Texts{"t101", "S1@101"});
    rig.packet(1, 102);
    CHECK(rig.read() == Texts{"t102", "S2@102"});
    // It comes back, and follows.
    rig.create(0);
    rig.writers[0]->set_channel_quality(0, Quality::good);
    while (!rig.reader->reader(0)->writer_alive()) CHECK(rig.read().empty());
    rig.packet(0, 103), rig.packet(1, 103), rig.packet(0, 104);
    Texts after = rig.read();
    CHECK(after == Texts{"t103", "S3@103"});
    CHECK(rig.reader->breaks() == 0);
    // Both go: everything has been read.
    rig.packet(1, 104);
    rig.writers[0].reset(), rig.writers[1].reset();
    Texts rest;
    rig.wait_for(Poll::writer_closed, rest);
    CHECK(rest == Texts{"t104", "S0@104"});
    Record record;
    CHECK(rig.reader->poll(record) == Poll::writer_closed);
    // One of them comes back: books begin anew, with the numbers that they had.
    const auto number = rig.reader->find("S2");
    rig.create(1);
    rig.book(1, 7, 2, true);
    Texts again;
    rig.wait_for(Poll::reattached, again);
    CHECK(again.empty());
    CHECK(rig.read() == Texts{"=S2@7"});
    CHECK(rig.reader->find("S2") == number);
    rig.packet(1, 8);
    CHECK(rig.read() == Texts{"t8", "S0@8"});
}

TEST_CASE("failover: a leader that laps us is followed by the other without loss", "[ring]") {
    FailoverRig rig;
    rig.start();
    rig.packet(0, 100), rig.packet(1, 100);
    CHECK(rig.read() == Texts{"t100", "S0@100"});
    for (std::uint64_t n = 101; n < 141; ++n) rig.packet(0, n);
    for (std::uint64_t n = 101; n < 111; ++n) rig.packet(1, n);
    const Texts texts = rig.read();
    REQUIRE(texts.size() == 20);
    CHECK(texts.front() == "t101");
    CHECK(texts.back() == "S2@110");
    CHECK(rig.reader->lost() == 0);
    // Both lap us: the loss is told, the table makes the books whole.
    for (std::uint64_t n = 141; n < 181; ++n) rig.packet(0, n), rig.packet(1, n);
    CHECK(rig.read() == Texts{"lapped", "=S3@179", "=S2@178", "=S1@177", "=S0@180"});
    CHECK(rig.reader->lost() == 80);
}

TEST_CASE("failover: sessions are told once, and the end of the old one is not lost", "[ring]") {
    FailoverRig rig;
    rig.start();
    rig.session(0, 'A', 1), rig.session(1, 'A', 1);
    rig.packet(0, 1), rig.packet(1, 1), rig.packet(1, 2);
    rig.session(0, 'B', 1), rig.packet(0, 1);
    CHECK(rig.read() == Texts{"sessionA1", "t1", "S1@1", "t2", "S2@2"});
    rig.packet(1, 3);
    rig.session(1, 'B', 1), rig.packet(1, 1);
    CHECK(rig.read() == Texts{"t3", "S3@3", "sessionB1", "t1", "S1@1"});
    rig.packet(0, 2), rig.packet(1, 2);
    CHECK(rig.read() == Texts{"t2", "S2@2"});
    CHECK(rig.reader->breaks() == 0);
}

TEST_CASE("failover: a handler that starts late leads only when it must, by its table", "[ring]") {
    FailoverRig rig(at_once);
    rig.create(0);
    rig.writers[0]->set_channel_quality(0, Quality::good);
    rig.packet(0, 100);
    rig.attach();
    CHECK(rig.read() == Texts{"=S0@100"});
    CHECK(rig.reader->reader(1) == nullptr);
    rig.packet(0, 101);
    CHECK(rig.read() == Texts{"t101", "S1@101"});
    rig.create(1);
    rig.writers[1]->set_channel_quality(0, Quality::not_ready);
    while (rig.reader->reader(1) == nullptr) CHECK(rig.read().empty());
    rig.session(1, 'A', 102), rig.packet(1, 102);
    rig.packet(0, 102);
    const Texts texts = rig.read();
    CHECK(std::count(texts.begin(), texts.end(), "t102") == 1);
    CHECK(std::count(texts.begin(), texts.end(), "sessionA102") == 0);
}

TEST_CASE("failover: the handler with the better quality leads, and its table comes", "[ring]") {
    FailoverRig rig;
    rig.start();
    rig.packet(0, 100), rig.packet(1, 100);
    rig.writers[1]->heartbeat(0);
    rig.gap(0, 101, 101), rig.packet(0, 102);
    rig.writers[1]->heartbeat(~std::uint64_t{0});
    CHECK(rig.read() == Texts{"t100", "S0@100"});
    rig.packet(1, 101), rig.packet(1, 102);
    CHECK(rig.read() == Texts{"t101", "S1@101", "t102", "S2@102"});
    // Both are stale, then one of them recovers.
    rig.gap(1, 103, 103), rig.gap(0, 103, 103);
    CHECK(rig.read() == Texts{"gap103-103", "quality1"});
    rig.packet(0, 104), rig.packet(1, 104);
    CHECK(rig.read().size() == 2);
    const std::size_t follower = 1 - rig.reader->leader(0);
    rig.quality(follower, Quality::good);
    const Texts texts = rig.read();
    REQUIRE_FALSE(texts.empty());
    CHECK(texts[0] == "quality0");
    CHECK(rig.reader->leader(0) == follower);
    CHECK(std::count_if(texts.begin(), texts.end(), [](const auto& t) { return t[0] == '='; }) >=
          2);
    Record record;
    record.channel = 0;
    CHECK(rig.reader->quality(record) == Quality::good);
}

TEST_CASE("failover: neither segment is there", "[ring]") {
    const test::TemporaryFolder folder;
    AttachOptions options;
    options.directory = folder.path();
    const auto attached = FailoverReader::attach({"a", "b"}, options);
    REQUIRE_FALSE(attached.ok());
    CHECK(attached.error().code == ENOENT);
    const auto misnamed = FailoverReader::attach({"a", "b/c"}, options);
    REQUIRE_FALSE(misnamed.ok());
}

TEST_CASE("failover: names pair rows by channel, symbol and order, over renames", "[ring]") {
    const test::TemporaryFolder folder;
    const auto segment = [&](const char* name) {
        SegmentOptions options = test::small_segment(folder.path());
        options.name = name;
        return test::must_create(options);
    };
    Writer a = segment("a"), b = segment("b");
    AttachOptions options;
    options.directory = folder.path();
    const Reader read_a = std::move(Reader::attach("a", options)).value();
    const Reader read_b = std::move(Reader::attach("b", options)).value();
    detail::FailoverNames names;
    static_cast<void>(a.add_instrument("X", 0, 4));  // a: X, X, Y of channel 0; "" ; X of channel 1
    static_cast<void>(a.add_instrument("X", 0, 4));
    static_cast<void>(a.add_instrument("Y", 0, 4));
    static_cast<void>(a.add_instrument("", 0, 4));
    static_cast<void>(a.add_instrument("X", 1, 4));
    static_cast<void>(b.add_instrument("", 0, 4));  // b: "", X of channel 1, Y, X, X
    static_cast<void>(b.add_instrument("X", 1, 4));
    static_cast<void>(b.add_instrument("Y", 0, 4));
    static_cast<void>(b.add_instrument("X", 0, 4));
    static_cast<void>(b.add_instrument("X", 0, 4));
    const auto of_a = [&](std::uint32_t row) { return names.number(0, read_a, row); };
    const auto of_b = [&](std::uint32_t row) { return names.number(1, read_b, row); };
    CHECK(of_a(no_instrument) == no_instrument);
    CHECK(of_a(9) == no_instrument);  // no such row
    CHECK(of_a(0) == of_b(3));
    CHECK(of_a(1) == of_b(4));
    CHECK(of_a(0) != of_a(1));
    CHECK(of_a(2) == of_b(2));
    CHECK(of_a(4) == of_b(1));
    CHECK(of_a(3) != of_b(0));  // without names they have nothing in common ...
    a.rename_instrument(3, "Z", 4);
    b.rename_instrument(0, "Z", 4);
    CHECK(of_a(3) == of_b(0));  // ... until they are named
    CHECK(names.identity(of_a(3))->symbol.view() == "Z");

    const std::uint32_t y = of_a(2);
    a.rename_instrument(2, "W", 4);
    CHECK(of_a(2) == y);
    CHECK(of_b(2) == y);  // not renamed yet
    b.rename_instrument(2, "W", 4);
    CHECK(of_b(2) == y);
    CHECK(names.row(1, y) == 2U);
    // The old name goes to another instrument.
    REQUIRE(a.add_instrument("Y", 0, 4) == 5);
    CHECK(of_a(5) != y);
    REQUIRE(b.add_instrument("Y", 0, 4) == 5);
    CHECK(of_b(5) == of_a(5));
    names.forget(1);
    CHECK(of_b(2) == y);
    CHECK(names.renames() >= 2);
}

TEST_CASE("failover: names that are swapped or handed on at once leave each row its number",
          "[ring]") {
    const test::TemporaryFolder folder;
    std::vector<Writer> writers;
    std::vector<Reader> readers;
    AttachOptions options;
    options.directory = folder.path();
    for (const char* name : {"a", "b"}) {
        SegmentOptions segment = test::small_segment(folder.path());
        segment.name = name;
        writers.push_back(test::must_create(segment));
        for (const char* symbol : {"X", "Y", "Z", "X"})
            static_cast<void>(writers.back().add_instrument(symbol, 0, 4));
        readers.push_back(std::move(Reader::attach(name, options)).value());
    }
    detail::FailoverNames names;
    const auto numbers = [&](std::size_t s) {
        std::vector<std::uint32_t> all;
        for (std::uint32_t row = 0; row < 4; ++row) all.push_back(names.number(s, readers[s], row));
        return all;
    };
    const std::vector<std::uint32_t> before = numbers(0);
    REQUIRE(numbers(1) == before);
    struct Rename {
        std::uint32_t row;
        const char* symbol;
    };
    const auto batch = GENERATE(values<std::vector<Rename>>({
        {{0, "Y"}, {1, "X"}},                  // a swap
        {{1, "X"}, {0, "Y"}},                  //
        {{0, "NEW"}, {1, "X"}},                // the first's name goes to the second
        {{0, "Y"}, {1, "Z"}, {2, "X"}},        // a ring of three
        {{0, "NEW"}, {3, "OTHER"}, {2, "X"}},  // both that were called X
    }));
    for (const std::size_t s : {0U, 1U}) {
        for (const Rename& rename : batch)
            writers[s].rename_instrument(rename.row, rename.symbol, 4);
        CHECK(numbers(s) == before);
        for (const Rename& rename : batch) {
            CHECK(names.identity(before[rename.row])->symbol.view() == rename.symbol);
            CHECK(names.row(s, before[rename.row]) == rename.row);
        }
    }
    // The next lives of the segments find the same numbers.
    for (const std::size_t s : {0U, 1U}) {
        names.forget(s);
        CHECK(numbers(s) == before);
    }
    // Which of two rows of one name has gone is known: the next of that name is paired with it.
    const auto x_again = [&](std::size_t s) {
        writers[s].rename_instrument(0, "ONE", 4);
        static_cast<void>(names.number(s, readers[s], 0));
        const std::uint32_t row = writers[s].add_instrument("ONE", 0, 4);
        writers[s].rename_instrument(0, "TWO", 4);
        static_cast<void>(names.number(s, readers[s], 0));
        const std::uint32_t third = writers[s].add_instrument("ONE", 0, 4);
        return std::pair(names.number(s, readers[s], row), names.number(s, readers[s], third));
    };
    const auto first = x_again(0);
    CHECK(first.first != first.second);
    CHECK(x_again(1) == first);
}
