// NASDAQ TotalView-ITCH 5.0: system, directory, status and participant messages. Numbers are
// unsigned big-endian, text is left-justified and padded with spaces, prices are dollars * 10^4
// where the name ends in _e4. One struct a message, in the order and with the names of the sheet.
// Depends on wire only. Plain layouts; any thread.
#pragma once

#include <array>
#include <cstddef>

#include "wirebook/wire/field.hpp"
#include "wirebook/wire/itch50_header.hpp"
#include "wirebook/wire/view.hpp"

namespace wirebook::wire::itch50 {

struct SystemEvent {  // stock_locate is 0
    static constexpr unsigned char message_type = 'S';

    Header header;
    unsigned char event_code;  // O S Q M E C, in the order of a day
};
static_assert(Message<SystemEvent>);
static_assert(sizeof(SystemEvent) == 12);
static_assert(offsetof(SystemEvent, event_code) == 11);

struct StockDirectory {  // again for a locate within the day: an update of that instrument
    static constexpr unsigned char message_type = 'R';

    Header header;
    std::array<char, 8> stock;       // right-padded with spaces
    unsigned char market_category;   // Q G S N A P Z V M, or space
    unsigned char financial_status;  // N normal; D E Q S G H J K C, or space
    be32 round_lot_size;
    unsigned char round_lots_only;  // 'Y' or 'N'
    unsigned char issue_classification;
    std::array<char, 2> issue_sub_type;
    unsigned char authenticity;  // P production, T test symbol
    unsigned char short_sale_threshold;
    unsigned char ipo_flag;
    unsigned char luld_tier;  // '1', '2' or space
    unsigned char etp_flag;
    be32 etp_leverage_factor;
    unsigned char inverse_indicator;
};
static_assert(Message<StockDirectory>);
static_assert(sizeof(StockDirectory) == 39);
static_assert(offsetof(StockDirectory, stock) == 11);
static_assert(offsetof(StockDirectory, market_category) == 19);
static_assert(offsetof(StockDirectory, financial_status) == 20);
static_assert(offsetof(StockDirectory, round_lot_size) == 21);
static_assert(offsetof(StockDirectory, round_lots_only) == 25);
static_assert(offsetof(StockDirectory, issue_classification) == 26);
static_assert(offsetof(StockDirectory, issue_sub_type) == 27);
static_assert(offsetof(StockDirectory, authenticity) == 29);
static_assert(offsetof(StockDirectory, short_sale_threshold) == 30);
static_assert(offsetof(StockDirectory, ipo_flag) == 31);
static_assert(offsetof(StockDirectory, luld_tier) == 32);
static_assert(offsetof(StockDirectory, etp_flag) == 33);
static_assert(offsetof(StockDirectory, etp_leverage_factor) == 34);
static_assert(offsetof(StockDirectory, inverse_indicator) == 38);

struct StockTradingAction {
    static constexpr unsigned char message_type = 'H';

    Header header;
    std::array<char, 8> stock;  // right-padded with spaces
    unsigned char state;        // H halted, P paused, Q quotation only, T trading
    unsigned char reserved;
    std::array<char, 4> reason;
};
static_assert(Message<StockTradingAction>);
static_assert(sizeof(StockTradingAction) == 25);
static_assert(offsetof(StockTradingAction, stock) == 11);
static_assert(offsetof(StockTradingAction, state) == 19);
static_assert(offsetof(StockTradingAction, reserved) == 20);
static_assert(offsetof(StockTradingAction, reason) == 21);

struct RegShoRestriction {
    static constexpr unsigned char message_type = 'Y';

    Header header;
    std::array<char, 8> stock;  // right-padded with spaces
    unsigned char action;       // '0' none, '1' in effect, '2' remains in effect
};
static_assert(Message<RegShoRestriction>);
static_assert(sizeof(RegShoRestriction) == 20);
static_assert(offsetof(RegShoRestriction, stock) == 11);
static_assert(offsetof(RegShoRestriction, action) == 19);

struct MarketParticipantPosition {
    static constexpr unsigned char message_type = 'L';

