// Random numbers that are the same on every machine: for the simulator and its faults.
//
// xoshiro256** (Blackman and Vigna, 2018; public domain), its state filled by splitmix64 from one
// 64-bit seed. Everything here is integer arithmetic, but for uniform(), whose every step is exact:
// nothing depends on libm, on -march, or on how a compiler contracts a product and a sum. Keep it
// so in what is made from it: comparing and scaling by powers of two is exact, a * b + c is not the
// same where the compiler may use a fused instruction (-ffp-contract=off forbids it).
// Layer 0. A generator is used by one thread; fork() makes independent ones.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "wirebook/core/base.hpp"

namespace wirebook {

namespace detail {

__extension__ typedef __int128 WideInt;
__extension__ typedef unsigned __int128 WideUint;

// One step of splitmix64 (Steele, Lea and Flood, 2014).
[[nodiscard]] constexpr std::uint64_t splitmix64(std::uint64_t& state) noexcept {
    state += 0x9E3779B97F4A7C15U;
    std::uint64_t mixed = state;
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBU;
    return mixed ^ mixed >> 31;
}

inline constexpr std::uint64_t ln2_q64 = 0xB17217F7D1CF79ACU;  // ln 2 * 2^64

// ln(m / 2^63) * 2^58 for m in [2^63, 2^64), bit by bit; for the table below.
[[nodiscard]] constexpr std::uint64_t slow_ln_q58(std::uint64_t mantissa) noexcept {
    std::uint64_t log2_q58 = 0;
    for (int bit = 57; bit >= 0; --bit) {
        const WideUint square = WideUint{mantissa} * mantissa;  // [2^126, 2^128)
        const bool two_or_more = (square >> 127) != 0;
        mantissa = static_cast<std::uint64_t>(square >> (two_or_more ? 64 : 63));
        if (two_or_more) log2_q58 |= std::uint64_t{1} << bit;
    }
    return static_cast<std::uint64_t>(WideUint{log2_q58} * ln2_q64 >> 64);
}

// The middle c of each of 256 equal parts of [1, 2): ln c, and 1/c.
struct LogTable {
    struct Entry {
        std::uint64_t ln_q58;
        std::uint64_t inverse_q63;
    };
    std::array<Entry, 256> entries{};

    constexpr LogTable() noexcept {
        for (std::uint64_t i = 0; i < entries.size(); ++i) {
            const std::uint64_t middle_q9 = 512 + 2 * i + 1;
            const WideUint inverse = (WideUint{1} << 72) / middle_q9;
            entries[i] = {slow_ln_q58(middle_q9 << 54), static_cast<std::uint64_t>(inverse)};
        }
    }
};
inline constexpr LogTable log_table;

// Product of two numbers of scale 2^63 (the sum of their scales minus 63 in general).
[[nodiscard]] constexpr std::int64_t multiply_q63(std::int64_t a, std::int64_t b) noexcept {
    return static_cast<std::int64_t>(WideInt{a} * b >> 63);
}

}  // namespace detail

// -ln(x / 2^64) * 2^58, error below 2^-50 of 1; of 0 as of 1. At most 44.4 * 2^58.
[[nodiscard]] constexpr std::uint64_t negative_log_q58(std::uint64_t x) noexcept {
    if (x == 0) x = 1;
    const int shift = std::countl_zero(x);
    const std::uint64_t mantissa = x << shift;  // x = mantissa / 2^shift, [2^63, 2^64)
    const auto& [ln_middle, inverse] = detail::log_table.entries[mantissa >> 55 & 0xFF];
    // mantissa = middle * (1 + r) with |r| <= 2^-9: five terms of ln(1 + r), each of scale 2^63.
    const auto ratio = detail::WideUint{mantissa} * inverse >> 63;
    const std::int64_t r =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(ratio) - (std::uint64_t{1} << 63));
    const std::int64_t r2 = detail::multiply_q63(r, r);
    const std::int64_t r3 = detail::multiply_q63(r2, r);
    const std::int64_t r4 = detail::multiply_q63(r2, r2);
    const std::int64_t r5 = detail::multiply_q63(r4, r);
    const std::int64_t ln_rest = (r - r2 / 2 + r3 / 3 - r4 / 4 + r5 / 5) / 32;  // scale 2^58
    const auto whole = static_cast<std::uint64_t>(
        detail::WideUint{detail::ln2_q64} * static_cast<unsigned>(shift + 1) >> 6);
    return whole - ln_middle - static_cast<std::uint64_t>(ln_rest);
}

// A probability in [0, 1), in units of 2^-64.
struct Chance {
    std::uint64_t q64 = 0;

