// Small programs of the ring's protocol on the model memory, each with what must never be seen.
// Each returns the number of executions explored and sets `fault` to a sentence when one broke
// the rule. Used by ring_model_test.cpp, and by ring_mutants.cpp against weakened headers.
//
// A record here is word 0, then (instrument << 8 | value), then the same again: a torn copy shows.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "model_memory.hpp"
#include "wirebook/ring/protocol.hpp"

namespace wirebook::test {

using RecordWords = std::array<std::uint64_t, 3>;
constexpr std::uint64_t event_bit = 1U << 16U;  // no snapshot: stays out of the table

struct ModelFormat {
    static constexpr std::size_t head_words = 2;  // the third is read as the length says
    static std::size_t words(const std::byte*) noexcept { return 3; }
    static std::size_t snapshot_of(const std::byte* bytes) noexcept {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes + 8, 8);
        return (word & event_bit) != 0 ? ~std::size_t{0} : (word >> 8U) & 0xFFU;
    }
};

using ModelCursor = ring::Cursor<ModelMemory, ModelFormat>;
inline std::byte* bytes_of(RecordWords& words) {
    return static_cast<std::byte*>(static_cast<void*>(words.data()));
}

// A segment of two instruments in model memory.
struct ModelSegment {
    static constexpr std::size_t instruments = 2, words = 3;
    std::size_t slot_count;
    std::vector<ModelAtomic> slots = std::vector<ModelAtomic>(slot_count * words);
    std::vector<ModelAtomic> table = std::vector<ModelAtomic>(instruments * words);
    ModelAtomic published, quality, count, done;

    explicit ModelSegment(std::size_t slots_wanted = 2) : slot_count(slots_wanted) {}

    ring::RingView<ModelAtomic> view() {
        return {slots.data(), table.data(), &published, slot_count, words};
    }
    ring::RingView<const ModelAtomic> const_view() {
        return {slots.data(), table.data(), &published, slot_count, words};
    }
    void publish_snapshot(std::uint64_t n, std::uint64_t instrument) {
        RecordWords record{0, instrument << 8U | (n + 1), instrument << 8U | (n + 1)};
        ring::publish<ModelMemory>(view(), n, view().entry(instrument), bytes_of(record), words);
    }
    void publish_event(std::uint64_t n) {
        RecordWords record{0, event_bit | (n + 1), event_bit | (n + 1)};
        ring::publish<ModelMemory>(view(), n, nullptr, bytes_of(record), words);
    }
};

// The record is whole and it is record `n`.
inline bool is_record(const RecordWords& record, std::uint64_t n) {
    return record[0] == n && record[1] == record[2] && (record[1] & 0xFFU) == n + 1;
}

// Slot and lapping: three records through two slots, one reader that polls `polls` times.
inline std::uint64_t explore_ring(Schedule schedule, int records, int polls, bool keep_old,
                                  std::string& fault) {
    return explore(schedule, [&, records, polls, keep_old](Machine& machine) {
        auto segment = std::make_shared<ModelSegment>();
        machine.spawn([segment, records] {
            for (int n = 0; n < records; ++n) segment->publish_event(std::uint64_t(n));
        });
        machine.spawn([segment, polls, keep_old, &fault] {
            std::array<std::uint64_t, 2> shown{};
            ModelCursor cursor(segment->const_view(), shown);
            RecordWords record{};
            std::uint64_t expected = 0, read = 0;
            for (int i = 0; i < polls; ++i) {
                const auto polled = cursor.poll(bytes_of(record), keep_old);
                if (polled == ring::CursorPoll::record) {
                    if (!is_record(record, expected)) fault = "a torn or wrong record was returned";
                    expected += 1, read += 1;
                }
                if (polled == ring::CursorPoll::lapped) {
                    if (cursor.next() <= expected) fault = "a lapped reader did not move on";
                    expected = cursor.next();
                }
                if (read + cursor.lost() != cursor.next()) fault = "the loss count is not exact";
            }
        });
        return [] {};
    });
}

// The writer alone, then a reader that polls to the end: nothing may be called lost or missing
// where the ring still holds it, and there is an end.
inline std::uint64_t explore_in_turn(std::string& fault) {
    return explore(Schedule::in_order, [&](Machine& machine) {
        auto segment = std::make_shared<ModelSegment>();
        machine.spawn([segment, &fault] {
            std::array<std::uint64_t, 2> shown{};
            ModelCursor cursor(segment->const_view(), shown);
            RecordWords record{};
            for (std::uint64_t n = 0; n < 3; ++n) {
                if (cursor.poll(bytes_of(record), false) != ring::CursorPoll::empty)
                    fault = "an empty ring was not empty";
                segment->publish_snapshot(n, 0);
                if (cursor.poll(bytes_of(record), false) != ring::CursorPoll::record ||
                    !is_record(record, n))
                    fault = "the newest record was not returned to its own thread";
            }
        });
        return [] {};
    });
}

// Late join: instrument 0 has records 0 and 3, instrument 1 record 2, record 1 is an event. A
// reader that joined, and then knows that the writer is done, must come to each instrument's
// newest record by reading on (unless it is lapped again); nothing twice, and nothing left out of
// the ring that the table had not shown.
class JoinCheck {
public:
    JoinCheck(std::shared_ptr<ModelSegment> segment, std::string& fault)
        : segment_(std::move(segment)), cursor_(segment_->const_view(), shown_), fault_(fault) {}

