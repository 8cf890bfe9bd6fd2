// The stamps of a pcapng interface (if_tsresol, if_tsoffset) as nanoseconds, exactly.
//
// A stamp counts units of 10^-n or 2^-n seconds. The sum is made in 128 bits, so that no
// resolution and no offset loses a bit; below a nanosecond it rounds down, and what does not fit
// 64 bits of nanoseconds (years before 1677 or after 2262) is the nearest that does.
// May depend on the standard library. Plain data, no thread rules.
#pragma once

#include <cstdint>
#include <limits>

namespace wirebook::io {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Uint128;

class TimestampScale {
public:
    TimestampScale() noexcept : TimestampScale(6, 0) {}

    // `resolution` as in if_tsresol: low 7 bits n, the high bit set for 2^-n; offset in seconds.
    TimestampScale(std::uint8_t resolution, std::int64_t offset_s) noexcept
        : offset_ns_(Int128{offset_s} * ns_per_s) {
        const unsigned exponent = resolution & 0x7FU;
        if ((resolution & 0x80U) != 0) {
            multiplier_ = ns_per_s;
            shift_ = exponent;
        } else if (exponent <= 9) {
            multiplier_ = power_of_10(9 - exponent);
        } else if (exponent <= 9 + 19) {
            divisor_ = power_of_10(exponent - 9);
        } else {
            multiplier_ = 0;  // 2^64 units are less than a nanosecond
        }
    }

    [[nodiscard]] std::int64_t to_ns(std::uint64_t units) const noexcept {
        const Uint128 scaled = Uint128{units} * multiplier_ >> shift_;  // < 2^94
        const Uint128 whole = divisor_ == 1 ? scaled : scaled / divisor_;
        const Int128 time = static_cast<Int128>(whole) + offset_ns_;
        constexpr Int128 lowest = std::numeric_limits<std::int64_t>::min();
        constexpr Int128 highest = std::numeric_limits<std::int64_t>::max();
        return static_cast<std::int64_t>(time < lowest ? lowest : time > highest ? highest : time);
    }

private:
    static constexpr std::uint64_t ns_per_s = 1'000'000'000;

    static std::uint64_t power_of_10(unsigned exponent) noexcept {
        std::uint64_t value = 1;
        for (unsigned i = 0; i < exponent; ++i) value *= 10;
        return value;
    }

    Int128 offset_ns_;
    std::uint64_t multiplier_ = 1;
    std::uint64_t divisor_ = 1;
    unsigned shift_ = 0;  // 0..127
};

}  // namespace wirebook::io
