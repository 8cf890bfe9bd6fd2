// Japannext PTS ITCH 1.6 and 1.7 message layouts. Numbers are unsigned big-endian, text is
// left-justified and padded with spaces. A message has no date and no seconds of its own: they
// are those of the last T. One struct a message, in the order and with the names of the sheet.
// Depends on wire only. Plain layouts; any thread.
#pragma once

#include <array>
#include <cstddef>

#include "wirebook/wire/field.hpp"
#include "wirebook/wire/view.hpp"

namespace wirebook::wire::itch_jnx {

struct Seconds {  // starts each second in which anything happens; the clock of all other messages
    static constexpr unsigned char message_type = 'T';

    unsigned char type;
    be32 seconds;  // since midnight, Tokyo
};
static_assert(Message<Seconds>);
static_assert(sizeof(Seconds) == 5);
static_assert(offsetof(Seconds, seconds) == 1);

struct SystemEvent {
    static constexpr unsigned char message_type = 'S';

    unsigned char type;
    be32 ns;                    // within the second of the last T
    std::array<char, 4> group;  // market of the orderbooks concerned, as "DAY "
    unsigned char event;        // O S Q M E C, in the order of a day
};
static_assert(Message<SystemEvent>);
static_assert(sizeof(SystemEvent) == 10);
static_assert(offsetof(SystemEvent, ns) == 1);
static_assert(offsetof(SystemEvent, group) == 5);
static_assert(offsetof(SystemEvent, event) == 9);

struct PriceTickSize {  // a row of a tick table
    static constexpr unsigned char message_type = 'L';

    unsigned char type;
    be32 ns;  // within the second of the last T
    be32 table_id;
    be32 tick_size;
    be32 price_start;  // the tick size holds from this price up
};
static_assert(Message<PriceTickSize>);
static_assert(sizeof(PriceTickSize) == 17);
static_assert(offsetof(PriceTickSize, ns) == 1);
static_assert(offsetof(PriceTickSize, table_id) == 5);
static_assert(offsetof(PriceTickSize, tick_size) == 9);
static_assert(offsetof(PriceTickSize, price_start) == 13);

struct OrderbookDirectory {
    static constexpr unsigned char message_type = 'R';

    unsigned char type;
    be32 ns;            // within the second of the last T
    be32 orderbook_id;  // with the group the key of a book: the same issue has one in each group
    std::array<char, 12> code;  // ISIN
    std::array<char, 4> group;
    be32 round_lot;
    be32 tick_table_id;
    be32 price_decimals;  // of all prices of the orderbook
    be32 upper_limit;
    be32 lower_limit;
};
static_assert(Message<OrderbookDirectory>);
static_assert(sizeof(OrderbookDirectory) == 45);
static_assert(offsetof(OrderbookDirectory, ns) == 1);
static_assert(offsetof(OrderbookDirectory, orderbook_id) == 5);
static_assert(offsetof(OrderbookDirectory, code) == 9);
static_assert(offsetof(OrderbookDirectory, group) == 21);
static_assert(offsetof(OrderbookDirectory, round_lot) == 25);
static_assert(offsetof(OrderbookDirectory, tick_table_id) == 29);
static_assert(offsetof(OrderbookDirectory, price_decimals) == 33);
static_assert(offsetof(OrderbookDirectory, upper_limit) == 37);
static_assert(offsetof(OrderbookDirectory, lower_limit) == 41);

struct TradingState {
    static constexpr unsigned char message_type = 'H';

    unsigned char type;
    be32 ns;  // within the second of the last T
    be32 orderbook_id;
    std::array<char, 4> group;
    unsigned char state;  // T trading, V suspended
};
static_assert(Message<TradingState>);
static_assert(sizeof(TradingState) == 14);
static_assert(offsetof(TradingState, ns) == 1);
static_assert(offsetof(TradingState, orderbook_id) == 5);
static_assert(offsetof(TradingState, group) == 9);
static_assert(offsetof(TradingState, state) == 13);

struct ShortSellingRestriction {
    static constexpr unsigned char message_type = 'Y';

