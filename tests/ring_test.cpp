// Writer and Reader in one process: joins, laps, the table, instruments, quality.
#include <map>
#include <random>
#include <thread>

#include "ring_fixture.hpp"

using namespace wirebook;
using namespace wirebook::ring;
using wirebook::test::add_instruments;
using wirebook::test::is_whole;
using wirebook::test::must_attach;
using wirebook::test::must_create;
using wirebook::test::small_segment;
using wirebook::test::TemporaryFolder;

TEST_CASE("ring: a reader that attaches first gets every record in order", "[ring]") {
    const TemporaryFolder folder;
    Writer writer = must_create(small_segment(folder.path()));
    add_instruments(writer);
    Reader reader = must_attach(folder.path());
    Record in, out;
    CHECK(reader.poll(out) == Poll::empty);
    for (std::uint64_t n = 0; n < 1000; ++n) {
        test::publish(writer, in, 5);
        REQUIRE(reader.poll(out) == Poll::record);
        CHECK(out.packet == n);
        CHECK(is_whole(out, 5));
        CHECK_FALSE(out.from_table());
        CHECK(reader.poll(out) == Poll::empty);
    }
    CHECK(reader.lost() == 0);
    CHECK(reader.lag() == 0);
}

TEST_CASE("ring: a late reader gets the newest snapshot of each instrument, then what follows",
          "[ring]") {
    const TemporaryFolder folder;
    Writer writer = must_create(small_segment(folder.path()));
    add_instruments(writer);
    Record in, out;
    for (int n = 0; n < 100; ++n) test::publish(writer, in, 1);
    Reader reader = must_attach(folder.path());
    test::publish(writer, in, 1);  // record 100, of instrument 4, between attach and poll
    std::map<std::uint32_t, std::uint64_t> newest;
    Poll polled;
    unsigned from_table = 0;
    while ((polled = reader.poll(out)) == Poll::record) {
        CHECK(is_whole(out, 1));
        CHECK((newest.count(out.instrument) == 0 || newest[out.instrument] < out.packet));
        newest[out.instrument] = out.packet;
        from_table += out.from_table() ? 1U : 0U;
    }
    CHECK(polled == Poll::empty);
    CHECK(from_table == 7);  // instrument 7 has only trades
    for (std::uint32_t i = 0; i < 7; ++i)
        CHECK(newest[i] == (i == 4 ? 100 : i < 4 ? 96 + i : 88 + i));
    CHECK(reader.lost() == 0);
}

TEST_CASE("ring: a reader that is lapped counts what it skipped", "[ring]") {
    const TemporaryFolder folder;
    Writer writer = must_create(small_segment(folder.path()));
    add_instruments(writer);
    const auto resume = GENERATE(Resume::table, Resume::newest, Resume::oldest);
    AttachOptions options;
    options.resume = resume;
    Reader reader = must_attach(folder.path(), options);
    Record in, out;
    CHECK(reader.poll(out) == Poll::empty);  // the table, empty as yet, is behind us
    for (int n = 0; n < 10; ++n) test::publish(writer, in, 1);
    for (int n = 0; n < 5; ++n) REQUIRE(reader.poll(out) == Poll::record);
    for (int n = 10; n < 200; ++n) test::publish(writer, in, 1);
    REQUIRE(reader.poll(out) == Poll::lapped);
    // The oldest that is held is 136; an eighth of the ring is left as margin.
    CHECK(reader.lost() == (resume == Resume::oldest ? 144 - 5 : 200 - 5));
    unsigned from_table = 0, from_ring = 0;
    while (reader.poll(out) == Poll::record) {
        CHECK(is_whole(out, 1));
        (out.from_table() ? from_table : from_ring) += 1;
    }
    CHECK(from_table == (resume == Resume::table ? 7 : 0));
    CHECK(from_ring == (resume == Resume::oldest ? 56 : 0));
    const std::uint64_t lost = reader.lost();
    test::publish(writer, in, 1);
    CHECK(reader.poll(out) == Poll::record);
    CHECK(out.packet == 200);
    CHECK(reader.lost() == lost);
}

TEST_CASE("ring: exactly a ring behind loses nothing, one more record laps", "[ring]") {
    const TemporaryFolder folder;
    Writer writer = must_create(small_segment(folder.path()));
    add_instruments(writer);
    Reader reader = must_attach(folder.path());
    Record in, out;
    CHECK(reader.poll(out) == Poll::empty);
    for (int n = 0; n < 64; ++n) test::publish(writer, in, 1);
    CHECK(reader.lag() == 64);
    CHECK(reader.poll(out) == Poll::record);
    test::publish(writer, in, 1), test::publish(writer, in, 1);
    CHECK(reader.poll(out) == Poll::lapped);
    CHECK(reader.lost() == 65);
}

