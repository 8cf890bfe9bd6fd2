// Field names of IEX TOPS and DEEP.
#include <array>
#include <cstddef>

#include "field_table.hpp"
#include "wirebook/wire/fields.hpp"
#include "wirebook/wire/iex.hpp"

namespace wirebook::wire {

namespace iex {
namespace {

constexpr std::array security_directory_fields{
    WIREBOOK_NUMBER(SecurityDirectory, flags, "flags"),
    WIREBOOK_FIELD(SecurityDirectory, timestamp_ns, "timestamp"),
    WIREBOOK_FIELD(SecurityDirectory, symbol, "symbol"),
    WIREBOOK_FIELD(SecurityDirectory, round_lot, "round_lot"),
    WIREBOOK_FIELD(SecurityDirectory, adjusted_poc_price_e4, "adjusted_poc_price"),
    WIREBOOK_NUMBER(SecurityDirectory, luld_tier, "luld_tier"),
};

constexpr std::array trading_status_fields{
    WIREBOOK_FIELD(TradingStatus, status, "status"),
    WIREBOOK_FIELD(TradingStatus, timestamp_ns, "timestamp"),
    WIREBOOK_FIELD(TradingStatus, symbol, "symbol"),
    WIREBOOK_FIELD(TradingStatus, reason, "reason"),
};

constexpr std::array retail_liquidity_indicator_fields{
    WIREBOOK_FIELD(RetailLiquidityIndicator, indicator, "indicator"),
    WIREBOOK_FIELD(RetailLiquidityIndicator, timestamp_ns, "timestamp"),
    WIREBOOK_FIELD(RetailLiquidityIndicator, symbol, "symbol"),
};

constexpr std::array operational_halt_fields{
    WIREBOOK_FIELD(OperationalHalt, status, "status"),
    WIREBOOK_FIELD(OperationalHalt, timestamp_ns, "timestamp"),
    WIREBOOK_FIELD(OperationalHalt, symbol, "symbol"),
};

constexpr std::array short_sale_price_test_fields{
    WIREBOOK_NUMBER(ShortSalePriceTest, status, "status"),
    WIREBOOK_FIELD(ShortSalePriceTest, timestamp_ns, "timestamp"),
    WIREBOOK_FIELD(ShortSalePriceTest, symbol, "symbol"),
    WIREBOOK_FIELD(ShortSalePriceTest, detail, "detail"),
};

constexpr std::array trade_report_fields{
    WIREBOOK_NUMBER(TradeReport, sale_flags, "sale_flags"),
    WIREBOOK_FIELD(TradeReport, timestamp_ns, "timestamp"),
    WIREBOOK_FIELD(TradeReport, symbol, "symbol"),
    WIREBOOK_FIELD(TradeReport, size, "size"),
    WIREBOOK_FIELD(TradeReport, price_e4, "price"),
    WIREBOOK_FIELD(TradeReport, trade_id, "trade_id"),
};

constexpr std::array official_price_fields{
    WIREBOOK_FIELD(OfficialPrice, price_type, "price_type"),
    WIREBOOK_FIELD(OfficialPrice, timestamp_ns, "timestamp"),
    WIREBOOK_FIELD(OfficialPrice, symbol, "symbol"),
    WIREBOOK_FIELD(OfficialPrice, price_e4, "price"),
};

constexpr std::array trade_break_fields{
    WIREBOOK_NUMBER(TradeBreak, sale_flags, "sale_flags"),
    WIREBOOK_FIELD(TradeBreak, timestamp_ns, "timestamp"),
    WIREBOOK_FIELD(TradeBreak, symbol, "symbol"),
    WIREBOOK_FIELD(TradeBreak, size, "size"),
    WIREBOOK_FIELD(TradeBreak, price_e4, "price"),
    WIREBOOK_FIELD(TradeBreak, trade_id, "trade_id"),
};

constexpr std::array auction_information_fields{
    WIREBOOK_FIELD(AuctionInformation, auction_type, "auction_type"),
    WIREBOOK_FIELD(AuctionInformation, timestamp_ns, "timestamp"),
    WIREBOOK_FIELD(AuctionInformation, symbol, "symbol"),
    WIREBOOK_FIELD(AuctionInformation, paired_shares, "paired_shares"),
    WIREBOOK_FIELD(AuctionInformation, reference_price_e4, "reference_price"),
    WIREBOOK_FIELD(AuctionInformation, indicative_clearing_price_e4, "indicative_clearing_price"),
    WIREBOOK_FIELD(AuctionInformation, imbalance_shares, "imbalance_shares"),
    WIREBOOK_FIELD(AuctionInformation, imbalance_side, "imbalance_side"),
    WIREBOOK_NUMBER(AuctionInformation, extension_number, "extension_number"),
    WIREBOOK_FIELD(AuctionInformation, scheduled_auction_time_s, "scheduled_auction_time"),
    WIREBOOK_FIELD(AuctionInformation, auction_book_clearing_price_e4,
                   "auction_book_clearing_price"),
    WIREBOOK_FIELD(AuctionInformation, collar_reference_price_e4, "collar_reference_price"),
    WIREBOOK_FIELD(AuctionInformation, lower_collar_e4, "lower_collar"),
    WIREBOOK_FIELD(AuctionInformation, upper_collar_e4, "upper_collar"),
};

constexpr std::array system_event_fields{
    WIREBOOK_FIELD(SystemEvent, event, "event"),
    WIREBOOK_FIELD(SystemEvent, timestamp_ns, "timestamp"),
};

constexpr std::array quote_update_fields{
    WIREBOOK_NUMBER(QuoteUpdate, flags, "flags"),
    WIREBOOK_FIELD(QuoteUpdate, timestamp_ns, "timestamp"),
    WIREBOOK_FIELD(QuoteUpdate, symbol, "symbol"),
    WIREBOOK_FIELD(QuoteUpdate, bid_size, "bid_size"),
    WIREBOOK_FIELD(QuoteUpdate, bid_price_e4, "bid_price"),
    WIREBOOK_FIELD(QuoteUpdate, ask_price_e4, "ask_price"),
    WIREBOOK_FIELD(QuoteUpdate, ask_size, "ask_size"),
};

constexpr std::array security_event_fields{
    WIREBOOK_FIELD(SecurityEvent, event, "event"),
    WIREBOOK_FIELD(SecurityEvent, timestamp_ns, "timestamp"),
    WIREBOOK_FIELD(SecurityEvent, symbol, "symbol"),
};

constexpr std::array price_level_buy_fields{
    WIREBOOK_NUMBER(PriceLevelBuy, event_flags, "event_flags"),
    WIREBOOK_FIELD(PriceLevelBuy, timestamp_ns, "timestamp"),
    WIREBOOK_FIELD(PriceLevelBuy, symbol, "symbol"),
    WIREBOOK_FIELD(PriceLevelBuy, size, "size"),
    WIREBOOK_FIELD(PriceLevelBuy, price_e4, "price"),
};

constexpr std::array price_level_sell_fields{
    WIREBOOK_NUMBER(PriceLevelSell, event_flags, "event_flags"),
    WIREBOOK_FIELD(PriceLevelSell, timestamp_ns, "timestamp"),
    WIREBOOK_FIELD(PriceLevelSell, symbol, "symbol"),
    WIREBOOK_FIELD(PriceLevelSell, size, "size"),
    WIREBOOK_FIELD(PriceLevelSell, price_e4, "price"),
};

constexpr std::array tops_messages{
    detail::make_message<SecurityDirectory>(security_directory_fields),
    detail::make_message<TradingStatus>(trading_status_fields),
    detail::make_message<RetailLiquidityIndicator>(retail_liquidity_indicator_fields),
    detail::make_message<OperationalHalt>(operational_halt_fields),
    detail::make_message<ShortSalePriceTest>(short_sale_price_test_fields),
    detail::make_message<TradeReport>(trade_report_fields),
    detail::make_message<OfficialPrice>(official_price_fields),
    detail::make_message<TradeBreak>(trade_break_fields),
    detail::make_message<AuctionInformation>(auction_information_fields),
    detail::make_message<SystemEvent>(system_event_fields),
    detail::make_message<QuoteUpdate>(quote_update_fields),
};

constexpr std::array deep_messages{
    detail::make_message<SecurityDirectory>(security_directory_fields),
    detail::make_message<TradingStatus>(trading_status_fields),
    detail::make_message<RetailLiquidityIndicator>(retail_liquidity_indicator_fields),
    detail::make_message<OperationalHalt>(operational_halt_fields),
    detail::make_message<ShortSalePriceTest>(short_sale_price_test_fields),
    detail::make_message<TradeReport>(trade_report_fields),
    detail::make_message<OfficialPrice>(official_price_fields),
    detail::make_message<TradeBreak>(trade_break_fields),
    detail::make_message<AuctionInformation>(auction_information_fields),
    detail::make_message<SystemEvent>(system_event_fields),
    detail::make_message<SecurityEvent>(security_event_fields),
    detail::make_message<PriceLevelBuy>(price_level_buy_fields),
    detail::make_message<PriceLevelSell>(price_level_sell_fields),
};

}  // namespace
}  // namespace iex

namespace detail {

std::span<const MessageFields> iex_tops_fields() noexcept {
    return iex::tops_messages;
}
std::span<const MessageFields> iex_deep_fields() noexcept {
    return iex::deep_messages;
}

}  // namespace detail

}  // namespace wirebook::wire
