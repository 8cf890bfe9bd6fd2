// Prices of crosses. See the header.
#include "wirebook/match/cross_price.hpp"

#include <algorithm>
#include <limits>

namespace wirebook::match {

namespace {

constexpr std::array opening_books = {OrderBook::displayed, OrderBook::hidden, OrderBook::market,
                                      OrderBook::on_open};
constexpr std::array closing_books = {OrderBook::displayed, OrderBook::hidden, OrderBook::market,
                                      OrderBook::on_close};
constexpr std::array halt_books = {OrderBook::displayed, OrderBook::hidden, OrderBook::market};

// Demand and supply of some of an instrument's books, at prices given in ticks.
class Curves {
public:
    Curves(const BookStore& books, std::uint32_t instrument, std::span<const OrderBook> which,
           std::int64_t tick) noexcept
        : books_(books), which_(which), tick_(tick), instrument_(instrument) {}

    // All that accept a price that is not on the tick, too.
    [[nodiscard]] std::uint64_t at_price(Side side, std::int64_t price) const noexcept {
        const std::int64_t worst = book::rank_of(side, price);
        std::uint64_t sum = 0;
        for (const OrderBook order_book : which_) {
            books_.for_each_level(instrument_, order_book, side, [&](const Level& level) {
                if (level.rank < worst) return false;
                sum += level.quantity + level.reserve;
                return true;
            });
        }
        return sum;
    }
    [[nodiscard]] std::uint64_t demand(std::int64_t ticks) const noexcept {
        return at_price(Side::bid, ticks * tick_);
    }
    [[nodiscard]] std::uint64_t supply(std::int64_t ticks) const noexcept {
        return at_price(Side::ask, ticks * tick_);
    }

    // Nothing can trade: a side is empty, or no market order and the best prices apart.
    [[nodiscard]] bool apart() const noexcept {
        const std::int64_t bid = best_rank(Side::bid);
        const std::int64_t ask = best_rank(Side::ask);
        if (bid == no_rank || ask == no_rank) return true;
        if (bid == market_rank || ask == market_rank) return false;
        return bid < book::price_of(Side::ask, ask);
    }

    // Widens first..last to all limit prices.
    void widen(std::int64_t& first, std::int64_t& last) const noexcept {
        for (const Side side : {Side::bid, Side::ask}) {
            for (const OrderBook order_book : which_) {
                books_.for_each_level(instrument_, order_book, side, [&](const Level& level) {
                    if (level.rank == market_rank) return true;
                    const std::int64_t price = book::price_of(side, level.rank);
                    first = std::min(first, price);
                    last = std::max(last, price);
                    return true;
                });
            }
        }
    }

private:
    [[nodiscard]] std::int64_t best_rank(Side side) const noexcept {
        std::int64_t best = no_rank;
        for (const OrderBook order_book : which_) {
            const std::uint32_t level = books_.best(instrument_, order_book, side);
            if (level != no_index) best = std::max(best, books_.level(level).rank);
        }
        return best;
    }

    const BookStore& books_;
    std::span<const OrderBook> which_;
    std::int64_t tick_;
    std::uint32_t instrument_;
};

// The last of first..last, in ticks, for which holds(ticks) is true; it is true up to some point
// and false from there on. first - 1: for none.
template <class Holds>
std::int64_t last_that(std::int64_t first, std::int64_t last, Holds&& holds) noexcept {
    while (first <= last) {
        const std::int64_t middle = first + (last - first) / 2;
        if (holds(middle)) {
            first = middle + 1;
        } else {
            last = middle - 1;
        }
    }
    return last;
}

// The multiple of the tick nearest to the price, the lower of two, in ticks.
std::int64_t nearest(std::int64_t price, std::int64_t tick) noexcept {
    const std::int64_t above = price % tick;
    return price / tick + (above > tick - above ? 1 : 0);
}

std::uint64_t difference(std::uint64_t a, std::uint64_t b) noexcept {
    return a > b ? a - b : b - a;
}

struct Price {
    std::int64_t price = 0;  // 0: nothing trades
    std::uint64_t volume = 0;
};

Price price_of_cross(const Curves& curves, const CrossRange& range) noexcept {
    if (curves.apart()) return {};
    // Beyond all limit prices nothing changes any more.
    std::int64_t first = range.reference;
    std::int64_t last = range.reference;
    curves.widen(first, last);
    first = std::max<std::int64_t>(first / range.tick - 1, 1);
    last = std::min(last / range.tick + 1, range.largest_price / range.tick);
    first = std::min(first, last);
    // min(demand, supply) is largest where they meet: at the last price with enough demand, or
    // one tick above it.
    const std::int64_t meet = last_that(
        first, last, [&](std::int64_t p) { return curves.demand(p) >= curves.supply(p); });
    const std::uint64_t volume = std::max(meet >= first ? curves.supply(meet) : 0,
                                          meet < last ? curves.demand(meet + 1) : 0);
    if (volume == 0) return {};
    std::int64_t low =
        last_that(first, last, [&](std::int64_t p) { return curves.supply(p) < volume; }) + 1;
    std::int64_t high =
        last_that(low, last, [&](std::int64_t p) { return curves.demand(p) >= volume; });
    // Of low..high, those with the least imbalance: the excess of demand falls with the price.
    const auto imbalance = [&](std::int64_t p) {
        return difference(curves.demand(p), curves.supply(p));
    };
    const std::int64_t turn = std::clamp(meet, low - 1, high);
    const std::uint64_t least = std::min(turn >= low ? imbalance(turn) : imbalance(turn + 1),
                                         turn < high ? imbalance(turn + 1) : imbalance(turn));
    // Up to `turn` it falls, behind it it rises.
    const std::int64_t begin =
        last_that(low, turn, [&](std::int64_t p) { return imbalance(p) > least; }) + 1;
    high =
        last_that(begin, high, [&](std::int64_t p) { return p <= turn || imbalance(p) <= least; });
    low = begin;
    const std::int64_t chosen = std::clamp(nearest(range.reference, range.tick), low, high);
    return {chosen * range.tick, volume};
}

}  // namespace

std::span<const OrderBook> books_of(CrossKind cross) noexcept {
    switch (cross) {
        case CrossKind::opening: return opening_books;
        case CrossKind::closing: return closing_books;
        case CrossKind::halt: break;
    }
    return halt_books;
}

CrossOutcome find_cross(const BookStore& books, std::uint32_t instrument, CrossKind cross,
                        const CrossRange& range) noexcept {
    const std::span<const OrderBook> which = books_of(cross);
    const Curves all(books, instrument, which, range.tick);
    const Price near = price_of_cross(all, range);
    CrossOutcome outcome;
    outcome.price = near.price;
    outcome.paired = near.volume;
    outcome.far_price = near.price;
    if (cross != CrossKind::halt) {
        const Curves alone(books, instrument, which.subspan(open_books), range.tick);
        outcome.far_price = price_of_cross(alone, range).price;
    }
    outcome.reference = near.price != 0 ? near.price : range.reference;
    const std::uint64_t demand = all.at_price(Side::bid, outcome.reference);
    const std::uint64_t supply = all.at_price(Side::ask, outcome.reference);
    outcome.imbalance = difference(demand, supply);
    outcome.side = supply > demand ? Side::ask : Side::bid;
    return outcome;
}

}  // namespace wirebook::match
