// The yardstick of match_bench: the engine that one writes on an afternoon with the standard
// library. A map of prices a side, a list of orders a price, a hash table of ids. Limit,
// immediate, cancel and replace in continuous trading; the same reports as match::Engine, the same
// checks of quantity, price, tick and lot.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <unordered_map>
#include <vector>

#include "wirebook/match/engine.hpp"

namespace match_bench {

using namespace wirebook::match;

class PlainEngine {
public:
    PlainEngine(std::uint32_t instruments, std::size_t orders) : books_(instruments) {
        orders_.reserve(orders);
    }

    template <class Sink>
    void apply(const Request& r, Sink& sink) {
        switch (r.kind) {
            case RequestKind::enter: enter(r, sink); return;
            case RequestKind::cancel: cancel(r, sink); return;
            case RequestKind::replace: replace(r, sink); return;
            default: return;
        }
    }
    [[nodiscard]] std::size_t live_orders() const { return orders_.size(); }

private:
    struct Order {
        std::uint64_t id, reference;
        std::int64_t price;
        std::uint64_t quantity;
        std::uint32_t instrument;
        std::uint16_t participant, producer;
        Side side;
    };
    using Queue = std::list<Order>;
    struct Book {
        std::map<std::int64_t, Queue, std::greater<>> bids;
        std::map<std::int64_t, Queue> asks;
        std::int64_t tick = 1, last_trade = 0;
        std::uint32_t lot = 1;
    };

