// The 64-byte lines of the matching engine: order, price level, book; and the pool that orders and
// levels come from.
//
// An order is one line, linked to its neighbours in the queue of its level. Joining a queue takes
// no memory, so an order that was accepted can always rest, refill and trade. Indices, not
// pointers: four bytes, and 0 says "none".
//
// rank: higher is better on both sides (book/lines.hpp). Market orders rank above every price.
// May depend on core and book. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "wirebook/book/level_tree.hpp"
#include "wirebook/book/lines.hpp"
#include "wirebook/book/prefetch.hpp"
#include "wirebook/core/base.hpp"
#include "wirebook/match/request.hpp"

namespace wirebook::match {

// Which of an instrument's books an order waits in. Continuous trading matches against the first
// two; the others wait unseen for a cross.
enum class OrderBook : std::uint8_t { displayed, hidden, on_open, on_close, market };
inline constexpr std::uint32_t order_books = 5;
inline constexpr std::uint32_t open_books = 2;  // displayed and hidden

inline constexpr std::uint32_t no_index = 0;  // no order, no level
inline constexpr std::int64_t market_rank = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t no_rank = std::numeric_limits<std::int64_t>::min();

template <class Enum>
[[nodiscard]] constexpr std::size_t as_index(Enum value) noexcept {
    return static_cast<std::size_t>(value);
}
[[nodiscard]] constexpr Side opposite(Side side) noexcept {
    return side == Side::bid ? Side::ask : Side::bid;
}

struct alignas(cache_line_bytes) Order {
    std::uint64_t id;
    std::uint64_t reference;  // ascending in time
    std::int64_t price;       // market orders: 0
    std::uint32_t shown;      // of this reference; all of it where nothing is displayed
    std::uint32_t reserve;    // comes after it
    std::uint32_t display;    // shown at a refill; 0: there is none
    std::uint32_t instrument;
    std::uint32_t level;
    std::uint32_t previous;  // in the queue
    std::uint32_t next;
    std::uint16_t participant;
    std::uint16_t producer;
    Side side;
    OrderBook book;
    OrderType type;

    [[nodiscard]] std::int64_t rank() const noexcept {
        return type == OrderType::market ? market_rank : book::rank_of(side, price);
    }
    [[nodiscard]] std::uint64_t total() const noexcept { return std::uint64_t{shown} + reserve; }
};
static_assert(sizeof(Order) == 64);

struct alignas(cache_line_bytes) Level {
    std::int64_t rank;
    std::uint64_t quantity;  // what its orders show
    std::uint64_t reserve;   // and what they have behind it
    book::BookSide key;      // key_of()
    std::uint32_t orders;
    std::uint32_t head;  // first in time
    std::uint32_t tail;
};
static_assert(sizeof(Level) == 64);

// One instrument: what an operation in continuous trading needs of it.
struct alignas(cache_line_bytes) Book {
    std::array<std::int64_t, 2> best_rank;  // displayed, by side; no_rank where there is none
    std::array<std::uint32_t, 2> best_level;
    std::array<std::array<book::LevelTrees::Root, 2>, open_books> levels;  // by book, by side
    std::int64_t last_trade;                                               // price; 0: none yet
    std::int64_t tick;
    std::uint32_t lot;
    TradingState state;
};
static_assert(sizeof(Book) == 64);

// The rest of it: the orders that wait for a cross.
struct WaitingBook {
    std::array<std::array<book::LevelTrees::Root, 2>, order_books - open_books> levels;
    std::int64_t reference_price;
};
static_assert(sizeof(WaitingBook) == 32);

// One side of one of an instrument's books, as its levels are keyed.
inline constexpr unsigned instrument_shift = 3;
static_assert(order_books <= 1U << instrument_shift);
[[nodiscard]] constexpr book::BookSide key_of(std::uint32_t instrument, OrderBook order_book,
                                              Side side) noexcept {
    return {instrument << instrument_shift | static_cast<std::uint32_t>(order_book), side};
}
[[nodiscard]] constexpr std::uint32_t instrument_of(book::BookSide key) noexcept {
    return key.instrument() >> instrument_shift;
}
[[nodiscard]] constexpr OrderBook book_of(book::BookSide key) noexcept {
    return static_cast<OrderBook>(key.instrument() & ((1U << instrument_shift) - 1));
}

// Lines by index from 1. Last given back, first taken: it is likely to be in the cache.
template <class T>
class IndexPool {
public:
    // Zeroed memory: one line and one word more than the pool is to have.
    void start(std::span<T> lines, std::span<std::uint32_t> spare) noexcept {
        WIREBOOK_CHECK(lines.size() == spare.size() && lines.size() > 1);
        lines_ = lines;
        spare_ = spare;
    }
    // The pool is not full().
    [[nodiscard, gnu::always_inline]] std::uint32_t take() noexcept {
        return spares_ != 0 ? spare_[--spares_] : fresh_++;
    }
    void give_back(std::uint32_t index) noexcept { spare_[spares_++] = index; }
    [[nodiscard]] T& operator[](std::uint32_t index) noexcept { return lines_[index]; }
    [[nodiscard]] const T& operator[](std::uint32_t index) const noexcept { return lines_[index]; }

    [[nodiscard]] std::uint32_t used() const noexcept { return fresh_ - 1 - spares_; }
    [[nodiscard]] std::uint32_t capacity() const noexcept {
        return static_cast<std::uint32_t>(lines_.size() - 1);
    }
    [[nodiscard]] bool full() const noexcept { return used() == capacity(); }

    void prefetch(std::uint32_t index) const noexcept { book::prefetch(&lines_[index]); }
    // The line that take() will give after `ahead` others, if nothing comes back before.
    void prefetch_spare(std::uint32_t ahead) const noexcept {
        if (spares_ > ahead) prefetch(spare_[spares_ - 1 - ahead]);
    }

private:
    std::span<T> lines_;
    std::span<std::uint32_t> spare_;  // the first spares_ are unused lines
    std::uint32_t fresh_ = 1;         // lines from here on were never taken
    std::uint32_t spares_ = 0;
};

}  // namespace wirebook::match
