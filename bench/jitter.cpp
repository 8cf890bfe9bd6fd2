// The machine's own jitter: a loop that does nothing but read the TSC, for SECONDS (default 5).
//
//     taskset -c 1 build/bench/jitter 5
//
// Each pause between two readings is time in which a poller on this core would not have looked.
// For every instant of the run it says how long a packet that arrived then would have waited for
// the loop to come back: the tail below which no latency measured on this core can mean anything.
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "wirebook/core/clock.hpp"
#include "wirebook/core/histogram.hpp"

int main(int argc, char** argv) {
    const long seconds = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 5;
    if (seconds < 1 || seconds > 3600) {
        std::fprintf(stderr, "usage: jitter [SECONDS], 1 to 3600\n");
        return 2;
    }
    const auto clock = wirebook::TscClock::calibrate();
    const auto pauses = std::make_unique<wirebook::Histogram>();
    const std::uint64_t end = wirebook::rdtsc() + clock.ticks_from_ns(seconds * 1'000'000'000L);
    std::uint64_t before = wirebook::rdtsc();
    while (before < end) {
        const std::uint64_t now = wirebook::rdtsc();
        const std::int64_t pause_ns = clock.ns_from_ticks(now - before);
        // As often as there are instants in it: a long pause is met by more packets than a short.
        pauses->record(pause_ns, static_cast<std::uint64_t>(pause_ns));
        before = now;
    }
    std::printf("jitter: p50 %ld ns, p99 %ld ns, p99.9 %ld ns, max %ld ns\n",
                static_cast<long>(pauses->percentile(50)),
                static_cast<long>(pauses->percentile(99)),
                static_cast<long>(pauses->percentile(99.9)), static_cast<long>(pauses->max()));
    return 0;
}
