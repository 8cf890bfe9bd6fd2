// DPDK's environment (EAL): the arguments it is started with, and its one start and stop in a
// process. Control thread only.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "device_name.hpp"
#include "wirebook/core/result.hpp"
#include "wirebook/io/dpdk_source.hpp"

namespace wirebook::io::dpdk {

// argv for rte_eal_init, argv[0] included. Without PCI devices --no-pci, since EAL would otherwise
// probe, and for a device bound to vfio-pci take, every card of the machine. --in-memory (or
// --no-shconf, the part of it that goes with --no-huge) leaves no file behind, even after SIGKILL.
// One lcore that may run wherever the calling thread might: threads are pinned by the program, not
// by EAL.
[[nodiscard]] std::vector<std::string> eal_arguments(const DpdkOptions& options,
                                                     const std::vector<DeviceName>& devices,
                                                     std::size_t memory_mb);

// Free memory in hugepages of all sizes, bytes; nothing where the kernel does not say.
[[nodiscard]] std::optional<std::size_t> free_hugepage_bytes();

// Whether EAL was ever started in this process, which rules out another start.
[[nodiscard]] bool eal_was_started() noexcept;

[[nodiscard]] std::optional<Error> start_eal(const std::vector<std::string>& arguments);
// After the last port and pool are gone. No effect where EAL does not run.
void stop_eal() noexcept;

}  // namespace wirebook::io::dpdk
