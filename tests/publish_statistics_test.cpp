// What stands in the rows of a segment for late joiners: trades, breaks, auctions, status. Messages
// go in as they are on the wire; a reader tells what it finds.
#include <catch2/catch.hpp>
#include <deque>

#include "feed_rig.hpp"
#include "ring_fixture.hpp"
#include "wirebook/publish/publisher.hpp"

using namespace wirebook;
using feed::testing::Buffer;
using feed::testing::bytes_of;
namespace flag = ring::statistics_flag;

namespace {

constexpr std::int64_t e5 = 100'000;  // a price of four places in 1e-9

// Forwards everything to a publisher.
struct Forward {
    publish::Publisher publisher;

    [[nodiscard]] bool wants_messages() const noexcept { return false; }
    void on_channel(const feed::Channel&) noexcept {}
    void on_message(const feed::Channel&, std::uint64_t, wire::Bytes) noexcept {}
    void on_event(const feed::Channel& c, const book::Event& event,
                  const book::PacketEnd& end) noexcept {
        publisher.event(c.books(), event, end);
    }
    void on_execution(const feed::Channel& c, const book::Execution& execution,
                      const book::PacketEnd& end) noexcept {
        publisher.execution(c.books(), execution, end);
    }
    void on_touched(const feed::Channel& c, std::uint32_t i, const book::PacketEnd& end) noexcept {
        publisher.touched(c.books(), i, end);
    }
    void on_packet_end(const feed::Channel&, const book::PacketEnd&) noexcept {
        publisher.packet_end();
    }
    void on_session(const feed::Channel& c, const wire::SessionKey& key, std::uint64_t sequence,
                    bool first, std::uint64_t) noexcept {
        if (!first) publisher.cleared(c.index(), true);
        publisher.session(c.index(), key, sequence);
    }
    void on_gap(const feed::Channel& c, std::uint64_t first, std::uint64_t end,
                std::uint64_t) noexcept {
        publisher.gap(c.index(), first, end, c.lines());
    }
    void on_quality(const feed::Channel& c, std::uint64_t) noexcept {
        publisher.quality(c.index(), static_cast<ring::Quality>(c.quality()));
    }
};

class PublishRig {
public:
    PublishRig()
        : forward_{{test::must_create(test::small_segment(folder_.path())),
                    publish::Mode::changed}},
          pipeline_(feed::testing::small_pipeline(), forward_),
          reader(test::must_attach(folder_.path())) {
        REQUIRE(pipeline_.open().ok());
    }
    // One MoldUDP64 packet of group 1 with these messages.
    void itch(const std::vector<Buffer>& messages) {
        send(feed::testing::mold({session, next_}, messages));
        next_ += messages.size();
    }
    void iex(const std::vector<Buffer>& messages) {
        send(feed::testing::iex({.sequence = next_}, messages));
        next_ += messages.size();
    }
    void skip(std::uint64_t messages) { next_ += messages; }
    void new_session(std::string_view name) { session = name, next_ = 1; }
    [[nodiscard]] ring::TradeStatistics statistics(std::string_view symbol = "ACME") const {
        return reader.statistics(reader.find(symbol).value()).value();
    }
    [[nodiscard]] ring::AuctionState auction(std::string_view symbol = "ACME") const {
        return reader.auction(reader.find(symbol).value()).value();
    }
    [[nodiscard]] const publish::PublisherCounters& counters() const {
        return forward_.publisher.counters();
    }
    void finish() { pipeline_.finish(); }

private:
    test::TemporaryFolder folder_;
    Forward forward_;
    feed::Pipeline<Forward> pipeline_;
    std::deque<Buffer> frames_;
    std::uint64_t next_ = 1;