    // Joins from the start, or as a reader that was at record 0 and found itself lapped.
    void run(bool after_lap) {
        RecordWords record{};
        if (after_lap) {
            if (cursor_.poll(bytes_of(record), false) != ring::CursorPoll::lapped) return;
            cursor_.join_here();
        } else {
            cursor_.begin_join(false);
        }
        std::uint64_t at = cursor_.next();
        for (std::size_t i = 0; i < ModelSegment::instruments; ++i) read_entry(i);
        const bool done = segment_->done.load(std::memory_order_acquire) != 0;
        for (int i = 0; i < 4; ++i) {
            const auto polled = cursor_.poll(bytes_of(record), false);
            if (polled == ring::CursorPoll::lapped) return;
            if (polled == ring::CursorPoll::empty) break;
            check_ring_record(record, at);
            at = record[0] + 1;
        }
        if (done && (has_[0] != 4 || has_[1] != 3)) fault_ = "a join left a hole";
    }

private:
    static std::uint64_t instrument_of(std::uint64_t n) { return n == 2 ? 1 : 0; }
    static bool is_event(std::uint64_t n) { return n == 1; }

    void read_entry(std::size_t i) {
        RecordWords record{};
        if (!cursor_.read_entry(i, bytes_of(record))) return;
        if (!is_record(record, record[0]) || (record[1] >> 8U) != i)
            fault_ = "a torn or wrong table entry was returned";
        has_[i] = record[0] + 1;
    }
    void check_ring_record(const RecordWords& record, std::uint64_t at) {
        const std::uint64_t n = record[0];
        if (!is_record(record, n)) fault_ = "a torn or wrong record was returned";
        const std::size_t i = instrument_of(n);
        if (!is_event(n) && n < has_[i]) fault_ = "a snapshot was shown twice";
        for (std::uint64_t skipped = at; skipped < n; ++skipped)
            if (is_event(skipped) || skipped >= has_[instrument_of(skipped)])
                fault_ = "a record was left out that the table had not shown";
        if (!is_event(n)) has_[i] = n + 1;
    }

    std::shared_ptr<ModelSegment> segment_;
    std::array<std::uint64_t, 2> shown_{};
    std::array<std::uint64_t, 2> has_{};  // newest shown + 1
    ModelCursor cursor_;
    std::string& fault_;
};

inline std::uint64_t explore_join(bool after_lap, std::string& fault) {
    return explore(Schedule::in_order, [&, after_lap](Machine& machine) {
        auto segment = std::make_shared<ModelSegment>(after_lap ? 2 : 4);
        machine.spawn([segment] {
            segment->publish_snapshot(0, 0);
            segment->publish_event(1);
            segment->publish_snapshot(2, 1);
            segment->publish_snapshot(3, 0);
            segment->done.store(1, std::memory_order_release);
        });
        machine.spawn([segment, after_lap, &fault] { JoinCheck(segment, fault).run(after_lap); });
        return [] {};
    });
}

// A channel's quality word goes bad, then a snapshot follows: who has the snapshot, from the ring
// or from the table, must not read the word as good.
inline std::uint64_t explore_quality(bool from_table, std::string& fault) {
    return explore(Schedule::in_order, [&, from_table](Machine& machine) {
        auto segment = std::make_shared<ModelSegment>();
        machine.spawn([segment] {
            segment->quality.store(1, std::memory_order_relaxed);  // as Writer, Q1
            segment->publish_snapshot(0, 0);
        });
        machine.spawn([segment, from_table, &fault] {
            std::array<std::uint64_t, 2> shown{};
            ModelCursor cursor(segment->const_view(), shown);
            RecordWords record{};
            const bool has = from_table
                                 ? cursor.read_entry(0, bytes_of(record))
                                 : cursor.poll(bytes_of(record), false) == ring::CursorPoll::record;
            if (has && segment->quality.load(std::memory_order_relaxed) == 0)  // as Reader, Q2
                fault = "a snapshot after a gap was shown as good";
        });
        return [] {};
    });
}

// A row of the instrument table (its status word) rewritten under a reader, and the row added
// before the count says so.
inline std::uint64_t explore_row(std::string& fault) {
    return explore(Schedule::interleaved, [&](Machine& machine) {
        auto segment = std::make_shared<ModelSegment>();
        machine.spawn([segment] {
            for (std::uint64_t n = 0; n < 2; ++n) {
                RecordWords row{0, n + 1, n + 1};
                ring::write_block<ModelMemory>(segment->table.data(), n, bytes_of(row), 3);
                if (n == 0) segment->count.store(1, std::memory_order_release);
            }
        });
        machine.spawn([segment, &fault] {
            if (segment->count.load(std::memory_order_acquire) == 0) return;
            RecordWords row{};
            const ModelAtomic* block = segment->table.data();
            const std::uint64_t version = ring::block_version<ModelMemory>(block);
            if (version == 0) fault = "a row was counted before it was there";
            if (!ring::block_complete(version)) return;
            if (ring::copy_block<ModelMemory, ModelFormat>(block, version, bytes_of(row), 3) &&
                !is_record(row, version / 2 - 1))
                fault = "a torn row was returned";
        });
        return [] {};
    });
}

}  // namespace wirebook::test
