// One Ethernet port: found, configured, started, asked. Control thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "device_name.hpp"
#include "wirebook/core/result.hpp"
#include "wirebook/io/dpdk_source.hpp"

struct rte_mempool;

namespace wirebook::io::dpdk {

// What the driver's stamp of a packet is worth.
enum class Stamps : std::uint8_t {
    none,           // no stamps
    capture_us,     // net_pcap: the file's, microseconds since the epoch
    nic_unchecked,  // the NIC stamps; whether with UTC shows at the first packet
    nic_utc_ns,
    nic_readable,  // by a clock of its own, which can be read beside the TSC
    nic_raw,       // by a clock of its own, of which nothing is known
};

struct Port {
    DeviceName device;
    std::uint16_t id = 0;  // DPDK's number
    std::string driver;
    std::string interface;         // of the kernel's, where the driver is a guest on one; else ""
    unsigned interface_index = 0;  // the kernel's number of it, at the start; 0: not known
    std::uint16_t queues = 1;
    std::uint16_t descriptors = 0;  // of each queue
    std::uint16_t transmit_descriptors = 256;
    bool transmits = false;  // it has a transmit queue
    int numa_node = -1;
    bool configured = false;
    bool started = false;
    bool wants_stamps = false;  // the NIC offers them and they were switched on
    bool reads_clock = false;   // the NIC's clock can be read
    bool can_hash = false;      // it spreads packets over its queues (RSS)
    Stamps stamps = Stamps::none;
    std::string reception;  // how multicast passes, in words
    std::string steering;   // what decides about a packet's queue, in words; "": there is one
};

// Finds the port of a device, probing it first where it is virtual (EAL probed the PCI ones).
[[nodiscard]] Result<Port> find_port(const DeviceName& device);

// Chooses queues, descriptors and offloads and tells the driver; before the pool exists, since
// the pool's size depends on what the driver makes of the descriptors.
[[nodiscard]] std::optional<Error> configure_port(Port& port, const DpdkPortOptions& wanted,
                                                  const DpdkOptions& options);

// Receive queues, and start.
[[nodiscard]] std::optional<Error> start_queues(Port& port, rte_mempool* pool);

// The same, and reception of multicast (reception.hpp). Adds sentences to `notices`.
[[nodiscard]] std::optional<Error> start_port(Port& port, const DpdkPortOptions& wanted,
                                              rte_mempool* pool, std::vector<std::string>& notices);

// Waits until every link is up, at most options.link_wait_ms; names those that are not.
void wait_for_links(const std::vector<Port>& ports, const DpdkOptions& options,
                    std::vector<std::string>& notices);

[[nodiscard]] bool port_link_up(const Port& port) noexcept;
// Nothing where the driver cannot read it.
[[nodiscard]] std::optional<std::uint64_t> read_nic_clock(const Port& port) noexcept;
[[nodiscard]] DpdkPortStats read_stats(const Port& port) noexcept;
[[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> read_driver_counters(
    const Port& port);
// `code` as DPDK's functions return it, 0 or a negative errno, with what DPDK logged meanwhile.
[[nodiscard]] Error port_error(const Port& port, std::string_view what, int code);
[[nodiscard]] std::string describe(const Port& port);         // as a receiver
[[nodiscard]] std::string describe_sender(const Port& port);  // its transmit queue
void close_port(Port& port) noexcept;

}  // namespace wirebook::io::dpdk
