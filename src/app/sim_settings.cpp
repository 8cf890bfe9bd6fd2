#include "sim_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "wirebook/app/trading_date.hpp"

namespace wirebook::app {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t default_instruments = 100;
constexpr std::uint64_t default_messages = 100'000;
constexpr std::uint64_t default_rate = 100'000;
constexpr std::chrono::year_month_day default_date = 2026y / 11 / 30;

template <class T>
T first_of(const std::optional<T>& option, const std::optional<T>& configured, T fallback) {
    if (option) return *option;
    return configured.value_or(fallback);
}

// Groups of our own, in the range that is for use within an organisation (RFC 2365).
sim::LineOptions default_line(std::size_t line) {
    constexpr std::array<std::uint32_t, 2> groups{0xEFC0'0001, 0xEFC0'0002};  // 239.192.0.1, .2
    constexpr std::array<std::size_t, 2> payloads{1'400, 1'000};
    constexpr std::array<std::int64_t, 2> flush_ns{5'000, 20'000};
    constexpr std::array<std::int64_t, 2> skew_ns{0, 3'000};
    sim::LineOptions options;
    options.address.group = groups[line];
    options.address.port = 26'477;
    options.address.source_mac[5] = static_cast<unsigned char>(line + 1);
    options.address.source += static_cast<std::uint32_t>(line);
    options.packing.largest_payload = payloads[line];
    options.packing.flush_delay_ns = flush_ns[line];
    options.skew_ns = skew_ns[line];
    return options;
}

std::vector<sim::LineOptions> lines_of(const SimOptions& options, const SimConfig& config) {
    std::vector<sim::LineOptions> lines;
    if (options.output == SimOutput::binary) return lines;
    const std::size_t count = options.output == SimOutput::pcap ? 1 : 2;
    for (std::size_t i = 0; i < count; ++i) {
        sim::LineOptions line = default_line(i);
        line.address.checksum = config.checksum;
        if (i < config.lines.size()) {
            const SimLineConfig& given = config.lines[i];
            if (given.group) {
                line.address.group = given.group->address.ipv4();
                line.address.port = given.group->udp_port;
            }
            line.packing.largest_payload = given.payload_bytes.value_or(
                static_cast<std::uint32_t>(line.packing.largest_payload));
            if (given.flush_delay_us) {
                line.packing.flush_delay_ns =
                    std::int64_t{*given.flush_delay_us} * std::int64_t{1'000};
            }
        }
        lines.push_back(line);
    }
    return lines;
}

Status add_faults(const SimOptions& options, const SimConfig& config, SimSettings& settings) {
    std::vector<std::string> rules;
    for (std::size_t i = 0; i < config.lines.size(); ++i) {
        for (const std::string& fault : config.lines[i].faults) {
            // A session is that of all lines, wherever its restart stands.
            const char line =
                fault.starts_with("session_restart") ? '*' : static_cast<char>('A' + i);
            rules.push_back(std::string{line} + ":" + fault);
        }
    }
    // The command line's replace the configuration's.
    if (!options.faults.empty()) rules = options.faults;
    const std::size_t lines = settings.exchange.lines.size();
    for (const std::string& text : rules) {
        auto rule = sim::parse_fault_rule(text);
        if (!rule) return Error{EINVAL, "fault \"" + text + "\": " + rule.error().context};
        if (lines == 0) {
            return Error{EINVAL, "fault \"" + text + "\": --binary has no packets to spoil"};
        }
        if (rule.value().line && *rule.value().line >= lines) {
            return Error{EINVAL, "fault \"" + text + "\": there is no such line; this output has " +
                                     (lines == 1 ? "A alone" : "A and B")};
        }
        settings.exchange.faults.push_back(rule.value());
    }
    return Ok{};
}

Status check_sizes(const sim::ExchangeOptions& exchange) {
    constexpr std::uint64_t longest_day_s = 36'000;
    const std::uint64_t least = sim::DayOptions::least_messages(exchange.instruments);
    if (exchange.day.messages < least) {
        return Error{EINVAL, fmt::format("{} messages are too few for {} instruments: a day has {} "
                                         "at least",
                                         exchange.day.messages, exchange.instruments, least)};
    }
    if (exchange.day.messages / exchange.day.rate >= longest_day_s) {
        return Error{EINVAL,
                     fmt::format("{} messages at {} a second last {} hours; the day has 10: raise "
                                 "--rate",
                                 exchange.day.messages, exchange.day.rate,
                                 exchange.day.messages / exchange.day.rate / 3'600)};
    }
    return Ok{};
}

}  // namespace

Result<SimSettings> sim_settings(const SimOptions& options, const Config& config) {
    const SimConfig& sim = config.sim;
    SimSettings settings;
    sim::ExchangeOptions& exchange = settings.exchange;
    const auto feed = options.feed ? options.feed : sim.feed;
    if (!feed) return Error{EINVAL, "sim needs a feed: --feed, or feed in [sim]"};
    exchange.feed = feed == wire::Protocol::itch50 ? sim::FeedKind::itch50 : sim::FeedKind::deep;
    const auto seed = options.seed ? options.seed : sim.seed;
    if (!seed) return Error{EINVAL, "sim needs a seed: --seed, or seed in [sim]"};
    exchange.day.seed = *seed;
    exchange.instruments = static_cast<std::uint32_t>(
        first_of(options.instruments, sim.instruments, default_instruments));
    exchange.day.rate = first_of(options.rate, sim.rate, default_rate);

    const bool by_option = options.messages || options.duration_s;
    const auto messages = by_option ? options.messages : sim.messages;
    std::optional<double> duration_s = options.duration_s;
    if (!by_option && sim.duration_s) duration_s = static_cast<double>(*sim.duration_s);
    if (!by_option && sim.messages && sim.duration_s) {
        return Error{EINVAL, "messages and duration_s in [sim] exclude each other"};
    }
    exchange.day.messages = messages.value_or(default_messages);
    if (duration_s) {
        exchange.day.messages =
            static_cast<std::uint64_t>(*duration_s * static_cast<double>(exchange.day.rate));
    }
    const std::uint64_t live =
        std::max<std::uint64_t>(std::min<std::uint64_t>(exchange.day.messages / 20, 2'000'000),
                                std::uint64_t{8} * exchange.instruments);
    exchange.day.live_orders = first_of(options.live_orders, sim.live_orders, live);

    exchange.midnight_ns = midnight_utc_ns(wire::Protocol::itch50, sim.date.value_or(default_date));
    exchange.lines = lines_of(options, sim);
    if (options.output == SimOutput::binary && exchange.feed != sim::FeedKind::itch50) {
        return Error{EINVAL, "--binary is for itch50: a BinaryFILE holds ITCH messages"};
    }
    const bool live_output = options.output == SimOutput::udp || options.output == SimOutput::port;
    settings.speed = options.speed.value_or(live_output ? 1 : 0);
    if (exchange.lines.size() == 2 &&
        exchange.lines[0].address.group == exchange.lines[1].address.group &&
        exchange.lines[0].address.port == exchange.lines[1].address.port) {
        return Error{EINVAL, "lines A and B have the same group in [sim]"};
    }
    if (auto checked = check_sizes(exchange); !checked) return checked.error();
    if (auto added = add_faults(options, sim, settings); !added) return added.error();
    return settings;
}

}  // namespace wirebook::app
