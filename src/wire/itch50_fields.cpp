// Field names of NASDAQ TotalView-ITCH 5.0.
#include <array>
#include <cstddef>

#include "field_table.hpp"
#include "wirebook/wire/fields.hpp"
#include "wirebook/wire/itch50.hpp"

namespace wirebook::wire {

namespace itch50 {
namespace {

constexpr std::array header_fields{
    WIREBOOK_FIELD(Header, stock_locate, "stock_locate"),
    WIREBOOK_FIELD(Header, tracking_number, "tracking_number"),
    WIREBOOK_FIELD(Header, timestamp_ns, "timestamp"),
};

template <std::size_t N>
constexpr std::array<Field, header_fields.size() + N> with_header(
    const std::array<Field, N>& fields) {
    std::array<Field, header_fields.size() + N> all{};
    for (std::size_t i = 0; i < header_fields.size(); ++i) all[i] = header_fields[i];
    for (std::size_t i = 0; i < N; ++i) all[header_fields.size() + i] = fields[i];
    return all;
}

constexpr auto system_event_fields = with_header(std::array{
    WIREBOOK_FIELD(SystemEvent, event_code, "event_code"),
});

constexpr auto stock_directory_fields = with_header(std::array{
    WIREBOOK_FIELD(StockDirectory, stock, "stock"),
    WIREBOOK_FIELD(StockDirectory, market_category, "market_category"),
    WIREBOOK_FIELD(StockDirectory, financial_status, "financial_status"),
    WIREBOOK_FIELD(StockDirectory, round_lot_size, "round_lot_size"),
    WIREBOOK_FIELD(StockDirectory, round_lots_only, "round_lots_only"),
    WIREBOOK_FIELD(StockDirectory, issue_classification, "issue_classification"),
    WIREBOOK_FIELD(StockDirectory, issue_sub_type, "issue_sub_type"),
    WIREBOOK_FIELD(StockDirectory, authenticity, "authenticity"),
    WIREBOOK_FIELD(StockDirectory, short_sale_threshold, "short_sale_threshold"),
    WIREBOOK_FIELD(StockDirectory, ipo_flag, "ipo_flag"),
    WIREBOOK_FIELD(StockDirectory, luld_tier, "luld_tier"),
    WIREBOOK_FIELD(StockDirectory, etp_flag, "etp_flag"),
    WIREBOOK_FIELD(StockDirectory, etp_leverage_factor, "etp_leverage_factor"),
    WIREBOOK_FIELD(StockDirectory, inverse_indicator, "inverse_indicator"),
});

constexpr auto stock_trading_action_fields = with_header(std::array{
    WIREBOOK_FIELD(StockTradingAction, stock, "stock"),
    WIREBOOK_FIELD(StockTradingAction, state, "state"),
    WIREBOOK_FIELD(StockTradingAction, reserved, "reserved"),
    WIREBOOK_FIELD(StockTradingAction, reason, "reason"),
});

constexpr auto reg_sho_restriction_fields = with_header(std::array{
    WIREBOOK_FIELD(RegShoRestriction, stock, "stock"),
    WIREBOOK_FIELD(RegShoRestriction, action, "action"),
});

constexpr auto market_participant_position_fields = with_header(std::array{
    WIREBOOK_FIELD(MarketParticipantPosition, mpid, "mpid"),
    WIREBOOK_FIELD(MarketParticipantPosition, stock, "stock"),
    WIREBOOK_FIELD(MarketParticipantPosition, primary_mm, "primary_mm"),
    WIREBOOK_FIELD(MarketParticipantPosition, mode, "mode"),
    WIREBOOK_FIELD(MarketParticipantPosition, state, "state"),
});

constexpr auto mwcb_decline_level_fields = with_header(std::array{
    WIREBOOK_FIELD(MwcbDeclineLevel, level1_e8, "level1"),
    WIREBOOK_FIELD(MwcbDeclineLevel, level2_e8, "level2"),
    WIREBOOK_FIELD(MwcbDeclineLevel, level3_e8, "level3"),
});

constexpr auto mwcb_status_fields = with_header(std::array{
    WIREBOOK_FIELD(MwcbStatus, breached_level, "breached_level"),
});

constexpr auto ipo_quoting_period_fields = with_header(std::array{
    WIREBOOK_FIELD(IpoQuotingPeriod, stock, "stock"),
    WIREBOOK_FIELD(IpoQuotingPeriod, release_time_s, "release_time"),
    WIREBOOK_FIELD(IpoQuotingPeriod, qualifier, "qualifier"),
    WIREBOOK_FIELD(IpoQuotingPeriod, ipo_price_e4, "ipo_price"),
});

constexpr auto luld_auction_collar_fields = with_header(std::array{
    WIREBOOK_FIELD(LuldAuctionCollar, stock, "stock"),
    WIREBOOK_FIELD(LuldAuctionCollar, collar_reference_price_e4, "collar_reference_price"),
    WIREBOOK_FIELD(LuldAuctionCollar, upper_collar_e4, "upper_collar"),
    WIREBOOK_FIELD(LuldAuctionCollar, lower_collar_e4, "lower_collar"),
    WIREBOOK_FIELD(LuldAuctionCollar, extension_number, "extension_number"),
});

constexpr auto operational_halt_fields = with_header(std::array{
    WIREBOOK_FIELD(OperationalHalt, stock, "stock"),
    WIREBOOK_FIELD(OperationalHalt, market_code, "market_code"),
    WIREBOOK_FIELD(OperationalHalt, action, "action"),
});

constexpr auto add_order_fields = with_header(std::array{
    WIREBOOK_FIELD(AddOrder, order_ref, "order_ref"),
    WIREBOOK_FIELD(AddOrder, side, "side"),
    WIREBOOK_FIELD(AddOrder, shares, "shares"),
    WIREBOOK_FIELD(AddOrder, stock, "stock"),
    WIREBOOK_FIELD(AddOrder, price_e4, "price"),
});

constexpr auto add_order_attributed_fields = with_header(std::array{
    WIREBOOK_FIELD(AddOrderAttributed, order_ref, "order_ref"),
    WIREBOOK_FIELD(AddOrderAttributed, side, "side"),
    WIREBOOK_FIELD(AddOrderAttributed, shares, "shares"),
    WIREBOOK_FIELD(AddOrderAttributed, stock, "stock"),
    WIREBOOK_FIELD(AddOrderAttributed, price_e4, "price"),
    WIREBOOK_FIELD(AddOrderAttributed, attribution_mpid, "attribution_mpid"),
});

constexpr auto order_executed_fields = with_header(std::array{
    WIREBOOK_FIELD(OrderExecuted, order_ref, "order_ref"),
    WIREBOOK_FIELD(OrderExecuted, executed_shares, "executed_shares"),
    WIREBOOK_FIELD(OrderExecuted, match_number, "match_number"),
});

constexpr auto order_executed_with_price_fields = with_header(std::array{
    WIREBOOK_FIELD(OrderExecutedWithPrice, order_ref, "order_ref"),
    WIREBOOK_FIELD(OrderExecutedWithPrice, executed_shares, "executed_shares"),
    WIREBOOK_FIELD(OrderExecutedWithPrice, match_number, "match_number"),
    WIREBOOK_FIELD(OrderExecutedWithPrice, printable, "printable"),
    WIREBOOK_FIELD(OrderExecutedWithPrice, execution_price_e4, "execution_price"),
});

constexpr auto order_cancel_fields = with_header(std::array{
    WIREBOOK_FIELD(OrderCancel, order_ref, "order_ref"),
    WIREBOOK_FIELD(OrderCancel, cancelled_shares, "cancelled_shares"),
});

constexpr auto order_delete_fields = with_header(std::array{
    WIREBOOK_FIELD(OrderDelete, order_ref, "order_ref"),
});

constexpr auto order_replace_fields = with_header(std::array{
    WIREBOOK_FIELD(OrderReplace, original_ref, "original_ref"),
    WIREBOOK_FIELD(OrderReplace, new_ref, "new_ref"),
    WIREBOOK_FIELD(OrderReplace, shares, "shares"),
    WIREBOOK_FIELD(OrderReplace, price_e4, "price"),
});

constexpr auto trade_fields = with_header(std::array{
    WIREBOOK_FIELD(Trade, order_ref, "order_ref"),
    WIREBOOK_FIELD(Trade, side, "side"),
    WIREBOOK_FIELD(Trade, shares, "shares"),
    WIREBOOK_FIELD(Trade, stock, "stock"),
    WIREBOOK_FIELD(Trade, price_e4, "price"),
    WIREBOOK_FIELD(Trade, match_number, "match_number"),
});

constexpr auto cross_trade_fields = with_header(std::array{
    WIREBOOK_FIELD(CrossTrade, shares, "shares"),
    WIREBOOK_FIELD(CrossTrade, stock, "stock"),
    WIREBOOK_FIELD(CrossTrade, cross_price_e4, "cross_price"),
    WIREBOOK_FIELD(CrossTrade, match_number, "match_number"),
    WIREBOOK_FIELD(CrossTrade, cross_type, "cross_type"),
});

constexpr auto broken_trade_fields = with_header(std::array{
    WIREBOOK_FIELD(BrokenTrade, match_number, "match_number"),
});

constexpr auto imbalance_indicator_fields = with_header(std::array{
    WIREBOOK_FIELD(ImbalanceIndicator, paired_shares, "paired_shares"),
    WIREBOOK_FIELD(ImbalanceIndicator, imbalance_shares, "imbalance_shares"),
    WIREBOOK_FIELD(ImbalanceIndicator, direction, "direction"),
    WIREBOOK_FIELD(ImbalanceIndicator, stock, "stock"),
    WIREBOOK_FIELD(ImbalanceIndicator, far_price_e4, "far_price"),
    WIREBOOK_FIELD(ImbalanceIndicator, near_price_e4, "near_price"),
    WIREBOOK_FIELD(ImbalanceIndicator, reference_price_e4, "reference_price"),
    WIREBOOK_FIELD(ImbalanceIndicator, cross_type, "cross_type"),
    WIREBOOK_FIELD(ImbalanceIndicator, price_variation, "price_variation"),
});

constexpr auto retail_interest_fields = with_header(std::array{
    WIREBOOK_FIELD(RetailInterest, stock, "stock"),
    WIREBOOK_FIELD(RetailInterest, interest_flag, "interest_flag"),
});

constexpr auto price_discovery_fields = with_header(std::array{
    WIREBOOK_FIELD(PriceDiscovery, stock, "stock"),
    WIREBOOK_FIELD(PriceDiscovery, open_eligibility, "open_eligibility"),
    WIREBOOK_FIELD(PriceDiscovery, min_allowable_price_e4, "min_allowable_price"),
    WIREBOOK_FIELD(PriceDiscovery, max_allowable_price_e4, "max_allowable_price"),
    WIREBOOK_FIELD(PriceDiscovery, near_execution_price_e4, "near_execution_price"),
    WIREBOOK_FIELD(PriceDiscovery, near_execution_time_ns, "near_execution_time"),
    WIREBOOK_FIELD(PriceDiscovery, lower_collar_e4, "lower_collar"),
    WIREBOOK_FIELD(PriceDiscovery, upper_collar_e4, "upper_collar"),
});

constexpr std::array messages{
    detail::make_message<SystemEvent>(system_event_fields),
    detail::make_message<StockDirectory>(stock_directory_fields),
    detail::make_message<StockTradingAction>(stock_trading_action_fields),
    detail::make_message<RegShoRestriction>(reg_sho_restriction_fields),
    detail::make_message<MarketParticipantPosition>(market_participant_position_fields),
    detail::make_message<MwcbDeclineLevel>(mwcb_decline_level_fields),
    detail::make_message<MwcbStatus>(mwcb_status_fields),
    detail::make_message<IpoQuotingPeriod>(ipo_quoting_period_fields),
    detail::make_message<LuldAuctionCollar>(luld_auction_collar_fields),
    detail::make_message<OperationalHalt>(operational_halt_fields),
    detail::make_message<AddOrder>(add_order_fields),
    detail::make_message<AddOrderAttributed>(add_order_attributed_fields),
    detail::make_message<OrderExecuted>(order_executed_fields),
    detail::make_message<OrderExecutedWithPrice>(order_executed_with_price_fields),
    detail::make_message<OrderCancel>(order_cancel_fields),
    detail::make_message<OrderDelete>(order_delete_fields),
    detail::make_message<OrderReplace>(order_replace_fields),
    detail::make_message<Trade>(trade_fields),
    detail::make_message<CrossTrade>(cross_trade_fields),
    detail::make_message<BrokenTrade>(broken_trade_fields),
    detail::make_message<ImbalanceIndicator>(imbalance_indicator_fields),
    detail::make_message<RetailInterest>(retail_interest_fields),
    detail::make_message<PriceDiscovery>(price_discovery_fields),
};

}  // namespace
}  // namespace itch50

namespace detail {

std::span<const MessageFields> itch50_fields() noexcept {
    return itch50::messages;
}

}  // namespace detail

}  // namespace wirebook::wire
