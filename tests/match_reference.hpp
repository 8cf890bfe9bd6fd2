// The obvious matching engine: one map of orders, one sorted set a side of a book, brute force
// everywhere else. Slow on purpose. It shares no code with match::Engine but the two records, and
// was written from the rules of docs/matching.md.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "wirebook/match/engine.hpp"

namespace match_reference {

using namespace wirebook::match;

enum class Kind : std::uint8_t { displayed, hidden, on_open, on_close, waiting_market };

struct RefOrder {
    std::uint64_t id = 0, reference = 0;
    std::int64_t price = 0;
    std::uint64_t shown = 0, reserve = 0, display = 0;
    std::uint32_t instrument = 0;
    std::uint16_t participant = 0, producer = 0;
    Side side = Side::bid;
    Kind kind = Kind::displayed;
    bool market = false;
};

// Smaller comes first: price, then what is displayed, then time.
using Priority = std::tuple<std::int64_t, int, std::uint64_t>;
inline Priority priority(const RefOrder& order) {
    const std::int64_t price = order.market              ? std::numeric_limits<std::int64_t>::min()
                               : order.side == Side::bid ? -order.price
                                                         : order.price;
    return {price, order.kind == Kind::displayed ? 0 : 1, order.reference};
}
using LevelKey = std::tuple<std::uint32_t, Side, Kind, bool, std::int64_t>;
inline LevelKey level_key(const RefOrder& order) {
    return {order.instrument, order.side, order.kind, order.market, order.price};
}

struct Auction {
    std::int64_t price = 0;
    std::uint64_t volume = 0;
};

class Reference {
public:
    Reference(const EngineOptions& options, std::vector<InstrumentTerms> terms)
        : options_(options), terms_(std::move(terms)), instruments_(options.instruments) {}

    std::vector<Report> out;  // grows; the caller empties it

    void apply(const Request& r) {
        switch (r.kind) {
            case RequestKind::enter: return enter(r);
            case RequestKind::cancel: return cancel(r);
            case RequestKind::reduce: return reduce(r);
            case RequestKind::replace: return replace(r);
            case RequestKind::set_state: return set_state(r);
            case RequestKind::indicate:
            case RequestKind::cross: return auction(r);
        }
        reject(r, Reason::bad_request);
    }

    // Displayed levels, best first.
    std::vector<LevelView> levels(std::uint32_t instrument, Side side) const {
        std::vector<LevelView> views;
        for (const auto& [key, id] : instruments_[instrument].open[side == Side::ask]) {
            const RefOrder& order = orders_.at(id);
            if (order.kind != Kind::displayed) continue;
            if (views.empty() || views.back().price != order.price) {
                views.push_back({.price = order.price, .quantity = 0, .orders = 0});
            }
            views.back().quantity += order.shown;
            ++views.back().orders;
        }
        return views;
    }
    const std::map<std::uint64_t, RefOrder>& orders() const { return orders_; }
    TradingState state(std::uint32_t instrument) const { return instruments_[instrument].state; }
    std::int64_t last_trade(std::uint32_t instrument) const {
        return instruments_[instrument].last_trade;
    }

private:
    struct Instrument {
        TradingState state = TradingState::closed;
        std::int64_t last_trade = 0;
        // By side. open: displayed and hidden. apart: waits for a cross.
        std::array<std::map<Priority, std::uint64_t>, 2> open, apart;
    };

    // Reports.
    Report about(const Request& r, ReportKind kind) const {
        Report report;
        report.kind = kind;
        report.request = r.kind;
        report.time_ns = r.time_ns;
        report.instrument = r.instrument;
        report.participant = r.participant;
        report.producer = r.producer;
        report.order_id = r.order_id;
        return report;
    }
    Report about(const Request& r, ReportKind kind, const RefOrder& order) const {
        Report report = about(r, kind);
        report.instrument = order.instrument;
        report.participant = order.participant;
        report.producer = order.producer;
        report.order_id = order.id;
        report.side = order.side;
        report.price = order.price;
        report.reference = order.reference;
        if (order.kind == Kind::displayed) report.flags = report_flag::displayed;
        return report;
    }
    void tell(Report report) {
        report.number = ++reports_;
        out.push_back(report);
    }
    void reject(const Request& r, Reason reason) {
        Report report = about(r, ReportKind::rejected);
        report.flags = report_flag::answer;
        report.reason = reason;
        report.price = r.price;
        report.quantity = r.quantity;
        tell(report);
    }

