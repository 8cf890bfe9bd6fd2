// The registry of the message protocols that this program decodes: one row each. What is the same
// for all of them is told here and nowhere else; docs/add-a-feed.md says what a new one needs.
// The handlers, which wire must not know, are listed in feed/registry.hpp.
// Depends on the standard library only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace wirebook::wire {

enum class Protocol : std::uint8_t { itch50, itch_jnx, iex_tops, iex_deep };

enum class Transport : std::uint8_t { moldudp64, iex_tp };

// Whose protocol it is: part of the ring's layout (docs/ring.md), so a number is never used again.
// Sister exchanges that speak the same (Nasdaq's BX and PSX) have one number.
enum class Venue : std::uint32_t { nasdaq = 1, japannext = 2, iex = 3 };

struct ProtocolRow {
    Protocol protocol;
    std::string_view name;  // on the command line and in configuration files
    Venue venue;
    Transport transport;
    std::uint16_t iex_id;     // message protocol id of IEX-TP; 0 over another transport
    bool big_endian;          // integers of the messages
    std::string_view zone;    // its times of day are of this zone; "": times are ns since 1970
    bool trading_by_default;  // what no status was told of trades continuously
    bool clears_after_gap;    // a given-up hole empties the books
    bool heals;  // starting in the middle is good from the start: levels and quotes come whole
    std::uint32_t symbol_bytes;  // longest symbol, as it is shown
    std::uint32_t instruments;   // most that the feed can name; 0: as configured
};

// In the order of the enumeration.
inline constexpr std::array protocol_rows{
    ProtocolRow{.protocol = Protocol::itch50,
                .name = "itch50",
                .venue = Venue::nasdaq,
                .transport = Transport::moldudp64,
                .iex_id = 0,
                .big_endian = true,
                .zone = "America/New_York",
                .trading_by_default = false,
                .clears_after_gap = false,
                .heals = false,
                .symbol_bytes = 8,
                .instruments = 65'536},  // every stock locate
    ProtocolRow{.protocol = Protocol::itch_jnx,
                .name = "itch-jnx",
                .venue = Venue::japannext,
                .transport = Transport::moldudp64,
                .iex_id = 0,
                .big_endian = true,
                .zone = "Asia/Tokyo",
                .trading_by_default = false,
                .clears_after_gap = false,
                .heals = false,
                .symbol_bytes = 15,
                .instruments = 0},
    ProtocolRow{.protocol = Protocol::iex_tops,
                .name = "iex-tops",
                .venue = Venue::iex,
                .transport = Transport::iex_tp,
                .iex_id = 0x8003,  // 1.6
                .big_endian = false,
                .zone = "",
                .trading_by_default = true,
                .clears_after_gap = false,
                .heals = true,
                .symbol_bytes = 8,
                .instruments = 0},
    ProtocolRow{.protocol = Protocol::iex_deep,
                .name = "iex-deep",
                .venue = Venue::iex,
                .transport = Transport::iex_tp,
                .iex_id = 0x8004,  // 1.0
                .big_endian = false,
                .zone = "",
                .trading_by_default = true,
                .clears_after_gap = true,
                .heals = true,
                .symbol_bytes = 8,
                .instruments = 0},
};

namespace detail {
template <std::size_t N>
[[nodiscard]] constexpr std::array<Protocol, N> ids_of(
    const std::array<ProtocolRow, N>& rows) noexcept {
    std::array<Protocol, N> ids{};
    for (std::size_t i = 0; i < N; ++i) ids[i] = rows[i].protocol;
    return ids;
}
}  // namespace detail

inline constexpr auto all_protocols = detail::ids_of(protocol_rows);

[[nodiscard]] constexpr const ProtocolRow& row_of(Protocol protocol) noexcept {
    return protocol_rows[static_cast<std::size_t>(protocol)];
}
static_assert([] {
    for (const Protocol protocol : all_protocols) {
        if (row_of(protocol).protocol != protocol) return false;
    }
    return true;
}());

[[nodiscard]] constexpr std::string_view to_string(Protocol protocol) noexcept {
    return row_of(protocol).name;
}

[[nodiscard]] constexpr std::optional<Protocol> protocol_from_name(std::string_view name) noexcept {
    for (const ProtocolRow& row : protocol_rows) {
        if (row.name == name) return row.protocol;
    }
    return std::nullopt;
}

[[nodiscard]] constexpr std::optional<Protocol> protocol_from_iex_id(std::uint16_t id) noexcept {
    for (const ProtocolRow& row : protocol_rows) {
        if (row.transport == Transport::iex_tp && row.iex_id == id) return row.protocol;
    }
    return std::nullopt;
}

}  // namespace wirebook::wire
