// Checks of `wirebook doctor`: hugepages, their mounts, shared memory, what the kernel does to
// pages. See doctor_checks.hpp.
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>

#include "doctor_checks.hpp"

namespace wirebook::app {

namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20U;

struct HugePool {
    std::uint64_t page_bytes = 0;
    std::uint64_t reserved = 0;
    std::uint64_t free = 0;
};

std::vector<HugePool> huge_pools(const HostTree& tree, int node) {
    const std::string folder =
        node < 0 ? "/sys/kernel/mm/hugepages"
                 : "/sys/devices/system/node/node" + std::to_string(node) + "/hugepages";
    std::vector<HugePool> pools;
    for (const std::string& name : tree.list(folder)) {  // "hugepages-2048kB"
        const std::size_t dash = name.find('-');
        if (dash == name.npos || !name.ends_with("kB")) continue;
        const auto size = parse_integer(name.substr(dash + 1, name.size() - dash - 3));
        const std::string pool = folder + "/" + name;
        if (!size) continue;
        pools.push_back(
            {static_cast<std::uint64_t>(*size) << 10U,
             static_cast<std::uint64_t>(tree.number(pool + "/nr_hugepages").value_or(0)),
             static_cast<std::uint64_t>(tree.number(pool + "/free_hugepages").value_or(0))});
    }
    return pools;
}

std::string pools_text(const HostTree& tree) {
    std::vector<std::string> parts;
    for (const HugePool& pool : huge_pools(tree, -1)) {
        parts.push_back(std::to_string(pool.free) + " of " + std::to_string(pool.reserved) +
                        " pages of " + mebibytes_text(pool.page_bytes) + " free");
    }
    for (int node = 0; tree.exists("/sys/devices/system/node/node1") &&
                       tree.exists("/sys/devices/system/node/node" + std::to_string(node));
         ++node) {
        parts.push_back("node " + std::to_string(node) + ": " +
                        mebibytes_text(free_huge_bytes(tree, node)) + " free");
    }
    return parts.empty() ? "this kernel has no hugepages" : joined(parts);
}

struct Mount {
    std::string folder;
    std::string kind;
    std::string options;
};

std::vector<Mount> mounts_of(const HostTree& tree) {
    std::vector<Mount> mounts;
    for (const std::string& line : tree.lines("/proc/mounts")) {
        const std::vector<std::string> words = split_words(line);
        if (words.size() >= 4) mounts.push_back({words[1], words[2], words[3]});
    }
    return mounts;
}

// "MemTotal:       16384000 kB", in bytes.
std::uint64_t kibibytes(const std::string& line) {
    const std::vector<std::string> words = split_words(line);
    if (words.size() < 2) return 0;
    return static_cast<std::uint64_t>(parse_integer(words[1]).value_or(0)) << 10U;
}

// "size=64m" of a tmpfs; half of the memory where it is not said.
std::uint64_t tmpfs_bytes(const HostTree& tree, const std::string& options) {
    std::uint64_t memory = 0;
    for (const std::string& line : tree.lines("/proc/meminfo")) {
        if (line.starts_with("MemTotal:")) memory = kibibytes(line);
    }
    // `at` is of the text with a comma before it, so one less in `options`.
    const std::size_t at = ("," + options).find(",size=");
    if (at == std::string::npos) return memory / 2;
    const std::string value = options.substr(at + 5, options.find(',', at + 5) - at - 5);
    const std::size_t unit = std::min(value.find_first_not_of("0123456789"), value.size());
    const auto number =
        static_cast<std::uint64_t>(parse_integer(value.substr(0, unit)).value_or(0));
    switch (unit < value.size() ? value[unit] : ' ') {
        case 'k': return number << 10U;
        case 'm': return number << 20U;
        case 'g': return number << 30U;
        case '%': return memory / 100 * number;
        default: return number;
    }
}

// "vm.nr_hugepages = 256" of sysctl, "w /sys/.../nr_hugepages - - - - 256" of tmpfiles.
bool reserves_hugepages(std::string line) {
    std::replace(line.begin(), line.end(), '=', ' ');
    const std::vector<std::string> words = split_words(line);
    const bool sysctl = words.size() == 2 && words[0] == "vm.nr_hugepages";
    const bool tmpfiles =
        words.size() == 7 && words[0].starts_with("w") && words[1].ends_with("/nr_hugepages");
    return (sysctl || tmpfiles) && parse_integer(words.back()).value_or(0) > 0;
}

// When the machine starts: on the kernel's command line, by sysctl or by tmpfiles.
bool is_reserved_at_boot(const HostTree& tree) {
    if (parse_integer(kernel_argument(tree, "hugepages")).value_or(0) > 0) return true;
    std::vector<std::string> files{"/etc/sysctl.conf"};
    for (const std::string folder : {"/etc/sysctl.d/", "/usr/lib/sysctl.d/", "/etc/tmpfiles.d/"}) {
        for (const std::string& name : tree.list(folder)) {
            if (name.ends_with(".conf")) files.push_back(folder + name);
        }
    }
    for (const std::string& file : files) {
        const std::vector<std::string> lines = tree.lines(file);
        if (std::any_of(lines.begin(), lines.end(), reserves_hugepages)) return true;
    }
    return false;
}

std::string reserve_command(std::uint64_t bytes, const std::string& more) {
    return "sudo bash dpdk-config/hugepages.sh reserve " +
           std::to_string(std::max<std::uint64_t>((bytes + (2 * mebibyte) - 1) >> 21U, 256)) + more;
}

}  // namespace

