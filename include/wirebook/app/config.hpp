// The configuration file (TOML) as typed data, validated in full before anything is started.
//
// Every problem is reported with file, line, column and key, all of them together; a Config that
// was handed out obeys the ranges written here. docs/configuration.md describes the keys for
// users, and config_keys() is the list that parser, suggestions and that page share.
// One thread, at start; afterwards the Config is read only.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wirebook/core/result.hpp"
#include "wirebook/io/dpdk_source.hpp"
#include "wirebook/wire/address.hpp"
#include "wirebook/wire/protocol.hpp"

namespace wirebook::app {

enum class ChecksumPolicy : std::uint8_t { off, count, drop };
enum class PublishMode : std::uint8_t { changed, touched };

// A UDP destination.
struct GroupAddress {
    wire::Address address;
    std::uint16_t udp_port = 0;  // host order, never 0

    friend bool operator==(const GroupAddress&, const GroupAddress&) = default;
    [[nodiscard]] std::string to_string() const;  // "233.54.12.111:26477", "[ff3e::1]:26477"
};
// "ADDR:PORT" or "[ADDR6]:PORT"; nothing for any other text, address 0 and port 0.
[[nodiscard]] std::optional<GroupAddress> parse_group_address(const std::string& text);

struct LineConfig {
    GroupAddress group;
    std::optional<std::uint32_t> port;   // index into Config::ports; always there for run
    std::optional<std::uint16_t> queue;  // of the port; none: chosen
    std::vector<wire::Address> sources;  // senders, of the group's family; empty: any
    friend bool operator==(const LineConfig&, const LineConfig&) = default;
};

struct ChannelConfig {
    std::string name;  // unique
    wire::Protocol feed = wire::Protocol::itch50;
    std::vector<LineConfig> lines;  // empty (replay only, one channel at most): whatever no other
                                    // channel names, and a BinaryFILE
    std::vector<std::string> symbols;  // empty: all
    // none: of the first packet, in the venue's zone
    std::optional<std::chrono::year_month_day> date;
    std::optional<std::uint64_t> gap_wait_us;  // none: Config::gap_wait_us
    friend bool operator==(const ChannelConfig&, const ChannelConfig&) = default;
};

// Who tells the network that a port wants its groups.
enum class Membership : std::uint8_t {
    automatic,  // kernel where the kernel has the interface, igmp where DPDK alone has the NIC
    igmp,       // reports sent from the port: version 3, older ones as queriers demand
    igmp_v2,
    igmp_v3,
    kernel,  // a socket of the kernel's on the interface
    none,    // nobody: routes are static
};

struct PortConfig {
    std::string device;        // "0000:3b:00.0", or a vdev: "net_af_packet0,iface=veth1"
    std::uint16_t queues = 0;  // 0: as many as the lcores or the device string need; at most 64
    std::uint16_t mtu = 0;     // 0: the driver's; 576 to 9,600
    io::Reception reception = io::Reception::automatic;
    bool steering = true;  // rules in the NIC decide which queue gets which group
    Membership membership = Membership::automatic;
    std::optional<wire::Address> source_address;  // of IGMP messages, IPv4; none: 0.0.0.0
    std::string interface;                        // for kernel membership; "": the device's own
    std::uint16_t vlan = 0;                       // of IGMP messages; 0: no tag; at most 4,094

