// Starting and stopping EAL; see eal.hpp.
#include "eal.hpp"

#include <fcntl.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "eal_log.hpp"

namespace wirebook::io::dpdk {

namespace {

enum class EalState : int { never_started, running, stopped };
std::atomic<EalState> eal_state{EalState::never_started};

bool given(const std::vector<std::string>& arguments, std::initializer_list<std::string_view> any) {
    return std::any_of(arguments.begin(), arguments.end(), [&](const std::string& argument) {
        return std::any_of(any.begin(), any.end(), [&](std::string_view option) {
            // "-l3" and "--lcores=3" as well as the option alone
            return argument == option || (argument.starts_with(option) &&
                                          (option.size() == 2 || argument[option.size()] == '='));
        });
    });
}

// "0@(0,1)": lcore 0 on each CPU that this thread may use now.
std::string lcore_argument() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    std::string list;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
        for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
            if (CPU_ISSET(static_cast<std::size_t>(cpu), &allowed)) {
                if (!list.empty()) list += ',';
                list += std::to_string(cpu);
            }
        }
    }
    return list.empty() ? "--lcores=0" : "--lcores=0@(" + list + ")";
}

// EAL leaves its folder behind, empty, also where it did not start. Another process with our prefix
// may still use it; then this fails, as it should.
void remove_runtime_folder(const std::string& folder) {
    if (!folder.empty()) static_cast<void>(rmdir(folder.c_str()));
}

// EAL prints its whole usage to stdout when an argument is wrong. Where help was not asked for it
// goes nowhere: stdout is not ours to write to.
class SilentStdout {
public:
    explicit SilentStdout(bool active) {
        if (!active) return;
        std::fflush(stdout);
        const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        saved_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
        if (nowhere >= 0 && saved_ >= 0) dup2(nowhere, STDOUT_FILENO);
        if (nowhere >= 0) close(nowhere);
    }
    SilentStdout(const SilentStdout&) = delete;
    SilentStdout& operator=(const SilentStdout&) = delete;
    SilentStdout(SilentStdout&&) = delete;
    SilentStdout& operator=(SilentStdout&&) = delete;
    ~SilentStdout() {
        if (saved_ < 0) return;
        std::fflush(stdout);
        dup2(saved_, STDOUT_FILENO);
        close(saved_);
    }

private:
    int saved_ = -1;
};

int initialise(std::vector<char*>& argv, bool help) {
    const SilentStdout silent(!help);
    return rte_eal_init(static_cast<int>(argv.size() - 1), argv.data());
}

}  // namespace

std::vector<std::string> eal_arguments(const DpdkOptions& options,
                                       const std::vector<DeviceName>& devices,
                                       std::size_t memory_mb) {
    const std::vector<std::string>& own = options.eal_arguments;
    std::vector<std::string> arguments{"wirebook", "--file-prefix=" + options.file_prefix};
    if (!given(own, {"--log-level"})) {
        arguments.emplace_back("--log-level=warning");
        // Its warnings are about what we do not use: pages of 1 GiB, for one.
        arguments.emplace_back("--log-level=lib.eal:error");
    }
    if (!options.telemetry) arguments.emplace_back("--no-telemetry");
    if (options.hugepages) {
        arguments.emplace_back("--in-memory");
    } else {
        arguments.emplace_back("--no-huge");
        arguments.emplace_back("--no-shconf");
    }
    if (memory_mb != 0) {
        arguments.emplace_back("-m");
        arguments.push_back(std::to_string(memory_mb));
    }
    if (!given(own, {"-l", "-c", "--lcores"})) arguments.push_back(lcore_argument());
    bool pci = given(own, {"-a", "-b", "--allow", "--block"});
    for (const DeviceName& device : devices) {
        if (!device.pci) continue;
        pci = true;
        arguments.emplace_back("-a");
        arguments.push_back(device.arguments);
    }
    if (!pci) arguments.emplace_back("--no-pci");
    arguments.insert(arguments.end(), own.begin(), own.end());
    return arguments;
}

std::optional<std::size_t> free_hugepage_bytes() {
    std::error_code failed;
    std::filesystem::directory_iterator sizes("/sys/kernel/mm/hugepages", failed);
    if (failed) return std::nullopt;
    std::size_t bytes = 0;
    for (const auto& size : sizes) {  // "hugepages-2048kB"
        const std::string name = size.path().filename().string();
        std::size_t pages = 0;
        std::ifstream(size.path() / "free_hugepages") >> pages;
        const std::size_t digits = name.find_first_of("0123456789");
        if (digits == name.npos) continue;
        bytes += pages * std::strtoull(name.c_str() + digits, nullptr, 10) * 1024;
    }
    return bytes;
}

bool eal_was_started() noexcept {
    return eal_state.load(std::memory_order_acquire) != EalState::never_started;
}

std::optional<Error> start_eal(const std::vector<std::string>& arguments) {
    EalState expected = EalState::never_started;
    if (!eal_state.compare_exchange_strong(expected, EalState::running,
                                           std::memory_order_acq_rel)) {
        return Error{EALREADY, "DPDK was started in this process before, and can be only once"};
    }
    redirect_log();
    // EAL permutes argv and keeps pointers into it, hence copies that are never freed.
    static std::vector<std::string> kept;
    static std::vector<char*> argv;
    kept = arguments;
    argv.reserve(kept.size() + 1);
    for (std::string& argument : kept) argv.push_back(argument.data());
    argv.push_back(nullptr);
    if (initialise(argv, given(arguments, {"-h", "--help"})) >= 0) return std::nullopt;
    const int code = rte_errno;
    remove_runtime_folder(rte_eal_get_runtime_dir());
    eal_state.store(EalState::stopped, std::memory_order_release);
    std::string command;
    for (std::size_t i = 1; i < arguments.size(); ++i) command += " " + arguments[i];
    return Error{code, "DPDK does not start with" + command + ": " + rte_strerror(code) + ": " +
                           take_gathered()};
}

void stop_eal() noexcept {
    EalState expected = EalState::running;
    if (!eal_state.compare_exchange_strong(expected, EalState::stopped,
                                           std::memory_order_acq_rel)) {
        return;
    }
    const std::string folder = rte_eal_get_runtime_dir();
    rte_eal_cleanup();
    remove_runtime_folder(folder);
}

}  // namespace wirebook::io::dpdk
