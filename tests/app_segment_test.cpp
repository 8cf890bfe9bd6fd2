// A segment as text and as JSON: whatever is in the file, the text is well formed.
#include "wirebook/app/segment_text.hpp"

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "ring_fixture.hpp"
#include "wirebook/app/record_text.hpp"

namespace {

using namespace wirebook;
using namespace wirebook::app;
using wirebook::test::TemporaryFolder;

SegmentView view_of(const ring::Reader& reader) {
    return {.reader = reader,
            .positions = ring::reader_positions(reader.path(), reader.epoch()),
            .symbols = {},
            .rows = true,
            .rate = std::nullopt,
            .now_tsc = rdtsc(),
            .now_ns = ring::utc_now_ns()};
}
nlohmann::json shown_json(const SegmentView& view, bool one_line = false) {
    std::string text;
    append_segment_json(text, view, one_line);
    if (one_line) CHECK(text.find('\n') == text.npos);
    return nlohmann::json::parse(text);
}

// Every kind of event, and rows with everything in them.
void fill(ring::Writer& writer) {
    test::add_instruments(writer);
    ring::Record record;
    for (int n = 0; n < 20; ++n) test::publish(writer, record, 3);
    record.instrument = 0;
    const auto event = [&](const auto& body) {
        record.set_event(body);
        writer.publish_event(record);
    };
    event(ring::TradeBreakEvent{});
    event(ring::StatusEvent{});
    event(ring::AuctionEvent{});
    event(ring::CollarEvent{});
    event(ring::IpoEvent{});
    event(ring::SystemEvent{});
    event(ring::GapEvent{});
    event(ring::SessionEvent{});
    event(ring::QualityEvent{});
    event(ring::DirectoryEvent{});
    event(ring::OrderEvent{});
    ring::TradeStatistics statistics;
    statistics.trades = 3;
    statistics.last_price = 185'230'000'000;
    writer.set_statistics(1, statistics);
    ring::AuctionState auction;
    auction.changed_ns = 5;
    writer.set_auction(1, auction);
    ring::InstrumentStatus status;
    status.trading = ring::TradingStatus::halted;
    std::memcpy(status.reason.data(), "LUDP\"\xE9\x01", 8);
    writer.set_status(1, status);
}

}  // namespace

TEST_CASE("segment text: rows show status, statistics, quality and book") {
    const TemporaryFolder folder;
    ring::Writer writer = test::must_create(test::small_segment(folder.path()));
    fill(writer);
    writer.set_channel_quality(1, ring::Quality::stale);
    const ring::Reader reader = test::must_attach(folder.path());
    const SegmentView view = view_of(reader);
    const auto json = shown_json(view);
    const auto& row = json["instruments"][1];
    CHECK(row["symbol"] == "SYM1");
    CHECK(row["status"] == "halted");
    CHECK(row["reason"] == "LUDP\"\u00E9\u0001");
    CHECK(row["quality"] == "stale");
    CHECK(row["statistics"]["trades"] == 3);
    CHECK(row["statistics"]["last"] == 185.23);
    CHECK(row["auction"]["changed_ns"] == 5);
    CHECK(row["book"]["bids"].size() == row["book"]["sequence"].get<std::size_t>() % 6);
    CHECK(json["instruments"][7]["book"].is_null());  // trades only
    CHECK(json["channels"][0]["channel"] == 1);
    CHECK(json["health"]["published"] == writer.next_sequence());
    CHECK(shown_json(view, true) == json);
    std::string text;
    append_segment_text(text, view);
    for (const char* part : {"SYM1", "halted", "stale", "185.2300", "depth 5, 64 slots"})
        CHECK(text.find(part) != text.npos);
}

TEST_CASE("segment text: health tells running, hanging, closed and dead apart") {
    const TemporaryFolder folder;
    std::optional<ring::Writer> writer(test::must_create(test::small_segment(folder.path())));
    writer->heartbeat(rdtsc());
    const ring::Reader reader = test::must_attach(folder.path());
    CHECK(health_of(view_of(reader)).writer == WriterState::running);
    SegmentView later = view_of(reader);
    later.now_tsc += reader.clock().ticks_from_ns(2'000'000'000);
    CHECK_FALSE(health_of(view_of(reader)).hangs());
    CHECK(health_of(later).hangs());
    // A heartbeat since we looked is now; one of another boot is at no time.
    writer->heartbeat(rdtsc() + reader.clock().ticks_from_ns(900'000'000));
    CHECK(health_of(view_of(reader)).heartbeat_age_ns == 0);
    writer->heartbeat(UINT64_MAX);
    CHECK_FALSE(health_of(view_of(reader)).heartbeat_age_ns);
    writer.reset();
    CHECK(health_of(view_of(reader)).writer == WriterState::closed);
    std::fstream file(reader.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(392);  // state
    file.write("\0\0\0\0\0\0\0\0", 8).flush();
    CHECK(health_of(view_of(reader)).writer == WriterState::dead);
}

TEST_CASE("segment text: random faults in the file leave text and JSON well formed") {
    const TemporaryFolder folder;
    {
        ring::Writer writer = test::must_create(test::small_segment(folder.path()));
        fill(writer);
    }
    const std::string path = ring::segment_path(folder.path(), "test");
    std::ifstream file(path, std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(file), {}};
    std::mt19937_64 random(test::random_seed());
    const int files = test::long_tests() ? 20'000 : (test::instrumented ? 300 : 1'000);
    std::uint64_t shown = 0, bytes = 0;
    for (int n = 0; n < files; ++n) {
        std::string broken = whole;
        for (std::uint64_t fault = 1 + random() % 40; fault > 0; --fault) {
            // Header, rows, table and ring are of very different size: each its share.
            const std::size_t from = n % 4 == 0 ? 64 : 4096 * (1 + random() % 5);
            const std::size_t at = from + random() % 4096 / 8 * 8;
            const std::uint64_t word = random() >> (random() % 64);
            if (at + 8 <= broken.size()) std::memcpy(broken.data() + at, &word, 8);
        }
        std::filesystem::remove(path);
        std::ofstream(path, std::ios::binary) << broken;
        ring::AttachOptions options;
        options.directory = folder.path();
        options.live_only = false;
        auto attached = ring::Reader::attach("test", options);
        if (!attached) continue;
        ring::Reader reader = std::move(attached).value();
        shown += 1;
        (void)shown_json(view_of(reader));
        std::string text;
        append_segment_text(text, view_of(reader));
        ring::Record record;
        for (int i = 0; i < 100; ++i) {
            if (reader.poll(record) != ring::Poll::record) continue;
            const ShownRecord line{record,
                                   reader.identity(record.instrument).value_or(ring::Identity{}),
                                   reader.quality(record), nullptr};
            std::string json;
            append_record_line(text, line);
            append_record_json(json, line);
            CHECK(nlohmann::json::accept(json));
        }
        bytes += text.size();
        CHECK(text.find('\0') == text.npos);
    }
    INFO(bytes);
    CHECK(shown > static_cast<std::uint64_t>(files) / 10);
}
