// Ethernet ports driven by DPDK: hardware by PCI address, or virtual devices. Opened together,
// polled by one thread or several (DpdkPoller), tended by a control thread.
//
// No DPDK type shows here; io may include core and wire only.
//
// DPDK's environment (EAL) starts once in a process and cannot start again after it was stopped,
// so only one DpdkSource may ever be opened in a process: a second open() is an Error.
//
// Threads: everything on the control thread, but for the pollers (dpdk_poller.hpp) and what says
// so. Pollers must have stopped before close().
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "wirebook/core/result.hpp"
#include "wirebook/io/dpdk_poller.hpp"
#include "wirebook/wire/address.hpp"
#include "wirebook/wire/packet.hpp"

namespace wirebook::io {

// How multicast passes the port's address filter.
enum class Reception : std::uint8_t {
    automatic,      // the narrowest of these that the driver has
    mac_list,       // the addresses of the groups; 32 groups share one
    all_multicast,  // every multicast frame
    promiscuous,    // every frame
};

// Whether the NIC is told (rte_flow) which of its queues gets which group.
enum class Steering : std::uint8_t {
    none,
    wanted,    // where it cannot be: by hash (RSS), else all on the first queue; a notice
    required,  // where it cannot be: an error. For queues of different pollers
};

// A UDP destination that a port is to receive.
struct DpdkGroup {
    wire::Address address;
    std::uint16_t udp_port = 0;
    std::uint16_t queue = 0;  // with Steering
};

struct DpdkPortOptions {
    // A PCI address "0000:3b:00.0" ("3b:00.0" is completed), or a virtual device with its
    // arguments: "net_pcap0,rx_pcap=FILE". Driver arguments may follow an address as well.
    std::string device;
    // Receive queues. 0: one, or as many as the device string creates (net_pcap, net_af_packet,
    // net_af_xdp, where a queue that nobody polls would lose its packets).
    std::uint16_t queues = 0;
    std::uint16_t mtu = 0;  // bytes after the Ethernet header; 0: as the driver has it
    Reception reception = Reception::automatic;
    Steering steering = Steering::none;
    std::vector<DpdkGroup> groups{};
    // Which poller gets a queue, by queue; queues beyond its end: poller 0.
    std::vector<std::uint16_t> pollers{};
};

struct DpdkOptions {
    std::vector<DpdkPortOptions> ports;
    std::uint16_t pollers = 1;  // polling threads, 1 to 64

    bool hugepages = true;                // false: ordinary memory (EAL --no-huge), no PCI device
    std::size_t memory_mb = 0;            // MiB; 0: computed where EAL has to be told
    std::uint32_t parked_packets = 4096;  // packets the pollers may hold beyond one burst
    std::uint32_t pool_packets = 0;       // 0: as many as needed; else at least that many
    std::uint16_t burst = 32;             // packets of one receive(), 1 to 512
    std::uint16_t descriptors = 1024;     // of each receive queue; the driver may round it
    std::uint16_t cache = 256;            // of the pool, for each thread, 0 to 512

    // Bytes of a frame in one piece. Longer frames come in several and are copied into one of
    // `linear_frames` buffers of `linear_bytes`; what does not fit there is handed over cut.
    std::uint16_t data_room = 2048;     // 256 to 65,000
    std::uint16_t linear_bytes = 9600;  // 256 to 65,000; jumbo frames have up to 9,216
    std::uint32_t linear_frames = 256;

    std::uint32_t link_wait_ms = 10'000;      // for all ports together, at open()
    const std::atomic<bool>* stop = nullptr;  // true there ends that wait
    std::string file_prefix = "wirebook";
    bool telemetry = false;                  // DPDK's own socket, /var/run/dpdk/PREFIX
    std::vector<std::string> eal_arguments;  // appended, so they win over the ones made here
};

// Since open(), from the driver. A driver may hide losses: net_af_packet does not report frames
// that the kernel dropped (DpdkSource::hides_loss), so a feed's own sequence numbers are the only
// proof of completeness.
struct DpdkPortStats {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
    std::uint64_t missed = 0;   // no free descriptor: the loop was too slow
    std::uint64_t no_mbuf = 0;  // no free packet in the pool: too many are held
    std::uint64_t errors = 0;   // refused by the device or the driver
};

class DpdkSource {
public:
    // Starts EAL, the devices and the receive queues, and waits for the links. A port whose link
    // stays down is a notice, everything else that is wrong an Error: EINVAL where an option is,
    // else what the machine lacks (ENOMEM, ENODEV, EACCES, EALREADY for a second open(), ...).
    [[nodiscard]] static Result<DpdkSource> open(const DpdkOptions& options);

    DpdkSource(DpdkSource&&) noexcept;
    DpdkSource& operator=(DpdkSource&&) noexcept;
    DpdkSource(const DpdkSource&) = delete;
    DpdkSource& operator=(const DpdkSource&) = delete;
    ~DpdkSource();

    // Stops the ports and EAL. Packets that were not released become invalid; DPDK gives its
    // hugepages back when the process ends. Idempotent.
    void close() noexcept;

    // `index` < options.pollers. Valid until close().
    [[nodiscard]] DpdkPoller& poller(std::size_t index) noexcept;

    // The frames that pollers offered, oldest first; valid during the call.
    void take_offered(const std::function<void(std::size_t port, wire::Bytes frame)>& take);
    // Sends a whole frame, Ethernet header first. ENOTSUP: the port has no transmit queue;
    // ENOBUFS: no free packet, or the driver's queue is full.
    [[nodiscard]] Status send(std::size_t port, wire::Bytes frame);
    // About once a second: reads the clocks of NICs that can be read.
    void tend_clocks() noexcept;

    [[nodiscard]] std::size_t ports() const noexcept;
    [[nodiscard]] DpdkPortStats port_stats(std::size_t port) const noexcept;
    // The same from a polling thread: nothing while the control thread reads them.
    [[nodiscard]] std::optional<DpdkPortStats> try_port_stats(std::size_t port) const noexcept;
    // Further counters of the driver that are not 0, under its own names.
    [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> driver_counters(
        std::size_t port) const;
    [[nodiscard]] bool link_up(std::size_t port) const noexcept;
    [[nodiscard]] const std::string& device(std::size_t port) const noexcept;  // as DPDK calls it
    [[nodiscard]] const std::string& driver(std::size_t port) const noexcept;
    [[nodiscard]] std::array<std::uint8_t, 6> mac(std::size_t port) const noexcept;
    [[nodiscard]] bool transmits(std::size_t port) const noexcept;
    // Losses before the port's queue show in no counter of it.
    [[nodiscard]] bool hides_loss(std::size_t port) const noexcept;
    // Over all pollers.
    [[nodiscard]] DpdkCounters counters() const noexcept;
    [[nodiscard]] std::uint32_t pool_packets() const noexcept;  // size of the packet pool
    [[nodiscard]] std::uint32_t pool_in_use() const noexcept;   // slow; for tests and statistics

    // Sentences for people: what open() settled otherwise than asked, links that are down.
    [[nodiscard]] const std::vector<std::string>& notices() const noexcept;
    // One line a port: device, driver, queues, descriptors, MAC, link, where stamps come from.
    [[nodiscard]] std::string description() const;

private:
    struct Impl;
    explicit DpdkSource(std::unique_ptr<Impl> impl) noexcept;

    std::unique_ptr<Impl> impl_;
};

}  // namespace wirebook::io
