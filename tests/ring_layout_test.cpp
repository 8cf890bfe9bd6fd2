// The layout is the ABI: each number here is promised to readers built years ago. A change of one
// is a change of abi_version.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include "wirebook/ring/position.hpp"
#include "wirebook/ring/segment.hpp"

using namespace wirebook::ring;

TEST_CASE("ring: the record's layout is that of ABI version 2", "[ring][layout]") {
    CHECK(abi_version == 2);
    CHECK(sizeof(Record) == 1088);
    CHECK(offsetof(Record, sequence) == 0);
    CHECK(offsetof(Record, instrument) == 8);
    CHECK(offsetof(Record, kind) == 12);
    CHECK(offsetof(Record, flags) == 13);
    CHECK(offsetof(Record, quality) == 14);
    CHECK(offsetof(Record, status) == 15);
    CHECK(offsetof(Record, bid_price) == 16);
    CHECK(offsetof(Record, bid_quantity) == 24);
    CHECK(offsetof(Record, ask_price) == 32);
    CHECK(offsetof(Record, ask_quantity) == 40);
    CHECK(offsetof(Record, exchange_time_ns) == 48);
    CHECK(offsetof(Record, receive_tsc) == 56);
    CHECK(offsetof(Record, receive_time_ns) == 64);
    CHECK(offsetof(Record, feed_sequence) == 72);
    CHECK(offsetof(Record, packet) == 80);
    CHECK(offsetof(Record, decoded_delta) == 88);
    CHECK(offsetof(Record, booked_delta) == 92);
    CHECK(offsetof(Record, published_delta) == 96);
    CHECK(offsetof(Record, channel) == 100);
    CHECK(offsetof(Record, line) == 102);
    CHECK(offsetof(Record, time_source) == 103);
    CHECK(offsetof(Record, bid_levels) == 104);
    CHECK(offsetof(Record, ask_levels) == 105);
    CHECK(offsetof(Record, bid_orders) == 108);
    CHECK(offsetof(Record, ask_orders) == 112);
    CHECK(offsetof(Record, levels) == record_head_bytes);
    CHECK(sizeof(LevelRow) == 48);
    CHECK(offsetof(LevelRow, ask) == 24);
    CHECK(offsetof(Level, quantity) == 8);
    CHECK(offsetof(Level, orders) == 16);
}

