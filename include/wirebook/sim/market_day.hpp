// One trading day of the simulated exchange, from the first message to the last.
//
//   directory, states | filling the books | imbalance, opening cross | continuous, with
//   micro-bursts and halts | imbalance, closing cross | after hours | end
//
// The day is as long as its messages at the rate asked for: market hours start at 09:30 and end
// when it is time, not at 16:00. The number of messages is met exactly: after hours is where the
// last ones are counted out.
//
// sim may depend on everything but app. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "wirebook/core/random.hpp"
#include "wirebook/match/engine.hpp"
#include "wirebook/sim/arrivals.hpp"
#include "wirebook/sim/feed.hpp"
#include "wirebook/sim/listing.hpp"
#include "wirebook/sim/order_flow.hpp"

namespace wirebook::sim {

struct DayOptions {
    std::uint64_t seed = 1;
    std::uint64_t messages = 100'000;  // of the whole day; least_messages() at least
    std::uint64_t rate = 100'000;      // messages a second of simulated time, in the mean
    std::uint64_t live_orders = 5'000;
    std::uint32_t order_limit = 20'000;  // of the engine
    std::int64_t open_ns = 0;  // 09:30 of the trading date in New York, ns since the Unix epoch

    // With fewer messages there is no room for crosses and imbalances of every instrument.
    [[nodiscard]] static std::uint64_t messages_of_full_day(std::uint64_t instruments) noexcept {
        return 14 * instruments + 200;
    }
    [[nodiscard]] static std::uint64_t least_messages(std::uint64_t instruments) noexcept {
        return 2 * instruments + 20;
    }
};

struct DayCounters {
    std::uint64_t requests = 0;
    std::uint64_t rejected = 0;
    std::uint64_t halts = 0;
    std::uint64_t crosses = 0;  // that traded
    std::uint64_t broken_trades = 0;
    std::uint64_t session_restarts = 0;
    std::uint64_t trades = 0;
};

class MarketDay {
public:
    MarketDay(match::Engine& engine, const std::vector<Listing>& listings,
              const ActivityTable& activity, Feed& feed, const DayOptions& options);

    // Called whenever time has moved on, between requests. `may_restart`: system hours have begun;
    // then it returns true where the feed has just begun a new session, and all has to be announced
    // again.
    using OnTime = std::function<bool(std::int64_t time_ns, bool may_restart)>;
    void on_time(OnTime called) { on_time_ = std::move(called); }

    // Runs the day. `keep_going` is asked now and then; the day ends in order when it says no, the
    // messages left out.
    void run(const std::function<bool()>& keep_going);

    // When a day of these options begins: as long before the opening as it takes, not before 04:00.
    [[nodiscard]] static std::int64_t start_of(const DayOptions& options,
                                               std::size_t instruments) noexcept;

    [[nodiscard]] std::int64_t start_ns() const noexcept { return start_ns_; }
    [[nodiscard]] std::int64_t now_ns() const noexcept { return now_ns_; }
    [[nodiscard]] const DayCounters& counters() const noexcept { return counters_; }

    // The engine's sink.
    void on_report(const match::Report& report) noexcept;

private:
    struct Halt {
        std::uint32_t instrument = 0;
        std::uint64_t pause_at = 0;  // in steps of the flow
        std::uint64_t collect_at = 0;
        std::uint64_t cross_at = 0;
        bool over = false;

        // When the stage after `state` begins.
        [[nodiscard]] std::uint64_t due_at(match::TradingState state) const noexcept {
            if (state == match::TradingState::continuous) return pause_at;
            return state == match::TradingState::paused ? collect_at : cross_at;
        }
    };

    void start_of_day();
    void fill();
    void open();
    void trade();
    void close();
    void after_hours();
    void end_of_day();

    void plan_halts();
    void work_on_halts();
    void pause(const Halt& halt);
    void collect(const Halt& halt);
    void resume(const Halt& halt);
    void set_rate_of_phase(std::uint64_t done, std::uint64_t all);
    void maybe_break_a_trade();
    void remember(const match::Report& trade);

    // One arrival of the flow in `mode`, or in that which the instrument's state asks for.
    void flow_step(FlowMode mode);
    void submit(const match::Request& request);
    void set_state(std::uint32_t instrument, match::TradingState state);
    void indicate(std::uint32_t instrument, match::CrossKind kind);
    void cross(std::uint32_t instrument, match::CrossKind kind);
    void system(SystemEvent event);
    void announce_again();
    void tick();  // time passes as one message takes in the mean
    void move_to(std::int64_t time_ns);
    [[nodiscard]] std::uint64_t left() const noexcept;
    [[nodiscard]] bool stopped();

    match::Engine& engine_;
    const std::vector<Listing>& listings_;
    Feed& feed_;
    DayOptions options_;
    Random random_;
    OrderFlow flow_;
    Arrivals arrivals_;
    OnTime on_time_;
    std::vector<SystemEvent> told_;  // system events so far
    bool full_day_ = false;
    std::int64_t start_ns_ = 0;
    std::int64_t now_ns_ = 0;
    std::int64_t message_gap_ns_ = 0;
    std::vector<Halt> halts_;
    std::uint64_t steps_ = 0;             // of the flow
    std::uint64_t next_halt_work_ = 0;    // a step
    std::vector<match::Report> printed_;  // the last trades, a ring
    const std::function<bool()>* keep_going_ = nullptr;
    std::uint32_t asked_ = 0;
    bool stopped_ = false;
    DayCounters counters_;
};

}  // namespace wirebook::sim
