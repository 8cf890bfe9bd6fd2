#include "wirebook/sim/market_day.hpp"

#include <algorithm>

namespace wirebook::sim {
namespace {

using match::CrossKind;
using match::Request;
using match::RequestKind;
using match::TradingState;

// Streams of random numbers, so that one part may change without the others.
enum Stream : std::uint64_t { stream_day = 1, stream_flow, stream_arrivals };

constexpr std::size_t remembered_trades = 64;

FlowOptions flow_options(const DayOptions& day) {
    FlowOptions options;
    options.live_orders = day.live_orders;
    options.order_limit = day.order_limit;
    return options;
}

std::int64_t gap_of(std::uint64_t rate) noexcept {
    return std::max<std::int64_t>(1, 1'000'000'000 / static_cast<std::int64_t>(rate));
}

ArrivalOptions arrivals_from(std::int64_t start_ns) noexcept {
    ArrivalOptions options;
    options.start_ns = start_ns;
    return options;
}

}  // namespace

MarketDay::MarketDay(match::Engine& engine, const std::vector<Listing>& listings,
                     const ActivityTable& activity, Feed& feed, const DayOptions& options)
    : engine_(engine),
      listings_(listings),
      feed_(feed),
      options_(options),
      random_(Random::of_stream(options.seed, stream_day)),
      flow_(engine, listings, activity, Random::of_stream(options.seed, stream_flow),
            flow_options(options)),
      arrivals_(Random::of_stream(options.seed, stream_arrivals), activity,
                arrivals_from(start_of(options, listings.size()))),
      full_day_(options.messages >= DayOptions::messages_of_full_day(listings.size())),
      start_ns_(start_of(options, listings.size())),
      now_ns_(start_ns_),
      message_gap_ns_(gap_of(options.rate)) {
    WIREBOOK_CHECK(options.messages >= DayOptions::least_messages(listings.size()));
    printed_.reserve(remembered_trades);
}

std::int64_t MarketDay::start_of(const DayOptions& options, std::size_t instruments) noexcept {
    constexpr std::int64_t longest_ns = 19'800'000'000'000;  // from 04:00 on
    const std::uint64_t before = 5 * instruments + options.live_orders * 9 / 8 + 100;
    const std::int64_t most = longest_ns / gap_of(options.rate);
    return options.open_ns -
           std::min(static_cast<std::int64_t>(before), most) * gap_of(options.rate);
}

void MarketDay::run(const std::function<bool()>& keep_going) {
    keep_going_ = &keep_going;
    arrivals_.set_rate(options_.rate);
    start_of_day();
    fill();
    open();
    trade();
    close();
    after_hours();
    end_of_day();
}

// ---- the parts of the day

void MarketDay::start_of_day() {
    system(SystemEvent::start_of_messages);
    const auto count = static_cast<std::uint32_t>(listings_.size());
    for (std::uint32_t i = 0; i < count; ++i) tick(), feed_.directory(i, now_ns_);
    if (full_day_) tick(), feed_.decline_levels(now_ns_);
    for (std::uint32_t i = 0; i < count; ++i) {
        tick();
        set_state(i, TradingState::continuous);
        if (!full_day_) continue;
        tick();
        feed_.short_sale(i, now_ns_);
        if (listings_[i].market_maker == 'Y') tick(), feed_.market_maker(i, now_ns_);
    }
    tick();
    system(SystemEvent::start_of_system_hours);
}

void MarketDay::fill() {
    // A quarter of what is left at most, so that a small day is not all filling.
    const std::uint64_t until = feed_.messages() + left() / 4;
    const std::uint64_t wanted = options_.live_orders * 15 / 16;
    while (flow_.live_orders() < wanted && feed_.messages() < until && !stopped()) {
        flow_step(FlowMode::filling);
    }
}

void MarketDay::open() {
    const auto count = static_cast<std::uint32_t>(listings_.size());
    for (std::uint32_t i = 0; full_day_ && i < count; ++i) tick(), indicate(i, CrossKind::opening);
    move_to(std::max(now_ns_, options_.open_ns));
    system(SystemEvent::start_of_market_hours);
    for (std::uint32_t i = 0; full_day_ && i < count; ++i) tick(), cross(i, CrossKind::opening);
}

void MarketDay::trade() {
    // What close(), after_hours() and end_of_day() will need, crosses' parts included.
    const std::uint64_t closing = full_day_ ? 4 * listings_.size() + left() / 40 : 4 + left() / 40;
    const std::uint64_t all = left() > closing ? left() - closing : 0;
    const std::uint64_t begin = feed_.messages();
    if (full_day_) plan_halts();
    for (std::uint64_t done = 0; done < all && !stopped(); done = feed_.messages() - begin) {
        set_rate_of_phase(done, all);
        work_on_halts();
        maybe_break_a_trade();
        flow_step(full_day_ && done > all - all / 5 ? FlowMode::closing : FlowMode::continuous);
    }
    for (const Halt& halt : halts_) {  // cut off by a stop, or by a long last request
        if (engine_.state(halt.instrument) != TradingState::continuous) resume(halt);
    }
    halts_.clear();
}

void MarketDay::close() {
    arrivals_.set_rate(options_.rate);
    const auto count = static_cast<std::uint32_t>(listings_.size());
    for (std::uint32_t i = 0; full_day_ && i < count; ++i) tick(), indicate(i, CrossKind::closing);
    tick();
    system(SystemEvent::end_of_market_hours);
    for (std::uint32_t i = 0; full_day_ && i < count; ++i) tick(), cross(i, CrossKind::closing);
}

void MarketDay::after_hours() {
    constexpr std::uint64_t events_to_come = 2;
    constexpr std::uint64_t patience = 1'000;  // steps: a book may have nothing for a single one
    std::uint64_t idle = 0;
    while (left() > events_to_come && !stopped()) {
        const std::uint64_t before = feed_.messages();
        const bool single = left() <= events_to_come + 200 && idle < patience;
        flow_step(single ? FlowMode::single : FlowMode::continuous);
        idle = feed_.messages() == before ? idle + 1 : 0;
    }
}

void MarketDay::end_of_day() {
    tick();
    system(SystemEvent::end_of_system_hours);
    tick();
    system(SystemEvent::end_of_messages);
}

// Busy at the beginning and the end, as a real day; the mean is the rate asked for.
void MarketDay::set_rate_of_phase(std::uint64_t done, std::uint64_t all) {
    if (done % 64 != 0) return;
    std::uint64_t percent = 86;
    if (done < all / 10) percent = 300;
    if (done > all - all / 10) percent = 250;
    arrivals_.set_rate(std::max<std::uint64_t>(1, options_.rate * percent / 100));
}

// ---- halts

// In steps of the flow, of which each is about a message: an instrument that stands still sends
// none, and may be the only one.
void MarketDay::plan_halts() {
    const std::uint64_t begin = steps_;
    const std::uint64_t room = left() * 7 / 10;
    const std::uint64_t count = std::min<std::uint64_t>(room / 20'000 + 1, 200);
    for (std::uint64_t i = 0; i < count && room > 1'000; ++i) {
        Halt halt;
        halt.instrument = static_cast<std::uint32_t>(random_.below(listings_.size()));
        const bool taken = std::any_of(halts_.begin(), halts_.end(), [&](const Halt& other) {
            return other.instrument == halt.instrument;
        });
        if (taken) continue;
        halt.pause_at = begin + room * i / count + random_.below(room / count / 2 + 1);
        halt.collect_at = halt.pause_at + 100 + room / count / 8;
        halt.cross_at = halt.collect_at + 200 + room / count / 4;
        halts_.push_back(halt);
    }
}

void MarketDay::work_on_halts() {
    const std::uint64_t done = steps_;
    if (done < next_halt_work_) return;
    next_halt_work_ = UINT64_MAX;
    for (Halt& halt : halts_) {
        const std::uint64_t due = halt.due_at(engine_.state(halt.instrument));
        if (done < due) {
            next_halt_work_ = std::min(next_halt_work_, due);
            continue;
        }
        next_halt_work_ = done + 1;  // the next stage of this one
        switch (engine_.state(halt.instrument)) {
            case TradingState::continuous: pause(halt); break;
            case TradingState::paused: collect(halt); break;
            default: resume(halt), halt.over = true; break;
        }
    }
    std::erase_if(halts_, [](const Halt& halt) { return halt.over; });
}

void MarketDay::pause(const Halt& halt) {
    ++counters_.halts;
    set_state(halt.instrument, TradingState::paused);
    const std::int64_t reference = engine_.last_trade_price(halt.instrument) != 0
                                       ? engine_.last_trade_price(halt.instrument)
                                       : listings_[halt.instrument].price_e4;
    const std::int64_t tick_e4 = listings_[halt.instrument].tick_e4;
    const std::int64_t band = std::max(tick_e4, reference / 20 / tick_e4 * tick_e4);
    tick();
    feed_.collar(halt.instrument, reference, reference - band, reference + band, now_ns_);
}

void MarketDay::collect(const Halt& halt) {
    set_state(halt.instrument, TradingState::quotation);
    // The instrument may be a quiet one: a few orders are certain to come.
    for (int i = 0; i < 12; ++i) {
        tick();
        const auto request = flow_.next(halt.instrument, now_ns_, FlowMode::collecting);
        if (request) submit(*request);
        if (i % 4 == 3) tick(), indicate(halt.instrument, CrossKind::halt);
    }
}

void MarketDay::resume(const Halt& halt) {
    if (engine_.state(halt.instrument) == TradingState::paused) collect(halt);
    tick();
    indicate(halt.instrument, CrossKind::halt);
    tick();
    cross(halt.instrument, CrossKind::halt);
    tick();
    set_state(halt.instrument, TradingState::continuous);
}

// ---- steps

void MarketDay::flow_step(FlowMode mode) {
    const Arrival arrival = arrivals_.next();
    ++steps_;
    move_to(std::max(now_ns_, arrival.time_ns));
    const TradingState state = engine_.state(arrival.instrument);
    if (state == TradingState::paused || state == TradingState::halted) return;
    if (state == TradingState::quotation) mode = FlowMode::collecting;
    const auto request = flow_.next(arrival.instrument, now_ns_, mode);
    if (request) submit(*request);
}

void MarketDay::submit(const Request& request) {
    ++counters_.requests;
    engine_.apply(request, *this);
    flow_.settle(request);
    feed_.end_request();
}

void MarketDay::on_report(const match::Report& report) noexcept {
    flow_.on_report(report);
    feed_.on_report(report);
    switch (report.kind) {
        case match::ReportKind::rejected: ++counters_.rejected; break;
        case match::ReportKind::crossed: counters_.crosses += report.quantity != 0 ? 1 : 0; break;
        case match::ReportKind::executed:
            ++counters_.trades;
            if ((report.flags & match::report_flag::in_cross) != 0) break;
            remember(report);
            break;
        default: break;
    }
}

void MarketDay::remember(const match::Report& trade) {
    if (printed_.size() < remembered_trades) {
        printed_.push_back(trade);
    } else {
        printed_[trade.match_number % remembered_trades] = trade;
    }
}

// Rare: somebody typed the wrong price, and the trade is taken back.
void MarketDay::maybe_break_a_trade() {
    if (printed_.size() < remembered_trades || random_.below(20'000) != 0) return;
    ++counters_.broken_trades;
    tick();
    feed_.broken_trade(printed_[random_.below(printed_.size())], now_ns_);
}

void MarketDay::set_state(std::uint32_t instrument, TradingState state) {
    Request request;
    request.kind = RequestKind::set_state;
    request.instrument = instrument;
    request.state = state;
    request.time_ns = now_ns_;
    submit(request);
}

void MarketDay::indicate(std::uint32_t instrument, CrossKind kind) {
    Request request;
    request.kind = RequestKind::indicate;
    request.instrument = instrument;
    request.cross = kind;
    request.time_ns = now_ns_;
    submit(request);
}

void MarketDay::cross(std::uint32_t instrument, CrossKind kind) {
    Request request;
    request.kind = RequestKind::cross;
    request.instrument = instrument;
    request.cross = kind;
    request.time_ns = now_ns_;
    submit(request);
}

void MarketDay::system(SystemEvent event) {
    told_.push_back(event);
    feed_.system(event, now_ns_);
}

// In the order of a day: orders come in system hours, market hours begin with books that are there.
void MarketDay::announce_again() {
    ++counters_.session_restarts;
    feed_.system(told_.front(), now_ns_);
    const auto count = static_cast<std::uint32_t>(listings_.size());
    for (std::uint32_t i = 0; i < count; ++i) {
        feed_.directory(i, now_ns_);
        feed_.trading_state(i, engine_.state(i), now_ns_);
    }
    feed_.system(told_[1], now_ns_);
    for (std::uint32_t i = 0; i < count; ++i) feed_.announce_orders(i, now_ns_);
    for (std::size_t i = 2; i < told_.size(); ++i) feed_.system(told_[i], now_ns_);
}

void MarketDay::tick() {
    move_to(now_ns_ + message_gap_ns_);
}

void MarketDay::move_to(std::int64_t time_ns) {
    now_ns_ = time_ns;
    feed_.advance(now_ns_);
    const bool may_restart = told_.size() >= 2;  // start of messages, start of system hours
    if (on_time_ && on_time_(now_ns_, may_restart)) announce_again();
}

std::uint64_t MarketDay::left() const noexcept {
    return options_.messages > feed_.messages() ? options_.messages - feed_.messages() : 0;
}

bool MarketDay::stopped() {
    if (!stopped_ && ++asked_ % 1'024 == 0) stopped_ = !(*keep_going_)();
    return stopped_;
}

}  // namespace wirebook::sim
