// From a feed's time of day to UTC: the trading date and the venue's zone.
//
// ITCH counts from midnight in New York, Japannext from midnight in Tokyo; IEX sends UTC. The date
// is the configured one, else that of the session's first packet in the venue's zone. Summer time
// follows the system's tz database. One thread; the first question of a session is cold.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "wirebook/feed/channel.hpp"

namespace wirebook::app {

class TradingDates {
public:
    TradingDates() = default;
    // By channel index; `of_others`: of channels beyond. Without one, dates come from packets.
    TradingDates(std::vector<std::optional<std::chrono::year_month_day>> dates,
                 std::optional<std::chrono::year_month_day> of_others)
        : configured_(std::move(dates)), of_others_(of_others) {}

    void add(const feed::Channel& channel);
    void new_session(const feed::Channel& channel) noexcept { known_[channel.index()] = false; }

    // The offset to add to the feed's times, at the first call of a session; then nothing.
    [[nodiscard]] std::optional<std::int64_t> offset_once(const feed::Channel& channel,
                                                          std::int64_t receive_time_ns) noexcept {
        if (known_[channel.index()]) return std::nullopt;
        known_[channel.index()] = true;
        return offset_ns(channel, receive_time_ns);
    }

private:
    [[nodiscard]] std::int64_t offset_ns(const feed::Channel& channel,
                                         std::int64_t receive_time_ns) const noexcept;

    std::vector<std::optional<std::chrono::year_month_day>> configured_;
    std::optional<std::chrono::year_month_day> of_others_;
    std::vector<bool> known_;  // by channel: this session's offset was told
};

// Fails where the system has no tz database.
[[nodiscard]] Status check_time_zones();

// UTC of midnight, in ns since 1970, of `date` in the zone of the protocol's venue; 0 for feeds
// that send UTC.
[[nodiscard]] std::int64_t midnight_utc_ns(wire::Protocol protocol,
                                           std::chrono::year_month_day date);
// The date in the venue's zone at a UTC time.
[[nodiscard]] std::chrono::year_month_day venue_date(wire::Protocol protocol, std::int64_t utc_ns);

}  // namespace wirebook::app
