// What a long measurement writes down without allocating: moments, what the machine did meanwhile,
// and how to find a period in them. For benchmarks.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "wirebook/core/clock.hpp"

namespace wirebook::bench {

// A moment (TSC) and how long something took that ended then (ticks).
struct Moment {
    std::uint64_t tsc, ticks;
};

// Keeps moments until it is full, then only counts them.
class MomentLog {
public:
    explicit MomentLog(std::size_t capacity) { moments_.resize(capacity), moments_.clear(); }
    void note(std::uint64_t tsc, std::uint64_t ticks) noexcept {
        if (moments_.size() < moments_.capacity())
            moments_.push_back({tsc, ticks});
        else
            left_out_ += 1;
    }
    [[nodiscard]] const std::vector<Moment>& moments() const noexcept { return moments_; }
    [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }
    // The longest that overlaps the time from `from` to `to`; 0 ticks if there is none.
    [[nodiscard]] Moment longest_in(std::uint64_t from, std::uint64_t to) const {
        const auto before = [](const Moment& m, std::uint64_t tsc) { return m.tsc < tsc; };
        auto at = std::lower_bound(moments_.begin(), moments_.end(), from, before);
        Moment longest{0, 0};
        for (; at != moments_.end() && at->tsc - at->ticks < to; ++at)
            if (at->ticks > longest.ticks) longest = *at;
        return longest;
    }

private:
    std::vector<Moment> moments_;
    std::uint64_t left_out_ = 0;
};

// Moments less than `apart` ticks from each other are one spike, as long as its longest.
inline std::vector<Moment> spikes_of(const std::vector<Moment>& moments, std::uint64_t apart) {
    std::vector<Moment> spikes;
    std::uint64_t newest = 0;
    for (const Moment& moment : moments) {
        if (spikes.empty() || moment.tsc - newest > apart) spikes.push_back(moment);
        if (moment.ticks > spikes.back().ticks) spikes.back() = moment;
        newest = moment.tsc;
    }
    return spikes;
}

// How much the moments keep step with a period: 0 not at all, 1 all at the same point of it.
inline double in_step(const std::vector<Moment>& moments, double period_ticks) {
    constexpr double turn = 6.283185307179586;
    double x = 0, y = 0;
    for (const Moment& moment : moments) {
        const double angle =
            turn * std::fmod(static_cast<double>(moment.tsc), period_ticks) / period_ticks;
        x += std::cos(angle), y += std::sin(angle);
    }
    return moments.empty() ? 0 : std::sqrt(x * x + y * y) / static_cast<double>(moments.size());
}

// The distances between moments, and whether they keep step with what is usual on a machine.
inline void print_periods(const char* what, const std::vector<Moment>& moments,
                          const TscClock& clock) {
    if (moments.size() < 20) return;
    std::printf("%s: %zu, in step (0 to 1) with a period of", what, moments.size());
    for (const double ms : {1.0, 4.0, 10.0, 50.0, 100.0, 250.0, 500.0, 1000.0, 2000.0, 5000.0})
        std::printf("  %g ms: %.2f", ms,
                    in_step(moments, static_cast<double>(clock.ticks_from_ns(1'000'000)) * ms));
    std::map<std::int64_t, std::uint64_t> intervals;  // tenths of a ms
    for (std::size_t i = 1; i < moments.size(); ++i)
        intervals[clock.ns_from_ticks(moments[i].tsc - moments[i - 1].tsc) / 100'000] += 1;
    std::vector<std::pair<std::uint64_t, std::int64_t>> most;
    for (const auto& [interval, count] : intervals) most.emplace_back(count, interval);
    std::sort(most.rbegin(), most.rend());
    if (most.size() > 6) most.resize(6);
    std::printf("\n  most frequent distances:");
    for (const auto& [count, interval] : most)
        std::printf("  %.1f ms (%llu)", static_cast<double>(interval) / 10,
                    static_cast<unsigned long long>(count));
    std::printf("\n");
}

// Interrupts by name on one CPU since boot, and "steal", "softirq" (clock ticks) of /proc/stat.
inline std::map<std::string, std::uint64_t> machine_counts(unsigned cpu) {
    std::map<std::string, std::uint64_t> counts;
    std::string text;
    std::ifstream interrupts("/proc/interrupts");
    for (std::getline(interrupts, text); std::getline(interrupts, text);) {
        std::istringstream words(text);
        std::string name, rest;
        words >> name;
        std::vector<std::uint64_t> by_cpu;
        for (std::uint64_t count = 0; words >> count;) by_cpu.push_back(count);
        words.clear();
        std::getline(words, rest);
        const auto begins = rest.find_first_not_of(' ');
        if (begins != std::string::npos) name += " " + rest.substr(begins);
        if (cpu < by_cpu.size()) counts["irq " + name] = by_cpu[cpu];
    }
    std::ifstream stat("/proc/stat");
    while (std::getline(stat, text)) {
        std::istringstream words(text);
        std::string name;
        words >> name;
        if (name != "cpu" + std::to_string(cpu)) continue;
        std::vector<std::uint64_t> ticks(8);  // user nice system idle iowait irq softirq steal
        for (std::uint64_t& count : ticks) words >> count;
        counts["softirq time, 10 ms"] = ticks[6];
        counts["stolen by the hypervisor, 10 ms"] = ticks[7];
    }
    return counts;
}

inline void print_difference(const char* who, const std::map<std::string, std::uint64_t>& before,
                             const std::map<std::string, std::uint64_t>& after, double seconds) {
    std::vector<std::pair<std::uint64_t, std::string>> grown;
    for (const auto& [name, count] : after) {
        const auto was = before.find(name);
        const std::uint64_t more = count - (was == before.end() ? 0 : was->second);
        if (more != 0) grown.emplace_back(more, name);
    }
    std::sort(grown.rbegin(), grown.rend());
    if (grown.size() > 8) grown.resize(8);
    for (const auto& [count, name] : grown)
        std::printf("  %s: %10llu  (%.1f a second)  %s\n", who,
                    static_cast<unsigned long long>(count), static_cast<double>(count) / seconds,
                    name.c_str());
}

// Resident memory of the process. No stream: it would allocate.
inline long resident_kib() {
    long total = 0, resident = 0;
    static char text[128];
    const int file = ::open("/proc/self/statm", O_RDONLY);
    const ssize_t read = ::read(file, text, sizeof(text) - 1);
    ::close(file);
    if (read > 0) std::sscanf(text, "%ld %ld", &total, &resident);
    return resident * (::sysconf(_SC_PAGESIZE) / 1024);
}

// Of the calling thread so far.
inline rusage thread_usage() {
    rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    return usage;
}

}  // namespace wirebook::bench
