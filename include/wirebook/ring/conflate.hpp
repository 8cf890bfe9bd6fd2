// The conflating reader: the newest book of each wanted instrument, each at most once a poll, and
// every event. For who computes on books more slowly than they change, and wants no queue of old
// ones.
//
//     ConflatingReader books(std::move(reader), std::move(subscription));
//     for (;;) {
//         const Poll polled = books.poll();
//         for (const Record& event : books.events()) ...     // first: all of them, in order
//         for (const Record& book : books.snapshots()) ...   // then: the state behind them
//         if (polled == Poll::lapped) ...                    // reader().lost() grew
//     }
//
// A poll takes what the ring holds, from where the last one ended. Events of wanted instruments
// and of whole channels are kept in the order of the ring. Of the wanted instruments whose book
// changed meanwhile the newest snapshot is kept, in the order of their first change. Snapshots are
// the state behind the poll's last event: an event may be older than the snapshot, never newer.
// What poll returns:
//   record         something was taken. If events() is full the ring may hold more: poll again
//   empty          nothing was there
//   lapped         records were lost (reader().lost() is exact) behind what this poll took; the
//                  next one begins with the table, where an instrument counts as changed if its
//                  snapshot is not the one that was given last. So it is whatever
//                  AttachOptions::resume says: books that missed a change would stay wrong. With
//                  Resume::oldest the events that the ring still holds follow: the books are ahead
//                  of them
//   writer_closed, writer_dead   nothing was taken, and the writer has gone
//   reattached     nothing was taken; what is held was forgotten, indices are the next writer's
//
// An instrument that is renamed to a wanted name gives its newest snapshot with the next poll; of
// one whose name is not wanted any more nothing is held from the next poll on.
//
// No allocation after construction but in reattached. events() holds at most
// ConflateOptions::events: a poll ends before it would overflow, nothing is dropped.
// Includes only the standard library and core. One thread.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "wirebook/ring/reader.hpp"
#include "wirebook/ring/subscription.hpp"

namespace wirebook::ring {

struct ConflateOptions {
    // Most instruments whose books are held, about 1.1 KiB each; 0: all that the segment has room
    // for. More that are wanted count in unheld() and give no snapshots.
    std::uint32_t instruments = 0;
    std::uint32_t events = 1024;  // most events of a poll, at least 1
};

class ConflatingReader {
    using Place = std::uint32_t;                   // in records_
    static constexpr Place nowhere = 0xFFFF'FFFF;  // no snapshot yet
    static constexpr Place no_room = 0xFFFF'FFFE;  // it has one, and counts as unheld

public:
    // Some of the records: a range.
    class Records {
    public:
        class Iterator {
        public:
            using value_type = Record;
            using difference_type = std::ptrdiff_t;
            Iterator() = default;
            Iterator(const Record* records, const Place* place) noexcept
                : records_(records), place_(place) {}
            const Record& operator*() const noexcept { return records_[*place_]; }
            const Record* operator->() const noexcept { return &records_[*place_]; }
            Iterator& operator++() noexcept {
                ++place_;
                return *this;
            }
            Iterator operator++(int) noexcept { return {records_, place_++}; }
            bool operator==(const Iterator& other) const noexcept { return place_ == other.place_; }

        private:
            const Record* records_ = nullptr;
            const Place* place_ = nullptr;
        };
        Records(const std::vector<Record>& records, const std::vector<Place>& places) noexcept
            : records_(records.data()), places_(places) {}
        [[nodiscard]] Iterator begin() const noexcept { return {records_, places_.data()}; }
        [[nodiscard]] Iterator end() const noexcept {
            return {records_, places_.data() + places_.size()};
        }
        [[nodiscard]] std::size_t size() const noexcept { return places_.size(); }
        [[nodiscard]] bool empty() const noexcept { return places_.empty(); }
        [[nodiscard]] const Record& operator[](std::size_t i) const noexcept {
            return records_[places_[i]];
        }

    private:
        const Record* records_;
        std::span<const Place> places_;
    };

    ConflatingReader(Reader reader, Subscription subscription, ConflateOptions options = {})
        : reader_(std::move(reader)), subscription_(std::move(subscription)), options_(options) {
        WIREBOOK_CHECK(options_.events > 0);
        begin();
    }

    // events() and snapshots() hold what this poll took, until the next one.
    [[nodiscard]] Poll poll() noexcept {
        for (const Place event : events_) free_.push_back(event);
        events_.clear();
        changed_.clear();
        drain_ += 1;
        if (reader_.renames() != renames_) look_at_names();
        const Poll polled = drain();
        // Up to here changed_ has instruments: their records move as newer ones come.
        for (std::uint32_t& changed : changed_) changed = held_[changed];
        return polled;
    }

