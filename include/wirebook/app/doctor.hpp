// `wirebook doctor`: is this host fit to receive? One finding a check; the checks are a table.
//
// Nothing is changed. A finding says what was found, why that matters, and the command that mends
// it; docs/doctor.md lists them all. Cold, one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wirebook/app/config.hpp"
#include "wirebook/app/host.hpp"

namespace wirebook::app {

enum class FindingState : std::uint8_t {
    ok,
    warn,     // works, but slower, or not after the next start
    fail,     // receiving does not work, or not as configured
    unknown,  // this host does not say, or it does not matter here
};
[[nodiscard]] std::string_view to_string(FindingState state) noexcept;

struct Finding {
    std::string_view id;  // "hugepages"
    FindingState state = FindingState::unknown;
    std::string found;
    std::string_view why;  // it matters
    std::string command;   // that mends it; "" where there is nothing to mend, or no command
    bool outside = false;  // it has to run outside this container or virtual machine
};

// Findings in the order of the table, always all of them. `config`: its ports, memory and
// directories are looked at; without one, all NICs of the host.
[[nodiscard]] std::vector<Finding> examine(const HostTree& tree,
                                           const std::optional<Config>& config);

}  // namespace wirebook::app
