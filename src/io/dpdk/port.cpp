// Ethernet ports through rte_ethdev; see port.hpp.
// rte_eth_read_clock is experimental; there is no other way to read a NIC's clock.
#define ALLOW_EXPERIMENTAL_API  // NOLINT(readability-identifier-naming): DPDK's name
#include "port.hpp"

#include <net/if.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf_dyn.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <string_view>

#include "eal_log.hpp"
#include "reception.hpp"

namespace wirebook::io::dpdk {

namespace {

constexpr std::uint16_t default_mtu = 1500;
constexpr std::uint16_t frame_overhead = 14 + 2 * 4 + 4;  // Ethernet, two VLAN tags, checksum

// Virtual drivers return -1 for almost anything, so their own words are what counts.
Error probe_error(const DeviceName& device, int code) {
    const std::string log = take_gathered();
    const std::string why = log.empty() ? rte_strerror(-code) : log.c_str();
    if (code == -EFAULT) {  // the only case: no bus, no driver knows the name
        return Error{EINVAL, device.name + ": no driver for it is built in (" + why + ")"};
    }
    return Error{code == -1 ? ENODEV : -code,
                 device.name + ": the device does not start (" + why + ")"};
}

std::optional<std::uint16_t> port_of_device(const std::string& name) {
    std::uint64_t next = rte_eth_find_next(0);
    for (; next < RTE_MAX_ETHPORTS;
         next = rte_eth_find_next(static_cast<std::uint16_t>(next + 1))) {
        const auto id = static_cast<std::uint16_t>(next);
        rte_eth_dev_info info{};
        if (rte_eth_dev_info_get(id, &info) != 0 || info.device == nullptr) continue;
        if (name == rte_dev_name(info.device)) return id;
    }
    return std::nullopt;
}

// "eth1" of "net_af_packet0,iface=eth1".
std::string interface_of(const DeviceName& device) {
    constexpr std::string_view key = ",iface=";
    const std::size_t at = device.arguments.find(key);
    if (device.pci || at == std::string::npos) return {};
    const std::size_t from = at + key.size();
    return device.arguments.substr(from, device.arguments.find(',', from) - from);
}

// Of such drivers the link is up for ever; the kernel knows. True where it does not say. One that
// was deleted and made anew is another one: the driver's socket is on the old one.
bool interface_runs(const std::string& name, unsigned index) noexcept {
    ifreq request{};
    if (name.size() >= sizeof request.ifr_name) return true;
    if (index != 0 && ::if_nametoindex(name.c_str()) != index) return false;
    std::copy(name.begin(), name.end(), request.ifr_name);
    const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (socket < 0) return true;
    const bool known = ::ioctl(socket, SIOCGIFFLAGS, &request) == 0;
    ::close(socket);
    return !known || (request.ifr_flags & (IFF_UP | IFF_RUNNING)) == (IFF_UP | IFF_RUNNING);
}

std::uint16_t choose_queues(const Port& port, const DpdkPortOptions& wanted,
                            const rte_eth_dev_info& info) {
    if (wanted.queues != 0) return wanted.queues;
    const std::uint16_t created = port.device.queues;
    return created != 0 ? std::min(created, info.max_rx_queues) : std::uint16_t{1};
}

rte_eth_conf make_conf(Port& port, std::uint16_t mtu, std::uint16_t data_room,
                       const rte_eth_dev_info& info) {
    rte_eth_conf conf{};
    conf.rxmode.mtu = mtu;  // 0: the driver's default
    const unsigned longest = (mtu == 0 ? default_mtu : mtu) + frame_overhead;
    if (longest > data_room && (info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER) != 0) {
        conf.rxmode.offloads |= RTE_ETH_RX_OFFLOAD_SCATTER;
    }
    port.wants_stamps = (info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_TIMESTAMP) != 0;
    if (port.wants_stamps) conf.rxmode.offloads |= RTE_ETH_RX_OFFLOAD_TIMESTAMP;
    const std::uint64_t hashes = info.flow_type_rss_offloads & (RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP);
    port.can_hash = port.queues > 1 && hashes != 0;
    if (port.can_hash) {
        conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
        conf.rx_adv_conf.rss_conf.rss_hf = hashes;
    }
    return conf;
}

std::string describe_link(const Port& port) {
    rte_ether_addr mac{};
    rte_eth_link link{};
    std::array<char, RTE_ETHER_ADDR_FMT_SIZE> mac_text{};
    if (rte_eth_macaddr_get(port.id, &mac) == 0) {
        rte_ether_format_addr(mac_text.data(), RTE_ETHER_ADDR_FMT_SIZE, &mac);
    }
    std::string link_text = "link unknown";
    if (rte_eth_link_get_nowait(port.id, &link) == 0) {
        const bool up = port_link_up(port);
        link_text = up ? "link up" : "link down";
        if (up && link.link_speed != 0 && link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN) {
            link_text += " at " + std::to_string(link.link_speed) + " Mbit/s";
        }
    }
    return std::string("MAC ") + mac_text.data() + ", " + link_text;
}

}  // namespace

Error port_error(const Port& port, std::string_view what, int code) {
    std::string text = port.device.name + ": " + std::string(what) + ": " + rte_strerror(-code);
    const std::string log = take_gathered();
    if (!log.empty()) text += " (" + log + ")";
    return Error{-code, text};
}

Result<Port> find_port(const DeviceName& device) {
    Port port;
    port.device = device;
    port.interface = interface_of(device);
    if (!port.interface.empty()) port.interface_index = ::if_nametoindex(port.interface.c_str());
    if (!device.pci) {
        const int code = rte_dev_probe(device.arguments.c_str());
        if (code < 0) return probe_error(device, code);
    }
    const auto id = port_of_device(device.name);
    if (!id) {
        const std::string why = device.pci ? explain_missing_pci(device.name, "/sys")
                                           : device.name + ": the device has no port";
        const std::string log = take_gathered();
        return Error{ENODEV, log.empty() ? why : why + " (" + log + ")"};
    }
    port.id = *id;
    const int node = rte_eth_dev_socket_id(*id);
    port.numa_node = node;
    return port;
}

std::optional<Error> configure_port(Port& port, const DpdkPortOptions& wanted,
                                    const DpdkOptions& options) {
    rte_eth_dev_info info{};
    int code = rte_eth_dev_info_get(port.id, &info);
    if (code != 0) return port_error(port, "ask for its abilities", code);
    port.driver = info.driver_name == nullptr ? "?" : info.driver_name;
    port.queues = choose_queues(port, wanted, info);
    if (port.queues == 0 || port.queues > info.max_rx_queues) {
        return Error{EINVAL, port.device.name + ": " + std::to_string(port.queues) +
                                 " receive queues; the device has " +
                                 std::to_string(info.max_rx_queues)};
    }
    const rte_eth_conf conf = make_conf(port, wanted.mtu, options.data_room, info);
    // One transmit queue, where there is one: some drivers start only with it, and what the
    // port itself has to send (group membership) leaves through it.
    const auto transmit = std::min<std::uint16_t>(1, info.max_tx_queues);
    code = rte_eth_dev_configure(port.id, port.queues, transmit, &conf);
    if (code != 0) return port_error(port, "configure", code);
    port.configured = true;
    port.descriptors = options.descriptors;
    code = rte_eth_dev_adjust_nb_rx_tx_desc(port.id, &port.descriptors, &port.transmit_descriptors);
    if (code != 0) return port_error(port, "choose descriptors", code);
    if (transmit == 0) return std::nullopt;
    code = rte_eth_tx_queue_setup(port.id, 0, port.transmit_descriptors,
                                  static_cast<unsigned>(port.numa_node), nullptr);
    if (code != 0) return port_error(port, "set a transmit queue up", code);
    port.transmits = true;
    return std::nullopt;
}

std::optional<Error> start_queues(Port& port, rte_mempool* pool) {
    for (std::uint16_t queue = 0; queue < port.queues; ++queue) {
        const int code = rte_eth_rx_queue_setup(
            port.id, queue, port.descriptors, static_cast<unsigned>(port.numa_node), nullptr, pool);
        if (code != 0) return port_error(port, "set a receive queue up", code);
    }
    const int code = rte_eth_dev_start(port.id);
    if (code != 0) return port_error(port, "start", code);
    port.started = true;
    return std::nullopt;
}

std::optional<Error> start_port(Port& port, const DpdkPortOptions& wanted, rte_mempool* pool,
                                std::vector<std::string>& notices) {
    if (auto error = start_queues(port, pool)) return error;
    if (auto error = accept_multicast(port, wanted, notices)) return error;
    if (auto error = steer_groups(port, wanted, notices)) return error;
    if (port.driver == "net_pcap") {
        port.stamps = Stamps::capture_us;
    } else if (port.wants_stamps) {
        port.stamps = Stamps::nic_unchecked;
        port.reads_clock = read_nic_clock(port).has_value();
    }
    return std::nullopt;
}

bool port_link_up(const Port& port) noexcept {
    if (!port.interface.empty() && !interface_runs(port.interface, port.interface_index))
        return false;
    rte_eth_link link{};
    const int code = rte_eth_link_get_nowait(port.id, &link);
    return code == -ENOTSUP || (code == 0 && link.link_status == RTE_ETH_LINK_UP);
}

void wait_for_links(const std::vector<Port>& ports, const DpdkOptions& options,
                    std::vector<std::string>& notices) {
    constexpr std::uint32_t step_ms = 5;
    constexpr long ns_in_ms = 1'000'000;
    const timespec step{0, step_ms * ns_in_ms};
    std::uint32_t waited_ms = 0;
    const auto all_up = [&] { return std::all_of(ports.begin(), ports.end(), port_link_up); };
    const auto stopped = [&] {
        return options.stop != nullptr && options.stop->load(std::memory_order_relaxed);
    };
    while (!all_up() && waited_ms < options.link_wait_ms && !stopped()) {
        nanosleep(&step, nullptr);
        waited_ms += step_ms;
    }
    for (const Port& port : ports) {
        if (port_link_up(port)) continue;
        notices.push_back(port.device.name + ": the link is down (waited " +
                          std::to_string(waited_ms) + " ms); packets come once it is up");
    }
}

std::optional<std::uint64_t> read_nic_clock(const Port& port) noexcept {
    std::uint64_t now = 0;
    if (rte_eth_read_clock(port.id, &now) != 0) return std::nullopt;
    return now;
}

DpdkPortStats read_stats(const Port& port) noexcept {
    rte_eth_stats raw{};
    if (rte_eth_stats_get(port.id, &raw) != 0) return {};
    return {raw.ipackets, raw.ibytes, raw.imissed, raw.rx_nombuf, raw.ierrors};
}

// Counters that rte_eth_stats has already are left out.
std::vector<std::pair<std::string, std::uint64_t>> read_driver_counters(const Port& port) {
    const int count = rte_eth_xstats_get_names(port.id, nullptr, 0);
    if (count <= 0) return {};
    const auto size = static_cast<std::size_t>(count);
    std::vector<rte_eth_xstat_name> names(size);
    std::vector<rte_eth_xstat> values(size);
    const auto asked = static_cast<unsigned>(count);
    if (rte_eth_xstats_get_names(port.id, names.data(), asked) != count) return {};
    if (rte_eth_xstats_get(port.id, values.data(), asked) != count) return {};
    std::vector<std::pair<std::string, std::uint64_t>> counters;
    for (const rte_eth_xstat& value : values) {
        if (value.value == 0 || value.id >= size) continue;
        const std::string name = names[value.id].name;
        const bool basic = name.starts_with("rx_good_") || name.starts_with("tx_good_") ||
                           name.starts_with("rx_q") || name.starts_with("tx_q");
        if (!basic) counters.emplace_back(name, value.value);
    }
    return counters;
}

std::string describe(const Port& port) {
    const auto stamps = [&]() -> std::string_view {
        switch (port.stamps) {
            case Stamps::none: return "time of arrival by this machine's TSC";
            case Stamps::capture_us: return "times of the capture file, in microseconds";
            case Stamps::nic_utc_ns: return "times of the NIC";
            default:
                return port.reads_clock
                           ? "times of the NIC, turned into UTC by reading its clock"
                           : "times of the NIC, called unsynchronised unless they are UTC";
        }
    };
    std::string text = port.device.name + ": " + port.driver + ", " + std::to_string(port.queues) +
                       (port.queues == 1 ? " queue" : " queues") + " of " +
                       std::to_string(port.descriptors) + " descriptors, " + describe_link(port) +
                       ", " + port.reception;
    if (!port.steering.empty()) text += ", " + port.steering;
    return text + ", " + std::string(stamps());
}

std::string describe_sender(const Port& port) {
    return port.device.name + ": " + port.driver + ", transmit queue of " +
           std::to_string(port.transmit_descriptors) + " descriptors, " + describe_link(port);
}

void close_port(Port& port) noexcept {
    if (port.started) static_cast<void>(rte_eth_dev_stop(port.id));
    if (port.configured) static_cast<void>(rte_eth_dev_close(port.id));
    port.started = port.configured = false;
}

}  // namespace wirebook::io::dpdk