TEST_CASE("ring: rejoining on request skips to now and counts it", "[ring]") {
    const TemporaryFolder folder;
    Writer writer = must_create(small_segment(folder.path()));
    add_instruments(writer);
    Reader reader = must_attach(folder.path());
    Record in, out;
    for (int n = 0; n < 20; ++n) test::publish(writer, in, 1);
    reader.rejoin();
    CHECK(reader.lost() == 20);
    int records = 0;
    while (reader.poll(out) == Poll::record) records += 1;
    CHECK(records == 7);
}

TEST_CASE("ring: the last-value table gives the newest snapshot without polling", "[ring]") {
    const TemporaryFolder folder;
    Writer writer = must_create(small_segment(folder.path()));
    add_instruments(writer);
    const Reader reader = must_attach(folder.path());
    Record in, out;
    CHECK(reader.latest(3, out) == Latest::none);
    CHECK(reader.latest(99, out) == Latest::none);
    for (int n = 0; n < 20; ++n) test::publish(writer, in, 1);
    REQUIRE(reader.latest(3, out) == Latest::ok);
    CHECK(out.sequence == 19);
    CHECK(is_whole(out, 1));
    CHECK(reader.latest(7, out) == Latest::none);
}

TEST_CASE("ring: instruments are found by symbol, renamed, and their table fills up", "[ring]") {
    const TemporaryFolder folder;
    Writer writer = must_create(small_segment(folder.path()));
    add_instruments(writer);
    const Reader reader = must_attach(folder.path());
    CHECK(reader.instruments() == 8);
    CHECK(reader.find("SYM3") == 3U);
    CHECK_FALSE(reader.find("SYM3", 0).has_value());
    CHECK_FALSE(reader.find("SYM").has_value());
    CHECK_FALSE(reader.find("a symbol that is too long").has_value());
    writer.rename_instrument(3, "0123456789ABCDEF", 2);
    CHECK(reader.symbol(3).view() == "0123456789ABCDEF");
    CHECK(reader.identity(3)->price_places == 2);
    CHECK(reader.identity(3)->channel == 1);
    CHECK(reader.header().renames.load() == 1);
    CHECK_FALSE(reader.identity(8).has_value());
    for (std::uint32_t i = 8; i < 16; ++i) CHECK(writer.add_instrument("X", 0, 4) == i);
    CHECK(writer.add_instrument("Y", 0, 4) == ring::no_instrument);
    CHECK(reader.instruments() == 16);
}

TEST_CASE("ring: status and quality words reach readers, the worse quality counts", "[ring]") {
    const TemporaryFolder folder;
    Writer writer = must_create(small_segment(folder.path()));
    add_instruments(writer);
    Reader reader = must_attach(folder.path());
    InstrumentStatus halted;
    halted.trading = TradingStatus::halted;
    halted.code = 'H';
    halted.changed_ns = 77;
    writer.set_status(2, halted);
    CHECK(reader.status(2)->trading == TradingStatus::halted);
    CHECK(reader.status(2)->changed_ns == 77);
    CHECK(reader.status(1)->trading == TradingStatus::unknown);

    Record in, out;
    test::publish(writer, in, 1);
    REQUIRE(reader.poll(out) == Poll::record);
    CHECK(reader.quality(out) == Quality::good);
    writer.set_channel_quality(1, Quality::stale);
    CHECK(reader.quality(out) == Quality::stale);
    in.quality = Quality::not_ready;
    test::publish(writer, in, 1);
    REQUIRE(reader.poll(out) == Poll::record);
    CHECK(reader.quality(out) == Quality::not_ready);
    out.channel = 9;  // of no channel that the segment has
    CHECK(reader.quality(out) == Quality::not_ready);
}

