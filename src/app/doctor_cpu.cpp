// Checks of `wirebook doctor`: cores, their clocks and what disturbs them. See doctor_checks.hpp.
#include <algorithm>

#include "doctor_checks.hpp"

namespace wirebook::app {

namespace {

std::string cpu_folder(unsigned cpu) {
    return "/sys/devices/system/cpu/cpu" + std::to_string(cpu);
}

std::string isolate_command(const Patient& patient) {
    return "sudo bash dpdk-config/isolate-cores.sh " + suggested_cores(patient) +
           " --apply   # then restart";
}

// The cores without the tick; "(null)" where there are none.
CpuSet tickless(const HostTree& tree) {
    return parse_cpus(tree.text("/sys/devices/system/cpu/nohz_full"));
}

Verdict covers_isolated(const Patient& patient, const CpuSet& cpus) {
    if (patient.online.size() < 2) return {FindingState::unknown, "there is one core", ""};
    const std::string found = cpus.empty() ? "no core" : "cores " + cpus_text(cpus);
    if (!cpus.empty() && contains_all(cpus, patient.isolated)) return {FindingState::ok, found, ""};
    return {
        FindingState::warn,
        found + (patient.isolated.empty() ? "" : "; isolated are " + cpus_text(patient.isolated)),
        patient.isolated.empty() ? isolate_command(patient)
                                 : "sudo bash dpdk-config/isolate-cores.sh " +
                                       cpus_text(patient.isolated) + " --apply   # then restart"};
}

bool has_flag(const HostTree& tree, std::string_view flag) {
    for (const std::string& line : tree.lines("/proc/cpuinfo")) {
        if (!line.starts_with("flags")) continue;
        const std::vector<std::string> flags = split_words(line);
        return std::find(flags.begin(), flags.end(), flag) != flags.end();
    }
    return false;
}

// Interrupts that are in use: those with a handler's folder.
std::vector<std::string> active_interrupts(const HostTree& tree) {
    std::vector<std::string> active;
    for (const std::string& number : tree.list("/proc/irq")) {
        if (!parse_integer(number)) continue;
        const std::vector<std::string> names = tree.list("/proc/irq/" + number);
        const bool handled = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
            return tree.exists("/proc/irq/" + number + "/" + name + "/.");  // is a folder
        });
        if (handled) active.push_back(number);
    }
    return active;
}

}  // namespace

std::string joined(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
    return text;
}

std::string suggested_cores(const Patient& patient) {
    if (!patient.named.empty()) return cpus_text(patient.named);
    CpuSet cpus = patient.online;
    for (const PciDevice& nic : patient.nics) {
        const CpuSet near = node_cpus(patient.tree, nic.numa_node);
        if (near.empty() || !patient.is_for_feed(nic)) continue;
        cpus = near;
        break;
    }
    const CpuSet first =
        parse_cpus(patient.tree.text(cpu_folder(0) + "/topology/thread_siblings_list"));
    for (const unsigned cpu : first) cpus.erase(cpu);
    cpus.erase(0);
    constexpr std::size_t most = 4;
    while (cpus.size() > most) cpus.erase(cpus.begin());
    return cpus.empty() ? "CORES" : cpus_text(cpus);
}

Verdict check_isolated(const Patient& patient) {
    if (patient.online.size() < 2) return {FindingState::unknown, "there is one core", ""};
    if (!contains_all(patient.online, patient.named))
        return {FindingState::fail,
                "an [[lcore]] of the configuration is on CPU " + cpus_text(patient.named) +
                    "; there are " + cpus_text(patient.online),
                "cat /sys/devices/system/cpu/online"};
    if (!contains_all(patient.isolated, patient.named))
        return {FindingState::warn,
                "the [[lcore]]s are on cores " + cpus_text(patient.named) + "; isolated are " +
                    (patient.isolated.empty() ? "none" : cpus_text(patient.isolated)),
                isolate_command(patient)};
    if (!patient.isolated.empty())
        return {FindingState::ok, "cores " + cpus_text(patient.isolated), ""};
    return {FindingState::warn, "none of " + std::to_string(patient.online.size()) + " cores",
            isolate_command(patient)};
}

Verdict check_nohz_full(const Patient& patient) {
    return covers_isolated(patient, tickless(patient.tree));
}

Verdict check_rcu_nocbs(const Patient& patient) {
    const std::string argument = kernel_argument(patient.tree, "rcu_nocbs");
    CpuSet cpus = argument == "all" ? patient.online : parse_cpus(argument);
    cpus.merge(tickless(patient.tree));  // nohz_full= offloads its cores as well
    return covers_isolated(patient, cpus);
}

Verdict check_irq_affinity(const Patient& patient) {
    if (patient.isolated.empty()) return {FindingState::unknown, "no core is isolated", ""};
    std::vector<std::string> there;
    for (const std::string& number : active_interrupts(patient.tree)) {
        const std::string folder = "/proc/irq/" + number;
        std::string list = patient.tree.text(folder + "/effective_affinity_list");
        if (list.empty()) list = patient.tree.text(folder + "/smp_affinity_list");
        const CpuSet cpus = parse_cpus(list);
        if (std::any_of(cpus.begin(), cpus.end(),
                        [&](unsigned cpu) { return patient.isolated.contains(cpu); }))
            there.push_back(number);
    }
    if (there.empty()) return {FindingState::ok, "no interrupt on the isolated cores", ""};
    CpuSet others = patient.online;
    for (const unsigned cpu : patient.isolated) others.erase(cpu);
    return {FindingState::warn, "interrupts " + joined(there) + " on the isolated cores",
            "echo " + cpus_text(others) +
                " | sudo tee /proc/irq/*/smp_affinity_list   # and stop irqbalance; a device's "
                "managed interrupts cannot be moved"};
}

