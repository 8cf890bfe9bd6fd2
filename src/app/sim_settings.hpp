// What `wirebook sim` is to do: command line over configuration over defaults. Private to src/app.
#pragma once

#include "wirebook/app/config.hpp"
#include "wirebook/app/options.hpp"
#include "wirebook/core/result.hpp"
#include "wirebook/sim/exchange.hpp"

namespace wirebook::app {

struct SimSettings {
    sim::ExchangeOptions exchange;
    double speed = 0;  // 0: as fast as possible
};

// The error is wrong usage: what does not go together, or cannot be simulated.
[[nodiscard]] Result<SimSettings> sim_settings(const SimOptions& options, const Config& config);

}  // namespace wirebook::app
