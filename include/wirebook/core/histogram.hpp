// Log-linear histogram of durations: 1 % resolution from 1 ns to 10 s in 28 KiB.
//
// Up to 255 every nanosecond has its own bucket; above, each power of two is cut into 128 equal
// ones, so that a bucket is never wider than 1/128 of the values in it. Recording is a shift and
// an increment: no allocation, no branch that data can mispredict for long.
// Layer 0, plain data. One thread records; others read a copy that it handed over.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace wirebook {

class Histogram {
public:
    static constexpr std::int64_t largest_ns = 10'000'000'000;  // larger values count as this one

    // Negative durations (two clocks that disagree) count as 0.
    void record(std::int64_t ns) noexcept { record(ns, 1); }
    void record(std::int64_t ns, std::uint64_t times) noexcept {
        const std::int64_t value = std::max<std::int64_t>(ns, 0);
        buckets_[bucket_of(static_cast<std::uint64_t>(std::min(value, largest_ns)))] += times;
        count_ += times;
        if (times != 0) max_ns_ = std::max(max_ns_, value);
    }

    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    // Exact, also above largest_ns. 0 when empty.
    [[nodiscard]] std::int64_t max() const noexcept { return max_ns_; }

    // The value that `percent` of all values (0 to 100) do not exceed, rounded up to the end of
    // its bucket but never above max(). 0 when empty.
    [[nodiscard]] std::int64_t percentile(double percent) const noexcept {
        if (count_ == 0) return 0;
        const double wanted = std::clamp(percent, 0.0, 100.0) / 100 * static_cast<double>(count_);
        std::uint64_t rank = static_cast<std::uint64_t>(wanted);
        if (static_cast<double>(rank) < wanted) ++rank;
        rank = std::clamp<std::uint64_t>(rank, 1, count_);
        std::uint64_t seen = 0;
        for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
            seen += buckets_[bucket];
            if (seen < rank) continue;
            // The last bucket holds what was too long for it: only max() bounds those.
            if (bucket == bucket_of(largest_ns)) break;
            return std::min(last_of(bucket), max_ns_);
        }
        return max_ns_;
    }

    void merge(const Histogram& other) noexcept {
        for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
            buckets_[bucket] += other.buckets_[bucket];
        }
        count_ += other.count_;
        max_ns_ = std::max(max_ns_, other.max_ns_);
    }

    void clear() noexcept { *this = {}; }

private:
    static constexpr int precision_bits = 7;  // 2^7 buckets a power of two

    // Values below 2 * 128 are their own bucket: the shift is 0 there.
    [[nodiscard]] static constexpr std::size_t bucket_of(std::uint64_t ns) noexcept {
        const int width = static_cast<int>(std::bit_width(ns));
        const int shift = std::max(width - (precision_bits + 1), 0);
        return (static_cast<std::size_t>(shift) << precision_bits) +
               static_cast<std::size_t>(ns >> shift);
    }
    [[nodiscard]] static constexpr std::int64_t last_of(std::size_t bucket) noexcept {
        const std::size_t octave = bucket >> precision_bits;  // shift + 1, but 0 for shift 0
        const std::size_t shift = octave == 0 ? 0 : octave - 1;
        const std::size_t first = bucket - (shift << precision_bits);
        return static_cast<std::int64_t>(((first + 1) << shift) - 1);
    }

    std::array<std::uint64_t, 3584> buckets_{};
    std::uint64_t count_ = 0;
    std::int64_t max_ns_ = 0;

    static_assert(largest_ns < (std::int64_t{1} << 34));  // 34 - 8 octaves above the first 256
};

}  // namespace wirebook
