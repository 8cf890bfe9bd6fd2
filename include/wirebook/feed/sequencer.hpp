// Puts the packets of one channel, from all its lines, into order: the first copy of a sequence
// number wins, short holes wait for another line, long ones are given up.
//
// May depend on core and wire. One owner thread. Packets that wait are kept as handles (no copy):
// the bytes stay the source's until the sink's release().
//
// Numbers. expected_ is the next number to process, shown_ one past the highest number that any
// packet or heartbeat has shown. Between them every number is either in a parked packet or in a
// hole:
//   I1  holes_ is ascending and disjoint; a hole is a maximal run of numbers that nobody holds
//   I2  start times ascend with the holes, since only the newest hole can begin or grow later
//   I3  when nothing is being processed, the lowest hole begins at expected_; without holes
//       nothing is parked and expected_ == shown_
//
// Sink: what the channel does with it (all noexcept):
//   process(const Item&, std::uint64_t known)   the packet's messages after the first `known`
//   gap(first, end)                             numbers [first, end) are given up
//   session(const wire::SessionKey&, sequence, first) a session is adopted (first: of the channel)
//   release(const Item&)                        a parked packet is done with
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "wirebook/core/base.hpp"
#include "wirebook/feed/front_vector.hpp"
#include "wirebook/wire/packet.hpp"
#include "wirebook/wire/transport.hpp"

namespace wirebook::feed {

// A datagram with its place: what waits behind a hole.
struct Item {
    wire::Packet packet;
    wire::TransportPacket transport;
    std::uint16_t line = 0;  // index of the channel's line it came on
};

struct SequenceCounters {
    std::uint64_t processed_packets = 0;  // contributed a new number, or unsequenced with blocks
    std::uint64_t duplicate_packets = 0;
    std::uint64_t heartbeats = 0;   // end of session and unsequenced ones too
    std::uint64_t duplicates = 0;   // sequence numbers already passed
    std::uint64_t old_session = 0;  // packets
    std::uint64_t gaps = 0, gap_messages = 0, gaps_filled = 0;
    std::uint64_t sessions = 0;  // adopted
};

// The most that is of use: what comes out of order moves the entries behind it, some tens of
// microseconds a packet at this number, and more with the square of it.
inline constexpr std::uint32_t park_packets_limit = 65'536;

struct SequencerOptions {
    std::int64_t gap_wait_ns = 500'000;
    std::uint32_t park_packets = 4096;  // how many may wait; then the oldest hole is given up
};

enum class Kept : bool { no, yes };  // yes: the packet waits; it comes back by Sink::release

class Sequencer {
public:
    explicit Sequencer(const SequencerOptions& options) : options_(options) {
        items_.resize(options.park_packets);
        free_.reserve(options.park_packets);
        for (std::uint32_t i = options.park_packets; i > 0; --i) free_.push_back(i - 1);
        waiting_.reserve(options.park_packets);
        holes_.reserve(options.park_packets + 2);
        earlier_.reserve(64);
    }

    // `now_ns` is the clock of the holes: the highest stamp seen so far.
    template <class Sink>
    [[nodiscard]] Kept accept(const Item& item, std::int64_t now_ns, Sink& sink) noexcept {
        const wire::TransportPacket& packet = item.transport;
        if (packet.sequence == expected_ && holes_.empty() && packet.count != 0 && adopted_ &&
            packet.session_key == session_) {  // the straight line
            shown_ = packet.sequence + packet.count;
            deliver(item, sink);
            return Kept::no;
        }
        return accept_slowly(item, now_ns, sink);
    }

    // Gives up every hole whose wait is over at `now_ns`.
    template <class Sink>
    void expire(std::int64_t now_ns, Sink& sink) noexcept {
        while (!holes_.empty() && now_ns >= deadline_ns()) give_up(sink);
    }

    // The end of the source: nothing more will come to fill a hole.
    template <class Sink>
    void finish(Sink& sink) noexcept {
        while (!holes_.empty()) give_up(sink);
    }

