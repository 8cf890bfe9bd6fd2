// What a started port lets in, and which of its queues gets it: multicast filters and flow rules.
// Control thread only.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "port.hpp"
#include "wirebook/core/result.hpp"

namespace wirebook::io::dpdk {

// Multicast as wanted.reception says; automatic takes the narrowest way that the driver has. A
// driver that has none of them is a notice, one that fails an error.
[[nodiscard]] std::optional<Error> accept_multicast(Port& port, const DpdkPortOptions& wanted,
                                                    std::vector<std::string>& notices);

// One rule a group: UDP to its address and port goes to its queue. All of them or none.
[[nodiscard]] std::optional<Error> steer_groups(Port& port, const DpdkPortOptions& wanted,
                                                std::vector<std::string>& notices);

// The Ethernet addresses of multicast groups, each once, with those that queries come to.
using MacAddress = std::array<std::uint8_t, 6>;
[[nodiscard]] std::vector<MacAddress> mac_list(const std::vector<DpdkGroup>& groups);

}  // namespace wirebook::io::dpdk
