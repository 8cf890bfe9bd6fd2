// Holds frames back until they are due: simulated time, scaled, on this machine's clock.
//
// The first frame is due at once. One that is late is passed on at once, and does not move those
// after it: there is no drift. Sleeps where there is time, polls the clock for the last stretch.
// May depend on core and io. One thread.
#pragma once

#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "wirebook/core/clock.hpp"
#include "wirebook/io/pacer.hpp"
#include "wirebook/sim/frame.hpp"

namespace wirebook::sim {

template <FrameSink Next>
class PacedSink {
public:
    // `speed`: 1 as simulated, N that many times faster; 0: flat out. Once `stop` is set, the rest
    // goes out without a pace.
    PacedSink(Next& next, double speed, const TscClock& clock,
              const std::atomic<bool>* stop = nullptr) noexcept
        : next_(next),
          stop_(stop),
          clock_(clock),
          pacer_(clock.ns_per_tick, speed > 0 ? speed : 1.0),
          paced_(speed > 0) {}

    void on_frame(const FrameView& frame) {
        if (paced_) wait_for(pacer_.due(frame.time_ns, true, rdtsc()));
        next_.on_frame(frame);
    }

    // The most that a frame left after it was due.
    [[nodiscard]] std::int64_t latest_ns() const noexcept { return latest_ns_; }

private:
    static constexpr std::int64_t wake_early_ns = 100'000;  // what a sleep may take too long

    static constexpr std::int64_t longest_sleep_ns = 20'000'000;  // until `stop` is looked at

    [[nodiscard]] bool stopped() const noexcept {
        return stop_ != nullptr && stop_->load(std::memory_order_relaxed);
    }
    void wait_for(std::uint64_t due_tsc) noexcept {
        for (std::uint64_t now = rdtsc(); now < due_tsc; now = rdtsc()) {
            if (stopped()) return;
            const std::int64_t left_ns = clock_.ns_from_ticks(due_tsc - now);
            if (left_ns > 2 * wake_early_ns) {
                sleep(std::min(left_ns - wake_early_ns, longest_sleep_ns));
            } else {
                pause();
            }
        }
        const std::int64_t late_ns = clock_.ns_from_ticks(rdtsc() - due_tsc);
        if (late_ns > latest_ns_) latest_ns_ = late_ns;
    }
    static void sleep(std::int64_t ns) noexcept {
        constexpr std::int64_t second = 1'000'000'000;
        const timespec time{ns / second, static_cast<long>(ns % second)};
        nanosleep(&time, nullptr);
    }

    Next& next_;
    const std::atomic<bool>* stop_;
    TscClock clock_;
    io::Pacer pacer_;
    std::int64_t latest_ns_ = 0;
    bool paced_;
};

}  // namespace wirebook::sim
