// DpdkSink: one port, one transmit queue. See the public header for threads and lifetimes.
#include "wirebook/io/dpdk_sink.hpp"

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "eal.hpp"
#include "environment.hpp"
#include "packet_pool.hpp"
#include "port.hpp"
#include "wirebook/core/clock.hpp"
#include "wirebook/io/dpdk_source.hpp"

namespace wirebook::io {

using dpdk::DeviceName;

namespace {

constexpr std::uint16_t receive_descriptors = 64;

// A sink is a port with a receive queue that nobody polls: many drivers start only with one. Its
// pool has room for both queues' descriptors.
DpdkOptions source_options(const DpdkSinkOptions& options) {
    DpdkOptions all;
    all.ports.push_back({options.device, 0, options.mtu});
    all.hugepages = options.hugepages;
    all.memory_mb = options.memory_mb;
    all.parked_packets = std::uint32_t{options.descriptors} + options.burst;
    all.pool_packets = options.pool_packets;
    all.burst = options.burst;
    all.descriptors = receive_descriptors;
    all.cache = 0;  // one thread takes and the driver gives back; a ring is fast enough
    all.data_room = options.data_room;
    all.linear_frames = 0;
    all.link_wait_ms = options.link_wait_ms;
    all.file_prefix = options.file_prefix;
    all.eal_arguments = options.eal_arguments;
    return all;
}

// How long the device has taken nothing.
class Stall {
public:
    Stall(const TscClock& clock, std::uint32_t limit_ms) noexcept
        : limit_ticks_(clock.ticks_from_ns(std::int64_t{limit_ms} * 1'000'000)), since_(rdtsc()) {}
    void progress() noexcept { since_ = rdtsc(); }
    [[nodiscard]] bool over() const noexcept { return rdtsc() - since_ > limit_ticks_; }

private:
    std::uint64_t limit_ticks_;
    std::uint64_t since_;
};

}  // namespace

struct DpdkSink::Impl {
    DpdkSinkOptions options;
    DpdkOptions port_options;
    std::vector<dpdk::Port> ports;  // one once it is open
    dpdk::PacketPools pools;
    std::vector<std::string> notices;
    TscClock clock;
    DpdkSinkCounters counters;
    std::optional<Error> error;
    bool stalled = false;
    std::array<rte_mbuf*, dpdk::most_burst> burst{};
    std::array<std::uint32_t, dpdk::most_burst> lengths{};  // once sent, an mbuf is not ours to ask
    std::uint16_t waiting = 0;                              // in `burst`

    Impl() = default;
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    Impl(Impl&&) = delete;
    Impl& operator=(Impl&&) = delete;
    ~Impl() { shut_down(); }

    std::optional<Error> start(const std::vector<DeviceName>& devices);
    std::optional<Error> start_port(const DeviceName& device);
    void shut_down() noexcept;

