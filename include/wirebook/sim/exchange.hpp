// The exchange in a box: engine, participants, trading day, feed, lines, faults and truth, put
// together from one set of options.
//
//     participants -> engine -> reports -> messages -> packets of lines A, B -> frames -> faults
//                                             |
//                                             +-> truth (the engine's books, by line A's packets)
//
// sim may depend on everything but app. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "wirebook/core/arena.hpp"
#include "wirebook/core/result.hpp"
#include "wirebook/match/engine.hpp"
#include "wirebook/sim/broadcast.hpp"
#include "wirebook/sim/fault_rule.hpp"
#include "wirebook/sim/fault_stage.hpp"
#include "wirebook/sim/feed.hpp"
#include "wirebook/sim/frame.hpp"
#include "wirebook/sim/listing.hpp"
#include "wirebook/sim/market_day.hpp"
#include "wirebook/sim/truth.hpp"

namespace wirebook::sim {

enum class FeedKind : std::uint8_t { itch50, deep };

struct LineOptions {
    LineAddress address;
    PackerOptions packing;
    std::int64_t skew_ns = 0;  // its way is so much longer
};

struct ExchangeOptions {
    FeedKind feed = FeedKind::itch50;
    DayOptions day;  // order_limit and open_ns are made here
    std::uint32_t instruments = 100;
    std::int64_t midnight_ns = 0;    // of the trading date in New York, since the Unix epoch
    std::vector<LineOptions> lines;  // A, B; none: messages without packets
    std::vector<FaultRule> faults;
};

// Where the feed goes. What is not set is not called.
struct ExchangeOutputs {
    std::function<void(const FrameView&)> frame;                // in the order of each line
    std::function<void(std::int64_t time_ns)> no_frame_before;  // will come any more
    std::function<void(std::span<const std::byte>)> message;    // where there are no lines
    std::function<void(const TruthRow&)> top;
};

class Exchange {
public:
    // Fails where the memory cannot be had.
    [[nodiscard]] static Result<std::unique_ptr<Exchange>> create(const ExchangeOptions& options,
                                                                  ExchangeOutputs outputs);
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;
    Exchange(Exchange&&) = delete;
    Exchange& operator=(Exchange&&) = delete;
    ~Exchange() = default;

    // The whole day. `keep_going` is asked now and then.
    void run(const std::function<bool()>& keep_going);

    [[nodiscard]] const std::vector<Listing>& listings() const noexcept { return listings_; }
    [[nodiscard]] const match::Engine& engine() const noexcept { return engine_; }
    [[nodiscard]] const MarketDay& day() const noexcept { return *day_; }
    [[nodiscard]] const MessageOut& out() const noexcept { return *out_; }
    [[nodiscard]] const FaultCounters& faults(std::size_t line) const noexcept {
        return stages_[line]->counters();
    }
    [[nodiscard]] std::uint64_t sender_restarts() const noexcept { return sender_restarts_; }
    [[nodiscard]] std::size_t lines() const noexcept { return stages_.size(); }

private:
    Exchange(Arena arena, match::Engine engine, const ExchangeOptions& options,
             ExchangeOutputs outputs);
    void make_lines(const ExchangeOptions& options);
    [[nodiscard]] TruthKeeper truth_keeper();
    [[nodiscard]] bool session_restarted(std::int64_t time_ns);

    // Frames of one line: what a framer hands to a stage of faults.
    struct ToStage {
        FaultStage* stage;
        void on_frame(const FrameView& frame) { stage->on_frame(frame); }
    };

    Arena arena_;
    match::Engine engine_;
    ExchangeOutputs outputs_;
    std::vector<Listing> listings_;
    ActivityTable activity_;
    std::unique_ptr<Truth> truth_;
    std::vector<std::unique_ptr<FaultStage>> stages_;
    std::vector<std::unique_ptr<ToStage>> to_stages_;
    std::vector<LineFramer<ToStage>> framers_;
    std::unique_ptr<MessageOut> out_;
    std::unique_ptr<Feed> feed_;
    std::unique_ptr<MarketDay> day_;
    std::unique_ptr<RestartPlan> restarts_;
    std::uint64_t sender_restarts_ = 0;
};

}  // namespace wirebook::sim
