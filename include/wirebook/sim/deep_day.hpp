// Messages of IEX DEEP 1.0 that do not come from the engine's tape: the trading day's.
//
// Codes are the sheet's characters and are not checked; prices are in dollars * 10^4, times since
// the Unix epoch. Each call is one message. No call touches a book.
// May depend on core and wire. One thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "wirebook/match/request.hpp"
#include "wirebook/sim/deep_context.hpp"
#include "wirebook/sim/message_sink.hpp"
#include "wirebook/wire/iex.hpp"

namespace wirebook::sim {

// Of a security directory message.
struct DeepListing {
    unsigned char flags = 0;  // 0x80 test security, 0x40 when issued, 0x20 ETP
    std::int64_t adjusted_close_e4 = 0;
    unsigned char luld_tier = 1;  // 0 not applicable, 1, 2
};

// What a trading status shows for a state of the engine; quotation is IEX's order acceptance.
[[nodiscard]] constexpr char deep_trading_status(match::TradingState state) noexcept {
    switch (state) {
        case match::TradingState::continuous: return 'T';
        case match::TradingState::quotation: return 'O';
        case match::TradingState::paused:  // P would take orders already
        case match::TradingState::closed:
        case match::TradingState::halted: break;
    }
    return 'H';
}

template <MessageSink Sink>
class DeepDay {
public:
    // Both outlive the object.
    DeepDay(DeepContext& context, Sink& sink) noexcept : context_(context), sink_(sink) {}

    // O S R M E C; between R and M trades are of regular hours.
    void system_event(std::int64_t time_ns, char code) {
        if (code == 'R' || code == 'M') context_.set_regular_hours(code == 'R');
        wire::iex::SystemEvent message{};
        message.event = byte(code);
        send(message, no_instrument, time_ns);
    }
    void security_directory(std::int64_t time_ns, std::uint32_t instrument,
                            const DeepListing& listing) {
        wire::iex::SecurityDirectory message{};
        message.flags = listing.flags;
        message.round_lot.set(context_.instrument(instrument).round_lot);
        message.adjusted_poc_price_e4.set(listing.adjusted_close_e4);
        message.luld_tier = listing.luld_tier;
        send(message, instrument, time_ns);
    }
    // `status`: T O P H, see deep_trading_status(); `reason`: up to four characters.
    void trading_status(std::int64_t time_ns, std::uint32_t instrument, char status,
                        std::string_view reason) {
        wire::iex::TradingStatus message{};
        message.status = byte(status);
        message.reason = padded<4>(reason);
        send(message, instrument, time_ns);
    }
    // Space none, A buy, B sell, C both.
    void retail_liquidity(std::int64_t time_ns, std::uint32_t instrument, char indicator) {
        wire::iex::RetailLiquidityIndicator message{};
        message.indicator = byte(indicator);
        send(message, instrument, time_ns);
    }
    void operational_halt(std::int64_t time_ns, std::uint32_t instrument, bool halted) {
        wire::iex::OperationalHalt message{};
        message.status = halted ? 'O' : 'N';
        send(message, instrument, time_ns);
    }
    // `detail`: space none, A activated, C continued, D deactivated, N not available.
    void short_sale_test(std::int64_t time_ns, std::uint32_t instrument, bool in_effect,
                         char detail) {
        wire::iex::ShortSalePriceTest message{};
        message.status = in_effect ? 1 : 0;
        message.detail = byte(detail);
        send(message, instrument, time_ns);
    }
    // O the opening process is complete, C the closing process.
    void security_event(std::int64_t time_ns, std::uint32_t instrument, char code) {
        wire::iex::SecurityEvent message{};
        message.event = byte(code);
        send(message, instrument, time_ns);
    }
    // Q opening, M closing; `price` in the engine's unit.
    void official_price(std::int64_t time_ns, std::uint32_t instrument, char type,
                        std::int64_t price) {
        wire::iex::OfficialPrice message{};
        message.price_type = byte(type);
        message.price_e4.set(context_.price_e4(instrument, price));
        send(message, instrument, time_ns);
    }
    // A trade as its report said it.
    struct Trade {
        unsigned char sale_flags = 0;
        std::uint64_t shares = 0;
        std::int64_t price = 0;  // in the engine's unit
        std::uint64_t match_number = 0;
    };
    void trade_break(std::int64_t time_ns, std::uint32_t instrument, const Trade& trade) {
        wire::iex::TradeBreak message{};
        message.sale_flags = trade.sale_flags;
        message.size.set(DeepContext::shares(trade.shares));
        message.price_e4.set(context_.price_e4(instrument, trade.price));
        message.trade_id.set(static_cast<std::int64_t>(trade.match_number));
        send(message, instrument, time_ns);
    }

private:
    static constexpr unsigned char byte(char code) noexcept {
        return static_cast<unsigned char>(code);
    }
    template <class M>
    void send(M& message, std::uint32_t instrument, std::int64_t time_ns) {
        context_.send(message, instrument, {false, false, time_ns}, sink_);
    }

    DeepContext& context_;
    Sink& sink_;
};

}  // namespace wirebook::sim
