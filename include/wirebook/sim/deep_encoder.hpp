// From the matching engine's tape to IEX DEEP 1.0.
//
//   report                                message
//   executed                              T at once, displayed or not
//   executed in_cross                     -
//   crossed of more than nothing          T of all of it, marked single-price cross
//   imbalance                             A
//   added executed reduced removed        the level is noted; at the end of the request 8 (buy) or
//   replaced, displayed                   5 (sell) for each level whose total is not what it was
//   each answer                           ends the request before, where the caller did not
//   state_changed                         -; DeepDay::trading_status tells it, with its reason
//
// A request is one event of one instrument: its levels come bids first, then asks, each side from
// its best price on, with event flag 0 but for the last one's 1. A level that came and went, or
// that a refill put back, is no change. Official prices (X) and security events (E) are DeepDay's.
//
// The tape does not name the price of an order that is reduced or removed, nor DEEP's totals: the
// encoder keeps displayed orders and levels of its own, from the tape alone.
// May depend on core, wire and match. One thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "wirebook/book/hash.hpp"
#include "wirebook/match/report.hpp"
#include "wirebook/sim/deep_context.hpp"
#include "wirebook/sim/flat_map.hpp"
#include "wirebook/sim/message_sink.hpp"
#include "wirebook/wire/iex.hpp"

namespace wirebook::sim {

// What auctions of one kind say beside the engine's numbers.
struct AuctionTerms {
    std::uint32_t scheduled_time_s = 0;  // since the Unix epoch
    std::uint8_t extension = 0;
    std::uint32_t collar_permille = 100;  // half width of the collar around the reference price
};

namespace iex_sale {
inline constexpr unsigned char extended_hours = 0x40, odd_lot = 0x20, single_price_cross = 0x08;
}  // namespace iex_sale

template <MessageSink Sink>
class DeepEncoder {
public:
    // Both outlive the encoder. `live_orders` and `levels`: so many are expected at one time.
    DeepEncoder(DeepContext& context, Sink& sink, std::size_t live_orders = 1 << 16,
                std::size_t levels = 1 << 16)
        : context_(context), sink_(sink), orders_(live_orders), levels_(levels) {}

    void set_auction(match::CrossKind cross, const AuctionTerms& terms) noexcept {
        auctions_[static_cast<std::size_t>(cross)] = terms;
    }

    void on_report(const match::Report& report) {
        if (match::is_acknowledgement(report)) end_of_request();
        if ((report.flags & match::report_flag::displayed) != 0) note(report);
        switch (report.kind) {
            case match::ReportKind::executed:
                if ((report.flags & match::report_flag::in_cross) == 0) trade(report, 0);
                break;
            case match::ReportKind::crossed:
                if (report.quantity != 0) trade(report, iex_sale::single_price_cross);
                break;
            case match::ReportKind::imbalance: auction(report); break;
            default: break;
        }
    }

    // After the last report of a request. Again: no effect.
    void end_of_request() {
        std::erase_if(touched_, [&](const LevelKey& key) {
            const Level& level = *levels_.find(key);
            const bool same = level.total == level.before;
            if (same && level.total == 0) levels_.erase(key);
            return same;
        });
        std::sort(touched_.begin(), touched_.end());
        for (std::size_t i = 0; i < touched_.size(); ++i) {
            send_level(touched_[i], i + 1 == touched_.size());
        }
        touched_.clear();
        ++event_;
    }

    // Says again what a level holds, as an event of its own: in a new session.
    void tell_level(std::uint32_t instrument, match::Side side, std::int64_t price,
                    std::int64_t time_ns) {
        const LevelKey key{instrument, side, price};
        const Level* level = levels_.find(key);
        WIREBOOK_CHECK(level != nullptr && level->total != 0 && touched_.empty());
        time_ns_ = time_ns;
        send_level(key, true);
    }

    // Displayed orders and levels now; for tests and summaries.
    [[nodiscard]] std::size_t orders() const noexcept { return orders_.size(); }
    [[nodiscard]] std::size_t levels() const noexcept { return levels_.size(); }

private:
    struct Order {
        std::int64_t price = 0;
        std::uint64_t left = 0;
    };
    struct ReferenceHash {
        std::size_t operator()(std::uint64_t reference) const noexcept {
            return book::HashSeed{}.mix(reference, 0);
        }
    };
    struct LevelKey {
        std::uint32_t instrument = 0;
        match::Side side = match::Side::bid;
        std::int64_t price = 0;
        friend bool operator==(const LevelKey&, const LevelKey&) noexcept = default;
        // The order of an event's messages.
        friend bool operator<(const LevelKey& a, const LevelKey& b) noexcept {
            if (a.side != b.side) return a.side == match::Side::bid;
            return a.side == match::Side::bid ? a.price > b.price : a.price < b.price;
        }
    };
    struct LevelHash {
        std::size_t operator()(const LevelKey& key) const noexcept {
            const std::uint64_t where = std::uint64_t{key.instrument} << 1 |
                                        static_cast<std::uint64_t>(key.side == match::Side::ask);
            return book::HashSeed{}.mix(static_cast<std::uint64_t>(key.price), where);
        }
    };
    struct Level {
        std::uint64_t total = 0;
        std::uint64_t before = 0;  // when event `event` began
        std::uint64_t event = 0;
    };

