// CRC-32C (Castagnoli; RFC 3720 B.4): the checksum of the journal. The CPU's instruction where the
// compiler may use it, else a table; the same value either way.
// May depend on core. Pure functions; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#if defined(__SSE4_2__)
#include <nmmintrin.h>
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif

namespace wirebook::match {

namespace detail {

inline constexpr auto crc32c_table = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit)
            value = (value >> 1U) ^ ((value & 1U) != 0 ? 0x82F6'3B78U : 0U);
        table[i] = value;
    }
    return table;
}();

// Continues from `state`, which is not inverted at the ends.
[[nodiscard]] inline std::uint32_t crc32c_by_table(std::uint32_t state,
                                                   std::span<const std::byte> bytes) noexcept {
    for (const std::byte byte : bytes)
        state = crc32c_table[(state ^ static_cast<std::uint32_t>(byte)) & 0xFFU] ^ (state >> 8U);
    return state;
}

[[nodiscard]] inline std::uint32_t crc32c_eight(std::uint32_t state,
                                                const std::byte* bytes) noexcept {
#if defined(__SSE4_2__) || defined(__ARM_FEATURE_CRC32)
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, 8);
#if defined(__SSE4_2__)
    return static_cast<std::uint32_t>(_mm_crc32_u64(state, word));
#else
    return __crc32cd(state, word);
#endif
#else
    return crc32c_by_table(state, {bytes, 8});
#endif
}

}  // namespace detail

[[nodiscard]] inline std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept {
    std::uint32_t state = 0xFFFF'FFFF;
    while (bytes.size() >= 8) {
        state = detail::crc32c_eight(state, bytes.data());
        bytes = bytes.subspan(8);
    }
    return ~detail::crc32c_by_table(state, bytes);
}

}  // namespace wirebook::match
