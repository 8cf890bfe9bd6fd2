// Each instrument's trades of the session, and which of them a broken trade takes back.
//
// Counts the trades that count (printable, quantity above 0). A break names a match number only, so
// the newest matches are remembered: RecentMatches, of fixed size. What a break undoes is count and
// volume of a match that is still known; last, high, low and open cannot be undone, they are
// flagged (ring::statistics_flag). May depend on book and ring. Owned by the publisher's lcore.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "wirebook/ring/instrument.hpp"

namespace wirebook::publish {

struct Trade {
    std::uint32_t row = ring::no_instrument;
    std::uint16_t channel = 0;
    bool counts = false;     // in volume and last sale
    std::int64_t price = 0;  // in 1e-9
    std::uint64_t quantity = 0;
    std::uint64_t match = 0;
    std::int64_t time_ns = 0;
};

// The newest 65,536 matches or so: 16,384 sets of four by a hash of the number; a set's oldest
// makes room. 2 MiB.
class RecentMatches {
public:
    struct Match {
        std::uint64_t number = 0;
        std::int64_t price = 0;
        std::uint64_t quantity = 0;
        std::uint32_t row = ring::no_instrument;  // no_instrument: free
        std::uint16_t channel = 0;
        bool counted = false;
    };
    static constexpr std::size_t sets = 16'384, ways = 4;

    RecentMatches() : sets_(sets) {}
    void add(const Match& match) noexcept;
    // Forgets one match of that number and hands it out; row no_instrument: none is known.
    [[nodiscard]] Match take(std::uint64_t number, std::uint16_t channel) noexcept;
    void forget(std::uint16_t channel) noexcept;

private:
    struct Set {
        std::array<Match, ways> match;
        std::uint32_t next = 0;  // the one that makes room
    };
    [[nodiscard]] Set& set_of(std::uint64_t number) noexcept;

    std::vector<Set> sets_;
};

class TradeKeeper {
public:
    // Makes room for rows 0 .. rows - 1.
    void grow(std::uint32_t rows) { statistics_.resize(rows); }
    [[nodiscard]] const ring::TradeStatistics& of(std::uint32_t row) const noexcept {
        return statistics_[row];
    }
    // `through`, `incomplete`: as in ring::TradeStatistics.
    void trade(const Trade& trade, std::uint64_t through, bool incomplete) noexcept;
    // `row`: the instrument that the message names, or no_instrument. Returns the row whose
    // statistics have changed, or no_instrument.
    [[nodiscard]] std::uint32_t broken(std::uint32_t row, std::uint16_t channel,
                                       std::uint64_t match, std::uint64_t through) noexcept;
    // A new session: the row starts anew.
    void clear(std::uint32_t row) noexcept { statistics_[row] = {}; }
    void forget_matches(std::uint16_t channel) noexcept { matches_.forget(channel); }

    [[nodiscard]] std::uint64_t unknown_breaks() const noexcept { return unknown_breaks_; }

private:
    std::vector<ring::TradeStatistics> statistics_;  // by row
    RecentMatches matches_;
    std::uint64_t unknown_breaks_ = 0;
};

}  // namespace wirebook::publish
