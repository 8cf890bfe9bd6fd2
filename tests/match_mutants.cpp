// All scenarios of the model, quickly, for match_mutants_test.py: exit status 1 when one faults.
// `--counts` says how many executions each explored.
#include <cstdio>
#include <cstring>

#include "match_model_scenarios.hpp"

using namespace wirebook::test;

int main(int argc, char** argv) {
    const bool counts = argc > 1 && std::strcmp(argv[1], "--counts") == 0;
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    std::string fault;
    const auto done = [&](const char* name, std::uint64_t executions) {
        if (counts)
            std::printf("%-24s %10llu executions\n", name,
                        static_cast<unsigned long long>(executions));
        if (fault.empty()) return false;
        std::printf("%s: %s\n", name, fault.c_str());
        return true;
    };
    if (done("full", explore_full(2, fault))) return 1;
    if (done("ring of 1", explore_ring(1, 2, fault))) return 1;
    if (done("ring of 2", explore_ring(2, 3, fault))) return 1;
    if (done("acks, ring of 2", explore_acks(2, 1, 2, 3, fault))) return 1;
    if (done("two producers", explore_queue({2, {1, 1}, 1, -1, 2}, fault))) return 1;
    if (done("one slot, laps", explore_queue({1, {2, 0}, 2, -1, 3}, fault))) return 1;
    if (done("laps", explore_queue({1, {2, 2}, 2, -1, 1}, fault))) return 1;
    if (done("acks, ring of 4", explore_acks(4, 2, 3, 1, fault))) return 1;
    for (int steps = 0; steps < 6; ++steps)
        if (done("killed producer", explore_queue({2, {1, 1}, 1, steps, 1}, fault))) return 1;
    return 0;
}
