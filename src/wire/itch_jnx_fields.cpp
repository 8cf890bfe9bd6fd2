// Field names of Japannext PTS ITCH.
#include <array>
#include <cstddef>

#include "field_table.hpp"
#include "wirebook/wire/fields.hpp"
#include "wirebook/wire/itch_jnx.hpp"

namespace wirebook::wire {

namespace itch_jnx {
namespace {

constexpr std::array seconds_fields{
    WIREBOOK_FIELD(Seconds, seconds, "seconds"),
};

constexpr std::array system_event_fields{
    WIREBOOK_FIELD(SystemEvent, ns, "ns"),
    WIREBOOK_FIELD(SystemEvent, group, "group"),
    WIREBOOK_FIELD(SystemEvent, event, "event"),
};

constexpr std::array price_tick_size_fields{
    WIREBOOK_FIELD(PriceTickSize, ns, "ns"),
    WIREBOOK_FIELD(PriceTickSize, table_id, "table_id"),
    WIREBOOK_FIELD(PriceTickSize, tick_size, "tick_size"),
    WIREBOOK_FIELD(PriceTickSize, price_start, "price_start"),
};

constexpr std::array orderbook_directory_fields{
    WIREBOOK_FIELD(OrderbookDirectory, ns, "ns"),
    WIREBOOK_FIELD(OrderbookDirectory, orderbook_id, "orderbook_id"),
    WIREBOOK_FIELD(OrderbookDirectory, code, "code"),
    WIREBOOK_FIELD(OrderbookDirectory, group, "group"),
    WIREBOOK_FIELD(OrderbookDirectory, round_lot, "round_lot"),
    WIREBOOK_FIELD(OrderbookDirectory, tick_table_id, "tick_table_id"),
    WIREBOOK_FIELD(OrderbookDirectory, price_decimals, "price_decimals"),
    WIREBOOK_FIELD(OrderbookDirectory, upper_limit, "upper_limit"),
    WIREBOOK_FIELD(OrderbookDirectory, lower_limit, "lower_limit"),
};

constexpr std::array trading_state_fields{
    WIREBOOK_FIELD(TradingState, ns, "ns"),
    WIREBOOK_FIELD(TradingState, orderbook_id, "orderbook_id"),
    WIREBOOK_FIELD(TradingState, group, "group"),
    WIREBOOK_FIELD(TradingState, state, "state"),
};

constexpr std::array short_selling_restriction_fields{
    WIREBOOK_FIELD(ShortSellingRestriction, ns, "ns"),
    WIREBOOK_FIELD(ShortSellingRestriction, orderbook_id, "orderbook_id"),
    WIREBOOK_FIELD(ShortSellingRestriction, group, "group"),
    WIREBOOK_FIELD(ShortSellingRestriction, state, "state"),
};

constexpr std::array add_order_fields{
    WIREBOOK_FIELD(AddOrder, ns, "ns"),
    WIREBOOK_FIELD(AddOrder, order_number, "order_number"),
    WIREBOOK_FIELD(AddOrder, side, "side"),
    WIREBOOK_FIELD(AddOrder, qty, "qty"),
    WIREBOOK_FIELD(AddOrder, orderbook_id, "orderbook_id"),
    WIREBOOK_FIELD(AddOrder, group, "group"),
    WIREBOOK_FIELD(AddOrder, price, "price"),
};

constexpr std::array add_order_attributed_fields{
    WIREBOOK_FIELD(AddOrderAttributed, ns, "ns"),
    WIREBOOK_FIELD(AddOrderAttributed, order_number, "order_number"),
    WIREBOOK_FIELD(AddOrderAttributed, side, "side"),
    WIREBOOK_FIELD(AddOrderAttributed, qty, "qty"),
    WIREBOOK_FIELD(AddOrderAttributed, orderbook_id, "orderbook_id"),
    WIREBOOK_FIELD(AddOrderAttributed, group, "group"),
    WIREBOOK_FIELD(AddOrderAttributed, price, "price"),
    WIREBOOK_FIELD(AddOrderAttributed, attribution, "attribution"),
    WIREBOOK_FIELD(AddOrderAttributed, order_type, "order_type"),
};

constexpr std::array order_executed_fields{
    WIREBOOK_FIELD(OrderExecuted, ns, "ns"),
    WIREBOOK_FIELD(OrderExecuted, order_number, "order_number"),
    WIREBOOK_FIELD(OrderExecuted, executed_qty, "executed_qty"),
    WIREBOOK_FIELD(OrderExecuted, match_number, "match_number"),
};

constexpr std::array order_delete_fields{
    WIREBOOK_FIELD(OrderDelete, ns, "ns"),
    WIREBOOK_FIELD(OrderDelete, order_number, "order_number"),
};

constexpr std::array order_replace_fields{
    WIREBOOK_FIELD(OrderReplace, ns, "ns"),
    WIREBOOK_FIELD(OrderReplace, original_number, "original_number"),
    WIREBOOK_FIELD(OrderReplace, new_number, "new_number"),
    WIREBOOK_FIELD(OrderReplace, qty, "qty"),
    WIREBOOK_FIELD(OrderReplace, price, "price"),
};

constexpr std::array messages{
    detail::make_message<Seconds>(seconds_fields),
    detail::make_message<SystemEvent>(system_event_fields),
    detail::make_message<PriceTickSize>(price_tick_size_fields),
    detail::make_message<OrderbookDirectory>(orderbook_directory_fields),
    detail::make_message<TradingState>(trading_state_fields),
    detail::make_message<ShortSellingRestriction>(short_selling_restriction_fields),
    detail::make_message<AddOrder>(add_order_fields),
    detail::make_message<AddOrderAttributed>(add_order_attributed_fields),
    detail::make_message<OrderExecuted>(order_executed_fields),
    detail::make_message<OrderDelete>(order_delete_fields),
    detail::make_message<OrderReplace>(order_replace_fields),
};

}  // namespace
}  // namespace itch_jnx

namespace detail {

std::span<const MessageFields> itch_jnx_fields() noexcept {
    return itch_jnx::messages;
}

}  // namespace detail

}  // namespace wirebook::wire
