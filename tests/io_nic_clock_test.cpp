// The clock of a NIC turned into UTC, against arithmetic; src/io/dpdk/nic_clock.hpp has no DPDK.
#include "io/dpdk/nic_clock.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <thread>

using wirebook::io::dpdk::NicClock;
using wirebook::io::dpdk::NicRate;

namespace {

constexpr std::int64_t start_ns = 1'790'000'000'000'000'000;
constexpr std::int64_t second_ns = 1'000'000'000;

}  // namespace

TEST_CASE("nic clock: two readings make a rate, one does not") {
    NicClock clock;
    NicRate rate;
    CHECK_FALSE(clock.read(rate));
    clock.sample(5'000, start_ns);
    CHECK_FALSE(clock.read(rate));
    clock.sample(5'000 + 125'000'000, start_ns + second_ns);  // 125 MHz: 8 ns a tick
    REQUIRE(clock.read(rate));
    CHECK(rate.ns_per_tick == Approx(8.0));
    CHECK(rate.to_utc_ns(5'000 + 125'000'000) == start_ns + second_ns);
    // Before and after the base.
    CHECK(std::llabs(rate.to_utc_ns(5'000) - start_ns) <= 8);
    CHECK(std::llabs(rate.to_utc_ns(5'000 + 250'000'000) - start_ns - 2 * second_ns) <= 8);
}

TEST_CASE("nic clock: it follows a drift with each reading") {
    NicClock clock;
    double raw = 0;
    for (int second = 0; second < 100; ++second) {
        clock.sample(static_cast<std::uint64_t>(raw), start_ns + second * second_ns);
        raw += 1e9 * (1 + second * 1e-6);  // faster by 1 ppm each second
    }
    NicRate rate;
    REQUIRE(clock.read(rate));
    CHECK(rate.ns_per_tick == Approx(1 / (1 + 98e-6)).epsilon(1e-9));
}

TEST_CASE("nic clock: one that stands or goes back begins anew, and is not believed meanwhile") {
    NicClock clock;
    clock.sample(1'000, start_ns);
    clock.sample(2'000, start_ns + 1'000);
    NicRate before;
    REQUIRE(clock.read(before));
    clock.sample(2'000, start_ns + second_ns);   // stands
    clock.sample(10, start_ns + 2 * second_ns);  // was set back
    NicRate rate;
    REQUIRE(clock.read(rate));
    CHECK(rate.base_raw == before.base_raw);
    clock.sample(10 + 1'000'000'000, start_ns + 3 * second_ns);
    REQUIRE(clock.read(rate));
    CHECK(rate.base_raw == 1'000'000'010);
    CHECK(rate.to_utc_ns(rate.base_raw) == start_ns + 3 * second_ns);
}

TEST_CASE("nic clock: a reader beside the writer sees rates that belong together") {
    NicClock clock;
    std::atomic<bool> stop{false};
    std::thread writer([&] {
        for (std::uint64_t i = 1; !stop; ++i) {
            clock.sample(i * 1'000, start_ns + static_cast<std::int64_t>(i) * 3'000);
        }
    });
    std::uint64_t seen = 0;
    while (seen < 100'000) {
        NicRate rate;
        if (!clock.read(rate)) continue;
        seen += 1;
        const auto i = static_cast<std::int64_t>(rate.base_raw / 1'000);
        if (rate.base_utc_ns != start_ns + i * 3'000 || rate.ns_per_tick != 3.0) {
            stop = true;
            writer.join();
            FAIL("a torn rate");
        }
    }
    stop = true;
    writer.join();
    SUCCEED();
}
