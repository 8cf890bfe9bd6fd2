// Checks of `wirebook doctor`: IOMMU, vfio, NICs and their links. See doctor_checks.hpp.
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "doctor_checks.hpp"

namespace wirebook::app {

namespace {

constexpr const char* no_port_needs_it = "no port of the configuration needs it";

// The NIC's firmware, by its kernel driver: only the running kernel can tell, in general.
std::string firmware_of(const HostTree& tree, const PciDevice& nic) {
    for (const std::string& name : tree.list(nic.folder() + "/infiniband")) {
        std::string version = tree.text(nic.folder() + "/infiniband/" + name + "/fw_ver");
        if (!version.empty()) return version;
    }
    if (!tree.live() || nic.interfaces.empty()) return "";
    const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (socket < 0) return "";
    ::ethtool_drvinfo info{};
    info.cmd = ETHTOOL_GDRVINFO;
    ::ifreq request{};
    const std::string& name = nic.interfaces.front();
    std::memcpy(request.ifr_name, name.data(), std::min<std::size_t>(name.size(), IFNAMSIZ - 1));
    void* const data = &info;
    request.ifr_data = static_cast<char*>(data);
    const bool answered = ::ioctl(socket, SIOCETHTOOL, &request) == 0;
    ::close(socket);
    return answered
               ? std::string{info.fw_version, ::strnlen(info.fw_version, sizeof info.fw_version)}
               : "";
}

std::string nic_text(const HostTree& tree, const PciDevice& nic) {
    const std::string firmware = firmware_of(tree, nic);
    return nic.to_string() + (firmware.empty() ? "" : " firmware " + firmware);
}

bool is_held_for_us(const PciDevice& nic) {
    return is_userspace_driver(nic.driver) || is_bifurcated(nic.driver);
}

std::string bind_command(const std::vector<std::string>& addresses) {
    std::string command = "sudo build/wirebook bind";
    for (const std::string& address : addresses) command += " " + address;
    return command;
}

Verdict configured_drivers(const Patient& patient) {
    std::vector<std::string> good, missing, kernel;
    for (const PortConfig& port : patient.config->ports) {
        if (!port.is_pci()) continue;
        const std::string address = full_pci_address(port.device);
        const auto nic = read_pci_device(patient.tree, address);
        if (!nic) {
            missing.push_back("there is no PCI device " + address);
        } else if (!is_held_for_us(*nic)) {
            kernel.push_back(address);
        } else {
            good.push_back(nic_text(patient.tree, *nic));
        }
    }
    for (const std::string& name : patient.named_interfaces()) {
        if (patient.tree.exists("/sys/class/net/" + name)) {
            good.push_back("interface " + name);
        } else {
            missing.push_back("there is no interface " + name);
        }
    }
    if (!missing.empty()) return {FindingState::fail, joined(missing), "ip -br link; lspci -D"};
    if (!kernel.empty())
        return {FindingState::fail, "not bound for DPDK: " + joined(kernel), bind_command(kernel)};
    if (good.empty()) return {FindingState::unknown, no_port_needs_it, ""};
    return {FindingState::ok, joined(good), ""};
}

}  // namespace

bool Patient::wants_binding() const {
    if (!config) return true;
    return std::any_of(config->ports.begin(), config->ports.end(), [&](const PortConfig& port) {
        if (!port.is_pci()) return false;
        const auto nic = read_pci_device(tree, full_pci_address(port.device));
        return !nic || !is_bifurcated(nic->driver);
    });
}

std::vector<std::string> Patient::named_interfaces() const {
    std::vector<std::string> names;
    if (!config) return names;
    for (const PortConfig& port : config->ports) {
        if (!port.interface.empty()) {
            names.push_back(port.interface);
            continue;
        }
        constexpr std::string_view key = "iface=";  // rx_iface= of net_pcap, too
        const std::size_t at = port.device.find(key);
        if (port.is_pci() || at == port.device.npos) continue;
        const std::string rest = port.device.substr(at + key.size());
        names.push_back(rest.substr(0, rest.find(',')));
    }
    return names;
}

Verdict check_iommu(const Patient& patient) {
    const std::size_t groups = patient.tree.list("/sys/kernel/iommu_groups").size();
    if (groups > 0) {
        return {FindingState::ok,
                std::to_string(groups) + " groups (" +
                    joined(patient.tree.list("/sys/class/iommu")) + ")",
                ""};
    }
    if (!patient.wants_binding()) return {FindingState::unknown, no_port_needs_it, ""};
    for (const PciDevice& nic : patient.nics) {
        if (nic.driver == "uio_pci_generic" || nic.driver == "igb_uio")
            return {FindingState::ok, "none; " + nic.address + " does without, with " + nic.driver,
                    ""};
    }
    const bool unsafe =
        patient.tree.text("/sys/module/vfio/parameters/enable_unsafe_noiommu_mode") == "Y";
    if (unsafe) return {FindingState::warn, "none; vfio works without protection", ""};
    return {FindingState::fail, "none; switch it on in the firmware's set-up (VT-d, AMD-Vi) too",
            "sudo bash dpdk-config/isolate-cores.sh --iommu --apply   # then restart; or without "
            "an IOMMU: sudo build/wirebook bind PCI --driver uio_pci_generic"};
}

Verdict check_vfio(const Patient& patient) {
    if (!patient.wants_binding()) return {FindingState::unknown, no_port_needs_it, ""};
    if (!patient.nics.empty() &&
        std::all_of(patient.nics.begin(), patient.nics.end(), [](const PciDevice& nic) {
            return is_userspace_driver(nic.driver) && nic.driver != "vfio-pci";
        }))
        return {FindingState::ok, "not needed: the NICs do without it", ""};
    const bool driver = patient.tree.exists("/sys/bus/pci/drivers/vfio-pci");
    const bool device = patient.tree.exists("/dev/vfio/vfio");
    const bool iommu = patient.tree.exists("/sys/module/vfio_iommu_type1");
    if (driver && device && !iommu) {
        return {FindingState::fail, "vfio-pci is loaded, vfio_iommu_type1 is not",
                "sudo modprobe vfio_iommu_type1"};
    }
    if (driver && device) return {FindingState::ok, "vfio-pci is loaded", ""};
    return {FindingState::fail, driver ? "/dev/vfio/vfio is missing" : "vfio-pci is not loaded",
            "sudo bash dpdk-config/vfio.sh load --persist"};
}

Verdict check_iommu_group(const Patient& patient) {
    std::vector<std::string> kept, addresses;
    std::size_t held = 0;
    for (const PciDevice& nic : patient.nics) {
        if (nic.driver != "vfio-pci") continue;
        ++held;
        for (const PciDevice& other : iommu_neighbours(patient.tree, nic)) {
            if (other.driver.empty() || other.driver == "vfio-pci" || other.driver == "pci-stub")
                continue;
            kept.push_back(nic.address + " shares group " + nic.iommu_group + " with " +
                           other.to_string());
            addresses.push_back(other.address);
        }
    }
    if (held == 0) return {FindingState::unknown, "no NIC is bound to vfio-pci", ""};
    if (kept.empty()) return {FindingState::ok, "nothing else is in the groups of the NICs", ""};
    return {FindingState::fail, joined(kept), bind_command(addresses)};
}

Verdict check_secure_boot(const Patient& patient) {
    // Four bytes of attributes, then 1 for on.
    const std::string value = patient.tree.text(
        "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c");
    if (value.size() != 5 || value.back() != 1) return {FindingState::ok, "off", ""};
    if (!patient.tree.list("/sys/kernel/iommu_groups").empty())
        return {FindingState::ok, "on; vfio-pci works with it", ""};
    return {patient.wants_binding() ? FindingState::fail : FindingState::ok,
            "on, and there is no IOMMU",
            "sudo bash dpdk-config/isolate-cores.sh --iommu --apply   # then restart; or switch "
            "secure boot off: sudo mokutil --disable-validation"};
}

Verdict check_nic_driver(const Patient& patient) {
    if (patient.config) return configured_drivers(patient);
    std::vector<std::string> all;
    bool held = false;
    for (const PciDevice& nic : patient.nics) {
        all.push_back(nic_text(patient.tree, nic));
        held = held || is_held_for_us(nic);
    }
    if (all.empty()) return {FindingState::warn, "there is no NIC on a PCI bus", "lspci -D"};
    if (held) return {FindingState::ok, joined(all), ""};
    for (const PciDevice& nic : patient.nics) {
        const bool used = std::any_of(nic.interfaces.begin(), nic.interfaces.end(),
                                      [&](const std::string& interface) {
                                          return !uses_of(patient.tree, interface, "").empty();
                                      });
        if (!used)
            return {FindingState::warn, "none is bound for DPDK: " + joined(all),
                    bind_command({nic.address})};
    }
    return {FindingState::warn, "all NICs are in use by the kernel: " + joined(all),
            "cp dpdk-config/samples/af_packet.toml my.toml   # shares a NIC with the kernel"};
}

Verdict check_link(const Patient& patient) {
    std::vector<std::string> interfaces = patient.named_interfaces();
    for (const PciDevice& nic : patient.nics)
        interfaces.insert(interfaces.end(), nic.interfaces.begin(), nic.interfaces.end());
    std::vector<std::string> states, down;
    for (const std::string& name : interfaces) {
        const std::string folder = "/sys/class/net/" + name;
        if (patient.tree.number(folder + "/carrier").value_or(0) != 1) {
            states.push_back(name + " down");
            down.push_back(name);
            continue;
        }
        const auto speed = patient.tree.number(folder + "/speed");
        states.push_back(name + " up" +
                         (speed && *speed > 0 ? ", " + std::to_string(*speed) + " Mb/s" : ""));
    }
    if (states.empty())
        return {FindingState::unknown, "run sees it when it starts: no kernel driver has the NIC",
                ""};
    // Without a configuration a port without a cable is nobody's loss.
    const bool good = patient.config ? down.empty() : down.size() < states.size();
    return {good ? FindingState::ok : FindingState::warn, joined(states),
            good ? "" : "sudo ip link set " + down.front() + " up"};
}

Verdict check_nic_numa(const Patient& patient) {
    if (!patient.tree.exists("/sys/devices/system/node/node1"))
        return {FindingState::ok, "one NUMA node", ""};
    std::vector<std::string> found;
    for (const PciDevice& nic : patient.nics) {
        if (nic.numa_node < 0 || !patient.is_for_feed(nic)) continue;
        const CpuSet near = node_cpus(patient.tree, nic.numa_node);
        const CpuSet& polling = patient.polling();
        const bool any = std::any_of(polling.begin(), polling.end(),
                                     [&](unsigned cpu) { return near.contains(cpu); });
        const std::string where = nic.address + " on node " + std::to_string(nic.numa_node) +
                                  ", whose cores are " + cpus_text(near);
        if (!any)
            return {FindingState::warn, where + "; polling are " + cpus_text(polling),
                    "sudo bash dpdk-config/isolate-cores.sh " + suggested_cores(patient) +
                        " --apply   # then restart"};
        found.push_back(where);
    }
    if (found.empty()) return {FindingState::unknown, "no NIC for the feed names its node", ""};
    return {FindingState::ok, joined(found), ""};
}

Verdict check_multicast_route(const Patient& patient) {
    const std::string interface = multicast_interface(patient.tree);
    if (!interface.empty()) return {FindingState::ok, "to " + interface, ""};
    return {FindingState::warn, "none", "sudo ip route add 224.0.0.0/4 dev IFACE"};
}

}  // namespace wirebook::app
