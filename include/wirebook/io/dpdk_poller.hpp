// One polling thread's share of the DPDK ports: the receive queues that it alone asks.
//
// A Source like the capture source: receive() a burst, release() the packets, in any order and any
// number of bursts later. Made by DpdkSource::open(), which owns it. No DPDK type shows here; a
// packet's owner is its mbuf. io may include core and wire only.
//
// Threads: one polling thread, from enter() to leave(). counters() and last_receive_tsc() may be
// called from the control thread meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "wirebook/core/result.hpp"
#include "wirebook/wire/packet.hpp"

namespace wirebook::io {

struct DpdkCounters {
    std::uint64_t linearised = 0;  // frames in several pieces, copied into one
    std::uint64_t cut = 0;         // of those, handed over with bytes < original_bytes
    std::uint64_t unoffered = 0;   // frames for the control thread that its full queue refused
};

namespace dpdk {
struct PollerState;
}

class DpdkPoller {
public:
    explicit DpdkPoller(std::unique_ptr<dpdk::PollerState> state) noexcept;
    DpdkPoller(DpdkPoller&&) noexcept;
    DpdkPoller& operator=(DpdkPoller&&) noexcept;
    DpdkPoller(const DpdkPoller&) = delete;
    DpdkPoller& operator=(const DpdkPoller&) = delete;
    ~DpdkPoller();

    // The calling thread becomes the polling one: DPDK keeps a cache of free packets for it. To be
    // called by threads other than the one that opened the ports; leave() before the thread ends.
    [[nodiscard]] Status enter() noexcept;
    void leave() noexcept;

    // Up to out.size() packets, at most options.burst of each queue, fairly over all queues; 0:
    // nothing there now. receive_tsc is read once for each queue's burst. receive_time_ns and
    // time_source, by the port: net_pcap's are the file's (whole microseconds); a NIC's stamp that
    // is UTC, or that its readable clock turns into UTC (nic); a NIC's stamp as it is
    // (nic_unsynchronised); else that tsc (software). `input` is the index of the port in
    // options.ports, `record` counts in it and in this poller.
    [[nodiscard]] std::size_t receive(std::span<wire::Packet> out) noexcept;
    // Each packet received is given back exactly once.
    void release(std::span<const wire::Packet> packets) noexcept;
    // The packet is for the control thread too (DpdkSource::take_offered), and still to be given
    // back here. Costs an atomic increment; for the rare frame that is not of a feed.
    void offer(const wire::Packet& packet) noexcept;

    // A port never ends: a net_pcap file that is read to its end is a port without traffic.
    [[nodiscard]] bool finished() const noexcept { return false; }
    [[nodiscard]] std::optional<Error> error() const { return std::nullopt; }
    // Calls of receive() in a row that found nothing.
    [[nodiscard]] std::uint64_t empty_rounds() const noexcept;
    // TSC of the last packet received, at first of open().
    [[nodiscard]] std::uint64_t last_receive_tsc() const noexcept;
    [[nodiscard]] DpdkCounters counters() const noexcept;

private:
    std::unique_ptr<dpdk::PollerState> state_;
};

}  // namespace wirebook::io
