// Japannext PTS ITCH: from bytes to a typed message. Depends on wire only. Any thread.
#pragma once

#include "wirebook/wire/decode.hpp"
#include "wirebook/wire/itch_jnx.hpp"
#include "wirebook/wire/view.hpp"

namespace wirebook::wire::itch_jnx {

// Decodes one message and hands it to the matching handler.on(const M&).
// The handler is a template parameter: no virtual call, and a missing overload is a
// compile error. Reports, never throws or logs; the caller counts.
template <class Handler>
[[nodiscard]] inline DecodeStatus decode(Bytes bytes, Handler& handler) noexcept {
    if (bytes.empty()) return DecodeStatus::truncated;
    switch (static_cast<unsigned char>(bytes[0])) {
        case Seconds::message_type: return detail::deliver<Seconds>(bytes, handler);
        case AddOrder::message_type: return detail::deliver<AddOrder>(bytes, handler);
        case OrderDelete::message_type: return detail::deliver<OrderDelete>(bytes, handler);
        case OrderReplace::message_type: return detail::deliver<OrderReplace>(bytes, handler);
        case OrderExecuted::message_type: return detail::deliver<OrderExecuted>(bytes, handler);
        case AddOrderAttributed::message_type:
            return detail::deliver<AddOrderAttributed>(bytes, handler);
        case SystemEvent::message_type: return detail::deliver<SystemEvent>(bytes, handler);
        case PriceTickSize::message_type: return detail::deliver<PriceTickSize>(bytes, handler);
        case OrderbookDirectory::message_type:
            return detail::deliver<OrderbookDirectory>(bytes, handler);
        case TradingState::message_type: return detail::deliver<TradingState>(bytes, handler);
        case ShortSellingRestriction::message_type:
            return detail::deliver<ShortSellingRestriction>(bytes, handler);
        default: return DecodeStatus::unknown_type;
    }
}

}  // namespace wirebook::wire::itch_jnx
