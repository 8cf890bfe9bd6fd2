// The UDP checksum (RFC 768, RFC 1071), for IPv4 and IPv6 alike.
//
// The one's complement sum does not depend on the byte order of the words that are added, but
// for a swap of the result (RFC 1071, 2.B): the segment is added as little-endian 32-bit halves
// of 64-bit loads into 64-bit sums, which cannot overflow below 2^32 words. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "wirebook/wire/frame.hpp"
#include "wirebook/wire/internet.hpp"
#include "wirebook/wire/view.hpp"

namespace wirebook::wire {

namespace detail {

[[nodiscard]] inline std::uint64_t add_halves(std::uint64_t sum, std::uint64_t word) noexcept {
    return sum + (word & 0xFFFFFFFF) + (word >> 32);
}

[[nodiscard]] inline std::uint16_t fold_to_16(std::uint64_t sum) noexcept {
    sum = (sum & 0xFFFFFFFF) + (sum >> 32);
    sum = (sum & 0xFFFF) + (sum >> 16 & 0xFFFF) + (sum >> 32);
    sum = (sum & 0xFFFF) + (sum >> 16);
    sum = (sum & 0xFFFF) + (sum >> 16);
    return static_cast<std::uint16_t>(sum);
}

// Sum of `bytes` as little-endian 16-bit words, a last odd byte padded with zero.
[[nodiscard]] inline std::uint64_t ones_complement_sum(Bytes bytes) noexcept {
    const std::byte* at = bytes.data();
    std::size_t left = bytes.size();
    std::uint64_t even = 0;  // two chains of additions, so that they overlap
    std::uint64_t odd = 0;
    for (; left >= 16; at += 16, left -= 16) {
        std::uint64_t words[2];
        std::memcpy(words, at, sizeof words);
        even = add_halves(even, words[0]);
        odd = add_halves(odd, words[1]);
    }
    std::uint64_t tail[2] = {0, 0};
    if (left != 0) std::memcpy(tail, at, left);
    return add_halves(even, tail[0]) + add_halves(odd, tail[1]);
}

}  // namespace detail

// Folded one's complement sum over pseudo header and segment, in the byte order of the wire
// read as little-endian: 0xFFFF where the checksum is right.
[[nodiscard]] inline std::uint16_t udp_sum(const Datagram& datagram) noexcept {
    const Bytes segment = datagram.segment();
    // An IPv4-mapped address adds 0xFFFF more than the IPv4 address: zero in this arithmetic.
    std::uint64_t pseudo = ip_protocol::udp + segment.size();
    pseudo = detail::add_halves(pseudo, datagram.source.high);
    pseudo = detail::add_halves(pseudo, datagram.source.low);
    pseudo = detail::add_halves(pseudo, datagram.destination.high);
    pseudo = detail::add_halves(pseudo, datagram.destination.low);
    const std::uint16_t swapped = __builtin_bswap16(detail::fold_to_16(pseudo));
    return detail::fold_to_16(detail::ones_complement_sum(segment) + swapped);
}

// False where the sender made a checksum and it is wrong. 0 means that it made none, also for
// IPv6, whose senders may do so for multicast tunnels (RFC 6935).
[[nodiscard]] inline bool udp_checksum_ok(const Datagram& datagram) noexcept {
    return !datagram.checksum_present || udp_sum(datagram) == 0xFFFF;
}

}  // namespace wirebook::wire
