// What the feed side counts, and the quality of what it makes.
//
// May depend on core. Written by the owning lcore; the sums are for reports after a run.
#pragma once

#include <array>
#include <cstdint>

namespace wirebook::feed {

// Why a packet was left out, beyond what the frame parser tells (wire::DropReason).
struct FeedCounters {
    std::uint64_t packets = 0;        // records read
    std::uint64_t bytes = 0;          // captured frame bytes; message bytes of a BinaryFILE
    std::uint64_t bad_checksums = 0;  // UDP, dropped or not
    std::uint64_t messages = 0;       // new ones, without empty blocks
    std::uint64_t unknown_messages = 0;
    std::uint64_t decode_errors = 0;
    std::uint64_t unsequenced = 0;         // messages
    std::uint64_t no_channel = 0;          // packets
    std::uint64_t unbound_heartbeats = 0;  // unsequenced, of groups that no channel has
    std::uint64_t malformed = 0;           // packets
    // Indexed by wire::DropReason.
    std::array<std::uint64_t, 16> frame_drops{};
};

// Of a channel's books, worst last. A snapshot is never better than its channel.
enum class Quality : std::uint8_t { good, stale, recovering, not_ready };

}  // namespace wirebook::feed
