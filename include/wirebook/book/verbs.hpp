// BookSet's verbs of order books. Part of book_set.hpp; one thread.
//
// Rules (docs/books.md): an update of an unknown order, an add with a live reference, a quantity of
// 0 or a side that is none are refused and counted, and touch nothing. Taking more than is left
// removes the order. A replacement takes the original out before anything else is looked at, so
// whatever is refused then, the original's instrument was touched. An update belongs to the book
// that its order is in, whatever instrument it names.
#pragma once

#include <cstdint>
#include <limits>

#include "wirebook/book/book_set.hpp"

namespace wirebook::book {

inline bool BookSet::is_order_quantity(std::uint64_t quantity) noexcept {
    return quantity - 1 < std::numeric_limits<std::uint32_t>::max();  // 0 wraps
}

inline void BookSet::touch(std::uint32_t instrument, std::int64_t exchange_time_ns) noexcept {
    BookLine& book = books_[instrument];
    book.last_touch_time_ns = exchange_time_ns;
    if (book.is(book_flag::listed)) return;
    if (!book.is(book_flag::ever_seen)) [[unlikely]]
        use_instrument(instrument);
    book.set(book_flag::listed, true);
    touched_[touched_count_++] = instrument;
}

// The line of a new level without orders; no_line without room. Counted by the caller.
inline std::uint32_t BookSet::make_level(std::uint64_t hash, BookSide book_side,
                                         std::int64_t rank) noexcept {
    if (live_levels_ == level_limit_) return no_line;
    const std::uint32_t index = lines_.take();
    if (index == no_line) return no_line;
    BookLine& book = books_[book_side.instrument()];
    const std::size_t side = index_of(book_side.side());
    if (!trees_.insert(book.levels[side], rank, index)) {
        lines_.give_back(index);
        return no_line;
    }
    LevelLine fresh{};
    fresh.rank = rank;
    fresh.book_side = book_side;
    lines_.level(index) = fresh;
    map_.insert(hash, index);
    ++live_levels_;
    if (book.best_line[side] == no_line || rank > book.best_rank[side]) {
        book.best_rank[side] = rank;
        book.best_line[side] = index;
    }
    if (!book.is(book_flag::ever_level)) [[unlikely]]
        first_level_ever(book);
    return index;
}

// Takes a level out of its book and gives its line back. Its queue is empty.
inline void BookSet::drop_level(std::uint32_t index) noexcept {
    const LevelLine& line = lines_.level(index);
    const BookSide book_side = line.book_side;
    const std::int64_t rank = line.rank;
    BookLine& book = books_[book_side.instrument()];
    const std::size_t side = index_of(book_side.side());
    map_.erase(map_.hash(book_side, rank), index);
    trees_.erase(book.levels[side], rank);
    lines_.give_back(index);
    --live_levels_;
    if (book.best_line[side] != index) return;
    if (book.levels[side] == 0) {
        book.best_line[side] = no_line;
        return;
    }
    const LevelTrees::Entry best = trees_.best(book.levels[side]);
    book.best_rank[side] = best.rank;
    book.best_line[side] = best.line;
}

// A new order behind the queue of its price. False, counted and nothing changed without room.
inline bool BookSet::place(std::uint64_t id, BookSide book_side, std::int64_t rank,
                           std::uint32_t quantity) noexcept {
    if (orders_.full()) [[unlikely]] {
        ++counters_.no_room_orders;
        return false;
    }
    const std::uint64_t hash = map_.hash(book_side, rank);
    std::uint32_t level = map_.find(lines_, hash, book_side, rank);
    LineRef where = LineRef::none();
    if (level == no_line) {
        level = make_level(hash, book_side, rank);
        if (level != no_line) where = LineRef::level(level, book_side.side());
    } else {
        where = open_back(lines_, level);
    }
    if (!where.live()) [[unlikely]] {
        ++counters_.no_room_levels;
        return false;
    }
    push_back(lines_, where, orders_.insert(id, {where, quantity}));
    LevelLine& line = lines_.level(level);
    line.quantity += quantity;
    ++line.orders;
    ++followed_orders_;
    return true;
}

// Takes a followed order out of its book; returns the book side it was in.
inline BookSide BookSet::unplace(std::uint64_t id, OrderTable::Found order) noexcept {
    const LineRef where = order.record->where;
    const std::uint32_t quantity = order.record->quantity;
    const std::uint32_t level = level_of(lines_, where);
    LevelLine& line = lines_.level(level);
    const BookSide book_side = line.book_side;
    --followed_orders_;
    line.quantity -= quantity;
    if (--line.orders == 0) {
        if (where.is_chunk()) drop_chunk(lines_, where.index());
        drop_level(level);
    } else {
        take_out(lines_, where, order.handle);
    }
    orders_.erase(id, order);
    return book_side;
}

// Takes `quantity` off a live order.
inline void BookSet::take_quantity(std::uint64_t id, OrderTable::Found order,
                                   std::uint64_t quantity, std::int64_t time) noexcept {
    OrderRecord& record = *order.record;
    const bool gone = quantity >= record.quantity;
    if (!record.where.followed()) [[unlikely]] {
        if (gone) {
            orders_.erase(id, order);
        } else {
            record.quantity -= static_cast<std::uint32_t>(quantity);
        }
        return;
    }
    if (gone) {
        counters_.overfills += std::uint64_t{quantity > record.quantity};
        touch(unplace(id, order).instrument(), time);
        return;
    }
    LevelLine& line = lines_.level(level_of(lines_, record.where));
    record.quantity -= static_cast<std::uint32_t>(quantity);
    line.quantity -= quantity;
    touch(line.book_side.instrument(), time);
}

inline void BookSet::add(const UpdateBatch& batch, std::uint32_t i) noexcept {
    const std::uint32_t instrument = batch.instrument[i];
    if (instrument >= books_.size()) [[unlikely]] {
        ++counters_.no_room_instruments;
        return;
    }
    if (!followed(instrument)) [[unlikely]] {
        add_unfollowed(batch, i);
        return;
    }
    const std::uint64_t quantity = batch.quantity[i];
    if (!is_order_quantity(quantity) || (batch.flags[i] & update_flag::bad_side) != 0)
        [[unlikely]] {
        ++counters_.bad_orders;
        return;
    }
    const std::uint64_t id = batch.order_id[i];
    if (orders_.find(id).record != nullptr) [[unlikely]] {
        ++counters_.duplicate_orders;
        return;
    }
    const Side side = batch.side[i];
    if (place(id, {instrument, side}, rank_of(side, batch.price[i]),
              static_cast<std::uint32_t>(quantity))) {
        touch(instrument, batch.exchange_time_ns[i]);
    }
}

inline void BookSet::count_unknown_order(const UpdateBatch& batch, std::uint32_t i) noexcept {
    if (counts(batch.instrument[i])) ++counters_.unknown_orders;
}

inline void BookSet::reduce(const UpdateBatch& batch, std::uint32_t i) noexcept {
    const std::uint64_t id = batch.order_id[i];
    const OrderTable::Found order = orders_.find(id);
    if (order.record == nullptr) [[unlikely]] {
        count_unknown_order(batch, i);
        return;
    }
    take_quantity(id, order, batch.quantity[i], batch.exchange_time_ns[i]);
}

inline void BookSet::remove(const UpdateBatch& batch, std::uint32_t i) noexcept {
    const std::uint64_t id = batch.order_id[i];
    const OrderTable::Found order = orders_.find(id);
    if (order.record == nullptr) [[unlikely]] {
        count_unknown_order(batch, i);
        return;
    }
    if (!order.record->where.followed()) [[unlikely]] {
        orders_.erase(id, order);
        return;
    }
    touch(unplace(id, order).instrument(), batch.exchange_time_ns[i]);
}

inline void BookSet::replace(const UpdateBatch& batch, std::uint32_t i) noexcept {
    const std::uint64_t id = batch.order_id[i];
    const OrderTable::Found order = orders_.find(id);
    if (order.record == nullptr) [[unlikely]] {
        count_unknown_order(batch, i);
        return;
    }
    if (!order.record->where.followed()) [[unlikely]] {
        replace_unfollowed(batch, i, order);
        return;
    }
    const BookSide book_side = unplace(id, order);
    touch(book_side.instrument(), batch.exchange_time_ns[i]);
    const std::uint64_t quantity = batch.quantity[i];
    const std::uint64_t new_id = batch.new_order_id[i];
    if (!is_order_quantity(quantity)) [[unlikely]] {
        ++counters_.bad_orders;
    } else if (orders_.find(new_id).record != nullptr) [[unlikely]] {
        ++counters_.duplicate_orders;
    } else {
        const std::int64_t rank = rank_of(book_side.side(), batch.price[i]);
        static_cast<void>(place(new_id, book_side, rank, static_cast<std::uint32_t>(quantity)));
    }
}

}  // namespace wirebook::book
