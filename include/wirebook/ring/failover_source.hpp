// What the failover reader knows of one of its two segments: part of failover.hpp.
//
// Records that a follower has and the leader has not given yet are not copied: they stay in the
// follower's ring, and a list says where. Includes only the standard library and core. One thread.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wirebook/ring/reader.hpp"

namespace wirebook::ring::detail {

// A place in a channel's stream of messages. Sessions are numbered as they show; sequences begin
// anew in each. A session's own event is at sequence 0 of it, a gap at the last message it lacks.
struct StreamPlace {
    std::uint32_t session = 0;
    std::uint64_t sequence = 0;
    auto operator<=>(const StreamPlace&) const = default;
};

// A record that waits in its ring.
struct WaitingRecord {
    std::uint64_t ring_sequence = 0;
    StreamPlace place;
    std::uint64_t since_tsc = 0;  // we read it then
    RecordKind kind = RecordKind::none;
    Quality quality_before = Quality::good;  // of its channel, at its source
};

// First in, first out. Allocates as it grows, and never more than the ring has slots: what is not
// in the ring any more need not be listed.
class WaitingList {
public:
    [[nodiscard]] bool empty() const noexcept { return first_ == end_; }
    [[nodiscard]] std::size_t size() const noexcept { return end_ - first_; }
    [[nodiscard]] const WaitingRecord& front() const noexcept { return records_[at(first_)]; }
    void pop() noexcept { first_ += 1; }
    void clear() noexcept { first_ = end_ = 0; }
    void push(const WaitingRecord& record) {
        if (size() == records_.size()) grow();
        records_[at(end_)] = record;
        end_ += 1;
    }

private:
    [[nodiscard]] std::size_t at(std::size_t i) const noexcept { return i & (records_.size() - 1); }
    void grow() {
        std::vector<WaitingRecord> larger(records_.empty() ? 64 : records_.size() * 2);
        const std::size_t count = size();
        for (std::size_t i = 0; i < count; ++i) larger[i] = records_[at(first_ + i)];
        records_ = std::move(larger);
        first_ = 0;
        end_ = count;
    }

    std::vector<WaitingRecord> records_;  // a power of two of them
    std::size_t first_ = 0, end_ = 0;
};

struct FailoverSource {
    struct Channel {
        Quality quality = Quality::not_ready;  // as its records say, up to where we have read
        Quality quality_before = Quality::not_ready;  // the same before the record read last
        std::uint32_t session = 0;
        StreamPlace last;     // of the record read last that has a place
        StreamPlace newest;   // of the feed's records that were read
        bool seen = false;    // a record of it was read, or it had snapshots when we attached
        bool joined = false;  // what was read reaches back to what was given: nothing is missing
        WaitingList waiting;
        // Records that waited and found no room, when the first was read, the newest one's place.
        std::uint64_t dropped = 0;
        std::uint64_t dropped_tsc = 0;
        StreamPlace last_dropped;
        std::uint64_t stranded_tsc = 0;  // the first record was read of a session that was left
        std::uint64_t reads = 0;         // records, in all
        std::uint64_t reads_seen = 0;    // the same when is_quiet looked last that found more,
        std::uint64_t quiet_tsc = 0;     // and when that was

        // Nothing was read of it yet, so it may be anywhere.
        [[nodiscard]] bool unknown() const noexcept { return newest == StreamPlace{}; }
        [[nodiscard]] bool gap_is_next() const noexcept {
            return !waiting.empty() && waiting.front().kind == RecordKind::gap;
        }
        // Where its next record is that was not given or left out.
        [[nodiscard]] Quality quality_here() const noexcept {
            return waiting.empty() ? quality : waiting.front().quality_before;
        }
        [[nodiscard]] std::uint32_t session_here() const noexcept {
            return waiting.empty() ? session : waiting.front().place.session;
        }
        [[nodiscard]] std::uint64_t waits_since() const noexcept {
            return dropped != 0 ? dropped_tsc : waiting.front().since_tsc;
        }
        void forget_waiting() noexcept {
            waiting.clear();
            dropped = 0;
        }
    };

    std::string name;
    std::optional<Reader> reader;
    bool gone = true;        // not attached, or its writer has ended and all was read
    Poll end = Poll::empty;  // how
    std::array<Channel, max_channels> channels;
    // The table, where it is to be given: rows from table_next on, of these channels (bits).
    std::uint64_t table_channels = 0;
    std::uint32_t table_next = 0;
    std::vector<std::uint64_t> shown;  // by row: ring sequence + 1 of the table's snapshot
    std::uint64_t lost = 0;            // of reader->lost(), what was looked at

    // After it was attached, or attached anew. `session` of each channel is the caller's.
    void begin() {
        gone = false;
        table_channels = 0;
        shown.assign(reader->header().instrument_capacity, 0);
        lost = reader->lost();
        for (std::size_t i = 0; i < max_channels; ++i) {
            channels[i] = {};
            channels[i].quality = reader->channel_quality(static_cast<std::uint16_t>(i));
        }
        Record record;
        for (std::uint32_t row = 0; row < reader->instruments(); ++row) {
            if (reader->latest(row, record) == Latest::ok && record.channel < max_channels)
                channels[record.channel].seen = true;
        }
    }
    // Its writer has given a sign of life in the last `ticks`.
    [[nodiscard]] bool beats(std::uint64_t ticks, std::uint64_t now_tsc) const noexcept {
        if (gone) return false;
        const std::uint64_t heartbeat = reader->heartbeat();
        return heartbeat >= now_tsc || now_tsc - heartbeat <= ticks;
    }
    // The next snapshot of the table that is to be given. False: that was all.
    [[nodiscard]] bool next_of_table(Record& out) noexcept {
        for (const std::uint32_t end_row = reader->instruments(); table_next < end_row;) {
            const std::uint32_t row = table_next++;
            if (reader->latest(row, out) != Latest::ok || out.channel >= max_channels) continue;
            if (((table_channels >> out.channel) & 1U) == 0) continue;
            if (shown[row] == out.sequence + 1) continue;
            shown[row] = out.sequence + 1;
            return true;
        }
        table_channels = 0;
        return false;
    }
};

}  // namespace wirebook::ring::detail
