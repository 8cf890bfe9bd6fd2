// core: the deterministic random numbers. Values written out here hold on every machine.
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "wirebook/core/random.hpp"

using namespace wirebook;

namespace {

// Chi-square of counts that should be equal.
double chi_square(const std::vector<std::uint64_t>& counts, double expected) {
    double sum = 0;
    for (const std::uint64_t count : counts) {
        const double off = static_cast<double>(count) - expected;
        sum += off * off / expected;
    }
    return sum;
}

}  // namespace

TEST_CASE("random: the generator is xoshiro256** seeded by splitmix64") {
    Random random(42);  // the reference implementations' numbers
    CHECK(random.next() == 0x15780B2E0C2EC716);
    CHECK(random.next() == 0x6104D9866D113A7E);
    CHECK(random.next() == 0xAE17533239E499A1);
}

TEST_CASE("random: derived numbers are the same on every machine") {
    Random random(1);
    std::uint64_t digest = 0;
    for (int i = 0; i < 1000; ++i) {
        digest = digest * 31 + random.below(1'000'003);
        digest = digest * 31 + random.exponential(1'000'000);
        digest = digest * 31 + random.geometric(Chance::of(1, 37));
        digest = digest * 31 + random.length(20);
        digest = digest * 31 + static_cast<std::uint64_t>(random.uniform() * 0x1.0p53);
        digest = digest * 31 + static_cast<std::uint64_t>(random.chance(0.25));
    }
    CHECK(digest == 0x5E86C676446C3C48);
}

TEST_CASE("random: streams of a seed and forks differ from each other") {
    Random a = Random::of_stream(7, 0);
    Random b = Random::of_stream(7, 1);
    Random c = Random::of_stream(8, 0);
    CHECK(a.next() != b.next());
    CHECK(Random::of_stream(7, 0).next() != c.next());
    Random parent(7);
    Random child = parent.fork();
    CHECK(child.next() != parent.next());
}

TEST_CASE("random: below() reaches every number equally often and nothing else") {
    Random random(3);
    std::vector<std::uint64_t> counts(10);
    for (int i = 0; i < 100'000; ++i) ++counts.at(random.below(10));
    CHECK(chi_square(counts, 10'000) < 28);  // 9 degrees of freedom: 1 in 1,000
    // A limit for which plain scaling is wrong by a third.
    const std::uint64_t three_quarters = std::uint64_t{3} << 62;
    std::vector<std::uint64_t> thirds(3);
    for (int i = 0; i < 30'000; ++i) ++thirds.at(random.below(three_quarters) >> 62);
    CHECK(chi_square(thirds, 10'000) < 14);
    CHECK(random.below(1) == 0);
    CHECK(random.between(5, 5) == 5);
    static_cast<void>(random.between(0, ~std::uint64_t{0}));
}

TEST_CASE("random: the logarithm is right to 2^-50 over the whole range") {
    Random random(5);
    double worst = 0;
    for (int i = 0; i < 100'000; ++i) {
        std::uint64_t x = random.next() >> (i % 64);
        if (i < 64) x = std::uint64_t{1} << i;
        if (i == 64) x = ~std::uint64_t{0};
        if (x == 0) continue;
        const long double exact = 64 * std::log(2.0L) - std::log(static_cast<long double>(x));
        const long double ours = static_cast<long double>(negative_log_q58(x)) * 0x1.0p-58L;
        worst = std::max(worst, static_cast<double>(std::fabs(ours - exact)));
    }
    CHECK(worst < 0x1.0p-50);
    CHECK(negative_log_q58(0) == negative_log_q58(1));
}

TEST_CASE("random: exponential, geometric and lengths have the mean asked for") {
    Random random(11);
    constexpr int count = 200'000;
    std::uint64_t exponential = 0;
    std::uint64_t lengths = 0;
    std::uint64_t failures = 0;
    std::uint64_t rare = 0;
    std::uint64_t beyond_twice = 0;
    for (int i = 0; i < count; ++i) {
        const std::uint64_t one = random.exponential(1'000'000);
        exponential += one;
        beyond_twice += static_cast<std::uint64_t>(one > 2'000'000);
        lengths += random.length(20);
        failures += random.geometric(Chance::of(3, 4));
        rare += random.geometric(Chance::of(1e-9));
    }
    CHECK(static_cast<double>(exponential) / count == Approx(1'000'000).epsilon(0.01));
    CHECK(static_cast<double>(beyond_twice) / count == Approx(0.1353).epsilon(0.03));
    CHECK(static_cast<double>(lengths) / count == Approx(20).epsilon(0.01));
    CHECK(static_cast<double>(failures) / count == Approx(1.0 / 3).epsilon(0.02));
    CHECK(static_cast<double>(rare) / count == Approx(1e9).epsilon(0.01));
    CHECK(random.length(1) == 1);
    CHECK(random.length(0) == 1);
}

TEST_CASE("random: a chance of a fraction is met, of 1 always, of 0 never") {
    Random random(13);
    int met = 0;
    for (int i = 0; i < 100'000; ++i) met += static_cast<int>(random.chance(Chance::of(1, 8)));
    CHECK(met == Approx(12'500).epsilon(0.05));
    bool always = true;
    bool never = false;
    for (int i = 0; i < 10'000; ++i) {
        always = always && random.chance(Chance::of(1.0));
        never = never || random.chance(Chance{});
    }
    CHECK(always);
    CHECK_FALSE(never);
    CHECK(Chance::of(0.5).q64 == std::uint64_t{1} << 63);
}
