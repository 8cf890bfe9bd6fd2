// The rules of failover.hpp (F1 to F5): which handler's record is given next, and when the lead of
// a channel changes. Includes only the standard library and core. One thread.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>

#include "wirebook/ring/failover_state.hpp"

namespace wirebook::ring::detail {

class FailoverCore : public FailoverState {
public:
    // The sources that are attached lead from now on.
    void start() {
        for (std::size_t c = 0; c < max_channels; ++c) {
            const bool second = sources[0].gone ||
                                (!sources[1].gone && channel(1, c).quality < channel(0, c).quality);
            begin_stream(c, second ? 1 : 0, 0);
        }
    }
    // A source was attached (anew). True: nobody else is there, it leads and books begin anew.
    [[nodiscard]] bool attached(std::size_t s) {
        FailoverSource& source = sources[s];
        source.begin();
        names.forget(s);
        for (std::size_t c = 0; c < max_channels; ++c)
            channel(s, c).session = streams[c].next.session;
        if (!sources[1 - s].gone) return false;
        for (std::size_t c = 0; c < max_channels; ++c) {
            streams[c].sessions.emplace_back();
            channel(1 - s, c).forget_waiting();
            begin_stream(c, s, static_cast<std::uint32_t>(streams[c].sessions.size() - 1));
        }
        backlog = session_due = quality_due = 0;
        lapped_due = false;
        return true;
    }

    // Something is to be given before the rings are read: serve() does.
    [[nodiscard]] bool is_due() const noexcept {
        return lapped_due || (session_due | quality_due | backlog | sources[0].table_channels |
                              sources[1].table_channels) != 0;
    }
    [[nodiscard]] Poll serve(Record& out) {
        if (std::exchange(lapped_due, false)) return Poll::lapped;
        if (session_due != 0) return tell_session(out);
        if (quality_due != 0) return tell_quality(out);
        for (std::size_t s = 0; s < source_count; ++s)
            if (sources[s].table_channels != 0 && give_table(s, out)) return Poll::record;
        if (backlog != 0 && give_waiting(out)) return Poll::record;
        return Poll::empty;
    }
    // A record that was read from a source's ring. True: it is given, in our numbering.
    [[nodiscard]] bool take(std::size_t s, Record& record) {
        const std::size_t c = record.channel;
        if (c >= max_channels) return false;
        used |= bit(c);
        channel(s, c).reads += 1;
        const StreamPlace place = read_place(s, record);
        if (streams[c].leader == s && channel(s, c).waiting.empty()) {
            const std::uint64_t now = has_rules(record) ? rdtsc() : 0;
            const Verdict verdict = lead(s, record, place, now);
            if (verdict == Verdict::stay) {
                wait(s, record, place);
                set(backlog, c, !channel(streams[c].leader, c).waiting.empty());
            }
            return verdict == Verdict::give;
        }
        if (streams[c].leader == s || follow(s, record, place)) wait(s, record, place);
        return false;
    }
    // F2. True: records were lost to us.
    [[nodiscard]] bool lapped(std::size_t s) {
        FailoverSource& source = sources[s];
        const std::uint64_t skipped =
            source.reader->lost() - std::exchange(source.lost, source.reader->lost());
        bool hurt = false;
        for_each_bit(used, [&](std::size_t c) {
            channel(s, c).forget_waiting();
            channel(s, c).joined = false;
            if (streams[c].leader != s) return;
            const FailoverSource::Channel& other = channel(1 - s, c);
            if (has_more(1 - s, c) && other.joined &&
                other.session_here() == streams[c].next.session)
                return take_over(c, 1 - s);
            hurt = true;
            streams[c].open = false;
            streams[c].follows = true;
            table_due(c, s);
        });
        if (hurt) lost += skipped;
        return hurt;
    }
    // F2. A writer has ended and all of it was read.
    void ended(std::size_t s, Poll how) {
        if (sources[s].gone) return;
        sources[s].gone = true;
        sources[s].end = how;
        for (std::size_t c = 0; c < max_channels; ++c) {
            if (streams[c].leader != s) continue;
            if (!has_more(1 - s, c)) continue;
            if ((used & bit(c)) != 0) {
                take_over(c, 1 - s);
            } else {
                begin_stream(c, 1 - s, streams[c].next.session);
            }
        }
    }
    // F1, F2, F4 and F5, while both rings are empty.
    void look_at_limits() {
        const std::uint64_t now = rdtsc();
        for_each_bit(used, [&](std::size_t c) {
            const std::size_t other = 1 - streams[c].leader;
            trim(other, c);
            const bool alone = !has_more(1 - other, c) && has_more(other, c);
            const bool waits = !channel(other, c).waiting.empty();
            if (alone || (waits && must_lead(other, c, now))) {
                take_over(c, other);
            } else {
                static_cast<void>(prefer_better(c));
            }
        });
    }

private:
    // stay: it waits, because the other leads now or something else is due first.
    enum class Verdict : std::uint8_t { give, drop, stay };

