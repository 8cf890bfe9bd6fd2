// The control thread of `wirebook run`, while lcores poll: signals, group membership, links, loss
// counters, the NICs' clocks, systemd. Wakes every 20 ms; never waits for an lcore.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "live_lcore.hpp"
#include "membership.hpp"
#include "wirebook/app/config.hpp"
#include "wirebook/app/loss_watch.hpp"
#include "wirebook/app/options.hpp"
#include "wirebook/io/dpdk_source.hpp"

namespace wirebook::app {

using Lcores = std::vector<std::unique_ptr<Lcore>>;

// What runs; all of it outlives the control.
struct LiveParts {
    Config& config;  // what the process runs with; a reload changes its symbols and log
    const RunOptions& options;
    io::DpdkSource& source;
    Lcores& lcores;
    GroupMembership& membership;
    LossWatch& losses;
};

class LiveControl {
public:
    explicit LiveControl(const LiveParts& parts);

    // Until all lcores have passed `ended`.
    void run(Gate& ended);
    [[nodiscard]] const std::vector<std::uint64_t>& link_changes() const noexcept {
        return link_changes_;
    }

private:
    using Clock = std::chrono::steady_clock;

    void tick();
    void look_at_links();
    void tell_links();
    void look_at_stops();
    void reload();
    void tell_systemd();

    Config& config_;
    const RunOptions& options_;
    io::DpdkSource& source_;
    Lcores& lcores_;
    GroupMembership& membership_;
    LossWatch& losses_;
    std::vector<bool> link_up_;
    std::vector<std::uint64_t> link_changes_;
    std::vector<std::uint64_t> rounds_;  // by lcore, at the last look
    Clock::time_point links_due_, second_due_, watchdog_due_;
    std::chrono::microseconds watchdog_;  // 0: systemd does not watch
    TscClock clock_;
};

}  // namespace wirebook::app
