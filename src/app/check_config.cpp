// `wirebook check-config`: what a configuration means, for people. Sizes of memory are estimates
// with the margins that the parts keep themselves; `run` and `replay` say what they really took.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "wirebook/app/config.hpp"
#include "wirebook/app/lcore_plan.hpp"
#include "wirebook/io/dpdk_memory.hpp"
#include "wirebook/ring/segment.hpp"

namespace wirebook::app {

namespace {

// Bytes in a book set: an order's record, its share of the index and of its level's queue; a
// level's line and its share of the map and the tree; an instrument's state.
constexpr std::uint64_t bytes_an_order = 64;
constexpr std::uint64_t bytes_a_level = 128;
constexpr std::uint64_t bytes_an_instrument = 256;

std::string grouped(std::uint64_t number) {
    std::string text = std::to_string(number);
    for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
    return text;
}

std::string mebibytes(std::uint64_t bytes) {
    return grouped((bytes + (1U << 20U) - 1) >> 20U) + " MiB";
}

std::string date_text(const std::optional<std::chrono::year_month_day>& date) {
    if (!date) return "of the first packet";
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "%04d-%02u-%02u", static_cast<int>(date->year()),
                  static_cast<unsigned>(date->month()), static_cast<unsigned>(date->day()));
    return text.data();
}

std::string symbols_text(const std::vector<std::string>& symbols) {
    if (symbols.empty()) return "all";
    constexpr std::size_t shown = 8;
    std::string text;
    for (std::size_t i = 0; i < symbols.size() && i < shown; ++i)
        text += (i > 0 ? " " : "") + symbols[i];
    return symbols.size() <= shown
               ? text
               : text + " and " + std::to_string(symbols.size() - shown) + " more";
}

std::string ports_text(const Config& config) {
    if (config.ports.empty()) return "ports: none, so this file serves replay only\n";
    std::string text = "ports\n";
    for (std::size_t i = 0; i < config.ports.size(); ++i) {
        std::size_t lines = 0;
        for (const ChannelConfig& channel : config.channels) {
            for (const LineConfig& line : channel.lines) lines += line.port == i ? 1U : 0U;
        }
        text += "  " + std::to_string(i) + "  " + config.ports[i].device +
                (config.ports[i].is_pci() ? " (PCI device)" : " (virtual device)") +
                (lines == 0 ? ", no line uses it" : "") + "\n";
    }
    return text;
}

// Which lcore has what, and how ports and queues follow; empty for replay.
std::string plan_text(const Config& config) {
    if (config.ports.empty()) return {};
    const auto plan = plan_lcores(config);
    if (!plan) return {};
    std::string text = "lcores\n";
    for (std::size_t i = 0; i < plan.value().lcores.size(); ++i) {
        const LcorePlan& lcore = plan.value().lcores[i];
        text += "  " + std::to_string(i) +
                (lcore.cpu ? "  CPU " + std::to_string(*lcore.cpu) : "  any CPU");
        if (lcore.fifo_priority != 0) text += ", SCHED_FIFO " + std::to_string(lcore.fifo_priority);
        text += ":";
        for (const std::size_t channel : lcore.channels)
            text += " " + config.channels[channel].name;
        text += "\n";
    }
    for (std::size_t i = 0; i < plan.value().ports.size(); ++i) {
        const io::DpdkPortOptions& port = plan.value().ports[i];
        if (port.queues < 2) continue;
        text += "  port " + std::to_string(i) + ": " + std::to_string(port.queues) + " queues, " +
                (port.steering == io::Steering::none ? "as the device fills them"
                                                     : "filled by rules of the NIC") +
                "\n";
    }
    return text;
}

std::string line_text(const LineConfig& line, std::size_t index) {
    std::string text = "    line " + (index < 26 ? std::string(1, static_cast<char>('A' + index))
                                                 : std::to_string(index + 1));
    text += "  " + line.group.to_string() + (line.group.address.is_multicast() ? "" : " (unicast)");
    if (line.port) text += "  on port " + std::to_string(*line.port);
    return text + "\n";
}

std::string channels_text(const Config& config) {
    if (config.channels.empty())
        return "channels: none; replay tells them by what is in the packets\n";
    std::string text = "channels\n";
    for (const ChannelConfig& channel : config.channels) {
        const std::uint64_t wait = config.gap_wait_us_of(channel);
        text += "  " + channel.name + "  " + std::string{to_string(channel.feed)} +
                ", symbols: " + symbols_text(channel.symbols) +
                ", date: " + date_text(channel.date) + ", holes wait " +
                (wait == 0 ? "not at all" : grouped(wait) + " us") + "\n";
        for (std::size_t i = 0; i < channel.lines.size(); ++i)
            text += line_text(channel.lines[i], i);
        if (channel.lines.empty()) text += "    takes every group that no other channel names\n";
    }
    return text;
}

std::string publish_text(const Config& config) {
    const PublishConfig& publish = config.publish;
    std::string text = publish.name.empty() ? "publishing: nothing in run; replay as --publish says"
                                            : "publishing: segment " + publish.name;
    std::array<char, 16> permissions{};
    std::snprintf(permissions.data(), permissions.size(), "%04o", publish.permissions);
    text += ", " + std::to_string(publish.depth) + (publish.depth == 1 ? " level" : " levels") +
            " a side, " +
            (publish.mode == PublishMode::changed ? "what changed" : "all that was touched") +
            ", " + grouped(publish.slots) + " records\n  in " +
            (publish.directory.empty() ? "hugetlbfs where there is room, else /dev/shm"
                                       : publish.directory) +
            ", mode " + permissions.data() +
            (publish.owner.empty() ? "" : ", owner " + publish.owner) +
            (publish.group.empty() ? "" : ", group " + publish.group) + "\n";
    return text;
}

std::string checksum_text(const Config& config) {
    if (!config.checksum) return "wrong UDP checksums: dropped in run, only counted in replay\n";
    switch (*config.checksum) {
        case ChecksumPolicy::off: return "UDP checksums: not checked\n";
        case ChecksumPolicy::count: return "wrong UDP checksums: only counted\n";
        case ChecksumPolicy::drop: break;
    }
    return "wrong UDP checksums: dropped\n";
}

std::string sizes_text(const Config& config) {
    const SizesConfig& sizes = config.sizes;
    const MemoryNeed need = memory_need(config);
    std::string text = "room in each channel: " + grouped(sizes.orders) + " live orders, " +
                       grouped(sizes.levels) + " levels, " + grouped(sizes.instruments) +
                       " instruments, " + grouped(sizes.park_packets) + " parked packets\n";
    text +=
        "memory, about: books " + mebibytes(need.books) + ", segment " + mebibytes(need.segment);
    if (!config.ports.empty()) {
        text += ", packet buffers " + mebibytes(need.packets);
        text += config.dpdk.hugepages ? " (hugepages)" : " (no hugepages)";
    }
    return text + "\n";
}

}  // namespace

