#include "live_control.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "wirebook/app/log.hpp"
#include "wirebook/core/service_notify.hpp"

namespace wirebook::app {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds tick_time{20};
constexpr milliseconds links_time{100};
constexpr milliseconds second{1'000};

// What a reload cannot change.
Config fixed_part(Config config) {
    for (ChannelConfig& channel : config.channels) channel.symbols.clear();
    config.log = {};
    config.sim = {};
    return config;
}

}  // namespace

LiveControl::LiveControl(const LiveParts& parts)
    : config_(parts.config),
      options_(parts.options),
      source_(parts.source),
      lcores_(parts.lcores),
      membership_(parts.membership),
      losses_(parts.losses),
      link_changes_(source_.ports()),
      rounds_(lcores_.size()),
      watchdog_(watchdog_interval()),
      clock_(TscClock::calibrate()) {
    for (std::size_t port = 0; port < source_.ports(); ++port) {
        link_up_.push_back(source_.link_up(port));
        losses_.sample(port, source_.port_stats(port), link_up_[port]);
        losses_.sample(port, source_.port_stats(port), link_up_[port]);
    }
    if (std::find(link_up_.begin(), link_up_.end(), false) != link_up_.end()) tell_links();
}

void LiveControl::run(Gate& ended) {
    notify_service("READY=1\nSTATUS=polling");
    while (!ended.wait(lcores_.size(), tick_time)) tick();
    notify_service("STOPPING=1");
}

void LiveControl::tick() {
    const auto now = Clock::now();
    if (reload_requested.exchange(false)) reload();
    membership_.tick();
    source_.take_offered(
        [&](std::size_t port, wire::Bytes frame) { membership_.on_frame(port, frame); });
    if (now >= links_due_) {
        links_due_ = now + links_time;
        look_at_links();
    }
    if (now >= second_due_) {
        second_due_ = now + second;
        source_.tend_clocks();
    }
    if (lcores_.size() > 1) look_at_stops();
    if (watchdog_.count() != 0 && now >= watchdog_due_) {
        watchdog_due_ = now + watchdog_ / 2;
        tell_systemd();
    }
}

void LiveControl::look_at_links() {
    bool changed = false;
    for (std::size_t port = 0; port < source_.ports(); ++port) {
        const bool up = source_.link_up(port);
        losses_.sample(port, source_.port_stats(port), up);
        if (up == link_up_[port]) continue;
        link_up_[port] = up;
        link_changes_[port] += 1;
        changed = true;
        log_line(up ? LogLevel::info : LogLevel::warning,
                 fmt::format("port {} ({}): the link is {}", port, source_.device(port),
                             up ? "up" : "down"));
        // The switch may have forgotten who wanted what.
        if (up) membership_.rejoin(port);
    }
    if (changed) tell_links();
}

// A channel is offline where no line of it is on a port whose link is up.
void LiveControl::tell_links() {
    for (const auto& lcore : lcores_) {
        std::vector<bool> offline;
        for (const std::size_t channel : lcore->plan().channels) {
            const auto& lines = config_.channels[channel].lines;
            offline.push_back(std::none_of(lines.begin(), lines.end(), [&](const LineConfig& line) {
                return line.port && link_up_[*line.port];
            }));
        }
        lcore->mail().set_offline(std::move(offline));
    }
}

// With several lcores: what --stop asks of all of them together.
void LiveControl::look_at_stops() {
    std::uint64_t received = 0, last_tsc = 0;
    for (const auto& lcore : lcores_) {
        received += lcore->progress().received.load(std::memory_order_relaxed);
        last_tsc =
            std::max(last_tsc, lcore->progress().last_packet_tsc.load(std::memory_order_relaxed));
    }
    const StopCondition& stop = options_.stop;
    const bool enough = stop.kind == StopKind::packets && received >= stop.packets;
    const std::uint64_t now = rdtsc();
    if (last_tsc == 0) last_tsc = clock_.base_tsc;
    const bool idle =
        stop.kind == StopKind::idle && now > last_tsc &&
        now - last_tsc >= clock_.ticks_from_ns(static_cast<std::int64_t>(stop.idle_seconds * 1e9));
    if (enough || idle) stop_requested.store(true, std::memory_order_relaxed);
}

void LiveControl::reload() {
    notify_service(reloading_state());
    auto fresh = load_config(options_.config_file, ConfigUse::run);
    if (!fresh) {
        log_line(LogLevel::error,
                 "reload: the configuration stays as it was:\n" + fresh.error().context);
    } else if (take_access(options_.access, fresh.value());
               fixed_part(fresh.value()) != fixed_part(config_)) {
        log_line(LogLevel::error,
                 "reload: only symbols and [log] can change while running; the rest of the "
                 "configuration differs from what runs, so everything stays as it was");
    } else if (auto opened = open_log(fresh.value().log); !opened) {
        log_line(LogLevel::error, "reload: everything stays as it was: " + opened.error().context);
    } else {
        config_ = std::move(fresh).value();
        for (const auto& lcore : lcores_) {
            std::vector<feed::SymbolFilter> filters;
            for (const std::size_t channel : lcore->plan().channels) {
                filters.emplace_back(config_.channels[channel].symbols);
            }
            lcore->mail().change_symbols(std::move(filters));
        }
        log_line(LogLevel::info, "reload: symbols and log are as the configuration says");
    }
    notify_service("READY=1");
}

// The watchdog is fed as long as every lcore's loop goes round.
void LiveControl::tell_systemd() {
    bool all_move = true;
    for (std::size_t i = 0; i < lcores_.size(); ++i) {
        const std::uint64_t rounds = lcores_[i]->progress().rounds.load(std::memory_order_relaxed);
        const bool ended = lcores_[i]->progress().ended.load(std::memory_order_relaxed);
        all_move = all_move && (ended || rounds != rounds_[i]);
        rounds_[i] = rounds;
    }
    if (all_move) notify_service("WATCHDOG=1");
}

}  // namespace wirebook::app
