// Packets from Ethernet ports driven by DPDK: hardware by PCI address, or a virtual device.
//
// A Source like the capture source: receive() a burst, release() the packets, in any order and any
// number of bursts later. No DPDK type shows here; a packet's owner is its mbuf. io may include
// core and wire only.
//
// DPDK's environment (EAL) starts once in a process and cannot start again after it was stopped,
// so only one DpdkSource may ever be opened in a process: a second open() is an Error.
//
// Threads: open(), close() and destruction on the control thread; receive() and release() on one
// polling thread, no longer than the object lives. port_stats(), counters() and link_up() may be
// called from the control thread meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wirebook/core/result.hpp"
#include "wirebook/wire/packet.hpp"

namespace wirebook::io {

struct DpdkPortOptions {
    // A PCI address "0000:3b:00.0" ("3b:00.0" is completed), or a virtual device with its
    // arguments: "net_pcap0,rx_pcap=FILE". Driver arguments may follow an address as well.
    std::string device;
    // Receive queues. 0: one, or as many as the device string creates (net_pcap, net_af_packet,
    // net_af_xdp, where a queue that nobody polls would lose its packets).
    std::uint16_t queues = 0;
    std::uint16_t mtu = 0;  // bytes after the Ethernet header; 0: as the driver has it
};

struct DpdkOptions {
    std::vector<DpdkPortOptions> ports;

    bool hugepages = true;                // false: ordinary memory (EAL --no-huge), no PCI device
    std::size_t memory_mb = 0;            // MiB; 0: computed where EAL has to be told
    std::uint32_t parked_packets = 4096;  // packets the caller may hold beyond one burst
    std::uint32_t pool_packets = 0;       // 0: as many as needed; else at least that many
    std::uint16_t burst = 32;             // packets of one receive(), 1 to 512
    std::uint16_t descriptors = 1024;     // of each receive queue; the driver may round it
    std::uint16_t cache = 256;            // of the pool, for each lcore, 0 to 512

    // Bytes of a frame in one piece. Longer frames come in several and are copied into one of
    // `linear_frames` buffers of `linear_bytes`; what does not fit there is handed over cut.
    std::uint16_t data_room = 2048;     // 256 to 65,000
    std::uint16_t linear_bytes = 9600;  // 256 to 65,000; jumbo frames have up to 9,216
    std::uint32_t linear_frames = 256;

    std::uint32_t link_wait_ms = 10'000;  // for all ports together, at open()
    std::string file_prefix = "wirebook";
    bool telemetry = false;                  // DPDK's own socket, /var/run/dpdk/PREFIX
    std::vector<std::string> eal_arguments;  // appended, so they win over the ones made here
};

// Since open(), from the driver. A driver may hide losses: net_af_packet does not report frames
// that the kernel dropped, so a feed's own sequence numbers are the only proof of completeness.
struct DpdkPortStats {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
    std::uint64_t missed = 0;   // no free descriptor: the loop was too slow
    std::uint64_t no_mbuf = 0;  // no free packet in the pool: too many are held
    std::uint64_t errors = 0;   // refused by the device or the driver
};

struct DpdkCounters {
    std::uint64_t linearised = 0;  // frames in several pieces, copied into one
    std::uint64_t cut = 0;         // of those, handed over with bytes < original_bytes
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

    // Up to out.size() packets, at most options.burst of each queue, fairly over all queues; 0:
    // nothing there now. receive_tsc is read once for each queue's burst. receive_time_ns is the
    // driver's stamp where it is UTC (net_pcap: the file's, whole microseconds), else that tsc.
    // `input` is the index of the port in options.ports, `record` counts in it.
    [[nodiscard]] std::size_t receive(std::span<wire::Packet> out) noexcept;
    // Each packet received is given back exactly once.
    void release(std::span<const wire::Packet> packets) noexcept;

    // A port never ends: a net_pcap file that is read to its end is a port without traffic.
    [[nodiscard]] bool finished() const noexcept { return false; }
    [[nodiscard]] std::optional<Error> error() const { return std::nullopt; }
    // Calls of receive() in a row that found nothing.
    [[nodiscard]] std::uint64_t empty_rounds() const noexcept;
    // TSC of the last packet received, at first of open().
    [[nodiscard]] std::uint64_t last_receive_tsc() const noexcept;

    [[nodiscard]] std::size_t ports() const noexcept;
    [[nodiscard]] DpdkPortStats port_stats(std::size_t port) const noexcept;
    [[nodiscard]] bool link_up(std::size_t port) const noexcept;
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