TEST_CASE("ring: the events' layouts are those of ABI version 2", "[ring][layout]") {
    CHECK(offsetof(TradeEvent, quantity) == 8);
    CHECK(offsetof(TradeEvent, match) == 16);
    CHECK(offsetof(TradeEvent, resting_side) == 24);
    CHECK(offsetof(TradeEvent, printable) == 25);
    CHECK(offsetof(TradeEvent, code) == 26);
    CHECK(offsetof(TradeEvent, cross_type) == 27);
    CHECK(offsetof(TradeEvent, sale_flags) == 28);
    CHECK(offsetof(TradeBreakEvent, match) == 16);
    CHECK(offsetof(StatusEvent, code) == 1);
    CHECK(offsetof(StatusEvent, value) == 2);
    CHECK(offsetof(StatusEvent, reason) == 8);
    CHECK(offsetof(AuctionEvent, indicative_price) == 8);
    CHECK(offsetof(AuctionEvent, far_price) == 16);
    CHECK(offsetof(AuctionEvent, paired_quantity) == 24);
    CHECK(offsetof(AuctionEvent, imbalance_quantity) == 32);
    CHECK(offsetof(AuctionEvent, imbalance_side) == 40);
    CHECK(offsetof(AuctionEvent, cross_type) == 42);
    CHECK(offsetof(AuctionEvent, variation) == 43);
    CHECK(offsetof(AuctionEvent, scheduled_s) == 44);
    CHECK(offsetof(CollarEvent, upper_price) == 16);
    CHECK(offsetof(CollarEvent, extension) == 24);
    CHECK(offsetof(CollarEvent, code) == 28);
    CHECK(offsetof(CollarEvent, cross_type) == 29);
    CHECK(offsetof(IpoEvent, release_ns) == 8);
    CHECK(offsetof(IpoEvent, qualifier) == 16);
    CHECK(offsetof(IpoEvent, code) == 17);
    CHECK(offsetof(OrderEvent, order_id) == 8);
    CHECK(offsetof(OrderEvent, other_id) == 16);
    CHECK(offsetof(OrderEvent, quantity_ahead) == 24);
    CHECK(offsetof(OrderEvent, orders_ahead) == 32);
    CHECK(offsetof(OrderEvent, quantity) == 36);
    CHECK(offsetof(OrderEvent, left) == 40);
    CHECK(offsetof(OrderEvent, action) == 44);
    CHECK(offsetof(OrderEvent, side) == 45);
    CHECK(offsetof(OrderEvent, printable) == 46);
    CHECK(offsetof(SystemEvent, group) == 8);
    CHECK(offsetof(GapEvent, last) == 8);
    CHECK(offsetof(GapEvent, lines) == 16);
    CHECK(offsetof(SessionEvent, next_sequence) == 16);
    CHECK(offsetof(QualityEvent, after) == 1);
    CHECK(offsetof(DirectoryEvent, round_lot) == 16);
    CHECK(offsetof(DirectoryEvent, price_places) == 24);
    CHECK(offsetof(DirectoryEvent, authenticity) == 25);
    CHECK(offsetof(DirectoryEvent, market_category) == 26);
    CHECK(offsetof(DirectoryEvent, financial_status) == 27);
    CHECK(offsetof(DirectoryEvent, luld_tier) == 28);
    CHECK(offsetof(DirectoryEvent, etp) == 29);
    CHECK(offsetof(DirectoryEvent, reference_price) == 32);
    CHECK(offsetof(DirectoryEvent, lower_limit) == 40);
    CHECK(offsetof(DirectoryEvent, upper_limit) == 48);
}

TEST_CASE("ring: an event lies in the record where a snapshot has its book", "[ring][layout]") {
    Record record;
    record.exchange_time_ns = 1;
    record.receive_time_ns = 2;
    AuctionEvent auction;
    auction.reference_price = 11;
    auction.indicative_price = 12;
    auction.far_price = 13;
    auction.paired_quantity = 14;
    auction.imbalance_quantity = 15;
    auction.cross_type = 'O';
    record.set_event(auction);
    CHECK(record.kind == RecordKind::auction);
    CHECK(record.bid_price == 11);
    CHECK(record.ask_price == 13);
    CHECK(record.exchange_time_ns == 1);
    CHECK(record.receive_time_ns == 2);
    const auto* bytes = static_cast<const unsigned char*>(static_cast<const void*>(&record));
    CHECK(bytes[104] == 15);
    CHECK(bytes[114] == 'O');
    const auto back = record.event<AuctionEvent>();
    CHECK(back.far_price == 13);
    CHECK(back.imbalance_quantity == 15);
    CHECK(back.cross_type == 'O');
}

TEST_CASE("ring: slots are whole cache lines for every depth", "[ring][layout]") {
    CHECK(slot_bytes_of(1) == 128);
    CHECK(slot_bytes_of(5) == 320);
    CHECK(slot_bytes_of(10) == 576);
    CHECK(slot_bytes_of(20) == 1088);
    CHECK(record_words(RecordKind::snapshot, 0, 0) == 16);
    CHECK(record_words(RecordKind::snapshot, 2, 5) == 16 + 4 * 6);
    CHECK(record_words(RecordKind::trade, 20, 20) == 16);
}

