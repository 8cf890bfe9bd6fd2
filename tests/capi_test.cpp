// What only the C interface has: null arguments and garbage, structs that grow, texts of errors.
#include <fstream>
#include <thread>

#include "capi_readers.hpp"

using namespace wirebook;
using wirebook::test::Attached;
using wirebook::test::must_create;
using wirebook::test::small_segment;
using wirebook::test::TemporaryFolder;

TEST_CASE("capi: the version is the project's, the ABI the header's", "[capi]") {
    CHECK(std::string(wirebook_version()).find('.') != std::string::npos);
    CHECK(wirebook_abi() == WIREBOOK_ABI);
}

TEST_CASE("capi: a null argument or a reader that is none is EINVAL, with a text", "[capi]") {
    const Attached is;
    alignas(64) std::array<std::byte, 4096> garbage{};
    const auto at = [&](std::size_t offset) {
        return static_cast<wirebook_reader*>(static_cast<void*>(garbage.data() + offset));
    };
    wirebook_record record{};
    wirebook_identity identity{};
    wirebook_instrument_status status{};
    wirebook_trade_statistics statistics{};
    wirebook_auction_state auction{};
    wirebook_segment segment{};
    segment.size = sizeof(segment);
    std::uint64_t tsc = 0;
    std::int64_t ns = 0;
    for (wirebook_reader* bad : {static_cast<wirebook_reader*>(nullptr), at(0), at(1)}) {
        CHECK(wirebook_poll(bad, &record) == -EINVAL);
        CHECK(std::string(wirebook_last_error()).find("not a reader") != std::string::npos);
        CHECK(wirebook_reattach(bad) == -EINVAL);
        CHECK(wirebook_rejoin(bad) == -EINVAL);
        CHECK(wirebook_lost(bad) == -EINVAL);
        CHECK(wirebook_lag(bad) == -EINVAL);
        CHECK(wirebook_latest(bad, 0, &record) == -EINVAL);
        CHECK(wirebook_quality_of(bad, &record) == -EINVAL);
        CHECK(wirebook_channel_quality(bad, 0) == -EINVAL);
        CHECK(wirebook_instruments(bad) == -EINVAL);
        CHECK(wirebook_renames(bad) == -EINVAL);
        CHECK(wirebook_find(bad, "SYM1") == -EINVAL);
        CHECK(wirebook_find_on_channel(bad, "SYM1", 0) == -EINVAL);
        CHECK(wirebook_find_at_venue(bad, "SYM1", 0) == -EINVAL);
        CHECK(wirebook_read_identity(bad, 0, &identity) == -EINVAL);
        CHECK(wirebook_read_status(bad, 0, &status) == -EINVAL);
        CHECK(wirebook_read_statistics(bad, 0, &statistics) == -EINVAL);
        CHECK(wirebook_read_auction(bad, 0, &auction) == -EINVAL);
        CHECK(wirebook_describe(bad, &segment) == -EINVAL);
        CHECK(wirebook_path(bad) == nullptr);
        CHECK(wirebook_position_path(bad) == nullptr);
        CHECK(wirebook_writer_alive(bad) == -EINVAL);
        CHECK(wirebook_heartbeat(bad, &tsc) == -EINVAL);
        CHECK(wirebook_ns_from_ticks(bad, 1) == -EINVAL);
        CHECK(wirebook_utc_from_tsc(bad, 1, &ns) == -EINVAL);
        wirebook_close(bad);  // does nothing
    }
    CHECK(wirebook_poll(is.reader, nullptr) == -EINVAL);
    CHECK(wirebook_latest(is.reader, 0, nullptr) == -EINVAL);
    CHECK(wirebook_quality_of(is.reader, nullptr) == -EINVAL);
    CHECK(wirebook_find(is.reader, nullptr) == -EINVAL);
    CHECK(wirebook_find_on_channel(is.reader, nullptr, 0) == -EINVAL);
    CHECK(wirebook_find_at_venue(is.reader, nullptr, 0) == -EINVAL);
    CHECK(wirebook_read_identity(is.reader, 0, nullptr) == -EINVAL);
    CHECK(wirebook_read_status(is.reader, 0, nullptr) == -EINVAL);
    CHECK(wirebook_read_statistics(is.reader, 0, nullptr) == -EINVAL);
    CHECK(wirebook_read_auction(is.reader, 0, nullptr) == -EINVAL);
    CHECK(wirebook_describe(is.reader, nullptr) == -EINVAL);
    CHECK(wirebook_heartbeat(is.reader, nullptr) == -EINVAL);
    CHECK(wirebook_utc_from_tsc(is.reader, 0, nullptr) == -EINVAL);
}

