// sim: what the engine reports and a day brings, as ITCH 5.0 and DEEP 1.0. Every message is decoded
// back by the decoders; books built from a stream are the engine's, after each message.
#include <catch2/catch.hpp>
#include <regex>
#include <string>
#include <vector>

#include "wirebook/sim/deep_day.hpp"
#include "wirebook/sim/deep_encoder.hpp"
#include "wirebook/sim/itch_day.hpp"
#include "wirebook/sim/itch_encoder.hpp"
#include "wirebook/wire/fields.hpp"
#include "wirebook/wire/iex_decode.hpp"
#include "wirebook/wire/itch50.hpp"
#include "wirebook/wire/message_json.hpp"

namespace {

using namespace wirebook;
using namespace wirebook::sim;
using match::Report;
using match::ReportKind;
using match::Side;

constexpr std::int64_t midnight_ns = 1'796'101'200'000'000'000;  // 2026-12-01 in New York
constexpr std::int64_t time_ns = midnight_ns + 34'200'000'000'123;

struct AnyMessage {
    template <class M>
    void on(const M&) {
        ++messages;
    }
    int messages = 0;
};

// Checks each message and keeps it as text, "A stock_locate=7 tracking_number=1 ...".
class TextSink {
public:
    explicit TextSink(wire::Protocol protocol) : protocol_(protocol) {}

    void on_message(std::span<const std::byte> message, std::uint32_t instrument,
                    const TouchInfo& touch) {
        const auto type = std::to_integer<unsigned char>(message[0]);
        CHECK(message.size() == wire::minimum_length(protocol_, type));
        AnyMessage any;
        const auto status = protocol_ == wire::Protocol::itch50
                                ? wire::itch50::decode(message, any)
                                : wire::iex::decode_deep(message, any);
        CHECK(status == wire::DecodeStatus::ok);
        CHECK(any.messages == 1);
        std::string json;
        wire::append_message_json(json, protocol_, 0, message);
        json = std::regex_replace(json, std::regex("[{}\"\n]"), "");
        json = std::regex_replace(json, std::regex(", "), " ");
        json = std::regex_replace(json, std::regex(": "), "=");
        all.push_back(json.substr(std::string("seq=0 type=").size()));
        instruments.push_back(instrument);
        touches.push_back(touch);
    }
    [[nodiscard]] std::string last() const { return all.empty() ? "nothing" : all.back(); }

