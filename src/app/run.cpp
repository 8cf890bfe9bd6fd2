// `wirebook run`: packets of DPDK ports through the whole path, on one lcore or several.
#include "wirebook/app/commands.hpp"
#include "wirebook/app/setup.hpp"

#ifdef WIREBOOK_DPDK

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "live_control.hpp"
#include "live_lcore.hpp"
#include "membership.hpp"
#include "wirebook/app/log.hpp"
#include "wirebook/app/loss_watch.hpp"
#include "wirebook/io/dpdk_source.hpp"

namespace wirebook::app {
namespace {

io::DpdkOptions dpdk_options(const Config& config, const LivePlan& plan,
                             const RunOptions& options) {
    io::DpdkOptions dpdk;
    dpdk.ports = plan.ports;
    dpdk.pollers = static_cast<std::uint16_t>(plan.lcores.size());
    dpdk.hugepages = config.dpdk.hugepages;
    dpdk.memory_mb = config.dpdk.memory_mb.value_or(0);
    dpdk.file_prefix = config.dpdk.file_prefix;
    dpdk.burst = static_cast<std::uint16_t>(config.dpdk.burst);
    dpdk.descriptors = static_cast<std::uint16_t>(config.dpdk.descriptors);
    dpdk.pool_packets = config.dpdk.pool_packets;
    dpdk.link_wait_ms = config.dpdk.link_wait_ms;
    dpdk.stop = &stop_requested;
    const std::size_t channels = config.channels.empty() ? 1 : config.channels.size();
    dpdk.parked_packets = static_cast<std::uint32_t>(config.sizes.park_packets * channels);
    dpdk.eal_arguments = options.eal_arguments;
    return dpdk;
}

// net_pcap stamps packets with the file's times; all else is this machine's time.
bool clock_runs(const Config& config) {
    return std::none_of(config.ports.begin(), config.ports.end(),
                        [](const PortConfig& port) { return port.device.starts_with("net_pcap"); });
}

LoopOptions loop_options(const Config& config, const RunOptions& options, const TscClock& clock,
                         std::size_t lcores) {
    LoopOptions loop;
    loop.clock_runs = clock_runs(config);
    loop.offers = true;
    // With several lcores the control thread counts packets and idle time, over all of them.
    switch (options.stop.kind) {
        case StopKind::never: break;
        case StopKind::idle:
            if (lcores > 1) break;
            loop.stop_idle_ticks =
                clock.ticks_from_ns(static_cast<std::int64_t>(options.stop.idle_seconds * 1e9));
            break;
        case StopKind::packets:
            if (lcores == 1) loop.stop_packets = options.stop.packets;
            break;
        case StopKind::end_of_session: loop.stop_at_end_of_session = true; break;
    }
    return loop;
}

// Dumps in the order of processing need one: with several lcores each writes its own.
std::optional<std::string> refused_outputs(const RunOptions& options, std::size_t lcores) {
    if (lcores == 1) return std::nullopt;
    const DumpOptions& dumps = options.dumps;
    if (dumps.top == "-" || dumps.messages == "-" || dumps.events == "-") {
        return "with several [[lcore]] each writes its own --top, --messages and --events "
               "(FILE.0, FILE.1, ...): stdout cannot take them";
    }
    if (options.fingerprint_to_stdout) {
        return "--fingerprint is over one order of all events, which several [[lcore]] do not "
               "have";
    }
    return std::nullopt;
}

// The control thread leaves the lcores' CPUs, where there are others.
void leave_cpus_to_lcores(const LivePlan& plan) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    if (pthread_getaffinity_np(pthread_self(), sizeof cpus, &cpus) != 0) return;
    for (const LcorePlan& lcore : plan.lcores) {
        if (lcore.cpu) CPU_CLR(*lcore.cpu, &cpus);
    }
    if (CPU_COUNT(&cpus) != 0) pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus);
}

int fail_by_host(const Error& error) {
    return fail(error.code == EINVAL ? exit_usage : exit_host, error.context);
}

class LiveRun {
public:
    LiveRun(Config config, LivePlan plan, const RunOptions& options)
        : config_(std::move(config)), plan_(std::move(plan)), options_(options) {}

