// Engine's matching: trades of an incoming order, refills, and orders that come to rest or leave.
// Part of engine.hpp; one thread. Every change is made before its report leaves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>

#include "wirebook/match/engine.hpp"
#include "wirebook/match/engine_report.hpp"

namespace wirebook::match {

// The order has given what it showed: the next part of its reserve joins the tail.
template <class Sink>
[[gnu::noinline]] void Engine::refill(const Request& request, std::uint32_t index,
                                      std::uint8_t in_cross, Sink& sink) noexcept {
    Order& order = books_.order(index);
    order.shown = std::min(order.display, order.reserve);
    order.reserve -= order.shown;
    order.reference = ++references_;
    books_.place(index);
    ++counters_.refills;
    ReportRoom room;
    Report& report = begin(request, ReportKind::added, order, room, sink);
    report.flags = report_flag::displayed | report_flag::refill | in_cross;
    report.quantity = order.shown;
    emit(report, sink);
}

// Takes `quantity` of what the order shows. `report` is the order's, with price, match number and
// the other side filled in.
template <class Sink>
inline void Engine::execute(const Request& request, std::uint32_t index, std::uint32_t quantity,
                            Report& report, Sink& sink) noexcept {
    books_.take_shown(index, quantity);
    const Order& order = books_.order(index);
    report.quantity = quantity;
    report.left = order.shown;
    ++counters_.executions;
    if (order.shown != 0) {
        emit(report, sink);
        return;
    }
    if (order.reserve != 0) {
        const std::uint8_t in_cross = report.flags & report_flag::in_cross;
        emit(report, sink);
        refill(request, index, in_cross, sink);
        return;
    }
    report.flags |= report_flag::last;
    release(index);
    emit(report, sink);
}

template <class Sink>
inline void Engine::remove(const Request& request, std::uint32_t index, Reason reason,
                           Sink& sink) noexcept {
    const Order& order = books_.order(index);
    ReportRoom room;
    Report& report = begin(request, ReportKind::removed, order, room, sink);
    report.reason = reason;
    report.flags |= report_flag::last;
    report.quantity = order.shown;
    books_.take_out(index);
    release(index);
    emit(report, sink);
}

// Removes an order that has no reserve, as its participant asked: one report is all.
template <class Sink>
[[gnu::always_inline]] inline void Engine::remove_answering(const Request& request,
                                                            const BookStore::Found& found,
                                                            Sink& sink) noexcept {
    const Order& order = books_.order(found.index);
    ReportRoom room;
    Report& report = begin(request, ReportKind::removed, order, room, sink);
    report.reason = Reason::cancelled;
    report.flags |= report_flag::last | report_flag::answer;
    report.quantity = order.shown;
    books_.take_out(found.index);
    books_.leave_id_at(found.at);
    books_.give_back_order(found.index);
    ++counters_.accepted;
    emit(report, sink);
}

// What is left of an order that never rested.
template <class Sink>
[[gnu::noinline]] void Engine::remove_incoming(const Request& request, Order& incoming,
                                               Reason reason, Sink& sink) noexcept {
    ReportRoom room;
    Report& report = begin(request, ReportKind::removed, incoming, room, sink);
    report.reason = reason;
    report.flags = report_flag::last;
    report.quantity = incoming.shown;
    incoming.shown = 0;
    emit(report, sink);
}

// Not inlined: most orders do not match, and their way is shorter without this one's registers.
template <class Sink>
[[gnu::noinline]] void Engine::match(const Request& request, const Plan& plan, Order& incoming,
                                     Sink& sink) noexcept {
    const Side other = opposite(plan.side);
    const bool prevents = plan.self_trade != SelfTrade::allow && incoming.participant != 0;
    while (incoming.shown != 0) {
        const std::uint32_t level = best_open(plan.instrument, other);
        if (level == no_index || books_.level(level).rank < plan.worst_rank) return;
        const std::uint32_t index = books_.level(level).head;
        const Order& order = books_.order(index);
        if (prevents && order.participant == incoming.participant) [[unlikely]] {
            if (plan.self_trade != SelfTrade::cancel_incoming) {
                remove(request, index, Reason::self_trade, sink);
            }
            if (plan.self_trade != SelfTrade::cancel_resting) {
                remove_incoming(request, incoming, Reason::self_trade, sink);
            }
            continue;
        }
        const std::uint32_t quantity = std::min(incoming.shown, order.shown);
        incoming.shown -= quantity;
        books_.book(plan.instrument).last_trade = order.price;
        ReportRoom room;
        Report& report = begin(request, ReportKind::executed, order, room, sink);
        report.contra_order_id = incoming.id;
        report.contra_reference = incoming.reference;
        report.match_number = ++matches_;
        counters_.executed_quantity += quantity;
        execute(request, index, quantity, report, sink);
    }
}

// The line of an order on its way in: all of its quantity is in `shown` until it rests.
inline std::uint32_t Engine::make_order(const Request& request, const Plan& plan,
                                        std::uint64_t id) noexcept {
    const std::uint32_t index = books_.take_order();
    Order& order = books_.order(index);
    order.id = id;
    order.reference = ++references_;
    order.price = plan.type == OrderType::market ? 0 : request.price;
    order.shown = static_cast<std::uint32_t>(request.quantity);
    order.reserve = 0;
    order.display = static_cast<std::uint32_t>(request.display);
    order.instrument = plan.instrument;
    order.participant = request.participant;
    order.producer = request.producer;
    order.side = plan.side;
    order.book = plan.book;
    order.type = plan.type;
    return index;
}

inline void Engine::split_reserve(Order& order) noexcept {
    if (order.display == 0 || order.display >= order.shown) [[likely]]
        return;
    order.reserve = order.shown - order.display;
    order.shown = order.display;
}

// A limit order that meets nothing and shows all of it: one report is all.
template <class Sink>
[[gnu::always_inline]] inline void Engine::rest_plain(const Request& request, const Hashes& hashes,
                                                      std::size_t id_gap, Sink& sink) noexcept {
    const std::uint32_t index = books_.take_order();
    const auto quantity = static_cast<std::uint32_t>(request.quantity);
    const std::uint64_t reference = ++references_;
    Order& order = books_.order(index);
    order.id = request.order_id;
    order.reference = reference;
    order.price = request.price;
    order.shown = quantity;
    order.reserve = 0;
    order.display = 0;
    order.instrument = request.instrument;
    order.participant = request.participant;
    order.producer = request.producer;
    order.side = request.side;
    order.book = OrderBook::displayed;
    order.type = OrderType::limit;
    books_.enter_id_at(id_gap, index, hashes.id);
    books_.join(index, {key_of(request.instrument, OrderBook::displayed, request.side),
                        book::rank_of(request.side, request.price), hashes.price, quantity, 0});
    ++counters_.accepted;
    ReportRoom room;
    Report& report = *::new (report_place(&room, sink))
                         Report{.kind = ReportKind::added,
                                .side = request.side,
                                .flags = report_flag::displayed | report_flag::answer,
                                .participant = request.participant,
                                .instrument = request.instrument,
                                .producer = request.producer,
                                .request = RequestKind::enter,
                                .order_id = request.order_id,
                                .reference = reference,
                                .price = request.price,
                                .quantity = quantity,
                                .time_ns = request.time_ns};
    emit(report, sink);
}

// What is left of an order joins the queue of its price.
template <class Sink>
inline void Engine::rest(const Request& request, const Plan& plan, std::uint32_t index,
                         std::uint8_t flags, Sink& sink) noexcept {
    Order& order = books_.order(index);
    split_reserve(order);
    books_.enter_id(index, plan.id_hash);
    books_.place(index);
    ReportRoom room;
    Report& report = begin(request, ReportKind::added, order, room, sink);
    report.flags |= flags;
    report.quantity = order.shown;
    emit(report, sink);
}

// An order that was accepted: what matches, then what rests.
template <class Sink>
inline void Engine::run(const Request& request, const Plan& plan, std::uint32_t index,
                        Sink& sink) noexcept {
    Order& order = books_.order(index);
    if (plan.matches) match(request, plan, order, sink);
    if (plan.rests && order.shown != 0) {
        rest(request, plan, index, 0, sink);
        return;
    }
    if (order.shown != 0) remove_incoming(request, order, Reason::not_matched, sink);
    books_.give_back_order(index);
}

}  // namespace wirebook::match
