// Sizes of the packet pools and their creation; see packet_pool.hpp.
#include "packet_pool.hpp"

#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <algorithm>
#include <cerrno>

#include "eal_log.hpp"

namespace wirebook::io::dpdk {

namespace {

constexpr std::size_t mebibyte = 1u << 20;
static_assert(mbuf_headroom_bytes == RTE_PKTMBUF_HEADROOM);

Error no_memory(const DpdkOptions& options, std::uint32_t packets) {
    const int code = rte_errno;
    const std::size_t mb = pool_bytes(options, packets) / mebibyte + 1;
    std::string text = "packet pool: " + std::to_string(packets) + " packets need about " +
                       std::to_string(mb) + " MiB: " + rte_strerror(code) + "; ";
    if (options.hugepages) {
        text += "reserve hugepages: bash dpdk-config/hugepages.sh reserve " +
                std::to_string(mb / 2 + 1);
    } else {
        text += "give memory_mb = " + std::to_string(mb) + " or more, or leave it out";
    }
    const std::string log = take_gathered();
    return Error{code == 0 ? ENOMEM : code, log.empty() ? text : text + " (" + log + ")"};
}

}  // namespace

Result<PacketPools> create_pools(const DpdkOptions& options, PoolDemand demand, int numa_node) {
    const std::uint32_t least = least_pool_packets(options, demand);
    if (options.pool_packets != 0 && options.pool_packets < least) {
        return Error{EINVAL, "packet pool: " + std::to_string(options.pool_packets) +
                                 " packets are too few: at least " + std::to_string(least) +
                                 " (descriptors " + std::to_string(demand.descriptors) +
                                 ", bursts " + std::to_string(2 * demand.queues * options.burst) +
                                 ", caches " + std::to_string(2 * options.cache * demand.threads) +
                                 ", parked " + std::to_string(options.parked_packets) +
                                 ", margin " + std::to_string(pool_margin_packets) + ")"};
    }
    PacketPools pools;
    pools.frame_count = std::max(options.pool_packets, least);
    pools.frames = rte_pktmbuf_pool_create(
        "wirebook_frames", pools.frame_count, options.cache, 0,
        static_cast<std::uint16_t>(options.data_room + RTE_PKTMBUF_HEADROOM), numa_node);
    if (pools.frames == nullptr) return no_memory(options, pools.frame_count);
    if (options.linear_frames != 0) {
        pools.linear = rte_pktmbuf_pool_create(
            "wirebook_linear", options.linear_frames, 0, 0,
            static_cast<std::uint16_t>(options.linear_bytes + RTE_PKTMBUF_HEADROOM), numa_node);
        if (pools.linear == nullptr) {
            const Error error = no_memory(options, pools.frame_count);
            free_pools(pools);
            return error;
        }
    }
    return pools;
}

void free_pools(PacketPools& pools) noexcept {
    rte_mempool_free(pools.linear);
    rte_mempool_free(pools.frames);
    pools = {};
}

}  // namespace wirebook::io::dpdk
