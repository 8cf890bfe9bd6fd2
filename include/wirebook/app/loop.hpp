// The loop of one lcore: bursts from a source through the pipeline, until the source ends or
// somebody says stop. The same for live ports and captures: a template over the source.
//
// Nothing is allocated, logged or waited for in here. One thread; `stop` may be set by a signal
// handler.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

#include "wirebook/app/lcore_mail.hpp"
#include "wirebook/app/observer.hpp"
#include "wirebook/app/progress.hpp"
#include "wirebook/core/clock.hpp"
#include "wirebook/wire/packet.hpp"

namespace wirebook::app {

struct LoopOptions {
    std::uint64_t stop_packets = 0;       // 0: no limit
    std::uint64_t stop_idle_ticks = 0;    // TSC ticks without a packet; 0: no limit
    bool stop_at_end_of_session = false;  // of all channels
    bool clock_runs = false;  // packets carry this machine's time: waits end without packets too
    bool offers = false;      // frames that are not UDP are shown to the control thread
};

// Set by SIGINT and SIGTERM, and by SIGHUP.
extern std::atomic<bool> stop_requested;
extern std::atomic<bool> reload_requested;
void catch_stop_signals();
void catch_reload_signal();

// How an lcore and the control thread talk; null where there is no control thread.
struct LoopControl {
    LcoreMail* mail = nullptr;
    LcoreProgress* progress = nullptr;
};

// Bursts are as long as a batch, so that the look-ahead over the batch has its full length.
inline constexpr std::size_t burst_packets = book::UpdateBatch::packet_capacity;

template <class Source>
class Loop {
public:
    // `progress` may be null.
    Loop(Source& source, AppPipeline& pipeline, Observer& observer, const LoopOptions& options,
         Progress* progress, LoopControl control = {})
        : source_(source),
          pipeline_(pipeline),
          observer_(observer),
          options_(options),
          progress_(progress),
          control_(control) {}

    void run() noexcept {
        last_packet_tsc_ = rdtsc();
        while (!source_.finished() && !stop_requested.load(std::memory_order_relaxed)) {
            if (control_.mail != nullptr) {
                if (control_.mail->waiting()) [[unlikely]]
                    control_.mail->deliver(pipeline_);
                control_.progress->rounds.store(++rounds_, std::memory_order_relaxed);
            }
            const std::size_t count = source_.receive(std::span(burst_).first(burst_limit()));
            if (count > 0) {
                on_burst(count);
            } else if (idle_too_long()) {
                break;
            }
            if (options_.stop_packets != 0 && received_ >= options_.stop_packets) break;
            if (ended_) break;
        }
        pipeline_.finish();
        give_back(0);
    }

private:
    [[nodiscard]] std::size_t burst_limit() const noexcept {
        if (options_.stop_packets == 0) return burst_.size();
        const std::uint64_t left = options_.stop_packets - received_;
        return left < burst_.size() ? static_cast<std::size_t>(left) : burst_.size();
    }

    void on_burst(std::size_t count) noexcept {
        received_ += count;
        const std::uint64_t others = not_udp();
        std::size_t done = 0;  // packets that can go back, moved to the front
        for (std::size_t i = 0; i < count; ++i) {
            if (burst_[i].time_source == wire::TimeSource::nic_unsynchronised) [[unlikely]] {
                pipeline_.advance_clock(observer_.clock.to_utc_ns(burst_[i].receive_tsc));
            }
            if (pipeline_.on_packet(burst_[i]) == feed::Kept::no) burst_[done++] = burst_[i];
            // Asked for each packet: the next session may begin in the same burst.
            if (options_.stop_at_end_of_session) ended_ = ended_ || pipeline_.all_ended();
        }
        pipeline_.flush();
        if (options_.offers && not_udp() != others) [[unlikely]]
            offer(done);
        give_back(done);
        if constexpr (requires { source_.progress(); }) {
            if (progress_ != nullptr) {
                progress_->at(received_, source_.progress().file_bytes_read);
            }
        }
        if (observer_.publisher || options_.stop_idle_ticks != 0) {
            last_packet_tsc_ = rdtsc();
            if (observer_.publisher) observer_.publisher->heartbeat(last_packet_tsc_);
        }
        if (control_.progress != nullptr) {
            control_.progress->received.store(received_, std::memory_order_relaxed);
            control_.progress->last_packet_tsc.store(burst_.front().receive_tsc,
                                                     std::memory_order_relaxed);
        }
    }

    [[nodiscard]] std::uint64_t not_udp() const noexcept {
        constexpr auto reason = static_cast<std::size_t>(wire::DropReason::not_udp);
        return pipeline_.counters().frame_drops[reason];
    }
    // IGMP queries are among them. Packets that are kept are of a feed.
    void offer(std::size_t done) noexcept {
        if constexpr (requires { source_.offer(burst_[0]); }) {
            for (std::size_t i = 0; i < done; ++i) {
                if (is_igmp(burst_[i])) source_.offer(burst_[i]);
            }
        }
    }
    // Ethernet, VLAN tags, IPv4 with protocol 2.
    [[nodiscard]] static bool is_igmp(const wire::Packet& packet) noexcept {
        const auto byte = [&](std::size_t at) {
            return at < packet.bytes ? std::to_integer<unsigned>(packet.data[at]) : 0U;
        };
        std::size_t at = 12;
        for (int tags = 0; tags < 2 && (byte(at) == 0x81 || byte(at) == 0x88); ++tags) at += 4;
        return byte(at) == 0x08 && byte(at + 1) == 0x00 && byte(at + 2) >> 4U == 4 &&
               byte(at + 11) == 2;
    }

    void give_back(std::size_t done) noexcept {
        source_.release(std::span<const wire::Packet>(burst_).first(done));
        auto& released = pipeline_.released();
        if (released.empty()) return;
        source_.release(released);
        released.clear();
    }

    // No packet was there. True: the idle limit is reached.
    [[nodiscard]] bool idle_too_long() noexcept {
        pause();
        idle_polls_ += 1;
        const std::uint64_t now = rdtsc();
        if (options_.clock_runs) {
            pipeline_.advance_clock(observer_.clock.to_utc_ns(now));
            pipeline_.flush();
            give_back(0);
        }
        if (observer_.publisher && idle_polls_ % heartbeat_polls == 0) {
            observer_.publisher->heartbeat(now);
        }
        return options_.stop_idle_ticks != 0 && now - last_packet_tsc_ >= options_.stop_idle_ticks;
    }

    static constexpr std::uint64_t heartbeat_polls = 256;

    Source& source_;
    AppPipeline& pipeline_;
    Observer& observer_;
    LoopOptions options_;
    Progress* progress_;
    LoopControl control_;
    std::uint64_t received_ = 0;
    std::uint64_t idle_polls_ = 0;
    std::uint64_t rounds_ = 0;
    std::uint64_t last_packet_tsc_ = 0;
    bool ended_ = false;  // every channel's session has, while we are to stop there
    std::array<wire::Packet, burst_packets> burst_;
};

}  // namespace wirebook::app
