// DpdkSource: EAL, ports, pools and pollers put together, and the control thread's side of them.
// See the public header for threads and lifetimes.
#include "wirebook/io/dpdk_source.hpp"

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_ring.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>
#include <utility>

#include "device_name.hpp"
#include "eal.hpp"
#include "environment.hpp"
#include "nic_clock.hpp"
#include "packet_pool.hpp"
#include "poller.hpp"
#include "port.hpp"
#include "wirebook/core/clock.hpp"

namespace wirebook::io {

using dpdk::DeviceName;
using dpdk::Port;

namespace {

constexpr unsigned offered_frames = 256;  // that wait for the control thread

}  // namespace

struct DpdkSource::Impl {
    DpdkOptions options;
    std::vector<Port> ports;
    dpdk::PacketPools pools;
    std::vector<std::string> notices;
    TscClock clock;
    std::deque<dpdk::NicClock> nic_clocks;  // by port
    std::vector<dpdk::PollerState*> states;
    std::vector<DpdkPoller> pollers;
    rte_ring* offered = nullptr;
    mutable std::mutex stats_lock;

    Impl() = default;
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    Impl(Impl&&) = delete;
    Impl& operator=(Impl&&) = delete;
    ~Impl() { shut_down(); }

    std::optional<Error> start(const std::vector<DeviceName>& devices);
    std::optional<Error> start_ports(const std::vector<DeviceName>& devices);
    std::optional<Error> make_pollers();
    void share_queues();
    void tend_clocks() noexcept;
    void shut_down() noexcept;
};

std::optional<Error> DpdkSource::Impl::start(const std::vector<DeviceName>& devices) {
    auto error = dpdk::start_environment(options, devices, [&] { return start_ports(devices); });
    if (error) return error;
    clock = TscClock::calibrate();
    tend_clocks();
    dpdk::wait_for_links(ports, options, notices);
    tend_clocks();
    share_queues();
    return std::nullopt;
}

std::optional<Error> DpdkSource::Impl::start_ports(const std::vector<DeviceName>& devices) {
    for (const DeviceName& device : devices) {
        auto port = dpdk::find_port(device);
        if (!port) return port.error();
        ports.push_back(std::move(port).value());
    }
    PoolDemand demand;
    demand.threads = options.pollers;
    for (std::size_t i = 0; i < ports.size(); ++i) {
        if (auto error = dpdk::configure_port(ports[i], options.ports[i], options)) return error;
        demand.queues += ports[i].queues;
        demand.descriptors += std::uint32_t{ports[i].queues} * ports[i].descriptors;
    }
    auto made = dpdk::create_pools(options, demand, ports.front().numa_node);
    if (!made) return made.error();
    pools = made.value();
    for (std::size_t i = 0; i < ports.size(); ++i) {
        auto error = dpdk::start_port(ports[i], options.ports[i], pools.frames, notices);
        if (error) return error;
        nic_clocks.emplace_back();
    }
    return make_pollers();
}

std::optional<Error> DpdkSource::Impl::make_pollers() {
    offered = rte_ring_create("wirebook_offered", offered_frames, SOCKET_ID_ANY, RING_F_SC_DEQ);
    if (offered == nullptr) {
        return Error{rte_errno, std::string("queue of offered frames: ") + rte_strerror(rte_errno)};
    }
    for (std::uint16_t i = 0; i < options.pollers; ++i) {
        auto state = std::make_unique<dpdk::PollerState>();
        states.push_back(state.get());
        pollers.emplace_back(std::move(state));
    }
    return std::nullopt;
}

void DpdkSource::Impl::share_queues() {
    for (dpdk::PollerState* state : states) {
        state->stamp_place = dpdk::find_stamp_place();
        state->clock = clock;
        state->burst_limit = options.burst;
        state->linear_bytes = options.linear_bytes;
        state->pools = pools;
        state->offered = offered;
        state->last_receive_tsc.store(rdtsc(), std::memory_order_relaxed);
        for (std::size_t i = 0; i < ports.size(); ++i) {
            const dpdk::NicClock* nic = ports[i].reads_clock ? &nic_clocks[i] : nullptr;
            state->inputs.push_back({ports[i].stamps, nic, 0});
        }
    }
    for (std::size_t i = 0; i < ports.size(); ++i) {
        const std::vector<std::uint16_t>& owners = options.ports[i].pollers;
        for (std::uint16_t queue = 0; queue < ports[i].queues; ++queue) {
            const std::size_t owner = queue < owners.size() ? owners[queue] : 0;
            states[owner]->queues.push_back({ports[i].id, queue, static_cast<std::uint16_t>(i)});
        }
    }
}

// NIC and TSC at one instant, as near as two reads can be.
void DpdkSource::Impl::tend_clocks() noexcept {
    for (std::size_t i = 0; i < ports.size(); ++i) {
        if (!ports[i].reads_clock) continue;
        const std::uint64_t before = rdtsc();
        const auto raw = dpdk::read_nic_clock(ports[i]);
        const std::uint64_t middle = before + (rdtsc() - before) / 2;
        if (raw) nic_clocks[i].sample(*raw, clock.to_utc_ns(middle));
    }
}

void DpdkSource::Impl::shut_down() noexcept {
    for (dpdk::PollerState* state : states) state->queues.clear();
    for (Port& port : ports) dpdk::close_port(port);
    rte_ring_free(std::exchange(offered, nullptr));
    dpdk::free_pools(pools);
    dpdk::stop_eal();
}

DpdkSource::DpdkSource(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {
}
DpdkSource::DpdkSource(DpdkSource&&) noexcept = default;
DpdkSource& DpdkSource::operator=(DpdkSource&&) noexcept = default;
DpdkSource::~DpdkSource() = default;

Result<DpdkSource> DpdkSource::open(const DpdkOptions& options) {
    auto devices = dpdk::check_options(options);
    if (!devices) return devices.error();
    auto impl = std::make_unique<Impl>();
    impl->options = options;
    if (auto error = impl->start(devices.value())) {
        error->context = "dpdk: " + error->context;
        return *error;
    }
    return DpdkSource(std::move(impl));
}

void DpdkSource::close() noexcept {
    impl_->shut_down();
}

DpdkPoller& DpdkSource::poller(std::size_t index) noexcept {
    return impl_->pollers[index];
}

void DpdkSource::take_offered(const std::function<void(std::size_t, wire::Bytes)>& take) {
    void* object = nullptr;
    while (rte_ring_dequeue(impl_->offered, &object) == 0) {
        auto* mbuf = static_cast<rte_mbuf*>(object);
        take(mbuf->port, {rte_pktmbuf_mtod(mbuf, const std::byte*), mbuf->data_len});
        rte_pktmbuf_free(mbuf);
    }
}

Status DpdkSource::send(std::size_t port, wire::Bytes frame) {
    const Port& to = impl_->ports[port];
    if (!to.transmits) return Error{ENOTSUP, to.device.name + ": it has no transmit queue"};
    rte_mbuf* mbuf = rte_pktmbuf_alloc(impl_->pools.frames);
    if (mbuf == nullptr) return Error{ENOBUFS, to.device.name + ": no free packet to send with"};
    char* bytes = rte_pktmbuf_append(mbuf, static_cast<std::uint16_t>(frame.size()));
    if (bytes == nullptr || frame.size() > UINT16_MAX) {
        rte_pktmbuf_free(mbuf);
        return Error{EMSGSIZE, to.device.name + ": a frame too long to send"};
    }
    std::memcpy(bytes, frame.data(), frame.size());
    if (rte_eth_tx_burst(to.id, 0, &mbuf, 1) == 1) return Ok{};
    rte_pktmbuf_free(mbuf);
    return Error{ENOBUFS, to.device.name + ": the driver's transmit queue is full"};
}

void DpdkSource::tend_clocks() noexcept {
    impl_->tend_clocks();
}

std::size_t DpdkSource::ports() const noexcept {
    return impl_->ports.size();
}

DpdkPortStats DpdkSource::port_stats(std::size_t port) const noexcept {
    const std::lock_guard lock(impl_->stats_lock);
    return dpdk::read_stats(impl_->ports[port]);
}

std::optional<DpdkPortStats> DpdkSource::try_port_stats(std::size_t port) const noexcept {
    const std::unique_lock lock(impl_->stats_lock, std::try_to_lock);
    if (!lock.owns_lock()) return std::nullopt;
    return dpdk::read_stats(impl_->ports[port]);
}

std::vector<std::pair<std::string, std::uint64_t>> DpdkSource::driver_counters(
    std::size_t port) const {
    const std::lock_guard lock(impl_->stats_lock);
    return dpdk::read_driver_counters(impl_->ports[port]);
}

bool DpdkSource::link_up(std::size_t port) const noexcept {
    return dpdk::port_link_up(impl_->ports[port]);
}
const std::string& DpdkSource::device(std::size_t port) const noexcept {
    return impl_->ports[port].device.name;
}
const std::string& DpdkSource::driver(std::size_t port) const noexcept {
    return impl_->ports[port].driver;
}
bool DpdkSource::transmits(std::size_t port) const noexcept {
    return impl_->ports[port].transmits;
}
bool DpdkSource::hides_loss(std::size_t port) const noexcept {
    return impl_->ports[port].driver == "net_af_packet";
}

std::array<std::uint8_t, 6> DpdkSource::mac(std::size_t port) const noexcept {
    rte_ether_addr address{};
    std::array<std::uint8_t, 6> bytes{};
    static_cast<void>(rte_eth_macaddr_get(impl_->ports[port].id, &address));
    std::memcpy(bytes.data(), address.addr_bytes, bytes.size());
    return bytes;
}

DpdkCounters DpdkSource::counters() const noexcept {
    DpdkCounters sum;
    for (const DpdkPoller& poller : impl_->pollers) {
        const DpdkCounters of_one = poller.counters();
        sum.linearised += of_one.linearised;
        sum.cut += of_one.cut;
        sum.unoffered += of_one.unoffered;
    }
    return sum;
}

std::uint32_t DpdkSource::pool_packets() const noexcept {
    return impl_->pools.frame_count;
}

std::uint32_t DpdkSource::pool_in_use() const noexcept {
    return impl_->pools.frames == nullptr ? 0 : rte_mempool_in_use_count(impl_->pools.frames);
}

const std::vector<std::string>& DpdkSource::notices() const noexcept {
    return impl_->notices;
}

std::string DpdkSource::description() const {
    std::string text;
    for (const Port& port : impl_->ports) text += dpdk::describe(port) + "\n";
    return text;
}

}  // namespace wirebook::io