    // Structures.
    std::map<Priority, std::uint64_t>& queue_of(const RefOrder& order) {
        Instrument& instrument = instruments_[order.instrument];
        const bool open = order.kind == Kind::displayed || order.kind == Kind::hidden;
        return (open ? instrument.open : instrument.apart)[order.side == Side::ask];
    }
    void put(const RefOrder& order) {
        orders_[order.id] = order;
        queue_of(order)[priority(order)] = order.id;
        ++levels_[level_key(order)];
    }
    void take(const RefOrder& order) {
        if (--levels_[level_key(order)] == 0) levels_.erase(level_key(order));
        queue_of(order).erase(priority(order));
        orders_.erase(order.id);
    }

    // Rules.
    const RefOrder* owned(const Request& r) const {
        const auto found = orders_.find(r.order_id);
        if (found == orders_.end() || found->second.participant != r.participant) return nullptr;
        return &found->second;
    }
    bool quantity_ok(std::uint64_t quantity, std::uint32_t instrument) const {
        return quantity > 0 && quantity <= options_.largest_quantity &&
               quantity % terms_[instrument].lot == 0;
    }
    bool price_ok(std::int64_t price, std::uint32_t instrument) const {
        return price > 0 && price <= options_.largest_price && price % terms_[instrument].tick == 0;
    }
    static bool trades_at(const RefOrder& incoming, std::int64_t price) {
        if (incoming.market) return true;
        return incoming.side == Side::bid ? price <= incoming.price : price >= incoming.price;
    }
    const RefOrder* best_against(const RefOrder& incoming) const {
        const auto& queue = instruments_[incoming.instrument].open[incoming.side == Side::bid];
        if (queue.empty()) return nullptr;
        const RefOrder& best = orders_.at(queue.begin()->second);
        return trades_at(incoming, best.price) ? &best : nullptr;
    }
    bool crossed(std::uint32_t instrument) const {
        const auto& open = instruments_[instrument].open;
        return !open[0].empty() && !open[1].empty() &&
               orders_.at(open[0].begin()->second).price >=
                   orders_.at(open[1].begin()->second).price;
    }
    Reason terms_of(const Request& r, const RefOrder& order) const {
        if (!quantity_ok(r.quantity, order.instrument)) return Reason::bad_quantity;
        if (!order.market && !price_ok(r.price, order.instrument)) return Reason::bad_price;
        if (r.display != 0 && (order.kind != Kind::displayed || r.display > r.quantity ||
                               r.display % terms_[order.instrument].lot != 0)) {
            return Reason::bad_display;
        }
        return Reason::none;
    }
    bool room_for(const RefOrder& order, const RefOrder* original) const {
        std::uint64_t orders = orders_.size();
        std::uint64_t levels = levels_.size();
        if (original != nullptr) {
            --orders;
            if (levels_.at(level_key(*original)) == 1) --levels;
        }
        const bool has_level = levels_.contains(level_key(order)) &&
                               (original == nullptr || level_key(order) != level_key(*original) ||
                                levels_.at(level_key(order)) > 1);
        return orders < options_.orders && (has_level || levels < options_.levels);
    }

    static void split(RefOrder& order, std::uint64_t quantity) {
        order.shown = order.display != 0 ? std::min(order.display, quantity) : quantity;
        order.reserve = quantity - order.shown;
    }

