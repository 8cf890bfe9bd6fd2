// What the control thread wants of an lcore, and what an lcore shows it. The lcore looks between
// bursts, with one relaxed load, and does not wait for anybody.
//
// Threads: the lcore's parts and the control thread's are marked.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "wirebook/feed/channel.hpp"
#include "wirebook/feed/symbol_filter.hpp"

namespace wirebook::app {

// Shown by the lcore with relaxed stores.
struct LcoreProgress {
    alignas(64) std::atomic<std::uint64_t> rounds{0};  // of the loop: stands still where it hangs
    std::atomic<std::uint64_t> received{0};            // packets
    std::atomic<std::uint64_t> last_packet_tsc{0};
    std::atomic<bool> ended{false};  // the loop has, as --stop says: rounds stand still for good
};

class LcoreMail {
public:
    // ---- control thread

    // By channel of the lcore: none of its lines can bring anything, or one can again.
    void set_offline(std::vector<bool> offline) {
        const std::lock_guard lock(mutex_);
        wanted_offline_ = std::move(offline);
        waiting_.store(true, std::memory_order_release);
    }
    // By channel of the lcore.
    void change_symbols(std::vector<feed::SymbolFilter> filters) {
        const std::lock_guard lock(mutex_);
        filters_ = std::move(filters);
        symbols_changed_ = true;
        waiting_.store(true, std::memory_order_release);
    }

    // ---- lcore

    [[nodiscard]] bool waiting() const noexcept {
        return waiting_.load(std::memory_order_relaxed) || returning_ != 0;
    }
    template <class Pipeline>
    void deliver(Pipeline& pipeline) noexcept {
        if (waiting_.load(std::memory_order_acquire)) take(pipeline);
        if (returning_ != 0) look_for_returns(pipeline);
    }

private:
    struct State {
        bool offline = false;
        bool returning = false;  // a line is up, but what was missed is not known yet
        std::uint64_t heard = 0;
    };

    template <class Pipeline>
    void take(Pipeline& pipeline) noexcept {
        const std::unique_lock lock(mutex_, std::try_to_lock);
        if (!lock.owns_lock()) return;  // the next round will do
        waiting_.store(false, std::memory_order_relaxed);
        if (std::exchange(symbols_changed_, false)) {
            for (std::size_t c = 0; c < filters_.size(); ++c)
                pipeline.change_symbols(c, filters_[c]);  // the old ones die on the control thread
        }
        states_.resize(wanted_offline_.size());
        returning_ = 0;
        for (std::size_t c = 0; c < states_.size(); ++c) {
            State& state = states_[c];
            if (wanted_offline_[c] && !state.offline) pipeline.set_offline(c, true);
            state.returning = !wanted_offline_[c] && (state.offline || state.returning);
            state.offline = wanted_offline_[c];
            state.heard = heard(*pipeline.channels()[c]);
            returning_ += state.returning ? 1U : 0U;
        }
    }
    // The first packet that comes again shows whether something was missed: the hole is known then.
    template <class Pipeline>
    void look_for_returns(Pipeline& pipeline) noexcept {
        for (std::size_t c = 0; c < states_.size(); ++c) {
            State& state = states_[c];
            if (!state.returning || heard(*pipeline.channels()[c]) == state.heard) continue;
            if (pipeline.channels()[c]->sequencer().parked() != 0) continue;
            state.returning = false;
            returning_ -= 1;
            pipeline.set_offline(c, false);
        }
    }
    [[nodiscard]] static std::uint64_t heard(const feed::Channel& channel) noexcept {
        const feed::SequenceCounters& counters = channel.sequencer().counters();
        return counters.processed_packets + counters.heartbeats;
    }

    std::mutex mutex_;
    std::atomic<bool> waiting_{false};
    std::vector<bool> wanted_offline_;
    std::vector<feed::SymbolFilter> filters_;
    bool symbols_changed_ = false;
    std::vector<State> states_;    // the lcore's
    std::uint32_t returning_ = 0;  // of them
};

}  // namespace wirebook::app
