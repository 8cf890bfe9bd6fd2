// The simulated exchange's feed out of a DPDK port. Private to src/app.
#pragma once

#include <memory>

#include "sim_outputs.hpp"

namespace wirebook::app {

// An error (ENOTSUP) where this build has no DPDK.
[[nodiscard]] Result<std::unique_ptr<SimOutlet>> open_port_outlet(const SimOptions& options,
                                                                  const Config& config,
                                                                  const SimSettings& settings);

}  // namespace wirebook::app
