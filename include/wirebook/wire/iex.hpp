// IEX TOPS 1.6 and DEEP 1.0 message layouts; Q is of TOPS alone, E 8 5 are of DEEP alone.
// Little-endian. Prices are dollars * 10^4, times nanoseconds since the Unix epoch, both signed;
// text is left-justified and padded with spaces. All but S share type, one byte, time, symbol.
// Depends on wire only. Plain layouts; any thread.
#pragma once

#include <array>
#include <cstddef>

#include "wirebook/wire/field.hpp"
#include "wirebook/wire/view.hpp"

namespace wirebook::wire::iex {

struct SystemEvent {
    static constexpr unsigned char message_type = 'S';

    unsigned char type;
    unsigned char event;  // O S R M E C, in the order of a day
    le64_signed timestamp_ns;
};
static_assert(Message<SystemEvent>);
static_assert(sizeof(SystemEvent) == 10);
static_assert(offsetof(SystemEvent, event) == 1);
static_assert(offsetof(SystemEvent, timestamp_ns) == 2);

struct SecurityDirectory {
    static constexpr unsigned char message_type = 'D';

    unsigned char type;
    unsigned char flags;  // 0x80 test security, 0x40 when issued, 0x20 ETP
    le64_signed timestamp_ns;
    std::array<char, 8> symbol;
    le32 round_lot;
    le64_signed adjusted_poc_price_e4;  // previous official close, adjusted for corporate actions
    unsigned char luld_tier;            // 0 not applicable, 1, 2
};
static_assert(Message<SecurityDirectory>);
static_assert(sizeof(SecurityDirectory) == 31);
static_assert(offsetof(SecurityDirectory, flags) == 1);
static_assert(offsetof(SecurityDirectory, timestamp_ns) == 2);
static_assert(offsetof(SecurityDirectory, symbol) == 10);
static_assert(offsetof(SecurityDirectory, round_lot) == 18);
static_assert(offsetof(SecurityDirectory, adjusted_poc_price_e4) == 22);
static_assert(offsetof(SecurityDirectory, luld_tier) == 30);

struct TradingStatus {
    static constexpr unsigned char message_type = 'H';

    unsigned char type;
    unsigned char status;  // H halted, O order acceptance, P paused, T trading
    le64_signed timestamp_ns;
    std::array<char, 8> symbol;
    std::array<char, 4> reason;
};
static_assert(Message<TradingStatus>);
static_assert(sizeof(TradingStatus) == 22);
static_assert(offsetof(TradingStatus, status) == 1);
static_assert(offsetof(TradingStatus, timestamp_ns) == 2);
static_assert(offsetof(TradingStatus, symbol) == 10);
static_assert(offsetof(TradingStatus, reason) == 18);

struct RetailLiquidityIndicator {
    static constexpr unsigned char message_type = 'I';

    unsigned char type;
    unsigned char indicator;  // space none, A buy, B sell, C both
    le64_signed timestamp_ns;
    std::array<char, 8> symbol;
};
static_assert(Message<RetailLiquidityIndicator>);
static_assert(sizeof(RetailLiquidityIndicator) == 18);
static_assert(offsetof(RetailLiquidityIndicator, indicator) == 1);
static_assert(offsetof(RetailLiquidityIndicator, timestamp_ns) == 2);
static_assert(offsetof(RetailLiquidityIndicator, symbol) == 10);

struct OperationalHalt {
    static constexpr unsigned char message_type = 'O';

    unsigned char type;
    unsigned char status;  // O halted on IEX, N not
    le64_signed timestamp_ns;
    std::array<char, 8> symbol;
};
static_assert(Message<OperationalHalt>);
static_assert(sizeof(OperationalHalt) == 18);
static_assert(offsetof(OperationalHalt, status) == 1);
static_assert(offsetof(OperationalHalt, timestamp_ns) == 2);
static_assert(offsetof(OperationalHalt, symbol) == 10);

struct ShortSalePriceTest {
    static constexpr unsigned char message_type = 'P';

