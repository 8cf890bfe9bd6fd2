// The record: what a slot of the event ring and an entry of the last-value table hold.
//
// Two lines of 64 bytes, then level rows up to the segment's depth. Line 0 is all that a
// top-of-book strategy needs. An event (trade, status, gap, ...) is the same two lines with the
// bytes of the book fields (offsets 16-47 and 104-127) read as its own struct: Record::event<T>().
// Prices: signed, units of 1e-9 of the currency. Quantities: unsigned, whole units of the venue.
// Times: ns since 1970, UTC, but exchange_time_ns of a feed without dates: ns since midnight.
// This layout is the ABI (abi_version in segment.hpp): docs/ring.md lists every offset.
// Includes only the standard library and core. Plain data; no thread rules.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "wirebook/core/base.hpp"
#include "wirebook/ring/event.hpp"

namespace wirebook::ring {

inline constexpr std::size_t max_depth = 20;

namespace record_flag {
inline constexpr std::uint8_t last_of_packet = 1;  // nothing more of this packet follows
inline constexpr std::uint8_t from_table = 0x80;   // set by the reader: a join delivered it
}  // namespace record_flag

struct Level {
    std::int64_t price = no_price;
    std::uint64_t quantity = 0;
    std::uint32_t orders = 0;  // 0 for feeds that do not say
    std::uint32_t reserved = 0;
    bool operator==(const Level&) const = default;
};
struct LevelRow {
    Level bid, ask;
    bool operator==(const LevelRow&) const = default;
};

struct alignas(cache_line_bytes) Record {
    // Line 0.
    std::uint64_t sequence = 0;  // from a reader: the ring sequence. In memory: protocol.hpp
    std::uint32_t instrument = no_instrument;
    RecordKind kind = RecordKind::none;
    std::uint8_t flags = 0;           // record_flag
    Quality quality = Quality::good;  // the instrument's own, at publication
    TradingStatus status = TradingStatus::unknown;
    std::int64_t bid_price = no_price;
    std::uint64_t bid_quantity = 0;
    std::int64_t ask_price = no_price;
    std::uint64_t ask_quantity = 0;
    std::int64_t exchange_time_ns = 0;
    std::uint64_t receive_tsc = 0;  // 0: not stamped, and then no delta is
    // Line 1.
    std::int64_t receive_time_ns = 0;
    std::uint64_t feed_sequence = 0;    // in the packet's header
    std::uint64_t packet = 0;           // number of the packet in this handler's life, from 0
    std::uint32_t decoded_delta = 0;    // TSC ticks after receive_tsc, saturating
    std::uint32_t booked_delta = 0;     // likewise
    std::uint32_t published_delta = 0;  // likewise; set by the Writer
    std::uint16_t channel = 0;
    std::uint8_t line = 0;  // the line of the channel that won
    TimeSource time_source = TimeSource::none;
    std::uint8_t bid_levels = 0;  // of the snapshot, the best included; 0: empty side
    std::uint8_t ask_levels = 0;
    std::uint16_t reserved0 = 0;
    std::uint32_t bid_orders = 0;  // at the best price
    std::uint32_t ask_orders = 0;
    std::uint32_t reserved1 = 0;
    std::uint64_t reserved2 = 0;
    // Levels 1 .. depth-1, best first; rows from max(bid_levels, ask_levels) - 1 on are not
    // written.
    std::array<LevelRow, max_depth - 1> levels;

    // Level 0 is the best. `level` < bid_levels (ask_levels), else an empty Level.
    [[nodiscard]] Level bid(std::size_t level) const noexcept {
        if (level >= bid_levels || level >= max_depth) return {};
        return level == 0 ? Level{bid_price, bid_quantity, bid_orders, 0} : levels[level - 1].bid;
    }
    [[nodiscard]] Level ask(std::size_t level) const noexcept {
        if (level >= ask_levels || level >= max_depth) return {};
        return level == 0 ? Level{ask_price, ask_quantity, ask_orders, 0} : levels[level - 1].ask;
    }
    [[nodiscard]] bool last_of_packet() const noexcept {
        return (flags & record_flag::last_of_packet) != 0;
    }
    [[nodiscard]] bool from_table() const noexcept {
        return (flags & record_flag::from_table) != 0;
    }

    template <EventBody T>
    [[nodiscard]] T event() const noexcept;  // of a record with kind == T::kind
    template <EventBody T>
    void set_event(const T& body) noexcept;  // sets kind; leaves the stamps and identity
};

inline constexpr std::size_t record_head_bytes = 128;
inline constexpr std::size_t record_head_words = record_head_bytes / 8;

// `later` - `receive`, as the deltas of a record: saturating, 0 where later is not later.
[[nodiscard]] constexpr std::uint32_t tsc_delta(std::uint64_t receive,
                                                std::uint64_t later) noexcept {
    if (receive == 0 || later <= receive) return 0;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(later - receive, 0xFFFF'FFFF));
}

// Words of 8 bytes that a record of this kind and these levels occupies.
[[nodiscard]] constexpr std::size_t record_words(RecordKind kind, std::size_t bid_levels,
                                                 std::size_t ask_levels) noexcept {
    const std::size_t rows = std::max(bid_levels, ask_levels);
    if (kind != RecordKind::snapshot || rows < 2) return record_head_words;
    return record_head_words + (rows - 1) * (sizeof(LevelRow) / 8);
}

// Bytes of a slot of a segment of this depth: 128, 320, 576, 1088 for 1, 5, 10, 20.
[[nodiscard]] constexpr std::size_t slot_bytes_of(std::size_t depth) noexcept {
    const std::size_t used = record_head_bytes + (depth - 1) * sizeof(LevelRow);
    return (used + cache_line_bytes - 1) / cache_line_bytes * cache_line_bytes;
}

namespace detail {
using BookFields = std::array<std::uint64_t, 4>;   // offsets 16-47 of a record
using BookFields2 = std::array<std::uint64_t, 3>;  // offsets 104-127
struct HeadWords {
    std::array<std::uint64_t, 2> identity;
    BookFields first;
    std::array<std::uint64_t, 7> stamps;
    BookFields2 second;
};
struct BodyWords {
    BookFields first;
    BookFields2 second;
};
static_assert(sizeof(HeadWords) == record_head_bytes && sizeof(BodyWords) == event_bytes);
}  // namespace detail

template <EventBody T>
T Record::event() const noexcept {
    WIREBOOK_CHECK(kind == T::kind);
    detail::HeadWords head{};
    __builtin_memcpy(&head, this, sizeof(head));
    return std::bit_cast<T>(detail::BodyWords{head.first, head.second});
}

template <EventBody T>
void Record::set_event(const T& body) noexcept {
    kind = T::kind;
    detail::HeadWords head{};
    __builtin_memcpy(&head, this, sizeof(head));
    const auto words = std::bit_cast<detail::BodyWords>(body);
    head.first = words.first;
    head.second = words.second;
    __builtin_memcpy(static_cast<void*>(this), &head, sizeof(head));
}

}  // namespace wirebook::ring