    [[nodiscard]] rte_mbuf* take_mbuf() noexcept;
    void send_all() noexcept;
    void fail(int code, const std::string& what);
    void give_up(std::uint64_t frames) noexcept;
};

std::optional<Error> DpdkSink::Impl::start(const std::vector<DeviceName>& devices) {
    auto failed =
        dpdk::start_environment(port_options, devices, [&] { return start_port(devices.front()); });
    if (failed) return failed;
    clock = TscClock::calibrate();
    dpdk::wait_for_links(ports, port_options, notices);
    return std::nullopt;
}

std::optional<Error> DpdkSink::Impl::start_port(const DeviceName& device) {
    auto found = dpdk::find_port(device);
    if (!found) return found.error();
    dpdk::Port& port = ports.emplace_back(std::move(found).value());
    port.transmit_descriptors = options.descriptors;
    if (auto failed = dpdk::configure_port(port, port_options.ports[0], port_options)) {
        return failed;
    }
    if (!port.transmits) return Error{ENOTSUP, port.device.name + ": it has no transmit queue"};
    const PoolDemand demand{
        port.queues, std::uint32_t{port.queues} * port.descriptors + port.transmit_descriptors};
    auto made = dpdk::create_pools(port_options, demand, port.numa_node);
    if (!made) return made.error();
    pools = made.value();
    return dpdk::start_queues(port, pools.frames);
}

void DpdkSink::Impl::shut_down() noexcept {
    if (ports.empty()) return;
    send_all();
    for (dpdk::Port& port : ports) dpdk::close_port(port);
    ports.clear();
    dpdk::free_pools(pools);
    dpdk::stop_eal();
}

void DpdkSink::Impl::fail(int code, const std::string& what) {
    if (!error) error = Error{code, "dpdk: " + options.device + ": " + what};
}

void DpdkSink::Impl::give_up(std::uint64_t frames) noexcept {
    counters.lost += frames;
    stalled = true;
    fail(ETIMEDOUT, "the device has taken no frame for " + std::to_string(options.stall_limit_ms) +
                        " ms; is its link up, and does anybody receive?");
}

// Null: the device has given no packet back for too long.
rte_mbuf* DpdkSink::Impl::take_mbuf() noexcept {
    rte_mbuf* mbuf = rte_pktmbuf_alloc(pools.frames);
    if (mbuf != nullptr) return mbuf;
    send_all();
    Stall stall(clock, options.stall_limit_ms);
    while (!stalled && (mbuf = rte_pktmbuf_alloc(pools.frames)) == nullptr) {
        ++counters.retries;
        if (stall.over()) return nullptr;
        // Asks the driver for what it has sent; not all have this call.
        static_cast<void>(rte_eth_tx_done_cleanup(ports[0].id, 0, 0));
        pause();
    }
    return mbuf;
}

void DpdkSink::Impl::send_all() noexcept {
    Stall stall(clock, options.stall_limit_ms);
    std::uint16_t sent = 0;
    std::uint64_t bytes = 0;
    while (sent < waiting && !stalled) {
        const std::uint16_t taken = rte_eth_tx_burst(ports[0].id, 0, burst.data() + sent,
                                                     static_cast<std::uint16_t>(waiting - sent));
        for (std::uint16_t i = 0; i < taken; ++i) bytes += lengths[sent + i];
        sent = static_cast<std::uint16_t>(sent + taken);
        if (taken != 0) stall.progress();
        if (sent == waiting) break;
        ++counters.retries;
        if (stall.over()) give_up(0);
        pause();
    }
    if (sent < waiting) {
        counters.lost += static_cast<std::uint64_t>(waiting - sent);
        rte_pktmbuf_free_bulk(burst.data() + sent, static_cast<unsigned>(waiting - sent));
    }
    counters.frames += sent;
    counters.bytes += bytes;
    waiting = 0;
}

DpdkSink::DpdkSink(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {
}
DpdkSink::DpdkSink(DpdkSink&&) noexcept = default;
DpdkSink& DpdkSink::operator=(DpdkSink&&) noexcept = default;
DpdkSink::~DpdkSink() = default;

Result<DpdkSink> DpdkSink::open(const DpdkSinkOptions& options) {
    auto impl = std::make_unique<Impl>();
    impl->options = options;
    impl->port_options = source_options(options);
    auto devices = dpdk::check_options(impl->port_options);
    if (!devices) return devices.error();
    if (options.descriptors == 0) return Error{EINVAL, "dpdk: descriptors is 0"};
    if (auto failed = impl->start(devices.value())) {
        failed->context = "dpdk: " + failed->context;
        return *failed;
    }
    return DpdkSink(std::move(impl));
}

void DpdkSink::send(std::span<const std::byte> frame) noexcept {
    Impl& impl = *impl_;
    if (impl.ports.empty() || impl.stalled) {
        ++impl.counters.lost;
        return;
    }
    if (frame.size() > impl.options.data_room) {
        ++impl.counters.too_long;
        impl.fail(EMSGSIZE, "a frame of " + std::to_string(frame.size()) +
                                " bytes is longer than data_room = " +
                                std::to_string(impl.options.data_room));
        return;
    }
    rte_mbuf* mbuf = impl.take_mbuf();
    if (mbuf == nullptr) {
        impl.give_up(1);
        return;
    }
    std::memcpy(rte_pktmbuf_mtod(mbuf, std::byte*), frame.data(), frame.size());
    mbuf->data_len = static_cast<std::uint16_t>(frame.size());
    mbuf->pkt_len = static_cast<std::uint32_t>(frame.size());
    impl.lengths[impl.waiting] = mbuf->pkt_len;
    impl.burst[impl.waiting++] = mbuf;
    if (impl.waiting == impl.options.burst) impl.send_all();
}

void DpdkSink::flush() noexcept {
    if (!impl_->ports.empty()) impl_->send_all();
}

DpdkSinkCounters DpdkSink::counters() const noexcept {
    return impl_->counters;
}

Status DpdkSink::status() const {
    if (impl_->error) return *impl_->error;
    return Ok{};
}

void DpdkSink::close() noexcept {
    impl_->shut_down();
}

bool DpdkSink::link_up() const noexcept {
    return !impl_->ports.empty() && dpdk::port_link_up(impl_->ports[0]);
}

const std::vector<std::string>& DpdkSink::notices() const noexcept {
    return impl_->notices;
}

std::string DpdkSink::description() const {
    return impl_->ports.empty() ? std::string{} : dpdk::describe_sender(impl_->ports[0]);
}

}  // namespace wirebook::io
