// What a book set tells and answers (book_set.hpp): plain data. May depend on core.
#pragma once

#include <cstdint>

#include "wirebook/book/update_batch.hpp"

namespace wirebook::book {

// An order was executed. Side and price are those of the resting order, read before the book
// changed.
struct Execution {
    std::uint32_t instrument = no_instrument;
    Side side = Side::bid;  // of the resting order
    bool printable = false;
    bool has_price = false;  // price is the update's own, not the order's
    std::int64_t price = 0;
    std::uint64_t quantity = 0;
    std::uint64_t order_id = 0;
    std::uint64_t match_number = 0;
    std::int64_t exchange_time_ns = 0;
};

struct LevelView {
    std::int64_t price = 0;
    std::uint64_t quantity = 0;
    std::uint32_t orders = 0;
};

struct OrderView {
    std::uint32_t instrument = 0;
    Side side = Side::bid;
    std::int64_t price = 0;
    std::uint32_t quantity = 0;
};

struct QueuePosition {
    std::uint64_t orders_ahead = 0;
    std::uint64_t quantity_ahead = 0;
};

[[nodiscard]] constexpr bool is_order_update(UpdateKind kind) noexcept {
    return kind <= UpdateKind::replace;
}

// A change of an order of a followed instrument, made already (order_stream.hpp).
struct OrderChange {
    UpdateKind kind = UpdateKind::add;  // add, execute, reduce, remove, replace
    Side side = Side::bid;
    bool printable = false;  // execute: counts in volume
    std::uint32_t instrument = no_instrument;
    std::uint64_t order_id = 0;
    std::uint64_t other_id = 0;  // replace: the new order; execute: the match number
    std::int64_t price = 0;      // of the order, replace: the new one, execute: of the trade
    std::uint32_t quantity = 0;  // added, executed, taken off, removed; replace: the new order's
    std::uint32_t left = 0;      // of the order, replace: of the new one
    // Who stands before it at its price: add and replace: before the new one; else as it was before
    // the change.
    QueuePosition position;
    std::int64_t exchange_time_ns = 0;
};

}  // namespace wirebook::book
