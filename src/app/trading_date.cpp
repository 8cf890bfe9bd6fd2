#include "wirebook/app/trading_date.hpp"

#include <date/tz.h>

#include <cerrno>
#include <exception>
#include <string>

namespace wirebook::app {
namespace {

const date::time_zone* zone_of(wire::Protocol protocol) {
    const std::string_view zone = wire::row_of(protocol).zone;
    return zone.empty() ? nullptr : date::locate_zone(zone);
}

}  // namespace

Status check_time_zones() {
    try {
        // A question as later ones are: it reads the zone's rules, which packets shall not wait
        // for.
        for (const wire::Protocol protocol : wire::all_protocols) {
            static_cast<void>(midnight_utc_ns(protocol, venue_date(protocol, 0)));
        }
        return Ok{};
    } catch (const std::exception& error) {
        return Error{ENODEV,
                     std::string("time zones: ") + error.what() + "; install the package tzdata"};
    }
}

std::int64_t midnight_utc_ns(wire::Protocol protocol, std::chrono::year_month_day day) {
    const date::time_zone* zone = zone_of(protocol);
    if (zone == nullptr) return 0;
    const date::local_days midnight{std::chrono::sys_days{day}.time_since_epoch()};
    const auto utc = zone->to_sys(midnight, date::choose::earliest);
    return std::chrono::nanoseconds(utc.time_since_epoch()).count();
}

std::chrono::year_month_day venue_date(wire::Protocol protocol, std::int64_t utc_ns) {
    const auto utc = std::chrono::floor<std::chrono::seconds>(
        std::chrono::sys_time<std::chrono::nanoseconds>(std::chrono::nanoseconds(utc_ns)));
    const date::time_zone* zone = zone_of(protocol);
    const auto local =
        zone == nullptr ? date::local_seconds{utc.time_since_epoch()} : zone->to_local(utc);
    const auto day = date::floor<date::days>(local);
    return std::chrono::sys_days{day.time_since_epoch()};
}

void TradingDates::add(const feed::Channel& channel) {
    if (known_.size() <= channel.index()) known_.resize(std::size_t{channel.index()} + 1);
}

std::int64_t TradingDates::offset_ns(const feed::Channel& channel,
                                     std::int64_t receive_time_ns) const noexcept {
    const wire::Protocol protocol = channel.protocol();
    const std::size_t index = channel.index();
    const auto configured = index < configured_.size() ? configured_[index] : of_others_;
    return midnight_utc_ns(protocol, configured.value_or(venue_date(protocol, receive_time_ns)));
}

}  // namespace wirebook::app