    // A record of the source that does not lead. True: it is to wait.
    [[nodiscard]] bool follow(std::size_t s, const Record& record, StreamPlace place) {
        const std::size_t c = record.channel;
        if (record.kind == RecordKind::quality) {
            if (!streams[c].was_given(place)) return true;
            static_cast<void>(prefer_better(c));
            return false;
        }
        if (record.feed_sequence == 0 && !has_rules(record)) return false;  // it has no place
        const FailoverStream& stream = streams[c];
        FailoverSource::Channel& from = channel(s, c);
        const bool given = stream.was_given(place);
        if (given || place == stream.next) from.joined = true;
        const bool stranded = !given && place.session < stream.next.session;
        if (stranded && from.stranded_tsc <= stream.entered_tsc) from.stranded_tsc = rdtsc();
        return !given;
    }
    // The leader's next record of its channel, which was read at `since`.
    [[nodiscard]] Verdict lead(std::size_t s, Record& record, StreamPlace place,
                               std::uint64_t since) {
        const std::size_t c = record.channel;
        if (record.kind == RecordKind::quality)
            return take_quality(s, record) ? Verdict::give : Verdict::drop;
        if (streams[c].was_given(place)) channel(s, c).joined = true;
        if (changes_session(c, record, place)) {
            change_session(s, c, record, place);
            return Verdict::stay;
        }
        if (has_rules(record)) {
            if (streams[c].was_given(place)) return Verdict::drop;
            if (record.kind == RecordKind::gap) {
                const StreamPlace first{place.session, record.event<GapEvent>().first};
                if (!join(s, c, first)) return Verdict::stay;
                streams[c].reach(first);  // the leader had all that is before it
            }
            const std::uint64_t now = rdtsc();
            if (!overdue(since, now) && other_may_have(s, c, place, record.kind, now)) {
                take_over(c, 1 - s);
                return Verdict::stay;
            }
            channel(s, c).joined = true;
            pass(streams[c], record, place);
            return Verdict::give;
        }
        if (streams[c].told != channel(s, c).quality_here()) {
            set(quality_due, c, true);
            return Verdict::stay;
        }
        if (!join(s, c, place)) return Verdict::stay;
        const std::uint32_t row = record.instrument;
        const std::uint32_t number = names.number(s, *sources[s].reader, row);
        if (record.feed_sequence != 0 && !streams[c].is_new(record, place, number))
            return Verdict::drop;
        record.instrument = number;
        const bool table_had_it = record.kind == RecordKind::snapshot &&
                                  row < sources[s].shown.size() &&
                                  record.sequence < sources[s].shown[row];
        return table_had_it ? Verdict::drop : Verdict::give;
    }
    // False: a new leader's first record is not the next one that we know of. That is told first.
    [[nodiscard]] bool join(std::size_t s, std::size_t c, StreamPlace place) {
        const bool whole = std::exchange(channel(s, c).joined, true);
        const FailoverStream& stream = streams[c];
        if (whole || stream.follows || stream.next.sequence == 0 || place <= stream.next)
            return true;
        breaks += 1;
        lapped_due = true;
        table_due(c, s);
        return false;
    }
    // A gap or a new session is given.
    static void pass(FailoverStream& stream, Record& record, StreamPlace place) {
        if (record.kind == RecordKind::gap) {
            auto gap = record.event<GapEvent>();
            if (place.session == stream.next.session)
                gap.first = std::max(gap.first, stream.next.sequence);
            record.set_event(gap);
            stream.next = {place.session, place.sequence + 1};
        } else {
            const std::uint64_t first = record.event<SessionEvent>().next_sequence;
            stream.enter(place.session);
            stream.next.sequence = std::max({stream.next.sequence, first, std::uint64_t{1}});
        }
        stream.open = false;
        stream.given.clear();
    }
    [[nodiscard]] bool take_quality(std::size_t s, const Record& record) {
        FailoverStream& stream = streams[record.channel];
        const auto after = record.event<QualityEvent>().after;
        const bool waits = !channel(s, record.channel).waiting.empty();
        if (!waits && prefer_better(record.channel)) return false;
        if (stream.told_once && stream.told == after) return false;
        stream.told_once = true;
        stream.told = after;
        return true;
    }
    [[nodiscard]] Poll tell_session(Record& out) noexcept {
        const auto c = static_cast<std::size_t>(std::countr_zero(session_due));
        set(session_due, c, false);
        const FailoverStream& stream = streams[c];
        SessionEvent body;
        body.session = stream.sessions[stream.next.session].id;
        body.next_sequence = stream.next.sequence;
        out = {};
        out.channel = static_cast<std::uint16_t>(c);
        out.flags = record_flag::last_of_packet;
        out.feed_sequence = stream.next.sequence;
        out.set_event(body);
        return Poll::record;
    }
    [[nodiscard]] Poll tell_quality(Record& out) noexcept {
        const auto c = static_cast<std::size_t>(std::countr_zero(quality_due));
        set(quality_due, c, false);
        FailoverStream& stream = streams[c];
        QualityEvent body;
        body.before = stream.told;
        body.after = stream.told = channel(stream.leader, c).quality_here();
        stream.told_once = true;
        out = {};
        out.channel = static_cast<std::uint16_t>(c);
        out.flags = record_flag::last_of_packet;
        out.set_event(body);
        return Poll::record;
    }
    [[nodiscard]] bool give_table(std::size_t s, Record& out) {
        if (!sources[s].next_of_table(out)) return false;
        out.instrument = names.number(s, *sources[s].reader, out.instrument);
        return true;
    }
    // What leaders have waiting, before their rings are read on.
    [[nodiscard]] bool give_waiting(Record& out) {
        while (backlog != 0) {
            const auto c = static_cast<std::size_t>(std::countr_zero(backlog));
            const std::size_t s = streams[c].leader;
            WaitingList& waiting = channel(s, c).waiting;
            if (waiting.empty()) {
                set(backlog, c, false);
                continue;
            }
            const WaitingRecord next = waiting.front();
            Verdict verdict = Verdict::drop;
            if (sources[s].reader->at(next.ring_sequence, out)) {
                verdict = lead(s, out, next.place, next.since_tsc);
            } else if (!streams[c].was_given(next.place)) {
                lost += 1;
                lapped_due = true;
                table_due(c, s);
            }
            if (verdict == Verdict::stay) return false;  // something else is due
            waiting.pop();
            if (verdict == Verdict::give) return true;
        }
        return false;
    }
};

}  // namespace wirebook::ring::detail
