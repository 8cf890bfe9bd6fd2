// What a DpdkPoller polls and counts; see dpdk_poller.hpp. Made on the control thread, then the
// polling thread's.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "environment.hpp"
#include "nic_clock.hpp"
#include "packet_pool.hpp"
#include "port.hpp"
#include "wirebook/core/clock.hpp"
#include "wirebook/io/dpdk_poller.hpp"

struct rte_mbuf;
struct rte_ring;

namespace wirebook::io::dpdk {

struct QueuePoll {
    std::uint16_t port_id = 0;  // DPDK's
    std::uint16_t queue = 0;
    std::uint16_t input = 0;  // index in DpdkOptions::ports
};

// A receive time and where it comes from.
struct Stamp {
    std::int64_t time_ns = 0;
    wire::TimeSource source = wire::TimeSource::software;
};

// Where a driver puts a packet's stamp, once some driver has registered the place.
struct StampPlace {
    std::uintptr_t offset = 0;  // in an mbuf, bytes
    std::uint64_t flag = 0;     // in ol_flags: this mbuf has one
};
[[nodiscard]] StampPlace find_stamp_place();

// Of the ports, for all pollers; by index in DpdkOptions::ports.
struct PollerInput {
    Stamps stamps = Stamps::none;     // what is known of them by now
    const NicClock* clock = nullptr;  // where the NIC's can be read
    std::uint64_t next_record = 0;
};

struct PollerState {
    std::vector<QueuePoll> queues;
    std::size_t next = 0;  // where the next round starts
    std::vector<PollerInput> inputs;
    StampPlace stamp_place;
    TscClock clock;
    std::uint16_t burst_limit = 0;
    std::uint32_t linear_bytes = 0;
    PacketPools pools;
    rte_ring* offered = nullptr;
    bool registered = false;  // the polling thread, with DPDK
    std::uint64_t empty_rounds = 0;
    // One writer, the polling thread; read by the control thread.
    std::atomic<std::uint64_t> last_receive_tsc{0};
    std::atomic<std::uint64_t> linearised{0};
    std::atomic<std::uint64_t> cut{0};
    std::atomic<std::uint64_t> unoffered{0};
    std::array<rte_mbuf*, most_burst> burst{};

    std::size_t poll_queue(const QueuePoll& from, std::span<wire::Packet> out) noexcept;
    [[nodiscard]] Stamp stamp_of(const rte_mbuf* mbuf, PollerInput& input,
                                 Stamp by_tsc) const noexcept;
    [[nodiscard]] rte_mbuf* in_one_piece(rte_mbuf* chain) noexcept;
};

}  // namespace wirebook::io::dpdk
