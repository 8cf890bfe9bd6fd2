// What participants and the market's operator ask of the matching engine: one fixed-size record a
// request. A journal of the engine is these records, and equal records give equal reports.
//
// May depend on core and book. Plain data.
#pragma once

#include <cstdint>
#include <type_traits>

#include "wirebook/book/update_batch.hpp"

namespace wirebook::match {

using book::Side;

enum class RequestKind : std::uint8_t {
    enter,    // a new order: all fields but new_order_id
    cancel,   // order_id: all that is left of it
    reduce,   // order_id, quantity to take off (of the reserve first); keeps its priority
    replace,  // order_id -> new_order_id, price, quantity (new total), display; loses its priority
    // The operator's.
    set_state,  // instrument, state
    indicate,   // instrument, cross: tells price and imbalance of a cross made now; changes nothing
    cross,      // instrument, cross: makes it
};

enum class OrderType : std::uint8_t { limit, market };

enum class TimeInForce : std::uint8_t {
    day,
    immediate_or_cancel,
    fill_or_kill,
    on_open,   // waits unseen for the opening cross, what is left of it is cancelled then
    on_close,  // the same for the closing cross
};

// What happens when an order would trade with one of the same participant (0: with nobody).
enum class SelfTrade : std::uint8_t { allow, cancel_resting, cancel_incoming, cancel_both };

enum class TradingState : std::uint8_t {
    closed,      // no order enters; the state at start
    continuous,  // orders match as they come
    quotation,   // orders are collected and do not match: the book may cross
    halted,      // no order enters; cancels and reductions do
    paused,      // as halted, for volatility
};

enum class CrossKind : std::uint8_t { opening, closing, halt };

// Bits of Request::flags.
namespace request_flag {
inline constexpr std::uint8_t post_only = 1;  // rejected where it would match at once
inline constexpr std::uint8_t hidden = 2;     // never displayed; behind what is, at its price
}  // namespace request_flag

struct Request {
    RequestKind kind = RequestKind::enter;
    Side side = Side::bid;
    OrderType type = OrderType::limit;
    TimeInForce time_in_force = TimeInForce::day;
    std::uint8_t flags = 0;  // request_flag
    SelfTrade self_trade = SelfTrade::allow;
    TradingState state = TradingState::closed;
    CrossKind cross = CrossKind::opening;
    std::uint32_t instrument = 0;  // index, below EngineOptions::instruments
    std::uint16_t participant = 0;
    std::uint16_t producer = 0;      // which queue user sent it and gets its acknowledgement
    std::uint64_t order_id = 0;      // chosen by the participant, unique among live orders
    std::uint64_t new_order_id = 0;  // of a replace; may be the same
    std::int64_t price = 0;          // ticks of the instrument's unit; ignored for market orders
    std::uint64_t quantity = 0;
    std::uint64_t display = 0;  // displayed at a time, the rest is reserve; 0: all of it
    std::int64_t time_ns = 0;   // since the Unix epoch; stands in the reports
};
static_assert(sizeof(Request) == 64 && std::is_trivially_copyable_v<Request>);
static_assert(std::has_unique_object_representations_v<Request>);

}  // namespace wirebook::match
