#include "wirebook/app/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>

namespace wirebook::app {

Progress::Progress(std::uint64_t total, Of of) : total_(total), of_(of) {
    if (::isatty(STDERR_FILENO) != 0) printer_ = std::thread([this] { print_until_stopped(); });
}

void Progress::stop() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    stopped_.notify_all();
    if (printer_.joinable()) printer_.join();
}

void Progress::print_until_stopped() {
    bool printed = false;
    std::unique_lock lock(mutex_);
    auto wait = std::chrono::milliseconds(2000);
    while (!stopped_.wait_for(lock, wait, [this] { return stop_; })) {
        wait = std::chrono::milliseconds(250);
        const std::uint64_t bytes = bytes_.load(std::memory_order_relaxed);
        if (of_ == Of::messages) {
            fmt::print(stderr, "\r{} messages", bytes);
        } else {
            fmt::print(stderr, "\r{} packets, {} MiB", packets_.load(std::memory_order_relaxed),
                       bytes >> 20);
        }
        if (total_ != 0) fmt::print(stderr, ", {} %", bytes * 100 / total_);
        fmt::print(stderr, "   ");
        printed = true;
    }
    if (printed) fmt::print(stderr, "\r{:60}\r", "");
}

}  // namespace wirebook::app
