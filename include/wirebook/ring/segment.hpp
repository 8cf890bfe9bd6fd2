// The segment file: its header, its tables, and where everything lies in it.
//
//   0                   SegmentHeader                    4096 bytes
//   instruments_offset  InstrumentRow x capacity         384 bytes each
//   table_offset        entry (a block) x capacity       slot_bytes each: newest snapshot
//   ring_offset         slot (a block) x slots           slot_bytes each
//
// Offsets are multiples of 4096. The file is complete before it gets its name: the writer builds
// it under a temporary one, stores the magic last, and renames. All that is no atomic here is
// constant from then on. The writer holds the life lock of the file (an open-file-description write
// lock: mapping.hpp) as long as it lives; the kernel drops it when the process dies, however it
// dies. Readers map read-only.
// Includes only the standard library and core. How the words are used: protocol.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "wirebook/core/base.hpp"
#include "wirebook/core/result.hpp"
#include "wirebook/ring/instrument.hpp"
#include "wirebook/ring/protocol.hpp"
#include "wirebook/ring/record.hpp"

namespace wirebook::ring {

inline constexpr std::uint64_t segment_magic = 0x314B'4F4F'4245'5257;  // "WREBOOK1" in memory
inline constexpr std::uint32_t abi_version = 2;  // any layout change raises it
inline constexpr std::uint32_t endian_mark = 0x0102'0304;
inline constexpr std::size_t max_channels = 64;
inline constexpr std::size_t max_name_bytes = 63;
inline constexpr std::uint64_t max_slots = std::uint64_t{1} << 26;
inline constexpr std::uint32_t max_instruments = std::uint32_t{1} << 24;
inline constexpr const char* file_prefix = "wirebook.";
inline constexpr const char* shared_memory_directory = "/dev/shm";

// What a segment carries beside snapshots and events: bits of SegmentHeader::streams.
namespace stream_flag {
inline constexpr std::uint32_t orders = 1;  // RecordKind::order
}  // namespace stream_flag

enum class SegmentState : std::uint64_t { running = 0, closed = 1 };

// Words that change apart are kept apart, at the price of padding.
struct SegmentHeader {  // NOLINT(clang-analyzer-optin.performance.Padding)
    // Line 0: what the file is. Checked before anything else is believed.
    Word magic;  // stored last, release
    std::uint32_t abi;
    std::uint32_t endian;
    std::uint32_t header_bytes;  // sizeof(SegmentHeader)
    std::uint32_t instrument_bytes;
    std::uint32_t record_head;  // record_head_bytes
    std::uint32_t slot_bytes;
    std::uint64_t segment_bytes;  // the file's size
    std::uint64_t slots;
    std::uint32_t depth;
    std::uint32_t instrument_capacity;
    std::uint32_t channels;
    std::uint32_t streams;  // stream_flag
    // Line 1.
    std::uint64_t instruments_offset, table_offset, ring_offset;
    std::uint64_t epoch;  // differs between any two lives of a name
    std::uint64_t writer_pid;
    std::uint64_t writer_start;  // clock ticks after boot, /proc/PID/stat field 22; 0 unknown
    std::int64_t created_ns;     // UTC
    std::uint64_t reserved1;
    // Line 2: from TSC to UTC. The double is IEEE 754.
    double ns_per_tick;
    std::uint64_t base_tsc;
    std::int64_t base_utc_ns;
    std::array<std::uint64_t, 5> reserved2;
    std::array<char, 64> session_name;  // line 3, zero-padded
    // Line 4, and from here on each group of words that change apart has lines of its own.
    alignas(false_sharing_bytes) Word published;  // sequence of the next record
    alignas(false_sharing_bytes) Word heartbeat;  // writer's TSC: all received before is published
    Word state;                                   // SegmentState
    alignas(false_sharing_bytes) Word instruments;  // rows in use
    Word renames;                                   // of rows, to notice that a name has changed
    alignas(false_sharing_bytes) std::array<Word, max_channels> quality;  // Quality of each channel
    alignas(false_sharing_bytes) std::array<std::byte, 2944> reserved3;
};
static_assert(sizeof(SegmentHeader) == 4096 && std::is_standard_layout_v<SegmentHeader>);
static_assert(offsetof(SegmentHeader, abi) == 8 && offsetof(SegmentHeader, segment_bytes) == 32);
static_assert(offsetof(SegmentHeader, instruments_offset) == 64);
static_assert(offsetof(SegmentHeader, ns_per_tick) == 128);
static_assert(offsetof(SegmentHeader, session_name) == 192);
static_assert(offsetof(SegmentHeader, published) == 256);
static_assert(offsetof(SegmentHeader, heartbeat) == 384);
static_assert(offsetof(SegmentHeader, state) == 392);
static_assert(offsetof(SegmentHeader, instruments) == 512);
static_assert(offsetof(SegmentHeader, quality) == 640);

// How the protocol reads our blocks.
struct RecordFormat {
    static constexpr std::size_t head_words = record_head_words;
    [[nodiscard]] static std::size_t words(const std::byte* record) noexcept {
        return record_words(kind(record), std::to_integer<std::size_t>(record[104]),
                            std::to_integer<std::size_t>(record[105]));
    }
    [[nodiscard]] static std::size_t snapshot_of(const std::byte* record) noexcept {
        std::uint32_t instrument = no_instrument;
        if (kind(record) == RecordKind::snapshot) std::memcpy(&instrument, record + 8, 4);
        return instrument;
    }
    [[nodiscard]] static RecordKind kind(const std::byte* record) noexcept {
        return static_cast<RecordKind>(record[12]);
    }
};
static_assert(offsetof(Record, bid_levels) == 104 && offsetof(Record, ask_levels) == 105);
static_assert(offsetof(Record, instrument) == 8 && offsetof(Record, kind) == 12);

struct Geometry {
    std::uint32_t depth = 5;
    std::uint64_t slots = 65'536;
    std::uint32_t instruments = 16'384;
    std::uint32_t channels = 1;
};
struct Layout {
    std::uint64_t slot_bytes = 0;
    std::uint64_t instruments_offset = 0, table_offset = 0, ring_offset = 0;
    std::uint64_t used_bytes = 0;  // the file may be longer: hugetlbfs rounds up
};

[[nodiscard]] constexpr bool valid_geometry(const Geometry& g) noexcept {
    return (g.depth == 1 || g.depth == 5 || g.depth == 10 || g.depth == 20) && g.slots >= 2 &&
           g.slots <= max_slots && std::has_single_bit(g.slots) && g.instruments >= 1 &&
           g.instruments <= max_instruments && g.channels >= 1 && g.channels <= max_channels;
}
[[nodiscard]] constexpr Layout layout_of(const Geometry& g) noexcept {
    const auto page = [](std::uint64_t bytes) { return (bytes + 4095) / 4096 * 4096; };
    Layout layout;
    layout.slot_bytes = slot_bytes_of(g.depth);
    layout.instruments_offset = sizeof(SegmentHeader);
    layout.table_offset = page(layout.instruments_offset + g.instruments * sizeof(InstrumentRow));
    layout.ring_offset = page(layout.table_offset + g.instruments * layout.slot_bytes);
    layout.used_bytes = page(layout.ring_offset + g.slots * layout.slot_bytes);
    return layout;
}

// Empty: the name is good. Else why not: it becomes part of a file name.
[[nodiscard]] inline const char* name_fault(std::string_view name) noexcept {
    if (name.empty()) return "is empty";
    if (name.size() > max_name_bytes) return "is longer than 63 bytes";
    if (name.front() == '.') return "starts with a dot";
    for (const char c : name) {
        const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
        if (!good) return "may hold only letters, digits, '.', '-' and '_'";
    }
    return nullptr;
}

[[nodiscard]] inline std::string segment_path(std::string_view directory, std::string_view name) {
    std::string path(directory);
    path += '/';
    path += file_prefix;
    path += name;
    return path;
}

}  // namespace wirebook::ring
