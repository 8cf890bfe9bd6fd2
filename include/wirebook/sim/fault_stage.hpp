// Faults on purpose in the frames of one line, between the framer and what sends them.
//
// The rules of the line apply in the order they were given, until one loses the frame. What a rule
// draws for a frame depends on the seed, the line, the rule's kind, how many of that kind come
// before it, and the frame's number alone: other rules change nothing of it. Without rules every
// frame passes on untouched.
//
// `delay`, and `duplicate` with a time, give frames a later time than their successors': a
// FrameMerger has to follow. `reorder` does not: the frame gets the time of the one it comes after.
// Times given here never are before the frame's own.
// May depend on core and wire. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "wirebook/core/random.hpp"
#include "wirebook/sim/fault_rule.hpp"
#include "wirebook/sim/frame.hpp"

namespace wirebook::sim {

struct FaultCounters {
    std::uint64_t frames_in = 0;
    std::uint64_t frames_out = 0;
    std::array<std::uint64_t, fault_kinds> by_kind{};  // frames that a rule of the kind changed

    [[nodiscard]] std::uint64_t of(FaultKind kind) const noexcept {
        return by_kind[static_cast<std::size_t>(kind)];
    }
};

// "loss 12, burst 240": kinds that occurred; "none".
[[nodiscard]] std::string to_string(const FaultCounters& counters);

class FaultStage {
public:
    using Next = std::function<void(const FrameView&)>;

    // Restarts in `rules` are passed over: they are the packers' (RestartPlan).
    FaultStage(std::span<const FaultRule> rules, std::uint8_t line, std::uint64_t seed,
               std::int64_t start_ns, Next next);

    void on_frame(const FrameView& frame);
    // What is held back by a reordering goes out.
    void finish();

    [[nodiscard]] const FaultCounters& counters() const noexcept { return counters_; }

private:
    struct Rule {
        FaultRule rule;
        std::uint64_t seed = 0;
        std::uint64_t burst_left = 0;  // frames that a burst still takes
    };
    struct Held {
        FrameView frame;
        std::vector<std::byte> bytes;
        std::uint64_t after = 0;  // number of the frame after which it goes
    };
    // What the rules have decided for one frame.
    struct Fate {
        bool lost = false;
        std::int64_t delay_ns = 0;
        std::uint64_t hold = 0;            // frames
        std::vector<std::int64_t> copies;  // how much later
    };

    void apply(const Rule& rule, Random& random, FrameView& frame, Fate& fate);
    [[nodiscard]] static bool strikes(Rule& rule, Random& random);
    void truncate(Random& random, FrameView& frame);
    void shorten(Random& random, FrameView& frame);
    void flip(Random& random, std::uint64_t bits, FrameView& frame);
    [[nodiscard]] std::span<std::byte> own_copy(FrameView& frame);
    void release(std::uint64_t number, std::int64_t time_ns);
    void pass_on(FrameView frame, std::int64_t time_ns);

    std::vector<Rule> rules_;
    std::vector<Held> held_;
    std::vector<std::byte> scratch_;  // the frame, where it is changed
    Next next_;
    std::int64_t start_ns_;
    std::int64_t last_time_ns_ = 0;
    FaultCounters counters_;
    Fate fate_;
};

}  // namespace wirebook::sim