std::string mebibytes_text(std::uint64_t bytes) {
    return std::to_string((bytes + mebibyte - 1) / mebibyte) + " MiB";
}

std::uint64_t free_huge_bytes(const HostTree& tree, int node) {
    std::uint64_t bytes = 0;
    for (const HugePool& pool : huge_pools(tree, node)) bytes += pool.free * pool.page_bytes;
    return bytes;
}

std::uint64_t huge_pages_2m(const HostTree& tree) {
    for (const HugePool& pool : huge_pools(tree, -1)) {
        if (pool.page_bytes == 2 * mebibyte) return pool.reserved;
    }
    return 0;
}

std::uint64_t packet_bytes(const Patient& patient) {
    if (!patient.config) return 64 * mebibyte;
    const auto asked = patient.config->dpdk.memory_mb;
    return asked ? *asked * mebibyte : memory_need(*patient.config).packets;
}

Verdict check_hugepages(const Patient& patient) {
    if (!patient.wants_hugepages())
        return {FindingState::unknown, "the configuration does without: hugepages = false", ""};
    const std::uint64_t packets = packet_bytes(patient);
    const std::uint64_t free = free_huge_bytes(patient.tree);
    std::string found =
        pools_text(patient.tree) + "; needed for packets " + mebibytes_text(packets);
    std::uint64_t all = packets;
    if (patient.config) {
        const MemoryNeed need = memory_need(*patient.config);
        all += need.books + need.segment;
        found += ", for books and segment too " + mebibytes_text(all);
    }
    if (free < packets) return {FindingState::fail, found, reserve_command(all, "")};
    if (free < all) {
        return {FindingState::warn, found + "; books or segment take ordinary memory",
                reserve_command(all, "")};
    }
    for (const PciDevice& nic : patient.nics) {
        if (nic.numa_node < 0 || !patient.is_for_feed(nic) ||
            free_huge_bytes(patient.tree, nic.numa_node) >= packets ||
            !patient.tree.exists("/sys/devices/system/node/node1"))
            continue;
        const std::string node = std::to_string(nic.numa_node);
        return {FindingState::warn, found + "; too few on node " + node + " of " + nic.address,
                reserve_command(all, " --node " + node)};
    }
    return {FindingState::ok, found, ""};
}

Verdict check_hugepages_boot(const Patient& patient) {
    if (!patient.wants_hugepages())
        return {FindingState::unknown, "the configuration does without: hugepages = false", ""};
    if (is_reserved_at_boot(patient.tree))
        return {FindingState::ok, "reserved when the machine starts", ""};
    return {FindingState::warn, "nothing reserves hugepages when the machine starts",
            reserve_command(huge_pages_2m(patient.tree) << 21U, " --persist")};
}

