// The table of checks, and what `wirebook doctor` prints of their findings; see doctor.hpp.
#include "wirebook/app/doctor.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "doctor_checks.hpp"
#include "wirebook/app/commands.hpp"
#include "wirebook/app/setup.hpp"

namespace wirebook::app {

namespace {

// Who can mend it, where the program does not run on the bare machine.
enum class Mender : std::uint8_t {
    here,
    host_of_container,  // kernel and devices are not the container's
    host_of_machine,    // what the hypervisor gives, too
};

struct Check {
    std::string_view id;
    Verdict (*look)(const Patient&);
    Mender mender;
    std::string_view why;
};

constexpr std::array<Check, 28> checks{{
    {"machine", check_machine, Mender::here,
     "in a container or a virtual machine, some findings can be mended outside only"},
    {"rights", check_rights, Mender::here,
     "DPDK opens devices and raw sockets, which the kernel gives to few"},
    {"hugepages", check_hugepages, Mender::host_of_container,
     "packet buffers lie in hugepages; a NIC of DPDK's own does not start without"},
    {"hugepages-boot", check_hugepages_boot, Mender::host_of_container,
     "a reservation made by hand is gone after the next start"},
    {"hugetlbfs", check_hugetlbfs, Mender::host_of_container,
     "the segment that strategies read lies on it; else it lies in /dev/shm, in small pages"},
    {"shm", check_shm, Mender::host_of_container, "a segment that does not fit is not published"},
    {"memlock", check_memlock, Mender::host_of_container,
     "vfio-pci locks the packet buffers in memory for the NIC, within this limit"},
    {"open-files", check_open_files, Mender::host_of_container,
     "DPDK keeps a file open for each hugepage"},
    {"thp", check_thp, Mender::host_of_container,
     "the kernel stops a polling thread while it puts huge pages together"},
    {"numa-balancing", check_numa_balancing, Mender::host_of_container,
     "the kernel takes pages away to see who misses them: page faults on polling cores"},
    {"iommu", check_iommu, Mender::host_of_machine,
     "vfio-pci binds no NIC without an IOMMU, which confines the NIC to our memory"},
    {"vfio", check_vfio, Mender::host_of_container,
     "it is the driver that hands a NIC to a program"},
    {"iommu-group", check_iommu_group, Mender::host_of_machine,
     "devices of one group are handed over together, or none of them works"},
    {"secure-boot", check_secure_boot, Mender::host_of_machine,
     "it locks out uio drivers, the way without an IOMMU"},
    {"nic-driver", check_nic_driver, Mender::host_of_container,
     "DPDK receives from NICs that a userspace driver holds, and from bifurcated ones"},
    {"link", check_link, Mender::host_of_container, "nothing comes in without a link"},
    {"nic-numa", check_nic_numa, Mender::host_of_machine,
     "each packet crosses between the sockets if core or memory is not on the NIC's node"},
    {"multicast-route", check_multicast_route, Mender::here,
     "kernel sockets that send to a group or join one need a route for it"},
    {"isolated-cores", check_isolated, Mender::host_of_container,
     "other work on a polling core costs microseconds to milliseconds, and packets"},
    {"nohz-full", check_nohz_full, Mender::host_of_container,
     "the timer tick stops a polling core 250 to 1,000 times a second"},
    {"rcu-nocbs", check_rcu_nocbs, Mender::host_of_container,
     "the kernel's deferred clean-up runs on polling cores otherwise"},
    {"irq-affinity", check_irq_affinity, Mender::host_of_container,
     "each interrupt stops a polling core for microseconds"},
    {"smt", check_smt, Mender::host_of_machine,
     "what runs on the sibling takes half of a polling core"},
    {"governor", check_governor, Mender::host_of_machine,
     "a core below its highest frequency is slower, and changing it takes time"},
    {"c-states", check_c_states, Mender::host_of_machine,
     "a core that sleeps deeply takes many microseconds to wake up"},
    {"rt-throttling", check_rt_throttling, Mender::host_of_container,
     "a polling thread of real-time priority (chrt -f) is stopped for the rest of each second"},
    {"clock-source", check_clock_source, Mender::host_of_machine,
     "receive times are the time stamp counter's; with another clock they drift apart"},
    {"tsc", check_tsc, Mender::host_of_machine,
     "latencies and receive times are counted with it; it must not change its pace"},
}};

bool is_outside(const Check& check, const Surroundings& around) {
    return (around.container && check.mender != Mender::here) ||
           (around.virtual_machine && check.mender == Mender::host_of_machine);
}

std::vector<PciDevice> nics_of(const HostTree& tree, const std::optional<Config>& config) {
    if (!config) return read_nics(tree);
    std::vector<PciDevice> nics;
    for (const PortConfig& port : config->ports) {
        if (!port.is_pci()) continue;
        if (auto nic = read_pci_device(tree, full_pci_address(port.device)))
            nics.push_back(std::move(*nic));
    }
    return nics;
}

CpuSet named_cpus(const std::optional<Config>& config) {
    CpuSet cpus;
    if (!config) return cpus;
    for (const LcoreConfig& lcore : config->lcores) cpus.insert(lcore.cpu);
    return cpus;
}

// ---- output

std::string_view colour(FindingState state) {
    switch (state) {
        case FindingState::ok: return "\033[32m";
        case FindingState::warn: return "\033[33m";
        case FindingState::fail: return "\033[31m";
        case FindingState::unknown: break;
    }
    return "\033[2m";
}

std::size_t count_of(const std::vector<Finding>& findings, FindingState state) {
    return static_cast<std::size_t>(
        std::count_if(findings.begin(), findings.end(),
                      [&](const Finding& finding) { return finding.state == state; }));
}

std::string line_of(const Finding& finding, bool coloured) {
    std::string word{to_string(finding.state)};
    word.resize(8, ' ');
    std::string name{finding.id};
    name.resize(16, ' ');
    std::string text = coloured ? std::string{colour(finding.state)} + word + "\033[0m" : word;
    text += name + finding.found + "\n";
    if (finding.state == FindingState::ok || finding.state == FindingState::unknown) return text;
    const std::string indent(8, ' ');
    text += indent + "why   " + std::string{finding.why} + "\n";
    if (!finding.command.empty())
        text += indent + (finding.outside ? "mend, on the host outside   " : "mend  ") +
                finding.command + "\n";
    return text;
}

std::string text_of(const std::vector<Finding>& findings) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
    const bool coloured = ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
    std::string text;
    for (const Finding& finding : findings) text += line_of(finding, coloured);
    text += "\n";
    for (const FindingState state :
         {FindingState::fail, FindingState::warn, FindingState::ok, FindingState::unknown}) {
        text += (state == FindingState::fail ? "" : ", ") +
                std::to_string(count_of(findings, state)) + " " + std::string{to_string(state)};
    }
    return text + "\n";
}

std::string json_of(const std::vector<Finding>& findings) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Finding& finding : findings) {
        list.push_back({{"id", finding.id},
                        {"state", to_string(finding.state)},
                        {"found", finding.found},
                        {"why", finding.why},
                        {"command", finding.command},
                        {"outside", finding.outside}});
    }
    nlohmann::ordered_json all;
    all["findings"] = std::move(list);
    for (const FindingState state :
         {FindingState::fail, FindingState::warn, FindingState::ok, FindingState::unknown})
        all[std::string{to_string(state)}] = count_of(findings, state);
    // Names in a strange tree may be of any bytes.
    return all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string_view to_string(FindingState state) noexcept {
    switch (state) {
        case FindingState::ok: return "ok";
        case FindingState::warn: return "warn";
        case FindingState::fail: return "fail";
        case FindingState::unknown: break;
    }
    return "unknown";
}

