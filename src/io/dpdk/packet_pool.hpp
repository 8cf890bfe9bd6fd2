// How many packets the pools hold, and the pools themselves: one of frames that come in one
// piece, and a small one of long buffers for those that come in several. Control thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "wirebook/core/result.hpp"
#include "wirebook/io/dpdk_source.hpp"

struct rte_mempool;

namespace wirebook::io::dpdk {

// What takes packets out of the pool at the same time.
struct PoolDemand {
    std::uint32_t queues = 0;
    std::uint32_t descriptors = 0;  // of all queues together
};

// Everything that can hold a packet at once, so that a queue always finds a free one:
// descriptors, a burst on its way in and one in the caller's hands for each queue, the lcore's
// cache (which DPDK lets grow to 1.5 times its size, plus the burst being freed), what is parked.
[[nodiscard]] std::uint32_t least_pool_packets(const DpdkOptions& options, PoolDemand demand);

// Memory that EAL needs for pools of that size, with its own rings and tables, bytes; a bit high.
[[nodiscard]] std::size_t pool_bytes(const DpdkOptions& options, std::uint32_t packets);

struct PacketPools {
    rte_mempool* frames = nullptr;
    rte_mempool* linear = nullptr;
    std::uint32_t frame_count = 0;
};

// ENOMEM where the memory is not enough, EINVAL where options.pool_packets is less than the least
// number (which the error names).
[[nodiscard]] Result<PacketPools> create_pools(const DpdkOptions& options, PoolDemand demand,
                                               int numa_node);
void free_pools(PacketPools& pools) noexcept;

}  // namespace wirebook::io::dpdk
