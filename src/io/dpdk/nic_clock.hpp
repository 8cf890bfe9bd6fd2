// The clock of a NIC whose driver lets it be read: turned into UTC by way of the TSC.
//
// The control thread reads NIC and TSC together about once a second and publishes the line through
// the last two readings; pollers turn stamps into UTC with it. No DPDK here.
// Threads: sample() on one thread; read() on any.
#pragma once

#include <atomic>
#include <cstdint>

namespace wirebook::io::dpdk {

struct NicRate {
    std::uint64_t base_raw = 0;    // the same instant
    std::int64_t base_utc_ns = 0;  // on both clocks
    double ns_per_tick = 0;

    // Stamps before the base are fine; within a day of it exact to some ns.
    [[nodiscard]] std::int64_t to_utc_ns(std::uint64_t raw) const noexcept {
        const auto ticks = static_cast<std::int64_t>(raw - base_raw);
        return base_utc_ns + static_cast<std::int64_t>(static_cast<double>(ticks) * ns_per_tick);
    }
};

class NicClock {
public:
    // The NIC's clock said `raw` at `utc_ns`. The first reading gives no rate yet; one that did not
    // advance (the clock stands, or was set back) begins anew.
    void sample(std::uint64_t raw, std::int64_t utc_ns) noexcept {
        const bool advanced = readings_ != 0 && raw > last_raw_ && utc_ns > last_utc_ns_;
        if (advanced) {
            const double rate =
                static_cast<double>(utc_ns - last_utc_ns_) / static_cast<double>(raw - last_raw_);
            publish({raw, utc_ns, rate});
        }
        readings_ = 1;
        last_raw_ = raw;
        last_utc_ns_ = utc_ns;
    }
    // False: there is no rate yet, or it is just being changed.
    [[nodiscard]] bool read(NicRate& rate) const noexcept {
        const std::uint32_t before = version_.load(std::memory_order_acquire);
        if (before == 0 || (before & 1U) != 0) return false;
        rate.base_raw = base_raw_.load(std::memory_order_relaxed);
        rate.base_utc_ns = base_utc_ns_.load(std::memory_order_relaxed);
        rate.ns_per_tick = ns_per_tick_.load(std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_acquire);
        return version_.load(std::memory_order_relaxed) == before;
    }

private:
    // A sequence lock of one writer.
    void publish(const NicRate& rate) noexcept {
        const std::uint32_t version = version_.load(std::memory_order_relaxed);
        version_.store(version + 1, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_release);
        base_raw_.store(rate.base_raw, std::memory_order_relaxed);
        base_utc_ns_.store(rate.base_utc_ns, std::memory_order_relaxed);
        ns_per_tick_.store(rate.ns_per_tick, std::memory_order_relaxed);
        version_.store(version + 2, std::memory_order_release);
    }

    std::uint32_t readings_ = 0;
    std::uint64_t last_raw_ = 0;
    std::int64_t last_utc_ns_ = 0;
    std::atomic<std::uint32_t> version_{0};
    std::atomic<std::uint64_t> base_raw_{0};
    std::atomic<std::int64_t> base_utc_ns_{0};
    std::atomic<double> ns_per_tick_{0};
};

}  // namespace wirebook::io::dpdk
