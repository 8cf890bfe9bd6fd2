// The price of a cross: maximum volume, then least imbalance, then nearest to the reference price,
// then the lower; over all prices on the tick, not just those that orders have.
//
// Demand at a price is what all bids of the cross that accept it have, reserve and hidden included;
// supply likewise. Demand falls and supply rises with the price, so each question here is a binary
// search over prices. May depend on core and book. One thread; nothing is changed.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "wirebook/match/book_store.hpp"
#include "wirebook/match/request.hpp"

namespace wirebook::match {

// Which books a cross takes orders from.
//   opening  displayed, hidden, market, on_open
//   closing  displayed, hidden, market, on_close
//   halt     displayed, hidden, market
[[nodiscard]] std::span<const OrderBook> books_of(CrossKind cross) noexcept;

// After the words of Nasdaq's imbalance message.
struct CrossOutcome {
    std::int64_t price = 0;       // near price: what the cross would trade at; 0: it would not
    std::int64_t far_price = 0;   // the same of the orders for this cross alone: on-open or
                                  // on-close, and market orders that wait. A halt cross is for the
                                  // whole book: its far price is its near price
    std::int64_t reference = 0;   // price, or where there is none the engine's reference price
    std::uint64_t paired = 0;     // volume at the price
    std::uint64_t imbalance = 0;  // demand and supply at `reference` differ by so much
    Side side = Side::bid;        // and this one has more; bid where imbalance is 0
};

struct CrossRange {
    std::int64_t reference;  // price to be near to, 0 or more
    std::int64_t tick;
    std::int64_t largest_price;
};

[[nodiscard]] CrossOutcome find_cross(const BookStore& books, std::uint32_t instrument,
                                      CrossKind cross, const CrossRange& range) noexcept;

}  // namespace wirebook::match
