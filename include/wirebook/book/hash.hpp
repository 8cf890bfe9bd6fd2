// Seeded hashing of order ids and level keys.
//
// Ids and prices come from outside, so the seed is drawn at start-up: nobody who does not know it
// can aim for one bucket. No result may depend on the hash: tables are never walked in its order.
// May depend on nothing. Any thread.
#pragma once

#include <cstdint>

namespace wirebook::book {

struct HashSeed {
    std::uint64_t a = 0x9E37'79B9'7F4A'7C15;
    std::uint64_t b = 0xD1B5'4A32'D192'ED03;

    // A new secret one, from the kernel.
    [[nodiscard]] static HashSeed draw() noexcept;

    // Both halves of the product mixed (wyhash's step): good in its high and in its low bits.
    [[nodiscard]] std::uint64_t mix(std::uint64_t x, std::uint64_t y) const noexcept {
        __extension__ using Wide = unsigned __int128;
        const Wide product = static_cast<Wide>(x ^ a) * (y ^ b);
        return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
    }
};

}  // namespace wirebook::book