    void send(const Buffer& payload) {
        frames_.push_back(feed::testing::frame_to(1, payload));
        wire::Packet packet = wire::testing::packet_of(frames_.back());
        static_cast<void>(pipeline_.on_packet(packet));
        pipeline_.flush();
    }

public:
    std::string session = "ONE";
    ring::Reader reader;
};

namespace itch {
using namespace feed::testing::itch;

Buffer executed(std::uint64_t reference, std::uint32_t shares, std::uint64_t match) {
    auto m = start<wire::itch50::OrderExecuted>(1);
    m.order_ref.set(reference);
    m.executed_shares.set(shares);
    m.match_number.set(match);
    return bytes_of(m);
}
Buffer executed_at(std::uint64_t reference, std::uint32_t shares, std::uint64_t match,
                   char printable, std::uint32_t price_e4) {
    auto m = start<wire::itch50::OrderExecutedWithPrice>(1);
    m.order_ref.set(reference);
    m.executed_shares.set(shares);
    m.match_number.set(match);
    m.printable = static_cast<unsigned char>(printable);
    m.execution_price_e4.set(price_e4);
    return bytes_of(m);
}
Buffer hidden(std::uint32_t shares, std::uint32_t price_e4, std::uint64_t match) {
    auto m = start<wire::itch50::Trade>(1);
    m.shares.set(shares);
    m.price_e4.set(price_e4);
    m.match_number.set(match);
    return bytes_of(m);
}
Buffer cross(std::uint64_t shares, std::uint32_t price_e4, std::uint64_t match) {
    auto m = start<wire::itch50::CrossTrade>(1);
    m.shares.set(shares);
    m.cross_price_e4.set(price_e4);
    m.match_number.set(match);
    m.cross_type = 'O';
    return bytes_of(m);
}
Buffer broken(std::uint64_t match) {
    auto m = start<wire::itch50::BrokenTrade>(1);
    m.match_number.set(match);
    return bytes_of(m);
}
// ACME's directory entry and an order of 1000 to sell at 10.
std::vector<Buffer> begin() {
    return {directory(1, "ACME"), add(1, 1, 'S', 1000, 100'000)};
}
}  // namespace itch

}  // namespace

TEST_CASE("publish: trades count as the feed says: E, P and Q do, C does when it is printable") {
    PublishRig rig;
    rig.itch(itch::begin());
    CHECK(rig.statistics().trades == 0);
    CHECK(rig.statistics().last_price == ring::no_price);
    rig.itch({itch::executed(1, 100, 11)});  // at the order's price
    CHECK(rig.statistics().last_price == 100'000 * e5);
    rig.itch({itch::executed_at(1, 50, 12, 'Y', 99'000)});
    rig.itch({itch::executed_at(1, 25, 13, 'N', 50'000)});  // part of a bulk print
    rig.itch({itch::hidden(10, 101'000, 14)});
    rig.itch({itch::cross(0, 0, 15)});  // nothing matched
    rig.itch({itch::cross(5000, 100'500, 16)});
    rig.itch({itch::executed(99, 7, 17)});  // of an unknown order: no price
    const ring::TradeStatistics s = rig.statistics();
    CHECK(s.trades == 4);
    CHECK(s.volume == 100 + 50 + 10 + 5000);
    CHECK(s.open_price == 100'000 * e5);
    CHECK(s.last_price == 100'500 * e5);
    CHECK(s.last_quantity == 5000);
    CHECK(s.last_match == 16);
    CHECK(s.high_price == 101'000 * e5);
    CHECK(s.low_price == 99'000 * e5);
    CHECK(s.last_ns == 34'200'000'000'000);
    CHECK(s.flags == 0);
    const ring::AuctionState auction = rig.auction();
    CHECK(auction.official_price == 100'500 * e5);
    CHECK(auction.official_quantity == 5000);
    CHECK(auction.official_type == 'O');
}

TEST_CASE("publish: a broken trade leaves count and volume, what it may have set is flagged") {
    PublishRig rig;
    rig.itch(itch::begin());
    rig.itch({itch::hidden(10, 100'000, 1), itch::hidden(20, 105'000, 2),
              itch::hidden(30, 95'000, 3), itch::hidden(40, 101'000, 4)});
    rig.itch({itch::broken(2)});
    CHECK(rig.statistics().trades == 3);
    CHECK(rig.statistics().volume == 80);
    CHECK(rig.statistics().high_price == 105'000 * e5);
    CHECK(rig.statistics().flags == flag::high_broken);
    rig.itch({itch::broken(4)});
    CHECK(rig.statistics().flags == (flag::high_broken | flag::last_broken));
    rig.itch({itch::hidden(1, 106'000, 5)});  // a new high, and a new last one
    CHECK(rig.statistics().flags == 0);
    rig.itch({itch::broken(1), itch::broken(3), itch::broken(5)});
    const ring::TradeStatistics none = rig.statistics();
    CHECK(none.trades == 0);
    CHECK(none.volume == 0);
    CHECK(none.last_price == ring::no_price);
    CHECK(none.high_price == ring::no_price);
    CHECK(none.flags == 0);
    CHECK(none.breaks == 5);
    CHECK(rig.counters().unknown_breaks == 0);
}

TEST_CASE("publish: a break of a trade that nobody knows stays counted and says so") {
    PublishRig rig;
    rig.itch(itch::begin());
    rig.itch({itch::hidden(10, 100'000, 1), itch::broken(8)});
    CHECK(rig.statistics().trades == 1);
    CHECK(rig.statistics().flags == flag::break_unknown);
    rig.itch({itch::broken(1), itch::broken(1)});  // the second finds it gone
    CHECK(rig.statistics().trades == 0);
    CHECK(rig.counters().unknown_breaks == 2);
}

TEST_CASE("publish: the break of a trade that did not count changes no number") {
    PublishRig rig;
    rig.itch(itch::begin());
    rig.itch({itch::executed(1, 10, 1), itch::executed_at(1, 5, 2, 'N', 90'000)});
    rig.itch({itch::broken(2)});
    CHECK(rig.statistics().trades == 1);
    CHECK(rig.statistics().volume == 10);
    CHECK(rig.statistics().flags == 0);
    CHECK(rig.statistics().breaks == 1);
}

TEST_CASE("publish: after as many matches as are remembered the oldest are forgotten") {
    publish::TradeKeeper keeper;
    keeper.grow(1);
    constexpr std::uint64_t far = 10 * publish::RecentMatches::sets * publish::RecentMatches::ways;
    for (std::uint64_t n = 1; n <= far; ++n)
        keeper.trade({.row = 0, .counts = true, .price = 1, .quantity = 1, .match = n}, n, false);
    CHECK(keeper.broken(0, 0, far, far) == 0);
    CHECK(keeper.of(0).trades == far - 1);
    CHECK(keeper.broken(0, 0, 1, far) == 0);
    CHECK(keeper.of(0).trades == far - 1);
    CHECK(keeper.unknown_breaks() == 1);
    CHECK(keeper.broken(ring::no_instrument, 0, 1, far) == ring::no_instrument);
    CHECK(keeper.broken(0, 7, far - 1, far) == 0);  // of another channel
    CHECK(keeper.unknown_breaks() == 3);
    keeper.forget_matches(0);
    CHECK(keeper.broken(0, 0, far - 1, far) == 0);
    CHECK(keeper.unknown_breaks() == 4);
}

TEST_CASE("publish: a late joiner counts on from the statistics without counting a trade twice") {
    PublishRig rig;
    rig.itch(itch::begin());
    std::uint64_t volume = 0;
    const auto read = [&] {
        ring::Record record;
        const std::uint64_t through = rig.statistics().through;
        volume = rig.statistics().volume;
        while (rig.reader.poll(record) == ring::Poll::record) {
            if (record.kind != ring::RecordKind::trade || record.from_table()) continue;
            if (record.sequence >= through) volume += record.event<ring::TradeEvent>().quantity;
        }
    };
    rig.itch({itch::hidden(10, 100'000, 1), itch::hidden(20, 100'000, 2)});
    read();
    CHECK(volume == 30);
    const ring::TradeStatistics joined = rig.statistics();
    rig.itch({itch::hidden(40, 100'000, 3)});
    ring::Record record;
    while (rig.reader.poll(record) == ring::Poll::record) {
        if (record.kind == ring::RecordKind::trade) CHECK(record.sequence >= joined.through);
    }
}

TEST_CASE("publish: lost messages and a start in the middle make statistics incomplete") {
    PublishRig rig;
    rig.itch(itch::begin());
    rig.itch({itch::hidden(10, 100'000, 1)});
    CHECK(rig.statistics().flags == 0);
    rig.skip(3);
    rig.itch({itch::hidden(10, 100'000, 2)});
    rig.finish();  // gives the hole up
    CHECK(rig.statistics().trades == 2);
    CHECK(rig.statistics().flags == flag::incomplete);
}

TEST_CASE("publish: a new session starts statistics and auctions anew") {
    PublishRig rig;
    rig.itch(itch::begin());
    rig.itch({itch::cross(500, 100'000, 1)});
    CHECK(rig.auction().official_quantity == 500);
    rig.new_session("TWO");
    rig.itch({itch::directory(1, "ACME"), itch::broken(1)});
    CHECK(rig.statistics().trades == 0);
    CHECK(rig.statistics().breaks == 1);
    CHECK(rig.statistics().flags == flag::break_unknown);
    CHECK(rig.auction().official_ns == 0);
    CHECK(rig.auction().official_price == ring::no_price);
}

TEST_CASE(
    "publish: Nasdaq's imbalance, collar, IPO and directory stand in the row and on the ring") {
    PublishRig rig;
    auto r = itch::start<wire::itch50::StockDirectory>(1);
    feed::testing::put(r.stock, "ACME");
    r.round_lot_size.set(10);
    r.authenticity = 'T';
    r.market_category = 'Q';
    r.financial_status = 'N';
    r.luld_tier = '2';
    r.etp_flag = 'Y';
    auto i = itch::start<wire::itch50::ImbalanceIndicator>(1);
    i.paired_shares.set(700);
    i.imbalance_shares.set(300);
    i.direction = 'B';
    i.near_price_e4.set(99'000);
    i.reference_price_e4.set(100'000);
    i.cross_type = 'C';
    i.price_variation = 'L';
    auto j = itch::start<wire::itch50::LuldAuctionCollar>(1);
    j.collar_reference_price_e4.set(100'000);
    j.upper_collar_e4.set(105'000);
    j.lower_collar_e4.set(95'000);
    j.extension_number.set(2);
    auto k = itch::start<wire::itch50::IpoQuotingPeriod>(1);
    k.release_time_s.set(36'000);
    k.qualifier = 'A';
    k.ipo_price_e4.set(200'000);
    rig.itch({bytes_of(r), bytes_of(i), bytes_of(j), bytes_of(k)});
    CHECK(rig.reader.identity(0)->round_lot == 10);
    const ring::AuctionState state = rig.auction();
    CHECK(state.reference_price == 100'000 * e5);
    CHECK(state.indicative_price == 99'000 * e5);
    CHECK(state.far_price == ring::no_price);  // 0 on the wire
    CHECK(state.paired_quantity == 700);
    CHECK(state.imbalance_quantity == 300);
    CHECK(state.imbalance_side == 'B');
    CHECK(state.cross_type == 'C');
    CHECK(state.variation == 'L');
    CHECK(state.collar_lower == 95'000 * e5);
    CHECK(state.collar_upper == 105'000 * e5);
    CHECK(state.extension == 2);
    CHECK(state.official_ns == 0);
    int seen = 0;
    ring::Record record;
    while (rig.reader.poll(record) == ring::Poll::record) {
        if (record.kind == ring::RecordKind::directory) {
            const auto directory = record.event<ring::DirectoryEvent>();
            CHECK(directory.round_lot == 10);
            CHECK(directory.authenticity == 'T');
            CHECK(directory.market_category == 'Q');
            CHECK(directory.luld_tier == '2');
            CHECK(directory.etp == 'Y');
            seen += 1;
        } else if (record.kind == ring::RecordKind::collar) {
            CHECK(record.event<ring::CollarEvent>().upper_price == 105'000 * e5);
            seen += 1;
        } else if (record.kind == ring::RecordKind::ipo) {
            CHECK(record.event<ring::IpoEvent>().release_ns == 36'000'000'000'000);
            CHECK(record.event<ring::IpoEvent>().qualifier == 'A');
            seen += 1;
        } else if (record.kind == ring::RecordKind::auction) {
            CHECK(record.event<ring::AuctionEvent>().variation == 'L');
            seen += 1;
        }
    }
    CHECK(seen == 4);
}

TEST_CASE("publish: the other states of an instrument leave its trading status alone") {
    PublishRig rig;
    auto h = itch::start<wire::itch50::StockTradingAction>(1);
    h.state = 'H';
    feed::testing::put(h.reason, "T1");
    auto y = itch::start<wire::itch50::RegShoRestriction>(1);
    y.action = '1';
    auto halt = itch::start<wire::itch50::OperationalHalt>(1);
    halt.market_code = 'Q';
    halt.action = 'H';
    rig.itch(itch::begin());
    rig.itch({bytes_of(h), bytes_of(y), bytes_of(halt)});
    const auto status = rig.reader.status(0).value();
    CHECK(status.trading == ring::TradingStatus::halted);
    CHECK(std::string_view(status.reason.data()) == "T1");
    CHECK(status.changed_ns == 34'200'000'000'000);
    CHECK(status.short_sale == '1');
    CHECK(status.operational_halt == 'H');
}

TEST_CASE(
    "publish: IEX trades count when they are eligible for last sale, breaks name them by id") {
    PublishRig rig;
    const auto report = [](auto m, unsigned char flags, std::uint32_t size, std::int64_t id) {
        m.type = decltype(m)::message_type;
        feed::testing::put(m.symbol, "ACME");
        m.sale_flags = flags;
        m.size.set(size);
        m.price_e4.set(100'000);
        m.trade_id.set(id);
        return bytes_of(m);
    };
    const wire::iex::TradeReport trade{};
    rig.iex({report(trade, 0x00, 100, 1), report(trade, 0x80, 200, 2),  // sweep: counts
             report(trade, 0x40, 300, 3),                               // extended hours
             report(trade, 0x20, 40, 4),                                // odd lot
             report(trade, 0x28, 50, 5)});                              // odd lot of a cross
    CHECK(rig.statistics().trades == 3);
    CHECK(rig.statistics().volume == 350);
    rig.iex({report(wire::iex::TradeBreak{}, 0x80, 200, 2)});
    CHECK(rig.statistics().trades == 2);
    CHECK(rig.statistics().volume == 150);
    auto a = wire::iex::AuctionInformation{};
    a.type = decltype(a)::message_type;
    a.auction_type = 'C';
    feed::testing::put(a.symbol, "ACME");
    a.scheduled_auction_time_s.set(1'700'000'000);
    a.lower_collar_e4.set(90'000);
    a.upper_collar_e4.set(110'000);
    a.extension_number = 1;
    a.auction_book_clearing_price_e4.set(99'000);
    auto x = wire::iex::OfficialPrice{};
    x.type = decltype(x)::message_type;
    x.price_type = 'M';
    feed::testing::put(x.symbol, "ACME");
    x.timestamp_ns.set(5);
    x.price_e4.set(101'000);
    rig.iex({bytes_of(a), bytes_of(x)});
    const ring::AuctionState state = rig.auction();
    CHECK(state.scheduled_s == 1'700'000'000);
    CHECK(state.collar_upper == 110'000 * e5);
    CHECK(state.extension == 1);
    CHECK(state.far_price == 99'000 * e5);
    CHECK(state.official_type == 'M');
    CHECK(state.official_price == 101'000 * e5);
}
