// Messages of ITCH 5.0 that do not come from the engine's tape: the trading day's.
//
// Codes are the sheet's characters and are not checked. Prices are in dollars * 10^4 (V: 10^8),
// times of day in nanoseconds since midnight; `time_ns` since the Unix epoch. Each call is one
// message with a tracking number of its own. No call touches a book.
// May depend on core and wire. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "wirebook/match/request.hpp"
#include "wirebook/sim/itch_context.hpp"
#include "wirebook/sim/message_sink.hpp"
#include "wirebook/wire/itch50_orders.hpp"
#include "wirebook/wire/itch50_stock.hpp"

namespace wirebook::sim {

// Of a stock directory message; the defaults are those of a common stock.
struct ItchListing {
    char market_category = 'Q';
    char financial_status = 'N';
    char round_lots_only = 'N';
    char issue_classification = 'C';
    std::array<char, 2> issue_sub_type{'Z', ' '};
    char authenticity = 'P';  // T: a test symbol
    char short_sale_threshold = 'N';
    char ipo_flag = 'N';
    char luld_tier = '1';
    char etp_flag = 'N';
    std::uint32_t etp_leverage_factor = 0;
    char inverse_indicator = 'N';
};

// What a trading action shows for a state of the engine; an instrument that is closed is halted.
[[nodiscard]] constexpr char itch_trading_state(match::TradingState state) noexcept {
    switch (state) {
        case match::TradingState::continuous: return 'T';
        case match::TradingState::quotation: return 'Q';
        case match::TradingState::paused: return 'P';
        case match::TradingState::closed:
        case match::TradingState::halted: break;
    }
    return 'H';
}

template <MessageSink Sink>
class ItchDay {
public:
    // Both outlive the object.
    ItchDay(ItchContext& context, Sink& sink) noexcept : context_(context), sink_(sink) {}