Verdict check_smt(const Patient& patient) {
    if (patient.tree.text("/sys/devices/system/cpu/smt/active") != "1")
        return {FindingState::ok, "off", ""};
    if (patient.isolated.empty()) return {FindingState::unknown, "on; no core is isolated", ""};
    std::vector<std::string> shared;
    for (const unsigned cpu : patient.isolated) {
        const CpuSet siblings =
            parse_cpus(patient.tree.text(cpu_folder(cpu) + "/topology/thread_siblings_list"));
        if (!contains_all(patient.isolated, siblings))
            shared.push_back("core " + std::to_string(cpu) + " has siblings " +
                             cpus_text(siblings));
    }
    if (shared.empty())
        return {FindingState::ok, "on; the isolated cores' siblings are isolated", ""};
    return {FindingState::warn, joined(shared),
            "echo off | sudo tee /sys/devices/system/cpu/smt/control"};
}

Verdict check_governor(const Patient& patient) {
    std::vector<std::string> slow;
    bool any = false;
    for (const unsigned cpu : patient.polling()) {
        const std::string governor =
            patient.tree.text(cpu_folder(cpu) + "/cpufreq/scaling_governor");
        any = any || !governor.empty();
        if (!governor.empty() && governor != "performance")
            slow.push_back("core " + std::to_string(cpu) + " " + governor);
    }
    if (!any) return {FindingState::unknown, "this kernel does not set frequencies", ""};
    if (slow.empty()) return {FindingState::ok, "performance", ""};
    return {FindingState::warn, joined(slow),
            "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"};
}

Verdict check_c_states(const Patient& patient) {
    constexpr std::int64_t most_us = 10;
    std::set<std::string> deep, states;
    bool any = false;
    for (const unsigned cpu : patient.polling()) {
        const std::string folder = cpu_folder(cpu) + "/cpuidle";
        for (const std::string& state : patient.tree.list(folder)) {
            const std::string file = folder + "/" + state;
            const std::int64_t latency = patient.tree.number(file + "/latency").value_or(0);
            any = true;
            if (latency <= most_us || patient.tree.number(file + "/disable").value_or(0) != 0)
                continue;
            states.insert(state);
            deep.insert(patient.tree.text(file + "/name") + " (" + std::to_string(latency) +
                        " us)");
        }
    }
    if (!any) return {FindingState::unknown, "this kernel has no idle states", ""};
    if (deep.empty())
        return {FindingState::ok, "none deeper than " + std::to_string(most_us) + " us", ""};
    std::string files;
    for (const std::string& state : states)
        files += " /sys/devices/system/cpu/cpu*/cpuidle/" + state + "/disable";
    return {FindingState::warn, joined({deep.begin(), deep.end()}), "echo 1 | sudo tee" + files};
}

Verdict check_rt_throttling(const Patient& patient) {
    const auto runtime = patient.tree.number("/proc/sys/kernel/sched_rt_runtime_us");
    if (!runtime) return {FindingState::unknown, "this kernel does not say", ""};
    if (*runtime < 0) return {FindingState::ok, "off", ""};
    if (patient.config &&
        std::all_of(patient.config->lcores.begin(), patient.config->lcores.end(),
                    [](const LcoreConfig& lcore) { return lcore.fifo_priority == 0; }))
        return {FindingState::ok, "on; no [[lcore]] has a real-time priority", ""};
    return {FindingState::warn,
            std::to_string(*runtime) + " us of each " +
                patient.tree.text("/proc/sys/kernel/sched_rt_period_us") + " us",
            "sudo sysctl -w kernel.sched_rt_runtime_us=-1"};
}

Verdict check_clock_source(const Patient& patient) {
    const std::string folder = "/sys/devices/system/clocksource/clocksource0";
    const std::string current = patient.tree.text(folder + "/current_clocksource");
    if (current == "tsc") return {FindingState::ok, current, ""};
    if (current.empty()) return {FindingState::unknown, "this kernel does not say", ""};
    const std::vector<std::string> others =
        split_words(patient.tree.text(folder + "/available_clocksource"));
    const bool possible = std::find(others.begin(), others.end(), "tsc") != others.end();
    return {FindingState::warn, current + (possible ? "" : "; tsc is not to be had"),
            possible ? "echo tsc | sudo tee " + folder + "/current_clocksource"
                     : "sudo dmesg | grep -i tsc   # why the kernel left it"};
}

Verdict check_tsc(const Patient& patient) {
    std::vector<std::string> missing;
    for (const char* flag : {"constant_tsc", "nonstop_tsc"}) {
        if (!has_flag(patient.tree, flag)) missing.emplace_back(flag);
    }
    if (missing.empty()) return {FindingState::ok, "constant and never stops", ""};
    return {FindingState::warn, "the CPU does not say " + joined(missing),
            patient.around.virtual_machine ? "qemu-system-x86_64 -cpu host,+invtsc ..."
                                           : "sudo dmesg | grep -i tsc"};
}

}  // namespace wirebook::app
