// Which lcore owns which channels, and which queue of which port brings them: docs/dpdk.md,
// "Lcores and queues". A pure function of the configuration, no DPDK; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "wirebook/app/config.hpp"
#include "wirebook/core/result.hpp"
#include "wirebook/io/dpdk_source.hpp"

namespace wirebook::app {

struct LcorePlan {
    std::optional<std::uint32_t> cpu;  // none: wherever the process may run
    std::uint32_t fifo_priority = 0;
    std::vector<std::size_t> channels;  // indices in Config::channels, ascending
};

struct LivePlan {
    std::vector<LcorePlan> lcores;           // at least one; a poller each
    std::vector<io::DpdkPortOptions> ports;  // as Config::ports, with queues, groups and pollers
};

// Channels that no [[lcore]] names go, in the order of the file, to the one without a list that has
// the fewest lines so far. An lcore polls every queue that carries a line of one of its channels.
// EINVAL, naming both channels: a queue would carry lines of channels of two lcores; a channel that
// is named wrongly, twice or by nobody; an lcore without a channel; a CPU that is there twice.
[[nodiscard]] Result<LivePlan> plan_lcores(const Config& config);

}  // namespace wirebook::app