    Header header;
    std::array<char, 4> mpid;   // before the stock, unlike in other messages
    std::array<char, 8> stock;  // right-padded with spaces
    unsigned char primary_mm;   // 'Y' or 'N'
    unsigned char mode;         // N normal, P passive, S syndicate, R pre-syndicate, L penalty
    unsigned char state;        // A active, E excused, W withdrawn, S suspended, D deleted
};
static_assert(Message<MarketParticipantPosition>);
static_assert(sizeof(MarketParticipantPosition) == 26);
static_assert(offsetof(MarketParticipantPosition, mpid) == 11);
static_assert(offsetof(MarketParticipantPosition, stock) == 15);
static_assert(offsetof(MarketParticipantPosition, primary_mm) == 23);
static_assert(offsetof(MarketParticipantPosition, mode) == 24);
static_assert(offsetof(MarketParticipantPosition, state) == 25);

struct MwcbDeclineLevel {  // market-wide circuit breaker; stock_locate is 0
    static constexpr unsigned char message_type = 'V';

    Header header;
    be64 level1_e8;  // dollars * 10^8, the only prices of eight places
    be64 level2_e8;
    be64 level3_e8;
};
static_assert(Message<MwcbDeclineLevel>);
static_assert(sizeof(MwcbDeclineLevel) == 35);
static_assert(offsetof(MwcbDeclineLevel, level1_e8) == 11);
static_assert(offsetof(MwcbDeclineLevel, level2_e8) == 19);
static_assert(offsetof(MwcbDeclineLevel, level3_e8) == 27);

struct MwcbStatus {
    static constexpr unsigned char message_type = 'W';

    Header header;
    unsigned char breached_level;  // '1', '2' or '3'
};
static_assert(Message<MwcbStatus>);
static_assert(sizeof(MwcbStatus) == 12);
static_assert(offsetof(MwcbStatus, breached_level) == 11);

struct IpoQuotingPeriod {
    static constexpr unsigned char message_type = 'K';

    Header header;
    std::array<char, 8> stock;  // right-padded with spaces
    be32 release_time_s;        // since midnight
    unsigned char qualifier;    // A anticipated, C cancelled or postponed
    be32 ipo_price_e4;
};
static_assert(Message<IpoQuotingPeriod>);
static_assert(sizeof(IpoQuotingPeriod) == 28);
static_assert(offsetof(IpoQuotingPeriod, stock) == 11);
static_assert(offsetof(IpoQuotingPeriod, release_time_s) == 19);
static_assert(offsetof(IpoQuotingPeriod, qualifier) == 23);
static_assert(offsetof(IpoQuotingPeriod, ipo_price_e4) == 24);

struct LuldAuctionCollar {  // limit up, limit down
    static constexpr unsigned char message_type = 'J';

    Header header;
    std::array<char, 8> stock;  // right-padded with spaces
    be32 collar_reference_price_e4;
    be32 upper_collar_e4;
    be32 lower_collar_e4;
    be32 extension_number;  // 0 at first, one more for each extension
};
static_assert(Message<LuldAuctionCollar>);
static_assert(sizeof(LuldAuctionCollar) == 35);
static_assert(offsetof(LuldAuctionCollar, stock) == 11);
static_assert(offsetof(LuldAuctionCollar, collar_reference_price_e4) == 19);
static_assert(offsetof(LuldAuctionCollar, upper_collar_e4) == 23);
static_assert(offsetof(LuldAuctionCollar, lower_collar_e4) == 27);
static_assert(offsetof(LuldAuctionCollar, extension_number) == 31);

struct OperationalHalt {  // lower case on the wire; of one venue, which need not be this one
    static constexpr unsigned char message_type = 'h';

    Header header;
    std::array<char, 8> stock;  // right-padded with spaces
    unsigned char market_code;  // Q Nasdaq, B BX, X PSX
    unsigned char action;       // H halted, T resumed
};
static_assert(Message<OperationalHalt>);
static_assert(sizeof(OperationalHalt) == 21);
static_assert(offsetof(OperationalHalt, stock) == 11);
static_assert(offsetof(OperationalHalt, market_code) == 19);
static_assert(offsetof(OperationalHalt, action) == 20);

}  // namespace wirebook::wire::itch50
