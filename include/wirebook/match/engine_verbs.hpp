// Engine's verbs: entering, cancelling, reducing, replacing orders, and states. Part of engine.hpp;
// one thread. What each tells is in docs/matching.md; every change is made before its report
// leaves.
#pragma once

#include <algorithm>
#include <cstdint>

#include "wirebook/match/engine.hpp"

namespace wirebook::match {

// Of a request about an order. Returns the report.
template <class Sink>
inline Report Engine::accept(const Request& request, const Order& order, std::uint64_t quantity,
                             Sink& sink) noexcept {
    ++counters_.accepted;
    Report report = report_of(request, ReportKind::accepted);
    report.side = order.side;
    report.instrument = order.instrument;
    report.reference = order.reference;
    report.price = order.price;
    report.quantity = quantity;
    emit(report, sink);
    return report;
}

template <class Sink>
inline void Engine::accept(const Request& request, Sink& sink) noexcept {
    ++counters_.accepted;
    Report report = report_of(request, ReportKind::accepted);
    emit(report, sink);
}

template <class Sink>
[[gnu::noinline]] void Engine::reject(const Request& request, Reason reason, Sink& sink) noexcept {
    ++counters_.rejected[as_index(reason)];
    Report report = report_of(request, ReportKind::rejected);
    report.reason = reason;
    report.price = request.price;
    report.quantity = request.quantity;
    emit(report, sink);
}

template <class Sink>
inline void Engine::enter(const Request& request, Sink& sink) noexcept {
    Plan plan;  // NOLINT(cppcoreguidelines-pro-type-member-init): the check fills it
    if (!is_plain(request, plan)) {
        const Reason reason = check_enter(request, plan);
        if (reason != Reason::none) {
            reject(request, reason, sink);
            return;
        }
    }
    const std::uint32_t index = make_order(request, plan, request.order_id);
    Report report = accept(request, books_.order(index), request.quantity, sink);
    run(request, plan, index, report, sink);
}

template <class Sink>
inline void Engine::cancel(const Request& request, Sink& sink) noexcept {
    const std::uint32_t index = owned_by(request);
    if (index == no_index) [[unlikely]] {
        reject(request, Reason::unknown_order, sink);
        return;
    }
    const Order& order = books_.order(index);
    accept(request, order, order.total(), sink);
    remove(request, index, Reason::cancelled, sink);
}

template <class Sink>
inline void Engine::reduce(const Request& request, Sink& sink) noexcept {
    const std::uint32_t index = owned_by(request);
    if (index == no_index) [[unlikely]] {
        reject(request, Reason::unknown_order, sink);
        return;
    }
    const Order& order = books_.order(index);
    if (!is_quantity(request.quantity, books_.book(order.instrument).lot)) {
        reject(request, Reason::bad_quantity, sink);
        return;
    }
    accept(request, order, std::min(request.quantity, order.total()), sink);
    if (request.quantity >= order.total()) {
        remove(request, index, Reason::cancelled, sink);
        return;
    }
    const auto quantity = static_cast<std::uint32_t>(request.quantity);
    const std::uint32_t reserve = std::min(quantity, order.reserve);
    if (reserve != 0) {
        books_.take_reserve(index, reserve);
        Report unseen = report_of(request, ReportKind::reduced, order);
        unseen.flags = 0;
        unseen.quantity = reserve;
        unseen.left = order.shown;
        emit(unseen, sink);
    }
    if (quantity == reserve) return;
    books_.take_shown(index, quantity - reserve);
    Report seen = report_of(request, ReportKind::reduced, order);
    seen.quantity = quantity - reserve;
    seen.left = order.shown;
    emit(seen, sink);
}

template <class Sink>
inline void Engine::replace(const Request& request, Sink& sink) noexcept {
    const std::uint32_t original = owned_by(request);
    Plan plan;  // NOLINT(cppcoreguidelines-pro-type-member-init): the check fills it
    const Reason reason = check_replace(request, original, plan);
    if (reason != Reason::none) [[unlikely]] {
        reject(request, reason, sink);
        return;
    }
    const std::uint32_t index = make_order(request, plan, request.new_order_id);
    Order& order = books_.order(index);
    const std::uint64_t old_reference = books_.order(original).reference;
    ++counters_.accepted;
    Report report = report_of(request, ReportKind::accepted, order);
    report.flags = 0;
    report.order_id = request.order_id;
    report.reference = old_reference;
    report.new_reference = order.reference;
    report.quantity = request.quantity;
    emit(report, sink);
    if (plan.matches || plan.book != OrderBook::displayed) {
        remove(request, original, Reason::cancelled, sink);
        run(request, plan, index, report, sink);
        return;
    }
    books_.take_out(original);
    release(original);
    split_reserve(order);
    books_.enter_id(index, plan.id_hash);
    books_.place(index);
    report.kind = ReportKind::replaced;
    report.flags = report_flag::displayed;
    report.order_id = order.id;
    report.contra_order_id = request.order_id;
    report.quantity = order.shown;
    emit(report, sink);
}

template <class Sink>
inline void Engine::set_state(const Request& request, Sink& sink) noexcept {
    Reason reason = Reason::none;
    if (request.state > TradingState::paused) {
        reason = Reason::bad_request;
    } else if (request.instrument >= books_.instruments()) {
        reason = Reason::unknown_instrument;
    } else if (request.state == TradingState::continuous && is_crossed(request.instrument)) {
        reason = Reason::book_crossed;
    }
    if (reason != Reason::none) {
        reject(request, reason, sink);
        return;
    }
    accept(request, sink);
    books_.book(request.instrument).state = request.state;
    Report report = report_of(request, ReportKind::state_changed);
    report.state = request.state;
    emit(report, sink);
}

template <class Sink>
inline void Engine::apply(const Request& request, Sink& sink) noexcept {
    switch (request.kind) {
        case RequestKind::enter: enter(request, sink); return;
        case RequestKind::cancel: cancel(request, sink); return;
        case RequestKind::reduce: reduce(request, sink); return;
        case RequestKind::replace: replace(request, sink); return;
        case RequestKind::set_state: set_state(request, sink); return;
        case RequestKind::indicate: indicate(request, sink); return;
        case RequestKind::cross: cross(request, sink); return;
    }
    reject(request, Reason::bad_request, sink);
}

}  // namespace wirebook::match
