// The checks behind `wirebook doctor`, one function a finding. Private to src/app.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "wirebook/app/doctor.hpp"

namespace wirebook::app {

// What the checks look at; read once.
struct Patient {
    const HostTree& tree;
    const std::optional<Config>& config;
    Surroundings around;
    std::vector<PciDevice> nics;  // the configuration's, else all of the host
    CpuSet online;
    CpuSet isolated;

    CpuSet named;  // the CPUs of the configuration's lcores

    // The cores that will poll: the configuration's, else the isolated ones, else all.
    [[nodiscard]] const CpuSet& polling() const {
        if (!named.empty()) return named;
        return isolated.empty() ? online : isolated;
    }
    // The feed comes in here: a port of the configuration, else bound for DPDK.
    [[nodiscard]] bool is_for_feed(const PciDevice& nic) const {
        return config.has_value() || is_userspace_driver(nic.driver);
    }
    // DPDK takes its memory from hugepages.
    [[nodiscard]] bool wants_hugepages() const { return !config || config->dpdk.hugepages; }
    // A NIC is to be bound to vfio-pci or its like: true without a configuration.
    [[nodiscard]] bool wants_binding() const;
    // The interfaces that the configuration names, most of them by iface= of a virtual device.
    [[nodiscard]] std::vector<std::string> named_interfaces() const;
};

// A finding without its name and reason, which are the table's.
struct Verdict {
    FindingState state = FindingState::unknown;
    std::string found;
    std::string command;
};

// doctor_process.cpp
Verdict check_machine(const Patient& patient);
Verdict check_rights(const Patient& patient);
Verdict check_memlock(const Patient& patient);
Verdict check_open_files(const Patient& patient);

// doctor_memory.cpp
Verdict check_hugepages(const Patient& patient);
Verdict check_hugepages_boot(const Patient& patient);
Verdict check_hugetlbfs(const Patient& patient);
Verdict check_thp(const Patient& patient);
Verdict check_shm(const Patient& patient);
Verdict check_numa_balancing(const Patient& patient);

// doctor_nic.cpp
Verdict check_iommu(const Patient& patient);
Verdict check_vfio(const Patient& patient);
Verdict check_iommu_group(const Patient& patient);
Verdict check_secure_boot(const Patient& patient);
Verdict check_nic_driver(const Patient& patient);
Verdict check_link(const Patient& patient);
Verdict check_nic_numa(const Patient& patient);
Verdict check_multicast_route(const Patient& patient);

// doctor_cpu.cpp
Verdict check_isolated(const Patient& patient);
Verdict check_nohz_full(const Patient& patient);
Verdict check_rcu_nocbs(const Patient& patient);
Verdict check_irq_affinity(const Patient& patient);
Verdict check_smt(const Patient& patient);
Verdict check_governor(const Patient& patient);
Verdict check_c_states(const Patient& patient);
Verdict check_rt_throttling(const Patient& patient);
Verdict check_clock_source(const Patient& patient);
Verdict check_tsc(const Patient& patient);

// Helpers of several checks.
[[nodiscard]] std::string joined(const std::vector<std::string>& parts);  // "a, b"
[[nodiscard]] std::string mebibytes_text(std::uint64_t bytes);            // "64 MiB", rounded up
// Free memory in hugepages: of the host, or of one NUMA node.
[[nodiscard]] std::uint64_t free_huge_bytes(const HostTree& tree, int node = -1);
[[nodiscard]] std::uint64_t huge_pages_2m(const HostTree& tree);  // reserved
// What DPDK needs in bytes: the configuration's packet buffers; without one 64 MiB, which is room
// for two ports and some channels.
[[nodiscard]] std::uint64_t packet_bytes(const Patient& patient);
// Cores that would do for polling: of the NIC's node, not the first core.
[[nodiscard]] std::string suggested_cores(const Patient& patient);

}  // namespace wirebook::app