    unsigned char type;
    unsigned char status;  // 0 not in effect, 1 in effect: binary
    le64_signed timestamp_ns;
    std::array<char, 8> symbol;
    unsigned char detail;  // space none, A activated, C continued, D deactivated, N not available
};
static_assert(Message<ShortSalePriceTest>);
static_assert(sizeof(ShortSalePriceTest) == 19);
static_assert(offsetof(ShortSalePriceTest, status) == 1);
static_assert(offsetof(ShortSalePriceTest, timestamp_ns) == 2);
static_assert(offsetof(ShortSalePriceTest, symbol) == 10);
static_assert(offsetof(ShortSalePriceTest, detail) == 18);

struct TradeReport {  // changes no book; a displayed decrement comes as a level update
    static constexpr unsigned char message_type = 'T';

    unsigned char type;
    unsigned char sale_flags;  // 0x80 intermarket sweep, 0x40 extended hours, 0x20 odd lot, 0x10
                               // trade-through exempt, 0x08 single-price cross
    le64_signed timestamp_ns;
    std::array<char, 8> symbol;
    le32 size;
    le64_signed price_e4;
    le64_signed trade_id;
};
static_assert(Message<TradeReport>);
static_assert(sizeof(TradeReport) == 38);
static_assert(offsetof(TradeReport, sale_flags) == 1);
static_assert(offsetof(TradeReport, timestamp_ns) == 2);
static_assert(offsetof(TradeReport, symbol) == 10);
static_assert(offsetof(TradeReport, size) == 18);
static_assert(offsetof(TradeReport, price_e4) == 22);
static_assert(offsetof(TradeReport, trade_id) == 30);

struct TradeBreak {  // takes back the trade of the same id
    static constexpr unsigned char message_type = 'B';

    unsigned char type;
    unsigned char sale_flags;
    le64_signed timestamp_ns;
    std::array<char, 8> symbol;
    le32 size;
    le64_signed price_e4;
    le64_signed trade_id;
};
static_assert(Message<TradeBreak>);
static_assert(sizeof(TradeBreak) == 38);
static_assert(offsetof(TradeBreak, sale_flags) == 1);
static_assert(offsetof(TradeBreak, timestamp_ns) == 2);
static_assert(offsetof(TradeBreak, symbol) == 10);
static_assert(offsetof(TradeBreak, size) == 18);
static_assert(offsetof(TradeBreak, price_e4) == 22);
static_assert(offsetof(TradeBreak, trade_id) == 30);

struct OfficialPrice {
    static constexpr unsigned char message_type = 'X';

    unsigned char type;
    unsigned char price_type;  // Q opening, M closing
    le64_signed timestamp_ns;
    std::array<char, 8> symbol;
    le64_signed price_e4;
};
static_assert(Message<OfficialPrice>);
static_assert(sizeof(OfficialPrice) == 26);
static_assert(offsetof(OfficialPrice, price_type) == 1);
static_assert(offsetof(OfficialPrice, timestamp_ns) == 2);
static_assert(offsetof(OfficialPrice, symbol) == 10);
static_assert(offsetof(OfficialPrice, price_e4) == 18);

struct AuctionInformation {
    static constexpr unsigned char message_type = 'A';

    unsigned char type;
    unsigned char auction_type;  // O opening, C closing, I IPO, H halt, V volatility
    le64_signed timestamp_ns;
    std::array<char, 8> symbol;
    le32 paired_shares;
    le64_signed reference_price_e4;
    le64_signed indicative_clearing_price_e4;
    le32 imbalance_shares;
    unsigned char imbalance_side;  // B, S or N
    unsigned char extension_number;
    le32 scheduled_auction_time_s;  // since the Unix epoch
    le64_signed auction_book_clearing_price_e4;
    le64_signed collar_reference_price_e4;
    le64_signed lower_collar_e4;
    le64_signed upper_collar_e4;
};
static_assert(Message<AuctionInformation>);
static_assert(sizeof(AuctionInformation) == 80);
static_assert(offsetof(AuctionInformation, auction_type) == 1);
static_assert(offsetof(AuctionInformation, timestamp_ns) == 2);
static_assert(offsetof(AuctionInformation, symbol) == 10);
static_assert(offsetof(AuctionInformation, paired_shares) == 18);
static_assert(offsetof(AuctionInformation, reference_price_e4) == 22);
static_assert(offsetof(AuctionInformation, indicative_clearing_price_e4) == 30);
static_assert(offsetof(AuctionInformation, imbalance_shares) == 38);
static_assert(offsetof(AuctionInformation, imbalance_side) == 42);
static_assert(offsetof(AuctionInformation, extension_number) == 43);
static_assert(offsetof(AuctionInformation, scheduled_auction_time_s) == 44);
static_assert(offsetof(AuctionInformation, auction_book_clearing_price_e4) == 48);
static_assert(offsetof(AuctionInformation, collar_reference_price_e4) == 56);
static_assert(offsetof(AuctionInformation, lower_collar_e4) == 64);
static_assert(offsetof(AuctionInformation, upper_collar_e4) == 72);

struct QuoteUpdate {  // the whole quote; size 0 is an empty side
    static constexpr unsigned char message_type = 'Q';

