// What the encoders of feeds know of an instrument, and to whom they hand finished messages.
//
// May depend on core. Plain data.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "wirebook/core/base.hpp"

namespace wirebook::sim {

inline constexpr std::uint32_t no_instrument = std::numeric_limits<std::uint32_t>::max();

// One for each instrument of the matching engine, by the engine's index.
struct FeedInstrument {
    std::array<char, 8> symbol{};     // right-padded with spaces
    std::uint16_t stock_locate = 0;   // ITCH only; from 1, unique
    std::uint32_t round_lot = 100;    // shares
    std::uint32_t price_unit_e4 = 1;  // the engine's unit of price, in dollars * 10^-4
};

// `text` as a field of N bytes, right-padded with spaces. At most N characters.
template <std::size_t N>
[[nodiscard]] constexpr std::array<char, N> padded(std::string_view text) noexcept {
    WIREBOOK_CHECK(text.size() <= N);
    std::array<char, N> field{};
    field.fill(' ');
    for (std::size_t i = 0; i < text.size(); ++i) field[i] = text[i];
    return field;
}

// What a message does to the book of its instrument: what a row of `--top` depends on.
struct TouchInfo {
    bool touches = false;      // it is applied to the book
    bool event_open = false;   // DEEP: the event goes on, rows of the instrument wait
    std::int64_t time_ns = 0;  // as in the message: since midnight (ITCH), since 1970 (IEX)
};

// Gets each message when the engine's displayed books are those that all messages up to it
// describe; DEEP: once the event that it belongs to is complete. The bytes are gone afterwards.
template <class S>
concept MessageSink = requires(S& sink, std::span<const std::byte> message) {
    sink.on_message(message, std::uint32_t{}, TouchInfo{});
};

}  // namespace wirebook::sim
