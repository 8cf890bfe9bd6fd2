// DpdkSource: the polling loop's side of DPDK (receive, release), and open() and close(), which
// put EAL, ports and pools together. See the public header for threads and lifetimes.
#include "wirebook/io/dpdk_source.hpp"

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_mempool.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "device_name.hpp"
#include "eal.hpp"
#include "environment.hpp"
#include "packet_pool.hpp"
#include "port.hpp"
#include "wirebook/core/clock.hpp"

namespace wirebook::io {

using dpdk::DeviceName;
using dpdk::Port;
using dpdk::Stamps;
using wire::Packet;
using wire::TimeSource;

namespace {

constexpr std::size_t free_at_once = 64;
// A NIC's stamp this near to UTC is a stamp of UTC: no free-running counter is, by chance.
constexpr std::int64_t utc_tolerance_ns = 10'000'000'000;

// What receive() polls. Several of these lists, one a polling thread, can share ports and pools.
struct QueuePoll {
    std::uint16_t port_id = 0;  // DPDK's
    std::uint16_t queue = 0;
    std::uint16_t input = 0;  // index in DpdkOptions::ports
};

// A receive time and where it comes from.
struct Stamp {
    std::int64_t time_ns = 0;
    TimeSource source = TimeSource::software;
};

struct PollState {
    std::vector<QueuePoll> queues;
    std::size_t next = 0;                // where the next round starts
    std::vector<std::uint64_t> records;  // next record number, by input
    std::vector<Stamps> stamps;          // by input
    std::uint64_t empty_rounds = 0;
    std::uint64_t last_receive_tsc = 0;
    // One writer, the polling thread; read by the control thread.
    std::atomic<std::uint64_t> linearised{0};
    std::atomic<std::uint64_t> cut{0};
};

void add_one(std::atomic<std::uint64_t>& counter) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

rte_mbuf* mbuf_of(const Packet& packet) noexcept {
    static_assert(sizeof packet.owner == sizeof(std::uintptr_t));
    rte_mbuf* mbuf = nullptr;
    std::memcpy(&mbuf, &packet.owner, sizeof packet.owner);
    return mbuf;
}

const std::byte* bytes_of(const rte_mbuf* mbuf) noexcept {
    return rte_pktmbuf_mtod(mbuf, const std::byte*);
}

}  // namespace

struct DpdkSource::Impl {
    DpdkOptions options;
    std::vector<Port> ports;
    dpdk::PacketPools pools;
    std::vector<std::string> notices;
    TscClock clock;
    std::uintptr_t stamp_offset = 0;  // of the stamp in an mbuf, bytes
    std::uint64_t stamp_flag = 0;     // in ol_flags: this mbuf has one
    PollState poll;
    std::array<rte_mbuf*, dpdk::most_burst> burst{};

    Impl() = default;
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    Impl(Impl&&) = delete;
    Impl& operator=(Impl&&) = delete;
    ~Impl() { shut_down(); }

    std::optional<Error> start(const std::vector<DeviceName>& devices);
    std::optional<Error> start_ports(const std::vector<DeviceName>& devices);
    void find_stamps();
    void shut_down() noexcept;

