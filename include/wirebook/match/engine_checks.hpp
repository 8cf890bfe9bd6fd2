// Engine's checks of a request, all made before the first change. Part of engine.hpp; one thread.
//
// Reasons are looked for in this order, and the first is told: bad_request, unknown_instrument or
// unknown_order, bad_combination, bad_quantity, bad_price, bad_display, not_open, duplicate_id,
// would_match, not_fillable, no_room.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "wirebook/match/engine.hpp"

namespace wirebook::match {

// A 64-bit division takes twice as long, and most numbers are small.
[[nodiscard, gnu::always_inline]] inline bool is_multiple(std::uint64_t value,
                                                          std::uint64_t of) noexcept {
    if (of == 1) return true;
    if ((value | of) >> 32U == 0) [[likely]] {
        return static_cast<std::uint32_t>(value) % static_cast<std::uint32_t>(of) == 0;
    }
    return value % of == 0;
}

[[gnu::always_inline]] inline bool Engine::is_quantity(std::uint64_t quantity,
                                                       std::uint32_t lot) const noexcept {
    return quantity - 1 < options_.largest_quantity && is_multiple(quantity, lot);  // 0 wraps
}

[[gnu::always_inline]] inline bool Engine::is_price(std::int64_t price,
                                                    std::int64_t tick) const noexcept {
    return price > 0 && price <= options_.largest_price &&
           is_multiple(static_cast<std::uint64_t>(price), static_cast<std::uint64_t>(tick));
}

// The order that a cancel, reduce or replace is about, or none.
inline BookStore::Found Engine::owned_by(const Request& request,
                                         std::uint64_t id_hash) const noexcept {
    const BookStore::Found found = books_.look_up(request.order_id, id_hash);
    if (found.index != no_index && books_.order(found.index).participant != request.participant) {
        return {no_index, found.at};
    }
    return found;
}

// The first level of a side that continuous trading matches with: at a price, displayed first.
inline std::uint32_t Engine::best_open(std::uint32_t instrument, Side side) const noexcept {
    const Book& book = books_.book(instrument);
    const std::uint32_t displayed = book.best_level[as_index(side)];
    if (book.levels[as_index(OrderBook::hidden)][as_index(side)] == 0) [[likely]]
        return displayed;
    const std::uint32_t hidden = books_.best(instrument, OrderBook::hidden, side);
    return displayed != no_index && book.best_rank[as_index(side)] >= books_.level(hidden).rank
               ? displayed
               : hidden;
}

inline bool Engine::would_match(const Plan& plan) const noexcept {
    const std::uint32_t level = best_open(plan.instrument, opposite(plan.side));
    return level != no_index && books_.level(level).rank >= plan.worst_rank;
}

inline Reason Engine::check_terms(const Request& request, const Plan& plan) const noexcept {
    const Book& book = books_.book(plan.instrument);
    if (!is_quantity(request.quantity, book.lot)) return Reason::bad_quantity;
    if (plan.type == OrderType::limit && !is_price(request.price, book.tick)) {
        return Reason::bad_price;
    }
    if (request.display == 0) [[likely]]
        return Reason::none;
    if (plan.book != OrderBook::displayed || request.display > request.quantity ||
        !is_multiple(request.display, book.lot)) {
        return Reason::bad_display;
    }
    return Reason::none;
}

// For what is to rest. `original`: the order that it replaces, or no_index.
inline Reason Engine::check_room(const Request& request, const Plan& plan,
                                 std::uint32_t original) const noexcept {
    if (original == no_index && books_.orders_full()) return Reason::no_room;
    if (!books_.levels_full()) [[likely]]
        return Reason::none;
    // The level that the original leaves empty is free by then.
    if (original != no_index && books_.level(books_.order(original).level).orders == 1) {
        return Reason::none;
    }
    const std::int64_t rank =
        plan.type == OrderType::market ? market_rank : book::rank_of(plan.side, request.price);
    const book::BookSide key = key_of(plan.instrument, plan.book, plan.side);
    return books_.find_level(key, rank) == no_index ? Reason::no_room : Reason::none;
}

// What kind of order a type, a time in force and flags make.
struct OrderShape {
    bool valid;
    OrderBook book;
    bool immediate;
};
inline constexpr std::size_t order_shape_count = 64;  // indices of shape_index() are below
using OrderShapes = std::array<OrderShape, order_shape_count>;
[[nodiscard]] constexpr std::size_t shape_index(const Request& request) noexcept {
    return as_index(request.type) << 5U | as_index(request.time_in_force) << 2U | request.flags;
}
// Flags are for limit orders that may rest in the book.
[[nodiscard]] constexpr OrderShapes order_shapes() noexcept {
    OrderShapes shapes{};
    for (const OrderType type : {OrderType::limit, OrderType::market}) {
        for (const TimeInForce time :
             {TimeInForce::day, TimeInForce::immediate_or_cancel, TimeInForce::fill_or_kill,
              TimeInForce::on_open, TimeInForce::on_close}) {
            for (std::uint8_t flags = 0; flags < 4; ++flags) {
                Request request;
                request.type = type;
                request.time_in_force = time;
                request.flags = flags;
                OrderShape& shape = shapes[shape_index(request)];
                const bool plain = type == OrderType::limit && time == TimeInForce::day;
                shape.valid = plain || flags == 0;
                shape.immediate =
                    time == TimeInForce::immediate_or_cancel || time == TimeInForce::fill_or_kill;
                shape.book = time == TimeInForce::on_open          ? OrderBook::on_open
                             : time == TimeInForce::on_close       ? OrderBook::on_close
                             : type == OrderType::market           ? OrderBook::market
                             : (flags & request_flag::hidden) != 0 ? OrderBook::hidden
                                                                   : OrderBook::displayed;
            }
        }
    }
    return shapes;
}
inline constexpr OrderShapes shapes_of_orders = order_shapes();

[[nodiscard]] inline bool is_enter(const Request& request) noexcept {
    const auto above = [](auto value, unsigned bits) { return as_index(value) >> bits; };
    return (above(request.side, 1) | above(request.type, 1) | above(request.flags, 2) |
            above(request.self_trade, 2)) == 0 &&
           request.time_in_force <= TimeInForce::on_close;
}

inline Reason Engine::check_enter(const Request& request, std::uint64_t id_hash,
                                  Plan& plan) const noexcept {
    if (!is_enter(request)) return Reason::bad_request;
    if (request.instrument >= books_.instruments()) return Reason::unknown_instrument;
    const OrderShape shape = shapes_of_orders[shape_index(request)];
    const bool market = request.type == OrderType::market;
    if (!shape.valid) return Reason::bad_combination;
    if (request.display != 0 && (market || request.time_in_force != TimeInForce::day)) {
        return Reason::bad_combination;
    }
    plan.instrument = request.instrument;
    plan.side = request.side;
    plan.type = request.type;
    plan.book = shape.book;
    plan.self_trade = request.self_trade;
    if (const Reason reason = check_terms(request, plan); reason != Reason::none) return reason;
    const TradingState state = books_.book(request.instrument).state;
    const bool continuous = state == TradingState::continuous;
    if (!continuous && (state != TradingState::quotation || shape.immediate)) {
        return Reason::not_open;
    }
    plan.id_hash = id_hash;
    if (books_.look_up(request.order_id, id_hash).index != no_index) return Reason::duplicate_id;
    plan.worst_rank = market ? no_rank : book::rank_of(opposite(request.side), request.price);
    const bool now =
        continuous && shape.book != OrderBook::on_open && shape.book != OrderBook::on_close;
    plan.matches = now && would_match(plan);
    plan.rests = !shape.immediate && !(market && now);
    if ((request.flags & request_flag::post_only) != 0 && plan.matches) return Reason::would_match;
    if (plan.rests) return check_room(request, plan, no_index);
    if (request.time_in_force == TimeInForce::fill_or_kill && !fillable(request, plan)) {
        return Reason::not_fillable;
    }
    return Reason::none;
}

// The short way for what most requests are: a limit day order without flags or display, in
// continuous trading, with room in the pools, that is valid and meets nothing. `id_gap`: where its
// id goes. False: check_enter() looks at all of it.
[[gnu::always_inline]] inline bool Engine::rests_plainly(const Request& request,
                                                         std::uint64_t id_hash,
                                                         std::size_t& id_gap) const noexcept {
    // kind, side, type, time_in_force, flags: bits that a plain request has not.
    constexpr auto other = std::bit_cast<std::uint64_t>(
        std::array<std::uint8_t, 8>{0xFF, 0xFE, 0xFF, 0xFF, 0xFF, 0xFC, 0, 0});
    std::uint64_t head = 0;
    std::memcpy(&head, &request, sizeof(head));
    if (((head & other) | request.display) != 0) return false;
    if (request.instrument >= books_.instruments()) return false;
    const Book& book = books_.book(request.instrument);
    const std::size_t side = as_index(opposite(request.side));
    if (book.state != TradingState::continuous) return false;
    if (book.levels[as_index(OrderBook::hidden)][side] != 0) return false;
    if (book.best_rank[side] >= book::rank_of(opposite(request.side), request.price)) return false;
    if (books_.orders_full() || books_.levels_full()) return false;
    if (!is_quantity(request.quantity, book.lot) || !is_price(request.price, book.tick)) {
        return false;
    }
    const BookStore::Found found = books_.look_up(request.order_id, id_hash);
    id_gap = found.at;
    return found.index == no_index;
}

// Side, type and book are the original's.
inline Reason Engine::check_replace(const Request& request, std::uint32_t original,
                                    Plan& plan) const noexcept {
    if ((request.flags & ~request_flag::post_only) != 0 ||
        request.self_trade > SelfTrade::cancel_both) {
        return Reason::bad_request;
    }
    if (original == no_index) return Reason::unknown_order;
    const Order& order = books_.order(original);
    const bool open = as_index(order.book) < open_books;
    if (!open && (request.flags != 0 || request.display != 0)) return Reason::bad_combination;
    plan.instrument = order.instrument;
    plan.side = order.side;
    plan.type = order.type;
    plan.book = order.book;
    plan.self_trade = request.self_trade;
    if (const Reason reason = check_terms(request, plan); reason != Reason::none) return reason;
    const TradingState state = books_.book(order.instrument).state;
    if (state != TradingState::continuous && state != TradingState::quotation) {
        return Reason::not_open;
    }
    plan.id_hash = books_.id_hash(request.new_order_id);
    if (request.new_order_id != request.order_id &&
        books_.look_up(request.new_order_id, plan.id_hash).index != no_index) {
        return Reason::duplicate_id;
    }
    plan.worst_rank = book::rank_of(opposite(order.side), request.price);
    plan.matches = open && state == TradingState::continuous && would_match(plan);
    plan.rests = true;
    if ((request.flags & request_flag::post_only) != 0 && plan.matches) return Reason::would_match;
    return check_room(request, plan, original);
}

}  // namespace wirebook::match
