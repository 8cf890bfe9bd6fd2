// Why a record contributed nothing: the keys of `drops` in the statistics.
// Depends on the standard library only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace wirebook::wire {

enum class DropReason : std::uint8_t {
    none,         // not dropped
    not_udp,      // no UDP datagram: ARP, TCP, ...
    snaplen,      // bytes that the datagram needs are missing, and the record was cut
    bad_length,   // they are missing, or a length contradicts another, though nothing was cut
    fragment,     // part of an IP datagram; never put together
    tunnel,       // GRE, IP in IP, MPLS, ...: what is inside is not looked at
    checksum,     // wrong UDP checksum, where the configuration says to drop
    no_channel,   // of no configured channel, or another transport version or protocol
    malformed,    // transport header or message blocks do not fit the datagram
    old_session,  // of a session that its channel has left
};

inline constexpr std::size_t drop_reason_count = 10;

[[nodiscard]] constexpr std::string_view to_string(DropReason reason) noexcept {
    constexpr std::array<std::string_view, drop_reason_count> names{
        "none",   "not_udp",  "snaplen",    "bad_length", "fragment",
        "tunnel", "checksum", "no_channel", "malformed",  "old_session"};
    const auto index = static_cast<std::size_t>(reason);
    return index < names.size() ? names[index] : "unknown";
}

}  // namespace wirebook::wire