    [[nodiscard]] static constexpr Chance of(std::uint64_t favourable, std::uint64_t all) noexcept {
        WIREBOOK_CHECK(favourable < all);
        return {static_cast<std::uint64_t>((detail::WideUint{favourable} << 64) / all)};
    }
    // `p` in [0, 1]: 1 becomes the next smaller one. Exact: 2^64 * p has the same digits as p.
    [[nodiscard]] static constexpr Chance of(double p) noexcept {
        WIREBOOK_CHECK(p >= 0 && p <= 1);
        constexpr double two_64 = 18446744073709551616.0;
        return {p == 1 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(p * two_64)};
    }
};

class Random {
public:
    explicit constexpr Random(std::uint64_t seed) noexcept {
        for (std::uint64_t& word : state_) word = detail::splitmix64(seed);
    }

    // A generator of its own for each `stream`, whatever this one has given out since.
    [[nodiscard]] static constexpr Random of_stream(std::uint64_t seed,
                                                    std::uint64_t stream) noexcept {
        const std::uint64_t first = detail::splitmix64(seed);
        std::uint64_t mixed = first ^ stream * 0xD1342543DE82EF95U;
        return Random(detail::splitmix64(mixed));
    }
    // A generator whose numbers have nothing to do with the ones to come from this one.
    [[nodiscard]] constexpr Random fork() noexcept { return Random(next()); }

    // 64 random bits.
    [[nodiscard]] constexpr std::uint64_t next() noexcept {
        const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
        const std::uint64_t moved = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= moved;
        state_[3] = std::rotl(state_[3], 45);
        return result;
    }

    // Below `limit`, each as likely as the other (Lemire, 2019). `limit` > 0.
    [[nodiscard]] constexpr std::uint64_t below(std::uint64_t limit) noexcept {
        WIREBOOK_CHECK(limit != 0);
        detail::WideUint product = detail::WideUint{next()} * limit;
        if (static_cast<std::uint64_t>(product) < limit) {
            const std::uint64_t unfair = (0 - limit) % limit;
            while (static_cast<std::uint64_t>(product) < unfair) {
                product = detail::WideUint{next()} * limit;
            }
        }
        return static_cast<std::uint64_t>(product >> 64);
    }
    // Both ends included, lowest <= highest.
    [[nodiscard]] constexpr std::uint64_t between(std::uint64_t lowest,
                                                  std::uint64_t highest) noexcept {
        const std::uint64_t width = highest - lowest;
        return width == ~std::uint64_t{0} ? next() : lowest + below(width + 1);
    }

    // In [0, 1), a multiple of 2^-53: the conversion and the product are exact.
    [[nodiscard]] constexpr double uniform() noexcept {
        return static_cast<double>(next() >> 11) * 0x1.0p-53;
    }

    [[nodiscard]] constexpr bool chance(Chance of) noexcept { return next() < of.q64; }
    [[nodiscard]] constexpr bool chance(double p) noexcept { return uniform() < p; }

    // Exponential of mean 1, in units of 2^-58; at most 44.4.
    [[nodiscard]] constexpr std::uint64_t exponential_q58() noexcept {
        return negative_log_q58(next());
    }
    // Exponential of this mean, rounded down: below 44.4 * mean, which has to fit 64 bits.
    [[nodiscard]] constexpr std::uint64_t exponential(std::uint64_t mean) noexcept {
        return static_cast<std::uint64_t>(detail::WideUint{exponential_q58()} * mean >> 58);
    }

    // How many times something fails before it first succeeds, at most 2^63. `success` > 0.
    [[nodiscard]] constexpr std::uint64_t geometric(Chance success) noexcept {
        WIREBOOK_CHECK(success.q64 != 0);
        const detail::WideUint drawn_q64 = detail::WideUint{exponential_q58()} << 6;
        const detail::WideUint count = drawn_q64 / failure_log_q64(success);
        constexpr auto most = std::uint64_t{1} << 63;
        return count < most ? static_cast<std::uint64_t>(count) : most;
    }
    // Geometric from 1 on with this mean >= 1: lengths of bursts.
    [[nodiscard]] constexpr std::uint64_t length(std::uint64_t mean) noexcept {
        return mean <= 1 ? 1 : 1 + geometric(Chance::of(1, mean));
    }

private:
    // -ln(1 - p) * 2^64.
    static constexpr detail::WideUint failure_log_q64(Chance p) noexcept {
        if (p.q64 < std::uint64_t{1} << 44) {  // below 2^-20: p + p^2/2 is right to 2^-40 of it
            return p.q64 + (detail::WideUint{p.q64} * p.q64 >> 65);
        }
        return detail::WideUint{negative_log_q58(0 - p.q64)} << 6;
    }

    std::array<std::uint64_t, 4> state_{};
};

}  // namespace wirebook
