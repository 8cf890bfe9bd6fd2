// Which channel takes a packet where a configuration, an input or a protocol decides it, and what
// the handlers of the four feeds make of their own sessions, groups and symbols.
#include <sys/resource.h>
#include <catch2/catch.hpp>

#include "feed_rig.hpp"

using namespace wirebook;
using namespace wirebook::feed::testing;
using Lines = std::vector<std::string>;

namespace {

feed::ChannelOptions configured(std::string name, wire::Protocol protocol,
                                std::initializer_list<unsigned> groups) {
    feed::ChannelOptions options = small_pipeline().unknown;
    options.name = std::move(name);
    options.protocol = protocol;
    for (const unsigned group : groups) options.lines.push_back(line_of(group));
    return options;
}

feed::PipelineOptions one_configured(wire::Protocol protocol) {
    auto options = small_pipeline();
    options.open_unknown = false;
    options.channels.push_back(configured("mine", protocol, {1, 2}));
    return options;
}

Buffer level(char side, std::string_view symbol, std::uint32_t size, std::int64_t price_e4,
             bool complete = true) {
    wire::iex::PriceLevelBuy m{};
    m.type = side == 'B' ? wire::iex::PriceLevelBuy::message_type
                         : wire::iex::PriceLevelSell::message_type;
    m.event_flags = complete ? 1 : 0;
    put(m.symbol, symbol);
    m.size.set(size);
    m.price_e4.set(price_e4);
    return bytes_of(m);
}
Buffer quote(std::string_view symbol, std::uint32_t bid_size, std::int64_t bid_e4) {
    wire::iex::QuoteUpdate m{};
    m.type = wire::iex::QuoteUpdate::message_type;
    put(m.symbol, symbol);
    m.bid_size.set(bid_size);
    m.bid_price_e4.set(bid_e4);
    return bytes_of(m);
}

namespace jnx {
Buffer seconds(std::uint32_t seconds) {
    wire::itch_jnx::Seconds m{};
    m.type = 'T';
    m.seconds.set(seconds);
    return bytes_of(m);
}
Buffer add(std::uint64_t number, std::uint32_t id, std::string_view group, char side = 'B') {
    wire::itch_jnx::AddOrder m{};
    m.type = 'A';
    m.ns.set(5);
    m.order_number.set(number);
    m.side = static_cast<unsigned char>(side);
    m.qty.set(100);
    m.orderbook_id.set(id);
    put(m.group, group);
    m.price.set(1000);
    return bytes_of(m);
}
Buffer state(std::uint32_t id, std::string_view group, char value) {
    wire::itch_jnx::TradingState m{};
    m.type = 'H';
    m.ns.set(7);
    m.orderbook_id.set(id);
    put(m.group, group);
    m.state = static_cast<unsigned char>(value);
    return bytes_of(m);
}
Buffer system(std::string_view group, char code) {
    wire::itch_jnx::SystemEvent m{};
    m.type = 'S';
    put(m.group, group);
    m.event = static_cast<unsigned char>(code);
    return bytes_of(m);
}
}  // namespace jnx

}  // namespace

TEST_CASE("feed: a configured channel takes its groups only, whatever sessions they carry") {
    Rig rig(one_configured(wire::Protocol::itch50));
    rig.send(1, mold({"ONE", 1}, {itch::add(1, 1, 'B', 100, 1000)}));
    rig.send(2, mold({"ONE", 2}, {itch::add(1, 2, 'B', 100, 1000)}));
    rig.send(3, mold({"ONE", 3}, {itch::add(1, 3, 'B', 100, 1000)}));
    rig.send(3, Buffer(7));  // of nobody: not looked at
    rig.send(1, Buffer(7));
    rig.send(1, mold({"ONE", 3, 5}, {itch::add(1, 3, 'B', 100, 1000)}));
    CHECK(rig.take({"channel", "end"}) ==
          Lines{"channel 0 mine", "end 0 n0 s1 l0", "end 0 n1 s2 l1"});
    CHECK(rig.counters().no_channel == 2);
    CHECK(rig.counters().malformed == 2);
    CHECK(rig.pipeline->channels().size() == 1);
}

