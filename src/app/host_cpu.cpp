// Cores, the kernel's command line, and the machine around this one; see host.hpp.
#include <algorithm>

#include "wirebook/app/host.hpp"

namespace wirebook::app {

CpuSet parse_cpus(std::string_view text) {
    constexpr std::int64_t most = 8192;  // CONFIG_NR_CPUS of the largest kernels
    CpuSet cpus;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        const std::string_view part = text.substr(0, comma);
        text.remove_prefix(std::min(comma + 1, text.size()));
        const std::size_t dash = part.find('-');
        const auto first = parse_integer(part.substr(0, dash));
        const auto last = dash == part.npos ? first : parse_integer(part.substr(dash + 1));
        if (!first || !last) continue;  // "managed_irq", "domain": flags of isolcpus=
        for (std::int64_t cpu = std::max<std::int64_t>(*first, 0); cpu <= std::min(*last, most - 1);
             ++cpu)
            cpus.insert(static_cast<unsigned>(cpu));
    }
    return cpus;
}

std::string cpus_text(const CpuSet& cpus) {
    std::string text;
    for (auto at = cpus.begin(); at != cpus.end();) {
        const unsigned first = *at;
        unsigned last = first;
        while (++at != cpus.end() && *at == last + 1) ++last;
        text += (text.empty() ? "" : ",") + std::to_string(first) +
                (last == first ? "" : "-" + std::to_string(last));
    }
    return text;
}

bool contains_all(const CpuSet& outer, const CpuSet& inner) {
    return std::includes(outer.begin(), outer.end(), inner.begin(), inner.end());
}

CpuSet online_cpus(const HostTree& tree) {
    return parse_cpus(tree.text("/sys/devices/system/cpu/online"));
}

CpuSet isolated_cpus(const HostTree& tree) {
    return parse_cpus(tree.text("/sys/devices/system/cpu/isolated"));
}

CpuSet node_cpus(const HostTree& tree, int node) {
    return parse_cpus(
        tree.text("/sys/devices/system/node/node" + std::to_string(node) + "/cpulist"));
}

std::string kernel_argument(const HostTree& tree, std::string_view key) {
    std::string value;
    for (const std::string& word : split_words(tree.text("/proc/cmdline"))) {
        if (word.size() > key.size() && word.starts_with(key) && word[key.size()] == '=')
            value = word.substr(key.size() + 1);
    }
    return value;
}

Surroundings surroundings(const HostTree& tree) {
    Surroundings around;
    // The kernel's name for an extra CPU flag that every hypervisor but the smallest sets.
    for (const std::string& line : tree.lines("/proc/cpuinfo")) {
        if (!line.starts_with("flags")) continue;
        const std::vector<std::string> flags = split_words(line);
        around.virtual_machine = std::find(flags.begin(), flags.end(), "hypervisor") != flags.end();
        break;
    }
    const std::string maker = tree.text("/sys/class/dmi/id/sys_vendor");
    const std::string product = tree.text("/sys/class/dmi/id/product_name");
    // A file that docker or podman leaves, or control groups that such a program names.
    around.container = tree.exists("/.dockerenv") || tree.exists("/run/.containerenv") ||
                       tree.exists("/run/systemd/container");
    for (const std::string& line : tree.lines("/proc/1/cgroup")) {
        for (const char* name : {"docker", "kubepods", "libpod", "lxc", "containerd"})
            around.container = around.container || line.find(name) != line.npos;
    }
    around.text = around.container && around.virtual_machine ? "a container in a virtual machine"
                  : around.container                         ? "a container"
                  : around.virtual_machine                   ? "a virtual machine"
                                                             : "no container, no virtual machine";
    if (!maker.empty() || !product.empty())
        around.text +=
            " (" + maker + (maker.empty() || product.empty() ? "" : ", ") + product + ")";
    return around;
}

}  // namespace wirebook::app
