// `wirebook replay`: capture files through the whole path.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>
#include <vector>

#include "wirebook/app/commands.hpp"
#include "wirebook/app/loop.hpp"
#include "wirebook/app/progress.hpp"
#include "wirebook/app/setup.hpp"
#include "wirebook/io/capture_source.hpp"
#include "wirebook/wire/fields.hpp"

namespace wirebook::app {
namespace {

// Without a configuration there is room for all that the input can hold, up to a large day's:
// tables are spread over their whole size, so a small input should not get large ones.
Config default_config(const io::CaptureSource& source) {
    constexpr std::uint64_t shortest_add = 32;   // bytes of a message that adds an order or level
    constexpr std::uint64_t compressed_by = 32;  // at most, where the input is compressed
    const std::uint64_t bytes = source.progress().file_bytes_total;
    const std::uint64_t adds =
        bytes == 0 ? UINT64_MAX : bytes * (source.preloaded() ? 1 : compressed_by) / shortest_add;
    Config config;
    config.sizes.orders = std::clamp<std::uint64_t>(adds, 1 << 16, 1 << 24);
    config.sizes.levels = std::clamp<std::uint64_t>(adds, 1 << 16, 1 << 22);
    config.sizes.instruments = 16'384;
    return config;
}

Result<Config> configuration(const ReplayOptions& options, const io::CaptureSource& source) {
    Config config = default_config(source);
    if (!options.config_file.empty()) {
        auto loaded = load_config(options.config_file, ConfigUse::replay);
        if (!loaded) return loaded.error();
        config = std::move(loaded).value();
    }
    take_access(options.access, config);
    if (!options.gap_wait_us) return config;
    config.gap_wait_us = *options.gap_wait_us;
    for (ChannelConfig& channel : config.channels) channel.gap_wait_us.reset();
    return config;
}

template <wire::Protocol protocol>
std::uint32_t shortest(unsigned char type) noexcept {
    return wire::minimum_length(protocol, type);
}
template <std::size_t... I>
constexpr auto shortest_by_protocol(std::index_sequence<I...>) noexcept {
    return std::array{&shortest<wire::all_protocols[I]>...};
}

io::CaptureOptions capture_options(const ReplayOptions& options, bool pure) {
    io::CaptureOptions capture;
    capture.files = options.files;
    capture.speed = options.speed;
    capture.preload = pure;
    capture.stamp_tsc = !options.publish_name.empty();
    constexpr auto by_protocol =
        shortest_by_protocol(std::make_index_sequence<wire::all_protocols.size()>{});
    capture.binaryfile_min_length =
        by_protocol[static_cast<std::size_t>(options.feed.value_or(wire::Protocol::itch50))];
    return capture;
}

void say_what_was_taken(const ReplayOptions& options, const AppPipeline& pipeline) {
    if (options.feed || !options.config_file.empty()) return;
    for (const auto& channel : pipeline.channels()) {
        fmt::print(stderr, "wirebook: channel {} taken as {}; give --feed to change that\n",
                   channel->name(), wire::to_string(channel->protocol()));
    }
}

// At a pace, packets are due whether we are ready or not: channels take their memory before.
void touch_memory_at_start(feed::PipelineOptions& options) {
    options.unknown.prefault = feed::Prefault::if_roomy;
    for (feed::ChannelOptions& channel : options.channels) {
        channel.prefault = feed::Prefault::if_roomy;
    }
}

// Channels that nobody configured open at their first packets; those that the source shows by now
// are made before its clock starts, which is with the first receive().
void warm_up(io::CaptureSource& source, AppPipeline& pipeline) {
    std::vector<wire::Packet> next;
    while (!source.look_ahead(next) && !stop_requested.load(std::memory_order_relaxed)) {
    }
    for (const wire::Packet& packet : next) pipeline.prepare(packet);
}

}  // namespace

int run_replay(const ReplayOptions& options) {
    const bool pure = options.speed == 0 && !options.fingerprint && !options.dumps.any_but_stats();
    auto source = io::CaptureSource::open(capture_options(options, pure));
    if (!source) return fail(exit_usage, source.error().context);
    auto config = configuration(options, source.value());
    if (!config) return fail(exit_usage, config.error().context);

    Observer observer;
    observer.clock = TscClock::calibrate();
    observer.dates = trading_dates(config.value());
    if (auto opened = open_dumps(options.dumps, options.fingerprint, observer); !opened) {
        return fail(exit_usage, opened.error().context);
    }
    if (!options.publish_name.empty()) {
        auto opened = open_publisher(config.value(), options.publish_name, observer);
        if (!opened) return fail(opened.error());
    }

    feed::PipelineOptions pipeline_setup = pipeline_options(config.value(), false);
    if (options.feed) pipeline_setup.feed = options.feed;
    pipeline_setup.inputs_are_lines = options.files_are_lines;
    if (options.speed > 0) touch_memory_at_start(pipeline_setup);
    auto pipeline = std::make_unique<AppPipeline>(std::move(pipeline_setup), observer);
    pipeline->take_stamps(observer.publisher != nullptr);
    if (auto opened = pipeline->open(); !opened) return fail(opened.error());

    fmt::print(stderr, "wirebook: {}\n", source.value().description());
    catch_stop_signals();
    if (options.speed > 0) warm_up(source.value(), *pipeline);
    Progress progress(source.value().progress().file_bytes_total);
    const auto began = std::chrono::steady_clock::now();
    const double cpu_before = cpu_seconds();
    auto loop = std::make_unique<Loop<io::CaptureSource>>(source.value(), *pipeline, observer,
                                                          LoopOptions{}, &progress);
    loop->run();
    RunTimes times;
    times.wall_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    times.cpu_seconds = cpu_seconds() - cpu_before;
    times.pure = pure && source.value().preloaded();
    progress.stop();

    const Statistics statistics = Statistics::collect(*pipeline, observer, times);
    const Status written =
        write_outputs(options.fingerprint_to_stdout, channels_of(*pipeline), observer, statistics);
    say_what_was_taken(options, *pipeline);
    if (stop_requested.load(std::memory_order_relaxed)) {
        fmt::print(stderr, "wirebook: stopped by a signal; the outputs are of what was read\n");
    }
    for (const std::string& notice : source.value().notices()) {
        fmt::print(stderr, "wirebook: {}\n", notice);
    }
    fmt::print(stderr, "{}{}", statistics.summary(), latency_text(observer));
    if (const auto& error = pipeline->open_error()) return fail(*error);
    if (const auto error = source.value().error()) return fail(exit_usage, error->context);
    if (!written) return fail(exit_usage, written.error().context);
    return options.strict && statistics.has_fault() ? exit_data_fault : exit_done;
}

}  // namespace wirebook::app
