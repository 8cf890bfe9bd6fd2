// core: clock, CPU check, arena.
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "wirebook/core/arena.hpp"
#include "wirebook/core/clock.hpp"
#include "wirebook/core/cpu.hpp"
#include "wirebook/core/result.hpp"

using namespace wirebook;

TEST_CASE("result: holds a value or an error") {
    const Result<int> good = 7;
    const Result<int> bad = Error{2, "open it"};
    CHECK(good.ok());
    CHECK(good.value() == 7);
    CHECK_FALSE(bad.ok());
    CHECK(bad.error().code == 2);
    const Status done = Ok{};
    CHECK(done.ok());
}

TEST_CASE("clock: ticks and nanoseconds convert both ways") {
    const TscClock clock{.ns_per_tick = 0.5, .base_tsc = 1'000, .base_utc_ns = 5'000};
    CHECK(clock.ns_from_ticks(100) == 50);
    CHECK(clock.ticks_from_ns(50) == 100);
    CHECK(clock.ticks_from_ns(-1) == 0);
    CHECK(clock.to_utc_ns(1'000) == 5'000);
    CHECK(clock.to_utc_ns(1'200) == 5'100);
}

TEST_CASE("clock: a stamp from before the base converts to a time before it") {
    const TscClock clock{.ns_per_tick = 0.5, .base_tsc = 1'000, .base_utc_ns = 5'000};
    CHECK(clock.to_utc_ns(800) == 4'900);
}

TEST_CASE("clock: calibration agrees with the kernel's UTC") {
    const TscClock clock = TscClock::calibrate();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const std::int64_t ours = clock.to_utc_ns(rdtsc());
    const std::int64_t kernel = std::chrono::duration_cast<std::chrono::nanoseconds>(
                                    std::chrono::system_clock::now().time_since_epoch())
                                    .count();
    // A busy machine may hold us up between the two reads: only nonsense is an error here.
    CHECK(std::abs(kernel - ours) < 1'000'000'000);
    CHECK(clock.ns_per_tick > 0.1);
    CHECK(clock.ns_per_tick < 100);
}

TEST_CASE("clock: refining moves the base and keeps a plausible rate") {
    TscClock clock = TscClock::calibrate();
    const TscClock before = clock;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    clock.refine();
    CHECK(clock.base_tsc > before.base_tsc);
    CHECK(clock.ns_per_tick == Approx(before.ns_per_tick).epsilon(2e-4));
}

TEST_CASE("cpu: this machine runs what this test was compiled for") {
    CHECK(check_cpu(compiled_cpu_features).ok());
}

TEST_CASE("cpu: what is missing is named") {
    constexpr std::uint32_t every = (cpu_feature::avx512vl << 1) - 1;
    const std::uint32_t missing = every & ~cpu_features();
    const Status status = check_cpu(every);
    CHECK(status.ok() == (missing == 0));
    CHECK(std::string(cpu_feature_names(cpu_feature::avx2 | cpu_feature::bmi2)) == "avx2 bmi2");
    CHECK(std::strlen(cpu_feature_names(every)) < 160);
    CHECK(std::string(cpu_feature_names(0)).empty());
}

TEST_CASE("arena: gives out aligned memory that is zero, and nullptr when full") {
    Result<Arena> made = Arena::create({.bytes = 1, .hugetlb = false});
    REQUIRE(made.ok());
    Arena& arena = made.value();
    CHECK(arena.bytes_total() == Arena::huge_page_bytes);
    std::byte* first = arena.allocate(3);
    std::byte* second = arena.allocate(5, 4096);
    REQUIRE(first != nullptr);
    REQUIRE(second != nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(first) % cache_line_bytes == 0);
    CHECK(second == first + 4096);
    CHECK(second[4] == std::byte{0});
    CHECK(arena.bytes_used() == 4101);
    CHECK(arena.allocate(Arena::huge_page_bytes) == nullptr);
    CHECK(arena.allocate(std::size_t{0} - 1) == nullptr);
    CHECK(arena.bytes_used() == 4101);
    CHECK(arena.allocate(Arena::huge_page_bytes - 8192, 4096) == first + 8192);
    CHECK(arena.allocate(1) == nullptr);
}

TEST_CASE("arena: an array starts on a cache line and is zero") {
    struct Row {
        std::uint64_t key;
        std::uint32_t count;
    };
    Result<Arena> made = Arena::create({.bytes = 4096, .prefault = true, .hugetlb = false});
    REQUIRE(made.ok());
    REQUIRE(made.value().allocate(1) != nullptr);
    const std::span<Row> rows = made.value().make_array<Row>(100);
    REQUIRE(rows.size() == 100);
    CHECK(reinterpret_cast<std::uintptr_t>(rows.data()) % cache_line_bytes == 0);
    CHECK(rows[99].key == 0);
    CHECK(made.value().make_array<Row>(std::size_t{1} << 60).empty());
    CHECK(made.value().make_array<Row>(std::size_t{0} - 1).empty());
}

TEST_CASE("arena: moving hands the memory over") {
    Result<Arena> made = Arena::create({.bytes = 4096, .hugetlb = false});
    REQUIRE(made.ok());
    std::byte* memory = made.value().allocate(64);
    REQUIRE(memory != nullptr);
    memory[0] = std::byte{42};
    const Arena moved = std::move(made).value();
    CHECK(moved.bytes_used() == 64);
    CHECK(memory[0] == std::byte{42});
}

TEST_CASE("arena: says which pages it stands on") {
    Result<Arena> made = Arena::create({.bytes = 4096, .prefault = true});
    REQUIRE(made.ok());
    CHECK(std::strlen(to_string(made.value().backing())) > 5);
    CHECK(made.value().allocate(64) != nullptr);
}

TEST_CASE("arena: a size that cannot be is an error that says so") {
    CHECK_FALSE(Arena::create({.bytes = 0}).ok());
    CHECK_FALSE(Arena::create({.bytes = std::size_t{0} - 1}).ok());
    const Result<Arena> huge = Arena::create({.bytes = std::size_t{1} << 46, .prefault = true});
    REQUIRE_FALSE(huge.ok());
    CHECK(huge.error().context.find("MiB") != std::string::npos);
}