    // O S Q M E C.
    void system_event(std::int64_t time_ns, char code) {
        wire::itch50::SystemEvent message{};
        message.event_code = byte(code);
        send(message, no_instrument, time_ns);
    }
    void stock_directory(std::int64_t time_ns, std::uint32_t instrument,
                         const ItchListing& listing) {
        wire::itch50::StockDirectory message{};
        message.stock = context_.instrument(instrument).symbol;
        message.market_category = byte(listing.market_category);
        message.financial_status = byte(listing.financial_status);
        message.round_lot_size.set(context_.instrument(instrument).round_lot);
        message.round_lots_only = byte(listing.round_lots_only);
        message.issue_classification = byte(listing.issue_classification);
        message.issue_sub_type = listing.issue_sub_type;
        message.authenticity = byte(listing.authenticity);
        message.short_sale_threshold = byte(listing.short_sale_threshold);
        message.ipo_flag = byte(listing.ipo_flag);
        message.luld_tier = byte(listing.luld_tier);
        message.etp_flag = byte(listing.etp_flag);
        message.etp_leverage_factor.set(listing.etp_leverage_factor);
        message.inverse_indicator = byte(listing.inverse_indicator);
        send(message, instrument, time_ns);
    }
    // `state`: T Q P H, see itch_trading_state(); `reason`: up to four characters.
    void trading_action(std::int64_t time_ns, std::uint32_t instrument, char state,
                        std::string_view reason) {
        wire::itch50::StockTradingAction message{};
        message.stock = context_.instrument(instrument).symbol;
        message.state = byte(state);
        message.reserved = ' ';
        message.reason = padded<4>(reason);
        send(message, instrument, time_ns);
    }
    // '0' none, '1' since today's drop, '2' still.
    void reg_sho(std::int64_t time_ns, std::uint32_t instrument, char action) {
        wire::itch50::RegShoRestriction message{};
        message.stock = context_.instrument(instrument).symbol;
        message.action = byte(action);
        send(message, instrument, time_ns);
    }
    // `codes`: primary market maker Y or N, mode, state.
    void participant_position(std::int64_t time_ns, std::uint32_t instrument, std::string_view mpid,
                              std::array<char, 3> codes) {
        wire::itch50::MarketParticipantPosition message{};
        message.mpid = padded<4>(mpid);
        message.stock = context_.instrument(instrument).symbol;
        message.primary_mm = byte(codes[0]);
        message.mode = byte(codes[1]);
        message.state = byte(codes[2]);
        send(message, instrument, time_ns);
    }
    void mwcb_decline_levels(std::int64_t time_ns, std::array<std::uint64_t, 3> levels_e8) {
        wire::itch50::MwcbDeclineLevel message{};
        message.level1_e8.set(levels_e8[0]);
        message.level2_e8.set(levels_e8[1]);
        message.level3_e8.set(levels_e8[2]);
        send(message, no_instrument, time_ns);
    }
    void mwcb_status(std::int64_t time_ns, char breached_level) {
        wire::itch50::MwcbStatus message{};
        message.breached_level = byte(breached_level);
        send(message, no_instrument, time_ns);
    }
    struct IpoQuotation {
        std::uint32_t release_time_s = 0;  // since midnight
        char qualifier = 'A';
        std::uint32_t price_e4 = 0;
    };
    void ipo_quoting(std::int64_t time_ns, std::uint32_t instrument, const IpoQuotation& ipo) {
        wire::itch50::IpoQuotingPeriod message{};
        message.stock = context_.instrument(instrument).symbol;
        message.release_time_s.set(ipo.release_time_s);
        message.qualifier = byte(ipo.qualifier);
        message.ipo_price_e4.set(ipo.price_e4);
        send(message, instrument, time_ns);
    }
    struct AuctionCollar {
        std::uint32_t reference_e4 = 0;
        std::uint32_t upper_e4 = 0;
        std::uint32_t lower_e4 = 0;
        std::uint32_t extension = 0;
    };
    void auction_collar(std::int64_t time_ns, std::uint32_t instrument,
                        const AuctionCollar& collar) {
        wire::itch50::LuldAuctionCollar message{};
        message.stock = context_.instrument(instrument).symbol;
        message.collar_reference_price_e4.set(collar.reference_e4);
        message.upper_collar_e4.set(collar.upper_e4);
        message.lower_collar_e4.set(collar.lower_e4);
        message.extension_number.set(collar.extension);
        send(message, instrument, time_ns);
    }
    // `action`: H halted, T resumed, at this market (Q).
    void operational_halt(std::int64_t time_ns, std::uint32_t instrument, char action) {
        wire::itch50::OperationalHalt message{};
        message.stock = context_.instrument(instrument).symbol;
        message.market_code = 'Q';
        message.action = byte(action);
        send(message, instrument, time_ns);
    }
    void broken_trade(std::int64_t time_ns, std::uint32_t instrument, std::uint64_t match_number) {
        wire::itch50::BrokenTrade message{};
        message.match_number.set(match_number);
        send(message, instrument, time_ns);
    }
    // B S A N.
    void retail_interest(std::int64_t time_ns, std::uint32_t instrument, char flag) {
        wire::itch50::RetailInterest message{};
        message.stock = context_.instrument(instrument).symbol;
        message.interest_flag = byte(flag);
        send(message, instrument, time_ns);
    }
    struct Discovery {
        char open_eligibility = 'N';
        std::uint32_t min_allowable_e4 = 0;
        std::uint32_t max_allowable_e4 = 0;
        std::uint32_t near_execution_e4 = 0;
        std::uint64_t near_execution_time_ns = 0;  // since midnight
        std::uint32_t lower_collar_e4 = 0;
        std::uint32_t upper_collar_e4 = 0;
    };
    void price_discovery(std::int64_t time_ns, std::uint32_t instrument, const Discovery& found) {
        wire::itch50::PriceDiscovery message{};
        message.stock = context_.instrument(instrument).symbol;
        message.open_eligibility = byte(found.open_eligibility);
        message.min_allowable_price_e4.set(found.min_allowable_e4);
        message.max_allowable_price_e4.set(found.max_allowable_e4);
        message.near_execution_price_e4.set(found.near_execution_e4);
        message.near_execution_time_ns.set(found.near_execution_time_ns);
        message.lower_collar_e4.set(found.lower_collar_e4);
        message.upper_collar_e4.set(found.upper_collar_e4);
        send(message, instrument, time_ns);
    }

private:
    static constexpr unsigned char byte(char code) noexcept {
        return static_cast<unsigned char>(code);
    }
    template <class M>
    void send(M& message, std::uint32_t instrument, std::int64_t time_ns) {
        context_.next_tracking_number();
        context_.send(message, instrument, time_ns, false, sink_);
    }

    ItchContext& context_;
    Sink& sink_;
};

}  // namespace wirebook::sim