TEST_CASE("ring: statistics, auction and round lot of a row reach readers that join late",
          "[ring]") {
    const TemporaryFolder folder;
    Writer writer = must_create(small_segment(folder.path()));
    add_instruments(writer);
    TradeStatistics statistics;
    statistics.trades = 3;
    statistics.volume = 700;
    statistics.high_price = 5;
    statistics.flags = statistics_flag::high_broken;
    statistics.through = 12;
    writer.set_statistics(2, statistics);
    AuctionState auction;
    auction.changed_ns = 9;
    auction.imbalance_side = 'B';
    auction.official_quantity = 11;
    writer.set_auction(2, auction);
    writer.set_round_lot(2, 100);

    Reader reader = must_attach(folder.path());
    REQUIRE(reader.statistics(2).has_value());
    CHECK(reader.statistics(2)->volume == 700);
    CHECK(reader.statistics(2)->is(statistics_flag::high_broken));
    CHECK_FALSE(reader.statistics(2)->is(statistics_flag::low_broken));
    CHECK(reader.statistics(2)->through == 12);
    CHECK(reader.auction(2)->imbalance_side == 'B');
    CHECK(reader.auction(2)->official_quantity == 11);
    CHECK(reader.identity(2)->round_lot == 100);
    CHECK(reader.statistics(1)->trades == 0);
    CHECK(reader.statistics(1)->last_price == no_price);
    CHECK(reader.auction(1)->changed_ns == 0);
    CHECK(reader.identity(1)->round_lot == 0);
    CHECK_FALSE(reader.statistics(16).has_value());
}

TEST_CASE("ring: the writer stamps the publication where the packet has a receive stamp",
          "[ring]") {
    const TemporaryFolder folder;
    Writer writer = must_create(small_segment(folder.path()));
    add_instruments(writer);
    Reader reader = must_attach(folder.path());
    Record in, out;
    in.receive_tsc = rdtsc();
    test::publish(writer, in, 1);
    REQUIRE(reader.poll(out) == Poll::record);
    CHECK(out.published_delta > 0);
    CHECK(tsc_delta(100, 90) == 0);
    CHECK(tsc_delta(0, 90) == 0);
    CHECK(tsc_delta(1, std::uint64_t{1} << 40U) == 0xFFFF'FFFF);
}

TEST_CASE("ring: every depth carries its levels", "[ring]") {
    const TemporaryFolder folder;
    const std::uint32_t depth = GENERATE(1U, 5U, 10U, 20U);
    SegmentOptions options = small_segment(folder.path());
    options.geometry.depth = depth;
    Writer writer = must_create(options);
    add_instruments(writer);
    Reader reader = must_attach(folder.path());
    Record in, out;
    in.instrument = 0;
    in.bid_levels = in.ask_levels = static_cast<std::uint8_t>(depth);
    in.bid_price = 100, in.ask_price = 200;
    for (std::uint32_t level = 1; level < depth; ++level)
        in.levels[level - 1] = {{100 - level, level, level, 0}, {200 + level, level, level, 0}};
    writer.publish_snapshot(in);
    REQUIRE(reader.poll(out) == Poll::record);
    for (std::uint32_t level = 0; level < depth; ++level) {
        CHECK(out.bid(level).price == 100 - std::int64_t{level});
        CHECK(out.ask(level).price == 200 + std::int64_t{level});
    }
    CHECK(out.bid(depth).price == no_price);
}

namespace {
struct PlainFormat {
    static constexpr std::size_t head_words = 16;
    static std::size_t words(const std::byte*) noexcept { return head_words; }
    static std::size_t snapshot_of(const std::byte*) noexcept { return 0; }
};
}  // namespace

// Threads on plain memory, where ThreadSanitizer sees both ends.
TEST_CASE("ring: threads at full speed never see a torn record and count every loss", "[ring]") {
    constexpr std::size_t words = 16, slots = 32;
    constexpr std::uint64_t records = 300'000;
    std::vector<Word> slot_words(words * slots), entry(words);
    Word published{0};
    std::thread writer([&] {
        const RingView<Word> view{slot_words.data(), entry.data(), &published, slots, words};
        std::array<std::uint64_t, words> record{};
        for (std::uint64_t n = 0; n < records; ++n) {
            record.fill(n * n);
            ring::publish<HardwareMemory>(
                view, n, entry.data(),
                static_cast<const std::byte*>(static_cast<const void*>(record.data())), words);
            if (n % 64 == 0) std::this_thread::yield();
        }
    });
    const RingView<const Word> view{slot_words.data(), entry.data(), &published, slots, words};
    std::array<std::uint64_t, 1> shown{};
    Cursor<HardwareMemory, PlainFormat> cursor(view, shown);
    std::array<std::uint64_t, words> record{};
    auto* bytes = static_cast<std::byte*>(static_cast<void*>(record.data()));
    std::uint64_t read = 0, torn = 0;
    while (cursor.next() < records) {
        const auto polled = cursor.poll(bytes, true);
        if (polled == CursorPoll::record) {
            read += 1;
            for (std::size_t i = 1; i < words; ++i)
                torn += record[i] != record[0] * record[0] ? 1U : 0U;
        } else if (polled == CursorPoll::empty) {
            std::this_thread::yield();
        }
    }
    writer.join();
    CHECK(torn == 0);
    CHECK(read > 0);
    CHECK(read + cursor.lost() == records);
}