    template <class Sink>
    void tell(const Request& r, ReportKind kind, const Order& order, Sink& sink, Report report) {
        report.kind = kind;
        report.side = order.side;
        report.participant = order.participant;
        report.producer = order.producer;
        report.instrument = order.instrument;
        report.request = r.kind;
        report.order_id = order.id;
        report.price = order.price;
        report.time_ns = r.time_ns;
        report.number = ++reports_;
        sink.on_report(report);
    }
    template <class Sink>
    void reject(const Request& r, Reason reason, Sink& sink) {
        Report report;
        report.flags = report_flag::answer;
        report.reason = reason;
        Order order{};
        order.id = r.order_id;
        tell(r, ReportKind::rejected, order, sink, report);
    }
    template <class Levels, class Sink>
    void match_with(const Request& r, Levels& levels, Order& incoming, Sink& sink) {
        while (incoming.quantity != 0 && !levels.empty()) {
            const auto level = levels.begin();
            if (incoming.side == Side::bid ? level->first > incoming.price
                                           : level->first < incoming.price) {
                return;
            }
            Queue& queue = level->second;
            Order& resting = queue.front();
            const std::uint64_t quantity = std::min(incoming.quantity, resting.quantity);
            incoming.quantity -= quantity;
            resting.quantity -= quantity;
            books_[incoming.instrument].last_trade = resting.price;
            Report report;
            report.flags = report_flag::displayed;
            report.reference = resting.reference;
            report.quantity = quantity;
            report.left = resting.quantity;
            report.contra_order_id = incoming.id;
            report.contra_reference = incoming.reference;
            report.match_number = ++matches_;
            const Order told = resting;
            if (resting.quantity == 0) {
                report.flags |= report_flag::last;
                orders_.erase(resting.id);
                queue.pop_front();
                if (queue.empty()) levels.erase(level);
            }
            tell(r, ReportKind::executed, told, sink, report);
        }
    }
    template <class Sink>
    void run(const Request& r, Order order, bool rests, bool answers, Sink& sink) {
        Book& book = books_[order.instrument];
        if (order.side == Side::bid) {
            match_with(r, book.asks, order, sink);
        } else {
            match_with(r, book.bids, order, sink);
        }
        if (order.quantity == 0) return;
        Report report;
        report.reference = order.reference;
        report.quantity = order.quantity;
        report.flags = rests ? report_flag::displayed : report_flag::last;
        if (answers) report.flags |= report_flag::answer;
        if (rests) {
            Queue& queue =
                order.side == Side::bid ? book.bids[order.price] : book.asks[order.price];
            queue.push_back(order);
            orders_.emplace(order.id, std::prev(queue.end()));
        }
        tell(r, rests ? ReportKind::added : ReportKind::removed, order, sink, report);
    }
    [[nodiscard]] static bool valid(const Request& r, const Book& book) {
        return r.quantity != 0 && r.quantity <= 0xFFFF'FFFF && r.quantity % book.lot == 0 &&
               r.price > 0 && r.price % book.tick == 0;
    }
    template <class Sink>
    void enter(const Request& r, Sink& sink) {
        if (r.instrument >= books_.size() || !valid(r, books_[r.instrument]) ||
            orders_.contains(r.order_id)) {
            reject(r, Reason::bad_request, sink);
            return;
        }
        const Order order{r.order_id,   ++references_, r.price,    r.quantity,
                          r.instrument, r.participant, r.producer, r.side};
        const bool rests = r.time_in_force == TimeInForce::day;
        const bool alone = rests && !would_match(order);
        if (!alone) {
            Report report;
            report.flags = report_flag::answer;
            report.reference = order.reference;
            report.quantity = r.quantity;
            tell(r, ReportKind::accepted, order, sink, report);
        }
        run(r, order, rests, alone, sink);
    }
    void take_out(Queue::iterator order) {
        Book& book = books_[order->instrument];
        const std::int64_t price = order->price;
        orders_.erase(order->id);
        if (order->side == Side::bid) {
            const auto level = book.bids.find(price);
            level->second.erase(order);
            if (level->second.empty()) book.bids.erase(level);
        } else {
            const auto level = book.asks.find(price);
            level->second.erase(order);
            if (level->second.empty()) book.asks.erase(level);
        }
    }
    template <class Sink>
    void cancel(const Request& r, Sink& sink) {
        const auto found = orders_.find(r.order_id);
        if (found == orders_.end() || found->second->participant != r.participant) {
            reject(r, Reason::unknown_order, sink);
            return;
        }
        const Order order = *found->second;
        Report report;
        report.reference = order.reference;
        report.quantity = order.quantity;
        take_out(found->second);
        report.reason = Reason::cancelled;
        report.flags = report_flag::displayed | report_flag::last | report_flag::answer;
        tell(r, ReportKind::removed, order, sink, report);
    }
    [[nodiscard]] bool would_match(const Order& order) const {
        const Book& book = books_[order.instrument];
        if (order.side == Side::bid) {
            return !book.asks.empty() && book.asks.begin()->first <= order.price;
        }
        return !book.bids.empty() && book.bids.begin()->first >= order.price;
    }
    template <class Sink>
    void replace(const Request& r, Sink& sink) {
        const auto found = orders_.find(r.order_id);
        if (found == orders_.end() || found->second->participant != r.participant ||
            !valid(r, books_[found->second->instrument]) ||
            (r.new_order_id != r.order_id && orders_.contains(r.new_order_id))) {
            reject(r, Reason::unknown_order, sink);
            return;
        }
        const Order original = *found->second;
        Order order = original;
        order.id = r.new_order_id;
        order.reference = ++references_;
        order.price = r.price;
        order.quantity = r.quantity;
        order.producer = r.producer;
        Report report;
        report.reference = original.reference;
        report.new_reference = order.reference;
        report.quantity = r.quantity;
        take_out(found->second);
        if (would_match(order)) {
            report.flags = report_flag::answer;
            tell(r, ReportKind::accepted, order, sink, report);
            report.flags = report_flag::displayed;
            tell(r, ReportKind::removed, original, sink, report);
            run(r, order, true, false, sink);
            return;
        }
        report.flags = report_flag::displayed | report_flag::answer;
        Book& book = books_[order.instrument];
        Queue& queue = order.side == Side::bid ? book.bids[order.price] : book.asks[order.price];
        queue.push_back(order);
        orders_.emplace(order.id, std::prev(queue.end()));
        report.contra_order_id = original.id;
        tell(r, ReportKind::replaced, order, sink, report);
    }

    std::vector<Book> books_;
    std::unordered_map<std::uint64_t, Queue::iterator> orders_;
    std::uint64_t references_ = 0, matches_ = 0, reports_ = 0;
};

}  // namespace match_bench
