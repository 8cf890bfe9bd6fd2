// DPDK's rte_mempool in pool_bench. All that is DPDK's is in mempool.cpp.
#pragma once

#include "pools/object.hpp"

#include "pools/measure.hpp"

namespace wirebook::bench {

// With a cache of 512 objects a thread. Empty, and a line on stderr: EAL did not start.
std::vector<Row> measure_mempool(const Settings& settings);

}  // namespace wirebook::bench
