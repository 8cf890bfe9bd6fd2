// Where the simulated exchange's feed goes: files, multicast of the kernel, a DPDK port. Private
// to src/app.
#pragma once

#include <memory>
#include <string>

#include "sim_settings.hpp"
#include "wirebook/app/options.hpp"
#include "wirebook/core/result.hpp"
#include "wirebook/sim/exchange.hpp"

namespace wirebook::app {

class SimOutlet {
public:
    SimOutlet() = default;
    SimOutlet(const SimOutlet&) = delete;
    SimOutlet& operator=(const SimOutlet&) = delete;
    SimOutlet(SimOutlet&&) = delete;
    SimOutlet& operator=(SimOutlet&&) = delete;
    virtual ~SimOutlet() = default;

    // What the exchange calls; `this` outlives it.
    virtual void connect(sim::ExchangeOutputs& outputs) = 0;
    // What went wrong so far: asked now and then, since a day is long.
    [[nodiscard]] virtual Status status() = 0;
    // Everything out and closed.
    [[nodiscard]] virtual Status finish() = 0;
    // A line for people about what left.
    [[nodiscard]] virtual std::string summary() const = 0;
};

[[nodiscard]] Result<std::unique_ptr<SimOutlet>> open_outlet(const SimOptions& options,
                                                             const Config& config,
                                                             const SimSettings& settings);

}  // namespace wirebook::app
