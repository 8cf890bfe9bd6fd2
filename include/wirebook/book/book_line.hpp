// One instrument of a book set: all that an update needs of it, in one cache line.
// May depend on core. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "wirebook/book/level_tree.hpp"
#include "wirebook/book/lines.hpp"
#include "wirebook/core/base.hpp"

namespace wirebook::book {

namespace book_flag {
inline constexpr std::uint8_t event_open = 1;      // waits for the update that closes its event
inline constexpr std::uint8_t status_flipped = 2;  // its own status is not the default one
inline constexpr std::uint8_t not_followed = 4;    // not among the symbols asked for
inline constexpr std::uint8_t named = 8;
inline constexpr std::uint8_t listed = 16;      // in the list of touched instruments
inline constexpr std::uint8_t ever_seen = 32;   // was named or touched; outlives a session
inline constexpr std::uint8_t ever_level = 64;  // had a level; outlives a session
inline constexpr std::uint8_t missed = 128;     // orders of it came while it was not followed
}  // namespace book_flag

struct alignas(cache_line_bytes) BookLine {
    std::array<std::int64_t, 2> best_rank;  // by side; nothing where best_line is no_line
    std::array<std::uint32_t, 2> best_line;
    std::array<LevelTrees::Root, 2> levels;
    std::int64_t last_touch_time_ns;  // exchange time
    std::array<char, 16> symbol;
    std::uint16_t group;  // market group
    std::uint8_t places;  // of its prices
    std::uint8_t flags;
    std::uint8_t symbol_bytes;  // a venue may put any byte into a symbol, 0 too
    std::array<std::uint8_t, 3> unused;

    [[nodiscard]] bool is(std::uint8_t flag) const noexcept { return (flags & flag) != 0; }
    void set(std::uint8_t flag, bool on) noexcept {
        flags = static_cast<std::uint8_t>(on ? flags | flag : flags & ~flag);
    }
};
static_assert(sizeof(BookLine) == 64);

[[nodiscard]] constexpr std::size_t index_of(Side side) noexcept {
    return static_cast<std::size_t>(side);
}

}  // namespace wirebook::book
