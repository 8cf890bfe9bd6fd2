// The scenarios of one of core's protocols, quickly, for core_mutants_test.py: exit status 1 when
// one faults. `--counts` says how many executions each explored.
#include <cstdio>
#include <cstring>

#include "core_model_scenarios.hpp"

using namespace wirebook::test;

int main(int argc, char** argv) {
    const bool counts = argc > 2 && std::strcmp(argv[2], "--counts") == 0;
    const bool epoch = argc > 1 && std::strcmp(argv[1], "epoch") == 0;
    std::string fault;
    const auto done = [&](const char* name, std::uint64_t executions) {
        if (counts)
            std::printf("%-24s %10llu executions\n", name,
                        static_cast<unsigned long long>(executions));
        if (fault.empty()) return false;
        std::printf("%s: %s\n", name, fault.c_str());
        return true;
    };
    if (epoch) {
        if (done("in turn", explore_epoch_in_turn(fault))) return 1;
        if (done("leaving", explore_epoch_leaving(fault))) return 1;
        if (done("working on", explore_epoch(0, Between::nothing, fault))) return 1;
        if (done("quiescent point", explore_epoch(0, Between::quiescent_point, fault))) return 1;
        if (done("absence", explore_epoch(0, Between::absence, fault))) return 1;
        if (done("second reader", explore_epoch(1, Between::nothing, fault))) return 1;
        return 0;
    }
    if (done("in turn", explore_hand_back_in_turn(fault))) return 1;
    if (done("classes", exercise_hand_back(fault))) return 1;
    if (done("two threads", explore_hand_back(fault))) return 1;
    if (done("again", explore_hand_back_again(fault))) return 1;
    return 0;
}
