// The commands bind and unbind: which devices, may they go, then one after the other. See bind.hpp.
#include "wirebook/app/bind.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "config_values.hpp"
#include "wirebook/app/commands.hpp"
#include "wirebook/app/config.hpp"
#include "wirebook/app/setup.hpp"

namespace wirebook::app {

namespace {

std::string joined_with(const std::vector<std::string>& parts, const std::string& between) {
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? "" : between) + part;
    return text;
}

void judge_bind(const HostTree& tree, std::string_view ssh_connection, BindPlan& plan) {
    const PciDevice& device = plan.device;
    if (!device.is_network()) plan.refusals.push_back("it is not a network device");
    if (is_bifurcated(device.driver))
        plan.refusals.push_back("DPDK receives from it while " + device.driver +
                                " keeps it: there is nothing to bind");
    for (const std::string& interface : device.interfaces) {
        const std::vector<std::string> uses = uses_of(tree, interface, ssh_connection);
        if (!uses.empty())
            plan.refusals.push_back("its interface " + interface + " carries " +
                                    joined_with(uses, ", "));
    }
    const bool unsafe = tree.text("/sys/module/vfio/parameters/enable_unsafe_noiommu_mode") == "Y";
    if (plan.driver == "vfio-pci" && device.iommu_group.empty() && !unsafe)
        plan.refusals.push_back(
            "it is in no IOMMU group, and vfio-pci wants one: switch the IOMMU on (sudo bash "
            "dpdk-config/isolate-cores.sh --iommu --apply), or use --driver uio_pci_generic");
    for (const PciDevice& other : iommu_neighbours(tree, device)) {
        const bool free = other.driver.empty() || is_userspace_driver(other.driver);
        plan.notes.push_back(other.to_string() + " is in its IOMMU group " + device.iommu_group +
                             (free ? "" : " and has to be bound or without a driver, too"));
    }
}

// "eth1", "3b:00.0" and "0000:3b:00.0" name a device.
std::optional<PciDevice> find_device(const HostTree& tree, const std::string& name) {
    if (is_pci_address(name)) return read_pci_device(tree, full_pci_address(name));
    for (PciDevice& nic : read_nics(tree)) {
        if (std::find(nic.interfaces.begin(), nic.interfaces.end(), name) != nic.interfaces.end())
            return std::move(nic);
    }
    return std::nullopt;
}

int unknown_device(const HostTree& tree, const std::string& name) {
    std::string known;
    for (const PciDevice& nic : read_nics(tree)) known += "\n  " + nic.to_string();
    return fail(exit_usage, "there is no PCI device " + in_quotes(name) +
                                (known.empty() ? "; this machine has no NIC on a PCI bus"
                                               : "; the NICs of this machine:" + known));
}

// The PCI ports of the configuration that have to be bound.
Result<std::vector<std::string>> addresses_of(const HostTree& tree, const std::string& file) {
    Result<Config> config = load_config(file, ConfigUse::either);
    if (!config) return Error{EINVAL, config.error().context};
    std::vector<std::string> addresses;
    for (const PortConfig& port : config.value().ports) {
        if (!port.is_pci()) continue;
        const std::string address = full_pci_address(port.device);
        const auto device = read_pci_device(tree, address);
        if (device && is_bifurcated(device->driver)) {
            std::fprintf(stderr, "wirebook: %s stays with its kernel driver %s\n", address.c_str(),
                         device->driver.c_str());
            continue;
        }
        addresses.push_back(address);
    }
    return addresses;
}

bool is_driver_there(const HostTree& tree, const BindOptions& options) {
    const std::string folder = "/sys/bus/pci/drivers/" + options.driver;
    if (tree.exists(folder)) return true;
    if (options.dry_run) {
        std::printf("modprobe %s\n", options.driver.c_str());
        return true;
    }
    return tree.live() && load_module(options.driver) && tree.exists(folder);
}

// Prints notes and refusals; true where the plan may be carried out.
bool may_go(const BindPlan& plan, bool force) {
    const std::string& address = plan.device.address;
    for (const std::string& note : plan.notes)
        std::fprintf(stderr, "wirebook: %s: note: %s\n", address.c_str(), note.c_str());
    for (const std::string& refusal : plan.refusals)
        std::fprintf(stderr, "wirebook: %s: %s%s\n", address.c_str(),
                     force ? "forced, although " : "not touched: ", refusal.c_str());
    return force || plan.refusals.empty();
}

int carry_out_all(const HostTree& tree, const std::vector<BindPlan>& plans,
                  const BindOptions& options) {
    for (const BindPlan& plan : plans) {
        if (plan.done) {
            std::fprintf(stderr, "wirebook: nothing to do: %s\n", plan.device.to_string().c_str());
            continue;
        }
        if (options.dry_run) {
            std::fputs(plan_text(tree, plan).c_str(), stdout);
            continue;
        }
        if (const Status status = carry_out(tree, plan); !status) {
            const int code = status.error().code;
            return fail(exit_host, status.error().context +
                                       (code == EACCES || code == EPERM ? "; root may: sudo" : ""));
        }
        const auto now = read_pci_device(tree, plan.device.address);
        std::fprintf(stderr, "wirebook: %s: before %s\n",
                     (now ? *now : plan.device).to_string().c_str(),
                     plan.device.driver.empty() ? "no driver" : plan.device.driver.c_str());
    }
    return exit_done;
}

}  // namespace

