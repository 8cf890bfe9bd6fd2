// Frames out of an Ethernet port driven by DPDK: hardware by PCI address, or a virtual device.
//
// The counterpart of DpdkSource (dpdk_source.hpp); no DPDK type shows here. io may include core
// and wire only. DPDK's environment starts once in a process: a process opens one DpdkSink or one
// DpdkSource, once.
//
// Threads: one. counters() may be asked from another only while nothing is sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "wirebook/core/result.hpp"

namespace wirebook::io {

struct DpdkSinkOptions {
    // As DpdkPortOptions::device: "0000:3b:00.0", "net_pcap0,tx_pcap=FILE", "net_af_packet0,...".
    std::string device;
    std::uint16_t mtu = 0;             // bytes after the Ethernet header; 0: as the driver has it
    bool hugepages = true;             // false: ordinary memory (EAL --no-huge), no PCI device
    std::size_t memory_mb = 0;         // MiB; 0: computed where EAL has to be told
    std::uint16_t descriptors = 1024;  // of the transmit queue; the driver may round it
    std::uint16_t burst = 32;          // frames gathered before they are sent, 1 to 512
    std::uint32_t pool_packets = 0;    // 0: as many as needed; else at least that many
    std::uint16_t data_room = 2048;    // longest frame, bytes; 256 to 65,000
    std::uint32_t link_wait_ms = 10'000;
    // The device has taken nothing for so long: what waits is lost, and so is what follows.
    std::uint32_t stall_limit_ms = 10'000;
    std::string file_prefix = "wirebook-sink";
    std::vector<std::string> eal_arguments;  // appended, so they win over the ones made here
};

struct DpdkSinkCounters {
    std::uint64_t frames = 0;  // that the device took
    std::uint64_t bytes = 0;
    std::uint64_t retries = 0;   // calls in which it took less than it was given
    std::uint64_t too_long = 0;  // frames longer than data_room; not sent
    std::uint64_t lost = 0;      // frames given up after stall_limit_ms
};

class DpdkSink {
public:
    // Starts EAL and the device and waits for its link. A link that stays down is a notice,
    // everything else that is wrong an Error, as of DpdkSource::open().
    [[nodiscard]] static Result<DpdkSink> open(const DpdkSinkOptions& options);

    DpdkSink(DpdkSink&&) noexcept;
    DpdkSink& operator=(DpdkSink&&) noexcept;
    DpdkSink(const DpdkSink&) = delete;
    DpdkSink& operator=(const DpdkSink&) = delete;
    ~DpdkSink();

    // Copies the frame. It leaves with the burst that it completes, or with flush(): whoever sends
    // at a pace opens with burst = 1 or flushes. What the device does not take is offered again
    // until it does.
    void send(std::span<const std::byte> frame) noexcept;
    void flush() noexcept;

    [[nodiscard]] DpdkSinkCounters counters() const noexcept;
    // The first failure: frames too long, or given up.
    [[nodiscard]] Status status() const;

    // Flushes, stops the port and EAL. Idempotent; counters stay.
    void close() noexcept;

    [[nodiscard]] bool link_up() const noexcept;
    // Sentences for people: what open() settled otherwise than asked, a link that is down.
    [[nodiscard]] const std::vector<std::string>& notices() const noexcept;
    // One line: device, driver, descriptors, MAC, link.
    [[nodiscard]] std::string description() const;

private:
    struct Impl;
    explicit DpdkSink(std::unique_ptr<Impl> impl) noexcept;

    std::unique_ptr<Impl> impl_;
};

}  // namespace wirebook::io
