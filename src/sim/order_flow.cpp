#include "wirebook/sim/order_flow.hpp"

#include <algorithm>
#include <limits>

namespace wirebook::sim {
namespace {

using match::OrderType;
using match::Request;
using match::RequestKind;
using match::SelfTrade;
using match::Side;
using match::TimeInForce;

constexpr std::uint32_t no_slot = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t highest_price_e4 = 1'990'000'000;  // ITCH: 200,000 dollars

// Hundredths of a cent are for prices below a dollar.
std::int64_t highest_price(const Listing& listing) noexcept {
    return listing.tick_e4 == 1 ? 9'999 : highest_price_e4 / listing.tick_e4 * listing.tick_e4;
}

}  // namespace

OrderFlow::OrderFlow(const match::Engine& engine, const std::vector<Listing>& listings,
                     const ActivityTable& activity, Random random, const FlowOptions& options)
    : engine_(engine),
      listings_(listings),
      random_(random),
      options_(options),
      instruments_(listings.size()),
      orders_(options.order_limit) {
    for (std::uint32_t i = 0; i < listings.size(); ++i) {
        // Half of the orders evenly, half by activity: quiet books are thin, not empty.
        const std::uint64_t by_activity = options.live_orders * activity.share_q32(i) >> 32U;
        const std::uint64_t evenly = options.live_orders / listings.size();
        instruments_[i].wanted = std::max<std::uint64_t>(6, (by_activity + evenly) / 2);
        instruments_[i].fair_e4 = listings[i].price_e4;
    }
    for (std::uint32_t slot = 0; slot < orders_.size(); ++slot) {
        orders_[slot].position = slot + 1 < orders_.size() ? slot + 1 : no_slot;
    }
    first_free_ = orders_.empty() ? no_slot : 0;
}

std::optional<Request> OrderFlow::next(std::uint32_t index, std::int64_t time_ns, FlowMode mode) {
    Instrument& instrument = instruments_[index];
    const Touch now = touch(index);
    if (mode == FlowMode::single && (now.bid == 0 || now.ask == 0)) return {};
    walk(instrument, listings_[index], now);
    std::optional<Request> request;
    const Action action = first_free_ == no_slot ? Action::cancel : choose(instrument, mode);
    switch (action) {
        case Action::add: break;
        case Action::cancel: request = cancel(index, mode); break;
        case Action::replace: request = replace(index, now); break;
        case Action::reduce: request = reduce(index); break;
        case Action::take: request = take(index, now); break;
    }
    // What the action needs may not be there; a new order always finds a place but at the limit.
    if (!request && first_free_ != no_slot) request = add(index, now, mode);
    if (request) request->time_ns = time_ns;
    return request;
}

OrderFlow::Action OrderFlow::choose(const Instrument& instrument, FlowMode mode) {
    const std::uint64_t live = instrument.live.size();
    if (mode == FlowMode::single) {
        return live > instrument.wanted && random_.below(2) == 0 ? Action::cancel : Action::add;
    }
    if (live < 4) return Action::add;
    const std::uint64_t drawn = random_.below(1'000);
    if (mode == FlowMode::filling) return drawn < 940 ? Action::add : Action::cancel;
    if (mode == FlowMode::collecting) return drawn < 700 ? Action::add : Action::cancel;

    // 852 of adds and cancels; the nearer to what is wanted, the more evenly.
    const std::int64_t short_of =
        static_cast<std::int64_t>(instrument.wanted) - static_cast<std::int64_t>(live);
    const std::int64_t lean = std::clamp<std::int64_t>(
        short_of * 400 / static_cast<std::int64_t>(instrument.wanted), -200, 200);
    const auto adds = static_cast<std::uint64_t>(432 + lean);
    if (drawn < adds) return Action::add;
    if (drawn < 852) return Action::cancel;
    if (drawn < 958) return Action::replace;
    if (drawn < 978) return Action::reduce;
    return drawn < 994 ? Action::take : Action::add;
}

OrderFlow::Touch OrderFlow::touch(std::uint32_t instrument) const {
    Touch now;
    const match::LevelView bid = engine_.best(instrument, Side::bid);
    const match::LevelView ask = engine_.best(instrument, Side::ask);
    if (bid.orders != 0) now.bid = bid.price, now.bid_quantity = bid.quantity;
    if (ask.orders != 0) now.ask = ask.price, now.ask_quantity = ask.quantity;
    return now;
}

// A random walk in ticks, drawn back towards the middle of the book where it strays.
void OrderFlow::walk(Instrument& instrument, const Listing& listing, const Touch& touch) {
    if (random_.below(24) != 0) return;
    const std::int64_t tick = listing.tick_e4;
    std::int64_t step = random_.below(2) == 0 ? tick : -tick;
    if (touch.bid != 0 && touch.ask != 0) {
        const std::int64_t middle = (touch.bid + touch.ask) / 2;
        if (instrument.fair_e4 > middle + 4 * tick) step = -tick;
        if (instrument.fair_e4 < middle - 4 * tick) step = tick;
    }
    const std::int64_t low = std::max(tick, listing.price_e4 / 2 / tick * tick);
    const std::int64_t high = std::min(highest_price(listing), listing.price_e4 * 2);
    instrument.fair_e4 = std::clamp(instrument.fair_e4 + step, low, high);
}

// ---- prices and quantities

std::int64_t OrderFlow::distance_ticks() {
    const std::uint64_t kind = random_.below(100);
    std::uint64_t mean = 3;
    if (kind >= 45) mean = 14;
    if (kind >= 88) mean = 60;
    if (kind >= 99) mean = 1'200;
    return static_cast<std::int64_t>(random_.length(mean) - 1);
}

// On its own side of the book: joins a level, makes one, or narrows the spread.
std::int64_t OrderFlow::passive_price(std::uint32_t index, Side side, const Touch& touch) {
    const std::int64_t tick = listings_[index].tick_e4;
    const bool buys = side == Side::bid;
    const std::int64_t outward = buys ? -tick : tick;
    const std::int64_t own = buys ? touch.bid : touch.ask;
    const std::int64_t other = buys ? touch.ask : touch.bid;
    const std::int64_t fair = instruments_[index].fair_e4 / tick * tick;

    const std::int64_t ticks = distance_ticks();
    std::int64_t price = 0;
    const std::int64_t spread =
        own != 0 && other != 0 ? (buys ? other - own : own - other) / tick : 0;
    if (own == 0) {
        price = fair + outward * (1 + ticks % 8);
    } else if (spread > 1 && random_.below(100) < (spread > 6 ? 12U : 4U)) {
        const auto inside = random_.between(1, static_cast<std::uint64_t>(spread) - 1);
        price = own - outward * static_cast<std::int64_t>(inside);
    } else {
        price = own + outward * ticks;
    }
    if (other != 0 && (buys ? price >= other : price <= other)) price = other + outward;
    // Far orders of cheap stocks would be below nothing.
    if (price < tick) price = tick * (1 + ticks % std::max<std::int64_t>(1, own / tick / 2 + 1));
    if (other != 0 && buys && price >= other) price = other - tick;
    return std::clamp(price, tick, highest_price(listings_[index]));
}

std::uint64_t OrderFlow::draw_quantity() {
    const std::uint64_t kind = random_.below(100);
    if (kind < 58) return 100 * random_.between(1, 5);
    if (kind < 82) return random_.between(1, 99);
    if (kind < 97) return 100 * random_.between(1, 20);
    return 100 * random_.between(10, 200);
}

// ---- requests

Request OrderFlow::add(std::uint32_t index, const Touch& touch, FlowMode mode) {
    Request request;
    request.kind = RequestKind::enter;
    request.instrument = index;
    request.side = random_.below(2) == 0 ? Side::bid : Side::ask;
    request.price = passive_price(index, request.side, touch);
    request.quantity = draw_quantity();
    if (mode == FlowMode::single) {  // never where a hidden order could wait
        const bool buys = request.side == Side::bid;
        const std::int64_t tick = listings_[index].tick_e4;
        request.price = std::max(
            tick, buys ? std::min(request.price, touch.bid) : std::max(request.price, touch.ask));
    }
    const bool attributed = options_.attributed != 0 && random_.below(1'000) < 23;
    request.participant = static_cast<std::uint16_t>(
        attributed ? random_.between(1, options_.attributed)
                   : random_.between(options_.attributed + 1U, options_.participants));
    if (mode != FlowMode::single) decorate(request, touch, mode);
    const bool plain =
        request.display == 0 && request.flags == 0 && request.time_in_force == TimeInForce::day;
    request.order_id = new_order(index, request.participant, plain);
    return request;
}

// Makes some orders hidden, reserve, post-only, for a cross, or crossing where prices may cross.
void OrderFlow::decorate(Request& request, const Touch& touch, FlowMode mode) {
    const std::int64_t tick = listings_[request.instrument].tick_e4;
    const std::uint64_t drawn = random_.below(1'000);
    if (drawn < 35) {
        request.flags = match::request_flag::hidden;
        const std::int64_t middle = (touch.bid + touch.ask) / 2 / tick * tick;
        const bool wide = touch.bid != 0 && touch.ask > touch.bid + tick;
        if (wide && middle > touch.bid && middle < touch.ask) request.price = middle;
    } else if (drawn < 60 && request.quantity >= 200) {
        request.display = 100;
        request.quantity -= request.quantity % 100;
    } else if (drawn < 150) {
        request.flags = match::request_flag::post_only;
    } else if (drawn < 165 && (mode == FlowMode::filling || mode == FlowMode::closing)) {
        request.time_in_force =
            mode == FlowMode::filling ? TimeInForce::on_open : TimeInForce::on_close;
        if (random_.below(3) == 0) request.type = OrderType::market;
    }
    if (mode == FlowMode::collecting) {
        request.flags &= static_cast<std::uint8_t>(~match::request_flag::post_only);
        const std::int64_t beyond = tick * static_cast<std::int64_t>(random_.below(12));
        const std::int64_t fair = instruments_[request.instrument].fair_e4 / tick * tick;
        if (random_.below(3) == 0) {
            request.price =
                request.side == Side::bid
                    ? std::min(highest_price(listings_[request.instrument]), fair + beyond)
                    : std::max(tick, fair - beyond);
        }
    }
}

Request OrderFlow::take(std::uint32_t index, const Touch& touch) {
    Request request;
    request.kind = RequestKind::enter;
    request.instrument = index;
    const std::int64_t middle = (touch.bid + touch.ask) / 2;
    const bool up = instruments_[index].fair_e4 > middle;
    const bool with_fair = random_.below(10) < 7;
    request.side = up == with_fair ? Side::bid : Side::ask;
    const bool buys = request.side == Side::bid;
    const std::int64_t best = buys ? touch.ask : touch.bid;
    const std::uint64_t there = buys ? touch.ask_quantity : touch.bid_quantity;
    if (best == 0) return add(index, touch, FlowMode::continuous);

    const std::int64_t tick = listings_[index].tick_e4;
    const std::uint64_t kind = random_.below(100);
    std::int64_t through = 0;
    request.quantity = std::min<std::uint64_t>(draw_quantity(), std::max<std::uint64_t>(there, 1));
    if (kind < 50) request.quantity = (request.quantity + 1) / 2;
    if (kind >= 88) request.quantity = std::min<std::uint64_t>(there, 1'000);
    if (kind >= 96) {  // sweeps levels, where they are thin
        request.quantity = std::min<std::uint64_t>(there * 2 + 100, 3'000);
        through = static_cast<std::int64_t>(random_.between(1, 4));
    }
    request.quantity = std::max<std::uint64_t>(request.quantity, 1);
    request.price = std::clamp(best + (buys ? through : -through) * tick, tick,
                               highest_price(listings_[index]));
    const std::uint64_t how = random_.below(100);
    if (how < 65) request.time_in_force = TimeInForce::immediate_or_cancel;
    if (how >= 65 && how < 75) request.time_in_force = TimeInForce::fill_or_kill;
    if (how >= 75 && how < 80) {
        request.type = OrderType::market;
        request.time_in_force = TimeInForce::immediate_or_cancel;
    }
    request.self_trade = random_.below(4) == 0 ? SelfTrade::cancel_resting : SelfTrade::allow;
    request.participant = static_cast<std::uint16_t>(
        random_.between(options_.attributed + 1U, options_.participants));
    request.order_id = new_order(index, request.participant, request.display == 0);
    return request;
}

std::optional<Request> OrderFlow::cancel(std::uint32_t index, FlowMode mode) {
    std::uint32_t slot = pick_live(instruments_[index]);
    if (slot == no_slot) return {};
    if (mode == FlowMode::single && !orders_[slot].plain) return {};
    Request request;
    request.kind = RequestKind::cancel;
    request.instrument = index;
    request.order_id = id_of(slot);
    request.participant = orders_[slot].participant;
    return request;
}

std::optional<Request> OrderFlow::replace(std::uint32_t index, const Touch& touch) {
    const std::uint32_t slot = pick_live(instruments_[index]);
    if (slot == no_slot || !orders_[slot].plain || first_free_ == no_slot) return {};
    const auto order = engine_.find(id_of(slot));
    if (!order) return {};
    Request request;
    request.kind = RequestKind::replace;
    request.instrument = index;
    request.side = order->side;
    request.order_id = id_of(slot);
    request.participant = orders_[slot].participant;
    request.price = random_.below(4) == 0 ? order->price : passive_price(index, order->side, touch);
    request.quantity = random_.below(3) == 0 ? draw_quantity() : order->shown;
    request.new_order_id = new_order(index, request.participant, true);
    return request;
}

std::optional<Request> OrderFlow::reduce(std::uint32_t index) {
    const std::uint32_t slot = pick_live(instruments_[index]);
    if (slot == no_slot || !orders_[slot].plain) return {};
    const auto order = engine_.find(id_of(slot));
    if (!order || order->shown < 2) return {};
    Request request;
    request.kind = RequestKind::reduce;
    request.instrument = index;
    request.order_id = id_of(slot);
    request.participant = orders_[slot].participant;
    const std::uint64_t most = order->shown - 1;
    request.quantity =
        most >= 200 ? 100 * random_.between(1, most / 100) : random_.between(1, most);
    return request;
}

// ---- which orders are live

std::uint32_t OrderFlow::pick_live(const Instrument& instrument) {
    const std::size_t count = instrument.live.size();
    if (count == 0) return no_slot;
    if (random_.below(100) < 65) {
        const std::uint64_t back = random_.length(6);
        if (back <= count) return instrument.live[count - back];
    }
    return instrument.live[random_.below(count)];
}

std::uint64_t OrderFlow::new_order(std::uint32_t instrument, std::uint16_t participant,
                                   bool plain) {
    const std::uint32_t slot = first_free_;
    WIREBOOK_CHECK(slot != no_slot);
    Order& order = orders_[slot];
    first_free_ = order.position;
    ++order.generation;
    order.instrument = instrument;
    order.participant = participant;
    order.plain = plain;
    order.live = true;
    std::vector<std::uint32_t>& live = instruments_[instrument].live;
    order.position = static_cast<std::uint32_t>(live.size());
    live.push_back(slot);
    ++live_;
    return id_of(slot);
}

void OrderFlow::release(std::uint32_t slot) {
    Order& order = orders_[slot];
    std::vector<std::uint32_t>& live = instruments_[order.instrument].live;
    live[order.position] = live.back();
    orders_[live.back()].position = order.position;
    live.pop_back();
    order.live = false;
    order.position = first_free_;
    first_free_ = slot;
    --live_;
}

void OrderFlow::on_report(const match::Report& report) {
    if ((report.flags & match::report_flag::last) == 0) return;
    const std::uint32_t slot = slot_of(report.order_id);
    if (slot < orders_.size() && orders_[slot].live && id_of(slot) == report.order_id) {
        release(slot);
    }
}

void OrderFlow::settle(const Request& request) {
    settle_id(request.order_id);
    if (request.kind == RequestKind::replace) settle_id(request.new_order_id);
}

void OrderFlow::settle_id(std::uint64_t order_id) {
    const std::uint32_t slot = slot_of(order_id);
    if (slot >= orders_.size()) return;
    const Order& order = orders_[slot];
    if (!order.live || id_of(slot) != order_id) return;
    if (!engine_.find(order_id)) release(slot);
}

}  // namespace wirebook::sim
