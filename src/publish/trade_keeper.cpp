#include "wirebook/publish/trade_keeper.hpp"

namespace wirebook::publish {
namespace {

namespace flag = ring::statistics_flag;

void count(ring::TradeStatistics& statistics, const Trade& trade) noexcept {
    statistics.trades += 1;
    statistics.volume += trade.quantity;
    statistics.last_price = trade.price;
    statistics.last_quantity = trade.quantity;
    statistics.last_ns = trade.time_ns;
    statistics.last_match = trade.match;
    statistics.flags &= ~flag::last_broken;
    if (statistics.open_price == ring::no_price) statistics.open_price = trade.price;
    if (statistics.high_price == ring::no_price || trade.price >= statistics.high_price) {
        statistics.high_price = trade.price;
        statistics.flags &= ~flag::high_broken;
    }
    if (statistics.low_price == ring::no_price || trade.price <= statistics.low_price) {
        statistics.low_price = trade.price;
        statistics.flags &= ~flag::low_broken;
    }
}

void uncount(ring::TradeStatistics& statistics, const RecentMatches::Match& match) noexcept {
    statistics.trades -= 1;
    statistics.volume -= match.quantity;
    if (statistics.trades == 0) {  // nothing is left that could be uncertain
        statistics.last_price = statistics.open_price = ring::no_price;
        statistics.high_price = statistics.low_price = ring::no_price;
        statistics.last_quantity = statistics.last_match = 0;
        statistics.last_ns = 0;
        statistics.flags &=
            ~(flag::last_broken | flag::high_broken | flag::low_broken | flag::open_broken);
        return;
    }
    if (match.number == statistics.last_match) statistics.flags |= flag::last_broken;
    if (match.price == statistics.high_price) statistics.flags |= flag::high_broken;
    if (match.price == statistics.low_price) statistics.flags |= flag::low_broken;
    if (match.price == statistics.open_price) statistics.flags |= flag::open_broken;
}

}  // namespace

RecentMatches::Set& RecentMatches::set_of(std::uint64_t number) noexcept {
    constexpr unsigned shift = 64 - 14;
    static_assert(sets == std::size_t{1} << 14);
    return sets_[(number * 0x9E37'79B9'7F4A'7C15u) >> shift];  // Fibonacci hashing
}

void RecentMatches::add(const Match& match) noexcept {
    Set& set = set_of(match.number);
    set.match[set.next] = match;
    set.next = (set.next + 1) % ways;
}

RecentMatches::Match RecentMatches::take(std::uint64_t number, std::uint16_t channel) noexcept {
    for (Match& match : set_of(number).match) {
        if (match.number != number || match.channel != channel || match.row == ring::no_instrument)
            continue;
        const Match taken = match;
        match.row = ring::no_instrument;
        return taken;
    }
    return {};
}

void RecentMatches::forget(std::uint16_t channel) noexcept {
    for (Set& set : sets_) {
        for (Match& match : set.match) {
            if (match.channel == channel) match.row = ring::no_instrument;
        }
    }
}

void TradeKeeper::trade(const Trade& trade, std::uint64_t through, bool incomplete) noexcept {
    if (trade.quantity == 0) return;  // a cross in which nothing matched
    matches_.add({.number = trade.match,
                  .price = trade.price,
                  .quantity = trade.quantity,
                  .row = trade.row,
                  .channel = trade.channel,
                  .counted = trade.counts});
    if (!trade.counts) return;
    ring::TradeStatistics& statistics = statistics_[trade.row];
    count(statistics, trade);
    if (incomplete) statistics.flags |= flag::incomplete;
    statistics.through = through;
}

std::uint32_t TradeKeeper::broken(std::uint32_t row, std::uint16_t channel, std::uint64_t number,
                                  std::uint64_t through) noexcept {
    const RecentMatches::Match match = matches_.take(number, channel);
    const bool known = match.row != ring::no_instrument;
    if (known) row = match.row;
    if (!known) unknown_breaks_ += 1;
    if (row == ring::no_instrument) return row;
    ring::TradeStatistics& statistics = statistics_[row];
    statistics.breaks += 1;
    if (!known) statistics.flags |= flag::break_unknown;
    if (known && match.counted) uncount(statistics, match);
    statistics.through = through;
    return row;
}

}  // namespace wirebook::publish
