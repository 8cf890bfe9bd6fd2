// NASDAQ TotalView-ITCH 5.0: orders, trades, crosses and imbalances. Numbers are unsigned
// big-endian, text is left-justified and padded with spaces, prices are dollars * 10^4 where the
// name ends in _e4. E C X D U name no stock: the order reference finds it.
// Depends on wire only. Plain layouts; any thread.
#pragma once

#include <array>
#include <cstddef>

#include "wirebook/wire/field.hpp"
#include "wirebook/wire/itch50_header.hpp"
#include "wirebook/wire/view.hpp"

namespace wirebook::wire::itch50 {

struct AddOrder {
    static constexpr unsigned char message_type = 'A';

    Header header;
    be64 order_ref;
    unsigned char side;  // 'B' or 'S'
    be32 shares;
    std::array<char, 8> stock;  // right-padded with spaces
    be32 price_e4;              // dollars * 10^4
};
static_assert(Message<AddOrder>);
static_assert(sizeof(AddOrder) == 36);
static_assert(offsetof(AddOrder, order_ref) == 11);
static_assert(offsetof(AddOrder, side) == 19);
static_assert(offsetof(AddOrder, shares) == 20);
static_assert(offsetof(AddOrder, stock) == 24);
static_assert(offsetof(AddOrder, price_e4) == 32);

struct AddOrderAttributed {
    static constexpr unsigned char message_type = 'F';

    Header header;
    be64 order_ref;
    unsigned char side;  // 'B' or 'S'
    be32 shares;
    std::array<char, 8> stock;  // right-padded with spaces
    be32 price_e4;
    std::array<char, 4> attribution_mpid;
};
static_assert(Message<AddOrderAttributed>);
static_assert(sizeof(AddOrderAttributed) == 40);
static_assert(offsetof(AddOrderAttributed, order_ref) == 11);
static_assert(offsetof(AddOrderAttributed, side) == 19);
static_assert(offsetof(AddOrderAttributed, shares) == 20);
static_assert(offsetof(AddOrderAttributed, stock) == 24);
static_assert(offsetof(AddOrderAttributed, price_e4) == 32);
static_assert(offsetof(AddOrderAttributed, attribution_mpid) == 36);

struct OrderExecuted {  // at the price of the order
    static constexpr unsigned char message_type = 'E';

    Header header;
    be64 order_ref;
    be32 executed_shares;  // taken off the order
    be64 match_number;
};
static_assert(Message<OrderExecuted>);
static_assert(sizeof(OrderExecuted) == 31);
static_assert(offsetof(OrderExecuted, order_ref) == 11);
static_assert(offsetof(OrderExecuted, executed_shares) == 19);
static_assert(offsetof(OrderExecuted, match_number) == 23);

struct OrderExecutedWithPrice {
    static constexpr unsigned char message_type = 'C';

    Header header;
    be64 order_ref;
    be32 executed_shares;
    be64 match_number;
    unsigned char printable;  // 'N': part of a cross that Q reports whole, not to be counted twice
    be32 execution_price_e4;  // not the price of the order, which keeps its own
};
static_assert(Message<OrderExecutedWithPrice>);
static_assert(sizeof(OrderExecutedWithPrice) == 36);
static_assert(offsetof(OrderExecutedWithPrice, order_ref) == 11);
static_assert(offsetof(OrderExecutedWithPrice, executed_shares) == 19);
static_assert(offsetof(OrderExecutedWithPrice, match_number) == 23);
static_assert(offsetof(OrderExecutedWithPrice, printable) == 31);
static_assert(offsetof(OrderExecutedWithPrice, execution_price_e4) == 32);

struct OrderCancel {
    static constexpr unsigned char message_type = 'X';

    Header header;
    be64 order_ref;
    be32 cancelled_shares;  // taken off the order, not what remains
};
static_assert(Message<OrderCancel>);
static_assert(sizeof(OrderCancel) == 23);
static_assert(offsetof(OrderCancel, order_ref) == 11);
static_assert(offsetof(OrderCancel, cancelled_shares) == 19);

struct OrderDelete {
    static constexpr unsigned char message_type = 'D';

    Header header;
    be64 order_ref;
};
static_assert(Message<OrderDelete>);
static_assert(sizeof(OrderDelete) == 19);
static_assert(offsetof(OrderDelete, order_ref) == 11);

struct OrderReplace {  // side, stock and attribution are those of the original
    static constexpr unsigned char message_type = 'U';

    Header header;
    be64 original_ref;
    be64 new_ref;
    be32 shares;  // in total
    be32 price_e4;
};
static_assert(Message<OrderReplace>);
static_assert(sizeof(OrderReplace) == 35);
static_assert(offsetof(OrderReplace, original_ref) == 11);
static_assert(offsetof(OrderReplace, new_ref) == 19);
static_assert(offsetof(OrderReplace, shares) == 27);
static_assert(offsetof(OrderReplace, price_e4) == 31);

struct Trade {  // against hidden interest: no book is touched
    static constexpr unsigned char message_type = 'P';

