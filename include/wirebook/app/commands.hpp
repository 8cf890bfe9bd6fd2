// The commands of the program; each returns the exit status. Cold, one thread.
#pragma once

#include "wirebook/app/options.hpp"

namespace wirebook::app {

// Capture files through the whole path (docs/replay.md).
[[nodiscard]] int run_replay(const ReplayOptions& options);
// Packets of DPDK ports through the same path (docs/dpdk.md). Exit status 3 with what to do where
// this build has no DPDK.
[[nodiscard]] int run_live(const RunOptions& options);

// A trading day of the simulated exchange (docs/simulator.md).
[[nodiscard]] int run_sim(const SimOptions& options);

// Is this host fit to receive? (docs/doctor.md). 3 where a finding is a failure.
[[nodiscard]] int run_doctor(const DoctorOptions& options);
// NICs from the kernel to DPDK and back. 2 for a device that is not there, 3 where it may not go.
[[nodiscard]] int run_bind(const BindOptions& options);

}  // namespace wirebook::app