    // When the oldest hole ends; INT64_MAX where there is none.
    [[nodiscard]] std::int64_t deadline_ns() const noexcept {
        if (holes_.empty()) return INT64_MAX;
        std::int64_t deadline = 0;
        return __builtin_add_overflow(holes_.front().start_ns, options_.gap_wait_ns, &deadline)
                   ? INT64_MAX
                   : deadline;
    }
    [[nodiscard]] bool adopted() const noexcept { return adopted_; }
    [[nodiscard]] bool ended() const noexcept { return ended_; }
    [[nodiscard]] bool has_or_had(const wire::SessionKey& key) const noexcept {
        return (named_ && key == session_) || is_earlier(key);
    }
    [[nodiscard]] std::uint64_t expected() const noexcept { return expected_; }
    [[nodiscard]] std::size_t parked() const noexcept { return waiting_.size(); }
    [[nodiscard]] const SequenceCounters& counters() const noexcept { return counters_; }

    // Aborts when I1..I3 do not hold. For tests.
    void check() const noexcept {
        std::uint64_t at = expected_;
        for (const Hole& hole : holes_) {
            WIREBOOK_CHECK(hole.first >= at && hole.end > hole.first && hole.end <= shown_);
            at = hole.end;
        }
        WIREBOOK_CHECK(holes_.empty() || holes_.front().first == expected_);
        WIREBOOK_CHECK(!holes_.empty() || (waiting_.empty() && expected_ == shown_));
    }

private:
    struct Hole {
        std::uint64_t first, end;  // [first, end)
        std::int64_t start_ns;     // clock of the record that first showed it
    };
    // Bounded memory for session ids against a sender that invents them; the oldest is forgotten.
    static constexpr std::size_t earlier_limit = 4096;

    template <class Sink>
    [[nodiscard]] Kept accept_slowly(const Item& item, std::int64_t now_ns, Sink& sink) noexcept {
        const wire::TransportPacket& packet = item.transport;
        if (adopted_ && packet.session_key != session_ && is_earlier(packet.session_key)) {
            counters_.old_session += 1;
            return Kept::no;
        }
        if (packet.unsequenced) {
            if (!named_) {  // starts no session, but says whose packets these are
                session_ = packet.session_key;
                named_ = true;
            }
            if (packet.count == 0) {  // heartbeat, end of session
                counters_.heartbeats += 1;
            } else {
                counters_.processed_packets += 1;
                sink.process(item, 0);
            }
            return Kept::no;
        }
        if (!adopted_ || packet.session_key != session_) adopt(packet, sink);
        if (packet.count == 0) {  // heartbeat, end of session
            counters_.heartbeats += 1;
            ended_ = ended_ || packet.end_of_session;
            show(packet.sequence, packet.sequence, now_ns);
            if (options_.gap_wait_ns == 0) finish(sink);
            return Kept::no;
        }
        show(packet.sequence, packet.sequence + packet.count, now_ns);
        if (packet.sequence > expected_ && options_.gap_wait_ns == 0) finish(sink);
        while (packet.sequence > expected_ && free_.empty()) give_up(sink);
        if (packet.sequence > expected_) {
            park(item);
            return Kept::yes;
        }
        deliver(item, sink);
        drain(sink);
        return Kept::no;
    }

    template <class Sink>
    void adopt(const wire::TransportPacket& packet, Sink& sink) noexcept {
        const bool first = !adopted_;
        if (!first) {
            finish(sink);
            if (earlier_.size() == earlier_limit) earlier_.erase(earlier_.begin());
            earlier_.push_back(session_);
        }
        session_ = packet.session_key;
        named_ = true;
        adopted_ = true;
        ended_ = false;
        expected_ = shown_ = packet.sequence;
        counters_.sessions += 1;
        sink.session(session_, packet.sequence, first);
    }

