// The message protocols this program decodes, and their names on the command line and in
// configuration files. Depends on the standard library only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace wirebook::wire {

enum class Protocol : std::uint8_t { itch50, itch_jnx, iex_tops, iex_deep };

inline constexpr std::array<Protocol, 4> all_protocols{Protocol::itch50, Protocol::itch_jnx,
                                                       Protocol::iex_tops, Protocol::iex_deep};

[[nodiscard]] constexpr std::string_view to_string(Protocol protocol) noexcept {
    switch (protocol) {
        case Protocol::itch50: return "itch50";
        case Protocol::itch_jnx: return "itch-jnx";
        case Protocol::iex_tops: return "iex-tops";
        case Protocol::iex_deep: return "iex-deep";
    }
    return "unknown";
}

[[nodiscard]] constexpr std::optional<Protocol> protocol_from_name(std::string_view name) noexcept {
    for (const Protocol protocol : all_protocols) {
        if (to_string(protocol) == name) return protocol;
    }
    return std::nullopt;
}

}  // namespace wirebook::wire
