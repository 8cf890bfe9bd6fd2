// An lcore of `wirebook run`: a polling thread with its channels from queue to ring.
//
// Made, started and joined on the control thread; the thread in between is the lcore's.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "wirebook/app/lcore_mail.hpp"
#include "wirebook/app/lcore_plan.hpp"
#include "wirebook/app/loop.hpp"
#include "wirebook/app/setup.hpp"

namespace wirebook::app {

// Counts lcores in and out; the control thread waits for them.
class Gate {
public:
    void pass() {
        const std::lock_guard lock(mutex_);
        passed_ += 1;
        changed_.notify_all();
    }
    // True: `count` have passed. Waits at most so long for it.
    [[nodiscard]] bool wait(std::size_t count, std::chrono::milliseconds limit) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, limit, [&] { return passed_ >= count; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t passed_ = 0;
};

class Lcore {
public:
    // `index` of `count`: with several, the segment and the dumps that are written along the way
    // have it behind their names ("nasdaq.0"). Opens the outputs, takes all memory.
    [[nodiscard]] static Result<std::unique_ptr<Lcore>> create(const Config& config,
                                                               const RunOptions& options,
                                                               const LcorePlan& plan,
                                                               std::size_t index,
                                                               std::size_t count);

    // `begun`: passed when the thread polls, or could not; `ended`: when it is done.
    template <class Source>
    void start(Source& source, const LoopOptions& options, Gate& begun, Gate& ended) {
        thread_ = std::thread([this, &source, options, &begun, &ended] {
            problem_ = settle();
            if (!problem_) {
                if (Status entered = source.enter(); !entered) problem_ = entered.error();
            }
            begun.pass();
            if (!problem_) {
                auto loop =
                    std::make_unique<Loop<Source>>(source, *pipeline_, observer_, options, nullptr,
                                                   LoopControl{&mail_, &progress_});
                loop->run();
                progress_.ended.store(true, std::memory_order_relaxed);
            }
            source.leave();
            ended.pass();
        });
    }
    void join() {
        if (thread_.joinable()) thread_.join();
    }
    // After `begun`: why the thread does not poll.
    [[nodiscard]] const std::optional<Error>& problem() const noexcept { return problem_; }

    [[nodiscard]] const LcorePlan& plan() const noexcept { return plan_; }
    [[nodiscard]] Observer& observer() noexcept { return observer_; }
    [[nodiscard]] const AppPipeline& pipeline() const noexcept { return *pipeline_; }
    [[nodiscard]] LcoreMail& mail() noexcept { return mail_; }
    [[nodiscard]] const LcoreProgress& progress() const noexcept { return progress_; }

private:
    explicit Lcore(LcorePlan plan) : plan_(std::move(plan)) {}
    // The calling thread onto its CPU, with its scheduling.
    [[nodiscard]] std::optional<Error> settle() const;

    LcorePlan plan_;
    Observer observer_;
    std::unique_ptr<AppPipeline> pipeline_;
    LcoreMail mail_;
    LcoreProgress progress_;
    std::optional<Error> problem_;
    std::thread thread_;
};

}  // namespace wirebook::app
