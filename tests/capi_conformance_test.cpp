// The same scenarios against the C++ reader and the C interface, aligned and not: each must do
// what the scenario says. At the end all of them follow one writer through a random life, and each
// step must give all of them the same.
#include <cstring>
#include <fstream>
#include <iostream>
#include <random>
#include <thread>
#include <tuple>

#include "capi_readers.hpp"

using namespace wirebook;
using wirebook::test::add_instruments;
using wirebook::test::Attach;
using wirebook::test::CppReader;
using wirebook::test::CReader;
using wirebook::test::is_whole;
using wirebook::test::must_create;
using wirebook::test::small_segment;
using wirebook::test::TemporaryFolder;
using wirebook::test::UnalignedCReader;

namespace {

template <class Reader>
Reader attached(const std::string& directory, const Attach& how = {}) {
    Reader reader(directory, how);
    INFO(reader.error());
    REQUIRE(reader.status() == 0);
    return reader;
}
// Until the reader says something else than that there is nothing new.
template <class Reader>
int poll_on(Reader& reader, ring::Record& out) {
    int polled = WIREBOOK_POLL_EMPTY;
    for (int i = 0; i < 200'000'000 && polled == WIREBOOK_POLL_EMPTY; ++i)
        polled = reader.poll(out);
    return polled;
}
void poke(const std::string& path, std::streamoff offset, std::uint64_t value) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(offset);
    file.write(static_cast<const char*>(static_cast<const void*>(&value)), sizeof(value));
}
// A body of random bytes, published as an event.
template <class Body>
Body publish_event(ring::Writer& writer, std::mt19937_64& random) {
    std::array<std::uint64_t, 7> words{};
    for (auto& word : words) word = random();
    const auto body = std::bit_cast<Body>(words);
    ring::Record record;
    record.instrument = 1;
    record.set_event(body);
    writer.publish_event(record);
    return body;
}
template <class A>
bool same_bytes(const A& a, const A& b) {
    return std::memcmp(&a, &b, sizeof(a)) == 0;
}
template <class A>
bool same_bytes(const std::optional<A>& a, const std::optional<A>& b) {
    return a.has_value() == b.has_value() && (!a || same_bytes(*a, *b));
}

}  // namespace

#define WIREBOOK_READERS CppReader, CReader, UnalignedCReader

TEMPLATE_TEST_CASE("readers: attaching in vain says why", "[capi]", WIREBOOK_READERS) {
    const TemporaryFolder folder;
    const auto fails = [&](int code, const std::string& part, const Attach& how = {}) {
        const TestType reader(folder.path(), how);
        INFO(reader.error());
        CHECK(reader.status() == code);
        CHECK(reader.error().find(part) != std::string::npos);
    };
    fails(-ENOENT, "wirebook.test");
    fails(-ENOENT, "wirebook.test", {.wait_ms = 20});
    fails(-EINVAL, "../test", {.name = "../test"});
    fails(-EINVAL, "longer", {.name = std::string(64, 'x')});
    fails(-EINVAL, "empty", {.name = ""});
    std::string path;
    {
        const ring::Writer writer = must_create(small_segment(folder.path()));
        path = writer.path();
        CHECK(TestType(folder.path()).status() == 0);
    }
    fails(-ESTALE, "has gone");
    CHECK(TestType(folder.path(), {.live_only = false}).status() == 0);
    poke(path, 8, 99 | std::uint64_t{ring::endian_mark} << 32U);
    fails(-EINVAL, "ABI version 99");
    std::filesystem::resize_file(path, 5000);
    poke(path, 8, ring::abi_version | std::uint64_t{ring::endian_mark} << 32U);
    fails(-EINVAL, "cut");
}

