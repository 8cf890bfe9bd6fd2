// All scenarios of the model, quickly, for ring_mutants_test.py: exit status 1 when one faults.
// `--counts` says how many executions each explored.
#include <cstdio>
#include <cstring>

#include "ring_model_scenarios.hpp"

using namespace wirebook::test;

int main(int argc, char** argv) {
    const bool counts = argc > 1 && std::strcmp(argv[1], "--counts") == 0;
    std::string fault;
    const auto done = [&](const char* name, std::uint64_t executions) {
        if (counts)
            std::printf("%-24s %10llu executions\n", name,
                        static_cast<unsigned long long>(executions));
        if (fault.empty()) return false;
        std::printf("%s: %s\n", name, fault.c_str());
        return true;
    };
    if (done("in turn", explore_in_turn(fault))) return 1;
    if (done("quality, ring", explore_quality(false, fault))) return 1;
    if (done("quality, table", explore_quality(true, fault))) return 1;
    if (done("ring", explore_ring(Schedule::in_order, 4, 3, false, fault))) return 1;
    if (done("ring, keep old", explore_ring(Schedule::in_order, 4, 3, true, fault))) return 1;
    if (done("join", explore_join(false, fault))) return 1;
    if (done("join after lap", explore_join(true, fault))) return 1;
    if (done("row", explore_row(fault))) return 1;
    return 0;
}