    [[nodiscard]] Records events() const noexcept { return {records_, events_}; }
    [[nodiscard]] Records snapshots() const noexcept { return {records_, changed_}; }
    // The newest snapshot that a poll took of an instrument; nullptr: none.
    [[nodiscard]] const Record* newest(std::uint32_t instrument) const noexcept {
        if (instrument >= held_.size() || held_[instrument] >= records_.size()) return nullptr;
        return &records_[held_[instrument]];
    }
    // Wanted instruments that had a snapshot and no room (ConflateOptions::instruments).
    [[nodiscard]] std::uint32_t unheld() const noexcept { return unheld_; }
    [[nodiscard]] Quality quality(const Record& record) const noexcept {
        return reader_.quality(record);
    }
    // For instruments, what was lost, clocks.
    [[nodiscard]] const Reader& reader() const noexcept { return reader_; }
    [[nodiscard]] const Subscription& subscription() const noexcept { return subscription_; }
    // As Reader's, for those who did not attach with `follow`.
    [[nodiscard]] Result<bool> reattach() {
        Result<bool> again = reader_.reattach();
        if (again && again.value()) begin();
        return again;
    }

private:
    // All memory, for the segment that the reader is attached to.
    void begin() {
        const std::uint32_t capacity = reader_.header().instrument_capacity;
        room_ = options_.instruments == 0 ? capacity : std::min(options_.instruments, capacity);
        subscription_.refresh(reader_);
        records_.resize(std::size_t{room_} + options_.events + 1);
        held_.assign(capacity, nowhere);
        changed_in_.assign(capacity, 0);
        free_.clear();
        free_.reserve(records_.size());
        for (Place place = 1; place < records_.size(); ++place) free_.push_back(place);
        spare_ = 0;
        events_.clear();
        events_.reserve(options_.events);
        changed_.clear();
        changed_.reserve(room_);
        holding_ = unheld_ = 0;
        most_reads_ = reader_.header().slots + capacity;
        renames_ = reader_.renames();
    }
    // Rows were renamed: at the beginning of a poll, so that changed_ is empty.
    void look_at_names() noexcept {
        renames_ = reader_.renames();
        subscription_.refresh(reader_);
        for (std::uint32_t i = 0; i < held_.size(); ++i)
            if (!subscription_.contains(i)) drop(i);
        for (const std::uint32_t i : subscription_.instruments()) {
            if (held_[i] == no_room && holding_ < room_) drop(i);
            if (held_[i] == nowhere && reader_.latest(i, records_[spare_]) == Latest::ok) take();
        }
    }
    void drop(std::uint32_t instrument) noexcept {
        Place& place = held_[instrument];
        if (place == no_room) unheld_ -= 1;
        if (place < records_.size()) {
            free_.push_back(place);
            holding_ -= 1;
        }
        place = nowhere;
        changed_in_[instrument] = 0;
    }
    [[nodiscard]] Poll drain() noexcept {
        // Bounded: it ends also against a writer that is as fast as we are.
        for (std::uint64_t reads = 0; reads < most_reads_; ++reads) {
            if (events_.size() == options_.events) return Poll::record;
            const Poll polled = reader_.poll(records_[spare_]);
            if (polled == Poll::record) {
                take();
                continue;
            }
            if (polled == Poll::reattached) begin();
            if (polled == Poll::lapped) reader_.read_table();
            if (polled == Poll::lapped || polled == Poll::reattached) return polled;
            return events_.empty() && changed_.empty() ? polled : Poll::record;
        }
        return events_.empty() && changed_.empty() ? Poll::empty : Poll::record;
    }
    // The record in records_[spare_] finds its place; another one becomes spare.
    void take() noexcept {
        const Record& record = records_[spare_];
        if (!subscription_.wants(reader_, record)) return;
        if (record.kind != RecordKind::snapshot) {
            events_.push_back(spare_);
            spare_ = take_free();
            return;
        }
        const std::uint32_t instrument = record.instrument;
        Place& place = held_[instrument];
        if (place == no_room) return;
        if (place == nowhere && !make_room(place)) return;
        // A table brings what was given before, and what the ring brings once more.
        if (changed_in_[instrument] != 0 && records_[place].sequence >= record.sequence) return;
        std::swap(place, spare_);
        if (changed_in_[instrument] != drain_) changed_.push_back(instrument);
        changed_in_[instrument] = drain_;
    }
    [[nodiscard]] bool make_room(Place& place) noexcept {
        if (holding_ == room_) {
            unheld_ += 1;
            place = no_room;
            return false;
        }
        holding_ += 1;
        place = take_free();
        return true;
    }
    // There always is one: records_ has room_ for books, events for events, and one is spare.
    [[nodiscard]] Place take_free() noexcept {
        const Place place = free_.back();
        free_.pop_back();
        return place;
    }

    Reader reader_;
    Subscription subscription_;
    ConflateOptions options_;
    std::vector<Record> records_;
    std::vector<Place> free_, events_, changed_;
    Place spare_ = 0;
    std::vector<Place> held_;                // by instrument: its newest snapshot
    std::vector<std::uint64_t> changed_in_;  // by instrument: the poll; 0 never
    std::uint64_t drain_ = 0;                // number of this poll, from 1
    std::uint64_t most_reads_ = 0;
    std::uint64_t renames_ = 0;  // of the names that were looked at
    std::uint32_t room_ = 0, holding_ = 0, unheld_ = 0;
};

}  // namespace wirebook::ring
