// One fault on purpose, as it is written on a command line or in a configuration.
//
//     LINE:KIND=ARGUMENTS[@RANGE]           LINE is A to H, or * for each line
//
//     A:loss=0.01               each packet is lost with that chance
//     A:burst=0.001,20          a burst of losses begins with that chance; its mean length
//     A:duplicate=0.01          sent twice, the copy at once; duplicate=0.01,50us: up to 50 us
//     later A:reorder=0.01,4          sent after 1 to 4 packets that should follow it
//     A:delay=0.01,2ms          up to 2 ms late, while others overtake it
//     A:truncate=0.001          the frame ends early, its headers say that more should come
//     A:shorten=0.001           the datagram ends early and all lengths and checksums agree
//     A:flip=0.001,3            3 bits of the payload turned; the checksum is then wrong (UDP's
//                               checksum 0 excepted). Without a number: 1 bit; at most 64
//     A:dead=35000..36000       every packet is lost in a range
//     A:sender_restart=10s,2s   at that time, or packet, silence for so long; the session goes on
//     *:session_restart=35000   a new session, on every line
//
// A range is FIRST..END, END excluded: numbers of the line's packets, from 0 and heartbeats
// included, or times since the start of the stream, as 10s..12500ms. Units: ns us ms s.
// May depend on core. Plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wirebook/core/random.hpp"
#include "wirebook/core/result.hpp"

namespace wirebook::sim {

enum class FaultKind : std::uint8_t {
    loss,
    burst,
    duplicate,
    reorder,
    delay,
    truncate,
    shorten,
    flip,
    dead,
    sender_restart,
    session_restart,
};
inline constexpr std::size_t fault_kinds = 11;
inline constexpr std::uint8_t most_lines = 8;  // A to H

[[nodiscard]] std::string_view to_string(FaultKind kind) noexcept;

struct FaultRange {
    bool by_time = false;  // ns since the start of the stream, else packet numbers of the line
    std::uint64_t first = 0;
    std::uint64_t end = std::numeric_limits<std::uint64_t>::max();

    [[nodiscard]] bool contains(std::uint64_t packet, std::int64_t since_start_ns) const noexcept {
        const std::uint64_t at = by_time ? static_cast<std::uint64_t>(since_start_ns) : packet;
        return at >= first && at < end;
    }
};

struct FaultRule {
    FaultKind kind = FaultKind::loss;
    std::optional<std::uint8_t> line;  // none: each
    Chance chance;
    std::uint64_t amount = 0;  // burst: mean length; reorder: packets; flip: bits
    std::int64_t time_ns = 0;  // duplicate, delay: at most; sender_restart: silence
    FaultRange range;          // restarts: `first` is when

    [[nodiscard]] bool is_restart() const noexcept {
        return kind == FaultKind::sender_restart || kind == FaultKind::session_restart;
    }
    [[nodiscard]] bool applies_to(std::uint8_t to) const noexcept { return !line || *line == to; }
};

// The error says what is wrong with which part of the rule.
[[nodiscard]] Result<FaultRule> parse_fault_rule(std::string_view text);

// The faults that packers make, not the stage behind them: when a sender or session restarts.
// The owner asks before each step of simulated time, tells the packers (silence_until,
// new_session), and at a new session announces everything anew: directory, states, every order.
class RestartPlan {
public:
    struct Restart {
        FaultKind kind = FaultKind::sender_restart;
        std::uint8_t line = 0;        // of a sender
        std::int64_t silence_ns = 0;  // of a sender
    };

    RestartPlan(std::span<const FaultRule> rules, std::uint8_t lines, std::int64_t start_ns);

    // Those due now, each once. `packets`: sent so far, by line; a session goes by line A.
    [[nodiscard]] std::vector<Restart> due(std::int64_t time_ns,
                                           std::span<const std::uint64_t> packets);
    [[nodiscard]] bool empty() const noexcept { return planned_.empty(); }

private:
    struct Planned {
        Restart restart;
        FaultRange at;
    };
    std::vector<Planned> planned_;
    std::int64_t start_ns_;
};

}  // namespace wirebook::sim