    // A record shows numbers up to `end` and carries [first, end).
    void show(std::uint64_t first, std::uint64_t end, std::int64_t now_ns) noexcept {
        if (first > shown_) {
            if (!holes_.empty() && holes_.back().end == shown_) {
                holes_.back().end = first;
            } else {
                holes_.push_back({shown_, first, now_ns});
            }
        }
        if (end > first && !holes_.empty() && first < holes_.back().end) fill(first, end);
        shown_ = std::max(shown_, end);
    }

    // Takes [first, end) out of the holes.
    void fill(std::uint64_t first, std::uint64_t end) noexcept {
        const auto from = std::partition_point(holes_.begin(), holes_.end(),
                                               [&](const Hole& hole) { return hole.end <= first; });
        if (from != holes_.end() && from->first < first) {
            const Hole hole = *from;
            from->end = first;
            if (hole.end > end) {
                holes_.insert(from + 1, {end, hole.end, hole.start_ns});
                return;
            }
            fill(std::min(hole.end, end), end);  // what stands behind that hole
            return;
        }
        auto whole = from;
        while (whole != holes_.end() && whole->end <= end) ++whole;
        counters_.gaps_filled += static_cast<std::uint64_t>(whole - from);
        if (whole != holes_.end() && whole->first < end) whole->first = end;
        if (from == holes_.begin()) {
            holes_.drop_front(static_cast<std::size_t>(whole - from));
        } else {
            holes_.erase(from, whole);
        }
    }

    template <class Sink>
    void give_up(Sink& sink) noexcept {
        const Hole hole = holes_.front();
        holes_.drop_front(1);
        counters_.gaps += 1;
        counters_.gap_messages += hole.end - hole.first;
        expected_ = hole.end;
        sink.gap(hole.first, hole.end);
        drain(sink);
    }

    // Processes what waits as far as the numbers go without a hole.
    template <class Sink>
    void drain(Sink& sink) noexcept {
        std::size_t done = 0;
        while (done < waiting_.size() && items_[waiting_[done]].transport.sequence <= expected_) {
            const std::uint32_t slot = waiting_[done];
            done += 1;
            deliver(items_[slot], sink);
            sink.release(items_[slot]);
            free_.push_back(slot);
        }
        waiting_.drop_front(done);
    }

    template <class Sink>
    void deliver(const Item& item, Sink& sink) noexcept {
        const wire::TransportPacket& packet = item.transport;
        const std::uint64_t known =
            std::min<std::uint64_t>(expected_ - packet.sequence, packet.count);
        counters_.duplicates += known;
        if (known == packet.count) {
            counters_.duplicate_packets += 1;
            return;
        }
        counters_.processed_packets += 1;
        expected_ = packet.sequence + packet.count;
        sink.process(item, known);
    }

    // By header sequence, then arrival: behind all that are not greater.
    void park(const Item& item) noexcept {
        const std::uint32_t slot = free_.back();
        free_.pop_back();
        items_[slot] = item;
        const auto at = std::upper_bound(waiting_.begin(), waiting_.end(), item.transport.sequence,
                                         [&](std::uint64_t sequence, std::uint32_t other) {
                                             return sequence < items_[other].transport.sequence;
                                         });
        waiting_.insert(at, slot);
    }

    [[nodiscard]] bool is_earlier(const wire::SessionKey& key) const noexcept {
        return std::find(earlier_.begin(), earlier_.end(), key) != earlier_.end();
    }

    SequencerOptions options_;
    SequenceCounters counters_;
    wire::SessionKey session_{};
    bool named_ = false;  // session_ is that of a packet; adopted_ implies it
    bool adopted_ = false;
    bool ended_ = false;  // the current session has said so
    std::uint64_t expected_ = 0, shown_ = 0;
    FrontVector<Hole> holes_;
    std::vector<wire::SessionKey> earlier_;
    std::vector<Item> items_;             // slots of parked packets
    std::vector<std::uint32_t> free_;     // free slots
    FrontVector<std::uint32_t> waiting_;  // slots in the order of processing
};

}  // namespace wirebook::feed