TEST_CASE("ring: the header's layout is that of ABI version 2", "[ring][layout]") {
    CHECK(sizeof(SegmentHeader) == 4096);
    CHECK(offsetof(SegmentHeader, abi) == 8);
    CHECK(offsetof(SegmentHeader, endian) == 12);
    CHECK(offsetof(SegmentHeader, slot_bytes) == 28);
    CHECK(offsetof(SegmentHeader, segment_bytes) == 32);
    CHECK(offsetof(SegmentHeader, slots) == 40);
    CHECK(offsetof(SegmentHeader, depth) == 48);
    CHECK(offsetof(SegmentHeader, instruments_offset) == 64);
    CHECK(offsetof(SegmentHeader, epoch) == 88);
    CHECK(offsetof(SegmentHeader, writer_pid) == 96);
    CHECK(offsetof(SegmentHeader, ns_per_tick) == 128);
    CHECK(offsetof(SegmentHeader, published) == 256);
    CHECK(offsetof(SegmentHeader, heartbeat) == 384);
    CHECK(offsetof(SegmentHeader, state) == 392);
    CHECK(offsetof(SegmentHeader, instruments) == 512);
    CHECK(offsetof(SegmentHeader, renames) == 520);
    CHECK(offsetof(SegmentHeader, quality) == 640);
    const Layout layout = layout_of({.depth = 5, .slots = 64, .instruments = 16, .channels = 1});
    CHECK(layout.instruments_offset == 4096);
    CHECK(layout.table_offset == 4096 + 8192);
    CHECK(layout.ring_offset == 12288 + 8192);
    CHECK(layout.used_bytes == 20480 + 20480);
}

namespace {

struct Row {
    std::size_t offset, bytes;
    bool operator==(const Row&) const = default;
};
// The rows "| offset | bytes | field |" under a heading of docs/ring.md; with `table` only those of
// the table whose third column has that title.
std::map<std::string, Row> documented(const std::string& heading, const std::string& table = "") {
    const char* root = std::getenv("WIREBOOK_ROOT");
    std::ifstream page(std::string(root != nullptr ? root : ".") + "/docs/ring.md");
    REQUIRE(page);
    std::map<std::string, Row> rows;
    bool under = false, inside = false;
    for (std::string line; std::getline(page, line);) {
        if (line.starts_with("## ")) under = line == "## " + heading;
        if (line.starts_with("| offset |") || line.starts_with("## "))
            inside = under && (table.empty() || line.starts_with("| offset | bytes | " + table));
        unsigned offset = 0, bytes = 0;
        std::array<char, 40> field{};
        if (inside &&
            std::sscanf(line.c_str(), "| %u | %u | %39s |", &offset, &bytes, field.data()) == 3)
            rows[field.data()] = {offset, bytes};
    }
    return rows;
}

}  // namespace

#define WIREBOOK_ROW(T, field)                   \
    {                                            \
#field, Row {                            \
            offsetof(T, field), sizeof(T::field) \
        }                                        \
    }

TEST_CASE("ring: docs/ring.md lists the record as it is", "[ring][layout]") {
    auto rows = documented("Record");
    CHECK(rows["levels"] == Row{offsetof(Record, levels), sizeof(LevelRow)});
    rows.erase("levels");
    const std::map<std::string, Row> real{WIREBOOK_ROW(Record, sequence),
                                          WIREBOOK_ROW(Record, instrument),
                                          WIREBOOK_ROW(Record, kind),
                                          WIREBOOK_ROW(Record, flags),
                                          WIREBOOK_ROW(Record, quality),
                                          WIREBOOK_ROW(Record, status),
                                          WIREBOOK_ROW(Record, bid_price),
                                          WIREBOOK_ROW(Record, bid_quantity),
                                          WIREBOOK_ROW(Record, ask_price),
                                          WIREBOOK_ROW(Record, ask_quantity),
                                          WIREBOOK_ROW(Record, exchange_time_ns),
                                          WIREBOOK_ROW(Record, receive_tsc),
                                          WIREBOOK_ROW(Record, receive_time_ns),
                                          WIREBOOK_ROW(Record, feed_sequence),
                                          WIREBOOK_ROW(Record, packet),
                                          WIREBOOK_ROW(Record, decoded_delta),
                                          WIREBOOK_ROW(Record, booked_delta),
                                          WIREBOOK_ROW(Record, published_delta),
                                          WIREBOOK_ROW(Record, channel),
                                          WIREBOOK_ROW(Record, line),
                                          WIREBOOK_ROW(Record, time_source),
                                          WIREBOOK_ROW(Record, bid_levels),
                                          WIREBOOK_ROW(Record, ask_levels),
                                          WIREBOOK_ROW(Record, bid_orders),
                                          WIREBOOK_ROW(Record, ask_orders)};
    for (const auto& [name, row] : real) {
        INFO(name);
        CHECK(rows[name] == row);
    }
    CHECK(rows.size() == real.size());
}

