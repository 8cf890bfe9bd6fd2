// When a packet of a replay is due: capture time, scaled, on the TSC.
//
// The first packet with a stamp is due at once; time stands still where stamps jump back, so the
// highest stamp seen so far counts. A packet without any stamp before it is due at once.
// May depend on core. Time is an argument. One thread at a time.
#pragma once

#include <cstdint>

namespace wirebook::io {

class Pacer {
public:
    Pacer() = default;
    // `speed` > 0: 2 is twice as fast as it was captured.
    Pacer(double ns_per_tick, double speed) noexcept : ticks_per_ns_(1.0 / (ns_per_tick * speed)) {}

    // TSC at which a packet with this stamp is due; to be called in the order of the packets,
    // more than once for the same packet is fine.
    [[nodiscard]] std::uint64_t due(std::int64_t time_ns, bool has_time,
                                    std::uint64_t now_tsc) noexcept {
        if (!started_) {
            if (!has_time) return now_tsc;
            started_ = true;
            base_tsc_ = now_tsc;
            base_ns_ = time_ns;
            highest_ns_ = time_ns;
        }
        if (has_time && time_ns > highest_ns_) highest_ns_ = time_ns;
        // Unsigned: stamps of a hostile file may be further apart than 2^63 ns.
        const std::uint64_t elapsed_ns =
            static_cast<std::uint64_t>(highest_ns_) - static_cast<std::uint64_t>(base_ns_);
        const double ticks = static_cast<double>(elapsed_ns) * ticks_per_ns_;
        constexpr double never = 9.0e18;
        return base_tsc_ + static_cast<std::uint64_t>(ticks < never ? ticks : never);
    }

private:
    double ticks_per_ns_ = 1.0;
    std::uint64_t base_tsc_ = 0;
    std::int64_t base_ns_ = 0;
    std::int64_t highest_ns_ = 0;
    bool started_ = false;
};

}  // namespace wirebook::io
