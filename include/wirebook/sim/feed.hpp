// What the exchange tells its public, protocol by protocol: the market day and the engine speak to
// this interface, ITCH and DEEP implement it.
//
// sim may depend on everything but app. Cold enough for virtual calls. One thread: the engine's.
#pragma once

#include <cstdint>

#include "wirebook/match/report.hpp"

namespace wirebook::sim {

enum class SystemEvent : std::uint8_t {
    start_of_messages,
    start_of_system_hours,
    start_of_market_hours,
    end_of_market_hours,
    end_of_system_hours,
    end_of_messages,
};

// Times are ns since the Unix epoch and never decrease. A protocol that has no such message sends
// none.
class Feed {
public:
    Feed() = default;
    Feed(const Feed&) = delete;
    Feed& operator=(const Feed&) = delete;
    Feed(Feed&&) = delete;
    Feed& operator=(Feed&&) = delete;
    virtual ~Feed() = default;

    // Before whatever happens at this time: packets that are due leave, heartbeats too.
    virtual void advance(std::int64_t time_ns) = 0;

    virtual void system(SystemEvent event, std::int64_t time_ns) = 0;
    // Its state as it is: what a state_changed of the engine says too.
    virtual void trading_state(std::uint32_t instrument, match::TradingState state,
                               std::int64_t time_ns) = 0;
    virtual void directory(std::uint32_t instrument, std::int64_t time_ns) = 0;
    virtual void short_sale(std::uint32_t instrument, std::int64_t time_ns) = 0;
    virtual void market_maker(std::uint32_t instrument, std::int64_t time_ns) = 0;
    virtual void decline_levels(std::int64_t time_ns) = 0;
    virtual void collar(std::uint32_t instrument, std::int64_t reference_e4, std::int64_t lower_e4,
                        std::int64_t upper_e4, std::int64_t time_ns) = 0;
    // Takes back what `trade`, an `executed` outside of crosses, told.
    virtual void broken_trade(const match::Report& trade, std::int64_t time_ns) = 0;

    // Every report of the engine, at once; and the end of what a request caused.
    virtual void on_report(const match::Report& report) = 0;
    virtual void end_request() = 0;

    // All displayed orders of the instrument (DEEP: levels) as if they were new: in a new session,
    // where nothing that was told before is known any more.
    virtual void announce_orders(std::uint32_t instrument, std::int64_t time_ns) = 0;

    // So far, of this day.
    [[nodiscard]] virtual std::uint64_t messages() const noexcept = 0;
};

}  // namespace wirebook::sim