    std::vector<std::string> all;
    std::vector<std::uint32_t> instruments;
    std::vector<TouchInfo> touches;

private:
    wire::Protocol protocol_;
};

std::vector<FeedInstrument> two_instruments() {
    std::vector<FeedInstrument> instruments(2);
    instruments[0] = {padded<8>("ZVZZT"), 7, 100, 1};
    instruments[1] = {padded<8>("ABCDEFGH"), 65'535, 10, 100};
    return instruments;
}

struct ItchRig {
    TextSink sink{wire::Protocol::itch50};
    ItchContext context{{two_instruments(), midnight_ns, {{}, padded<4>("WBK")}}};
    ItchEncoder<TextSink> encoder{context, sink};
    ItchDay<TextSink> day{context, sink};
};
struct DeepRig {
    TextSink sink{wire::Protocol::iex_deep};
    DeepContext context{two_instruments()};
    DeepEncoder<TextSink> encoder{context, sink};
    DeepDay<TextSink> day{context, sink};
};

Report report_of(ReportKind kind, std::uint8_t flags = match::report_flag::displayed) {
    Report report;
    report.kind = kind;
    report.flags = flags;
    if (kind == ReportKind::accepted) report.flags = match::report_flag::answer;
    report.side = Side::ask;
    report.instrument = 0;
    report.reference = 0x0102030405060708;
    report.price = 4'000'000'000;
    report.quantity = 0x7FEEDDCC;
    report.match_number = 0x1112131415161718;
    report.time_ns = time_ns;
    return report;
}

}  // namespace

TEST_CASE("itch: a displayed order is told with its MPID where its participant has one") {
    ItchRig rig;
    rig.encoder.on_report(report_of(ReportKind::accepted));
    rig.encoder.on_report(report_of(ReportKind::added));
    CHECK(rig.sink.last() ==
          "A stock_locate=7 tracking_number=1 timestamp=34200000000123 "
          "order_ref=72623859790382856 side=S shares=2146360780 stock=ZVZZT price=4000000000");
    Report named =
        report_of(ReportKind::added, match::report_flag::displayed | match::report_flag::refill);
    named.participant = 1;
    named.side = Side::bid;
    named.instrument = 1;
    named.price = 12;
    rig.encoder.on_report(report_of(ReportKind::accepted));
    rig.encoder.on_report(named);
    CHECK(rig.sink.last() ==
          "F stock_locate=65535 tracking_number=2 timestamp=34200000000123 "
          "order_ref=72623859790382856 side=B shares=2146360780 stock=ABCDEFGH price=1200 "
          "attribution_mpid=WBK");
    CHECK(rig.sink.instruments == std::vector<std::uint32_t>{0, 1});
    CHECK(rig.sink.touches[1].touches);
    CHECK(rig.sink.touches[1].time_ns == 34'200'000'000'123);
}

TEST_CASE("itch: changes of a displayed order are E X D U C, of a hidden one P or nothing") {
    using namespace match::report_flag;
    ItchRig rig;
    const std::string header = " stock_locate=7 tracking_number=0 timestamp=34200000000123 ";
    const std::string order = "order_ref=72623859790382856";
    const std::string match = " match_number=1230066625199609624";
    const auto told = [&](const Report& report) {
        const std::size_t before = rig.sink.all.size();
        rig.encoder.on_report(report);
        return rig.sink.all.size() == before ? "nothing" : rig.sink.last();
    };
    CHECK(told(report_of(ReportKind::executed)) ==
          "E" + header + order + " executed_shares=2146360780" + match);
    CHECK(told(report_of(ReportKind::reduced)) ==
          "X" + header + order + " cancelled_shares=2146360780");
    CHECK(told(report_of(ReportKind::removed)) == "D" + header + order);
    Report replaced = report_of(ReportKind::replaced);
    replaced.new_reference = 5;
    CHECK(told(replaced) == "U" + header +
                                "original_ref=72623859790382856 new_ref=5 shares=2146360780 "
                                "price=4000000000");
    CHECK(told(report_of(ReportKind::executed, displayed | in_cross)) ==
          "C" + header + order + " executed_shares=2146360780" + match +
              " printable=N execution_price=4000000000");
    for (const TouchInfo& touch : rig.sink.touches) CHECK(touch.touches);
    CHECK(told(report_of(ReportKind::executed, 0)) ==
          "P" + header + "order_ref=0 side=B shares=2146360780 stock=ZVZZT price=4000000000" +
              match);
    CHECK_FALSE(rig.sink.touches.back().touches);
    CHECK(told(report_of(ReportKind::executed, in_cross)) == "nothing");
    for (const ReportKind kind :
         {ReportKind::added, ReportKind::reduced, ReportKind::removed, ReportKind::replaced,
          ReportKind::rejected, ReportKind::state_changed}) {
        CHECK(told(report_of(kind, 0)) == "nothing");
    }
}

TEST_CASE("itch: a cross is Q, also of nothing; an imbalance is I with its variation") {
    ItchRig rig;
    Report cross = report_of(ReportKind::crossed, 0);
    cross.cross = match::CrossKind::closing;
    cross.quantity = 5'000'000'000;
    rig.encoder.on_report(cross);
    CHECK(rig.sink.last() ==
          "Q stock_locate=7 tracking_number=0 timestamp=34200000000123 shares=5000000000 "
          "stock=ZVZZT cross_price=4000000000 match_number=1230066625199609624 cross_type=C");
    cross.quantity = 0;
    cross.price = 0;
    cross.cross = match::CrossKind::halt;
    rig.encoder.on_report(cross);
    CHECK(rig.sink.last().find("shares=0 stock=ZVZZT cross_price=0") != std::string::npos);
    CHECK(rig.sink.last().ends_with("cross_type=H"));

    Report imbalance = report_of(ReportKind::imbalance, 0);
    imbalance.price = 100'000;
    imbalance.near_price = 112'345;
    imbalance.far_price = 99'000;
    imbalance.quantity = 600;
    imbalance.imbalance = 300;
    imbalance.side = Side::ask;
    rig.encoder.on_report(imbalance);
    CHECK(rig.sink.last() ==
          "I stock_locate=7 tracking_number=0 timestamp=34200000000123 paired_shares=600 "
          "imbalance_shares=300 direction=S stock=ZVZZT far_price=99000 near_price=112345 "
          "reference_price=100000 cross_type=O price_variation=A");
    imbalance.imbalance = 0;
    rig.encoder.on_report(imbalance);
    CHECK(rig.sink.last().find("direction=N") != std::string::npos);
    imbalance.quantity = 0;
    imbalance.near_price = imbalance.far_price = 0;
    rig.encoder.on_report(imbalance);
    CHECK(rig.sink.last().find("direction=O") != std::string::npos);
    CHECK(rig.sink.last().ends_with("price_variation="));
    for (const TouchInfo& touch : rig.sink.touches) CHECK_FALSE(touch.touches);
}

TEST_CASE("itch: the near price's distance from the reference has the sheet's letters") {
    const auto letter = [](std::int64_t near) {
        return static_cast<char>(price_variation(near, 10'000));
    };
    CHECK(letter(10'000) == 'L');
    CHECK(letter(9'901) == 'L');
    CHECK(letter(9'900) == '1');
    CHECK(letter(10'999) == '9');
    CHECK(letter(11'000) == 'A');
    CHECK(letter(8'001) == 'A');
    CHECK(letter(12'000) == 'B');
    CHECK(letter(13'000) == 'C');
    CHECK(letter(0) == ' ');
    CHECK(price_variation(5, 0) == ' ');
}

TEST_CASE("itch: the day's messages have all their fields, each a tracking number of its own") {
    ItchRig rig;
    ItchDay<TextSink>& day = rig.day;
    const auto told = [&](int number) {
        std::string text = rig.sink.last();
        const std::string tracking =
            " tracking_number=" + std::to_string(number) + " timestamp=34200000000123";
        const std::size_t at = text.find(tracking);
        if (at == text.npos) return "no " + tracking + " in " + text;
        return text.erase(at, tracking.size());
    };
    day.system_event(time_ns, 'Q');
    CHECK(told(1) == "S stock_locate=0 event_code=Q");
    day.stock_directory(time_ns, 1,
                        {'G', 'D', 'Y', 'A', {'R', 'T'}, 'T', 'Y', 'Z', '2', 'Y', 3, 'Y'});
    CHECK(told(2) ==
          "R stock_locate=65535 stock=ABCDEFGH market_category=G financial_status=D "
          "round_lot_size=10 round_lots_only=Y issue_classification=A issue_sub_type=RT "
          "authenticity=T short_sale_threshold=Y ipo_flag=Z luld_tier=2 etp_flag=Y "
          "etp_leverage_factor=3 inverse_indicator=Y");
    day.trading_action(time_ns, 0, itch_trading_state(match::TradingState::paused), "LUDP");
    CHECK(told(3) == "H stock_locate=7 stock=ZVZZT state=P reserved= reason=LUDP");
    day.reg_sho(time_ns, 0, '2');
    CHECK(told(4) == "Y stock_locate=7 stock=ZVZZT action=2");
    day.participant_position(time_ns, 0, "ABC", {'Y', 'P', 'E'});
    CHECK(told(5) == "L stock_locate=7 mpid=ABC stock=ZVZZT primary_mm=Y mode=P state=E");
    day.mwcb_decline_levels(time_ns, {3, 2, 123'456'789'012});
    CHECK(told(6) == "V stock_locate=0 level1=3 level2=2 level3=123456789012");
    day.mwcb_status(time_ns, '2');
    CHECK(told(7) == "W stock_locate=0 breached_level=2");
    day.ipo_quoting(time_ns, 0, {36'000, 'C', 170'000});
    CHECK(told(8) ==
          "K stock_locate=7 stock=ZVZZT release_time=36000 qualifier=C ipo_price=170000");
    day.auction_collar(time_ns, 0, {100, 110, 90, 4});
    CHECK(told(9) ==
          "J stock_locate=7 stock=ZVZZT collar_reference_price=100 upper_collar=110 "
          "lower_collar=90 extension_number=4");
    day.operational_halt(time_ns, 0, 'T');
    CHECK(told(10) == "h stock_locate=7 stock=ZVZZT market_code=Q action=T");
    day.broken_trade(time_ns, 0, 77);
    CHECK(told(11) == "B stock_locate=7 match_number=77");
    day.retail_interest(time_ns, 0, 'A');
    CHECK(told(12) == "N stock_locate=7 stock=ZVZZT interest_flag=A");
    day.price_discovery(time_ns, 0, {'Y', 1, 2, 3, 4, 5, 6});
    CHECK(told(13) ==
          "O stock_locate=7 stock=ZVZZT open_eligibility=Y min_allowable_price=1 "
          "max_allowable_price=2 near_execution_price=3 near_execution_time=4 lower_collar=5 "
          "upper_collar=6");
    for (const TouchInfo& touch : rig.sink.touches) CHECK_FALSE(touch.touches);
}

TEST_CASE("deep: the day's messages have all their fields") {
    DeepRig rig;
    DeepDay<TextSink>& day = rig.day;
    const auto told = [&] {
        std::string text = rig.sink.last();
        const std::string time = " timestamp=" + std::to_string(time_ns);
        const std::size_t at = text.find(time);
        return at == text.npos ? "no" + time + " in " + text : text.erase(at, time.size());
    };
    day.system_event(time_ns, 'R');
    CHECK(told() == "S event=R");
    CHECK(rig.context.regular_hours());
    day.security_directory(time_ns, 1, {0x80, -5, 2});
    CHECK(told() == "D flags=128 symbol=ABCDEFGH round_lot=10 adjusted_poc_price=-5 luld_tier=2");
    day.trading_status(time_ns, 0, deep_trading_status(match::TradingState::quotation), "IPO1");
    CHECK(told() == "H status=O symbol=ZVZZT reason=IPO1");
    day.retail_liquidity(time_ns, 0, 'C');
    CHECK(told() == "I indicator=C symbol=ZVZZT");
    day.operational_halt(time_ns, 0, true);
    CHECK(told() == "O status=O symbol=ZVZZT");
    day.short_sale_test(time_ns, 0, true, 'A');
    CHECK(told() == "P status=1 symbol=ZVZZT detail=A");
    day.security_event(time_ns, 0, 'C');
    CHECK(told() == "E event=C symbol=ZVZZT");
    day.official_price(time_ns, 1, 'M', 12);
    CHECK(told() == "X price_type=M symbol=ABCDEFGH price=1200");
    day.trade_break(time_ns, 0, {0x48, 100, 99, 7});
    CHECK(told() == "B sale_flags=72 symbol=ZVZZT size=100 price=99 trade_id=7");
    day.system_event(time_ns, 'M');
    CHECK_FALSE(rig.context.regular_hours());
    for (const TouchInfo& touch : rig.sink.touches) CHECK_FALSE(touch.touches);
}

namespace {

// Reports of one request after the other, as the engine would make them.
class DeepTape {
public:
    explicit DeepTape(DeepRig& rig) : rig_(rig) {}

    // What the request `reports` gave, without time and symbol.
    std::vector<std::string> request(const std::vector<Report>& reports) {
        rig_.sink.all.clear();
        rig_.sink.touches.clear();
        rig_.encoder.on_report(report_of(ReportKind::accepted));
        for (const Report& report : reports) rig_.encoder.on_report(report);
        rig_.encoder.end_of_request();
        std::vector<std::string> told;
        for (std::string text : rig_.sink.all) {
            text = std::regex_replace(text, std::regex(" timestamp=\\d+ symbol=ZVZZT"), "");
            told.push_back(text);
        }
        return told;
    }
    static Report added(std::uint64_t reference, Side side, std::int64_t price,
                        std::uint64_t quantity) {
        Report report = report_of(ReportKind::added);
        report.reference = reference;
        report.side = side;
        report.price = price;
        report.quantity = quantity;
        return report;
    }
    static Report executed(std::uint64_t reference, Side side, std::int64_t price,
                           std::uint64_t quantity) {
        Report report = added(reference, side, price, quantity);
        report.kind = ReportKind::executed;
        report.match_number = 9;
        return report;
    }

private:
    DeepRig& rig_;
};

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("deep: the levels of a request are one event: bids, then asks, each from the best") {
    DeepRig rig;
    DeepTape tape(rig);
    using T = DeepTape;
    CHECK(tape.request({T::added(1, Side::bid, 100, 500)}) ==
          Texts{"8 event_flags=1 size=500 price=100"});
    CHECK(tape.request({T::added(2, Side::bid, 99, 300)}).size() == 1);
    CHECK(tape.request({T::added(3, Side::bid, 98, 300)}).size() == 1);
    // An incoming sell takes two levels and a part of the third, and rests: it cannot, but shows
    // the order of an event's messages.
    CHECK(tape.request({T::executed(1, Side::bid, 100, 500), T::executed(2, Side::bid, 99, 300),
                        T::executed(3, Side::bid, 98, 100), T::added(4, Side::ask, 98, 50),
                        T::added(5, Side::ask, 97, 60)}) ==
          Texts{"T sale_flags=64 size=500 price=100 trade_id=9",
                "T sale_flags=64 size=300 price=99 trade_id=9",
                "T sale_flags=64 size=100 price=98 trade_id=9", "8 event_flags=0 size=0 price=100",
                "8 event_flags=0 size=0 price=99", "8 event_flags=0 size=200 price=98",
                "5 event_flags=0 size=60 price=97", "5 event_flags=1 size=50 price=98"});
    CHECK(rig.sink.touches[2].touches == false);
    CHECK(rig.sink.touches[3].event_open);
    CHECK_FALSE(rig.sink.touches[7].event_open);
    CHECK(rig.sink.touches[7].time_ns == time_ns);
    CHECK(rig.encoder.orders() == 3);
    CHECK(rig.encoder.levels() == 3);
}

TEST_CASE("deep: a level says its total at the end, and nothing where that is what it was") {
    DeepRig rig;
    DeepTape tape(rig);
    using T = DeepTape;
    CHECK(tape.request({T::added(1, Side::ask, 50, 100)}).size() == 1);
    CHECK(tape.request({T::added(2, Side::ask, 50, 70)}) ==
          Texts{"5 event_flags=1 size=170 price=50"});
    // Executed and refilled: the total is the same.
    CHECK(tape.request({T::executed(1, Side::ask, 50, 100), T::added(3, Side::ask, 50, 100)}) ==
          Texts{"T sale_flags=64 size=100 price=50 trade_id=9"});
    // Came and went.
    Report gone = T::added(4, Side::bid, 40, 5);
    gone.kind = ReportKind::removed;
    CHECK(tape.request({T::added(4, Side::bid, 40, 5), gone}).empty());
    CHECK(rig.encoder.levels() == 1);
    Report reduced = T::added(2, Side::ask, 0, 20);  // the tape need not name the price
    reduced.kind = ReportKind::reduced;
    CHECK(tape.request({reduced}) == Texts{"5 event_flags=1 size=150 price=50"});
    Report replaced = T::added(2, Side::ask, 51, 10);
    replaced.kind = ReportKind::replaced;
    replaced.new_reference = 6;
    CHECK(tape.request({replaced}) ==
          Texts{"5 event_flags=0 size=100 price=50", "5 event_flags=1 size=10 price=51"});
}

TEST_CASE("deep: hidden orders show in trades alone; a cross is one trade of all of it") {
    using namespace match::report_flag;
    DeepRig rig;
    DeepTape tape(rig);
    using T = DeepTape;
    rig.day.system_event(time_ns, 'R');
    Report hidden = T::added(1, Side::ask, 50, 100);
    hidden.flags = 0;
    CHECK(tape.request({hidden}).empty());
    Report execution = T::executed(1, Side::ask, 50, 99);
    execution.flags = 0;
    CHECK(tape.request({execution}) == Texts{"T sale_flags=32 size=99 price=50 trade_id=9"});
    CHECK(tape.request({T::added(2, Side::bid, 60, 300)}).size() == 1);
    Report part = T::executed(2, Side::bid, 55, 300);  // at the cross price, not the order's
    part.flags = displayed | in_cross;
    Report cross = report_of(ReportKind::crossed, 0);
    cross.price = 55;
    cross.quantity = 300;
    cross.match_number = 10;
    CHECK(tape.request({part, cross}) ==
          Texts{"T sale_flags=8 size=300 price=55 trade_id=10", "8 event_flags=1 size=0 price=60"});
    cross.price = 0;
    cross.quantity = 0;
    CHECK(tape.request({cross}).empty());
}

TEST_CASE("deep: an imbalance is auction information with the terms of its auction") {
    DeepRig rig;
    DeepTape tape(rig);
    rig.encoder.set_auction(match::CrossKind::closing, {1'796'158'800, 2, 50});
    Report report = report_of(ReportKind::imbalance, 0);
    report.cross = match::CrossKind::closing;
    report.price = 100'000;
    report.near_price = 101'000;
    report.far_price = 99'000;
    report.quantity = 600;
    report.imbalance = 300;
    report.side = Side::bid;
    CHECK(tape.request({report}) ==
          Texts{"A auction_type=C paired_shares=600 reference_price=100000 "
                "indicative_clearing_price=101000 imbalance_shares=300 imbalance_side=B "
                "extension_number=2 scheduled_auction_time=1796158800 "
                "auction_book_clearing_price=99000 collar_reference_price=100000 "
                "lower_collar=95000 upper_collar=105000"});
}
