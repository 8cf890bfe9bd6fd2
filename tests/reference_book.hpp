// Books kept the obvious way: ordered maps of lists, one update at a time. The oracle that BookSet
// is tested against; written from the rules, for reading, without a thought for speed.
// May depend on book/update_batch.hpp and the plain result structs of book_set.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "wirebook/book/book_set.hpp"
#include "wirebook/book/update_batch.hpp"

namespace wirebook::book {

class ReferenceBooks {
public:
    struct Level {
        std::uint64_t quantity = 0;      // as told; order books: kept equal to the queue's sum
        std::list<std::uint64_t> queue;  // order references, first come first
    };
    using Levels = std::map<std::int64_t, Level>;  // by price
    struct Instrument {
        std::array<Levels, 2> sides;
        std::string symbol;
        bool followed = true, event_open = false, named = false;
        std::optional<bool> trading;
        std::uint64_t group = 0;
        std::uint8_t places = 0;
        std::int64_t last_touch_time_ns = 0;
    };
    struct Order {
        std::uint32_t instrument = 0;
        Side side = Side::bid;
        bool followed = true;
        std::int64_t price = 0;
        std::uint64_t quantity = 0;
    };

    std::uint32_t instrument_limit = 0;
    bool trading_by_default = false;
    // What the tested books have no room for: the next placing of an order or making of a level
    // is refused here too.
    bool refuse_placing = false;

    BookCounters counters;
    std::map<std::uint32_t, Instrument> instruments;
    std::map<std::uint64_t, Order> orders;
    std::set<std::uint32_t> seen, had_level;

    template <class Observer>
    void apply(const UpdateBatch& batch, Observer& observer) {
        std::uint32_t u = 0;
        std::uint32_t e = 0;
        for (std::uint32_t p = 0; p < batch.packets + (batch.tail_open ? 1U : 0U); ++p) {
            const PacketEnd& end = batch.packet[p];
            const bool whole = p < batch.packets;
            for (; u < (whole ? end.updates_end : batch.updates); ++u) {
                while (e < batch.events && batch.event[e].place <= u &&
                       (!whole || e < end.events_end)) {
                    observer.on_event(batch.event[e++], end);
                }
                update(batch, u, end, observer);
            }
            while (e < (whole ? end.events_end : batch.events)) {
                observer.on_event(batch.event[e++], end);
            }
            if (whole) end_packet(end, observer);
        }
    }

    [[nodiscard]] std::vector<LevelView> depth(std::uint32_t i, Side side) const {
        std::vector<LevelView> out;
        const auto at = instruments.find(i);
        if (at == instruments.end()) return out;
        const Levels& levels = at->second.sides[index_of(side)];
        const auto view = [&](const auto& entry) {
            out.push_back({entry.first, entry.second.quantity,
                           static_cast<std::uint32_t>(entry.second.queue.size())});
        };
        if (side == Side::ask) {
            for (const auto& entry : levels) view(entry);
        } else {
            for (auto it = levels.rbegin(); it != levels.rend(); ++it) view(*it);
        }
        return out;
    }

    [[nodiscard]] std::optional<QueuePosition> queue_position(std::uint64_t id) const {
        const auto at = orders.find(id);
        if (at == orders.end() || !at->second.followed) return std::nullopt;
        const Order& order = at->second;
        QueuePosition position;
        const Levels& levels = instruments.at(order.instrument).sides[index_of(order.side)];
        for (const std::uint64_t ahead : levels.at(order.price).queue) {
            if (ahead == id) break;
            ++position.orders_ahead;
            position.quantity_ahead += orders.at(ahead).quantity;
        }
        return position;
    }

    [[nodiscard]] std::uint64_t live_orders() const {
        std::uint64_t count = 0;
        for (const auto& [id, order] : orders) count += order.followed ? 1U : 0U;
        return count;
    }

