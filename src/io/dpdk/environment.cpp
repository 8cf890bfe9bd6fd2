// The common start of DPDK's users; see environment.hpp.
#include "environment.hpp"

#include <rte_mempool.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "eal.hpp"
#include "eal_log.hpp"
#include "packet_pool.hpp"

namespace wirebook::io::dpdk {

namespace {

std::optional<Error> check_ranges(const DpdkOptions& options) {
    const auto wrong = [](const std::string& text) { return Error{EINVAL, "dpdk: " + text}; };
    if (options.ports.empty()) return wrong("no port is configured");
    if (options.pollers == 0 || options.pollers > most_pollers) {
        return wrong("pollers is not 1 to 64");
    }
    for (const DpdkPortOptions& port : options.ports) {
        for (const std::uint16_t poller : port.pollers) {
            if (poller >= options.pollers)
                return wrong("a queue is given to a poller that is none");
        }
    }
    if (options.burst == 0 || options.burst > most_burst) return wrong("burst is not 1 to 512");
    if (options.descriptors == 0) return wrong("descriptors is 0");
    if (options.cache > RTE_MEMPOOL_CACHE_MAX_SIZE) return wrong("cache is not 0 to 512");
    if (options.data_room < 256 || options.data_room > 65'000) {
        return wrong("data_room is not 256 to 65,000");
    }
    if (options.linear_bytes < 256 || options.linear_bytes > 65'000) {
        return wrong("linear_bytes is not 256 to 65,000");
    }
    if (options.parked_packets > 1u << 24 || options.pool_packets > 1u << 26) {
        return wrong("too many packets");
    }
    if (options.file_prefix.empty() || options.file_prefix.find('/') != std::string::npos) {
        return wrong("file_prefix is empty or has a slash");
    }
    return std::nullopt;
}

Result<std::vector<DeviceName>> parse_devices(const DpdkOptions& options) {
    std::vector<DeviceName> devices;
    for (const DpdkPortOptions& port : options.ports) {
        auto device = parse_device(port.device);
        if (!device) return device.error();
        for (const DeviceName& other : devices) {
            if (other.name == device.value().name) {
                return Error{EINVAL, "dpdk: two ports with the device " + other.name};
            }
        }
        for (const std::string& file : device.value().files) {
            if (access(file.c_str(), R_OK) == 0) continue;
            const int code = errno;
            return Error{EINVAL, "dpdk: " + device.value().name + ": cannot read " + file + ": " +
                                     std::generic_category().message(code)};
        }
        devices.push_back(std::move(device).value());
    }
    return devices;
}

std::size_t estimated_bytes(const DpdkOptions& options, const std::vector<DeviceName>& devices) {
    PoolDemand demand;
    for (std::size_t i = 0; i < devices.size(); ++i) {
        const std::uint16_t asked = options.ports[i].queues;
        demand.queues += std::max<std::uint16_t>(1, asked != 0 ? asked : devices[i].queues);
    }
    demand.descriptors = demand.queues * options.descriptors;
    demand.threads = options.pollers;
    const std::uint32_t least = least_pool_packets(options, demand);
    return pool_bytes(options, std::max(least, options.pool_packets));
}

std::optional<Error> check_hugepages(std::size_t needed) {
    const auto free_bytes = free_hugepage_bytes();
    if (!free_bytes || *free_bytes >= needed) return std::nullopt;
    const std::size_t pages = (needed >> 21u) + 1;
    return Error{ENOMEM, "hugepages: about " + std::to_string(needed >> 20u) + " MiB needed, " +
                             std::to_string(*free_bytes >> 20u) +
                             " MiB free; reserve them: bash dpdk-config/hugepages.sh reserve " +
                             std::to_string(pages) + "; or do without: hugepages = false"};
}

}  // namespace

Result<std::vector<DeviceName>> check_options(const DpdkOptions& options) {
    if (auto error = check_ranges(options)) return *error;
    auto devices = parse_devices(options);
    if (devices && eal_was_started()) {
        return Error{EALREADY,
                     "dpdk: a DPDK port was opened in this process before; DPDK can "
                     "be started only once in a process"};
    }
    return devices;
}

std::optional<Error> start_environment(const DpdkOptions& options,
                                       const std::vector<DeviceName>& devices,
                                       const std::function<std::optional<Error>()>& start_ports) {
    const std::size_t needed = estimated_bytes(options, devices);
    if (options.hugepages) {
        if (auto error = check_hugepages(needed)) return error;
    }
    std::size_t memory_mb = options.memory_mb;
    // Ordinary memory is not added to later, as hugepages are: EAL has to know now. Untouched
    // pages cost nothing, so twice the estimate.
    if (!options.hugepages && memory_mb == 0) memory_mb = (2 * needed >> 20u) + 64;
    begin_gathering();
    std::optional<Error> error = start_eal(eal_arguments(options, devices, memory_mb));
    if (!error) error = start_ports();
    if (error) static_cast<void>(take_gathered());  // the error has it
    end_gathering();
    return error;
}

}  // namespace wirebook::io::dpdk