    std::size_t poll_queue(const QueuePoll& from, std::span<Packet> out) noexcept;
    [[nodiscard]] Stamp stamp_of(const rte_mbuf* mbuf, Stamps& kind, Stamp by_tsc) const noexcept;
    [[nodiscard]] rte_mbuf* in_one_piece(rte_mbuf* chain) noexcept;
};

std::optional<Error> DpdkSource::Impl::start(const std::vector<DeviceName>& devices) {
    auto error = dpdk::start_environment(options, devices, [&] { return start_ports(devices); });
    if (error) return error;
    clock = TscClock::calibrate();
    poll.last_receive_tsc = rdtsc();
    dpdk::wait_for_links(ports, options.link_wait_ms, notices);
    return std::nullopt;
}

std::optional<Error> DpdkSource::Impl::start_ports(const std::vector<DeviceName>& devices) {
    for (const DeviceName& device : devices) {
        auto port = dpdk::find_port(device);
        if (!port) return port.error();
        ports.push_back(std::move(port).value());
    }
    dpdk::PoolDemand demand;
    for (std::size_t i = 0; i < ports.size(); ++i) {
        if (auto error = dpdk::configure_port(ports[i], options.ports[i], options)) return error;
        demand.queues += ports[i].queues;
        demand.descriptors += std::uint32_t{ports[i].queues} * ports[i].descriptors;
    }
    auto made = dpdk::create_pools(options, demand, ports.front().numa_node);
    if (!made) return made.error();
    pools = made.value();
    for (std::size_t i = 0; i < ports.size(); ++i) {
        if (auto error = dpdk::start_port(ports[i], pools.frames, notices)) return error;
        for (std::uint16_t queue = 0; queue < ports[i].queues; ++queue) {
            poll.queues.push_back({ports[i].id, queue, static_cast<std::uint16_t>(i)});
        }
        poll.stamps.push_back(ports[i].stamps);
        poll.records.push_back(0);
    }
    find_stamps();
    return std::nullopt;
}

// The field is registered by the first driver that stamps, when it starts.
void DpdkSource::Impl::find_stamps() {
    const int offset = rte_mbuf_dynfield_lookup(RTE_MBUF_DYNFIELD_TIMESTAMP_NAME, nullptr);
    const int bit = rte_mbuf_dynflag_lookup(RTE_MBUF_DYNFLAG_RX_TIMESTAMP_NAME, nullptr);
    if (offset < 0 || bit < 0) return;
    stamp_offset = static_cast<std::uintptr_t>(offset);
    stamp_flag = std::uint64_t{1} << static_cast<unsigned>(bit);
}

void DpdkSource::Impl::shut_down() noexcept {
    poll.queues.clear();
    for (Port& port : ports) dpdk::close_port(port);
    dpdk::free_pools(pools);
    dpdk::stop_eal();
}

Stamp DpdkSource::Impl::stamp_of(const rte_mbuf* mbuf, Stamps& kind, Stamp by_tsc) const noexcept {
    if (kind == Stamps::none || (mbuf->ol_flags & stamp_flag) == 0) return by_tsc;
    const auto raw = static_cast<std::int64_t>(
        *RTE_MBUF_DYNFIELD(mbuf, stamp_offset, const rte_mbuf_timestamp_t*));
    if (kind == Stamps::capture_us) return {raw * 1000, TimeSource::capture};
    if (kind == Stamps::nic_unchecked) {
        const bool utc = std::llabs(raw - by_tsc.time_ns) < utc_tolerance_ns;
        kind = utc ? Stamps::nic_utc_ns : Stamps::none;
        if (!utc) return by_tsc;
    }
    return {raw, TimeSource::nic};
}

// Null: there is no long buffer free, or the frame does not fit one. Else the copy; the chain is
// given back.
rte_mbuf* DpdkSource::Impl::in_one_piece(rte_mbuf* chain) noexcept {
    if (pools.linear == nullptr || chain->pkt_len > options.linear_bytes) return nullptr;
    rte_mbuf* whole = rte_pktmbuf_alloc(pools.linear);
    if (whole == nullptr) return nullptr;
    auto* to = rte_pktmbuf_mtod(whole, std::byte*);
    for (const rte_mbuf* piece = chain; piece != nullptr; piece = piece->next) {
        std::memcpy(to, bytes_of(piece), piece->data_len);
        to += piece->data_len;
    }
    whole->data_len = static_cast<std::uint16_t>(chain->pkt_len);
    whole->pkt_len = chain->pkt_len;
    rte_pktmbuf_free(chain);
    return whole;
}

std::size_t DpdkSource::Impl::poll_queue(const QueuePoll& from, std::span<Packet> out) noexcept {
    const std::uint16_t count = rte_eth_rx_burst(from.port_id, from.queue, burst.data(),
                                                 static_cast<std::uint16_t>(out.size()));
    if (count == 0) return 0;
    const std::uint64_t tsc = rdtsc();
    const Stamp by_tsc{clock.to_utc_ns(tsc), TimeSource::software};
    poll.last_receive_tsc = tsc;
    Stamps& kind = poll.stamps[from.input];
    std::uint64_t record = poll.records[from.input];
    for (std::size_t i = 0; i < count; ++i) {
        rte_mbuf* mbuf = burst[i];
        rte_prefetch0(bytes_of(mbuf));
        const Stamp stamp = stamp_of(mbuf, kind, by_tsc);
        if (mbuf->nb_segs > 1) [[unlikely]] {
            rte_mbuf* whole = in_one_piece(mbuf);
            add_one(whole != nullptr ? poll.linearised : poll.cut);
            if (whole != nullptr) mbuf = whole;
        }
        Packet& packet = out[i];
        packet = Packet{};
        packet.data = bytes_of(mbuf);
        packet.bytes = mbuf->data_len;
        packet.original_bytes = mbuf->pkt_len;
        packet.receive_time_ns = stamp.time_ns;
        packet.receive_tsc = tsc;
        packet.owner = reinterpret_cast<std::uintptr_t>(mbuf);
        packet.record = record++;
        packet.input = from.input;
        packet.link = wire::LinkType::ethernet;
        packet.time_source = stamp.source;
    }
    poll.records[from.input] = record;
    return count;
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

std::size_t DpdkSource::receive(std::span<Packet> out) noexcept {
    PollState& poll = impl_->poll;
    const std::size_t want = std::min<std::size_t>(impl_->options.burst, out.size());
    std::size_t filled = 0;
    // Each queue once at most, and only with room for a full burst: vector drivers give nothing
    // to a caller who asks for a handful.
    for (std::size_t polled = 0; polled < poll.queues.size(); ++polled) {
        if (out.size() - filled < want) break;
        const QueuePoll& from = poll.queues[poll.next];
        poll.next = poll.next + 1 == poll.queues.size() ? 0 : poll.next + 1;
        filled += impl_->poll_queue(from, out.subspan(filled, want));
    }
    poll.empty_rounds = filled == 0 ? poll.empty_rounds + 1 : 0;
    return filled;
}

void DpdkSource::release(std::span<const Packet> packets) noexcept {
    std::array<rte_mbuf*, free_at_once> mbufs{};
    while (!packets.empty()) {
        const std::size_t count = std::min(packets.size(), free_at_once);
        for (std::size_t i = 0; i < count; ++i) mbufs[i] = mbuf_of(packets[i]);
        rte_pktmbuf_free_bulk(mbufs.data(), static_cast<unsigned>(count));
        packets = packets.subspan(count);
    }
}

std::uint64_t DpdkSource::empty_rounds() const noexcept {
    return impl_->poll.empty_rounds;
}
std::uint64_t DpdkSource::last_receive_tsc() const noexcept {
    return impl_->poll.last_receive_tsc;
}
std::size_t DpdkSource::ports() const noexcept {
    return impl_->ports.size();
}

DpdkPortStats DpdkSource::port_stats(std::size_t port) const noexcept {
    return dpdk::read_stats(impl_->ports[port]);
}

bool DpdkSource::link_up(std::size_t port) const noexcept {
    return dpdk::port_link_up(impl_->ports[port]);
}

DpdkCounters DpdkSource::counters() const noexcept {
    return {impl_->poll.linearised.load(std::memory_order_relaxed),
            impl_->poll.cut.load(std::memory_order_relaxed)};
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