    Header header;
    be64 order_ref;      // 0
    unsigned char side;  // always 'B'
    be32 shares;
    std::array<char, 8> stock;  // right-padded with spaces
    be32 price_e4;
    be64 match_number;
};
static_assert(Message<Trade>);
static_assert(sizeof(Trade) == 44);
static_assert(offsetof(Trade, order_ref) == 11);
static_assert(offsetof(Trade, side) == 19);
static_assert(offsetof(Trade, shares) == 20);
static_assert(offsetof(Trade, stock) == 24);
static_assert(offsetof(Trade, price_e4) == 32);
static_assert(offsetof(Trade, match_number) == 36);

struct CrossTrade {  // also sent when nothing matched: shares and price 0
    static constexpr unsigned char message_type = 'Q';

    Header header;
    be64 shares;
    std::array<char, 8> stock;  // right-padded with spaces
    be32 cross_price_e4;
    be64 match_number;
    unsigned char cross_type;  // O opening, C closing, H halt or IPO, I intraday, A extended close
};
static_assert(Message<CrossTrade>);
static_assert(sizeof(CrossTrade) == 40);
static_assert(offsetof(CrossTrade, shares) == 11);
static_assert(offsetof(CrossTrade, stock) == 19);
static_assert(offsetof(CrossTrade, cross_price_e4) == 27);
static_assert(offsetof(CrossTrade, match_number) == 31);
static_assert(offsetof(CrossTrade, cross_type) == 39);

struct BrokenTrade {  // takes a trade back from the statistics, never from the book
    static constexpr unsigned char message_type = 'B';

    Header header;
    be64 match_number;  // of an E, C, P or Q
};
static_assert(Message<BrokenTrade>);
static_assert(sizeof(BrokenTrade) == 19);
static_assert(offsetof(BrokenTrade, match_number) == 11);

struct ImbalanceIndicator {  // net order imbalance before a cross
    static constexpr unsigned char message_type = 'I';

    Header header;
    be64 paired_shares;
    be64 imbalance_shares;
    unsigned char direction;    // B S N none, O insufficient orders, P paused
    std::array<char, 8> stock;  // right-padded with spaces
    be32 far_price_e4;
    be32 near_price_e4;
    be32 reference_price_e4;
    unsigned char cross_type;
    unsigned char price_variation;  // of the near price from the reference, in bands
};
static_assert(Message<ImbalanceIndicator>);
static_assert(sizeof(ImbalanceIndicator) == 50);
static_assert(offsetof(ImbalanceIndicator, paired_shares) == 11);
static_assert(offsetof(ImbalanceIndicator, imbalance_shares) == 19);
static_assert(offsetof(ImbalanceIndicator, direction) == 27);
static_assert(offsetof(ImbalanceIndicator, stock) == 28);
static_assert(offsetof(ImbalanceIndicator, far_price_e4) == 36);
static_assert(offsetof(ImbalanceIndicator, near_price_e4) == 40);
static_assert(offsetof(ImbalanceIndicator, reference_price_e4) == 44);
static_assert(offsetof(ImbalanceIndicator, cross_type) == 48);
static_assert(offsetof(ImbalanceIndicator, price_variation) == 49);

struct RetailInterest {
    static constexpr unsigned char message_type = 'N';

    Header header;
    std::array<char, 8> stock;    // right-padded with spaces
    unsigned char interest_flag;  // B S, A both, N none
};
static_assert(Message<RetailInterest>);
static_assert(sizeof(RetailInterest) == 20);
static_assert(offsetof(RetailInterest, stock) == 11);
static_assert(offsetof(RetailInterest, interest_flag) == 19);

struct PriceDiscovery {  // direct listing with capital raise
    static constexpr unsigned char message_type = 'O';

    Header header;
    std::array<char, 8> stock;       // right-padded with spaces
    unsigned char open_eligibility;  // 'Y' or 'N'
    be32 min_allowable_price_e4;
    be32 max_allowable_price_e4;
    be32 near_execution_price_e4;
    be64 near_execution_time_ns;  // since midnight
    be32 lower_collar_e4;
    be32 upper_collar_e4;
};
static_assert(Message<PriceDiscovery>);
static_assert(sizeof(PriceDiscovery) == 48);
static_assert(offsetof(PriceDiscovery, stock) == 11);
static_assert(offsetof(PriceDiscovery, open_eligibility) == 19);
static_assert(offsetof(PriceDiscovery, min_allowable_price_e4) == 20);
static_assert(offsetof(PriceDiscovery, max_allowable_price_e4) == 24);
static_assert(offsetof(PriceDiscovery, near_execution_price_e4) == 28);
static_assert(offsetof(PriceDiscovery, near_execution_time_ns) == 32);
static_assert(offsetof(PriceDiscovery, lower_collar_e4) == 40);
static_assert(offsetof(PriceDiscovery, upper_collar_e4) == 44);

}  // namespace wirebook::wire::itch50
