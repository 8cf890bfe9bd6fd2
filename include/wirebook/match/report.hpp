// What the matching engine tells: acknowledgements for the participant and the tape for everybody,
// in one stream of fixed-size records.
//
// The first report of a request has report_flag::answer: it is its acknowledgement, and all that
// follow until the next answer are the request's. Where the request changes one thing and that at
// once, the change is the answer (added, reduced, removed, replaced); else it is accepted, or
// rejected.
//
// The tape is what a feed is made of. The engine reports each elementary change when it has made
// it: after every report, the engine's displayed books are those that all reports up to it describe
// (added, executed, reduced, removed, replaced; those with report_flag::displayed).
//
// References: every display of an order gets a reference of the engine's, dense from 1 and never
// reused: at first, at each refill of a reserve order, and at a replace. Orders that are not
// displayed have one too, which nobody but their participant sees.
//
// May depend on core and book. Plain data.
#pragma once

#include <cstdint>
#include <type_traits>

#include "wirebook/match/request.hpp"

namespace wirebook::match {

enum class ReportKind : std::uint8_t {
    accepted,  // the request was valid; what it changes follows
    rejected,  // reason; nothing changed
    // Changes of an order. order_id, participant, producer are those of the order.
    added,     // reference joined the tail at price; quantity (what is displayed, or all if hidden)
    executed,  // quantity at price, match_number; left: of this reference. contra_*: the other
               // side. Between an incoming and a resting order: one report, of the resting one. In
               // a cross (flag in_cross): one for each order, at the cross price
    reduced,   // quantity taken off the reference, left > 0
    removed,   // the reference goes without a trade: reason; quantity is what it had
    replaced,  // reference -> new_reference, quantity, price, same side, at the tail
    // The market.
    crossed,        // cross, price, quantity (0 and 0: nothing traded), match_number
    imbalance,      // cross; price = reference, near_price, far_price (0: none); quantity = paired,
                    // imbalance, side where imbalance > 0
    state_changed,  // state
};

enum class Reason : std::uint8_t {
    none,
    // Rejections.
    unknown_instrument,
    unknown_order,    // no live order of that id, or another participant's
    duplicate_id,     // order_id or new_order_id is in use
    bad_quantity,     // 0, above the limit, or no multiple of the lot
    bad_price,        // not positive, above the limit, or off the tick
    bad_display,      // more than the quantity, no multiple of the lot, or hidden as well
    bad_combination,  // of type, time in force, flags
    not_open,         // the instrument's state takes no such order
    would_match,      // post-only
    not_fillable,     // fill-or-kill
    no_room,          // a pool is full
    book_crossed,     // continuous trading cannot start: make a cross first
    bad_request,      // a kind, state, side ... that does not exist
    // Removals.
    cancelled,    // by its participant
    not_matched,  // rest of a market or immediate order
    self_trade,   // prevention
    cross_over,   // rest of an order that was for this cross alone
};

// Bits of Report::flags.
namespace report_flag {
inline constexpr std::uint8_t displayed = 1;  // changes the displayed book
inline constexpr std::uint8_t in_cross = 2;
inline constexpr std::uint8_t last = 4;     // the order is gone, its reserve too
inline constexpr std::uint8_t refill = 8;   // added: the next display of a reserve order
inline constexpr std::uint8_t answer = 16;  // acknowledges its request
}  // namespace report_flag

struct Report {
    ReportKind kind = ReportKind::accepted;
    Reason reason = Reason::none;
    Side side = Side::bid;
    std::uint8_t flags = 0;  // report_flag
    TradingState state = TradingState::closed;
    CrossKind cross = CrossKind::opening;
    std::uint16_t participant = 0;
    std::uint32_t instrument = 0;
    std::uint16_t producer = 0;
    RequestKind request = RequestKind::enter;  // of the request that caused this
    std::uint8_t unused = 0;
    std::uint64_t order_id = 0;
    std::uint64_t reference = 0;
    std::uint64_t new_reference = 0;
    std::uint64_t contra_order_id = 0;   // executed, not in a cross: the incoming order
    std::uint64_t contra_reference = 0;  // the incoming order's
    std::int64_t price = 0;
    std::uint64_t quantity = 0;
    std::uint64_t left = 0;
    std::uint64_t match_number = 0;  // dense from 1
    std::int64_t near_price = 0;
    std::int64_t far_price = 0;
    std::uint64_t imbalance = 0;
    std::int64_t time_ns = 0;  // the request's
    std::uint64_t number = 0;  // of this report, dense from 1
};
static_assert(sizeof(Report) == 128 && std::is_trivially_copyable_v<Report>);
static_assert(std::has_unique_object_representations_v<Report>);

// Exactly one for each request, and first of the reports that it causes.
[[nodiscard]] constexpr bool is_acknowledgement(const Report& report) noexcept {
    return (report.flags & report_flag::answer) != 0;
}
[[nodiscard]] constexpr bool is_change_of_order(ReportKind kind) noexcept {
    return kind >= ReportKind::added && kind <= ReportKind::replaced;
}

}  // namespace wirebook::match
