// The publisher between a book set and a ring reader, all in this process: which records come out,
// in which order, and what stands in the segment's tables.
#include <catch2/catch.hpp>
#include <memory>

#include "ring_fixture.hpp"
#include "wirebook/feed/batch_writer.hpp"
#include "wirebook/publish/publisher.hpp"

using namespace wirebook;
using publish::Mode;
using ring::Record;
using ring::RecordKind;

namespace {

constexpr std::uint16_t channel = 1;

// Updates and events of packets go into `out`; end_packet() lets them through the books.
class PublishRig {
public:
    explicit PublishRig(Mode mode = Mode::changed, std::uint32_t depth = 5,
                        std::uint32_t instruments = 16, std::uint32_t streams = 0)
        : arena_(make_arena()),
          books(std::move(book::BookSet::create(arena_, book_options()).value())),
          publisher(make_writer(folder_.path(), depth, instruments, streams), mode),
          reader(test::must_attach(folder_.path())) {}

    void end_packet() {
        book::PacketEnd& end = batch_->packet[batch_->packets];
        end = {};
        end.updates_end = batch_->updates;
        end.events_end = batch_->events;
        end.number = number_;
        end.sequence = 100 + number_;
        end.receive_time_ns = 5000;
        end.channel = channel;
        end.line = 1;
        batch_->packets += 1;
        number_ += 1;
        Forward forward{books, publisher};
        books.apply(*batch_, forward);
        batch_->clear();
    }
    // All that was published since the last call.
    std::vector<Record> records() {
        std::vector<Record> all;
        Record record;
        while (reader.poll(record) == ring::Poll::record) all.push_back(record);
        return all;
    }
    // Kinds as text, "." behind the last of a packet: "trade snapshot."
    std::string kinds() {
        static constexpr std::array<const char*, 14> names{
            "none", "snapshot", "trade",   "break",     "status", "auction", "system",
            "gap",  "session",  "quality", "directory", "collar", "ipo",     "order"};
        std::string text;
        for (const Record& record : records()) {
            if (!text.empty()) text += ' ';
            text += names.at(static_cast<std::size_t>(record.kind));
            if (record.last_of_packet()) text += '.';
        }
        return text;
    }
    void add(std::uint32_t instrument, char side, std::int64_t price, std::uint64_t quantity) {
        out.add(instrument, next_order_++, side, price, quantity, 7);
    }

private:
    struct Forward {
        const book::BookSet& books;
        publish::Publisher& publisher;
        void on_event(const book::Event& event, const book::PacketEnd& end) noexcept {
            publisher.event(books, event, end);
        }
        void on_execution(const book::Execution& execution, const book::PacketEnd& end) noexcept {
            publisher.execution(books, execution, end);
        }
        [[nodiscard]] bool wants_orders() const noexcept { return publisher.wants_orders(); }
        void on_order(const book::OrderChange& change, const book::PacketEnd& end) noexcept {
            publisher.order(books, change, end);
        }
        void on_touched(std::uint32_t instrument, const book::PacketEnd& end) noexcept {
            publisher.touched(books, instrument, end);
        }
        void on_clear(const book::PacketEnd&) noexcept {}
        void on_packet_end(const book::PacketEnd&) noexcept { publisher.packet_end(); }
    };
    static book::BookSetOptions book_options() {
        return {.instruments = 64, .live_orders = 1024, .levels = 512, .order_pages = 1};
    }
    static Arena make_arena() {
        auto arena =
            Arena::create({.bytes = book::BookSet::bytes_needed(book_options()), .hugetlb = false});
        return std::move(arena).value();
    }
    static ring::Writer make_writer(const std::string& folder, std::uint32_t depth,
                                    std::uint32_t instruments, std::uint32_t streams) {
        ring::SegmentOptions options = test::small_segment(folder);
        options.streams = streams;
        options.geometry = {
            .depth = depth, .slots = 1024, .instruments = instruments, .channels = 2};
        return test::must_create(options);
    }

    test::TemporaryFolder folder_;
    Arena arena_;
    std::unique_ptr<book::UpdateBatch> batch_ = std::make_unique<book::UpdateBatch>();
    std::uint64_t number_ = 0;
    std::uint64_t next_order_ = 1;

public:
    book::BookSet books;
    feed::BatchWriter out{*batch_};
    publish::Publisher publisher;
    ring::Reader reader;
};

}  // namespace

