// Checks of `wirebook doctor`: the machine, and what this process may do. See doctor_checks.hpp.
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "doctor_checks.hpp"

namespace wirebook::app {

namespace {

constexpr unsigned cap_net_admin = 12, cap_net_raw = 13, cap_ipc_lock = 14;

// The value of "Name:\tVALUE ..." in /proc/self/status.
std::string status_value(const HostTree& tree, std::string_view name) {
    for (const std::string& line : tree.lines("/proc/self/status")) {
        const std::vector<std::string> words = split_words(line);
        if (words.size() >= 2 && words[0] == name) return words[1];
    }
    return "";
}

bool is_root(const HostTree& tree) {
    return status_value(tree, "Uid:") == "0";
}

bool has_capability(const HostTree& tree, unsigned bit) {
    const auto mask = parse_integer(status_value(tree, "CapEff:"), 16).value_or(0);
    return (static_cast<std::uint64_t>(mask) >> bit & 1U) != 0;
}

// "Max locked memory        8388608      8388608     bytes": the soft limit.
std::optional<std::uint64_t> soft_limit(const HostTree& tree, std::string_view name) {
    for (const std::string& line : tree.lines("/proc/self/limits")) {
        if (!line.starts_with(name)) continue;
        const std::vector<std::string> words = split_words(line.substr(name.size()));
        if (words.empty()) break;
        if (words[0] == "unlimited") return std::numeric_limits<std::uint64_t>::max();
        if (const auto number = parse_integer(words[0])) return static_cast<std::uint64_t>(*number);
        break;
    }
    return std::nullopt;
}

}  // namespace

Verdict check_machine(const Patient& patient) {
    std::string model;
    for (const std::string& line : patient.tree.lines("/proc/cpuinfo")) {
        if (!line.starts_with("model name") || line.find(": ") == line.npos) continue;
        model = ", " + line.substr(line.find(": ") + 2);
        break;
    }
    return {FindingState::ok,
            patient.around.text + ", kernel " + patient.tree.text("/proc/sys/kernel/osrelease") +
                ", " + std::to_string(patient.online.size()) + " cores" + model,
            ""};
}

Verdict check_rights(const Patient& patient) {
    const HostTree& tree = patient.tree;
    if (is_root(tree)) return {FindingState::ok, "root", ""};
    for (const PciDevice& nic : patient.nics) {
        const std::string file = "/dev/vfio/" + nic.iommu_group;
        if (nic.driver != "vfio-pci" || ::access(tree.path(file).c_str(), R_OK | W_OK) == 0)
            continue;
        return {FindingState::fail, "this user may not open " + file + ", which is " + nic.address,
                "sudo chgrp \"$(id -gn)\" " + file + " && sudo chmod 0660 " + file};
    }
    const bool raw = has_capability(tree, cap_net_raw) && has_capability(tree, cap_net_admin);
    const bool wanted = !patient.config || !patient.named_interfaces().empty();
    if (raw || !wanted) return {FindingState::ok, "an ordinary user with the rights it needs", ""};
    return {patient.config ? FindingState::fail : FindingState::warn,
            "an ordinary user without CAP_NET_RAW and CAP_NET_ADMIN, which net_af_packet wants",
            "sudo setcap cap_net_raw,cap_net_admin,cap_ipc_lock+ep build/wirebook"};
}

Verdict check_memlock(const Patient& patient) {
    if (is_root(patient.tree) || has_capability(patient.tree, cap_ipc_lock))
        return {FindingState::ok, "no limit for this user", ""};
    const auto limit = soft_limit(patient.tree, "Max locked memory");
    if (!limit) return {FindingState::unknown, "/proc/self/limits does not say", ""};
    if (*limit == std::numeric_limits<std::uint64_t>::max())
        return {FindingState::ok, "unlimited", ""};
    const std::string found =
        mebibytes_text(*limit) + ", needed " + mebibytes_text(packet_bytes(patient));
    if (*limit >= packet_bytes(patient)) return {FindingState::ok, found, ""};
    return {patient.wants_binding() ? FindingState::fail : FindingState::warn, found,
            "echo \"$(id -un) - memlock unlimited\" | sudo tee /etc/security/limits.d/wirebook.conf"
            "   # then log in again; in a systemd unit: LimitMEMLOCK=infinity"};
}

Verdict check_open_files(const Patient& patient) {
    const auto limit = soft_limit(patient.tree, "Max open files");
    if (!limit) return {FindingState::unknown, "/proc/self/limits does not say", ""};
    constexpr std::uint64_t others = 256;  // captures, sockets, libraries
    const std::uint64_t pages = !patient.wants_hugepages() ? 0
                                : patient.config           ? packet_bytes(patient) >> 21U
                                                           : huge_pages_2m(patient.tree);
    const std::string found =
        *limit == std::numeric_limits<std::uint64_t>::max()
            ? "unlimited"
            : std::to_string(*limit) + ", may need " + std::to_string(pages + others);
    if (*limit >= pages + others) return {FindingState::ok, found, ""};
    return {FindingState::warn, found,
            "ulimit -n " + std::to_string(pages + others) +
                "   # in a systemd unit: LimitNOFILE=" + std::to_string(pages + others)};
}

}  // namespace wirebook::app
