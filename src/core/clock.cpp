// Calibration of the TSC against the kernel's clocks. Cold: start-up and the control thread.
#include "wirebook/core/clock.hpp"

#include <ctime>
#include <limits>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace wirebook {
namespace {

struct Pair {
    std::uint64_t tsc = 0;
    std::int64_t ns = 0;
};

std::int64_t read_clock(clockid_t clock) noexcept {
    timespec now{};
    clock_gettime(clock, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Both clocks at one instant: of some tries, the one that the least time passed in, so that an
// interrupt between the two reads does not count.
Pair read_both(clockid_t clock) noexcept {
    Pair best;
    std::uint64_t best_ticks = std::numeric_limits<std::uint64_t>::max();
    for (int attempt = 0; attempt < 16; ++attempt) {
        const std::uint64_t before = rdtsc();
        const std::int64_t ns = read_clock(clock);
        const std::uint64_t ticks = rdtsc() - before;
        if (ticks < best_ticks) {
            best_ticks = ticks;
            best = {before + ticks / 2, ns};
        }
    }
    return best;
}

// From CPUID leaf 15h (TSC = crystal * numerator / denominator); 0 where it does not say, as in
// most virtual machines.
double ns_per_tick_by_cpuid() noexcept {
#if defined(__x86_64__)
    unsigned denominator = 0;
    unsigned numerator = 0;
    unsigned crystal_hz = 0;
    unsigned unused = 0;
    if (__get_cpuid(0x15, &denominator, &numerator, &crystal_hz, &unused) == 0) return 0;
    if (denominator == 0 || numerator == 0 || crystal_hz == 0) return 0;
    return 1e9 * denominator / (double{static_cast<double>(crystal_hz)} * numerator);
#else
    return 0;
#endif
}

double ns_per_tick_by_measurement() noexcept {
    constexpr std::int64_t window_ns = 10'000'000;
    const Pair start = read_both(CLOCK_MONOTONIC);
    while (read_clock(CLOCK_MONOTONIC) - start.ns < window_ns) pause();
    const Pair end = read_both(CLOCK_MONOTONIC);
    return static_cast<double>(end.ns - start.ns) / static_cast<double>(end.tsc - start.tsc);
}

}  // namespace

TscClock TscClock::calibrate() noexcept {
    double rate = ns_per_tick_by_cpuid();
    if (rate == 0) rate = ns_per_tick_by_measurement();
    const Pair base = read_both(CLOCK_REALTIME);
    return {rate, base.tsc, base.ns};
}

void TscClock::refine() noexcept {
    const Pair now = read_both(CLOCK_REALTIME);
    if (now.tsc <= base_tsc || now.ns <= base_utc_ns) return;  // UTC was set back
    const double rate =
        static_cast<double>(now.ns - base_utc_ns) / static_cast<double>(now.tsc - base_tsc);
    // A step of UTC (an operator, a leap second) is no news about the TSC's rate.
    const double change = rate / ns_per_tick - 1;
    if (change > -1e-4 && change < 1e-4) ns_per_tick = rate;
    base_tsc = now.tsc;
    base_utc_ns = now.ns;
}

}  // namespace wirebook
