// NICs as sysfs shows them, and the processes that hold one; see host.hpp.
#include <algorithm>

#include "wirebook/app/host.hpp"

namespace wirebook::app {

namespace {

std::string hex_digits(const HostTree& tree, const std::string& file) {
    const std::string text = tree.text(file);
    return text.starts_with("0x") ? text.substr(2) : text;
}

// Usually in DEVICE/net; a virtio NIC's are one folder further down.
std::vector<std::string> interfaces_of(const HostTree& tree, const std::string& folder) {
    std::vector<std::string> interfaces = tree.list(folder + "/net");
    for (const std::string& name : tree.list(folder)) {
        if (!name.starts_with("virtio")) continue;
        for (std::string& interface : tree.list(folder + "/" + name + "/net"))
            interfaces.push_back(std::move(interface));
    }
    return interfaces;
}

}  // namespace

std::string PciDevice::to_string() const {
    std::string text = address + " (";
    for (const std::string& interface : interfaces) text += interface + ", ";
    return text + id + ", " + (driver.empty() ? "no driver" : driver) + ")";
}

std::string full_pci_address(std::string_view device) {
    std::string address{device.substr(0, device.find(','))};
    for (char& c : address) c = static_cast<char>(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);
    return std::count(address.begin(), address.end(), ':') == 1 ? "0000:" + address : address;
}

bool is_userspace_driver(std::string_view driver) noexcept {
    return driver == "vfio-pci" || driver == "uio_pci_generic" || driver == "igb_uio";
}

bool is_bifurcated(std::string_view driver) noexcept {
    return driver == "mlx5_core" || driver == "mlx4_core" || driver == "mana";
}

std::optional<PciDevice> read_pci_device(const HostTree& tree, const std::string& address) {
    PciDevice device;
    device.address = address;
    const std::string folder = device.folder();
    if (!tree.exists(folder)) return std::nullopt;
    device.id = hex_digits(tree, folder + "/vendor") + ":" + hex_digits(tree, folder + "/device");
    device.kind = static_cast<unsigned>(
        parse_integer(hex_digits(tree, folder + "/class"), 16).value_or(0) >> 8);
    device.driver = tree.link_name(folder + "/driver");
    device.interfaces = interfaces_of(tree, folder);
    device.numa_node = static_cast<int>(tree.number(folder + "/numa_node").value_or(-1));
    device.iommu_group = tree.link_name(folder + "/iommu_group");
    return device;
}

std::vector<PciDevice> read_nics(const HostTree& tree) {
    std::vector<PciDevice> nics;
    for (const std::string& address : tree.list("/sys/bus/pci/devices")) {
        const auto device = read_pci_device(tree, address);
        if (device && device->is_network()) nics.push_back(*device);
    }
    return nics;
}

std::vector<PciDevice> iommu_neighbours(const HostTree& tree, const PciDevice& device) {
    std::vector<PciDevice> others;
    if (device.iommu_group.empty()) return others;
    const std::string folder = "/sys/kernel/iommu_groups/" + device.iommu_group + "/devices";
    for (const std::string& address : tree.list(folder)) {
        const auto other = read_pci_device(tree, address);
        if (other && address != device.address && !other->is_bridge()) others.push_back(*other);
    }
    return others;
}

std::vector<std::string> users_of(const HostTree& tree, const PciDevice& device) {
    std::vector<std::string> files;  // last parts of /dev/vfio/17, /dev/uio0
    if (device.driver == "vfio-pci") {
        // Without an IOMMU the group's file has this prefix.
        files = {device.iommu_group, "noiommu-" + device.iommu_group};
    } else {
        files = tree.list(device.folder() + "/uio");
    }
    std::vector<std::string> users;
    for (const std::string& process : tree.list("/proc")) {
        if (!parse_integer(process)) continue;
        const std::string folder = "/proc/" + process + "/fd";
        for (const std::string& number : tree.list(folder)) {
            const std::string target = tree.link_target(folder + "/" + number);
            if (!target.starts_with("/dev/vfio/") && !target.starts_with("/dev/uio")) continue;
            const std::string file = target.substr(target.rfind('/') + 1);
            if (std::find(files.begin(), files.end(), file) == files.end()) continue;
            users.push_back("process " + process + " (" + tree.text("/proc/" + process + "/comm") +
                            ")");
            break;
        }
    }
    return users;
}

}  // namespace wirebook::app
