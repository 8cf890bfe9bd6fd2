// Engine's matching: trades of an incoming order, refills, and orders that come to rest or leave.
// Part of engine.hpp; one thread. Every change is made before its report leaves.
#pragma once

#include <algorithm>
#include <cstdint>

#include "wirebook/match/engine.hpp"

namespace wirebook::match {

inline Report Engine::report_of(const Request& request, ReportKind kind) noexcept {
    Report report;
    report.kind = kind;
    report.participant = request.participant;
    report.instrument = request.instrument;
    report.producer = request.producer;
    report.request = request.kind;
    report.order_id = request.order_id;
    report.time_ns = request.time_ns;
    return report;
}

inline Report Engine::report_of(const Request& request, ReportKind kind,
                                const Order& order) noexcept {
    Report report;
    report.kind = kind;
    report.side = order.side;
    report.flags = order.book == OrderBook::displayed ? report_flag::displayed : std::uint8_t{0};
    report.participant = order.participant;
    report.instrument = order.instrument;
    report.producer = order.producer;
    report.request = request.kind;
    report.order_id = order.id;
    report.reference = order.reference;
    report.price = order.price;
    report.time_ns = request.time_ns;
    return report;
}

// The order has given what it showed: the next part of its reserve joins the tail.
template <class Sink>
[[gnu::noinline]] void Engine::refill(std::uint32_t index, const Report& like,
                                      Sink& sink) noexcept {
    Order& order = books_.order(index);
    order.shown = std::min(order.display, order.reserve);
    order.reserve -= order.shown;
    order.reference = ++references_;
    books_.place(index);
    ++counters_.refills;
    Report report;
    report.kind = ReportKind::added;
    report.side = order.side;
    report.flags =
        report_flag::displayed | report_flag::refill | (like.flags & report_flag::in_cross);
    report.participant = order.participant;
    report.instrument = order.instrument;
    report.producer = order.producer;
    report.request = like.request;
    report.order_id = order.id;
    report.reference = order.reference;
    report.price = order.price;
    report.quantity = order.shown;
    report.time_ns = like.time_ns;
    emit(report, sink);
}

// Takes `quantity` of what the order shows. `report` is the order's, with price, match number and
// the other side filled in.
template <class Sink>
inline void Engine::execute(std::uint32_t index, std::uint32_t quantity, Report& report,
                            Sink& sink) noexcept {
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
        emit(report, sink);
        refill(index, report, sink);
        return;
    }
    report.flags |= report_flag::last;
    release(index);
    emit(report, sink);
}

template <class Sink>
inline void Engine::remove(const Request& request, std::uint32_t index, Reason reason,
                           Sink& sink) noexcept {
    Report report = report_of(request, ReportKind::removed, books_.order(index));
    report.reason = reason;
    report.flags |= report_flag::last;
    report.quantity = books_.order(index).shown;
    books_.take_out(index);
    release(index);
    emit(report, sink);
}

// What is left of an order that never rested.
template <class Sink>
[[gnu::noinline]] void Engine::remove_incoming(const Request& request, Order& incoming,
                                               Reason reason, Sink& sink) noexcept {
    Report report = report_of(request, ReportKind::removed, incoming);
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
        Report report = report_of(request, ReportKind::executed, order);
        report.contra_order_id = incoming.id;
        report.contra_reference = incoming.reference;
        report.match_number = ++matches_;
        counters_.executed_quantity += quantity;
        execute(index, quantity, report, sink);
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

// An order that was accepted: what matches, then what rests. `report`: the one of its acceptance.
template <class Sink>
inline void Engine::run(const Request& request, const Plan& plan, std::uint32_t index,
                        Report& report, Sink& sink) noexcept {
    Order& order = books_.order(index);
    if (plan.matches) match(request, plan, order, sink);
    if (plan.rests && order.shown != 0) {
        split_reserve(order);
        books_.enter_id(index, plan.id_hash);
        books_.place(index);
        report.kind = ReportKind::added;
        report.flags =
            order.book == OrderBook::displayed ? report_flag::displayed : std::uint8_t{0};
        report.order_id = order.id;
        report.reference = order.reference;
        report.new_reference = 0;
        report.quantity = order.shown;
        emit(report, sink);
        return;
    }
    if (order.shown != 0) remove_incoming(request, order, Reason::not_matched, sink);
    books_.give_back_order(index);
}

}  // namespace wirebook::match
