// The state of the failover reader (failover.hpp) and its elementary changes: places in streams,
// what waits, who takes the lead. Includes only the standard library and core. One thread.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "wirebook/ring/failover_names.hpp"
#include "wirebook/ring/failover_source.hpp"
#include "wirebook/ring/failover_stream.hpp"

namespace wirebook::ring::detail {

struct FailoverState {
    static constexpr std::size_t source_count = 2;
    using Bits = std::uint64_t;  // one a channel
    static_assert(max_channels <= 64);

    std::array<FailoverSource, source_count> sources;
    std::array<FailoverStream, max_channels> streams;
    FailoverNames names;
    std::uint64_t limit_ticks = 0;
    std::uint64_t lost = 0, breaks = 0, switches = 0;

    Bits used = 0;            // channels that records were read of
    Bits backlog = 0;         // channels whose leader has records waiting
    Bits quality_due = 0;     // channels whose quality event is to be made up
    bool lapped_due = false;  // poll is to say so

    [[nodiscard]] static Bits bit(std::size_t c) noexcept { return Bits{1} << c; }
    template <class Action>
    static void for_each_bit(Bits bits, const Action& action) {
        for (; bits != 0; bits &= bits - 1)
            action(static_cast<std::size_t>(std::countr_zero(bits)));
    }
    [[nodiscard]] FailoverSource::Channel& channel(std::size_t s, std::size_t c) noexcept {
        return sources[s].channels[c];
    }
    [[nodiscard]] static bool has_rules(const Record& record) noexcept {
        return record.kind == RecordKind::gap || record.kind == RecordKind::session;
    }
    [[nodiscard]] bool overdue(std::uint64_t since, std::uint64_t now) const noexcept {
        return now > since && now - since > limit_ticks;
    }
    // A source that has ended may still have what waits.
    [[nodiscard]] bool has_more(std::size_t s, std::size_t c) const noexcept {
        return !sources[s].gone || !sources[s].channels[c].waiting.empty();
    }
    void table_due(std::size_t c, std::size_t s) noexcept {
        sources[1 - s].table_channels &= ~bit(c);
        sources[s].table_channels |= bit(c);
        sources[s].table_next = 0;
    }
    void begin_stream(std::size_t c, std::size_t leader, std::uint32_t session) {
        FailoverStream& stream = streams[c];
        stream.leader = leader;
        stream.next = {session, 0};
        stream.open = false;
        stream.follows = true;
        stream.given.clear();
        stream.told_once = false;
        stream.told = channel(leader, c).quality;
        channel(leader, c).session = session;
        table_due(c, leader);
    }

    // What a source's record says of the source itself, and where in the stream it is.
    [[nodiscard]] StreamPlace read_place(std::size_t s, const Record& record) {
        FailoverSource::Channel& from = channel(s, record.channel);
        std::uint64_t sequence = record.feed_sequence;
        from.quality_before = from.quality;
        if (record.kind == RecordKind::gap) sequence = record.event<GapEvent>().last;
        if (record.kind == RecordKind::quality) {  // where the record before it is
            from.quality = record.event<QualityEvent>().after;
            return from.last;
        }
        if (record.kind == RecordKind::session) {
            const auto id = record.event<SessionEvent>().session;
            from.session = streams[record.channel].session_number(from, id);
            sequence = 0;
        }
        from.seen = true;
        const StreamPlace place{from.session, sequence};
        if (sequence != 0 || has_rules(record)) from.last = place;
        if (sequence != 0) from.newest = std::max(from.newest, place);
        return place;
    }
    void wait(std::size_t s, const Record& record, StreamPlace place) {
        trim(s, record.channel);
        WaitingList& waiting = channel(s, record.channel).waiting;
        if (waiting.size() >= sources[s].reader->header().slots) waiting.pop();
        const Quality before = channel(s, record.channel).quality_before;
        waiting.push({record.sequence, place, rdtsc(), record.kind, before});
    }
    // What waits and was given by the other meanwhile.
    void trim(std::size_t s, std::size_t c) noexcept {
        FailoverSource::Channel& from = channel(s, c);
        while (!from.waiting.empty() && streams[c].was_given(from.waiting.front().place)) {
            from.waiting.pop();
            from.joined = true;
        }
    }

    // F3: before the leader goes past `place`: can the other have what it lacks?
    [[nodiscard]] bool other_may_have(std::size_t s, std::size_t c, StreamPlace place,
                                      RecordKind kind, std::uint64_t now) {
        const std::size_t o = 1 - s;
        trim(o, c);
        if (streams[c].next.sequence == 0) return false;  // nothing was given yet
        const FailoverSource::Channel& other = channel(o, c);
        if (!other.unknown() && (!other.joined || other.quality_here() > Quality::stale))
            return false;
        if (other.waiting.empty())
            return sources[o].beats(limit_ticks, now) && other.session <= place.session;
        const WaitingRecord& front = other.waiting.front();
        if (kind == RecordKind::session) return front.place < place;
        return front.place.session == place.session &&
               (front.kind != RecordKind::gap || front.place < place);
    }

    // F4. True: the lead has changed.
    [[nodiscard]] bool prefer_better(std::size_t c) {
        const std::size_t s = streams[c].leader;
        const std::size_t o = 1 - s;
        const FailoverSource::Channel& other = channel(o, c);
        // One that is about to give a gap is no better: the lead would come back at once (F3).
        const Quality quality = worse(other.quality_here(), other.quality);
        const bool better = quality < channel(s, c).quality_here() && !other.gap_is_next();
        if (!better || streams[c].open || !other.joined) return false;
        const StreamPlace behind_newest{other.newest.session, other.newest.sequence + 1};
        if (behind_newest < streams[c].next) return false;  // it has not come so far
        if (!sources[o].beats(limit_ticks, rdtsc())) return false;
        take_over(c, o);
        return true;
    }
    void take_over(std::size_t c, std::size_t to) {
        FailoverStream& stream = streams[c];
        trim(to, c);
        const FailoverSource::Channel& next = channel(to, c);
        // Books of two handlers are the same where both are good, and nothing is missing.
        const bool good = stream.told == Quality::good && !next.gap_is_next() &&
                          (next.unknown() || next.quality_here() == Quality::good);
        stream.leader = to;
        stream.follows = false;
        switches += 1;
        sources[1 - to].table_channels &= ~bit(c);
        const bool missed = !next.joined && !next.unknown();
        if (missed || !good) table_due(c, to);
        set(backlog, c, !next.waiting.empty());
        const bool waits = next.unknown() && !sources[1 - to].gone;  // it may be better soon
        set(quality_due, c, !waits && next.quality_here() != stream.told);
    }
    static void set(Bits& bits, std::size_t c, bool on) noexcept {
        bits = on ? bits | bit(c) : bits & ~bit(c);
    }
};

}  // namespace wirebook::ring::detail
