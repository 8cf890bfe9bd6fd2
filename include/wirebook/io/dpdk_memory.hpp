// How many packets DPDK's pools must hold, and the memory that they take: arithmetic that the ports
// and whoever plans for them share. No DPDK here; any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "wirebook/io/dpdk_source.hpp"

namespace wirebook::io {

// What takes packets out of the pool at the same time.
struct PoolDemand {
    std::uint32_t queues = 0;
    std::uint32_t descriptors = 0;  // of all queues together
    std::uint32_t threads = 1;      // that have a cache of free packets
};

inline constexpr std::uint32_t pool_margin_packets = 256;  // vector drivers refill 32 or 64 at once
inline constexpr std::size_t mbuf_headroom_bytes = 128;
// mbuf, headroom, mempool header and trailer, colouring
inline constexpr std::size_t bytes_beside_data = 128 + mbuf_headroom_bytes + 64 + 64;
inline constexpr std::size_t eal_bytes = 24U << 20U;  // EAL's own tables, service cores, alignment

// Everything that can hold a packet at once, so that a queue always finds a free one: descriptors,
// a burst on its way in and one in the caller's hands for each queue, the threads' caches (which
// DPDK lets grow to 1.5 times their size, plus the burst being freed), what is parked.
[[nodiscard]] constexpr std::uint32_t least_pool_packets(const DpdkOptions& options,
                                                         PoolDemand demand) noexcept {
    return demand.descriptors + 2U * demand.queues * options.burst +
           2U * options.cache * demand.threads + options.parked_packets + pool_margin_packets;
}

// Memory that EAL needs for pools of that size, with its own rings and tables, bytes; a bit high.
[[nodiscard]] constexpr std::size_t pool_bytes(const DpdkOptions& options,
                                               std::uint32_t packets) noexcept {
    // 16: a slot of the pool's ring, whose size is a power of two
    const std::size_t frames = packets * (options.data_room + bytes_beside_data + 16);
    const std::size_t linear =
        options.linear_frames * (options.linear_bytes + bytes_beside_data + 16);
    return frames + linear + eal_bytes;
}

}  // namespace wirebook::io