Verdict check_hugetlbfs(const Patient& patient) {
    const std::string command =
        "sudo bash dpdk-config/hugepages.sh mount /dev/hugepages --group \"$(id -gn)\"";
    std::vector<std::string> found;
    bool writable = false;
    for (const Mount& mount : mounts_of(patient.tree)) {
        if (mount.kind != "hugetlbfs") continue;
        const bool ours = ::access(patient.tree.path(mount.folder).c_str(), W_OK) == 0;
        writable = writable || ours;
        found.push_back(mount.folder + (ours ? "" : " (not writable for this user)") + " " +
                        mount.options);
    }
    if (found.empty()) return {FindingState::warn, "not mounted", command};
    return {writable ? FindingState::ok : FindingState::warn, joined(found),
            writable ? "" : command};
}

Verdict check_shm(const Patient& patient) {
    const bool configured = patient.config && !patient.config->publish.directory.empty();
    const std::string folder = configured ? patient.config->publish.directory : "/dev/shm";
    if (patient.config && patient.config->publish.name.empty())
        return {FindingState::unknown, "the configuration publishes nothing", ""};
    if (configured && !patient.tree.exists(folder))
        return {FindingState::fail, "the directory of [publish] does not exist: " + folder,
                "sudo mkdir -p " + folder};
    // Without a configuration: more than the 64 MiB that container programs give.
    const std::uint64_t needed =
        patient.config ? memory_need(*patient.config).segment : 64 * mebibyte + 1;
    std::optional<std::uint64_t> size;
    for (const Mount& mount : mounts_of(patient.tree)) {
        if (mount.folder == folder && mount.kind == "tmpfs")
            size = tmpfs_bytes(patient.tree, mount.options);
    }
    struct ::statvfs file_system {};
    if (patient.tree.live() && ::statvfs(folder.c_str(), &file_system) == 0 &&
        file_system.f_blocks > 0)
        size = std::uint64_t{file_system.f_bavail} * file_system.f_frsize;
    if (!size)
        return configured ? Verdict{FindingState::unknown, folder + ": its size is not known", ""}
                          : Verdict{FindingState::fail, "/dev/shm is not mounted",
                                    "sudo mount -t tmpfs -o size=1g,mode=1777 tmpfs /dev/shm"};
    const std::string found = folder + ": " + mebibytes_text(*size) +
                              (patient.tree.live() ? " free" : "") + ", needed " +
                              mebibytes_text(needed);
    if (*size >= needed) return {FindingState::ok, found, ""};
    return {FindingState::fail, found,
            patient.around.container
                ? "docker run --shm-size=" + std::to_string(2 * needed / mebibyte + 1) + "m ..."
                : "sudo mount -o remount,size=" + std::to_string(2 * needed / mebibyte + 1) + "m " +
                      folder};
}

Verdict check_thp(const Patient& patient) {
    const std::string file = "/sys/kernel/mm/transparent_hugepage/enabled";
    const std::string text = patient.tree.text(file);
    if (text.empty()) return {FindingState::ok, "this kernel makes none", ""};
    const std::size_t open = text.find('['), close = text.find(']');
    if (open == text.npos || close == text.npos || close < open)
        return {FindingState::unknown, text, ""};
    const std::string mode = text.substr(open + 1, close - open - 1);
    if (mode != "always") return {FindingState::ok, mode, ""};
    return {FindingState::warn, "always: for every program", "echo madvise | sudo tee " + file};
}

Verdict check_numa_balancing(const Patient& patient) {
    if (!patient.tree.exists("/sys/devices/system/node/node1"))
        return {FindingState::ok, "one NUMA node", ""};
    if (patient.tree.number("/proc/sys/kernel/numa_balancing").value_or(0) == 0)
        return {FindingState::ok, "off", ""};
    return {FindingState::warn, "on", "sudo sysctl -w kernel.numa_balancing=0"};
}

}  // namespace wirebook::app