TEST_CASE("feed: a configured IEX channel knows its group, protocol and version") {
    Rig rig(one_configured(wire::Protocol::iex_deep));
    rig.send(1, iex({.sequence = 1}, {level('B', "ACME", 100, 1000)}));
    rig.send(2, iex({.sequence = 2}, {level('B', "ACME", 200, 1000)}));
    rig.send(1, iex({.protocol = wire::iex_tp::protocol_tops_1_6}, {quote("ACME", 1, 1)}));
    rig.send(1, iex({.sequence = 3, .version = 2}, {level('B', "ACME", 300, 1000)}));
    rig.send(3, iex({.sequence = 3}, {level('B', "ACME", 300, 1000)}));
    CHECK(rig.take({"touched"}) ==
          Lines{"touched 0 ACME 100@1000(0) -", "touched 0 ACME 200@1000(0) -"});
    CHECK(rig.counters().no_channel == 3);
    CHECK(rig.counters().malformed == 0);
    rig.send(1, Buffer(10));
    CHECK(rig.counters().malformed == 1);
}

TEST_CASE("feed: IEX goes by its protocol id, and each channel of it by its own") {
    Rig rig;
    rig.send(1, iex({.protocol = wire::iex_tp::protocol_tops_1_6}, {quote("ACME", 100, 1000)}));
    rig.send(1, iex({.protocol = wire::iex_tp::protocol_deep_1_0}, {level('B', "ACME", 5, 900)}));
    rig.send(1, iex({.protocol = wire::iex_tp::protocol_deep_plus_1_0}, {level('B', "X", 5, 900)}));
    rig.send(1, iex({.channel = 2}, {level('S', "ACME", 7, 1100)}));
    CHECK(rig.take({"touched"}) == Lines{"touched 0 ACME 100@1000(0) -",
                                         "touched 1 ACME 5@900(0) -",
                                         "touched 2 ACME - 7@1100(0)"});
    CHECK(rig.counters().no_channel == 1);
    CHECK(rig.pipeline->channels()[0]->protocol() == wire::Protocol::iex_tops);
    CHECK(rig.pipeline->channels()[1]->protocol() == wire::Protocol::iex_deep);
}

TEST_CASE("feed: with a feed named, IEX of another version or protocol has no channel") {
    auto options = small_pipeline();
    options.feed = wire::Protocol::iex_deep;
    Rig rig(std::move(options));
    rig.send(1, iex({.version = 2}, {level('B', "ACME", 5, 900)}));
    rig.send(1, iex({.protocol = wire::iex_tp::protocol_tops_1_6}, {quote("ACME", 1, 1)}));
    rig.send(1, iex({.protocol = 0x0001}, {quote("ACME", 1, 1)}));
    CHECK(rig.take({"channel"}).empty());
    CHECK(rig.counters().no_channel == 3);
}

TEST_CASE("feed: DEEP clears its books after a given-up hole, TOPS keeps them") {
    Rig rig;
    const auto tops = wire::iex_tp::protocol_tops_1_6;
    rig.send(1, iex({}, {level('B', "ACME", 5, 900), level('S', "OPEN", 1, 1, false)}));
    rig.send(2, iex({.protocol = tops}, {quote("ACME", 100, 1000)}));
    rig.send(1, iex({.sequence = 5}));
    rig.send(2, iex({.protocol = tops, .sequence = 5}));
    rig.pipeline->finish();
    // Neither a clear nor the event that it closes shows a book.
    CHECK(rig.take({"touched", "gap"}) == Lines{"touched 0 ACME 5@900(0) -",
                                                "touched 1 ACME 100@1000(0) -", "gap 0 3..5",
                                                "gap 1 2..5"});
    CHECK(!rig.pipeline->channels()[0]->books().best(0, book::Side::bid));
    CHECK(!rig.pipeline->channels()[0]->books().event_open(1));
    CHECK(rig.pipeline->channels()[1]->books().best(0, book::Side::bid));
}

TEST_CASE("feed: the same group in two inputs is two lines of one channel where files are lines") {
    auto options = small_pipeline();
    options.inputs_are_lines = true;
    Rig rig(std::move(options));
    rig.send(1, mold({"ONE", 1}, {itch::add(1, 1, 'B', 100, 1000)}), 0, 0);
    // The other line is ahead, in a session that the first has not shown yet.
    rig.send(1, mold({"TWO", 1}, {itch::add(1, 1, 'B', 200, 1000)}), 0, 1);
    rig.send(1, mold({"TWO", 2}, {itch::add(1, 2, 'B', 300, 1000)}), 0, 0);
    CHECK(rig.take({"channel", "end"}) == Lines{"channel 0 233.54.12.1:20001", "end 0 n0 s1 l0",
                                                "end 0 n1 s1 l1", "end 0 n2 s2 l0"});
    CHECK(rig.sequence().sessions == 2);
}

