// A line on stderr that says how far a long replay or simulation is: after 2 s, where stderr is a
// terminal.
//
// The loop stores where it is (one relaxed store a burst); a thread of its own prints.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace wirebook::app {

class Progress {
public:
    enum class Of : std::uint8_t { packets_and_bytes, messages };

    // `total`: bytes of all files, or messages; 0: not known (a pipe).
    explicit Progress(std::uint64_t total, Of of = Of::packets_and_bytes);
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    Progress(Progress&&) = delete;
    Progress& operator=(Progress&&) = delete;
    ~Progress() { stop(); }

    void at(std::uint64_t packets, std::uint64_t bytes) noexcept {
        packets_.store(packets, std::memory_order_relaxed);
        bytes_.store(bytes, std::memory_order_relaxed);
    }
    void at(std::uint64_t messages) noexcept { at(messages, messages); }
    // Takes the line away. Idempotent.
    void stop();

private:
    void print_until_stopped();

    std::uint64_t total_;
    Of of_;
    std::atomic<std::uint64_t> packets_{0};
    std::atomic<std::uint64_t> bytes_{0};
    std::mutex mutex_;
    std::condition_variable stopped_;
    bool stop_ = false;
    std::thread printer_;  // only where stderr is a terminal
};

}  // namespace wirebook::app