BindPlan plan_bind(const HostTree& tree, PciDevice device, std::string_view driver,
                   std::string_view ssh_connection) {
    BindPlan plan;
    plan.device = std::move(device);
    plan.driver = driver;
    if (driver.empty()) {
        plan.done = !plan.device.driver.empty() && !is_userspace_driver(plan.device.driver);
    } else {
        plan.done = plan.device.driver == driver;
    }
    if (plan.done) return plan;
    // A device that a program holds is not given up before the program ends: the write would wait.
    const std::vector<std::string> users = users_of(tree, plan.device);
    if (!users.empty()) plan.refusals.push_back("it is in use by " + joined_with(users, ", "));
    if (!driver.empty()) judge_bind(tree, ssh_connection, plan);
    return plan;
}

int run_bind(const BindOptions& options) {
    const HostTree tree{options.root};
    std::vector<std::string> names = options.devices;
    if (!options.config_file.empty()) {
        auto configured = addresses_of(tree, options.config_file);
        if (!configured) return fail(exit_usage, configured.error().context);
        names.insert(names.end(), configured.value().begin(), configured.value().end());
        if (names.empty())
            std::fprintf(stderr, "wirebook: no port of %s has to be bound\n",
                         options.config_file.c_str());
    }
    const char* session = std::getenv("SSH_CONNECTION");  // NOLINT(concurrency-mt-unsafe)
    std::vector<BindPlan> plans;
    bool driver_needed = false, refused = false;
    for (const std::string& name : names) {
        auto device = find_device(tree, name);
        if (!device) return unknown_device(tree, name);
        const bool twice = std::any_of(plans.begin(), plans.end(), [&](const BindPlan& plan) {
            return plan.device.address == device->address;
        });
        if (twice) continue;
        plans.push_back(plan_bind(tree, std::move(*device), options.unbind ? "" : options.driver,
                                  session == nullptr ? "" : session));
        driver_needed = driver_needed || (!plans.back().done && !options.unbind);
    }
    for (const BindPlan& plan : plans) refused = !may_go(plan, options.force) || refused;
    if (refused) return fail(exit_host, "nothing was changed; --force does it all the same");
    if (driver_needed && !is_driver_there(tree, options))
        return fail(exit_host, "the driver " + options.driver + " is not loaded: sudo modprobe " +
                                   options.driver);
    return carry_out_all(tree, plans, options);
}

}  // namespace wirebook::app
