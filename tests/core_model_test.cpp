// What the C++ memory model allows hand-back and epochs to do, explored whole for small cases.
#include <catch2/catch.hpp>

#include "core_model_scenarios.hpp"

using namespace wirebook::test;

namespace {

void passes(std::uint64_t executions, const std::string& fault) {
    INFO(executions << " executions");
    CHECK(executions > 0);
    CHECK(fault.empty());
    if (!fault.empty()) WARN(fault);
}

}  // namespace

TEST_CASE("hand-back: no execution of the memory model loses an object or races on one",
          "[pool][model]") {
    std::string fault;
    passes(explore_hand_back_in_turn(fault), fault);
    passes(explore_hand_back(fault), fault);
}

TEST_CASE("hand-back: an object that goes round twice while another thread puts does no harm",
          "[pool][model]") {
    std::string fault;
    passes(explore_hand_back_again(fault), fault);
}

TEST_CASE("epoch: no execution of the memory model frees what a reader still uses",
          "[epoch][model]") {
    std::string fault;
    passes(explore_epoch(0, Between::nothing, fault), fault);
    passes(explore_epoch(0, Between::quiescent_point, fault), fault);
}

TEST_CASE("epoch: readers that leave and join again are safe while they are joined",
          "[epoch][model]") {
    std::string fault;
    passes(explore_epoch_leaving(fault), fault);
    passes(explore_epoch(0, Between::absence, fault), fault);
}

TEST_CASE("epoch: every reader counts, also when others are away", "[epoch][model]") {
    std::string fault;
    passes(explore_epoch(1, Between::nothing, fault), fault);
}

TEST_CASE("epoch: an epoch ends when every reader has seen it, and then the batch before is freed",
          "[epoch][model]") {
    std::string fault;
    passes(explore_epoch_in_turn(fault), fault);
}