TEST_CASE("capi: attach refuses null arguments, sizes and values that it does not know", "[capi]") {
    const Attached is;
    wirebook_reader* reader = is.reader;
    CHECK(wirebook_attach("test", nullptr, nullptr) == -EINVAL);
    CHECK(wirebook_attach(nullptr, nullptr, &reader) == -EINVAL);
    CHECK(wirebook_attach_file("/x", nullptr, nullptr) == -EINVAL);
    CHECK(wirebook_attach_file(nullptr, nullptr, &reader) == -EINVAL);
    CHECK(reader == nullptr);
    CHECK(wirebook_attach("no-such-segment.0123456789", nullptr, &reader) == -ENOENT);
    const auto with = [&](auto change) {
        wirebook_attach_options options = is.options;
        change(options);
        const int status = wirebook_attach("test", &options, &reader);
        CHECK((status == 0) == (reader != nullptr));
        wirebook_close(reader);
        return status;
    };
    CHECK(with([](auto&) {}) == 0);
    CHECK(with([](auto& o) { o.size = 0; }) == -EINVAL);
    CHECK(with([](auto& o) { o.size = sizeof(o) - 1; }) == -EINVAL);
    CHECK(with([](auto& o) { o.size = 0xFFFFFFFF; }) == -EINVAL);
    CHECK(with([](auto& o) { o.flags = 0x80000000; }) == -EINVAL);
    CHECK(std::string(wirebook_last_error()).find("flags") != std::string::npos);
    CHECK(with([](auto& o) { o.resume = 3; }) == -EINVAL);
    const std::string long_name(100'000, 'x');
    CHECK(wirebook_attach(long_name.c_str(), &is.options, &reader) == -EINVAL);
}

TEST_CASE("capi: options of a later version are taken if they ask for nothing new", "[capi]") {
    const Attached is;
    struct Later {
        wirebook_attach_options known;
        std::uint64_t more;
    } later{is.options, 0};
    later.known.size = sizeof(later);
    wirebook_reader* reader = nullptr;
    REQUIRE(wirebook_attach("test", &later.known, &reader) == 0);
    wirebook_close(reader);
    later.more = 1;
    CHECK(wirebook_attach("test", &later.known, &reader) == -E2BIG);
    CHECK(reader == nullptr);
}

TEST_CASE("capi: a description is written as far as its size says, and no farther", "[capi]") {
    const Attached is;
    struct Later {
        wirebook_segment known;
        std::uint64_t more;
    } later{};
    later.known.size = sizeof(later);
    later.more = 1;
    REQUIRE(wirebook_describe(is.reader, &later.known) == 0);
    CHECK(later.known.size == sizeof(later));
    CHECK(later.known.slots == 64);
    CHECK(later.more == 0);
    later.known.size = sizeof(later.known);
    later.more = 1;
    REQUIRE(wirebook_describe(is.reader, &later.known) == 0);
    CHECK(later.more == 1);
    later.known.size = 100;
    CHECK(wirebook_describe(is.reader, &later.known) == -EINVAL);
    later.known.size = 0xFFFFFFFF;
    CHECK(wirebook_describe(is.reader, &later.known) == -EINVAL);
}

TEST_CASE("capi: levels and events of a record that holds garbage are refused", "[capi]") {
    wirebook_record record;
    std::memset(&record, 0xFF, sizeof(record));
    wirebook_level level{};
    CHECK(wirebook_bid(&record, 19, &level) == 0);
    CHECK(wirebook_bid(&record, 20, &level) == -ENOENT);
    CHECK(level.price == WIREBOOK_NO_PRICE);
    CHECK(wirebook_ask(&record, 0xFFFFFFFF, &level) == -ENOENT);
    CHECK(wirebook_bid(nullptr, 0, &level) == -EINVAL);
    CHECK(wirebook_ask(&record, 0, nullptr) == -EINVAL);
    wirebook_trade_event trade{};
    wirebook_order_event order{};
    CHECK(wirebook_event_trade(&record, &trade) == -EINVAL);
    record.kind = WIREBOOK_KIND_TRADE;
    CHECK(wirebook_event_trade(&record, &trade) == 0);
    CHECK(wirebook_event_order(&record, &order) == -EINVAL);
    CHECK(wirebook_event_trade(&record, nullptr) == -EINVAL);
    CHECK(wirebook_event_trade(nullptr, &trade) == -EINVAL);
    const Attached is;
    CHECK(wirebook_quality_of(is.reader, &record) == WIREBOOK_QUALITY_NOT_READY);
}

TEST_CASE("capi: what is not there is ENOENT, what a dead writer left unfinished is EBUSY",
          "[capi]") {
    const Attached is;
    wirebook_identity identity{};
    wirebook_instrument_status status{};
    wirebook_trade_statistics statistics{};
    wirebook_auction_state auction{};
    wirebook_record record{};
    CHECK(wirebook_read_identity(is.reader, 8, &identity) == -ENOENT);
    CHECK(wirebook_read_status(is.reader, 8, &status) == -ENOENT);
    CHECK(wirebook_read_statistics(is.reader, 8, &statistics) == -ENOENT);
    CHECK(wirebook_read_auction(is.reader, 0xFFFFFFFF, &auction) == -ENOENT);
    CHECK(wirebook_latest(is.reader, 8, &record) == -ENOENT);
    CHECK(wirebook_latest(is.reader, 3, &record) == -ENOENT);
    std::fstream file(is.writer.path(), std::ios::in | std::ios::out | std::ios::binary);
    const auto leave_unfinished = [&](std::uint64_t offset) {
        const std::uint64_t odd = 1;
        file.seekp(static_cast<std::streamoff>(offset));
        file.write(static_cast<const char*>(static_cast<const void*>(&odd)), sizeof(odd));
        file.flush();
    };
    const ring::Layout layout = ring::layout_of(is.writer.geometry());
    for (const std::uint64_t part : {0U, 64U, 128U, 256U})
        leave_unfinished(layout.instruments_offset + 3 * 384 + part);
    leave_unfinished(layout.table_offset + 3 * layout.slot_bytes);
    CHECK(wirebook_read_identity(is.reader, 3, &identity) == -EBUSY);
    CHECK(wirebook_read_status(is.reader, 3, &status) == -EBUSY);
    CHECK(wirebook_read_statistics(is.reader, 3, &statistics) == -EBUSY);
    CHECK(wirebook_read_auction(is.reader, 3, &auction) == -EBUSY);
    CHECK(wirebook_latest(is.reader, 3, &record) == -EBUSY);
}

TEST_CASE("capi: durations and moments that do not fit are ERANGE", "[capi]") {
    const TemporaryFolder folder;
    ring::SegmentOptions options = small_segment(folder.path());
    options.clock = {1000.0, 5, 9'000'000'000'000'000'000};
    const ring::Writer writer = must_create(options);
    wirebook_attach_options how{};
    how.size = sizeof(how);
    how.directory = folder.path().c_str();
    wirebook_reader* reader = nullptr;
    REQUIRE(wirebook_attach("test", &how, &reader) == 0);
    std::int64_t ns = 0;
    CHECK(wirebook_ns_from_ticks(reader, 7) == 7'000);
    CHECK(wirebook_ns_from_ticks(reader, ~std::uint64_t{0}) == -ERANGE);
    CHECK(wirebook_utc_from_tsc(reader, ~std::uint64_t{0}, &ns) == -ERANGE);
    CHECK(wirebook_utc_from_tsc(reader, 1'000'000'000'000'000, &ns) == -ERANGE);
    CHECK(wirebook_utc_from_tsc(reader, 4, &ns) == 0);
    CHECK(ns == 8'999'999'999'999'999'000);
    wirebook_close(reader);
}

TEST_CASE("capi: each thread has the text of its own failure", "[capi]") {
    wirebook_reader* reader = nullptr;
    CHECK(wirebook_attach("../x", nullptr, &reader) == -EINVAL);
    const std::string ours = wirebook_last_error();
    std::string before, after;
    std::thread([&] {
        before = wirebook_last_error();
        (void)wirebook_lost(nullptr);
        after = wirebook_last_error();
    }).join();
    CHECK(before.empty());
    CHECK_FALSE(after.empty());
    CHECK(ours.find("../x") != std::string::npos);
    CHECK(wirebook_last_error() == ours);
}
