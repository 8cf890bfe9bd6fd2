// The structs and values of the C interface are those of the ring, byte for byte: this file holds
// no code, it compiles or it does not. A field or a value that is added there is added here.
#include "handle.hpp"

namespace wirebook::capi {

namespace {

#define WIREBOOK_SAME(C, Cpp, field)                                  \
    static_assert(offsetof(C, field) == offsetof(ring::Cpp, field) && \
                  sizeof(C::field) == sizeof(ring::Cpp::field))

static_assert(sizeof(wirebook_level) == sizeof(ring::Level));
WIREBOOK_SAME(wirebook_level, Level, price);
WIREBOOK_SAME(wirebook_level, Level, quantity);
WIREBOOK_SAME(wirebook_level, Level, orders);
WIREBOOK_SAME(wirebook_level, Level, reserved);

static_assert(sizeof(wirebook_level_row) == sizeof(ring::LevelRow));
WIREBOOK_SAME(wirebook_level_row, LevelRow, bid);
WIREBOOK_SAME(wirebook_level_row, LevelRow, ask);

static_assert(sizeof(wirebook_record) == sizeof(ring::Record));
WIREBOOK_SAME(wirebook_record, Record, sequence);
WIREBOOK_SAME(wirebook_record, Record, instrument);
WIREBOOK_SAME(wirebook_record, Record, kind);
WIREBOOK_SAME(wirebook_record, Record, flags);
WIREBOOK_SAME(wirebook_record, Record, quality);
WIREBOOK_SAME(wirebook_record, Record, status);
WIREBOOK_SAME(wirebook_record, Record, bid_price);
WIREBOOK_SAME(wirebook_record, Record, bid_quantity);
WIREBOOK_SAME(wirebook_record, Record, ask_price);
WIREBOOK_SAME(wirebook_record, Record, ask_quantity);
WIREBOOK_SAME(wirebook_record, Record, exchange_time_ns);
WIREBOOK_SAME(wirebook_record, Record, receive_tsc);
WIREBOOK_SAME(wirebook_record, Record, receive_time_ns);
WIREBOOK_SAME(wirebook_record, Record, feed_sequence);
WIREBOOK_SAME(wirebook_record, Record, packet);
WIREBOOK_SAME(wirebook_record, Record, decoded_delta);
WIREBOOK_SAME(wirebook_record, Record, booked_delta);
WIREBOOK_SAME(wirebook_record, Record, published_delta);
WIREBOOK_SAME(wirebook_record, Record, channel);
WIREBOOK_SAME(wirebook_record, Record, line);
WIREBOOK_SAME(wirebook_record, Record, time_source);
WIREBOOK_SAME(wirebook_record, Record, bid_levels);
WIREBOOK_SAME(wirebook_record, Record, ask_levels);
WIREBOOK_SAME(wirebook_record, Record, reserved0);
WIREBOOK_SAME(wirebook_record, Record, bid_orders);
WIREBOOK_SAME(wirebook_record, Record, ask_orders);
WIREBOOK_SAME(wirebook_record, Record, reserved1);
WIREBOOK_SAME(wirebook_record, Record, reserved2);
WIREBOOK_SAME(wirebook_record, Record, levels);

static_assert(sizeof(wirebook_trade_event) == sizeof(ring::TradeEvent));
WIREBOOK_SAME(wirebook_trade_event, TradeEvent, price);
WIREBOOK_SAME(wirebook_trade_event, TradeEvent, quantity);
WIREBOOK_SAME(wirebook_trade_event, TradeEvent, match);
WIREBOOK_SAME(wirebook_trade_event, TradeEvent, resting_side);
WIREBOOK_SAME(wirebook_trade_event, TradeEvent, printable);
WIREBOOK_SAME(wirebook_trade_event, TradeEvent, code);
WIREBOOK_SAME(wirebook_trade_event, TradeEvent, cross_type);
WIREBOOK_SAME(wirebook_trade_event, TradeEvent, sale_flags);
WIREBOOK_SAME(wirebook_trade_event, TradeEvent, reserved0);
WIREBOOK_SAME(wirebook_trade_event, TradeEvent, reserved1);

static_assert(sizeof(wirebook_break_event) == sizeof(ring::TradeBreakEvent));
WIREBOOK_SAME(wirebook_break_event, TradeBreakEvent, price);
WIREBOOK_SAME(wirebook_break_event, TradeBreakEvent, quantity);
WIREBOOK_SAME(wirebook_break_event, TradeBreakEvent, match);
WIREBOOK_SAME(wirebook_break_event, TradeBreakEvent, reserved);

static_assert(sizeof(wirebook_status_event) == sizeof(ring::StatusEvent));
WIREBOOK_SAME(wirebook_status_event, StatusEvent, status);
WIREBOOK_SAME(wirebook_status_event, StatusEvent, code);
WIREBOOK_SAME(wirebook_status_event, StatusEvent, value);
WIREBOOK_SAME(wirebook_status_event, StatusEvent, reserved0);
WIREBOOK_SAME(wirebook_status_event, StatusEvent, reason);
WIREBOOK_SAME(wirebook_status_event, StatusEvent, reserved1);

static_assert(sizeof(wirebook_auction_event) == sizeof(ring::AuctionEvent));
WIREBOOK_SAME(wirebook_auction_event, AuctionEvent, reference_price);
WIREBOOK_SAME(wirebook_auction_event, AuctionEvent, indicative_price);
WIREBOOK_SAME(wirebook_auction_event, AuctionEvent, far_price);
WIREBOOK_SAME(wirebook_auction_event, AuctionEvent, paired_quantity);
WIREBOOK_SAME(wirebook_auction_event, AuctionEvent, imbalance_quantity);
WIREBOOK_SAME(wirebook_auction_event, AuctionEvent, imbalance_side);
WIREBOOK_SAME(wirebook_auction_event, AuctionEvent, code);
WIREBOOK_SAME(wirebook_auction_event, AuctionEvent, cross_type);
WIREBOOK_SAME(wirebook_auction_event, AuctionEvent, variation);
WIREBOOK_SAME(wirebook_auction_event, AuctionEvent, scheduled_s);
WIREBOOK_SAME(wirebook_auction_event, AuctionEvent, reserved);

static_assert(sizeof(wirebook_collar_event) == sizeof(ring::CollarEvent));
WIREBOOK_SAME(wirebook_collar_event, CollarEvent, reference_price);
WIREBOOK_SAME(wirebook_collar_event, CollarEvent, lower_price);
WIREBOOK_SAME(wirebook_collar_event, CollarEvent, upper_price);
WIREBOOK_SAME(wirebook_collar_event, CollarEvent, extension);
WIREBOOK_SAME(wirebook_collar_event, CollarEvent, code);
WIREBOOK_SAME(wirebook_collar_event, CollarEvent, cross_type);
WIREBOOK_SAME(wirebook_collar_event, CollarEvent, reserved0);
WIREBOOK_SAME(wirebook_collar_event, CollarEvent, reserved1);

static_assert(sizeof(wirebook_ipo_event) == sizeof(ring::IpoEvent));
WIREBOOK_SAME(wirebook_ipo_event, IpoEvent, price);
WIREBOOK_SAME(wirebook_ipo_event, IpoEvent, release_ns);
WIREBOOK_SAME(wirebook_ipo_event, IpoEvent, qualifier);
WIREBOOK_SAME(wirebook_ipo_event, IpoEvent, code);
WIREBOOK_SAME(wirebook_ipo_event, IpoEvent, reserved0);
WIREBOOK_SAME(wirebook_ipo_event, IpoEvent, reserved1);

static_assert(sizeof(wirebook_system_event) == sizeof(ring::SystemEvent));
WIREBOOK_SAME(wirebook_system_event, SystemEvent, value);
WIREBOOK_SAME(wirebook_system_event, SystemEvent, reserved0);
WIREBOOK_SAME(wirebook_system_event, SystemEvent, group);
WIREBOOK_SAME(wirebook_system_event, SystemEvent, reserved1);

static_assert(sizeof(wirebook_gap_event) == sizeof(ring::GapEvent));
WIREBOOK_SAME(wirebook_gap_event, GapEvent, first);
WIREBOOK_SAME(wirebook_gap_event, GapEvent, last);
WIREBOOK_SAME(wirebook_gap_event, GapEvent, lines);
WIREBOOK_SAME(wirebook_gap_event, GapEvent, reserved0);
WIREBOOK_SAME(wirebook_gap_event, GapEvent, reserved1);

static_assert(sizeof(wirebook_session_event) == sizeof(ring::SessionEvent));
WIREBOOK_SAME(wirebook_session_event, SessionEvent, session);
WIREBOOK_SAME(wirebook_session_event, SessionEvent, next_sequence);
WIREBOOK_SAME(wirebook_session_event, SessionEvent, reserved);

static_assert(sizeof(wirebook_quality_event) == sizeof(ring::QualityEvent));
WIREBOOK_SAME(wirebook_quality_event, QualityEvent, before);
WIREBOOK_SAME(wirebook_quality_event, QualityEvent, after);
WIREBOOK_SAME(wirebook_quality_event, QualityEvent, reserved0);
WIREBOOK_SAME(wirebook_quality_event, QualityEvent, reserved1);

static_assert(sizeof(wirebook_directory_event) == sizeof(ring::DirectoryEvent));
WIREBOOK_SAME(wirebook_directory_event, DirectoryEvent, symbol);
WIREBOOK_SAME(wirebook_directory_event, DirectoryEvent, round_lot);
WIREBOOK_SAME(wirebook_directory_event, DirectoryEvent, price_places);
WIREBOOK_SAME(wirebook_directory_event, DirectoryEvent, authenticity);
WIREBOOK_SAME(wirebook_directory_event, DirectoryEvent, market_category);
WIREBOOK_SAME(wirebook_directory_event, DirectoryEvent, financial_status);
WIREBOOK_SAME(wirebook_directory_event, DirectoryEvent, luld_tier);
WIREBOOK_SAME(wirebook_directory_event, DirectoryEvent, etp);
WIREBOOK_SAME(wirebook_directory_event, DirectoryEvent, reserved0);
WIREBOOK_SAME(wirebook_directory_event, DirectoryEvent, reference_price);
WIREBOOK_SAME(wirebook_directory_event, DirectoryEvent, lower_limit);
WIREBOOK_SAME(wirebook_directory_event, DirectoryEvent, upper_limit);

static_assert(sizeof(wirebook_order_event) == sizeof(ring::OrderEvent));
WIREBOOK_SAME(wirebook_order_event, OrderEvent, price);
WIREBOOK_SAME(wirebook_order_event, OrderEvent, order_id);
WIREBOOK_SAME(wirebook_order_event, OrderEvent, other_id);
WIREBOOK_SAME(wirebook_order_event, OrderEvent, quantity_ahead);
WIREBOOK_SAME(wirebook_order_event, OrderEvent, orders_ahead);
WIREBOOK_SAME(wirebook_order_event, OrderEvent, quantity);
WIREBOOK_SAME(wirebook_order_event, OrderEvent, left);
WIREBOOK_SAME(wirebook_order_event, OrderEvent, action);
WIREBOOK_SAME(wirebook_order_event, OrderEvent, side);
WIREBOOK_SAME(wirebook_order_event, OrderEvent, printable);
WIREBOOK_SAME(wirebook_order_event, OrderEvent, reserved0);
WIREBOOK_SAME(wirebook_order_event, OrderEvent, reserved1);

static_assert(sizeof(wirebook_identity) == sizeof(ring::Identity));
WIREBOOK_SAME(wirebook_identity, Identity, version);
WIREBOOK_SAME(wirebook_identity, Identity, symbol);
WIREBOOK_SAME(wirebook_identity, Identity, channel);
WIREBOOK_SAME(wirebook_identity, Identity, price_places);
WIREBOOK_SAME(wirebook_identity, Identity, currency_exponent);
WIREBOOK_SAME(wirebook_identity, Identity, venue);
WIREBOOK_SAME(wirebook_identity, Identity, round_lot);
WIREBOOK_SAME(wirebook_identity, Identity, reserved);

static_assert(sizeof(wirebook_instrument_status) == sizeof(ring::InstrumentStatus));
WIREBOOK_SAME(wirebook_instrument_status, InstrumentStatus, version);
WIREBOOK_SAME(wirebook_instrument_status, InstrumentStatus, trading);
WIREBOOK_SAME(wirebook_instrument_status, InstrumentStatus, quality);
WIREBOOK_SAME(wirebook_instrument_status, InstrumentStatus, code);
WIREBOOK_SAME(wirebook_instrument_status, InstrumentStatus, short_sale);
WIREBOOK_SAME(wirebook_instrument_status, InstrumentStatus, operational_halt);
WIREBOOK_SAME(wirebook_instrument_status, InstrumentStatus, security_event);
WIREBOOK_SAME(wirebook_instrument_status, InstrumentStatus, reserved0);
WIREBOOK_SAME(wirebook_instrument_status, InstrumentStatus, reason);
WIREBOOK_SAME(wirebook_instrument_status, InstrumentStatus, changed_ns);
WIREBOOK_SAME(wirebook_instrument_status, InstrumentStatus, reserved1);

static_assert(sizeof(wirebook_trade_statistics) == sizeof(ring::TradeStatistics));
WIREBOOK_SAME(wirebook_trade_statistics, TradeStatistics, version);
WIREBOOK_SAME(wirebook_trade_statistics, TradeStatistics, trades);
WIREBOOK_SAME(wirebook_trade_statistics, TradeStatistics, volume);
WIREBOOK_SAME(wirebook_trade_statistics, TradeStatistics, last_price);
WIREBOOK_SAME(wirebook_trade_statistics, TradeStatistics, last_quantity);
WIREBOOK_SAME(wirebook_trade_statistics, TradeStatistics, high_price);
WIREBOOK_SAME(wirebook_trade_statistics, TradeStatistics, low_price);
WIREBOOK_SAME(wirebook_trade_statistics, TradeStatistics, open_price);
WIREBOOK_SAME(wirebook_trade_statistics, TradeStatistics, last_ns);
WIREBOOK_SAME(wirebook_trade_statistics, TradeStatistics, last_match);
WIREBOOK_SAME(wirebook_trade_statistics, TradeStatistics, breaks);
WIREBOOK_SAME(wirebook_trade_statistics, TradeStatistics, flags);
WIREBOOK_SAME(wirebook_trade_statistics, TradeStatistics, through);
WIREBOOK_SAME(wirebook_trade_statistics, TradeStatistics, reserved);

static_assert(sizeof(wirebook_auction_state) == sizeof(ring::AuctionState));
WIREBOOK_SAME(wirebook_auction_state, AuctionState, version);
WIREBOOK_SAME(wirebook_auction_state, AuctionState, changed_ns);
WIREBOOK_SAME(wirebook_auction_state, AuctionState, reference_price);
WIREBOOK_SAME(wirebook_auction_state, AuctionState, indicative_price);
WIREBOOK_SAME(wirebook_auction_state, AuctionState, far_price);
WIREBOOK_SAME(wirebook_auction_state, AuctionState, paired_quantity);
WIREBOOK_SAME(wirebook_auction_state, AuctionState, imbalance_quantity);
WIREBOOK_SAME(wirebook_auction_state, AuctionState, imbalance_side);
WIREBOOK_SAME(wirebook_auction_state, AuctionState, code);
WIREBOOK_SAME(wirebook_auction_state, AuctionState, cross_type);
WIREBOOK_SAME(wirebook_auction_state, AuctionState, variation);
WIREBOOK_SAME(wirebook_auction_state, AuctionState, scheduled_s);
WIREBOOK_SAME(wirebook_auction_state, AuctionState, collar_ns);
WIREBOOK_SAME(wirebook_auction_state, AuctionState, collar_reference);
WIREBOOK_SAME(wirebook_auction_state, AuctionState, collar_lower);
WIREBOOK_SAME(wirebook_auction_state, AuctionState, collar_upper);
WIREBOOK_SAME(wirebook_auction_state, AuctionState, extension);
WIREBOOK_SAME(wirebook_auction_state, AuctionState, official_type);
WIREBOOK_SAME(wirebook_auction_state, AuctionState, reserved0);
WIREBOOK_SAME(wirebook_auction_state, AuctionState, official_ns);
WIREBOOK_SAME(wirebook_auction_state, AuctionState, official_price);
WIREBOOK_SAME(wirebook_auction_state, AuctionState, official_quantity);

template <class Enum>
constexpr bool is(int of_c, Enum of_ring) {
    return of_c == static_cast<int>(of_ring);
}
static_assert(is(WIREBOOK_KIND_NONE, ring::RecordKind::none));
static_assert(is(WIREBOOK_KIND_SNAPSHOT, ring::RecordKind::snapshot));
static_assert(is(WIREBOOK_KIND_TRADE, ring::RecordKind::trade));
static_assert(is(WIREBOOK_KIND_BREAK, ring::RecordKind::trade_break));
static_assert(is(WIREBOOK_KIND_STATUS, ring::RecordKind::status));
static_assert(is(WIREBOOK_KIND_AUCTION, ring::RecordKind::auction));
static_assert(is(WIREBOOK_KIND_SYSTEM, ring::RecordKind::system));
static_assert(is(WIREBOOK_KIND_GAP, ring::RecordKind::gap));
static_assert(is(WIREBOOK_KIND_SESSION, ring::RecordKind::session));
static_assert(is(WIREBOOK_KIND_QUALITY, ring::RecordKind::quality));
static_assert(is(WIREBOOK_KIND_DIRECTORY, ring::RecordKind::directory));
static_assert(is(WIREBOOK_KIND_COLLAR, ring::RecordKind::collar));
static_assert(is(WIREBOOK_KIND_IPO, ring::RecordKind::ipo));
static_assert(is(WIREBOOK_KIND_ORDER, ring::RecordKind::order));
static_assert(is(WIREBOOK_QUALITY_GOOD, ring::Quality::good));
static_assert(is(WIREBOOK_QUALITY_STALE, ring::Quality::stale));
static_assert(is(WIREBOOK_QUALITY_RECOVERING, ring::Quality::recovering));
static_assert(is(WIREBOOK_QUALITY_NOT_READY, ring::Quality::not_ready));
static_assert(is(WIREBOOK_STATUS_UNKNOWN, ring::TradingStatus::unknown));
static_assert(is(WIREBOOK_STATUS_TRADING, ring::TradingStatus::trading));
static_assert(is(WIREBOOK_STATUS_HALTED, ring::TradingStatus::halted));
static_assert(is(WIREBOOK_STATUS_PAUSED, ring::TradingStatus::paused));
static_assert(is(WIREBOOK_STATUS_QUOTING, ring::TradingStatus::quoting));
static_assert(is(WIREBOOK_STATUS_AUCTION, ring::TradingStatus::auction));
static_assert(is(WIREBOOK_STATUS_CLOSED, ring::TradingStatus::closed));
static_assert(is(WIREBOOK_TIME_NONE, ring::TimeSource::none));
static_assert(is(WIREBOOK_TIME_CAPTURE, ring::TimeSource::capture));
static_assert(is(WIREBOOK_TIME_SOFTWARE, ring::TimeSource::software));
static_assert(is(WIREBOOK_TIME_NIC, ring::TimeSource::nic));
static_assert(is(WIREBOOK_TIME_NIC_UNSYNCHRONISED, ring::TimeSource::nic_unsynchronised));
static_assert(is(WIREBOOK_SIDE_NONE, ring::RecordSide::none));
static_assert(is(WIREBOOK_SIDE_BID, ring::RecordSide::bid));
static_assert(is(WIREBOOK_SIDE_ASK, ring::RecordSide::ask));
static_assert(is(WIREBOOK_ORDER_ADD, ring::OrderAction::add));
static_assert(is(WIREBOOK_ORDER_EXECUTE, ring::OrderAction::execute));
static_assert(is(WIREBOOK_ORDER_REDUCE, ring::OrderAction::reduce));
static_assert(is(WIREBOOK_ORDER_REMOVE, ring::OrderAction::remove));
static_assert(is(WIREBOOK_ORDER_REPLACE, ring::OrderAction::replace));

static_assert(WIREBOOK_NO_PRICE == ring::no_price);
static_assert(WIREBOOK_NO_INSTRUMENT == ring::no_instrument);
static_assert(WIREBOOK_MAX_DEPTH == ring::max_depth);
static_assert(WIREBOOK_LAST_OF_PACKET == ring::record_flag::last_of_packet);
static_assert(WIREBOOK_FROM_TABLE == ring::record_flag::from_table);
static_assert(WIREBOOK_STREAM_ORDERS == ring::stream_flag::orders);
static_assert(WIREBOOK_LAST_BROKEN == ring::statistics_flag::last_broken);
static_assert(WIREBOOK_HIGH_BROKEN == ring::statistics_flag::high_broken);
static_assert(WIREBOOK_LOW_BROKEN == ring::statistics_flag::low_broken);
static_assert(WIREBOOK_OPEN_BROKEN == ring::statistics_flag::open_broken);
static_assert(WIREBOOK_BREAK_UNKNOWN == ring::statistics_flag::break_unknown);
static_assert(WIREBOOK_INCOMPLETE == ring::statistics_flag::incomplete);

}  // namespace

}  // namespace wirebook::capi