TEMPLATE_TEST_CASE("readers: attaching waits for the segment as long as it may", "[capi]",
                   WIREBOOK_READERS) {
    const TemporaryFolder folder;
    std::optional<ring::Writer> writer;
    std::thread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        auto created = ring::Writer::create(small_segment(folder.path()));
        if (created) writer.emplace(std::move(created).value());
    });
    const TestType reader(folder.path(), {.wait_ms = 60'000});
    later.join();
    CHECK(reader.status() == 0);
}

TEMPLATE_TEST_CASE("readers: a late join gives each instrument's newest, then all that follows",
                   "[capi]", WIREBOOK_READERS) {
    const TemporaryFolder folder;
    ring::Writer writer = must_create(small_segment(folder.path()));
    add_instruments(writer);
    ring::Record in, out;
    for (int n = 0; n < 100; ++n) test::publish(writer, in, 1);
    auto reader = attached<TestType>(folder.path());
    auto from_now = attached<TestType>(folder.path(), {.join_table = false});
    for (int n = 0; n < 10; ++n) test::publish(writer, in, 1);
    CHECK(reader.lag() == 10);
    unsigned from_table = 0;
    std::uint64_t next = 100;
    while (reader.poll(out) == WIREBOOK_POLL_RECORD) {
        CHECK(is_whole(out, 1));
        // Entries that were renewed after the join are shown by the table, not by the ring.
        if (out.from_table()) {
            from_table += 1;
            continue;
        }
        CHECK(out.packet >= next);
        next = out.packet + 1;
    }
    CHECK(from_table == 7);
    CHECK(next == 104);  // 104 .. 109 but the trade were in the table by then
    for (std::uint64_t n = 100; n < 110; ++n) {
        REQUIRE(from_now.poll(out) == WIREBOOK_POLL_RECORD);
        CHECK(out.packet == n);
        CHECK(is_whole(out, 1));
    }
    CHECK(from_now.poll(out) == WIREBOOK_POLL_EMPTY);
    CHECK(reader.lost() == 0);
    reader.rejoin();
    CHECK(reader.lost() == 0);
    CHECK(reader.poll(out) == WIREBOOK_POLL_RECORD);
    CHECK(out.from_table());
}

TEMPLATE_TEST_CASE("readers: who is lapped learns what it lost and goes on as it chose", "[capi]",
                   WIREBOOK_READERS) {
    const TemporaryFolder folder;
    ring::Writer writer = must_create(small_segment(folder.path()));
    add_instruments(writer);
    const auto resume = GENERATE(ring::Resume::table, ring::Resume::newest, ring::Resume::oldest);
    auto reader = attached<TestType>(folder.path(), {.resume = resume});
    ring::Record in, out;
    CHECK(reader.poll(out) == WIREBOOK_POLL_EMPTY);
    for (int n = 0; n < 10; ++n) test::publish(writer, in, 1);
    for (int n = 0; n < 5; ++n) REQUIRE(reader.poll(out) == WIREBOOK_POLL_RECORD);
    for (int n = 10; n < 200; ++n) test::publish(writer, in, 1);
    REQUIRE(reader.poll(out) == WIREBOOK_POLL_LAPPED);
    CHECK(reader.lost() == (resume == ring::Resume::oldest ? 144 - 5 : 200 - 5));
    unsigned from_table = 0, from_ring = 0;
    while (reader.poll(out) == WIREBOOK_POLL_RECORD) {
        CHECK(is_whole(out, 1));
        (out.from_table() ? from_table : from_ring) += 1;
    }
    CHECK(from_table == (resume == ring::Resume::table ? 7 : 0));
    CHECK(from_ring == (resume == ring::Resume::oldest ? 56 : 0));
}

TEMPLATE_TEST_CASE("readers: every kind of event arrives with the body that was published",
                   "[capi]", WIREBOOK_READERS) {
    const TemporaryFolder folder;
    ring::Writer writer = must_create(small_segment(folder.path()));
    add_instruments(writer);
    auto reader = attached<TestType>(folder.path());
    std::mt19937_64 random(7);
    const auto check = [&]<class Body>(std::type_identity<Body>) {
        const Body sent = publish_event<Body>(writer, random);
        ring::Record out;
        REQUIRE(reader.poll(out) == WIREBOOK_POLL_RECORD);
        CHECK(out.kind == Body::kind);
        CHECK(same_bytes(TestType::template event<Body>(out), sent));
    };
    check(std::type_identity<ring::TradeEvent>{});
    check(std::type_identity<ring::TradeBreakEvent>{});
    check(std::type_identity<ring::StatusEvent>{});
    check(std::type_identity<ring::AuctionEvent>{});
    check(std::type_identity<ring::CollarEvent>{});
    check(std::type_identity<ring::IpoEvent>{});
    check(std::type_identity<ring::SystemEvent>{});
    check(std::type_identity<ring::GapEvent>{});
    check(std::type_identity<ring::SessionEvent>{});
    check(std::type_identity<ring::QualityEvent>{});
    check(std::type_identity<ring::DirectoryEvent>{});
    check(std::type_identity<ring::OrderEvent>{});
}

TEMPLATE_TEST_CASE("readers: a writer that closes is read to its end, then its successor", "[capi]",
                   WIREBOOK_READERS) {
    const TemporaryFolder folder;
    std::optional<ring::Writer> writer(must_create(small_segment(folder.path())));
    add_instruments(*writer);
    auto reader = attached<TestType>(folder.path());
    const auto first = reader.describe();
    ring::Record in, out;
    for (int n = 0; n < 3; ++n) test::publish(*writer, in, 1);
    CHECK(reader.writer_alive() == 1);
    writer.reset();
    CHECK(reader.writer_alive() == 0);
    for (int n = 0; n < 3; ++n) REQUIRE(reader.poll(out) == WIREBOOK_POLL_RECORD);
    CHECK(poll_on(reader, out) == WIREBOOK_POLL_WRITER_CLOSED);
    CHECK(reader.poll(out) == WIREBOOK_POLL_WRITER_CLOSED);
    CHECK(reader.reattach() == 0);
    writer.emplace(must_create(small_segment(folder.path())));
    add_instruments(*writer);
    test::publish(*writer, in, 2);
    CHECK(reader.reattach() == 1);
    CHECK(reader.describe().numbers[8] > first.numbers[8]);  // the epoch
    REQUIRE(reader.poll(out) == WIREBOOK_POLL_RECORD);
    CHECK(out.from_table());
    CHECK(is_whole(out, 2));
    CHECK(reader.reattach() == 0);
    std::ofstream(folder.path() + "/other") << "not a segment";
    writer.reset();
    std::filesystem::rename(folder.path() + "/other", folder.path() + "/wirebook.test");
    CHECK(reader.reattach() == -EINVAL);
}

TEMPLATE_TEST_CASE("readers: a writer that died is read to its end", "[capi]", WIREBOOK_READERS) {
    const TemporaryFolder folder;
    ring::Record in, out;
    std::string path;
    {
        ring::Writer writer = must_create(small_segment(folder.path()));
        add_instruments(writer);
        test::publish(writer, in, 1);
        path = writer.path();
    }
    poke(path, 392, 0);  // state: running, as one that was killed leaves it
    auto reader = attached<TestType>(folder.path(), {.live_only = false});
    REQUIRE(reader.poll(out) == WIREBOOK_POLL_RECORD);
    CHECK(is_whole(out, 1));
    CHECK(poll_on(reader, out) == WIREBOOK_POLL_WRITER_DEAD);
    CHECK(reader.writer_alive() == 0);
}

TEMPLATE_TEST_CASE("readers: who follows goes over to the next writer while polling", "[capi]",
                   WIREBOOK_READERS) {
    const TemporaryFolder folder;
    std::optional<ring::Writer> writer(must_create(small_segment(folder.path())));
    add_instruments(*writer);
    auto reader = attached<TestType>(folder.path(), {.follow = true});
    ring::Record in, out;
    test::publish(*writer, in, 1);
    REQUIRE(reader.poll(out) == WIREBOOK_POLL_RECORD);
    writer.reset();
    CHECK(poll_on(reader, out) == WIREBOOK_POLL_WRITER_CLOSED);
    writer.emplace(must_create(small_segment(folder.path())));
    add_instruments(*writer);
    test::publish(*writer, in, 2);
    int polled = WIREBOOK_POLL_WRITER_CLOSED;
    while (polled == WIREBOOK_POLL_WRITER_CLOSED) polled = reader.poll(out);
    REQUIRE(polled == WIREBOOK_POLL_REATTACHED);
    REQUIRE(reader.poll(out) == WIREBOOK_POLL_RECORD);
    CHECK(out.from_table());
    CHECK(is_whole(out, 2));
}

TEMPLATE_TEST_CASE("readers: a path attaches as the name does, and a position is shown on request",
                   "[capi]", WIREBOOK_READERS) {
    const TemporaryFolder folder;
    const auto writer = must_create(small_segment(folder.path()));
    const auto reader = attached<TestType>(folder.path(), {.by_path = true});
    CHECK(reader.describe().path == writer.path());
    CHECK(reader.describe().position_path.empty());
    const auto shown = attached<TestType>(folder.path(), {.show_position = true});
    CHECK(std::filesystem::exists(shown.describe().position_path));
    const TestType none(folder.path(), {.name = "none", .by_path = true});
    CHECK(none.status() == -ENOENT);
    CHECK(none.error().find("wirebook.none") != std::string::npos);
}

TEMPLATE_TEST_CASE("readers: instruments are found, and their rows say what the writer said",
                   "[capi]", WIREBOOK_READERS) {
    const TemporaryFolder folder;
    ring::Writer writer = must_create(small_segment(folder.path()));
    add_instruments(writer);
    ring::Identity other;
    other.symbol = ring::Symbol("SYM3");
    other.channel = 0;
    other.venue = 77;
    REQUIRE(writer.add_instrument(other) == 8);
    const auto reader = attached<TestType>(folder.path());
    CHECK(reader.instruments() == 9);
    CHECK(reader.find("SYM3") == 3);
    CHECK(reader.find("SYM3", 0) == 8);
    CHECK(reader.find("SYM3", 7) == -ENOENT);
    CHECK(reader.find_at_venue("SYM3", 77) == 8);
    CHECK(reader.find_at_venue("SYM4", 77) == -ENOENT);
    CHECK(reader.find("SYM") == -ENOENT);
    CHECK(reader.find("") == -ENOENT);
    CHECK(reader.find("a symbol that is too long") == -ENOENT);
    writer.rename_instrument(3, "0123456789ABCDEF", 2);
    CHECK(reader.renames() == 1);
    CHECK(reader.find("0123456789ABCDEF") == 3);

    ring::InstrumentStatus status;
    status.trading = ring::TradingStatus::halted;
    status.changed_ns = 77;
    writer.set_status(2, status);
    ring::TradeStatistics statistics;
    statistics.volume = 700;
    statistics.through = 12;
    writer.set_statistics(2, statistics);
    ring::AuctionState auction;
    auction.official_quantity = 11;
    writer.set_auction(2, auction);
    CHECK(reader.template row<ring::Identity>(3)->price_places == 2);
    CHECK(reader.template row<ring::InstrumentStatus>(2)->trading == ring::TradingStatus::halted);
    CHECK(reader.template row<ring::InstrumentStatus>(2)->changed_ns == 77);
    CHECK(reader.template row<ring::TradeStatistics>(2)->volume == 700);
    CHECK(reader.template row<ring::TradeStatistics>(2)->through == 12);
    CHECK(reader.template row<ring::TradeStatistics>(1)->last_price == ring::no_price);
    CHECK(reader.template row<ring::AuctionState>(2)->official_quantity == 11);
    CHECK_FALSE(reader.template row<ring::Identity>(9).has_value());
    CHECK_FALSE(reader.template row<ring::InstrumentStatus>(9).has_value());
    CHECK_FALSE(reader.template row<ring::TradeStatistics>(9).has_value());
    CHECK_FALSE(reader.template row<ring::AuctionState>(0xFFFFFFFF).has_value());
}

TEMPLATE_TEST_CASE("readers: the worse of the two qualities counts", "[capi]", WIREBOOK_READERS) {
    const TemporaryFolder folder;
    ring::Writer writer = must_create(small_segment(folder.path()));
    add_instruments(writer);
    auto reader = attached<TestType>(folder.path());
    ring::Record in, out;
    test::publish(writer, in, 1);
    REQUIRE(reader.poll(out) == WIREBOOK_POLL_RECORD);
    CHECK(reader.quality(out) == WIREBOOK_QUALITY_GOOD);
    writer.set_channel_quality(1, ring::Quality::stale);
    CHECK(reader.quality(out) == WIREBOOK_QUALITY_STALE);
    CHECK(reader.channel_quality(0) == WIREBOOK_QUALITY_GOOD);
    CHECK(reader.channel_quality(1) == WIREBOOK_QUALITY_STALE);
    CHECK(reader.channel_quality(2) == WIREBOOK_QUALITY_NOT_READY);
    out.quality = ring::Quality::recovering;
    CHECK(reader.quality(out) == WIREBOOK_QUALITY_RECOVERING);
    out.channel = 9;
    CHECK(reader.quality(out) == WIREBOOK_QUALITY_NOT_READY);
}

TEMPLATE_TEST_CASE("readers: the segment, its heartbeat and its clock are the writer's", "[capi]",
                   WIREBOOK_READERS) {
    const TemporaryFolder folder;
    ring::SegmentOptions options = small_segment(folder.path());
    options.clock = {0.5, 1'000, 1'700'000'000'000'000'000};
    options.streams = ring::stream_flag::orders;
    ring::Writer writer = must_create(options);
    const auto reader = attached<TestType>(folder.path());
    const auto described = reader.describe();
    CHECK(described.numbers[0] == ring::abi_version);
    CHECK(described.numbers[1] == 5);
    CHECK(described.numbers[2] == 16);
    CHECK(described.numbers[3] == 2);
    CHECK(described.numbers[4] == WIREBOOK_STREAM_ORDERS);
    CHECK(described.numbers[5] == 64);
    CHECK(described.numbers[9] == static_cast<std::uint64_t>(::getpid()));
    CHECK(described.session_name == "the session");
    CHECK(described.path == writer.path());
    writer.heartbeat(4242);
    CHECK(reader.heartbeat() == 4242);
    CHECK(reader.ns_from_ticks(3'000) == 1'500);
    CHECK(reader.utc_from_tsc(1'500) == 1'700'000'000'000'000'250);
    CHECK(reader.utc_from_tsc(500) == 1'699'999'999'999'999'750);
}

namespace {

// All readers of one segment, asked the same.
class Readers {
public:
    Readers(const std::string& directory, const Attach& how)
        : cpp_(directory, how), c_(directory, how), unaligned_(directory, how) {
        REQUIRE(same([](auto& reader) { return reader.status(); }) == 0);
    }
    // What `ask` gives, after a check that all give it. A record is asked for with `record`.
    template <class Ask>
    auto same(Ask ask) -> decltype(ask(std::declval<CppReader&>())) {
        const auto expected = ask(cpp_);
        CHECK(ask(c_) == expected);
        CHECK(ask(unaligned_) == expected);
        return expected;
    }
    template <class Row>
    void same_row(std::uint32_t instrument) {
        const auto expected = cpp_.row<Row>(instrument);
        CHECK(same_bytes(c_.row<Row>(instrument), expected));
        CHECK(same_bytes(unaligned_.row<Row>(instrument), expected));
    }
    // `get` fills a record and says whether it did; all must fill it with the same.
    template <class Get>
    int same_record(Get get, int filled) {
        std::array<ring::Record, 3> records;
        const std::array<int, 3> got{get(cpp_, records[0]), get(c_, records[1]),
                                     get(unaligned_, records[2])};
        CHECK(got[1] == got[0]);
        CHECK(got[2] == got[0]);
        if (got[0] != filled) return got[0];
        const auto words =
            ring::record_words(records[0].kind, records[0].bid_levels, records[0].ask_levels);
        CHECK(std::memcmp(&records[0], &records[1], words * 8) == 0);
        CHECK(std::memcmp(&records[0], &records[2], words * 8) == 0);
        same([&](auto& reader) { return reader.quality(records[0]); });
        for (const bool bid : {false, true})
            for (std::uint32_t i = 0; i < 7 && records[0].kind == ring::RecordKind::snapshot; ++i)
                same([&](auto& reader) { return reader.level(records[0], bid, i); });
        return got[0];
    }

private:
    CppReader cpp_;
    CReader c_;
    UnalignedCReader unaligned_;
};

class RandomLife {
public:
    explicit RandomLife(std::uint64_t seed) : random_(seed) { start_writer(); }

    void run() {
        const auto resume = static_cast<ring::Resume>(below(3));
        Readers readers(folder_.path(), {.resume = resume, .join_table = below(4) != 0});
        for (int step = 0; step < 400; ++step) {
            INFO("step " << step);
            change();
            ask(readers);
        }
    }

private:
    std::uint64_t below(std::uint64_t n) { return random_() % n; }

    void start_writer() {
        writer_.emplace(must_create(small_segment(folder_.path())));
        add_instruments(*writer_);
        life_ += 1;
    }
    void change() {
        const auto instrument = static_cast<std::uint32_t>(below(8));
        switch (below(8)) {
            case 0: writer_->set_channel_quality(1, static_cast<ring::Quality>(below(4))); break;
            case 1: writer_->set_status(instrument, {.changed_ns = std::int64_t(below(99))}); break;
            case 2: writer_->set_statistics(instrument, {.trades = below(99)}); break;
            case 3:
                writer_->set_auction(instrument, {.changed_ns = std::int64_t(below(99))});
                break;
            case 4:
                writer_->rename_instrument(instrument, "R" + std::to_string(below(9)), 4);
                break;
            case 5: publish_event<ring::OrderEvent>(*writer_, random_); break;
            default:
                for (auto n = below(below(8) == 0 ? 100 : 12); n > 0; --n)
                    test::publish(*writer_, record_, life_);
        }
    }
    void ask(Readers& readers) {
        for (auto n = below(12); n > 0; --n)
            readers.same_record([](auto& reader, auto& out) { return reader.poll(out); },
                                WIREBOOK_POLL_RECORD);
        const auto i = static_cast<std::uint32_t>(below(10));
        readers.same_record([&](auto& reader, auto& out) { return reader.latest(i, out); }, 0);
        readers.same([](auto& reader) {
            return std::tuple(reader.lost(), reader.lag(), reader.instruments(), reader.renames());
        });
        readers.same([&](auto& reader) { return reader.find(("R" + std::to_string(i)).c_str()); });
        readers.same_row<ring::Identity>(i);
        readers.same_row<ring::InstrumentStatus>(i);
        readers.same_row<ring::TradeStatistics>(i);
        readers.same_row<ring::AuctionState>(i);
        if (below(20) == 0) readers.same([](auto& reader) { return reader.rejoin(), 0; });
        if (below(40) != 0) return;
        writer_.reset();
        int ended = WIREBOOK_POLL_EMPTY;
        while (ended != WIREBOOK_POLL_WRITER_CLOSED)
            ended = readers.same_record(
                [](auto& reader, auto& out) { return poll_on(reader, out); }, WIREBOOK_POLL_RECORD);
        CHECK(readers.same([](auto& reader) { return reader.reattach(); }) == 0);
        start_writer();
        CHECK(readers.same([](auto& reader) { return reader.reattach(); }) == 1);
        readers.same([](auto& reader) { return reader.describe(); });
    }

    const TemporaryFolder folder_;
    std::mt19937_64 random_;
    std::optional<ring::Writer> writer_;
    ring::Record record_;
    std::uint64_t life_ = 0;
};

}  // namespace

TEST_CASE("readers: the C++ reader and the C interface live one random life", "[capi][random]") {
    const char* given = std::getenv("WIREBOOK_SEED");
    const std::uint64_t seed =
        given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
    std::cerr << "seed: WIREBOOK_SEED=" << seed << '\n';
    for (std::uint64_t life = 0; life < 10; ++life) RandomLife(seed + life).run();
}
