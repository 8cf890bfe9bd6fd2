// core: the histogram against the sorted values themselves.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "wirebook/core/histogram.hpp"

using namespace wirebook;

namespace {

std::uint64_t test_seed() {
    const char* set = std::getenv("WIREBOOK_SEED");
    return set != nullptr ? std::stoull(set) : std::random_device{}();
}

// The value of this rank, as Histogram::percentile defines it.
std::int64_t percentile_of(std::vector<std::int64_t> values, double percent) {
    std::sort(values.begin(), values.end());
    const double wanted = std::ceil(percent / 100 * static_cast<double>(values.size()));
    const auto rank = std::max<std::size_t>(static_cast<std::size_t>(wanted), 1);
    return values[rank - 1];
}

}  // namespace

TEST_CASE("histogram: an empty one has zero everywhere") {
    const Histogram histogram;
    CHECK(histogram.count() == 0);
    CHECK(histogram.max() == 0);
    CHECK(histogram.percentile(99.9) == 0);
}

TEST_CASE("histogram: values below 256 ns are exact") {
    Histogram histogram;
    for (std::int64_t ns = 0; ns < 256; ++ns) histogram.record(ns);
    CHECK(histogram.percentile(0) == 0);
    CHECK(histogram.percentile(50) == 127);
    CHECK(histogram.percentile(100) == 255);
}

TEST_CASE("histogram: one value is found within one percent") {
    for (std::int64_t ns = 1; ns < Histogram::largest_ns; ns += ns / 7 + 1) {
        Histogram histogram;
        histogram.record(ns);
        histogram.record(Histogram::largest_ns);  // else max() would bound it exactly
        const std::int64_t found = histogram.percentile(50);
        REQUIRE(found >= ns);
        REQUIRE(static_cast<double>(found - ns) <= 0.01 * static_cast<double>(ns));
    }
}

TEST_CASE("histogram: percentiles of random values are within one percent") {
    const std::uint64_t seed = test_seed();
    INFO("WIREBOOK_SEED=" << seed);
    std::mt19937_64 random(seed);
    std::lognormal_distribution<double> durations(7, 2);
    Histogram histogram;
    std::vector<std::int64_t> values;
    for (int i = 0; i < 20'000; ++i) {
        const double ns = std::min(durations(random), 9e9);
        values.push_back(static_cast<std::int64_t>(ns));
        histogram.record(values.back());
    }
    for (const double percent : {0.0, 1.0, 50.0, 90.0, 99.0, 99.9, 99.99, 100.0}) {
        const std::int64_t right = percentile_of(values, percent);
        const std::int64_t found = histogram.percentile(percent);
        CHECK(found >= right);
        CHECK(static_cast<double>(found - right) <= 0.01 * static_cast<double>(right));
    }
    CHECK(histogram.max() == *std::max_element(values.begin(), values.end()));
}

TEST_CASE("histogram: a negative duration counts as zero") {
    Histogram histogram;
    histogram.record(-5);
    CHECK(histogram.count() == 1);
    CHECK(histogram.percentile(100) == 0);
}

TEST_CASE("histogram: a duration above ten seconds is kept exactly as the maximum") {
    Histogram histogram;
    histogram.record(100);
    histogram.record(25'000'000'000);
    CHECK(histogram.max() == 25'000'000'000);
    CHECK(histogram.percentile(100) == 25'000'000'000);
    CHECK(histogram.percentile(50) == 100);
}

TEST_CASE("histogram: merging is recording into one") {
    Histogram one;
    Histogram two;
    Histogram both;
    for (std::int64_t ns = 1; ns < 1'000'000; ns *= 3) {
        one.record(ns);
        two.record(2 * ns, 5);
        both.record(ns);
        both.record(2 * ns, 5);
    }
    one.merge(two);
    CHECK(one.count() == both.count());
    CHECK(one.max() == both.max());
    for (double percent = 0; percent <= 100; percent += 5) {
        CHECK(one.percentile(percent) == both.percentile(percent));
    }
    one.clear();
    CHECK(one.count() == 0);
}
