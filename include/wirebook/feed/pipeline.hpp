// Packets in, books out: frame -> datagram -> channel -> sequence -> messages -> batch -> books.
//
// The whole path of one lcore, run to completion on each packet, for live ports and captures
// alike. Template over who looks at the results; no virtual call, no allocation after the
// channels are open. May depend on core, wire and book. One owner thread.
//
// Observer (all noexcept; a Channel outlives the pipeline's use of it):
//   bool wants_messages()
//   on_channel(const Channel&)                              opened, before its first packet
//   on_message(const Channel&, sequence, wire::Bytes)       each new message, if wanted
//   on_event(const Channel&, const book::Event&, const book::PacketEnd&)
//   on_execution(const Channel&, const book::Execution&, const book::PacketEnd&)
//   on_touched(const Channel&, instrument, const book::PacketEnd&)
//   on_packet_end(const Channel&, const book::PacketEnd&)
//   on_session(const Channel&, const wire::SessionKey&, sequence, first, next packet number)
//   on_gap(const Channel&, first, end, next packet number)
//   on_quality(const Channel&, next packet number)          Channel::feed_quality() has changed
//   on_offline(const Channel&, next packet number)          Channel::quality() has, by
//   set_offline() on_unfollowed(const Channel&, instrument)               will be, by
//   change_symbols()
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "wirebook/core/clock.hpp"
#include "wirebook/feed/book_observer.hpp"
#include "wirebook/feed/channel.hpp"
#include "wirebook/feed/channel_map.hpp"
#include "wirebook/feed/counters.hpp"
#include "wirebook/wire/frame.hpp"
#include "wirebook/wire/iex_tp.hpp"
#include "wirebook/wire/moldudp64.hpp"
#include "wirebook/wire/udp_checksum.hpp"

namespace wirebook::feed {

template <class Observer>
class Pipeline {
public:
    Pipeline(PipelineOptions options, Observer& observer)
        : map_(std::move(options), batch_), observer_(observer) {
        released_.reserve(1024);
    }
    Pipeline(const Pipeline&) = delete;
    Pipeline& operator=(const Pipeline&) = delete;
    Pipeline(Pipeline&&) = delete;
    Pipeline& operator=(Pipeline&&) = delete;
    ~Pipeline() = default;

    // Opens the configured channels: memory is taken now, not at their first packet.
    [[nodiscard]] Status open() {
        if (auto opened = map_.open_configured(); !opened) return opened;
        for (const auto& channel : map_.channels()) observer_.on_channel(*channel);
        return Ok{};
    }

    // Before the first packet: what `packet` will open takes its memory now.
    void prepare(const wire::Packet& packet) { map_.prepare(packet); }

    // yes: the packet waits behind a hole; it comes back in released().
    [[nodiscard]] Kept on_packet(const wire::Packet& packet) noexcept {
        counters_.packets += 1;
        counters_.bytes += packet.bytes;
        // Such a stamp is no time; whoever polls advances the clock (docs/dpdk.md, "Stamps").
        if (packet.time_source != wire::TimeSource::nic_unsynchronised) [[likely]] {
            advance_clock(packet.receive_time_ns);
        }
        Item item{packet, {}, 0};
        Channel* channel = find_channel(item);
        if (channel == nullptr) return Kept::no;
        Sink sink{*this, *channel};
        const Kept kept = channel->sequencer_.accept(item, now_ns_, sink);
        update_deadline(*channel);
        return kept;
    }

    // The highest stamp seen so far moves to `time_ns`: holes whose wait is over are given up.
    void advance_clock(std::int64_t time_ns) noexcept {
        if (time_ns <= now_ns_) return;
        now_ns_ = time_ns;
        if (now_ns_ < deadline_ns_) return;
        for (const auto& channel : map_.channels()) {
            Sink sink{*this, *channel};
            channel->sequencer_.expire(now_ns_, sink);
        }
        recompute_deadline();
    }