TEST_CASE("ring: docs/ring.md lists the header as it is", "[ring][layout]") {
    auto rows = documented("Header");
    CHECK(rows["quality"] == Row{offsetof(SegmentHeader, quality), sizeof(Word)});
    rows.erase("quality");
    const std::map<std::string, Row> real{WIREBOOK_ROW(SegmentHeader, magic),
                                          WIREBOOK_ROW(SegmentHeader, abi),
                                          WIREBOOK_ROW(SegmentHeader, endian),
                                          WIREBOOK_ROW(SegmentHeader, header_bytes),
                                          WIREBOOK_ROW(SegmentHeader, instrument_bytes),
                                          WIREBOOK_ROW(SegmentHeader, record_head),
                                          WIREBOOK_ROW(SegmentHeader, slot_bytes),
                                          WIREBOOK_ROW(SegmentHeader, segment_bytes),
                                          WIREBOOK_ROW(SegmentHeader, slots),
                                          WIREBOOK_ROW(SegmentHeader, depth),
                                          WIREBOOK_ROW(SegmentHeader, instrument_capacity),
                                          WIREBOOK_ROW(SegmentHeader, channels),
                                          WIREBOOK_ROW(SegmentHeader, streams),
                                          WIREBOOK_ROW(SegmentHeader, instruments_offset),
                                          WIREBOOK_ROW(SegmentHeader, table_offset),
                                          WIREBOOK_ROW(SegmentHeader, ring_offset),
                                          WIREBOOK_ROW(SegmentHeader, epoch),
                                          WIREBOOK_ROW(SegmentHeader, writer_pid),
                                          WIREBOOK_ROW(SegmentHeader, writer_start),
                                          WIREBOOK_ROW(SegmentHeader, created_ns),
                                          WIREBOOK_ROW(SegmentHeader, ns_per_tick),
                                          WIREBOOK_ROW(SegmentHeader, base_tsc),
                                          WIREBOOK_ROW(SegmentHeader, base_utc_ns),
                                          WIREBOOK_ROW(SegmentHeader, session_name),
                                          WIREBOOK_ROW(SegmentHeader, published),
                                          WIREBOOK_ROW(SegmentHeader, heartbeat),
                                          WIREBOOK_ROW(SegmentHeader, state),
                                          WIREBOOK_ROW(SegmentHeader, instruments),
                                          WIREBOOK_ROW(SegmentHeader, renames)};
    for (const auto& [name, row] : real) {
        INFO(name);
        CHECK(rows[name] == row);
    }
    CHECK(rows.size() == real.size());
}

