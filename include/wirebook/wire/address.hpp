// An IP address of either family in 16 bytes; IPv4 as ::ffff:a.b.c.d (RFC 4291, 2.5.5.2).
// Depends on the standard library only. Plain data.
#pragma once

#include <cstdint>
#include <string>

namespace wirebook::wire {

struct Address {
    static constexpr std::uint64_t ipv4_prefix = std::uint64_t{0xFFFF} << 32;

    std::uint64_t high = 0;  // first eight bytes of the address, as a number
    std::uint64_t low = 0;

    // `ipv4` as a number: 127.0.0.1 is 0x7F000001.
    [[nodiscard]] static constexpr Address from_ipv4(std::uint32_t ipv4) noexcept {
        return {0, ipv4_prefix | ipv4};
    }

    [[nodiscard]] constexpr bool is_ipv4() const noexcept {
        return high == 0 && (low & ~std::uint64_t{0xFFFFFFFF}) == ipv4_prefix;
    }
    [[nodiscard]] constexpr std::uint32_t ipv4() const noexcept {
        return static_cast<std::uint32_t>(low);
    }
    [[nodiscard]] constexpr bool is_multicast() const noexcept {
        return is_ipv4() ? (low >> 28 & 0xF) == 0xE : high >> 56 == 0xFF;
    }

    friend constexpr bool operator==(const Address&, const Address&) noexcept = default;
};

// "233.54.12.111", or RFC 5952 text for IPv6. Cold: allocates.
[[nodiscard]] std::string to_string(const Address& address);

}  // namespace wirebook::wire