    // Everything decoded so far reaches the books and the observer.
    void flush() noexcept {
        if (batch_.updates == 0 && batch_.events == 0 && batch_.packets == 0) return;
        BookObserver<Observer> forward{*batch_channel_, observer_};
        batch_channel_->books_.apply(batch_, forward);
        batch_.clear();
    }

    // The end of the source: what waits is processed.
    void finish() noexcept {
        for (const auto& channel : map_.channels()) {
            Sink sink{*this, *channel};
            channel->sequencer_.finish(sink);
        }
        recompute_deadline();
        flush();
    }

    // No line of the channel can bring anything (true), or what was missed meanwhile is known
    // (false). Offline, a good channel is stale.
    void set_offline(std::size_t channel, bool offline) noexcept;
    // The channel follows other symbols from now on; `filter` becomes the old one. Instruments that
    // are new in it are incomplete where orders of them have come already.
    void change_symbols(std::size_t channel, SymbolFilter& filter) noexcept;

    // Packets that waited and are done with; the caller gives them to the source and clears.
    [[nodiscard]] std::vector<wire::Packet>& released() noexcept { return released_; }
    // Packet stamps for latency are taken where somebody reads them.
    void take_stamps(bool on) noexcept { stamps_ = on; }

    [[nodiscard]] const FeedCounters& counters() const noexcept { return counters_; }
    [[nodiscard]] std::span<const std::unique_ptr<Channel>> channels() const noexcept {
        return map_.channels();
    }
    // Why a channel that turned up could not be opened; its packets count as no_channel.
    [[nodiscard]] const std::optional<Error>& open_error() const noexcept {
        return map_.open_error();
    }
    [[nodiscard]] std::uint64_t next_packet_number() const noexcept { return next_number_; }
    // Every channel has one session that has ended.
    [[nodiscard]] bool all_ended() const noexcept {
        return !map_.channels().empty() &&
               std::all_of(map_.channels().begin(), map_.channels().end(), [](const auto& channel) {
                   return channel->sequencer_.ended() && channel->sequencer_.parked() == 0;
               });
    }

private:
    // What the sequencer asks for.
    struct Sink {
        Pipeline& pipeline;
        Channel& channel;

        void process(const Item& item, std::uint64_t known) noexcept {
            std::visit([&](auto& handler) { pipeline.decode(channel, handler, item, known); },
                       channel.handler_);
        }
        void gap(std::uint64_t first, std::uint64_t end) noexcept {
            pipeline.on_gap(channel, first, end);
        }
        void session(const wire::SessionKey& key, std::uint64_t sequence, bool first) noexcept {
            pipeline.on_session(channel, key, sequence, first);
        }
        void release(const Item& item) noexcept { pipeline.released_.push_back(item.packet); }
    };

    [[nodiscard]] Channel* find_channel(Item& item) noexcept {
        const wire::Packet& packet = item.packet;
        const std::size_t known = map_.channels().size();
        Channel* channel = nullptr;
        if (packet.link == wire::LinkType::binaryfile) {
            channel = map_.find_binaryfile(item);
            if (channel == nullptr) counters_.no_channel += 1;
        } else {
            wire::Datagram datagram;
            const wire::DropReason reason = wire::parse_frame(packet, datagram);
            if (reason != wire::DropReason::none || !checksum_passes(datagram)) {
                counters_.frame_drops[static_cast<std::size_t>(
                    reason == wire::DropReason::none ? wire::DropReason::checksum : reason)] += 1;
                return nullptr;
            }
            channel = map_.find(datagram, item, counters_);
        }
        for (std::size_t i = known; i < map_.channels().size(); ++i) {
            observer_.on_channel(*map_.channels()[i]);
        }
        return channel;
    }

    [[nodiscard]] bool checksum_passes(const wire::Datagram& datagram) noexcept {
        const ChecksumPolicy policy = map_.options().checksum;
        if (policy == ChecksumPolicy::off || wire::udp_checksum_ok(datagram)) return true;
        counters_.bad_checksums += 1;
        return policy != ChecksumPolicy::drop;
    }

