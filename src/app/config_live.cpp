// The keys of what only `run` uses: ports, lcores, DPDK, log; see config_reader.hpp.
#include <algorithm>
#include <array>

#include "config_reader.hpp"

namespace wirebook::app {
namespace {

// ---- [[port]]

constexpr std::array<std::string_view, 4> reception_choices{"auto", "mac-list", "all-multicast",
                                                            "promiscuous"};
constexpr std::array<std::string_view, 6> membership_choices{"auto",   "igmp",   "igmpv2",
                                                             "igmpv3", "kernel", "none"};
constexpr std::array<std::string_view, 4> level_choices{"error", "warning", "info", "debug"};

void read_device(const Value& value, PortConfig& port) {
    const std::string* text = value.text();
    if (text == nullptr) return;
    if (is_pci_address(*text) || is_vdev(*text)) {
        port.device = *text;
    } else {
        value.problem(
            "must be a PCI address (\"0000:3b:00.0\") or a DPDK virtual device "
            "(\"net_af_packet0,iface=veth1\"), is " +
            in_quotes(*text));
    }
}

void read_source_address(const Value& value, PortConfig& port) {
    const std::string* text = value.text();
    if (text == nullptr) return;
    const auto parsed = parse_group_address(*text + ":1");
    if (parsed && parsed->address.is_ipv4() && !parsed->address.is_multicast()) {
        port.source_address = parsed->address;
    } else {
        value.problem("must be the port's own IPv4 address, is " + in_quotes(*text));
    }
}

// As the kernel has it: at most 15 bytes, no blank, no slash.
void read_interface(const Value& value, PortConfig& port) {
    const std::string* text = value.text();
    if (text == nullptr) return;
    const bool good =
        !text->empty() && text->size() <= 15 && *text != "." && *text != ".." &&
        std::all_of(text->begin(), text->end(), [](char c) {
            return static_cast<unsigned char>(c) > 0x20 && c != '/' && c != ':' && c != 0x7F;
        });
    if (good) {
        port.interface = *text;
    } else {
        value.problem("must be the name of an interface, is " + in_quotes(*text));
    }
}

constexpr std::array<KeySpec<PortConfig>, 9> port_table{{
    {{"port", "device", "text", "-", "required"}, true, read_device},
    {{"port", "queues", "integer", "receive queues", "as needed"},
     false,
     [](const Value& value, PortConfig& port) { assign(port.queues, value.integer(1, 64)); }},
    {{"port", "mtu", "integer", "bytes", "of the driver"},
     false,
     [](const Value& value, PortConfig& port) { assign(port.mtu, value.integer(576, 9'600)); }},
    {{"port", "reception", "text", "-", "\"auto\""},
     false,
     [](const Value& value, PortConfig& port) {
         assign(port.reception, value.choice(reception_choices));
     }},
    {{"port", "steering", "true or false", "-", "true"},
     false,
     [](const Value& value, PortConfig& port) { port.steering = value.flag().value_or(true); }},
    {{"port", "membership", "text", "-", "\"auto\""},
     false,
     [](const Value& value, PortConfig& port) {
         assign(port.membership, value.choice(membership_choices));
     }},
    {{"port", "source_address", "text", "-", "\"0.0.0.0\""}, false, read_source_address},
    {{"port", "interface", "text", "-", "of the device"}, false, read_interface},
    {{"port", "vlan", "integer", "VLAN id", "none"},
     false,
     [](const Value& value, PortConfig& port) { assign(port.vlan, value.integer(1, 4'094)); }},
}};

// ---- [[lcore]]

void read_lcore_channels(const Value& value, LcoreConfig& lcore) {
    value.each("a list of channel names", [&](const Value& element) {
        std::string& name = lcore.channels.emplace_back();
        read_name(element, name);
        if (name.empty()) lcore.channels.pop_back();
    });
}

constexpr std::array<KeySpec<LcoreConfig>, 3> lcore_table{{
    {{"lcore", "cpu", "integer", "CPU number", "required"},
     true,
     [](const Value& value, LcoreConfig& lcore) { assign(lcore.cpu, value.integer(0, 1'023)); }},
    {{"lcore", "channels", "list of text", "-", "what no other lcore names"},
     false,
     read_lcore_channels},
    {{"lcore", "fifo_priority", "integer", "SCHED_FIFO priority", "0 (SCHED_OTHER)"},
     false,
     [](const Value& value, LcoreConfig& lcore) {
         assign(lcore.fifo_priority, value.integer(0, 99));
     }},
}};

// ---- [log]

void read_log_file(const Value& value, LogConfig& log) {
    const std::string* text = value.text();
    if (text == nullptr) return;
    if (!text->empty() && text->find('\0') == std::string::npos && text->front() == '/') {
        log.file = *text;
    } else {
        value.problem("must be an absolute path, is " + in_quotes(*text));
    }
}

constexpr std::array<KeySpec<LogConfig>, 2> log_table{{
    {{"log", "level", "text", "-", "\"info\""},
     false,
     [](const Value& value, LogConfig& log) { assign(log.level, value.choice(level_choices)); }},
    {{"log", "file", "text", "-", "stderr"}, false, read_log_file},
}};

// ---- [dpdk]

constexpr std::array<KeySpec<DpdkConfig>, 7> dpdk_table{{
    {{"dpdk", "hugepages", "true or false", "-", "true"},
     false,
     [](const Value& value, DpdkConfig& dpdk) { dpdk.hugepages = value.flag().value_or(true); }},
    {{"dpdk", "memory_mb", "integer", "MiB", "computed"},
     false,
     [](const Value& value, DpdkConfig& dpdk) {
         assign(dpdk.memory_mb, value.integer(16, 1U << 20U));
     }},
    {{"dpdk", "file_prefix", "text", "-", "\"wirebook\""},
     false,
     [](const Value& value, DpdkConfig& dpdk) { read_name(value, dpdk.file_prefix); }},
    {{"dpdk", "burst", "integer", "packets", "32"},
     false,
     [](const Value& value, DpdkConfig& dpdk) { assign(dpdk.burst, value.integer(1, 512)); }},
    {{"dpdk", "descriptors", "integer, a power of two", "descriptors", "1024"},
     false,
     [](const Value& value, DpdkConfig& dpdk) {
         assign(dpdk.descriptors, value.integer(64, 32768, true));
     }},
    {{"dpdk", "pool_packets", "integer", "packets", "computed"},
     false,
     [](const Value& value, DpdkConfig& dpdk) {
         assign(dpdk.pool_packets, value.integer(1024, 1U << 26U));
     }},
    {{"dpdk", "link_wait_ms", "integer", "ms", "10000"},
     false,
     [](const Value& value, DpdkConfig& dpdk) {
         assign(dpdk.link_wait_ms, value.integer(0, 600'000));
     }},
}};

}  // namespace

std::span<const KeySpec<PortConfig>> port_keys() noexcept {
    return port_table;
}
std::span<const KeySpec<LcoreConfig>> lcore_keys() noexcept {
    return lcore_table;
}
std::span<const KeySpec<LogConfig>> log_keys() noexcept {
    return log_table;
}
std::span<const KeySpec<DpdkConfig>> dpdk_keys() noexcept {
    return dpdk_table;
}

}  // namespace wirebook::app
