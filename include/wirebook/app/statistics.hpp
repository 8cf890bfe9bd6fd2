// The sums of a run: what --stats writes, what the summary on stderr shows, what --strict asks.
//
// Collected once, after the source has ended. docs/replay.md names the keys.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "wirebook/app/observer.hpp"
#include "wirebook/io/dpdk_source.hpp"
#include "wirebook/ring/position.hpp"
#include "wirebook/wire/drop_reason.hpp"

namespace wirebook::app {

struct RunTimes {
    double wall_seconds = 0;
    double cpu_seconds = 0;
    bool pure = false;  // nothing but decoding, books and publishing was timed: docs/replay.md
};

// A DPDK port at the end of a run.
struct PortStatistics {
    std::string device, driver;
    io::DpdkPortStats counters;
    std::vector<std::pair<std::string, std::uint64_t>> driver_counters;
    std::uint64_t link_changes = 0;
    bool hides_loss = false;
    std::string membership;                              // "kernel", "igmp", "none"
    std::uint64_t queries = 0, reports = 0, leaves = 0;  // of IGMP
};

struct ReaderLag {
    ring::ReaderPosition reader;
    std::optional<std::uint64_t> records;  // that it was behind; none: what it says cannot be
};

struct Statistics {
    feed::FeedCounters feed;
    feed::SequenceCounters sequence;  // over all channels
    book::BookCounters books;         // over all channels
    std::array<std::uint64_t, 256> by_type{};
    std::array<std::uint64_t, wire::drop_reason_count> drops{};
    std::uint64_t instruments = 0, books_ever = 0, live_orders = 0;
    std::uint64_t snapshots = 0, suppressed = 0, published_events = 0;
    std::uint64_t unknown_breaks = 0;   // of trades that the publisher does not remember
    std::uint64_t unrepresentable = 0;  // records that leave out a price beyond the ring's range
    std::uint64_t unpublished = 0;      // no room in the segment's instrument table
    std::uint64_t unpublished_channels = 0;  // records of channels beyond the segment's
    // Where segments were published: the readers that showed their position at the end.
    std::optional<std::vector<ReaderLag>> readers;
    std::optional<std::string> fingerprint;  // of a run with one lcore
    GapCauses gap_causes;
    std::vector<PortStatistics> ports;  // of run
    io::DpdkCounters frames;            // likewise
    std::size_t lcores = 1;
    RunTimes times;

    // Adds what an lcore counted. Also checks that every packet of it is accounted for, once:
    // aborts where it is not.
    void add(const AppPipeline& pipeline, const Observer& observer);
    [[nodiscard]] static Statistics collect(const AppPipeline& pipeline, const Observer& observer,
                                            const RunTimes& times);

    [[nodiscard]] std::uint64_t no_room() const noexcept {
        return books.no_room_orders + books.no_room_levels + books.no_room_instruments;
    }
    // What --strict takes for a fault in the data, or a book that may be wrong.
    [[nodiscard]] bool has_fault() const noexcept {
        return sequence.gaps + books.crossed + books.unknown_orders + feed.decode_errors +
                   no_room() >
               0;
    }
    [[nodiscard]] std::string to_json() const;
    // A line a port, for people; empty where there is none.
    [[nodiscard]] std::string ports_summary() const;
    // A few lines for people.
    [[nodiscard]] std::string summary() const;
};

}  // namespace wirebook::app