    void note(const match::Report& report) {
        switch (report.kind) {
            case match::ReportKind::added:
                add(report, report.reference, report.price, report.quantity);
                break;
            case match::ReportKind::executed:
            case match::ReportKind::reduced:
            case match::ReportKind::removed: take(report, report.quantity); break;
            case match::ReportKind::replaced: {
                const Order* old = orders_.find(report.reference);
                WIREBOOK_CHECK(old != nullptr);
                take(report, old->left);
                add(report, report.new_reference, report.price, report.quantity);
                break;
            }
            default: break;
        }
    }
    void add(const match::Report& report, std::uint64_t reference, std::int64_t price,
             std::uint64_t quantity) {
        orders_[reference] = {price, quantity};
        touch(report, price).total += quantity;
    }
    void take(const match::Report& report, std::uint64_t quantity) {
        Order* order = orders_.find(report.reference);
        WIREBOOK_CHECK(order != nullptr && quantity <= order->left);
        touch(report, order->price).total -= quantity;
        order->left -= quantity;
        if (order->left == 0) orders_.erase(report.reference);
    }
    Level& touch(const match::Report& report, std::int64_t price) {
        const LevelKey key{report.instrument, report.side, price};
        Level& level = levels_[key];
        if (level.event != event_) {
            level.event = event_;
            level.before = level.total;
            WIREBOOK_CHECK(touched_.empty() || touched_[0].instrument == key.instrument);
            touched_.push_back(key);
            time_ns_ = report.time_ns;
        }
        return level;
    }

    void send_level(const LevelKey& key, bool last) {
        const std::uint64_t total = levels_.find(key)->total;
        if (total == 0) levels_.erase(key);
        if (key.side == match::Side::bid) {
            fill_level(wire::iex::PriceLevelBuy{}, key, total, last);
        } else {
            fill_level(wire::iex::PriceLevelSell{}, key, total, last);
        }
    }
    template <class M>
    void fill_level(M message, const LevelKey& key, std::uint64_t total, bool last) {
        message.event_flags = last ? 1 : 0;
        message.size.set(DeepContext::shares(total));
        message.price_e4.set(context_.price_e4(key.instrument, key.price));
        context_.send(message, key.instrument, {true, !last, time_ns_}, sink_);
    }

    void trade(const match::Report& report, unsigned char flags) {
        if (!context_.regular_hours()) flags |= iex_sale::extended_hours;
        if (report.quantity < context_.instrument(report.instrument).round_lot) {
            flags |= iex_sale::odd_lot;
        }
        wire::iex::TradeReport message{};
        message.sale_flags = flags;
        message.size.set(DeepContext::shares(report.quantity));
        message.price_e4.set(context_.price_e4(report.instrument, report.price));
        message.trade_id.set(static_cast<std::int64_t>(report.match_number));
        context_.send(message, report.instrument, {false, false, report.time_ns}, sink_);
    }

    void auction(const match::Report& report) {
        constexpr std::array<unsigned char, 3> types{'O', 'C', 'H'};
        const auto kind = static_cast<std::size_t>(report.cross);
        const AuctionTerms& terms = auctions_[kind];
        const std::int64_t reference = context_.price_e4(report.instrument, report.price);
        const std::int64_t width = reference * terms.collar_permille / 1000;
        wire::iex::AuctionInformation message{};
        message.auction_type = types[kind];
        message.paired_shares.set(DeepContext::shares(report.quantity));
        message.reference_price_e4.set(reference);
        message.indicative_clearing_price_e4.set(
            context_.price_e4(report.instrument, report.near_price));
        message.imbalance_shares.set(DeepContext::shares(report.imbalance));
        message.imbalance_side = report.imbalance == 0             ? 'N'
                                 : report.side == match::Side::bid ? 'B'
                                                                   : 'S';
        message.extension_number = terms.extension;
        message.scheduled_auction_time_s.set(terms.scheduled_time_s);
        message.auction_book_clearing_price_e4.set(
            context_.price_e4(report.instrument, report.far_price));
        message.collar_reference_price_e4.set(reference);
        message.lower_collar_e4.set(reference - width);
        message.upper_collar_e4.set(reference + width);
        context_.send(message, report.instrument, {false, false, report.time_ns}, sink_);
    }

    DeepContext& context_;
    Sink& sink_;
    std::array<AuctionTerms, 3> auctions_{};  // by CrossKind
    FlatMap<std::uint64_t, Order, ReferenceHash> orders_;
    FlatMap<LevelKey, Level, LevelHash> levels_;
    std::vector<LevelKey> touched_;  // in this event
    std::uint64_t event_ = 1;
    std::int64_t time_ns_ = 0;  // of this event
};

}  // namespace wirebook::sim