TEST_CASE("ring: docs/ring.md lists the standing blocks of a row as they are", "[ring][layout]") {
    const auto same = [](std::map<std::string, Row> rows, const std::map<std::string, Row>& real) {
        for (const auto& [name, row] : real) {
            INFO(name);
            CHECK(rows[name] == row);
        }
        CHECK(rows.size() == real.size());
    };
    same(documented("Instrument row", "statistics"),
         {WIREBOOK_ROW(TradeStatistics, version), WIREBOOK_ROW(TradeStatistics, trades),
          WIREBOOK_ROW(TradeStatistics, volume), WIREBOOK_ROW(TradeStatistics, last_price),
          WIREBOOK_ROW(TradeStatistics, last_quantity), WIREBOOK_ROW(TradeStatistics, high_price),
          WIREBOOK_ROW(TradeStatistics, low_price), WIREBOOK_ROW(TradeStatistics, open_price),
          WIREBOOK_ROW(TradeStatistics, last_ns), WIREBOOK_ROW(TradeStatistics, last_match),
          WIREBOOK_ROW(TradeStatistics, breaks), WIREBOOK_ROW(TradeStatistics, flags),
          WIREBOOK_ROW(TradeStatistics, through)});
    same(documented("Instrument row", "auction"), {WIREBOOK_ROW(AuctionState, version),
                                                   WIREBOOK_ROW(AuctionState, changed_ns),
                                                   WIREBOOK_ROW(AuctionState, reference_price),
                                                   WIREBOOK_ROW(AuctionState, indicative_price),
                                                   WIREBOOK_ROW(AuctionState, far_price),
                                                   WIREBOOK_ROW(AuctionState, paired_quantity),
                                                   WIREBOOK_ROW(AuctionState, imbalance_quantity),
                                                   WIREBOOK_ROW(AuctionState, imbalance_side),
                                                   WIREBOOK_ROW(AuctionState, code),
                                                   WIREBOOK_ROW(AuctionState, cross_type),
                                                   WIREBOOK_ROW(AuctionState, variation),
                                                   WIREBOOK_ROW(AuctionState, scheduled_s),
                                                   WIREBOOK_ROW(AuctionState, collar_ns),
                                                   WIREBOOK_ROW(AuctionState, collar_reference),
                                                   WIREBOOK_ROW(AuctionState, collar_lower),
                                                   WIREBOOK_ROW(AuctionState, collar_upper),
                                                   WIREBOOK_ROW(AuctionState, extension),
                                                   WIREBOOK_ROW(AuctionState, official_type),
                                                   WIREBOOK_ROW(AuctionState, official_ns),
                                                   WIREBOOK_ROW(AuctionState, official_price),
                                                   WIREBOOK_ROW(AuctionState, official_quantity)});
    CHECK(sizeof(InstrumentRow) == 384);
    CHECK(offsetof(InstrumentRow, status) == 64);
    CHECK(offsetof(InstrumentRow, statistics) == 128);
    CHECK(offsetof(InstrumentRow, auction) == 256);
}

TEST_CASE("ring: docs/ring.md lists the file of a reader's position as it is", "[ring][layout]") {
    const std::map<std::string, Row> real{
        WIREBOOK_ROW(PositionBlock, magic),   WIREBOOK_ROW(PositionBlock, epoch),
        WIREBOOK_ROW(PositionBlock, pid),     WIREBOOK_ROW(PositionBlock, attached_ns),
        WIREBOOK_ROW(PositionBlock, program), WIREBOOK_ROW(PositionBlock, next),
        WIREBOOK_ROW(PositionBlock, lost),    WIREBOOK_ROW(PositionBlock, heartbeat)};
    CHECK(documented("Reader's position") == real);
}

TEST_CASE("ring: a name that could leave the folder is refused", "[ring]") {
    for (const char* good : {"nasdaq", "nasdaq.0", "A-b_c9"}) CHECK(name_fault(good) == nullptr);
    for (const char* bad : {"", ".", "..", ".hidden", "a/b", "../x", "a b", "a\nb", "a~1"})
        CHECK(name_fault(bad) != nullptr);
    CHECK(name_fault(std::string(63, 'x')) == nullptr);
    CHECK(name_fault(std::string(64, 'x')) != nullptr);
    CHECK(name_fault(std::string_view("a\0b", 3)) != nullptr);
}
