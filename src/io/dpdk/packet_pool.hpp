// How many packets the pools hold, and the pools themselves: one of frames that come in one
// piece, and a small one of long buffers for those that come in several. Control thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "wirebook/core/result.hpp"
#include "wirebook/io/dpdk_memory.hpp"

struct rte_mempool;

namespace wirebook::io::dpdk {

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