TEST_CASE("publish: only what changes at the segment's depth, or all that is touched") {
    const Mode mode = GENERATE(Mode::changed, Mode::touched);
    PublishRig rig(mode, 1);
    rig.out.name(3, "ACME", 4, true);
    rig.add(3, 'B', 1000, 10);
    rig.end_packet();
    CHECK(rig.kinds() == "snapshot.");
    rig.add(3, 'B', 900, 10);  // behind the best
    rig.end_packet();
    rig.out.remove(3, 2, 8);
    rig.end_packet();
    const bool all = mode == Mode::touched;
    CHECK(rig.kinds() == (all ? "snapshot. snapshot." : ""));
    CHECK(rig.publisher.counters().suppressed == (all ? 0U : 2U));
    rig.out.remove(3, 1, 9);  // an empty book is a change
    rig.end_packet();
    const auto last = rig.records();
    REQUIRE(last.size() == 1);
    CHECK(last[0].bid_levels == 0);
    CHECK(last[0].bid_price == ring::no_price);
    CHECK(rig.publisher.counters().snapshots == (all ? 4U : 2U));
}

TEST_CASE("publish: a packet's events come at their place, its snapshots by first touch") {
    PublishRig rig;
    rig.out.name(1, "ONE", 4, true);
    rig.out.name(2, "TWO", 4, true);
    rig.add(2, 'B', 1000, 10);
    rig.add(1, 'S', 2000, 10);
    rig.end_packet();
    auto found = rig.records();
    REQUIRE(found.size() == 2);
    CHECK(rig.reader.symbol(found[0].instrument).view() == "TWO");
    CHECK(rig.reader.symbol(found[1].instrument).view() == "ONE");
    CHECK((!found[0].last_of_packet() && found[1].last_of_packet()));
    CHECK((found[0].packet == 0 && found[0].feed_sequence == 100 && found[0].line == 1));

    rig.out.execute(1, 2, 4, 55, book::update_flag::printable, 0, 9);
    rig.out.event(book::EventKind::trade, 'P', 2, 9).quantity = 3;
    rig.out.remove(2, 1, 9);
    rig.end_packet();
    CHECK(rig.kinds() == "trade trade snapshot snapshot.");
    rig.out.event(book::EventKind::system, 'S', book::no_instrument, 9).value = 'M';
    rig.end_packet();
    CHECK(rig.kinds() == "system.");
    rig.end_packet();  // of nothing that is published
    CHECK(rig.kinds().empty());
}

TEST_CASE(
    "publish: the last record of a packet is flagged also where a later snapshot is not sent") {
    PublishRig rig(Mode::changed, 1);
    rig.out.name(1, "ONE", 4, true);
    rig.out.name(2, "TWO", 4, true);
    rig.add(1, 'B', 1000, 10);
    rig.add(2, 'B', 1000, 10);
    rig.end_packet();
    CHECK(rig.kinds() == "snapshot snapshot.");
    rig.add(1, 'B', 1100, 10);
    rig.add(2, 'B', 900, 10);
    rig.end_packet();
    CHECK(rig.kinds() == "snapshot.");
    rig.out.event(book::EventKind::trade, 'P', 1, 9).quantity = 3;
    rig.add(2, 'B', 900, 10);
    rig.end_packet();
    CHECK(rig.kinds() == "trade.");
}