    [[nodiscard]] bool is_pci() const noexcept;
    friend bool operator==(const PortConfig&, const PortConfig&) = default;
};

// A polling thread and the channels that it owns from queue to ring.
struct LcoreConfig {
    std::uint32_t cpu = 0;
    std::vector<std::string> channels;  // by name; empty: what no other lcore names
    std::uint32_t fifo_priority = 0;    // SCHED_FIFO, 1 to 99; 0: SCHED_OTHER
    friend bool operator==(const LcoreConfig&, const LcoreConfig&) = default;
};

enum class LogLevel : std::uint8_t { error, warning, info, debug };

struct LogConfig {
    LogLevel level = LogLevel::info;
    std::string file;  // "": stderr
    friend bool operator==(const LogConfig&, const LogConfig&) = default;
};

struct PublishConfig {
    std::string name;         // "": run publishes nothing; replay goes by --publish alone
    std::uint32_t depth = 5;  // 1, 5, 10 or 20 levels a side
    PublishMode mode = PublishMode::changed;
    std::uint64_t slots = 65536;  // of the event ring; a power of two, 64 to 2^24
    bool orders = false;          // the order stream too: every change of every order
    std::string directory;        // "": hugetlbfs where there is room, else /dev/shm
    std::string owner;            // of the segment file, a name or number; "": the process's own
    std::string group;            // likewise
    std::uint32_t permissions = 0640;
    friend bool operator==(const PublishConfig&, const PublishConfig&) = default;
};

// Fixed capacities of each channel. What does not fit is refused and counted.
struct SizesConfig {
    std::uint64_t orders = 4'194'304;    // live at once, 1,024 to 2^28
    std::uint64_t levels = 1'048'576;    // prices with at least one order, 1,024 to 2^26
    std::uint32_t instruments = 65'536;  // 16 to 2^20; of the segment too
    std::uint32_t park_packets = 4'096;  // behind holes, 1 to 65,536
    friend bool operator==(const SizesConfig&, const SizesConfig&) = default;
};

struct DpdkConfig {
    bool hugepages = true;  // false: --no-huge
    std::optional<std::uint32_t>
        memory_mb;                         // MiB for EAL; none: computed from the sizes; 16 to 2^20
    std::string file_prefix = "wirebook";  // distinct for each process
    std::uint32_t burst = 32;              // packets taken at once, 1 to 512
    std::uint32_t descriptors = 1024;      // of each receive queue, a power of two, 64 to 32,768
    std::uint32_t pool_packets = 0;        // 0: as many as are needed; at most 2^26
    std::uint32_t link_wait_ms = 10'000;   // for links at the start, at most 10 minutes
    friend bool operator==(const DpdkConfig&, const DpdkConfig&) = default;
};

// A line of the simulated exchange.
struct SimLineConfig {
    std::optional<GroupAddress> group;            // IPv4 multicast; none: one of our own
    std::optional<std::uint32_t> payload_bytes;   // largest UDP payload, 200 to 9,000
    std::optional<std::uint32_t> flush_delay_us;  // a message waits so long for others, at most
    std::vector<std::string> faults;              // "loss=0.01": rules of this line
    friend bool operator==(const SimLineConfig&, const SimLineConfig&) = default;
};

// The simulated exchange; `wirebook sim` alone reads it. What is left out has a default there.
struct SimConfig {
    std::optional<wire::Protocol> feed;  // itch50 or iex_deep
    std::optional<std::uint64_t> seed;
    std::optional<std::uint64_t> instruments;  // 1 to 60,000
    std::optional<std::uint64_t> messages;
    std::optional<std::uint64_t> duration_s;
    std::optional<std::uint64_t> rate;  // messages a second
    std::optional<std::uint64_t> live_orders;
    std::optional<std::chrono::year_month_day> date;
    bool checksum = true;              // UDP checksums; false: 0
    std::vector<SimLineConfig> lines;  // A, then B
    friend bool operator==(const SimConfig&, const SimConfig&) = default;
};

struct Config {
    std::uint64_t gap_wait_us = 500;         // 0: do not wait; at most one hour
    std::optional<ChecksumPolicy> checksum;  // none: drop in run, count in replay
    std::vector<PortConfig> ports;
    std::vector<LcoreConfig> lcores;  // empty: one, on no particular CPU
    std::vector<ChannelConfig> channels;
    LogConfig log;
    PublishConfig publish;
    SizesConfig sizes;
    DpdkConfig dpdk;
    SimConfig sim;

    [[nodiscard]] std::uint64_t gap_wait_us_of(const ChannelConfig& channel) const noexcept {
        return channel.gap_wait_us.value_or(gap_wait_us);
    }
    friend bool operator==(const Config&, const Config&) = default;
};

// What the configuration is for: run needs ports, lines and a port for each line, replay does
// not; sim needs none of them. `either` takes a file without any [[port]] as one for replay, else
// checks it as run does.
enum class ConfigUse : std::uint8_t { replay, run, sim, either };

// The error's context holds one problem a line: "nasdaq.toml:12:8: channel[0].feed: ...".
[[nodiscard]] Result<Config> load_config(const std::string& path, ConfigUse use = ConfigUse::run);
[[nodiscard]] Result<Config> parse_config(std::string_view text, std::string_view name,
                                          ConfigUse use = ConfigUse::run);

// One key of the file, as the documentation states it.
struct ConfigKey {
    std::string_view table;  // "", "port", "channel", "channel.lines", "publish", ...
    std::string_view name;
    std::string_view type;  // "integer", "text", "true or false", "list of text", ...
    std::string_view unit;  // "us", "MiB", ... or "-"
    std::string_view default_text;
};
[[nodiscard]] std::span<const ConfigKey> config_keys() noexcept;

// Memory that the configuration takes, bytes: estimates with the margins of the parts.
struct MemoryNeed {
    std::uint64_t books = 0;
    std::uint64_t segment = 0;
    std::uint64_t packets = 0;  // DPDK's buffers; 0 without ports
};
[[nodiscard]] MemoryNeed memory_need(const Config& config);

// What the configuration means, in some lines for people.
[[nodiscard]] std::string describe_config(const Config& config);

// `wirebook check-config`: prints what the file means to stdout (0), or what is wrong with it to
// stderr (2); returns the exit status.
[[nodiscard]] int run_check_config(const std::string& path);

}  // namespace wirebook::app