    template <class H>
    void decode(Channel& channel, H& handler, const Item& item, std::uint64_t known) noexcept {
        begin(channel);
        if (batch_.packets == book::UpdateBatch::packet_capacity) flush();
        const wire::TransportPacket& packet = item.transport;
        describe(channel, item);
        bool numbered = false;
        if (item.packet.link == wire::LinkType::binaryfile) {
            numbered = true;
            decode_message(channel, handler, packet.sequence, packet.blocks);
        } else {
            wire::BlockCursor cursor(packet);
            for (std::uint64_t i = 0; i < packet.count; ++i) {
                const wire::Bytes message = cursor.next();
                if (i < known || message.empty()) continue;
                numbered = true;
                if (packet.unsequenced) counters_.unsequenced += 1;
                decode_message(channel, handler, packet.unsequenced ? 0 : packet.sequence + i,
                               message);
            }
        }
        if (numbered) end_packet();
    }

    template <class H>
    void decode_message(Channel& channel, H& handler, std::uint64_t sequence,
                        wire::Bytes message) noexcept {
        counters_.messages += 1;
        channel.by_type_[static_cast<unsigned char>(message[0])] += 1;
        if (observer_.wants_messages()) observer_.on_message(channel, sequence, message);
        if (!channel.out_.has_room()) {
            // The packet goes on in the next batch; whoever looks at events finds its facts.
            batch_.tail_open = true;
            const book::PacketEnd end = batch_.packet[batch_.packets];
            flush();
            batch_.packet[0] = end;
        }
        const wire::DecodeStatus status = handler.decode(message);
        counters_.decode_errors += status == wire::DecodeStatus::truncated ? 1 : 0;
        counters_.unknown_messages += status == wire::DecodeStatus::unknown_type ? 1 : 0;
    }

    // The facts of the packet being decoded stand behind the whole packets of the batch.
    void describe(const Channel& channel, const Item& item) noexcept {
        book::PacketEnd& end = batch_.packet[batch_.packets];
        end.number = next_number_;
        end.sequence = item.transport.sequence;
        end.receive_time_ns = item.packet.receive_time_ns;
        end.receive_tsc = item.packet.receive_tsc;
        end.decoded_tsc = 0;
        end.channel = channel.index();
        end.line = item.line;
        end.time_source = static_cast<std::uint8_t>(item.packet.time_source);
    }
    void end_packet() noexcept {
        book::PacketEnd& end = batch_.packet[batch_.packets];
        end.updates_end = batch_.updates;
        end.events_end = batch_.events;
        if (stamps_) end.decoded_tsc = rdtsc();
        batch_.tail_open = false;  // a clear before the packet is the packet's now
        batch_.packets += 1;
        next_number_ += 1;
    }

    // Batches are of one channel: its books apply them.
    void begin(Channel& channel) noexcept {
        if (batch_channel_ != &channel) flush();
        batch_channel_ = &channel;
    }

    void on_gap(Channel& channel, std::uint64_t first, std::uint64_t end) noexcept;
    void on_session(Channel& channel, const wire::SessionKey& key, std::uint64_t sequence,
                    bool first) noexcept;

    void update_deadline(const Channel& channel) noexcept {
        if (channel.sequencer_.deadline_ns() != INT64_MAX || deadline_ns_ != INT64_MAX) {
            recompute_deadline();
        }
    }
    void recompute_deadline() noexcept {
        deadline_ns_ = INT64_MAX;
        for (const auto& channel : map_.channels()) {
            deadline_ns_ = std::min(deadline_ns_, channel->sequencer_.deadline_ns());
        }
    }

    book::UpdateBatch batch_;
    ChannelMap map_;
    Observer& observer_;
    Channel* batch_channel_ = nullptr;  // whose updates stand in batch_
    FeedCounters counters_;
    std::uint64_t next_number_ = 0;
    std::int64_t now_ns_ = 0;  // the highest stamp so far
    std::int64_t deadline_ns_ = INT64_MAX;
    bool stamps_ = false;
    std::vector<wire::Packet> released_;
};

}  // namespace wirebook::feed

#include "wirebook/feed/pipeline_state.hpp"  // IWYU pragma: export
