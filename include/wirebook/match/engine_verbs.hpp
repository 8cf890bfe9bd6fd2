// Engine's verbs: entering, cancelling, reducing, replacing orders, and states. Part of engine.hpp;
// one thread. What each tells is in docs/matching.md; every change is made before its report
// leaves.
#pragma once

#include <algorithm>
#include <cstdint>

#include "wirebook/match/engine.hpp"

namespace wirebook::match {

// Of a request about an order, where more than one thing follows.
template <class Sink>
inline void Engine::accept(const Request& request, const Order& order, std::uint64_t quantity,
                           Sink& sink) noexcept {
    ++counters_.accepted;
    ReportRoom room;
    Report& report = begin(request, ReportKind::accepted, room, sink);
    report.flags = report_flag::answer;
    report.side = order.side;
    report.instrument = order.instrument;
    report.reference = order.reference;
    report.price = order.price;
    report.quantity = quantity;
    emit(report, sink);
}

template <class Sink>
inline void Engine::accept(const Request& request, Sink& sink) noexcept {
    ++counters_.accepted;
    ReportRoom room;
    Report& report = begin(request, ReportKind::accepted, room, sink);
    report.flags = report_flag::answer;
    emit(report, sink);
}

template <class Sink>
[[gnu::noinline]] void Engine::reject(const Request& request, Reason reason, Sink& sink) noexcept {
    ++counters_.rejected[as_index(reason)];
    ReportRoom room;
    Report& report = begin(request, ReportKind::rejected, room, sink);
    report.flags = report_flag::answer;
    report.reason = reason;
    report.price = request.price;
    report.quantity = request.quantity;
    emit(report, sink);
}

template <class Sink>
[[gnu::always_inline]] inline void Engine::enter(const Request& request, const Hashes& hashes,
                                                 Sink& sink) noexcept {
    std::size_t id_gap = 0;
    if (rests_plainly(request, hashes.id, id_gap)) [[likely]] {
        rest_plain(request, hashes, id_gap, sink);
    } else {
        enter_by_plan(request, hashes.id, sink);
    }
}

template <class Sink>
[[gnu::noinline]] void Engine::enter_by_plan(const Request& request, std::uint64_t id_hash,
                                             Sink& sink) noexcept {
    Plan plan;  // NOLINT(cppcoreguidelines-pro-type-member-init): the check fills it
    const Reason reason = check_enter(request, id_hash, plan);
    if (reason != Reason::none) {
        reject(request, reason, sink);
        return;
    }
    const std::uint32_t index = make_order(request, plan, request.order_id);
    const bool whole = request.display == 0 || request.display >= request.quantity;
    if (plan.rests && !plan.matches && whole) {
        ++counters_.accepted;
        rest(request, plan, index, report_flag::answer, sink);
        return;
    }
    accept(request, books_.order(index), request.quantity, sink);
    run(request, plan, index, sink);
}

template <class Sink>
[[gnu::always_inline]] inline void Engine::cancel(const Request& request, std::uint64_t id_hash,
                                                  Sink& sink) noexcept {
    const BookStore::Found found = owned_by(request, id_hash);
    if (found.index == no_index) [[unlikely]] {
        reject(request, Reason::unknown_order, sink);
        return;
    }
    const Order& order = books_.order(found.index);
    if (order.reserve == 0) [[likely]] {
        remove_answering(request, found, sink);
        return;
    }
    accept(request, order, order.total(), sink);
    remove(request, found.index, Reason::cancelled, sink);
}

template <class Sink>
inline void Engine::reduce(const Request& request, std::uint64_t id_hash, Sink& sink) noexcept {
    const BookStore::Found found = owned_by(request, id_hash);
    const std::uint32_t index = found.index;
    if (index == no_index) [[unlikely]] {
        reject(request, Reason::unknown_order, sink);
        return;
    }
    const Order& order = books_.order(index);
    if (!is_quantity(request.quantity, books_.book(order.instrument).lot)) {
        reject(request, Reason::bad_quantity, sink);
        return;
    }
    const bool all = request.quantity >= order.total();
    const bool answers = order.reserve == 0;  // the change itself does
    if (all && answers) {
        remove_answering(request, found, sink);
        return;
    }
    if (!answers) accept(request, order, std::min(request.quantity, order.total()), sink);
    if (all) {
        remove(request, index, Reason::cancelled, sink);
        return;
    }
    const auto quantity = static_cast<std::uint32_t>(request.quantity);
    const std::uint32_t reserve = std::min(quantity, order.reserve);
    if (reserve != 0) {
        books_.take_reserve(index, reserve);
        ReportRoom room;
        Report& unseen = begin(request, ReportKind::reduced, order, room, sink);
        unseen.flags = 0;
        unseen.quantity = reserve;
        unseen.left = order.shown;
        emit(unseen, sink);
    }
    if (quantity == reserve) return;
    books_.take_shown(index, quantity - reserve);
    ReportRoom room;
    Report& seen = begin(request, ReportKind::reduced, order, room, sink);
    if (answers) {
        seen.flags |= report_flag::answer;
        ++counters_.accepted;
    }
    seen.quantity = quantity - reserve;
    seen.left = order.shown;
    emit(seen, sink);
}

template <class Sink>
inline void Engine::replace(const Request& request, std::uint64_t id_hash, Sink& sink) noexcept {
    const BookStore::Found original = owned_by(request, id_hash);
    Plan plan;  // NOLINT(cppcoreguidelines-pro-type-member-init): the check fills it
    const Reason reason = check_replace(request, original.index, plan);
    if (reason != Reason::none) [[unlikely]] {
        reject(request, reason, sink);
        return;
    }
    if (!plan.matches && plan.book == OrderBook::displayed) [[likely]] {
        move(request, plan, original, sink);
        return;
    }
    const std::uint32_t index = make_order(request, plan, request.new_order_id);
    const Order& order = books_.order(index);
    ++counters_.accepted;
    ReportRoom room;
    Report& report = begin(request, ReportKind::accepted, order, room, sink);
    report.flags = report_flag::answer;
    report.order_id = request.order_id;
    report.reference = books_.order(original.index).reference;
    report.new_reference = order.reference;
    report.quantity = request.quantity;
    emit(report, sink);
    remove(request, original.index, Reason::cancelled, sink);
    run(request, plan, index, sink);
}

// A replacement that is displayed and meets nothing: the order keeps its line and goes to where it
// belongs now. One report is all.
template <class Sink>
inline void Engine::move(const Request& request, const Plan& plan, const BookStore::Found& original,
                         Sink& sink) noexcept {
    Order& order = books_.order(original.index);
    ReportRoom room;
    Report& report = begin(request, ReportKind::replaced, order, room, sink);
    report.flags = report_flag::displayed | report_flag::answer;
    report.producer = request.producer;
    report.order_id = request.new_order_id;
    report.contra_order_id = request.order_id;
    report.new_reference = ++references_;
    report.price = request.price;
    books_.take_out(original.index);
    books_.leave_id_at(original.at);
    order.id = request.new_order_id;
    order.reference = references_;
    order.price = request.price;
    order.shown = static_cast<std::uint32_t>(request.quantity);
    order.reserve = 0;
    order.display = static_cast<std::uint32_t>(request.display);
    order.producer = request.producer;
    split_reserve(order);
    report.quantity = order.shown;
    books_.enter_id(original.index, plan.id_hash);
    books_.place(original.index);
    ++counters_.accepted;
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
    ReportRoom room;
    Report& report = begin(request, ReportKind::state_changed, room, sink);
    report.state = request.state;
    emit(report, sink);
}

template <class Sink>
[[gnu::always_inline]] inline void Engine::apply_hashed(const Request& request,
                                                        const Hashes& hashes, Sink& sink) noexcept {
    switch (request.kind) {
        case RequestKind::enter: enter(request, hashes, sink); return;
        case RequestKind::cancel: cancel(request, hashes.id, sink); return;
        case RequestKind::reduce: reduce(request, hashes.id, sink); return;
        case RequestKind::replace: replace(request, hashes.id, sink); return;
        case RequestKind::set_state: set_state(request, sink); return;
        case RequestKind::indicate: indicate(request, sink); return;
        case RequestKind::cross: cross(request, sink); return;
    }
    reject(request, Reason::bad_request, sink);
}

template <class Sink>
inline void Engine::apply(const Request& request, Sink& sink) noexcept {
    // The lines that follow from the request alone are asked for together, not one after the other.
    apply_hashed(request, look_far(request), sink);
}

}  // namespace wirebook::match
