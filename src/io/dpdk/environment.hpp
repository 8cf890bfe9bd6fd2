// What DpdkSource and DpdkSink have in common before a port is theirs: options checked, memory
// counted, EAL started once. Control thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "device_name.hpp"
#include "wirebook/core/result.hpp"
#include "wirebook/io/dpdk_source.hpp"

namespace wirebook::io::dpdk {

inline constexpr std::uint16_t most_burst = 512;
inline constexpr std::uint16_t most_pollers = 64;

// Ranges, device strings, files that devices are to read, and whether EAL can still be started in
// this process. Nothing is started.
[[nodiscard]] Result<std::vector<DeviceName>> check_options(const DpdkOptions& options);

// Starts EAL with the memory that pools of these options need, then `start_ports`. An error has
// DPDK's own words; other lines that it logged meanwhile are printed.
[[nodiscard]] std::optional<Error> start_environment(
    const DpdkOptions& options, const std::vector<DeviceName>& devices,
    const std::function<std::optional<Error>()>& start_ports);

}  // namespace wirebook::io::dpdk
