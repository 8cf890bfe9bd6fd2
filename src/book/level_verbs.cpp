// BookSet's verbs of level books and quote books, and the event flag that goes with them.
//
// Rules (docs/books.md): removing a level that is not there is refused and counted, but the flag of
// the refused update still opens or closes the instrument's event. Setting a level to what it was
// touches the instrument, and so does a repeated quote.
#include "wirebook/book/book_set.hpp"

namespace wirebook::book {

void BookSet::mark_event(std::uint32_t instrument, bool open) noexcept {
    books_[instrument].set(book_flag::event_open, open);
}

void BookSet::level_set(const UpdateBatch& batch, std::uint32_t i) noexcept {
    const std::uint64_t quantity = batch.quantity[i];
    if (quantity == 0) {  // a level of nothing is no level
        level_remove(batch, i);
        return;
    }
    const std::uint32_t instrument = batch.instrument[i];
    if (instrument >= books_.size()) {
        ++counters_.no_room_instruments;
        return;
    }
    mark_event(instrument, (batch.flags[i] & update_flag::event_open) != 0);
    if (!followed(instrument)) return;
    const Side side = batch.side[i];
    const BookSide book_side(instrument, side);
    const std::int64_t rank = rank_of(side, batch.price[i]);
    const std::uint64_t hash = map_.hash(book_side, rank);
    std::uint32_t level = map_.find(lines_, hash, book_side, rank);
    if (level == no_line) {
        level = make_level(hash, book_side, rank);
        if (level == no_line) {
            ++counters_.no_room_levels;
            return;
        }
    } else if (lines_.level(level).orders != 0) {
        ++counters_.unknown_levels;
        return;
    }
    lines_.level(level).quantity = quantity;
    touch(instrument, batch.exchange_time_ns[i]);
}

void BookSet::level_remove(const UpdateBatch& batch, std::uint32_t i) noexcept {
    const std::uint32_t instrument = batch.instrument[i];
    if (instrument >= books_.size()) {
        ++counters_.no_room_instruments;
        return;
    }
    mark_event(instrument, (batch.flags[i] & update_flag::event_open) != 0);
    if (!followed(instrument)) return;
    const Side side = batch.side[i];
    const BookSide book_side(instrument, side);
    const std::int64_t rank = rank_of(side, batch.price[i]);
    const std::uint32_t level = map_.find(lines_, map_.hash(book_side, rank), book_side, rank);
    if (level == no_line || lines_.level(level).orders != 0) {
        ++counters_.unknown_levels;
        return;
    }
    drop_level(level);
    touch(instrument, batch.exchange_time_ns[i]);
}

// There is room: quote() looked.
void BookSet::set_quote_side(BookSide book_side, std::int64_t price,
                             std::uint64_t quantity) noexcept {
    const BookLine& book = books_[book_side.instrument()];
    const std::size_t side = index_of(book_side.side());
    const std::int64_t rank = rank_of(book_side.side(), price);
    std::uint32_t level = book.best_line[side];
    if (level != no_line && (quantity == 0 || book.best_rank[side] != rank)) {
        drop_level(level);
        level = no_line;
    }
    if (quantity == 0) return;
    if (level == no_line) level = make_level(map_.hash(book_side, rank), book_side, rank);
    WIREBOOK_CHECK(level != no_line);
    lines_.level(level).quantity = quantity;
}

void BookSet::quote(const UpdateBatch& batch, std::uint32_t i) noexcept {
    const std::uint32_t instrument = batch.instrument[i];
    if (instrument >= books_.size()) {
        ++counters_.no_room_instruments;
        return;
    }
    mark_event(instrument, (batch.flags[i] & update_flag::event_open) != 0);
    if (!followed(instrument)) return;
    const BookLine& book = books_[instrument];
    std::uint64_t levels = 0;
    for (std::size_t side = 0; side < 2; ++side) {
        const std::uint64_t quantity = side == 0 ? batch.quantity[i] : batch.new_order_id[i];
        if (book.best_line[side] == no_line) {
            levels += std::uint64_t{quantity != 0};
        } else if (lines_.level(book.best_line[side]).orders != 0) {
            ++counters_.unknown_levels;
            return;
        }
    }
    if (levels > level_limit_ - live_levels_ || levels > lines_.room()) {
        ++counters_.no_room_levels;
        return;
    }
    set_quote_side({instrument, Side::bid}, batch.price[i], batch.quantity[i]);
    set_quote_side({instrument, Side::ask}, static_cast<std::int64_t>(batch.order_id[i]),
                   batch.new_order_id[i]);
    touch(instrument, batch.exchange_time_ns[i]);
}

}  // namespace wirebook::book