    // One execution of a resting order, and its refill.
    void execute(const Request& r, RefOrder order, std::uint64_t quantity, Report report) {
        take(order);
        order.shown -= quantity;
        report.quantity = quantity;
        report.left = order.shown;
        if (order.shown + order.reserve == 0) report.flags |= report_flag::last;
        tell(report);
        if (order.shown != 0) {
            put(order);
        } else if (order.reserve != 0) {
            split(order, order.reserve);
            order.reference = ++references_;
            put(order);
            Report added = about(r, ReportKind::added, order);
            added.flags |= report_flag::refill | (report.flags & report_flag::in_cross);
            added.quantity = order.shown;
            tell(added);
        }
    }
    void remove(const Request& r, const RefOrder order, Reason reason, bool answers = false) {
        take(order);
        Report report = about(r, ReportKind::removed, order);
        report.reason = reason;
        report.flags |= report_flag::last;
        if (answers) report.flags |= report_flag::answer;
        report.quantity = order.shown;
        tell(report);
    }
    void drop(const Request& r, const RefOrder& incoming, std::uint64_t& left, Reason reason) {
        Report report = about(r, ReportKind::removed, incoming);
        report.reason = reason;
        report.flags = report_flag::last;
        report.quantity = left;
        left = 0;
        tell(report);
    }
    // What is left after matching.
    std::uint64_t match(const Request& r, const RefOrder& incoming, std::uint64_t left) {
        while (left != 0) {
            const RefOrder* found = best_against(incoming);
            if (found == nullptr) break;
            const RefOrder resting = *found;
            if (incoming.participant != 0 && r.self_trade != SelfTrade::allow &&
                resting.participant == incoming.participant) {
                if (r.self_trade != SelfTrade::cancel_incoming) {
                    remove(r, resting, Reason::self_trade);
                }
                if (r.self_trade != SelfTrade::cancel_resting) {
                    prevented_ = true;
                    drop(r, incoming, left, Reason::self_trade);
                }
                continue;
            }
            const std::uint64_t quantity = std::min(left, resting.shown);
            left -= quantity;
            Report report = about(r, ReportKind::executed, resting);
            report.contra_order_id = incoming.id;
            report.contra_reference = incoming.reference;
            report.match_number = ++matches_;
            instruments_[incoming.instrument].last_trade = resting.price;
            execute(r, resting, quantity, report);
        }
        return left;
    }
    // Tries it on a copy of everything.
    bool fillable(const Request& r, const RefOrder& incoming) const {
        Reference copy(*this);
        copy.prevented_ = false;
        return copy.match(r, incoming, r.quantity) == 0 && !copy.prevented_;
    }

    void enter(const Request& r) {
        const bool market = r.type == OrderType::market;
        if (static_cast<int>(r.side) > 1 || static_cast<int>(r.type) > 1 ||
            static_cast<int>(r.time_in_force) > 4 || static_cast<int>(r.self_trade) > 3 ||
            r.flags > 3) {
            return reject(r, Reason::bad_request);
        }
        if (r.instrument >= options_.instruments) return reject(r, Reason::unknown_instrument);
        const bool day = r.time_in_force == TimeInForce::day;
        if ((market || !day) && (r.flags != 0 || r.display != 0)) {
            return reject(r, Reason::bad_combination);
        }
        RefOrder order;
        order.id = r.order_id;
        order.instrument = r.instrument;
        order.side = r.side;
        order.market = market;
        order.price = market ? 0 : r.price;
        order.display = r.display;
        order.participant = r.participant;
        order.producer = r.producer;
        order.kind = r.time_in_force == TimeInForce::on_open    ? Kind::on_open
                     : r.time_in_force == TimeInForce::on_close ? Kind::on_close
                     : market                                   ? Kind::waiting_market
                     : (r.flags & request_flag::hidden) != 0    ? Kind::hidden
                                                                : Kind::displayed;
        if (const Reason reason = terms_of(r, order); reason != Reason::none) {
            return reject(r, reason);
        }
        const TradingState state = instruments_[r.instrument].state;
        const bool now = r.time_in_force == TimeInForce::immediate_or_cancel ||
                         r.time_in_force == TimeInForce::fill_or_kill;
        const bool continuous = state == TradingState::continuous;
        if (!continuous && (state != TradingState::quotation || now)) {
            return reject(r, Reason::not_open);
        }
        if (orders_.contains(r.order_id)) return reject(r, Reason::duplicate_id);
        const bool matches = continuous && (now || day);
        const bool rests = !now && !(continuous && market && day);
        if (matches && (r.flags & request_flag::post_only) != 0 && best_against(order) != nullptr) {
            return reject(r, Reason::would_match);
        }
        if (r.time_in_force == TimeInForce::fill_or_kill && !fillable(r, order)) {
            return reject(r, Reason::not_fillable);
        }
        if (rests && !room_for(order, nullptr)) return reject(r, Reason::no_room);

        order.reference = ++references_;
        // One report is all where the order only joins its queue, and shows all of it.
        const bool alone = rests && !(matches && best_against(order) != nullptr) &&
                           (order.display == 0 || order.display >= r.quantity);
        if (!alone) accept(r, order, r.quantity);
        run(r, order, matches, rests, alone);
    }
    void run(const Request& r, RefOrder& order, bool matches, bool rests, bool answers) {
        std::uint64_t left = r.quantity;
        if (matches) left = match(r, order, left);
        if (left == 0) return;
        if (!rests) return drop(r, order, left, Reason::not_matched);
        split(order, left);
        put(order);
        Report added = about(r, ReportKind::added, order);
        if (answers) added.flags |= report_flag::answer;
        added.quantity = order.shown;
        tell(added);
    }