    [[nodiscard]] bool trades_continuously(const Instrument& instrument) const {
        const auto market = markets_.find(instrument.group);
        return instrument.trading.value_or(trading_by_default) &&
               (market == markets_.end() ? trading_by_default : market->second);
    }

private:
    template <class Observer>
    void update(const UpdateBatch& b, std::uint32_t u, const PacketEnd& end, Observer& observer) {
        const UpdateKind kind = b.kind[u];
        switch (kind) {
            case UpdateKind::execute:
            case UpdateKind::reduce:
            case UpdateKind::remove:
            case UpdateKind::replace: order_update(b, u, end, observer); return;
            case UpdateKind::market: markets_[b.quantity[u]] = b.price[u] != 0; return;
            case UpdateKind::clear_books:
            case UpdateKind::new_session:
                clear(kind == UpdateKind::new_session);
                observer.on_clear(end);
                return;
            default: break;
        }
        if (b.instrument[u] >= instrument_limit) {
            ++counters.no_room_instruments;
            return;
        }
        Instrument& instrument = instruments[b.instrument[u]];
        const bool open = (b.flags[u] & update_flag::event_open) != 0;
        switch (kind) {
            case UpdateKind::add: add(b, u, instrument); break;
            case UpdateKind::level_set:
            case UpdateKind::level_remove:
            case UpdateKind::quote:
                instrument.event_open = open;
                if (instrument.followed) level_update(b, u, instrument);
                break;
            case UpdateKind::close_event: instrument.event_open = open; break;
            case UpdateKind::trading: instrument.trading = b.quantity[u] != 0; break;
            case UpdateKind::group: instrument.group = b.quantity[u]; break;
            case UpdateKind::name: name(b, u, instrument); break;
            default: break;
        }
    }

    void name(const UpdateBatch& b, std::uint32_t u, Instrument& instrument) {
        std::array<char, 17> text{};
        std::memcpy(text.data(), &b.order_id[u], 8);
        std::memcpy(text.data() + 8, &b.new_order_id[u], 8);
        instrument.symbol.assign(text.data(), static_cast<std::size_t>(b.price[u]));
        instrument.places = static_cast<std::uint8_t>(b.quantity[u]);
        instrument.named = true;
        seen.insert(b.instrument[u]);
        instrument.followed = (b.flags[u] & update_flag::not_followed) == 0;
        if (instrument.followed) return;
        for (auto& [id, order] : orders) {
            if (order.instrument == b.instrument[u]) order.followed = false;
        }
        for (Levels& levels : instrument.sides) levels.clear();
        std::erase(touched_, b.instrument[u]);
    }

    void touch(std::uint32_t i, std::int64_t time) {
        seen.insert(i);
        instruments[i].last_touch_time_ns = time;
        for (const std::uint32_t listed : touched_) {
            if (listed == i) return;
        }
        touched_.push_back(i);
    }

