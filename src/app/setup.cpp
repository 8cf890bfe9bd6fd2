#include "wirebook/app/setup.hpp"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/resource.h>

#include <cerrno>
#include <charconv>
#include <cstring>

namespace wirebook::app {
namespace {

feed::LineKey line_key(const LineConfig& line, bool live) {
    feed::LineKey key;
    key.address = line.group.address;
    key.udp_port = line.group.udp_port;
    if (live && line.port) key.input = static_cast<std::uint16_t>(*line.port);
    return key;
}

feed::ChannelOptions channel_options(const Config& config, const ChannelConfig* channel,
                                     bool live) {
    feed::ChannelOptions options;
    options.books.live_orders = config.sizes.orders;
    options.books.levels = config.sizes.levels;
    options.books.instruments = config.sizes.instruments;
    options.sequencer.park_packets = config.sizes.park_packets;
    options.prefault = live ? feed::Prefault::always : feed::Prefault::no;
    std::uint64_t gap_wait_us = config.gap_wait_us;
    if (channel != nullptr) {
        options.name = channel->name;
        options.protocol = channel->feed;
        options.filter = feed::SymbolFilter(channel->symbols);
        gap_wait_us = config.gap_wait_us_of(*channel);
        for (const LineConfig& line : channel->lines) options.lines.push_back(line_key(line, live));
    }
    options.sequencer.gap_wait_ns = static_cast<std::int64_t>(gap_wait_us) * 1000;
    return options;
}

// A name, or else a number. `key` is "owner" or "group". "" is no id: the process's own.
Result<std::optional<std::uint32_t>> find_id(const std::string& key, const std::string& name) {
    std::optional<std::uint32_t> id;
    if (name.empty()) return id;
    if (key == "owner") {
        if (const ::passwd* user = ::getpwnam(name.c_str()))  // NOLINT(concurrency-mt-unsafe)
            id = user->pw_uid;
    } else if (const ::group* group = ::getgrnam(name.c_str())) {  // NOLINT(concurrency-mt-unsafe)
        id = group->gr_gid;
    }
    if (id) return id;
    std::uint32_t number = 0;
    const char* const end = name.data() + name.size();
    const auto [last, fault] = std::from_chars(name.data(), end, number);
    if (fault != std::errc{} || last != end || number == UINT32_MAX)
        return Error{EINVAL, "publish." + key + ": there is no " +
                                 (key == "owner" ? "user" : "group") + " '" + name + "'"};
    return std::optional{number};
}

template <class Dump>
Status open_dump(const std::string& path, std::optional<Dump>& dump) {
    if (path.empty()) return Ok{};
    auto output = TextOutput::open(path);
    if (!output) return output.error();
    dump.emplace(std::move(output).value());
    return Ok{};
}

}  // namespace

double cpu_seconds() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

int fail(ExitStatus status, const std::string& text) {
    fmt::print(stderr, "wirebook: {}\n", text);
    return status;
}

int fail(const Error& error) {
    switch (error.code) {
        case EBUSY:
        case EACCES:
        case EPERM:
        case EEXIST:
        case ENOMEM:
        case ENOSPC:
        case ENODEV:
        case EALREADY: return fail(exit_host, error.context);
        default: return fail(exit_usage, error.context);
    }
}

feed::PipelineOptions pipeline_options(const Config& config, bool live) {
    feed::PipelineOptions options;
    options.checksum = live ? feed::ChecksumPolicy::drop : feed::ChecksumPolicy::count;
    if (config.checksum) options.checksum = static_cast<feed::ChecksumPolicy>(*config.checksum);
    options.unknown = channel_options(config, nullptr, live);
    for (const ChannelConfig& channel : config.channels) {
        for (const LineConfig& line : channel.lines) {
            if (!line.sources.empty())
                options.senders.push_back({line_key(line, live), line.sources});
        }
    }
    options.open_unknown = config.channels.empty();
    for (const ChannelConfig& channel : config.channels) {
        if (channel.lines.empty()) {  // whatever no other channel names
            options.unknown = channel_options(config, &channel, live);
            options.feed = options.unknown.protocol;
            options.open_unknown = true;
        } else {
            options.channels.push_back(channel_options(config, &channel, live));
        }
    }
    return options;
}

TradingDates trading_dates(const Config& config) {
    std::vector<std::optional<std::chrono::year_month_day>> dates;
    std::optional<std::chrono::year_month_day> of_others;
    for (const ChannelConfig& channel : config.channels) {
        if (channel.lines.empty()) {
            of_others = channel.date;
        } else {
            dates.push_back(channel.date);
        }
    }
    if (config.channels.size() == 1) of_others = config.channels[0].date;  // further BinaryFILEs
    return {std::move(dates), of_others};
}

Status open_dumps(const DumpOptions& dumps, bool fingerprint, Observer& observer) {
    if (auto opened = open_dump(dumps.top, observer.top); !opened) return opened;
    if (auto opened = open_dump(dumps.messages, observer.messages); !opened) return opened;
    if (auto opened = open_dump(dumps.events, observer.events); !opened) return opened;
    if (auto opened = open_dump(dumps.final_books, observer.final_books); !opened) return opened;
    if (auto opened = open_dump(dumps.stats, observer.stats); !opened) return opened;
    if (fingerprint || dumps.any_but_stats()) observer.fingerprint.emplace();
    return Ok{};
}

void take_access(const SegmentAccess& access, Config& config) {
    if (!access.owner.empty()) config.publish.owner = access.owner;
    if (!access.group.empty()) config.publish.group = access.group;
    if (access.permissions) config.publish.permissions = *access.permissions;
}

Status open_publisher(const Config& config, const std::string& name, Observer& observer) {
    if (auto known = check_time_zones(); !known) return known;
    const PublishConfig& settings = config.publish;
    auto owner = find_id("owner", settings.owner);
    if (!owner) return owner.error();
    auto group = find_id("group", settings.group);
    if (!group) return group.error();
    ring::SegmentOptions options;
    options.name = name;
    options.directory = settings.directory;
    options.session_name = name;
    options.geometry.depth = settings.depth;
    options.geometry.slots = settings.slots;
    options.geometry.instruments = config.sizes.instruments;
    options.geometry.channels = ring::max_channels;
    options.clock = observer.clock;
    options.mode = settings.permissions;
    options.owner = owner.value();
    options.group = group.value();
    if (settings.orders) options.streams = ring::stream_flag::orders;
    auto writer = ring::Writer::create(options);
    if (!writer) return writer.error();
    fmt::print(stderr, "wirebook: {}\n", writer.value().notice());
    const auto mode =
        settings.mode == PublishMode::touched ? publish::Mode::touched : publish::Mode::changed;
    observer.publisher = std::make_unique<publish::Publisher>(std::move(writer).value(), mode);
    observer.latencies = std::make_unique<Latencies>();
    return Ok{};
}

std::vector<const feed::Channel*> channels_of(const AppPipeline& pipeline) {
    std::vector<const feed::Channel*> channels;
    for (const auto& channel : pipeline.channels()) channels.push_back(channel.get());
    return channels;
}

Status close_dumps(Observer& observer) {
    Status result = Ok{};
    const auto keep_first = [&](Status status) {
        if (result && !status) result = std::move(status);
    };
    if (observer.publisher) observer.publisher->close();
    if (observer.top) keep_first(observer.top->close());
    if (observer.messages) keep_first(observer.messages->close());
    if (observer.events) keep_first(observer.events->close());
    return result;
}

Status write_outputs(bool fingerprint_to_stdout, std::span<const feed::Channel* const> channels,
                     Observer& observer, const Statistics& statistics) {
    Status result = close_dumps(observer);
    const auto keep_first = [&](Status status) {
        if (result && !status) result = std::move(status);
    };
    if (observer.final_books) {
        keep_first(write_final_dump(*std::move(observer.final_books), channels));
    }
    if (observer.stats) {
        observer.stats->buffer() = statistics.to_json();
        keep_first(observer.stats->close());
    }
    if (fingerprint_to_stdout && statistics.fingerprint) {
        auto output = TextOutput::open("-");
        output.value().buffer() = *statistics.fingerprint + "\n";
        keep_first(output.value().close());
    }
    return result;
}

std::string latency_text(const Observer& observer) {
    if (!observer.latencies || observer.latencies->published.count() == 0) return {};
    const auto line = [](std::string_view name, const Histogram& histogram) {
        return fmt::format("{:<10} p50 {} ns  p99 {} ns  p99.9 {} ns  max {} ns  ({} packets)\n",
                           name, histogram.percentile(50), histogram.percentile(99),
                           histogram.percentile(99.9), histogram.max(), histogram.count());
    };
    return line("decoded", observer.latencies->decoded) +
           line("published", observer.latencies->published);
}

}  // namespace wirebook::app
