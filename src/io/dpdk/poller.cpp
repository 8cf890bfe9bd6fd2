// DpdkPoller: the polling loop's side of DPDK. See the public header for threads and lifetimes.
#include "poller.hpp"

#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_ring.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace wirebook::io {

using wire::Packet;
using wire::TimeSource;

namespace dpdk {
namespace {

constexpr std::size_t free_at_once = 64;
// A NIC's stamp this near to UTC is a stamp of UTC: no free-running counter is, by chance.
constexpr std::int64_t utc_tolerance_ns = 10'000'000'000;

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

// The field is registered by the first driver that stamps, when it starts.
StampPlace find_stamp_place() {
    const int offset = rte_mbuf_dynfield_lookup(RTE_MBUF_DYNFIELD_TIMESTAMP_NAME, nullptr);
    const int bit = rte_mbuf_dynflag_lookup(RTE_MBUF_DYNFLAG_RX_TIMESTAMP_NAME, nullptr);
    if (offset < 0 || bit < 0) return {};
    return {static_cast<std::uintptr_t>(offset), std::uint64_t{1} << static_cast<unsigned>(bit)};
}

Stamp PollerState::stamp_of(const rte_mbuf* mbuf, PollerInput& input, Stamp by_tsc) const noexcept {
    if (input.stamps == Stamps::none || (mbuf->ol_flags & stamp_place.flag) == 0) return by_tsc;
    const auto raw = *RTE_MBUF_DYNFIELD(mbuf, stamp_place.offset, const rte_mbuf_timestamp_t*);
    const auto time_ns = static_cast<std::int64_t>(raw);
    if (input.stamps == Stamps::capture_us) return {time_ns * 1000, TimeSource::capture};
    if (input.stamps == Stamps::nic_unchecked) {
        const auto off =
            static_cast<std::int64_t>(raw - static_cast<std::uint64_t>(by_tsc.time_ns));
        const bool utc = off > -utc_tolerance_ns && off < utc_tolerance_ns;
        const Stamps otherwise = input.clock != nullptr ? Stamps::nic_readable : Stamps::nic_raw;
        input.stamps = utc ? Stamps::nic_utc_ns : otherwise;
    }
    if (input.stamps == Stamps::nic_utc_ns) return {time_ns, TimeSource::nic};
    NicRate rate;
    if (input.stamps == Stamps::nic_readable) {
        return input.clock->read(rate) ? Stamp{rate.to_utc_ns(raw), TimeSource::nic} : by_tsc;
    }
    return {time_ns, TimeSource::nic_unsynchronised};
}

// Null: there is no long buffer free, or the frame does not fit one. Else the copy; the chain is
// given back.
rte_mbuf* PollerState::in_one_piece(rte_mbuf* chain) noexcept {
    if (pools.linear == nullptr || chain->pkt_len > linear_bytes) return nullptr;
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

std::size_t PollerState::poll_queue(const QueuePoll& from, std::span<Packet> out) noexcept {
    const std::uint16_t count = rte_eth_rx_burst(from.port_id, from.queue, burst.data(),
                                                 static_cast<std::uint16_t>(out.size()));
    if (count == 0) return 0;
    const std::uint64_t tsc = rdtsc();
    const Stamp by_tsc{clock.to_utc_ns(tsc), TimeSource::software};
    last_receive_tsc.store(tsc, std::memory_order_relaxed);
    PollerInput& input = inputs[from.input];
    std::uint64_t record = input.next_record;
    for (std::size_t i = 0; i < count; ++i) {
        rte_mbuf* mbuf = burst[i];
        rte_prefetch0(bytes_of(mbuf));
        const Stamp stamp = stamp_of(mbuf, input, by_tsc);
        if (mbuf->nb_segs > 1) [[unlikely]] {
            rte_mbuf* whole = in_one_piece(mbuf);
            add_one(whole != nullptr ? linearised : cut);
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
    input.next_record = record;
    return count;
}

}  // namespace dpdk

DpdkPoller::DpdkPoller(std::unique_ptr<dpdk::PollerState> state) noexcept
    : state_(std::move(state)) {
}
DpdkPoller::DpdkPoller(DpdkPoller&&) noexcept = default;
DpdkPoller& DpdkPoller::operator=(DpdkPoller&&) noexcept = default;
DpdkPoller::~DpdkPoller() = default;

Status DpdkPoller::enter() noexcept {
    if (rte_lcore_id() != LCORE_ID_ANY) return Ok{};
    if (rte_thread_register() != 0) {
        return Error{EAGAIN, "dpdk: a polling thread cannot be registered: too many of them"};
    }
    state_->registered = true;
    return Ok{};
}

void DpdkPoller::leave() noexcept {
    if (std::exchange(state_->registered, false)) rte_thread_unregister();
}

std::size_t DpdkPoller::receive(std::span<Packet> out) noexcept {
    dpdk::PollerState& poll = *state_;
    const std::size_t want = std::min<std::size_t>(poll.burst_limit, out.size());
    std::size_t filled = 0;
    // Each queue once at most, and only with room for a full burst: vector drivers give nothing
    // to a caller who asks for a handful.
    for (std::size_t polled = 0; polled < poll.queues.size(); ++polled) {
        if (out.size() - filled < want) break;
        const dpdk::QueuePoll& from = poll.queues[poll.next];
        poll.next = poll.next + 1 == poll.queues.size() ? 0 : poll.next + 1;
        filled += poll.poll_queue(from, out.subspan(filled, want));
    }
    poll.empty_rounds = filled == 0 ? poll.empty_rounds + 1 : 0;
    return filled;
}

void DpdkPoller::release(std::span<const Packet> packets) noexcept {
    std::array<rte_mbuf*, dpdk::free_at_once> mbufs{};
    while (!packets.empty()) {
        const std::size_t count = std::min(packets.size(), dpdk::free_at_once);
        for (std::size_t i = 0; i < count; ++i) mbufs[i] = dpdk::mbuf_of(packets[i]);
        rte_pktmbuf_free_bulk(mbufs.data(), static_cast<unsigned>(count));
        packets = packets.subspan(count);
    }
}

void DpdkPoller::offer(const Packet& packet) noexcept {
    rte_mbuf* mbuf = dpdk::mbuf_of(packet);
    if (mbuf->nb_segs != 1) return dpdk::add_one(state_->unoffered);  // pieces cannot be shared
    rte_mbuf_refcnt_update(mbuf, 1);
    mbuf->port = packet.input;
    if (rte_ring_enqueue(state_->offered, mbuf) == 0) return;
    rte_mbuf_refcnt_update(mbuf, -1);
    dpdk::add_one(state_->unoffered);
}

std::uint64_t DpdkPoller::empty_rounds() const noexcept {
    return state_->empty_rounds;
}
std::uint64_t DpdkPoller::last_receive_tsc() const noexcept {
    return state_->last_receive_tsc.load(std::memory_order_relaxed);
}
DpdkCounters DpdkPoller::counters() const noexcept {
    return {state_->linearised.load(std::memory_order_relaxed),
            state_->cut.load(std::memory_order_relaxed),
            state_->unoffered.load(std::memory_order_relaxed)};
}

}  // namespace wirebook::io
