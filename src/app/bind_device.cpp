// One device from driver to driver; see bind.hpp. What the kernel offers for that
// (Documentation/ABI/testing/sysfs-bus-pci): `driver_override` names the only driver that may take
// the device, `unbind` takes it from its driver, `drivers_probe` offers it to all drivers.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <thread>

#include "wirebook/app/bind.hpp"

namespace wirebook::app {

namespace {

constexpr const char* probe_file = "/sys/bus/pci/drivers_probe";

struct Write {
    std::string file;
    std::string text;
};

std::vector<Write> writes_of(const BindPlan& plan) {
    const PciDevice& device = plan.device;
    // An empty line lifts the override.
    std::vector<Write> writes{{device.folder() + "/driver_override", plan.driver + "\n"}};
    if (!device.driver.empty())
        writes.push_back({"/sys/bus/pci/drivers/" + device.driver + "/unbind", device.address});
    writes.push_back({probe_file, device.address});
    return writes;
}

// Some drivers take a device only after the write has returned.
template <class Condition>
bool wait_until(const Condition& condition) {
    for (int i = 0; i < 200; ++i) {
        if (condition()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return condition();
}

std::string driver_of(const HostTree& tree, const PciDevice& device) {
    return tree.link_name(device.folder() + "/driver");
}

bool arrived(const HostTree& tree, const BindPlan& plan) {
    const std::string driver = driver_of(tree, plan.device);
    return plan.driver.empty() ? !driver.empty() && !is_userspace_driver(driver)
                               : driver == plan.driver;
}

Status write_all(const HostTree& tree, const BindPlan& plan) {
    for (const Write& write : writes_of(plan)) {
        if (Status status = tree.write(write.file, write.text); !status) {
            // The probe's answer is the driver's; what became of the device says arrived().
            if (write.file != probe_file) return status;
        }
        if (write.file.ends_with("/unbind"))
            wait_until([&] { return driver_of(tree, plan.device).empty(); });
    }
    return Ok{};
}

// The driver of before gets the device back, as far as that goes.
std::string put_back(const HostTree& tree, const BindPlan& plan) {
    BindPlan back = plan;
    const std::string before = plan.device.driver;
    if (driver_of(tree, plan.device) == before) {
        static_cast<void>(tree.write(plan.device.folder() + "/driver_override",
                                     (is_userspace_driver(before) ? before : "") + "\n"));
        return before.empty() ? "" : "; " + before + " keeps it";
    }
    back.device.driver = driver_of(tree, plan.device);
    back.driver = is_userspace_driver(before) ? before : "";
    const Status written = write_all(tree, back);
    const bool good =
        written.ok() && wait_until([&] { return driver_of(tree, plan.device) == before; });
    return before.empty() ? "" : "; " + before + (good ? " has it back" : " did not take it back");
}

}  // namespace

bool load_module(const std::string& name) {
    std::string program = "modprobe", argument = name, end_of_options = "--";
    std::array<char*, 4> argv{program.data(), end_of_options.data(), argument.data(), nullptr};
    ::pid_t child = 0;
    if (::posix_spawnp(&child, program.c_str(), nullptr, nullptr, argv.data(), environ) != 0)
        return false;
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status == 0;
}

std::string plan_text(const HostTree& tree, const BindPlan& plan) {
    std::string text;
    for (const Write& write : writes_of(plan)) {
        const bool line = write.text.ends_with('\n');
        text += "echo " + write.text.substr(0, write.text.size() - (line ? 1 : 0)) +
                (write.text == "\n" ? "" : " ") + "> " + tree.path(write.file) + "\n";
    }
    return text;
}

Status carry_out(const HostTree& tree, const BindPlan& plan) {
    const std::string what = (plan.driver.empty() ? "give back " : "bind ") + plan.device.address;
    Status written = write_all(tree, plan);
    if (written && wait_until([&] { return arrived(tree, plan); })) return Ok{};
    if (written && plan.driver.empty() && tree.live()) {
        // The driver may not be loaded yet: it is found by what the device says of itself.
        const std::string alias = tree.text(plan.device.folder() + "/modalias");
        if (load_module(alias) && tree.write(probe_file, plan.device.address) &&
            wait_until([&] { return arrived(tree, plan); }))
            return Ok{};
    }
    const int code = written ? ENODEV : written.error().code;
    const std::string reason =
        !written              ? written.error().context
        : plan.driver.empty() ? "no kernel driver takes it; load the driver that made the "
                                "interface before: sudo modprobe \"$(cat " +
                                    tree.path(plan.device.folder()) + "/modalias)\""
                              : plan.driver + " does not take it; the reason: sudo dmesg | tail";
    return Error{code, what + ": " + reason + put_back(tree, plan)};
}

}  // namespace wirebook::app