    void accept(const Request& r) {
        Report accepted = about(r, ReportKind::accepted);
        accepted.flags = report_flag::answer;
        tell(accepted);
    }
    void accept(const Request& r, const RefOrder& order, std::uint64_t quantity) {
        Report accepted = about(r, ReportKind::accepted);
        accepted.flags = report_flag::answer;
        accepted.instrument = order.instrument;
        accepted.side = order.side;
        accepted.reference = order.reference;
        accepted.price = order.price;
        accepted.quantity = quantity;
        tell(accepted);
    }
    void cancel(const Request& r) {
        const RefOrder* order = owned(r);
        if (order == nullptr) return reject(r, Reason::unknown_order);
        const bool alone = order->reserve == 0;
        if (!alone) accept(r, *order, order->shown + order->reserve);
        remove(r, *order, Reason::cancelled, alone);
    }
    void reduce(const Request& r) {
        const RefOrder* found = owned(r);
        if (found == nullptr) return reject(r, Reason::unknown_order);
        if (!quantity_ok(r.quantity, found->instrument)) return reject(r, Reason::bad_quantity);
        RefOrder& order = orders_.at(r.order_id);
        const std::uint64_t all = order.shown + order.reserve;
        const bool alone = order.reserve == 0;
        if (!alone) accept(r, order, std::min(r.quantity, all));
        if (r.quantity >= all) return remove(r, order, Reason::cancelled, alone);
        const std::uint64_t unseen = std::min(r.quantity, order.reserve);
        order.reserve -= unseen;
        if (unseen != 0) {
            Report report = about(r, ReportKind::reduced, order);
            report.flags = 0;
            report.quantity = unseen;
            report.left = order.shown;
            tell(report);
        }
        order.shown -= r.quantity - unseen;
        if (r.quantity == unseen) return;
        Report report = about(r, ReportKind::reduced, order);
        if (alone) report.flags |= report_flag::answer;
        report.quantity = r.quantity - unseen;
        report.left = order.shown;
        tell(report);
    }
    void replace(const Request& r);
    void set_state(const Request& r);
    void auction(const Request& r);
    bool takes_part(const RefOrder& order, CrossKind cross) const;
    Auction price_of(std::uint32_t instrument, CrossKind cross, bool alone) const;
    std::uint64_t sum(std::uint32_t instrument, CrossKind cross, bool alone, Side side,
                      std::int64_t price) const;
    std::int64_t reference_price(std::uint32_t instrument) const {
        const std::int64_t last = instruments_[instrument].last_trade;
        return last != 0 ? last : terms_[instrument].reference_price;
    }
    const RefOrder* first_of(std::uint32_t instrument, CrossKind cross, Side side) const;
    void make_cross(const Request& r);

    EngineOptions options_;
    std::vector<InstrumentTerms> terms_;
    std::vector<Instrument> instruments_;
    std::map<std::uint64_t, RefOrder> orders_;
    std::map<LevelKey, std::uint64_t> levels_;  // orders of each price
    std::uint64_t references_ = 0, matches_ = 0, reports_ = 0;
    bool prevented_ = false;
};

}  // namespace match_reference

#include "match_reference_cross.hpp"