    int run() {
        if (auto refused = refused_outputs(options_, plan_.lcores.size())) {
            return fail(exit_usage, *refused);
        }
        if (auto opened = open_log(config_.log); !opened) {
            return fail(exit_usage, opened.error().context);
        }
        for (std::size_t i = 0; i < plan_.lcores.size(); ++i) {
            auto lcore = Lcore::create(config_, options_, plan_.lcores[i], i, plan_.lcores.size());
            if (!lcore) return fail(lcore.error());
            lcores_.push_back(std::move(lcore).value());
        }
        auto source = io::DpdkSource::open(dpdk_options(config_, plan_, options_));
        if (!source) return fail_by_host(source.error());
        return run_with(source.value());
    }

private:
    int run_with(io::DpdkSource& source) {
        for (const std::string& notice : source.notices()) log_line(LogLevel::warning, notice);
        auto membership = GroupMembership::open(config_, source);
        if (!membership) return fail_by_host(membership.error());
        for (const std::string& notice : membership.value().notices()) {
            log_line(LogLevel::warning, notice);
        }
        fmt::print(stderr, "{}", source.description());
        LossWatch losses(source.ports(),
                         [&](std::size_t port) { return source.try_port_stats(port); });
        for (const auto& lcore : lcores_) lcore->observer().losses = &losses;

        const auto began = std::chrono::steady_clock::now();
        const double cpu_before = cpu_seconds();
        LiveControl control({config_, options_, source, lcores_, membership.value(), losses});
        Gate begun, ended;
        const LoopOptions loop =
            loop_options(config_, options_, lcores_.front()->observer().clock, lcores_.size());
        for (std::size_t i = 0; i < lcores_.size(); ++i) {
            lcores_[i]->start(source.poller(i), loop, begun, ended);
        }
        leave_cpus_to_lcores(plan_);
        while (!begun.wait(lcores_.size(), std::chrono::seconds(1))) {
        }
        const std::optional<Error> problem = first_problem();
        if (problem) stop_requested.store(true, std::memory_order_relaxed);
        if (!problem) control.run(ended);
        for (const auto& lcore : lcores_) lcore->join();
        RunTimes times;
        times.wall_seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        times.cpu_seconds = cpu_seconds() - cpu_before;
        membership.value().leave();
        if (problem) return fail_by_host(*problem);
        return finish(source, membership.value(), control.link_changes(), times);
    }

    [[nodiscard]] std::optional<Error> first_problem() const {
        for (const auto& lcore : lcores_) {
            if (lcore->problem()) return lcore->problem();
        }
        return std::nullopt;
    }

    int finish(io::DpdkSource& source, const GroupMembership& membership,
               const std::vector<std::uint64_t>& link_changes, const RunTimes& times) {
        Statistics statistics;
        statistics.times = times;
        statistics.lcores = lcores_.size();
        for (const auto& lcore : lcores_) statistics.add(lcore->pipeline(), lcore->observer());
        for (std::size_t port = 0; port < source.ports(); ++port) {
            const MembershipCounts counts = membership.counts(port);
            statistics.ports.push_back(
                {source.device(port), source.driver(port), source.port_stats(port),
                 source.driver_counters(port), link_changes[port], source.hides_loss(port),
                 membership.kind(port), counts.queries, counts.reports, counts.leaves});
        }
        statistics.frames = source.counters();
        Status written = Ok{};
        for (std::size_t i = 1; i < lcores_.size(); ++i) {
            Status closed = close_dumps(lcores_[i]->observer());
            if (written && !closed) written = closed;
        }
        Status first = write_outputs(options_.fingerprint_to_stdout, channels(),
                                     lcores_.front()->observer(), statistics);
        if (written && !first) written = first;
        fmt::print(stderr, "{}", statistics.summary());
        for (const auto& lcore : lcores_) fmt::print(stderr, "{}", latency_text(lcore->observer()));
        fmt::print(stderr, "{}", statistics.ports_summary());
        source.close();
        if (!written) return fail(exit_usage, written.error().context);
        return exit_done;
    }

    // In the configuration's order, whichever lcore has them.
    [[nodiscard]] std::vector<const feed::Channel*> channels() const {
        std::vector<const feed::Channel*> all(config_.channels.size());
        for (const auto& lcore : lcores_) {
            const auto& of_lcore = lcore->pipeline().channels();
            for (std::size_t i = 0; i < of_lcore.size(); ++i) {
                all[lcore->plan().channels[i]] = of_lcore[i].get();
            }
        }
        return all;
    }

    Config config_;
    LivePlan plan_;
    const RunOptions& options_;
    Lcores lcores_;
};

}  // namespace

int run_live(const RunOptions& options) {
    // From here on: a signal while DPDK starts is obeyed when it has.
    catch_stop_signals();
    catch_reload_signal();
    auto config = load_config(options.config_file, ConfigUse::run);
    if (!config) return fail(exit_usage, config.error().context);
    take_access(options.access, config.value());
    auto plan = plan_lcores(config.value());
    if (!plan) return fail(exit_usage, options.config_file + ": " + plan.error().context);
    return LiveRun(std::move(config).value(), std::move(plan).value(), options).run();
}

}  // namespace wirebook::app

#else

namespace wirebook::app {

int run_live(const RunOptions&) {
    return fail(exit_host,
                "this build has no DPDK: install dpdk-dev and libdpdk-dev, then build again with "
                "meson setup --wipe -Ddpdk=enabled build");
}

}  // namespace wirebook::app

#endif