TEST_CASE("publish: prices are in 1e-9 whatever the venue's places") {
    PublishRig rig;
    rig.out.name(1, "CENTS", 4, true);
    rig.out.name(2, "YEN", 0, true);
    rig.out.name(3, "FINE", 9, true);
    rig.add(1, 'B', 1'234'500, 1);
    rig.add(2, 'B', 1'500, 1);
    rig.add(3, 'B', 17, 1);
    rig.end_packet();
    auto found = rig.records();
    REQUIRE(found.size() == 3);
    CHECK(found[0].bid_price == 123'450'000'000);
    CHECK(found[1].bid_price == 1'500'000'000'000);
    CHECK(found[2].bid_price == 17);
    CHECK(rig.reader.identity(found[1].instrument)->price_places == 0);
}

TEST_CASE("publish: a price that the ring cannot express is left out, said and counted") {
    PublishRig rig;
    constexpr std::int64_t too_high = 9'223'372'037;
    rig.out.name(2, "YEN", 0, true);
    rig.add(2, 'B', 1'500, 7);
    rig.add(2, 'S', too_high - 1, 3);
    rig.end_packet();
    auto found = rig.records();
    REQUIRE(found.size() == 1);
    CHECK(found[0].ask_price == 9'223'372'036'000'000'000);
    CHECK(found[0].quality == ring::Quality::good);

    rig.out.remove(book::no_instrument, 2, 8);
    rig.add(2, 'S', too_high, 3);
    rig.end_packet();
    found = rig.records();
    REQUIRE(found.size() == 1);
    CHECK(found[0].ask_price == ring::no_price);
    CHECK(found[0].ask_quantity == 0);
    CHECK(found[0].ask_orders == 0);
    CHECK(found[0].ask_levels == 1);
    CHECK(found[0].bid_price == 1'500'000'000'000);
    CHECK(found[0].quality == ring::Quality::stale);
    CHECK(rig.reader.status(0)->quality == ring::Quality::stale);

    rig.out.execute(book::no_instrument, 3, 1, 55, book::update_flag::printable, 0, 8);
    rig.end_packet();
    found = rig.records();
    REQUIRE(found.size() == 1);  // the snapshot looks as before
    CHECK(found[0].event<ring::TradeEvent>().price == ring::no_price);
    CHECK(rig.reader.statistics(0)->trades == 0);
    CHECK(rig.publisher.counters().unrepresentable == 2);

    rig.out.remove(book::no_instrument, 3, 9);
    rig.end_packet();
    found = rig.records();
    REQUIRE(found.size() == 1);
    CHECK(found[0].quality == ring::Quality::good);
    CHECK(rig.reader.status(0)->quality == ring::Quality::good);
}

TEST_CASE("publish: as many levels as the segment has, best first") {
    const std::uint32_t depth = GENERATE(1U, 5U, 10U, 20U);
    PublishRig rig(Mode::changed, depth);
    rig.out.name(1, "ACME", 4, true);
    for (std::int64_t i = 0; i < 25; ++i)
        rig.add(1, 'B', 1000 - i, static_cast<std::uint64_t>(i + 1));
    for (std::int64_t i = 0; i < 3; ++i) rig.add(1, 'S', 2000 + i, 7);
    rig.end_packet();
    const auto found = rig.records();
    REQUIRE(found.size() == 1);
    CHECK(found[0].bid_levels == depth);
    CHECK(found[0].ask_levels == std::min(depth, 3U));
    for (std::uint32_t i = 0; i < depth; ++i) {
        CHECK(found[0].bid(i) == ring::Level{(1000 - std::int64_t{i}) * 100'000, i + 1, 1, 0});
    }
    CHECK(found[0].ask(depth == 1 ? 0 : 2).quantity == 7);
    Record latest;
    REQUIRE(rig.reader.latest(found[0].instrument, latest) == ring::Latest::ok);
    CHECK(latest.bid(depth - 1) == found[0].bid(depth - 1));
}

TEST_CASE("publish: events carry what the feed said") {
    PublishRig rig;
    rig.publisher.set_time_offset(channel, 1'000'000);
    rig.out.name(1, "ACME", 4, true);
    auto& trade = rig.out.event(book::EventKind::trade, 'P', 1, 50);
    trade.price = 10'000;
    trade.quantity = 30;
    trade.id = 77;
    trade.flags = book::update_flag::printable;
    rig.out.event(book::EventKind::trade_break, 'B', 1, 51).id = 77;
    auto& status = rig.out.event(book::EventKind::status, 'H', 1, 52);
    status.value = 'H';
    std::copy_n("T1", 2, status.text.begin());
    auto& auction = rig.out.event(book::EventKind::auction, 'I', 1, 53);
    auction.price = 20'000;
    auction.quantity2 = 500;
    auction.value = 'S';
    rig.out.event(book::EventKind::directory, 'R', 1, 54).quantity = 100;
    rig.end_packet();
    const auto found = rig.records();
    REQUIRE(found.size() == 5);
    const auto sold = found[0].event<ring::TradeEvent>();
    CHECK((sold.price == 1'000'000'000 && sold.quantity == 30 && sold.match == 77));
    CHECK((sold.printable == 1 && sold.code == 'P'));
    CHECK(found[0].exchange_time_ns == 1'000'050);
    CHECK(found[1].event<ring::TradeBreakEvent>().match == 77);
    const auto halt = found[2].event<ring::StatusEvent>();
    CHECK((halt.status == ring::TradingStatus::halted && halt.value == 'H'));
    CHECK(std::string_view(halt.reason.data()) == "T1");
    const auto imbalance = found[3].event<ring::AuctionEvent>();
    CHECK((imbalance.reference_price == 2'000'000'000 && imbalance.imbalance_quantity == 500));
    CHECK(imbalance.imbalance_side == 'S');
    const auto directory = found[4].event<ring::DirectoryEvent>();
    CHECK((directory.round_lot == 100 && directory.price_places == 4));
    CHECK(std::string_view(directory.symbol.data()) == "ACME");
    const auto row = rig.reader.status(found[2].instrument);
    REQUIRE(row);
    CHECK((row->trading == ring::TradingStatus::halted && row->changed_ns == 1'000'052));
    rig.add(1, 'B', 1, 1);
    rig.end_packet();
    CHECK(rig.records()[0].status == ring::TradingStatus::halted);
}

TEST_CASE("publish: an execution tells the resting side, its price and whether it counts") {
    PublishRig rig;
    rig.out.name(1, "ACME", 4, true);
    rig.add(1, 'S', 10'000, 100);
    rig.end_packet();
    static_cast<void>(rig.records());
    rig.out.execute(1, 1, 40, 9, book::update_flag::has_price, 9'000, 60);
    rig.end_packet();
    const auto found = rig.records();
    REQUIRE(found.size() == 2);
    const auto trade = found[0].event<ring::TradeEvent>();
    CHECK((trade.price == 900'000'000 && trade.quantity == 40 && trade.match == 9));
    CHECK((trade.resting_side == ring::RecordSide::ask && trade.printable == 0));
    CHECK((found[1].ask_quantity == 60 && found[1].ask_price == 1'000'000'000));
}

TEST_CASE("publish: the channel's quality stands in its word before the event that says so") {
    PublishRig rig;
    CHECK(rig.reader.channel_quality(channel) == ring::Quality::not_ready);
    rig.publisher.quality(channel, ring::Quality::good);
    rig.publisher.gap(channel, 10, 15, 2);
    rig.publisher.quality(channel, ring::Quality::stale);
    const auto found = rig.records();
    REQUIRE(found.size() == 3);
    const auto good = found[0].event<ring::QualityEvent>();
    CHECK((good.before == ring::Quality::not_ready && good.after == ring::Quality::good));
    const auto gap = found[1].event<ring::GapEvent>();
    CHECK((gap.first == 10 && gap.last == 14 && gap.lines == 2));
    const auto stale = found[2].event<ring::QualityEvent>();
    CHECK((stale.before == ring::Quality::good && stale.after == ring::Quality::stale));
    CHECK((found[1].last_of_packet() && found[1].instrument == ring::no_instrument));
    CHECK(rig.reader.channel_quality(channel) == ring::Quality::stale);
    rig.out.name(1, "ACME", 4, true);
    rig.add(1, 'B', 1000, 10);
    rig.end_packet();
    const Record snapshot = rig.records().at(0);
    CHECK(snapshot.quality == ring::Quality::good);
    CHECK(rig.reader.quality(snapshot) == ring::Quality::stale);
}

TEST_CASE("publish: over a session change a symbol keeps its row, not ready until it has a book") {
    PublishRig rig;
    rig.out.name(1, "ONE", 4, true);
    rig.out.name(2, "TWO", 4, true);
    rig.add(1, 'B', 1000, 10);
    rig.add(2, 'B', 2000, 10);
    rig.end_packet();
    const auto before = rig.records();
    REQUIRE(before.size() == 2);

    rig.publisher.cleared(channel, true);
    rig.publisher.session(channel, {'N', 'E', 'W'}, 1);
    CHECK(rig.kinds() == "session.");
    for (const Record& record : before) {
        CHECK(rig.reader.status(record.instrument)->quality == ring::Quality::not_ready);
    }
    rig.out.everything(book::UpdateKind::new_session);
    rig.out.name(7, "ONE", 4, true);  // another locate today
    rig.add(7, 'B', 1000, 10);
    rig.end_packet();
    const auto after = rig.records();
    REQUIRE(after.size() == 1);  // also though the book is the same as before
    CHECK(after[0].instrument == before[0].instrument);
    CHECK(rig.reader.status(before[0].instrument)->quality == ring::Quality::good);
    CHECK(rig.reader.status(before[1].instrument)->quality == ring::Quality::not_ready);
    CHECK(rig.reader.instruments() == 2);
}

TEST_CASE("publish: after a clear the same book is published again") {
    PublishRig rig;
    rig.out.name(1, "ACME", 4, true);
    rig.out.level(1, book::Side::bid, 1000, 10, false, 7);
    rig.end_packet();
    rig.publisher.cleared(channel, false);
    rig.out.everything(book::UpdateKind::clear_books);
    rig.out.level(1, book::Side::bid, 1000, 10, false, 8);
    rig.end_packet();
    CHECK(rig.kinds() == "snapshot. snapshot.");
}

TEST_CASE("publish: two instruments of one session never share a row") {
    PublishRig rig;
    const auto directory = [&](std::uint32_t instrument, std::string_view symbol) {
        rig.out.name(instrument, symbol, 4, true);
        rig.out.event(book::EventKind::directory, 'R', instrument, 1).quantity = 100;
    };
    directory(1, "OLD");
    rig.add(1, 'B', 1000, 10);
    directory(1, "NEW");
    directory(2, "OLD");
    rig.add(2, 'B', 2000, 20);
    directory(3, "NEW");  // and two of the same name
    rig.end_packet();
    CHECK(rig.reader.instruments() == 3);
    CHECK(rig.reader.symbol(0).view() == "NEW");
    CHECK(rig.reader.symbol(1).view() == "OLD");
    CHECK(rig.reader.symbol(2).view() == "NEW");
    Record latest;
    REQUIRE(rig.reader.latest(0, latest) == ring::Latest::ok);
    CHECK(latest.bid_quantity == 10);
    REQUIRE(rig.reader.latest(1, latest) == ring::Latest::ok);
    CHECK(latest.bid_quantity == 20);
}

TEST_CASE("publish: what finds no room in the segment's tables is counted and left out") {
    PublishRig rig(Mode::changed, 5, 2);
    for (std::uint32_t i = 0; i < 4; ++i) {
        rig.out.name(i, "SYM" + std::to_string(i), 4, true);
        rig.add(i, 'B', 1000, 10);
    }
    rig.end_packet();
    CHECK(rig.kinds() == "snapshot snapshot.");
    rig.out.event(book::EventKind::trade, 'P', 3, 9).quantity = 1;
    rig.end_packet();
    CHECK(rig.kinds().empty());
    CHECK(rig.publisher.counters().no_instrument == 3);
    CHECK(rig.publisher.counters().snapshots == 2);
    rig.publisher.quality(9, ring::Quality::good);  // a channel beyond the segment's words
    CHECK(rig.publisher.counters().no_channel == 1);
    CHECK(rig.kinds().empty());
}

TEST_CASE("publish: the order stream comes in feed order, behind the trade, before the snapshot") {
    PublishRig rig(Mode::changed, 5, 16, ring::stream_flag::orders);
    (void)rig.kinds();
    rig.add(3, 'B', 1'000'000, 300);
    rig.add(3, 'B', 1'000'000, 200);
    rig.end_packet();
    const std::vector<Record> added = rig.records();
    REQUIRE(added.size() == 3);
    const auto second = added[1].event<ring::OrderEvent>();
    CHECK(second.action == ring::OrderAction::add);
    CHECK(second.side == ring::RecordSide::bid);
    CHECK(second.price == 1'000'000'000'000'000);  // no name told its places: whole units
    CHECK(second.order_id == 2);
    CHECK(second.quantity == 200);
    CHECK(second.left == 200);
    CHECK(second.orders_ahead == 1);
    CHECK(second.quantity_ahead == 300);
    CHECK(added[1].instrument == added[2].instrument);
    CHECK(added[2].kind == RecordKind::snapshot);
    rig.out.execute(3, 1, 300, 77, 0, 0, 8);
    rig.end_packet();
    CHECK(rig.publisher.counters().orders == 3);
    CHECK(rig.kinds() == "trade order snapshot.");
}