TEST_CASE("feed: more groups than there can be channels are dropped and counted", "[big]") {
    Rig rig;
    const std::size_t limit = feed::ChannelMap::channel_limit;
    for (std::size_t i = 0; i < limit + 10; ++i) {
        const std::string session = "S" + std::to_string(i);
        Buffer frame = frame_to(1, mold({session, 1}, {itch::participant(1)}));
        frame[14 + 18] = static_cast<std::byte>(i >> 8);  // the third byte of the group
        frame[14 + 19] = static_cast<std::byte>(i);
        rig.send_frame(frame);
    }
    CHECK(rig.take({"channel"}).size() == limit);
    CHECK(rig.counters().no_channel == 10);
}

TEST_CASE("feed: groups of one session beyond the limit of routes are dropped and counted") {
    Rig rig;
    const std::size_t limit = feed::ChannelMap::route_limit;
    for (std::size_t i = 0; i < limit + 10; ++i) {
        Buffer frame = frame_to(1, mold({"ONE", i + 1}, {itch::participant(1)}));
        frame[14 + 18] = static_cast<std::byte>(i >> 8);
        frame[14 + 19] = static_cast<std::byte>(i);
        rig.send_frame(frame);
    }
    CHECK(rig.take({"channel"}).size() == 1);
    CHECK(rig.counters().no_channel == 10);
    CHECK(rig.counters().messages == limit);
}

TEST_CASE("feed: more BinaryFILEs than there can be channels are dropped and counted", "[big]") {
    Rig rig;
    const std::size_t limit = feed::ChannelMap::channel_limit;
    const Buffer message = itch::participant(1);
    for (std::size_t i = 0; i < limit + 10; ++i) {
        wire::Packet packet = wire::testing::packet_of(message, wire::LinkType::binaryfile);
        packet.input = static_cast<std::uint16_t>(i);
        CHECK(rig.pipeline->on_packet(packet) == feed::Kept::no);
    }
    CHECK(rig.take({"channel"}).size() == limit);
    CHECK(rig.counters().no_channel == 10);
}

TEST_CASE("feed: a BinaryFILE goes to the only ITCH channel where all channels name groups") {
    const Buffer message = itch::directory(1, "ACME");
    const auto packet = [&](std::uint16_t input) {
        wire::Packet made = wire::testing::packet_of(message, wire::LinkType::binaryfile);
        made.input = input;
        return made;
    };
    auto options = one_configured(wire::Protocol::itch50);
    options.channels.push_back(configured("deep", wire::Protocol::iex_deep, {9}));
    options.channels[0].filter = feed::SymbolFilter({"OTHER"});
    Rig rig(options);
    CHECK(rig.pipeline->on_packet(packet(0)) == feed::Kept::no);
    CHECK(rig.pipeline->on_packet(packet(1)) == feed::Kept::no);  // with books of its own
    rig.pipeline->flush();
    CHECK(rig.take({"channel"}) == Lines{"channel 0 mine", "channel 1 deep", "channel 2 mine"});
    CHECK(rig.counters().messages == 2);
    for (const std::size_t channel : {0U, 2U}) {
        const book::BookSet& books = rig.pipeline->channels()[channel]->books();
        CHECK(books.symbol(1) == "ACME");
        CHECK_FALSE(books.followed(1));
    }
    options.channels[1].protocol = wire::Protocol::itch_jnx;  // two that it might be of
    Rig unclear(options);
    CHECK(unclear.pipeline->on_packet(packet(0)) == feed::Kept::no);
    CHECK(unclear.counters().no_channel == 1);
}

// Page faults of this process so far that needed no disk.
long faults() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

TEST_CASE("feed: a channel that was prepared opens with its memory, and as it would without") {
    auto options = small_pipeline();
    options.unknown.books.order_pages = 16;
    options.unknown.books.live_orders = 100'000;
    options.unknown.prefault = feed::Prefault::if_roomy;
    std::vector<std::vector<std::string>> logs;
    std::vector<long> taken;
    for (const bool prepared : {false, true}) {
        Rig rig(options);
        const Buffer first = mold({"ONE", 1}, {itch::add(1, 1, 'B', 100, 1000)});
        const Buffer frame = frame_to(1, first);
        if (prepared) {
            for (int i = 0; i < 2; ++i) {  // the second time it is there already
                rig.pipeline->prepare(wire::testing::packet_of(frame));
            }
        }
        CHECK(rig.recorder.log.empty());
        CHECK(rig.counters().packets == 0);
        const long before = faults();
        rig.send(1, first);
        rig.send(2, mold({"ONE", 2}, {itch::add(1, 2, 'B', 100, 1000)}));
        taken.push_back(faults() - before);
        rig.send(3, mold({"TWO", 1}, {itch::add(1, 1, 'S', 100, 1000)}));
        logs.push_back(rig.recorder.log);
        check_pipeline(*rig.pipeline);
    }
    CHECK(logs[0] == logs[1]);
    INFO(taken[0] << " faults, prepared " << taken[1]);
    CHECK(taken[1] * 10 < taken[0]);
}

