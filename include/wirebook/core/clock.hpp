// The time stamp counter, and how it becomes UTC.
//
// Stamps on the hot path are raw TSC ticks (20 cycles, no system call); they become nanoseconds
// only where somebody looks. A TscClock is plain data: one is made at start, its numbers travel
// in the segment header, and a reader builds the same clock from them.
// Layer 0. Every function may be called from any thread.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace wirebook {

// Not serialising: the CPU may execute it a few instructions early or late, which is below what
// the stamps are read for, and a serialising read would cost more than the stage it measures.
[[nodiscard]] inline std::uint64_t rdtsc() noexcept {
#if defined(__x86_64__)
    return __rdtsc();
#else
    std::uint64_t ticks = 0;
    __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#endif
}

// For the body of a polling loop: leaves the core's resources to the sibling hyperthread.
inline void pause() noexcept {
#if defined(__x86_64__)
    _mm_pause();
#else
    __asm__ __volatile__("yield");
#endif
}

struct TscClock {
    double ns_per_tick = 1.0;
    std::uint64_t base_tsc = 0;    // the same instant
    std::int64_t base_utc_ns = 0;  // on both clocks; ns since the Unix epoch

    // Asks the CPU for its frequency, else measures for 10 ms (good to a few ppm).
    [[nodiscard]] static TscClock calibrate() noexcept;

    // The rate once more, over all the time since `base_tsc`: the error shrinks with that time.
    // Moves the base to now. For the control thread; not synchronised with readers of this object.
    void refine() noexcept;

    [[nodiscard]] std::int64_t ns_from_ticks(std::uint64_t ticks) const noexcept {
        return static_cast<std::int64_t>(static_cast<double>(ticks) * ns_per_tick);
    }
    // Negative durations are 0 ticks.
    [[nodiscard]] std::uint64_t ticks_from_ns(std::int64_t ns) const noexcept {
        return ns <= 0 ? 0 : static_cast<std::uint64_t>(static_cast<double>(ns) / ns_per_tick);
    }
    // Stamps from before the base are fine. Exact to 1 ns within 50 days of the base.
    [[nodiscard]] std::int64_t to_utc_ns(std::uint64_t tsc) const noexcept {
        return tsc >= base_tsc ? base_utc_ns + ns_from_ticks(tsc - base_tsc)
                               : base_utc_ns - ns_from_ticks(base_tsc - tsc);
    }
};

}  // namespace wirebook
