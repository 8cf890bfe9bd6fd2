// The state of the failover reader (failover.hpp) and its elementary changes: places in streams,
// what waits, who takes the lead. Includes only the standard library and core. One thread.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <utility>

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
    std::uint64_t limit_ticks = 0, session_limit_ticks = 0;
    std::uint64_t lost = 0, breaks = 0, switches = 0;

    Bits used = 0;            // channels that records were read of
    Bits backlog = 0;         // channels whose leader has records waiting
    Bits session_due = 0;     // channels whose session event is to be made up
    Bits quality_due = 0;     // likewise the quality event
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
        return is_over(since, limit_ticks, now);
    }
    [[nodiscard]] static bool is_over(std::uint64_t since, std::uint64_t limit,
                                      std::uint64_t now) noexcept {
        return now > since && now - since > limit;
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
        stream.enter(session);
        stream.next.sequence = 0;
        stream.follows = true;
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
        const std::size_t c = record.channel;
        trim(s, c);
        FailoverSource::Channel& from = channel(s, c);
        if (from.waiting.size() >= sources[s].reader->header().slots) {
            if (from.dropped == 0) from.dropped_tsc = from.waiting.front().since_tsc;
            from.dropped += 1;
            from.last_dropped = from.waiting.front().place;
            from.joined = false;
            from.waiting.pop();
            if (streams[c].leader == s) tell_dropped(s, c);
        }
        from.waiting.push({record.sequence, place, rdtsc(), record.kind, from.quality_before});
    }
    // What waits and was given by the other meanwhile, or is of a session that both have left.
    void trim(std::size_t s, std::size_t c) noexcept {
        FailoverSource::Channel& from = channel(s, c);
        const FailoverStream& stream = streams[c];
        const bool came_along = from.session >= stream.next.session;
        const auto is_past = [&](StreamPlace place) {
            return stream.was_given(place) || (came_along && place.session < stream.next.session);
        };
        while (!from.waiting.empty() && is_past(from.waiting.front().place)) {
            from.joined = from.joined || stream.was_given(from.waiting.front().place);
            from.waiting.pop();
        }
        if (is_past(from.last_dropped)) from.dropped = 0;
    }
    // A source leads that had more waiting than its ring holds: that is lost, and is told.
    void tell_dropped(std::size_t s, std::size_t c) noexcept {
        FailoverSource::Channel& from = channel(s, c);
        lost += std::exchange(from.dropped, 0);
        from.joined = true;
        lapped_due = true;
        table_due(c, s);
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
        if (other.session_here() != streams[c].next.session) return false;
        if (other.waiting.empty()) return sources[o].beats(limit_ticks, now);
        const WaitingRecord& front = other.waiting.front();
        return kind == RecordKind::session || front.kind != RecordKind::gap || front.place < place;
    }
    // F1, F5: the other has records waiting. Is it to lead, as it is not given what it has?
    [[nodiscard]] bool must_lead(std::size_t o, std::size_t c, std::uint64_t now) noexcept {
        const FailoverSource::Channel& other = channel(o, c);
        const FailoverStream& stream = streams[c];
        const std::uint32_t session = other.session_here();
        if (session == stream.next.session) return overdue(other.waits_since(), now);
        if (session < stream.next.session)
            return other.stranded_tsc > stream.entered_tsc &&
                   is_over(other.stranded_tsc, session_limit_ticks, now);
        const bool quiet = is_quiet(1 - o, c, now) || !sources[1 - o].beats(limit_ticks, now);
        return quiet && overdue(other.waits_since(), now);
    }
    // No record of the channel came from that source since longer than the limit.
    [[nodiscard]] bool is_quiet(std::size_t s, std::size_t c, std::uint64_t now) noexcept {
        FailoverSource::Channel& from = channel(s, c);
        if (from.reads != from.reads_seen) {
            from.reads_seen = from.reads;
            from.quiet_tsc = now;
        }
        return overdue(from.quiet_tsc, now);
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
        if (other.session_here() != streams[c].next.session) return false;
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
        if (next.dropped != 0) tell_dropped(to, c);
        set(backlog, c, !next.waiting.empty());
        const bool waits = next.unknown() && !sources[1 - to].gone;  // it may be better soon
        set(quality_due, c, !waits && next.quality_here() != stream.told);
    }
    // The leader is in another session than the stream, and does not just go over to a new one.
    [[nodiscard]] bool changes_session(std::size_t c, const Record& record,
                                       StreamPlace place) const noexcept {
        const FailoverStream& stream = streams[c];
        if (place.session == stream.next.session || stream.was_given(place)) return false;
        if (record.kind == RecordKind::session) return place.session < stream.next.session;
        return record.feed_sequence != 0 || record.kind == RecordKind::gap;
    }
    // What the two say cannot be put in order. That is told, with the leader's session and books.
    void change_session(std::size_t s, std::size_t c, const Record& record, StreamPlace place) {
        streams[c].enter(place.session);
        channel(s, c).joined = true;
        breaks += 1;
        lapped_due = true;
        set(session_due, c, record.kind != RecordKind::session);
        table_due(c, s);
    }
    static void set(Bits& bits, std::size_t c, bool on) noexcept {
        bits = on ? bits | bit(c) : bits & ~bit(c);
    }
};

}  // namespace wirebook::ring::detail
