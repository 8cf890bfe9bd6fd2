// A book built from the engine's tape alone, and a sink that compares it with the engine's own
// displayed books after every report.
#pragma once

#include <catch2/catch.hpp>

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <vector>

#include "wirebook/match/engine.hpp"

namespace match_tape {

using namespace wirebook::match;

class TapeBook {
public:
    explicit TapeBook(std::uint32_t instruments) : sides_(std::size_t{instruments} * 2) {}

    // What cannot be right is a failed check.
    void apply(const Report& r) {
        law(r.number == ++reports_);
        if ((r.flags & report_flag::displayed) == 0) return;
        switch (r.kind) {
            case ReportKind::added:
                law(orders_.find(r.reference) == orders_.end() && r.quantity > 0);
                add(r.reference, {r.instrument, r.side, r.price, r.quantity});
                return;
            case ReportKind::executed:
            case ReportKind::reduced: {
                const Order order = take(r);
                law(r.quantity > 0 && order.quantity == r.quantity + r.left);
                if ((r.flags & report_flag::in_cross) == 0) law(order.price == r.price);
                if (r.kind == ReportKind::reduced) law(r.left > 0);
                if (r.left != 0)
                    add(r.reference, {order.instrument, order.side, order.price, r.left});
                return;
            }
            case ReportKind::removed: {
                law(take(r).quantity == r.quantity);
                return;
            }
            case ReportKind::replaced: {
                const Order order = take(r);
                law(orders_.find(r.new_reference) == orders_.end() && r.quantity > 0);
                add(r.new_reference, {order.instrument, order.side, r.price, r.quantity});
                return;
            }
            default: law(false);
        }
    }

    // Price -> quantity and orders.
    struct Total {
        std::uint64_t quantity = 0;
        std::uint32_t orders = 0;
    };
    bool equals(const Engine& engine, std::uint32_t instrument, Side side) const {
        const auto& levels = sides_[instrument * 2 + as_index(side)];
        bool same = true;
        std::size_t count = 0;
        auto bid = levels.rbegin();
        auto ask = levels.begin();
        engine.for_each_level(instrument, side, [&](const LevelView& view) {
            if (count++ == levels.size()) return same = false;
            const auto& [price, total] = side == Side::bid ? *bid++ : *ask++;
            same = price == view.price && total.quantity == view.quantity &&
                   total.orders == view.orders;
            return same;
        });
        const LevelView best = engine.best(instrument, side);
        if (levels.empty()) return same && count == 0 && best.orders == 0;
        const auto& first = side == Side::bid ? *levels.rbegin() : *levels.begin();
        return same && count == levels.size() && best.price == first.first &&
               best.quantity == first.second.quantity && best.orders == first.second.orders;
    }
    std::uint64_t broken_laws() const { return broken_; }

private:
    struct Order {
        std::uint32_t instrument;
        Side side;
        std::int64_t price;
        std::uint64_t quantity;
    };
    // A check without the framework's cost: this runs millions of times.
    void law(bool holds) { broken_ += holds ? 0 : 1; }

    void add(std::uint64_t reference, const Order& order) {
        orders_[reference] = order;
        Total& total = sides_[order.instrument * 2 + as_index(order.side)][order.price];
        total.quantity += order.quantity;
        ++total.orders;
    }
    Order take(const Report& r) {
        const auto found = orders_.find(r.reference);
        law(found != orders_.end());
        if (found == orders_.end()) return {};
        const Order order = found->second;
        law(order.instrument == r.instrument && order.side == r.side);
        orders_.erase(found);
        auto& levels = sides_[order.instrument * 2 + as_index(order.side)];
        Total& total = levels[order.price];
        total.quantity -= order.quantity;
        if (--total.orders == 0) levels.erase(order.price);
        return order;
    }

    std::map<std::uint64_t, Order> orders_;
    std::vector<std::map<std::int64_t, Total>> sides_;
    std::uint64_t reports_ = 0;
    std::uint64_t broken_ = 0;
};

// Keeps the reports since the last clear(), and looks at the engine inside each.
class TapeSink {
public:
    explicit TapeSink(const Engine& engine) : tape(engine.instruments()), engine_(&engine) {}

    // Full of rubbish, so that a byte which the engine does not write is seen.
    [[nodiscard]] void* report_place() noexcept { return std::memset(&room_, 0xA5, sizeof(room_)); }
    void on_report(const Report& report) noexcept {
        reports.push_back(report);
        tape.apply(report);
        if (report.instrument >= engine_->instruments()) return;
        for (const Side side : {Side::bid, Side::ask}) {
            if (!tape.equals(*engine_, report.instrument, side)) ++differences;
        }
    }
    // Nothing was wrong so far.
    [[nodiscard]] bool good() const { return differences == 0 && tape.broken_laws() == 0; }

    TapeBook tape;
    std::vector<Report> reports;
    std::uint64_t differences = 0;  // reports after which the books were not those of the tape

private:
    const Engine* engine_;
    std::array<std::uint64_t, sizeof(Report) / sizeof(std::uint64_t)> room_{};
};

}  // namespace match_tape
