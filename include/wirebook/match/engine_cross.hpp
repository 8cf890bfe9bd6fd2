// Engine's crosses: all orders of a cross that its price satisfies trade at that one price. Part of
// engine.hpp; one thread.
//
// Reports, in this order: executed for the bids, best first; executed for the asks; removed
// (cross_over) for what is left of the orders that were for this cross alone and of the market
// orders, bids first; one crossed. Each is told when it has happened, so a feed is right after
// every one of them, though the displayed book may be crossed until the last bid and ask traded.
// All executions of a cross have its match number. Priority is that of continuous trading, market
// orders first; a refill goes to the tail. Nobody is the incoming order, so self-trade prevention
// does not apply.
#pragma once

#include <algorithm>
#include <cstdint>

#include "wirebook/match/engine.hpp"

namespace wirebook::match {

template <class Sink>
inline void Engine::sweep(const Request& request, const CrossOutcome& outcome, Side side,
                          Sink& sink) noexcept {
    for (std::uint64_t left = outcome.paired; left != 0;) {
        const std::uint32_t index = first_in_cross(request.instrument, request.cross, side);
        const Order& order = books_.order(index);
        const auto quantity =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(left, order.shown));
        left -= quantity;
        ReportRoom room;
        Report& report = begin(request, ReportKind::executed, order, room, sink);
        report.flags |= report_flag::in_cross;
        report.price = outcome.price;
        report.match_number = matches_;
        execute(request, index, quantity, report, sink);
    }
}

// Removes all orders of one of the instrument's books.
template <class Sink>
inline void Engine::clear_book(const Request& request, OrderBook order_book, Side side,
                               Sink& sink) noexcept {
    for (;;) {
        const std::uint32_t level = books_.best(request.instrument, order_book, side);
        if (level == no_index) return;
        remove(request, books_.level(level).head, Reason::cross_over, sink);
    }
}

template <class Sink>
inline void Engine::cross(const Request& request, Sink& sink) noexcept {
    if (const Reason reason = check_cross(request); reason != Reason::none) {
        reject(request, reason, sink);
        return;
    }
    accept(request, sink);
    const CrossOutcome outcome = cross_outcome(request.instrument, request.cross);
    if (outcome.paired != 0) {
        ++matches_;
        books_.book(request.instrument).last_trade = outcome.price;
        counters_.executed_quantity += outcome.paired;
        ++counters_.crosses;
        sweep(request, outcome, Side::bid, sink);
        sweep(request, outcome, Side::ask, sink);
    }
    for (const Side side : {Side::bid, Side::ask}) {
        clear_book(request, OrderBook::market, side, sink);
        if (request.cross == CrossKind::opening) {
            clear_book(request, OrderBook::on_open, side, sink);
        } else if (request.cross == CrossKind::closing) {
            clear_book(request, OrderBook::on_close, side, sink);
        }
    }
    ReportRoom room;
    Report& report = begin(request, ReportKind::crossed, room, sink);
    report.cross = request.cross;
    if (outcome.paired != 0) {
        report.price = outcome.price;
        report.quantity = outcome.paired;
        report.match_number = matches_;
    }
    emit(report, sink);
}

template <class Sink>
inline void Engine::indicate(const Request& request, Sink& sink) noexcept {
    if (const Reason reason = check_cross(request); reason != Reason::none) {
        reject(request, reason, sink);
        return;
    }
    accept(request, sink);
    const CrossOutcome outcome = cross_outcome(request.instrument, request.cross);
    ReportRoom room;
    Report& report = begin(request, ReportKind::imbalance, room, sink);
    report.side = outcome.side;
    report.cross = request.cross;
    report.price = outcome.reference;
    report.quantity = outcome.paired;
    report.near_price = outcome.price;
    report.far_price = outcome.far_price;
    report.imbalance = outcome.imbalance;
    emit(report, sink);
}

}  // namespace wirebook::match
