// What a host consists of, as far as receiving packets goes: cores, NICs, who uses a NIC, and
// whether there is another machine around this one. Read from a HostTree; nothing is changed.
//
// Cold, one thread.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "wirebook/app/host_tree.hpp"

namespace wirebook::app {

// ---- cores

using CpuSet = std::set<unsigned>;

// "0-3,8" as the kernel writes and reads it; what is no list of cores gives none.
[[nodiscard]] CpuSet parse_cpus(std::string_view text);
[[nodiscard]] std::string cpus_text(const CpuSet& cpus);
[[nodiscard]] bool contains_all(const CpuSet& outer, const CpuSet& inner);

[[nodiscard]] CpuSet online_cpus(const HostTree& tree);
// Kept free of other work: isolcpus= or a partition of cpusets.
[[nodiscard]] CpuSet isolated_cpus(const HostTree& tree);
// Cores of a NUMA node; none where the kernel knows no nodes.
[[nodiscard]] CpuSet node_cpus(const HostTree& tree, int node);

// The value of `key=` on the kernel's command line, the last one; "" where it is not there.
[[nodiscard]] std::string kernel_argument(const HostTree& tree, std::string_view key);

// ---- NICs

struct PciDevice {
    std::string address;  // "0000:3b:00.0"
    std::string id;       // "8086:1592", vendor and device
    unsigned kind = 0;    // PCI class without the programming interface: 0x0200 is Ethernet
    std::string driver;   // "" for none
    std::vector<std::string> interfaces;  // of the kernel
    int numa_node = -1;                   // -1: no node is named
    std::string iommu_group;              // "" for none

    [[nodiscard]] bool is_network() const noexcept { return kind >> 8U == 0x02; }
    [[nodiscard]] bool is_bridge() const noexcept { return kind >> 8U == 0x06; }
    // "0000:3b:00.0 (eth1, 8086:1592, ice)"
    [[nodiscard]] std::string to_string() const;
    [[nodiscard]] std::string folder() const { return "/sys/bus/pci/devices/" + address; }
};

// "3b:00.0" and "0000:3b:00.0,arg=1" become "0000:3b:00.0".
[[nodiscard]] std::string full_pci_address(std::string_view device);

// Drivers that hand a device to a program.
[[nodiscard]] bool is_userspace_driver(std::string_view driver) noexcept;
// Drivers whose NIC stays with the kernel while DPDK receives from it: mlx5, mlx4, mana.
[[nodiscard]] bool is_bifurcated(std::string_view driver) noexcept;

// Nothing where there is no such device. `address` in full.
[[nodiscard]] std::optional<PciDevice> read_pci_device(const HostTree& tree,
                                                       const std::string& address);
// All PCI devices of the class network, in the order of their addresses.
[[nodiscard]] std::vector<PciDevice> read_nics(const HostTree& tree);
// The devices that share its IOMMU group, without itself and without bridges.
[[nodiscard]] std::vector<PciDevice> iommu_neighbours(const HostTree& tree,
                                                      const PciDevice& device);

// ---- who uses an interface

// What would break if the interface went away, in words: "the default route", "the route
// 10.1.0.0/16", "the ssh session from 10.1.0.9". Counts what stands on it too: bonds, bridges,
// VLANs. `ssh_connection`: the variable of that name.
[[nodiscard]] std::vector<std::string> uses_of(const HostTree& tree, const std::string& interface,
                                               std::string_view ssh_connection);
// Processes that hold the device through /dev/vfio or /dev/uio.
[[nodiscard]] std::vector<std::string> users_of(const HostTree& tree, const PciDevice& device);

// The interface to which the kernel sends IPv4 multicast; "" where it has no route for that.
[[nodiscard]] std::string multicast_interface(const HostTree& tree);

// ---- what is around

struct Surroundings {
    bool container = false;
    bool virtual_machine = false;
    std::string text;  // "a container in a virtual machine (QEMU)"
};
[[nodiscard]] Surroundings surroundings(const HostTree& tree);

}  // namespace wirebook::app
