// `wirebook run`: packets of DPDK ports through the whole path.
#include "wirebook/app/commands.hpp"
#include "wirebook/app/setup.hpp"

#ifdef WIREBOOK_DPDK

#include <fmt/format.h>

#include <chrono>

#include "wirebook/app/loop.hpp"
#include "wirebook/io/dpdk_source.hpp"

namespace wirebook::app {
namespace {

io::DpdkOptions dpdk_options(const Config& config, const RunOptions& options) {
    io::DpdkOptions dpdk;
    for (const PortConfig& port : config.ports) dpdk.ports.push_back({.device = port.device});
    dpdk.hugepages = config.dpdk.hugepages;
    dpdk.memory_mb = config.dpdk.memory_mb.value_or(0);
    dpdk.file_prefix = config.dpdk.file_prefix;
    dpdk.burst = static_cast<std::uint16_t>(config.dpdk.burst);
    dpdk.descriptors = static_cast<std::uint16_t>(config.dpdk.descriptors);
    const std::size_t channels = config.channels.empty() ? 1 : config.channels.size();
    dpdk.parked_packets = static_cast<std::uint32_t>(config.sizes.park_packets * channels);
    dpdk.eal_arguments = options.eal_arguments;
    return dpdk;
}

// net_pcap stamps packets with the file's times; all else is this machine's time.
bool clock_runs(const Config& config) {
    for (const PortConfig& port : config.ports) {
        if (port.device.starts_with("net_pcap")) return false;
    }
    return true;
}

LoopOptions loop_options(const Config& config, const RunOptions& options, const TscClock& clock) {
    LoopOptions loop;
    loop.clock_runs = clock_runs(config);
    switch (options.stop.kind) {
        case StopKind::never: break;
        case StopKind::idle:
            loop.stop_idle_ticks =
                clock.ticks_from_ns(static_cast<std::int64_t>(options.stop.idle_seconds * 1e9));
            break;
        case StopKind::packets: loop.stop_packets = options.stop.packets; break;
        case StopKind::end_of_session: loop.stop_at_end_of_session = true; break;
    }
    return loop;
}

void print_ports(const io::DpdkSource& source) {
    for (std::size_t port = 0; port < source.ports(); ++port) {
        const io::DpdkPortStats stats = source.port_stats(port);
        fmt::print(stderr, "port {}: {} packets, {} bytes, missed {}, no mbuf {}, errors {}\n",
                   port, stats.packets, stats.bytes, stats.missed, stats.no_mbuf, stats.errors);
    }
}

}  // namespace

int run_live(const RunOptions& options) {
    auto config = load_config(options.config_file, ConfigUse::run);
    if (!config) return fail(exit_usage, config.error().context);
    take_access(options.access, config.value());

    Observer observer;
    observer.clock = TscClock::calibrate();
    observer.dates = trading_dates(config.value());
    if (auto opened = open_dumps(options.dumps, options.fingerprint, observer); !opened) {
        return fail(exit_usage, opened.error().context);
    }
    if (!config.value().publish.name.empty()) {
        auto opened = open_publisher(config.value(), config.value().publish.name, observer);
        if (!opened) return fail(opened.error());
    }
    auto pipeline = std::make_unique<AppPipeline>(pipeline_options(config.value(), true), observer);
    pipeline->take_stamps(observer.publisher != nullptr);
    if (auto opened = pipeline->open(); !opened) return fail(exit_host, opened.error().context);
    auto source = io::DpdkSource::open(dpdk_options(config.value(), options));
    if (!source) {
        return fail(source.error().code == EINVAL ? exit_usage : exit_host, source.error().context);
    }
    for (const std::string& notice : source.value().notices()) {
        fmt::print(stderr, "wirebook: {}\n", notice);
    }
    fmt::print(stderr, "{}", source.value().description());

    catch_stop_signals();
    const auto began = std::chrono::steady_clock::now();
    const double cpu_before = cpu_seconds();
    auto loop = std::make_unique<Loop<io::DpdkSource>>(
        source.value(), *pipeline, observer, loop_options(config.value(), options, observer.clock),
        nullptr);
    loop->run();
    RunTimes times;
    times.wall_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    times.cpu_seconds = cpu_seconds() - cpu_before;

    const Statistics statistics = Statistics::collect(*pipeline, observer, times);
    const Status written =
        write_outputs(options.fingerprint_to_stdout, *pipeline, observer, statistics);
    fmt::print(stderr, "{}{}", statistics.summary(), latency_text(observer));
    print_ports(source.value());
    source.value().close();
    if (!written) return fail(exit_usage, written.error().context);
    return exit_done;
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
