// The obvious matching engine: replacing, states and crosses. Part of match_reference.hpp.
#pragma once

#include "match_reference.hpp"

namespace match_reference {

inline void Reference::replace(const Request& r) {
    if ((r.flags & ~request_flag::post_only) != 0 || static_cast<int>(r.self_trade) > 3) {
        return reject(r, Reason::bad_request);
    }
    const RefOrder* found = owned(r);
    if (found == nullptr) return reject(r, Reason::unknown_order);
    const RefOrder original = *found;
    const bool open = original.kind == Kind::displayed || original.kind == Kind::hidden;
    if (!open && (r.flags != 0 || r.display != 0)) return reject(r, Reason::bad_combination);
    if (const Reason reason = terms_of(r, original); reason != Reason::none) {
        return reject(r, reason);
    }
    const TradingState state = instruments_[original.instrument].state;
    if (state != TradingState::continuous && state != TradingState::quotation) {
        return reject(r, Reason::not_open);
    }
    if (r.new_order_id != r.order_id && orders_.contains(r.new_order_id)) {
        return reject(r, Reason::duplicate_id);
    }
    RefOrder order = original;
    order.id = r.new_order_id;
    order.price = original.market ? 0 : r.price;
    order.display = r.display;
    order.producer = r.producer;
    const bool matches = open && state == TradingState::continuous;
    const bool at_once = matches && best_against(order) != nullptr;
    if (at_once && (r.flags & request_flag::post_only) != 0) return reject(r, Reason::would_match);
    if (!room_for(order, &original)) return reject(r, Reason::no_room);

    order.reference = ++references_;
    if (at_once || original.kind != Kind::displayed) {
        Report accepted = about(r, ReportKind::accepted);
        accepted.flags = report_flag::answer;
        accepted.instrument = original.instrument;
        accepted.side = original.side;
        accepted.reference = original.reference;
        accepted.new_reference = order.reference;
        accepted.price = order.price;
        accepted.quantity = r.quantity;
        tell(accepted);
        remove(r, original, Reason::cancelled);
        return run(r, order, matches, true, false);
    }
    take(original);
    split(order, r.quantity);
    put(order);
    Report report = about(r, ReportKind::replaced, order);
    report.flags |= report_flag::answer;
    report.reference = original.reference;
    report.new_reference = order.reference;
    report.contra_order_id = original.id;
    report.quantity = order.shown;
    tell(report);
}

inline void Reference::set_state(const Request& r) {
    if (static_cast<int>(r.state) > 4) return reject(r, Reason::bad_request);
    if (r.instrument >= options_.instruments) return reject(r, Reason::unknown_instrument);
    if (r.state == TradingState::continuous && crossed(r.instrument)) {
        return reject(r, Reason::book_crossed);
    }
    accept(r);
    instruments_[r.instrument].state = r.state;
    Report report = about(r, ReportKind::state_changed);
    report.state = r.state;
    tell(report);
}

inline bool Reference::takes_part(const RefOrder& order, CrossKind cross) const {
    if (order.kind == Kind::on_open) return cross == CrossKind::opening;
    if (order.kind == Kind::on_close) return cross == CrossKind::closing;
    return true;
}

// What one side of the cross has at a price. alone: of the orders for this cross only.
inline std::uint64_t Reference::sum(std::uint32_t instrument, CrossKind cross, bool alone,
                                    Side side, std::int64_t price) const {
    std::uint64_t total = 0;
    const auto add = [&](const std::map<Priority, std::uint64_t>& queue) {
        for (const auto& [key, id] : queue) {
            const RefOrder& order = orders_.at(id);
            if (!takes_part(order, cross)) continue;
            const bool willing =
                order.market || (side == Side::bid ? order.price >= price : order.price <= price);
            if (willing) total += order.shown + order.reserve;
        }
    };
    if (!alone || cross == CrossKind::halt) add(instruments_[instrument].open[side == Side::ask]);
    add(instruments_[instrument].apart[side == Side::ask]);
    return total;
}

// Tries every price there is.
inline Auction Reference::price_of(std::uint32_t instrument, CrossKind cross, bool alone) const {
    Auction best;
    std::uint64_t best_imbalance = 0;
    std::int64_t best_distance = 0;
    const std::int64_t tick = terms_[instrument].tick;
    for (std::int64_t price = tick; price <= options_.largest_price; price += tick) {
        const std::uint64_t demand = sum(instrument, cross, alone, Side::bid, price);
        const std::uint64_t supply = sum(instrument, cross, alone, Side::ask, price);
        const std::uint64_t volume = std::min(demand, supply);
        const std::uint64_t imbalance = std::max(demand, supply) - volume;
        std::int64_t distance = price - reference_price(instrument);
        if (distance < 0) distance = -distance;
        if (volume == 0) continue;
        const bool better = volume != best.volume         ? volume > best.volume
                            : imbalance != best_imbalance ? imbalance < best_imbalance
                                                          : distance < best_distance;
        if (!better) continue;
        best = {price, volume};
        best_imbalance = imbalance;
        best_distance = distance;
    }
    return best;
}

inline const RefOrder* Reference::first_of(std::uint32_t instrument, CrossKind cross,
                                           Side side) const {
    const RefOrder* first = nullptr;
    const Instrument& all = instruments_[instrument];
    for (const auto* queue : {&all.open[side == Side::ask], &all.apart[side == Side::ask]}) {
        for (const auto& [key, id] : *queue) {
            const RefOrder& order = orders_.at(id);
            if (!takes_part(order, cross)) continue;
            if (first == nullptr || priority(order) < priority(*first)) first = &order;
        }
    }
    return first;
}

inline void Reference::make_cross(const Request& r) {
    const Auction near = price_of(r.instrument, r.cross, false);
    Report crossed = about(r, ReportKind::crossed);
    crossed.cross = r.cross;
    crossed.price = near.price;
    crossed.quantity = near.volume;
    if (near.volume != 0) {
        crossed.match_number = ++matches_;
        instruments_[r.instrument].last_trade = near.price;
        for (const Side side : {Side::bid, Side::ask}) {
            for (std::uint64_t left = near.volume; left != 0;) {
                const RefOrder order = *first_of(r.instrument, r.cross, side);
                const std::uint64_t quantity = std::min(left, order.shown);
                left -= quantity;
                Report report = about(r, ReportKind::executed, order);
                report.flags |= report_flag::in_cross;
                report.price = near.price;
                report.match_number = matches_;
                execute(r, order, quantity, report);
            }
        }
    }
    for (const Side side : {Side::bid, Side::ask}) {
        for (const Kind kind : {Kind::waiting_market, Kind::on_open, Kind::on_close}) {
            const auto queue = instruments_[r.instrument].apart[side == Side::ask];
            for (const auto& [key, id] : queue) {
                const RefOrder order = orders_.at(id);
                if (order.kind == kind && takes_part(order, r.cross)) {
                    remove(r, order, Reason::cross_over);
                }
            }
        }
    }
    tell(crossed);
}

inline void Reference::auction(const Request& r) {
    if (static_cast<int>(r.cross) > 2) return reject(r, Reason::bad_request);
    if (r.instrument >= options_.instruments) return reject(r, Reason::unknown_instrument);
    accept(r);
    if (r.kind == RequestKind::cross) return make_cross(r);
    const Auction near = price_of(r.instrument, r.cross, false);
    Report report = about(r, ReportKind::imbalance);
    report.cross = r.cross;
    report.price = near.volume != 0 ? near.price : reference_price(r.instrument);
    report.near_price = near.price;
    report.far_price = price_of(r.instrument, r.cross, true).price;
    report.quantity = near.volume;
    const std::uint64_t demand = sum(r.instrument, r.cross, false, Side::bid, report.price);
    const std::uint64_t supply = sum(r.instrument, r.cross, false, Side::ask, report.price);
    report.imbalance = std::max(demand, supply) - std::min(demand, supply);
    report.side = supply > demand ? Side::ask : Side::bid;
    tell(report);
}

}  // namespace match_reference