    unsigned char type;
    unsigned char flags;  // 0x80 symbol not available, 0x40 outside regular hours
    le64_signed timestamp_ns;
    std::array<char, 8> symbol;
    le32 bid_size;
    le64_signed bid_price_e4;
    le64_signed ask_price_e4;
    le32 ask_size;
};
static_assert(Message<QuoteUpdate>);
static_assert(sizeof(QuoteUpdate) == 42);
static_assert(offsetof(QuoteUpdate, flags) == 1);
static_assert(offsetof(QuoteUpdate, timestamp_ns) == 2);
static_assert(offsetof(QuoteUpdate, symbol) == 10);
static_assert(offsetof(QuoteUpdate, bid_size) == 18);
static_assert(offsetof(QuoteUpdate, bid_price_e4) == 22);
static_assert(offsetof(QuoteUpdate, ask_price_e4) == 30);
static_assert(offsetof(QuoteUpdate, ask_size) == 38);

struct SecurityEvent {
    static constexpr unsigned char message_type = 'E';

    unsigned char type;
    unsigned char event;  // O opening process complete, C closing process complete
    le64_signed timestamp_ns;
    std::array<char, 8> symbol;
};
static_assert(Message<SecurityEvent>);
static_assert(sizeof(SecurityEvent) == 18);
static_assert(offsetof(SecurityEvent, event) == 1);
static_assert(offsetof(SecurityEvent, timestamp_ns) == 2);
static_assert(offsetof(SecurityEvent, symbol) == 10);

struct PriceLevelBuy {  // DEEP; the type is the ASCII digit
    static constexpr unsigned char message_type = '8';

    unsigned char type;
    unsigned char event_flags;  // bit 0 clear: the event goes on, the book is in transition
    le64_signed timestamp_ns;
    std::array<char, 8> symbol;
    le32 size;  // new total of the level; 0: the level is gone
    le64_signed price_e4;
};
static_assert(Message<PriceLevelBuy>);
static_assert(sizeof(PriceLevelBuy) == 30);
static_assert(offsetof(PriceLevelBuy, event_flags) == 1);
static_assert(offsetof(PriceLevelBuy, timestamp_ns) == 2);
static_assert(offsetof(PriceLevelBuy, symbol) == 10);
static_assert(offsetof(PriceLevelBuy, size) == 18);
static_assert(offsetof(PriceLevelBuy, price_e4) == 22);

struct PriceLevelSell {  // DEEP; the type is the ASCII digit
    static constexpr unsigned char message_type = '5';

    unsigned char type;
    unsigned char event_flags;  // bit 0 clear: the event goes on, the book is in transition
    le64_signed timestamp_ns;
    std::array<char, 8> symbol;
    le32 size;  // new total of the level; 0: the level is gone
    le64_signed price_e4;
};
static_assert(Message<PriceLevelSell>);
static_assert(sizeof(PriceLevelSell) == 30);
static_assert(offsetof(PriceLevelSell, event_flags) == 1);
static_assert(offsetof(PriceLevelSell, timestamp_ns) == 2);
static_assert(offsetof(PriceLevelSell, symbol) == 10);
static_assert(offsetof(PriceLevelSell, size) == 18);
static_assert(offsetof(PriceLevelSell, price_e4) == 22);

}  // namespace wirebook::wire::iex