MemoryNeed memory_need(const Config& config) {
    const SizesConfig& sizes = config.sizes;
    const std::uint64_t channels = config.channels.empty() ? 1 : config.channels.size();
    ring::Geometry geometry;
    geometry.depth = config.publish.depth;
    geometry.slots = config.publish.slots;
    geometry.instruments = sizes.instruments;
    geometry.channels = static_cast<std::uint32_t>(channels);
    io::DpdkOptions dpdk;
    dpdk.burst = static_cast<std::uint16_t>(config.dpdk.burst);
    dpdk.parked_packets = static_cast<std::uint32_t>(channels * sizes.park_packets);
    io::PoolDemand demand;
    for (const PortConfig& port : config.ports)
        demand.queues += port.queues == 0 ? 1U : port.queues;
    demand.descriptors = demand.queues * config.dpdk.descriptors;
    demand.threads = config.lcores.empty() ? 1U : static_cast<std::uint32_t>(config.lcores.size());
    const std::uint32_t packets =
        std::max(io::least_pool_packets(dpdk, demand), config.dpdk.pool_packets);
    MemoryNeed need;
    need.books = channels * (sizes.orders * bytes_an_order + sizes.levels * bytes_a_level +
                             sizes.instruments * bytes_an_instrument);
    need.segment = ring::layout_of(geometry).used_bytes;
    need.packets = demand.queues == 0 ? 0 : io::pool_bytes(dpdk, packets);
    return need;
}

std::string describe_config(const Config& config) {
    return ports_text(config) + plan_text(config) + channels_text(config) + publish_text(config) +
           checksum_text(config) + sizes_text(config);
}

int run_check_config(const std::string& path) {
    Result<Config> config = load_config(path, ConfigUse::either);
    if (!config) {
        std::fprintf(stderr, "%s\n", config.error().context.c_str());
        return 2;
    }
    if (!config.value().ports.empty()) {
        if (const auto plan = plan_lcores(config.value()); !plan) {
            std::fprintf(stderr, "%s: %s\n", path.c_str(), plan.error().context.c_str());
            return 2;
        }
    }
    const std::string text = path + " is good\n" + describe_config(config.value());
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
}

}  // namespace wirebook::app
