// IEX TOPS and DEEP: from bytes to a typed message. Depends on wire only. Any thread.
#pragma once

#include "wirebook/wire/decode.hpp"
#include "wirebook/wire/iex.hpp"
#include "wirebook/wire/view.hpp"

namespace wirebook::wire::iex {

// TOPS 1.6. Decodes one message and hands it to the matching handler.on(const M&).
// The handler is a template parameter: no virtual call, and a missing overload is a
// compile error. Reports, never throws or logs; the caller counts.
template <class Handler>
[[nodiscard]] inline DecodeStatus decode_tops(Bytes bytes, Handler& handler) noexcept {
    if (bytes.empty()) return DecodeStatus::truncated;
    switch (static_cast<unsigned char>(bytes[0])) {
        case QuoteUpdate::message_type: return detail::deliver<QuoteUpdate>(bytes, handler);
        case TradeReport::message_type: return detail::deliver<TradeReport>(bytes, handler);
        case SystemEvent::message_type: return detail::deliver<SystemEvent>(bytes, handler);
        case SecurityDirectory::message_type:
            return detail::deliver<SecurityDirectory>(bytes, handler);
        case TradingStatus::message_type: return detail::deliver<TradingStatus>(bytes, handler);
        case RetailLiquidityIndicator::message_type:
            return detail::deliver<RetailLiquidityIndicator>(bytes, handler);
        case OperationalHalt::message_type: return detail::deliver<OperationalHalt>(bytes, handler);
        case ShortSalePriceTest::message_type:
            return detail::deliver<ShortSalePriceTest>(bytes, handler);
        case OfficialPrice::message_type: return detail::deliver<OfficialPrice>(bytes, handler);
        case TradeBreak::message_type: return detail::deliver<TradeBreak>(bytes, handler);
        case AuctionInformation::message_type:
            return detail::deliver<AuctionInformation>(bytes, handler);
        default: return DecodeStatus::unknown_type;
    }
}

// DEEP 1.0, in the same way.
template <class Handler>
[[nodiscard]] inline DecodeStatus decode_deep(Bytes bytes, Handler& handler) noexcept {
    if (bytes.empty()) return DecodeStatus::truncated;
    switch (static_cast<unsigned char>(bytes[0])) {
        case PriceLevelBuy::message_type: return detail::deliver<PriceLevelBuy>(bytes, handler);
        case PriceLevelSell::message_type: return detail::deliver<PriceLevelSell>(bytes, handler);
        case TradeReport::message_type: return detail::deliver<TradeReport>(bytes, handler);
        case SystemEvent::message_type: return detail::deliver<SystemEvent>(bytes, handler);
        case SecurityDirectory::message_type:
            return detail::deliver<SecurityDirectory>(bytes, handler);
        case TradingStatus::message_type: return detail::deliver<TradingStatus>(bytes, handler);
        case RetailLiquidityIndicator::message_type:
            return detail::deliver<RetailLiquidityIndicator>(bytes, handler);
        case OperationalHalt::message_type: return detail::deliver<OperationalHalt>(bytes, handler);
        case ShortSalePriceTest::message_type:
            return detail::deliver<ShortSalePriceTest>(bytes, handler);
        case OfficialPrice::message_type: return detail::deliver<OfficialPrice>(bytes, handler);
        case TradeBreak::message_type: return detail::deliver<TradeBreak>(bytes, handler);
        case AuctionInformation::message_type:
            return detail::deliver<AuctionInformation>(bytes, handler);
        case SecurityEvent::message_type: return detail::deliver<SecurityEvent>(bytes, handler);
        default: return DecodeStatus::unknown_type;
    }
}

}  // namespace wirebook::wire::iex
