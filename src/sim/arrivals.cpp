#include "wirebook/sim/arrivals.hpp"

#include <algorithm>

#include "wirebook/core/base.hpp"

namespace wirebook::sim {

Arrivals::Arrivals(Random random, const ActivityTable& activity, const ArrivalOptions& options)
    : random_(random), activity_(activity), options_(options) {
    WIREBOOK_CHECK(options.branching < 1'000);
    plan_immigrant(options.start_ns);
}

void Arrivals::set_rate(std::uint64_t per_second) noexcept {
    WIREBOOK_CHECK(per_second > 0);
    // Bursts are arrivals too: one immigrant brings this many in the mean, in 1/1,000.
    const std::uint64_t with_bursts = 1'000 * options_.burst_length / options_.burst_every;
    const std::uint64_t caused = std::min<std::uint64_t>(options_.branching + with_bursts, 950);
    immigrant_gap_ns_ =
        std::max<std::uint64_t>(1, 1'000'000'000'000 / (per_second * (1'000 - caused)));
}

Arrival Arrivals::next() {
    Arrival arrival{next_immigrant_ns_, next_immigrant_instrument_};
    if (!planned_.empty() && planned_.top().arrival.time_ns < next_immigrant_ns_) {
        arrival = planned_.top().arrival;
        planned_.pop();
    } else {
        plan_immigrant(next_immigrant_ns_);
    }
    plan_children(arrival);
    return arrival;
}

void Arrivals::plan(std::int64_t time_ns, std::uint32_t instrument) {
    planned_.push({{time_ns, instrument}, planned_count_++});
}

void Arrivals::plan_immigrant(std::int64_t after_ns) {
    next_immigrant_ns_ =
        after_ns + static_cast<std::int64_t>(random_.exponential(immigrant_gap_ns_));
    next_immigrant_instrument_ = activity_.draw(random_);
}

void Arrivals::plan_children(const Arrival& parent) {
    // Subcritical, but chance could still pile them up: what is planned stays bounded.
    constexpr std::size_t most_planned = 1 << 16;
    if (planned_.size() >= most_planned) return;
    // A geometric number of children has the mean n when each further one has chance n / (1 + n).
    while (random_.below(1'000 + options_.branching) < options_.branching) {
        const bool same = random_.below(10) < 8;
        plan(parent.time_ns +
                 static_cast<std::int64_t>(random_.exponential(options_.child_delay_ns)),
             same ? parent.instrument : activity_.draw(random_));
    }
    if (random_.below(options_.burst_every) != 0) return;
    std::int64_t time = parent.time_ns;
    for (std::uint64_t left = random_.length(options_.burst_length); left != 0; --left) {
        time += static_cast<std::int64_t>(random_.exponential(options_.burst_gap_ns));
        plan(time, parent.instrument);
    }
}

}  // namespace wirebook::sim