    unsigned char type;
    be32 ns;  // within the second of the last T
    be32 orderbook_id;
    std::array<char, 4> group;
    unsigned char state;  // '0' or '1'
};
static_assert(Message<ShortSellingRestriction>);
static_assert(sizeof(ShortSellingRestriction) == 14);
static_assert(offsetof(ShortSellingRestriction, ns) == 1);
static_assert(offsetof(ShortSellingRestriction, orderbook_id) == 5);
static_assert(offsetof(ShortSellingRestriction, group) == 9);
static_assert(offsetof(ShortSellingRestriction, state) == 13);

struct AddOrder {
    static constexpr unsigned char message_type = 'A';

    unsigned char type;
    be32 ns;  // within the second of the last T
    be64 order_number;
    unsigned char side;  // 'B' or 'S'
    be32 qty;
    be32 orderbook_id;
    std::array<char, 4> group;
    be32 price;  // in the decimals of the orderbook (R)
};
static_assert(Message<AddOrder>);
static_assert(sizeof(AddOrder) == 30);
static_assert(offsetof(AddOrder, ns) == 1);
static_assert(offsetof(AddOrder, order_number) == 5);
static_assert(offsetof(AddOrder, side) == 13);
static_assert(offsetof(AddOrder, qty) == 14);
static_assert(offsetof(AddOrder, orderbook_id) == 18);
static_assert(offsetof(AddOrder, group) == 22);
static_assert(offsetof(AddOrder, price) == 26);

struct AddOrderAttributed {
    static constexpr unsigned char message_type = 'F';

    unsigned char type;
    be32 ns;  // within the second of the last T
    be64 order_number;
    unsigned char side;  // 'B' or 'S'
    be32 qty;
    be32 orderbook_id;
    std::array<char, 4> group;
    be32 price;  // in the decimals of the orderbook (R)
    std::array<char, 4> attribution;
    unsigned char order_type;
};
static_assert(Message<AddOrderAttributed>);
static_assert(sizeof(AddOrderAttributed) == 35);
static_assert(offsetof(AddOrderAttributed, ns) == 1);
static_assert(offsetof(AddOrderAttributed, order_number) == 5);
static_assert(offsetof(AddOrderAttributed, side) == 13);
static_assert(offsetof(AddOrderAttributed, qty) == 14);
static_assert(offsetof(AddOrderAttributed, orderbook_id) == 18);
static_assert(offsetof(AddOrderAttributed, group) == 22);
static_assert(offsetof(AddOrderAttributed, price) == 26);
static_assert(offsetof(AddOrderAttributed, attribution) == 30);
static_assert(offsetof(AddOrderAttributed, order_type) == 34);

struct OrderExecuted {
    static constexpr unsigned char message_type = 'E';

    unsigned char type;
    be32 ns;  // within the second of the last T
    be64 order_number;
    be32 executed_qty;  // taken off the order
    be64 match_number;
};
static_assert(Message<OrderExecuted>);
static_assert(sizeof(OrderExecuted) == 25);
static_assert(offsetof(OrderExecuted, ns) == 1);
static_assert(offsetof(OrderExecuted, order_number) == 5);
static_assert(offsetof(OrderExecuted, executed_qty) == 13);
static_assert(offsetof(OrderExecuted, match_number) == 17);

struct OrderDelete {
    static constexpr unsigned char message_type = 'D';

    unsigned char type;
    be32 ns;  // within the second of the last T
    be64 order_number;
};
static_assert(Message<OrderDelete>);
static_assert(sizeof(OrderDelete) == 13);
static_assert(offsetof(OrderDelete, ns) == 1);
static_assert(offsetof(OrderDelete, order_number) == 5);

struct OrderReplace {  // side and orderbook are those of the original
    static constexpr unsigned char message_type = 'U';

    unsigned char type;
    be32 ns;  // within the second of the last T
    be64 original_number;
    be64 new_number;
    be32 qty;    // in total
    be32 price;  // in the decimals of the orderbook (R)
};
static_assert(Message<OrderReplace>);
static_assert(sizeof(OrderReplace) == 29);
static_assert(offsetof(OrderReplace, ns) == 1);
static_assert(offsetof(OrderReplace, original_number) == 5);
static_assert(offsetof(OrderReplace, new_number) == 13);
static_assert(offsetof(OrderReplace, qty) == 21);
static_assert(offsetof(OrderReplace, price) == 25);

}  // namespace wirebook::wire::itch_jnx
