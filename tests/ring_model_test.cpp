// What the C++ memory model allows the ring's protocol to do, explored whole for small cases.
#include <catch2/catch.hpp>

#include "ring_model_scenarios.hpp"

using namespace wirebook::test;

namespace {

void passes(std::uint64_t executions, const std::string& fault) {
    INFO(executions << " executions");
    CHECK(executions > 0);
    CHECK(fault.empty());
    if (!fault.empty()) WARN(fault);
}

}  // namespace

TEST_CASE("ring: no execution of the memory model yields a torn record or a wrong loss count",
          "[ring][model]") {
    std::string fault;
    for (const bool keep_old : {false, true})
        passes(explore_ring(Schedule::in_order, 4, 3, keep_old, fault), fault);
}

TEST_CASE("ring: every interleaving of two publications and a poll agrees with that",
          "[ring][model]") {
    std::string fault;
    passes(explore_ring(Schedule::interleaved, 2, 1, false, fault), fault);
}

TEST_CASE("ring: a writer that reads its own ring finds each record once", "[ring][model]") {
    std::string fault;
    passes(explore_in_turn(fault), fault);
}

TEST_CASE("ring: a late join has no hole, shows nothing twice and leaves nothing out",
          "[ring][model]") {
    std::string fault;
    passes(explore_join(false, fault), fault);
}

TEST_CASE("ring: a join after having been lapped has no hole either", "[ring][model]") {
    std::string fault;
    passes(explore_join(true, fault), fault);
}

TEST_CASE("ring: a snapshot published after a gap is never shown as good", "[ring][model]") {
    std::string fault;
    passes(explore_quality(false, fault), fault);
    passes(explore_quality(true, fault), fault);
}

TEST_CASE("ring: rows of the instrument table are whole, and there before they are counted",
          "[ring][model]") {
    std::string fault;
    passes(explore_row(fault), fault);
}