std::vector<Finding> examine(const HostTree& tree, const std::optional<Config>& config) {
    const Patient patient{tree,
                          config,
                          surroundings(tree),
                          nics_of(tree, config),
                          online_cpus(tree),
                          isolated_cpus(tree),
                          named_cpus(config)};
    std::vector<Finding> findings;
    for (const Check& check : checks) {
        Verdict verdict = check.look(patient);
        findings.push_back({check.id, verdict.state, std::move(verdict.found), check.why,
                            std::move(verdict.command), is_outside(check, patient.around)});
    }
    return findings;
}

int run_doctor(const DoctorOptions& options) {
    const HostTree tree{options.root};
    if (!tree.exists("/sys") || !tree.exists("/proc"))
        return fail(exit_usage, "doctor: there is no sys and no proc in " + options.root);
    std::optional<Config> config;
    if (!options.config_file.empty()) {
        Result<Config> loaded = load_config(options.config_file, ConfigUse::either);
        if (!loaded) return fail(exit_usage, loaded.error().context);
        config = std::move(loaded).value();
    }
    const std::vector<Finding> findings = examine(tree, config);
    const std::string text = options.json ? json_of(findings) : text_of(findings);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return count_of(findings, FindingState::fail) == 0 ? exit_done : exit_host;
}

}  // namespace wirebook::app
