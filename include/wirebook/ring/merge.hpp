// Several segments read as one stream in the order of their receive stamps: those of handlers on
// one machine, whose stamps are of one clock, the TSC.
//
// A record's time here is its receive_tsc, but never before that of the record in front of it in
// its segment: each segment's own order is kept. (Packets that waited behind a hole, and records
// without a stamp, 0, go with the record in front of them; where none was stamped they come as
// they are read.) Equal times go by the segments' order, then by sequence.
//
// The earliest record at hand is given when no earlier one can still come:
//   R1  from each other segment a record is at hand, or
//   R2  it is empty, and was so after its writer's heartbeat had passed the record's time: what
//       that writer received before its heartbeat is published, or
//   R3  it is empty, and its heartbeat is older than MergeOptions::hung (its writer hangs, or
//       never beats), or
//   R4  its writer has closed or died, and all was read.
// What comes too late for its place all the same (a writer that hung and goes on, a packet that
// waited in its handler) is given at once and counts in late(). Snapshots of the table
// (Record::from_table) are a state, not a stream: they are given at once.
// What poll returns: as Reader::poll, and segment() says of which one the record, the lap, the end
// or the new writer is. An end is returned once; when all have ended, each time.
// Includes only the standard library and core. One thread; no allocation after construction but
// in a Reader's `follow`.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "wirebook/ring/reader.hpp"

namespace wirebook::ring {

struct MergeOptions {
    std::chrono::microseconds hung{10'000};  // a writer without a heartbeat for so long
};

class MergeReader {
public:
    // In the order that decides between equal times. At least one.
    explicit MergeReader(std::vector<Reader> readers, MergeOptions options = {}) {
        WIREBOOK_CHECK(!readers.empty());
        hung_ticks_ = readers.front().clock().ticks_from_ns(options.hung.count() * 1000);
        sources_.reserve(readers.size());
        for (Reader& reader : readers) sources_.emplace_back(std::move(reader));
    }
    // Attaches to each. The Error of the first that cannot be.
    [[nodiscard]] static Result<MergeReader> attach(const std::vector<std::string>& names,
                                                    const AttachOptions& options = {},
                                                    MergeOptions merge = {}) {
        if (names.empty()) return Error{EINVAL, "merge: no segment is named"};
        std::vector<Reader> readers;
        for (const std::string& name : names) {
            auto attached = Reader::attach(name, options);
            if (!attached) return attached.error();
            readers.push_back(std::move(attached).value());
        }
        return MergeReader(std::move(readers), merge);
    }

    // As Reader::poll. empty: nothing is there, or what is there must wait for an earlier record.
    [[nodiscard]] Poll poll(Record& out) noexcept {
        for (std::size_t i = 0; i < sources_.size(); ++i) {
            const Poll polled = look(sources_[i]);
            if (polled == Poll::empty) continue;
            segment_ = i;
            return polled;
        }
        const std::size_t first = earliest();
        if (first == none) return ended_ == sources_.size() ? last_end_ : Poll::empty;
        Source& source = sources_[first];
        if (!source.head.from_table()) {
            if (!is_safe(first)) return Poll::empty;
            if (source.time < newest_) late_ += 1;
            newest_ = std::max(newest_, source.time);
        }
        source.has_head = false;
        segment_ = first;
        copy(source.head, out);
        return Poll::record;
    }

    // Of what poll returned last: the index of its segment.
    [[nodiscard]] std::size_t segment() const noexcept { return segment_; }
    [[nodiscard]] std::size_t segments() const noexcept { return sources_.size(); }
    [[nodiscard]] const Reader& reader(std::size_t segment) const noexcept {
        return sources_[segment].reader;
    }
    // Of the record that poll returned last.
    [[nodiscard]] Quality quality(const Record& record) const noexcept {
        return reader(segment_).quality(record);
    }
    // Over all segments.
    [[nodiscard]] std::uint64_t lost() const noexcept {
        std::uint64_t lost = 0;
        for (const Source& source : sources_) lost += source.reader.lost();
        return lost;
    }
    // Records that were given behind one with a later time.
    [[nodiscard]] std::uint64_t late() const noexcept { return late_; }

private:
    struct Source {
        explicit Source(Reader from) noexcept : reader(std::move(from)) {}

        Reader reader;
        Record head;                  // the next record, if has_head
        std::uint64_t time = 0;       // of the newest record that was read, or before it
        std::uint64_t heartbeat = 0;  // loaded before the poll that found nothing
        bool has_head = false;
        bool ended = false;
    };
    static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

    // Fills the head. What poll must return of it, or empty: go on.
    [[nodiscard]] Poll look(Source& source) noexcept {
        if (source.has_head) return Poll::empty;
        const std::uint64_t heartbeat = source.reader.heartbeat();  // before the poll: R2
        const Poll polled = source.reader.poll(source.head);
        switch (polled) {
            case Poll::record:
                source.has_head = true;
                if (!source.head.from_table())
                    source.time = std::max(source.time, source.head.receive_tsc);
                return Poll::empty;
            case Poll::empty: source.heartbeat = heartbeat; return Poll::empty;
            case Poll::lapped: return polled;
            case Poll::reattached:
                if (source.ended) ended_ -= 1;
                source.ended = false;
                return polled;
            case Poll::writer_closed:
            case Poll::writer_dead: break;
        }
        if (source.ended) return Poll::empty;
        source.ended = true;
        ended_ += 1;
        last_end_ = polled;
        return polled;
    }
    [[nodiscard]] std::size_t earliest() const noexcept {
        std::size_t best = none;
        for (std::size_t i = 0; i < sources_.size(); ++i) {
            const Source& source = sources_[i];
            if (!source.has_head) continue;
            if (source.head.from_table()) return i;
            if (best == none || source.time < sources_[best].time) best = i;
        }
        return best;
    }
    // No earlier record than the head of `first` can still come.
    [[nodiscard]] bool is_safe(std::size_t first) const noexcept {
        const std::uint64_t time = sources_[first].time;
        std::uint64_t now = 0;
        for (std::size_t i = 0; i < sources_.size(); ++i) {
            const Source& other = sources_[i];
            if (other.has_head || other.ended) continue;  // R1, R4
            // What may still come has the heartbeat's time or a later one.
            if (other.heartbeat > time || (other.heartbeat == time && first < i)) continue;  // R2
            if (now == 0) now = rdtsc();
            if (now > other.heartbeat && now - other.heartbeat > hung_ticks_) continue;  // R3
            return false;
        }
        return true;
    }
    static void copy(const Record& from, Record& to) noexcept {
        std::memcpy(static_cast<void*>(&to), &from,
                    8 * record_words(from.kind, from.bid_levels, from.ask_levels));
    }

    std::vector<Source> sources_;
    std::size_t segment_ = 0;
    std::size_t ended_ = 0;  // sources whose writer has gone and that were read to the end
    Poll last_end_ = Poll::empty;
    std::uint64_t newest_ = 0;  // time of the newest record that was given
    std::uint64_t late_ = 0;
    std::uint64_t hung_ticks_ = 0;
};

}  // namespace wirebook::ring