TEST_CASE("feed: a symbol with a NUL in it stays whole") {
    Rig rig;
    const std::string_view odd("A\0B", 3);
    rig.send(1, mold({"ONE", 1}, {itch::directory(1, odd), itch::add(1, 1, 'B', 100, 1000, odd)}));
    rig.pipeline->flush();
    CHECK(rig.pipeline->channels()[0]->books().symbol(1) == odd);
}

TEST_CASE("feed: orders of symbols that are not listed are followed for their references only") {
    auto options = small_pipeline();
    options.unknown.filter = feed::SymbolFilter({"ACME"});
    Rig rig(std::move(options));
    rig.send(1, mold({"ONE", 1},
                     {itch::directory(1, "ACME"), itch::directory(2, "OTHER"),
                      itch::add(2, 1, 'B', 100, 1000, "OTHER"), itch::execute(2, 1, 10),
                      itch::replace(2, 1, 2, 50, 1100), itch::remove(2, 1), itch::remove(2, 2),
                      itch::add(2, 3, 'B', 0, 1000, "OTHER"), itch::add(1, 4, 'S', 5, 2000)}));
    CHECK(rig.take({"touched", "execution"}) == Lines{"touched 0 ACME - 5@2000(1)"});
    const book::BookCounters& counters = rig.pipeline->channels()[0]->books().counters();
    CHECK(counters.unknown_orders == 0);
    CHECK(counters.bad_orders == 0);
    CHECK(rig.pipeline->channels()[0]->books().live_orders() == 1);
}

TEST_CASE("feed: JNX tells instruments by id and group, and seconds until the next T") {
    auto options = small_pipeline();
    options.feed = wire::Protocol::itch_jnx;
    Rig rig(std::move(options));
    constexpr std::uint32_t text_id = 0x36373938;  // "6798"
    rig.send(1, mold({"ONE", 1}, {jnx::add(1, text_id, "DAY"), jnx::add(2, text_id, "NGHT"),
                                  jnx::add(3, 1301, "DAY")}));
    CHECK(rig.take({"touched"}) == Lines{"touched 0 6798.DAY 100@1000(1) -",
                                         "touched 0 6798.NGHT 100@1000(1) -",
                                         "touched 0 1301.DAY 100@1000(1) -"});
    const book::BookSet& books = rig.pipeline->channels()[0]->books();
    CHECK(books.last_touch_time_ns(0) == 5);
    rig.send(1, mold({"ONE", 4}, {jnx::seconds(34'200), jnx::state(text_id, "DAY", 'T')}));
    CHECK(rig.take({"event"}) == Lines{"event 0 H 6798.DAY"});
    CHECK(rig.recorder.last_event_time_ns == 34'200'000'000'007);

    // Each group has hours of its own.
    CHECK(!books.trades_continuously(0));
    rig.send(1, mold({"ONE", 6}, {jnx::system("NGHT", 'Q')}));
    CHECK((rig.take({"event"}).size() == 1 && !books.trades_continuously(0)));
    rig.send(1, mold({"ONE", 7}, {jnx::system("DAY", 'Q'), jnx::add(4, text_id, "DAY", 'S')}));
    static_cast<void>(rig.take({}));
    CHECK(books.trades_continuously(0));
    CHECK(books.last_touch_time_ns(0) == 34'200'000'000'005);

    // A hole keeps the seconds, a new session forgets them.
    rig.send(1, mold({"ONE", 20}, {jnx::state(text_id, "DAY", 'V')}));
    rig.pipeline->finish();
    CHECK(rig.recorder.last_event_time_ns == 34'200'000'000'007);
    rig.send(1, mold({"TWO", 1}, {jnx::state(text_id, "DAY", 'T')}));
    static_cast<void>(rig.take({}));
    CHECK(rig.recorder.last_event_time_ns == 7);
    CHECK(!books.trades_continuously(0));
}
