// `wirebook bind` and `unbind`: hands NICs from the kernel to DPDK and back, through sysfs alone.
//
// A plan is made and judged for all devices before the first write. A device that is already where
// it should be has nothing to do. Cold, one thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "wirebook/app/host.hpp"
#include "wirebook/core/result.hpp"

namespace wirebook::app {

// One device and what is to become of it.
struct BindPlan {
    PciDevice device;
    std::string driver;                 // "": the kernel's own, whichever takes the device
    bool done = false;                  // it is there already
    std::vector<std::string> refusals;  // why not, unless forced
    std::vector<std::string> notes;     // what the user should know
};

// `driver`: "" to unbind. `ssh_connection`: the variable SSH_CONNECTION.
[[nodiscard]] BindPlan plan_bind(const HostTree& tree, PciDevice device, std::string_view driver,
                                 std::string_view ssh_connection);

// What carry_out() writes, as a shell would: "echo TEXT > FILE", a line each.
[[nodiscard]] std::string plan_text(const HostTree& tree, const BindPlan& plan);

// Carries it out, and waits until the new driver has the device. When that fails, the driver that
// had it before gets it back, and the error says so.
[[nodiscard]] Status carry_out(const HostTree& tree, const BindPlan& plan);

// `modprobe NAME`, which may be a device's alias; false where that does not work.
[[nodiscard]] bool load_module(const std::string& name);

}  // namespace wirebook::app
