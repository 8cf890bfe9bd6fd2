// The writing end of a segment. One thread, one Writer a segment; create() is cold, the rest is
// for the hot path: no lock, fence instruction, allocation or system call.
//
// publish() stores the record into its slot, a snapshot also into its instrument's entry of the
// last-value table, then advances the counter; the order of it is argued in protocol.hpp. Nothing
// here reads what a reader could write: readers have no way to write.
// The lock that says "I live" belongs to the open file: a forked child that keeps the descriptor
// keeps the segment alive (it is close-on-exec).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "wirebook/core/clock.hpp"
#include "wirebook/ring/mapping.hpp"

namespace wirebook::ring {

struct SegmentOptions {
    std::string name{};
    std::string directory{};     // empty: hugetlbfs where it has room, else /dev/shm
    std::string session_name{};  // shown to readers; cut at 63 bytes
    Geometry geometry{};
    TscClock clock{};  // calibrated; readers convert stamps with it
    unsigned mode = 0640;
    std::optional<std::uint32_t> owner{}, group{};  // of the file, by number; none: the process's
    std::uint32_t streams = 0;                      // stream_flag, for readers to know
    bool hugetlb = true;                            // with an empty directory: try hugetlbfs first
};

class Writer {
public:
    // Errors: EBUSY another live process writes this name (the text has its pid; exit status 3);
    // EINVAL name or geometry; else what the system said. Replaces what a dead writer left.
    [[nodiscard]] static Result<Writer> create(const SegmentOptions& options);

    Writer(Writer&& other) noexcept = default;
    Writer& operator=(Writer&&) = delete;
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
    ~Writer() { close(); }
    // Marks the segment closed and lets go of the lock. The file stays, for those who want the
    // last values, until the next writer of the name replaces it.
    void close() noexcept;

    // The next instrument's index, or no_instrument when the table is full.
    [[nodiscard]] std::uint32_t add_instrument(std::string_view symbol, std::uint16_t channel,
                                               std::uint8_t price_places) noexcept;
    [[nodiscard]] std::uint32_t add_instrument(const Identity& identity) noexcept;
    // A symbol learnt late, or changed. Readers see Reader::header().renames move.
    void rename_instrument(std::uint32_t index, std::string_view symbol,
                           std::uint8_t price_places) noexcept;
    void set_round_lot(std::uint32_t index, std::uint64_t round_lot) noexcept;
    // To be called before the event that says so is published.
    void set_status(std::uint32_t index, const InstrumentStatus& status) noexcept;
    void set_statistics(std::uint32_t index, const TradeStatistics& statistics) noexcept;
    void set_auction(std::uint32_t index, const AuctionState& auction) noexcept;
    // To be called before the snapshots that it concerns are published.
    void set_channel_quality(std::uint16_t channel, Quality quality) noexcept {
        WIREBOOK_CHECK(channel < geometry_.channels);
        header().quality[channel].store(static_cast<std::uint64_t>(quality),
                                        std::memory_order_relaxed);  // Q1
    }

    // Every field is the caller's, but sequence (not used) and, where receive_tsc is not 0,
    // published_delta. bid_levels and ask_levels must not be above the segment's depth. Returns
    // the record's sequence.
    std::uint64_t publish_snapshot(Record& record) noexcept {
        WIREBOOK_CHECK(record.instrument < instruments_);
        record.kind = RecordKind::snapshot;
        const std::size_t words =
            record_words(RecordKind::snapshot, record.bid_levels, record.ask_levels);
        WIREBOOK_CHECK(words <= view_.slot_words);
        return publish(record, view_.entry(record.instrument), words);
    }
    // Any other kind (Record::set_event). instrument may be no_instrument.
    std::uint64_t publish_event(Record& record) noexcept {
        WIREBOOK_CHECK(record.kind != RecordKind::snapshot);
        return publish(record, nullptr, record_head_words);
    }
    // Now and then, between packets. All that was received before `tsc` must be published.
    void heartbeat(std::uint64_t tsc) noexcept {
        header().heartbeat.store(tsc, std::memory_order_release);
    }

    [[nodiscard]] std::uint64_t next_sequence() const noexcept { return next_; }
    [[nodiscard]] std::uint32_t instruments() const noexcept { return instruments_; }
    [[nodiscard]] const Geometry& geometry() const noexcept { return geometry_; }
    [[nodiscard]] std::uint32_t streams() const noexcept { return header().streams; }
    [[nodiscard]] std::uint64_t epoch() const noexcept { return header().epoch; }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    // A sentence for stderr: where the segment is and, if it is not in hugepages, why.
    [[nodiscard]] const std::string& notice() const noexcept { return notice_; }

private:
    Writer() = default;
    [[nodiscard]] SegmentHeader& header() const noexcept { return *pages_.at<SegmentHeader>(0); }
    [[nodiscard]] InstrumentRow& row(std::uint32_t index) const noexcept {
        WIREBOOK_CHECK(index < instruments_);
        return rows_[index];
    }

    std::uint64_t publish(Record& record, Word* entry, std::size_t words) noexcept {
        if (record.receive_tsc != 0)
            record.published_delta = tsc_delta(record.receive_tsc, rdtsc());
        ring::publish<HardwareMemory>(
            view_, next_, entry, static_cast<const std::byte*>(static_cast<const void*>(&record)),
            words);
        next_ += 1;
        return next_ - 1;
    }

    RingView<Word> view_;
    std::uint64_t next_ = 0;
    std::uint32_t instruments_ = 0;
    InstrumentRow* rows_ = nullptr;
    Geometry geometry_;
    File file_;
    Pages pages_;
    std::string path_;
    std::string notice_;

    friend class SegmentBuilder;
};

}  // namespace wirebook::ring