    static bool good(std::uint64_t quantity) { return quantity >= 1 && quantity <= 0xFFFF'FFFF; }

    void add(const UpdateBatch& b, std::uint32_t u, Instrument& instrument) {
        const bool bad = !good(b.quantity[u]) || (b.flags[u] & update_flag::bad_side) != 0;
        const std::uint64_t counted = instrument.followed ? 1U : 0U;
        if (bad) {
            counters.bad_orders += counted;
        } else if (orders.contains(b.order_id[u])) {
            counters.duplicate_orders += counted;
        } else {
            place(b.order_id[u],
                  {b.instrument[u], b.side[u], instrument.followed, b.price[u], b.quantity[u]},
                  b.exchange_time_ns[u]);
        }
    }

    void place(std::uint64_t id, const Order& order, std::int64_t time) {
        if (refuse_placing) return;
        orders[id] = order;
        if (!order.followed) return;
        Level& level = instruments[order.instrument].sides[index_of(order.side)][order.price];
        level.queue.push_back(id);
        level.quantity += order.quantity;
        had_level.insert(order.instrument);
        touch(order.instrument, time);
    }

    void take_off(std::uint64_t id, std::uint64_t quantity, std::int64_t time) {
        Order& order = orders.at(id);
        const std::uint64_t taken = std::min(quantity, order.quantity);
        order.quantity -= taken;
        if (order.followed) {
            if (quantity > taken) ++counters.overfills;
            Levels& levels = instruments[order.instrument].sides[index_of(order.side)];
            Level& level = levels.at(order.price);
            level.quantity -= taken;
            if (order.quantity == 0) level.queue.remove(id);
            if (level.queue.empty()) levels.erase(order.price);
            touch(order.instrument, time);
        }
        if (order.quantity == 0) orders.erase(id);
    }

    template <class Observer>
    void order_update(const UpdateBatch& b, std::uint32_t u, const PacketEnd& end,
                      Observer& observer) {
        const auto at = orders.find(b.order_id[u]);
        if (at == orders.end()) {
            const auto named = instruments.find(b.instrument[u]);
            if (named == instruments.end() || named->second.followed) ++counters.unknown_orders;
            return;
        }
        const Order was = at->second;
        const bool whole = b.kind[u] == UpdateKind::remove || b.kind[u] == UpdateKind::replace;
        take_off(at->first, whole ? was.quantity : b.quantity[u], b.exchange_time_ns[u]);
        if (b.kind[u] == UpdateKind::execute && was.followed) {
            Execution x;
            x.instrument = was.instrument;
            x.side = was.side;
            x.printable = (b.flags[u] & update_flag::printable) != 0;
            x.has_price = (b.flags[u] & update_flag::has_price) != 0;
            x.price = x.has_price ? b.price[u] : was.price;
            x.quantity = b.quantity[u];
            x.order_id = b.order_id[u];
            x.match_number = b.new_order_id[u];
            x.exchange_time_ns = b.exchange_time_ns[u];
            observer.on_execution(x, end);
        }
        if (b.kind[u] != UpdateKind::replace) return;
        const std::uint64_t counted = was.followed ? 1U : 0U;
        if (!good(b.quantity[u])) {
            counters.bad_orders += counted;
        } else if (orders.contains(b.new_order_id[u])) {
            counters.duplicate_orders += counted;
        } else {
            place(b.new_order_id[u],
                  {was.instrument, was.side, was.followed, b.price[u], b.quantity[u]},
                  b.exchange_time_ns[u]);
        }
    }

    void level_update(const UpdateBatch& b, std::uint32_t u, Instrument& instrument) {
        const std::uint32_t i = b.instrument[u];
        if (b.kind[u] == UpdateKind::quote) {
            if (refuse_placing) return;
            const auto set = [&](Side side, std::int64_t price, std::uint64_t quantity) {
                Levels& levels = instrument.sides[index_of(side)];
                levels.clear();
                if (quantity == 0) return;
                levels[price].quantity = quantity;
                had_level.insert(i);
            };
            set(Side::bid, b.price[u], b.quantity[u]);
            set(Side::ask, static_cast<std::int64_t>(b.order_id[u]), b.new_order_id[u]);
        } else {
            Levels& levels = instrument.sides[index_of(b.side[u])];
            if (b.kind[u] == UpdateKind::level_set && b.quantity[u] != 0) {
                if (refuse_placing) return;
                levels[b.price[u]].quantity = b.quantity[u];
                had_level.insert(i);
            } else if (levels.erase(b.price[u]) == 0) {
                ++counters.unknown_levels;
                return;
            }
        }
        touch(i, b.exchange_time_ns[u]);
    }

    void clear(bool session) {
        orders.clear();
        touched_.clear();
        if (session) markets_.clear();
        for (auto& [i, instrument] : instruments) {
            const Instrument was = instrument;
            instrument = Instrument{};
            instrument.followed = was.followed;
            if (session) continue;
            instrument.symbol = was.symbol;
            instrument.named = was.named;
            instrument.trading = was.trading;
            instrument.group = was.group;
            instrument.places = was.places;
            instrument.last_touch_time_ns = was.last_touch_time_ns;
        }
    }

    template <class Observer>
    void end_packet(const PacketEnd& end, Observer& observer) {
        std::vector<std::uint32_t> waiting;
        for (const std::uint32_t i : touched_) {
            const Instrument& instrument = instruments.at(i);
            if (instrument.event_open) {
                waiting.push_back(i);
                continue;
            }
            const Levels& bids = instrument.sides[0];
            const Levels& asks = instrument.sides[1];
            if (!bids.empty() && !asks.empty() && bids.rbegin()->first > asks.begin()->first &&
                trades_continuously(instrument)) {
                ++counters.crossed;
            }
            observer.on_touched(i, end);
        }
        touched_ = waiting;
        observer.on_packet_end(end);
    }

    std::vector<std::uint32_t> touched_;
    std::map<std::uint64_t, bool> markets_;
};

}  // namespace wirebook::book
