// NASDAQ TotalView-ITCH 5.0: all layouts, and from bytes to a typed message.
// The messages most frequent on the wire come first. Depends on wire only. Any thread.
#pragma once

#include "wirebook/wire/decode.hpp"
#include "wirebook/wire/itch50_header.hpp"
#include "wirebook/wire/itch50_orders.hpp"
#include "wirebook/wire/itch50_stock.hpp"
#include "wirebook/wire/view.hpp"

namespace wirebook::wire::itch50 {

// Decodes one message and hands it to the matching handler.on(const M&).
// The handler is a template parameter: no virtual call, and a missing overload is a
// compile error. Reports, never throws or logs; the caller counts.
template <class Handler>
[[nodiscard]] inline DecodeStatus decode(Bytes bytes, Handler& handler) noexcept {
    if (bytes.empty()) return DecodeStatus::truncated;
    switch (static_cast<unsigned char>(bytes[0])) {
        case AddOrder::message_type: return detail::deliver<AddOrder>(bytes, handler);
        case OrderDelete::message_type: return detail::deliver<OrderDelete>(bytes, handler);
        case OrderReplace::message_type: return detail::deliver<OrderReplace>(bytes, handler);
        case OrderExecuted::message_type: return detail::deliver<OrderExecuted>(bytes, handler);
        case OrderCancel::message_type: return detail::deliver<OrderCancel>(bytes, handler);
        case AddOrderAttributed::message_type:
            return detail::deliver<AddOrderAttributed>(bytes, handler);
        case Trade::message_type: return detail::deliver<Trade>(bytes, handler);
        case OrderExecutedWithPrice::message_type:
            return detail::deliver<OrderExecutedWithPrice>(bytes, handler);
        case ImbalanceIndicator::message_type:
            return detail::deliver<ImbalanceIndicator>(bytes, handler);
        case RetailInterest::message_type: return detail::deliver<RetailInterest>(bytes, handler);
        case SystemEvent::message_type: return detail::deliver<SystemEvent>(bytes, handler);
        case StockDirectory::message_type: return detail::deliver<StockDirectory>(bytes, handler);
        case StockTradingAction::message_type:
            return detail::deliver<StockTradingAction>(bytes, handler);
        case RegShoRestriction::message_type:
            return detail::deliver<RegShoRestriction>(bytes, handler);
        case MarketParticipantPosition::message_type:
            return detail::deliver<MarketParticipantPosition>(bytes, handler);
        case MwcbDeclineLevel::message_type:
            return detail::deliver<MwcbDeclineLevel>(bytes, handler);
        case MwcbStatus::message_type: return detail::deliver<MwcbStatus>(bytes, handler);
        case IpoQuotingPeriod::message_type:
            return detail::deliver<IpoQuotingPeriod>(bytes, handler);
        case LuldAuctionCollar::message_type:
            return detail::deliver<LuldAuctionCollar>(bytes, handler);
        case OperationalHalt::message_type: return detail::deliver<OperationalHalt>(bytes, handler);
        case CrossTrade::message_type: return detail::deliver<CrossTrade>(bytes, handler);
        case BrokenTrade::message_type: return detail::deliver<BrokenTrade>(bytes, handler);
        case PriceDiscovery::message_type: return detail::deliver<PriceDiscovery>(bytes, handler);
        default: return DecodeStatus::unknown_type;
    }
}

}  // namespace wirebook::wire::itch50
