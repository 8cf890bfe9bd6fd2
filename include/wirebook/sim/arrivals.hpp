// When orders arrive, and for which instrument: a Hawkes process as a branching process.
//
// Arrivals of their own ("immigrants") come at a steady rate. Every arrival may cause others soon
// after, most of them in the same instrument: `branching` of 1,000 on average, so that the mean
// rate is that of the immigrants * 1000 / (1000 - branching). Now and then one causes a micro-burst
// of hundreds. (Hawkes and Oakes, 1974, for the representation.)
// sim may depend on everything but app. One thread.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "wirebook/core/random.hpp"
#include "wirebook/sim/listing.hpp"

namespace wirebook::sim {

struct ArrivalOptions {
    std::int64_t start_ns = 0;
    std::uint64_t branching = 550;          // caused by one arrival, in 1/1,000; below 1,000
    std::uint64_t child_delay_ns = 40'000;  // mean; exponential
    std::uint64_t burst_every = 4'000;      // arrivals, on average
    std::uint64_t burst_length = 120;       // arrivals, on average
    std::uint64_t burst_gap_ns = 600;       // between those of a burst, on average
};

struct Arrival {
    std::int64_t time_ns = 0;
    std::uint32_t instrument = 0;
};

class Arrivals {
public:
    Arrivals(Random random, const ActivityTable& activity, const ArrivalOptions& options);

    // Mean of all arrivals from now on, per second. > 0.
    void set_rate(std::uint64_t per_second) noexcept;

    // In the order of time, equal times in the order they were caused.
    [[nodiscard]] Arrival next();

private:
    struct Planned {
        Arrival arrival;
        std::uint64_t number = 0;
        friend bool operator>(const Planned& a, const Planned& b) noexcept {
            return a.arrival.time_ns != b.arrival.time_ns ? a.arrival.time_ns > b.arrival.time_ns
                                                          : a.number > b.number;
        }
    };

    void plan(std::int64_t time_ns, std::uint32_t instrument);
    void plan_immigrant(std::int64_t after_ns);
    void plan_children(const Arrival& parent);

    Random random_;
    const ActivityTable& activity_;
    ArrivalOptions options_;
    std::uint64_t immigrant_gap_ns_ = 1'000'000;
    std::int64_t next_immigrant_ns_ = 0;
    std::uint32_t next_immigrant_instrument_ = 0;
    std::uint64_t planned_count_ = 0;
    std::priority_queue<Planned, std::vector<Planned>, std::greater<>> planned_;
};

}  // namespace wirebook::sim
