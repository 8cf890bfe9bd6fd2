// What the C++ memory model allows the queue, the ring and the credits between them to do,
// explored whole for small cases, and with few interruptions for larger ones.
#include <catch2/catch.hpp>

#include "match_model_scenarios.hpp"

using namespace wirebook::test;

namespace {

void passes(std::uint64_t executions, const std::string& fault) {
    INFO(executions << " executions");
    CHECK(executions > 0);
    CHECK(fault.empty());
    if (!fault.empty()) WARN(fault);
}

constexpr int all = 1000;  // preemptions: every schedule

}  // namespace

TEST_CASE("queue: no execution of the memory model loses, tears, doubles or reorders a request",
          "[match][model]") {
    std::string fault;
    passes(explore_queue({.takes = 1, .preemptions = 4}, fault), fault);
    passes(explore_queue({.pushes = {2, 1}, .takes = 1, .preemptions = 2}, fault), fault);
}

TEST_CASE("queue: a slot that is used again and again is never taken for another lap's",
          "[match][model]") {
    std::string fault;
    passes(explore_queue({.slots = 1, .pushes = {2, 0}, .preemptions = all}, fault), fault);
    passes(explore_queue({.slots = 1, .pushes = {2, 1}, .preemptions = 2}, fault), fault);
}

TEST_CASE("queue: a producer killed at any step keeps nobody else waiting", "[match][model]") {
    std::string fault;
    for (int steps = 0; steps < 6; ++steps) {
        passes(explore_queue({.takes = 1, .kill_after = steps, .preemptions = 3}, fault), fault);
        passes(
            explore_queue({.slots = 1, .takes = 2, .kill_after = steps, .preemptions = 2}, fault),
            fault);
    }
}

TEST_CASE("queue: it is full after as many requests as it has slots, not before",
          "[match][model]") {
    std::string fault;
    passes(explore_full(all, fault), fault);
}

TEST_CASE("ring: records come whole and in order, and no slot is written before it was read",
          "[match][model]") {
    std::string fault;
    passes(explore_ring(1, 3, fault), fault);
    passes(explore_ring(2, 3, fault), fault);
}

TEST_CASE("acks: each request has one, whole, after its release, and what is lost is counted",
          "[match][model]") {
    std::string fault;
    passes(explore_acks(2, 1, 2, all, fault), fault);
    passes(explore_acks(2, 1, 3, 3, fault), fault);
    passes(explore_acks(4, 2, 3, 3, fault), fault);
}
