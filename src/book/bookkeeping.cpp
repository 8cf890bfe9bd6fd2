// BookSet: names, status, clearing, instruments that are not followed. All rare.
#include <algorithm>
#include <bit>

#include "wirebook/book/book_set.hpp"

namespace wirebook::book {

namespace {

using SymbolHalf = std::array<char, 8>;

}  // namespace

void BookSet::use_instrument(std::uint32_t instrument) noexcept {
    BookLine& book = books_[instrument];
    instruments_end_ = std::max(instruments_end_, instrument + 1);
    if (book.is(book_flag::ever_seen)) return;
    book.set(book_flag::ever_seen, true);
    ++instruments_ever_;
}

void BookSet::first_level_ever(BookLine& book) noexcept {
    book.set(book_flag::ever_level, true);
    ++books_ever_;
}

void BookSet::name(const UpdateBatch& batch, std::uint32_t i) noexcept {
    const std::uint32_t instrument = batch.instrument[i];
    BookLine& book = books_[instrument];
    use_instrument(instrument);
    const auto first = std::bit_cast<SymbolHalf>(batch.order_id[i]);
    const auto second = std::bit_cast<SymbolHalf>(batch.new_order_id[i]);
    std::ranges::copy(first, book.symbol.begin());
    std::ranges::copy(second, book.symbol.begin() + first.size());
    const auto bytes = static_cast<std::uint64_t>(batch.price[i]);
    book.symbol_bytes =
        static_cast<std::uint8_t>(std::min<std::uint64_t>(bytes, book.symbol.size()));
    book.places = static_cast<std::uint8_t>(batch.quantity[i]);
    book.set(book_flag::named, true);
    set_followed(instrument, (batch.flags[i] & update_flag::not_followed) == 0);
}

void BookSet::bookkeeping(const UpdateBatch& batch, std::uint32_t i) noexcept {
    const std::uint64_t value = batch.quantity[i];
    if (batch.kind[i] == UpdateKind::market) {
        if (value > group_limit) {
            ++counters_.no_room_instruments;
            return;
        }
        const std::uint64_t bit = std::uint64_t{1} << (value % 64);
        const bool flipped = (batch.price[i] != 0) != trading_by_default_;
        std::uint64_t& word = markets_[value / 64];
        word = flipped ? word | bit : word & ~bit;
        return;
    }
    const std::uint32_t instrument = batch.instrument[i];
    if (instrument >= books_.size()) {
        ++counters_.no_room_instruments;
        return;
    }
    BookLine& book = books_[instrument];
    switch (batch.kind[i]) {
        case UpdateKind::name: name(batch, i); break;
        case UpdateKind::trading:
            book.set(book_flag::status_flipped, (value != 0) != trading_by_default_);
            break;
        case UpdateKind::group:
            if (value > group_limit) {
                ++counters_.no_room_instruments;
            } else {
                book.group = static_cast<std::uint16_t>(value);
            }
            break;
        case UpdateKind::close_event:
            mark_event(instrument, (batch.flags[i] & update_flag::event_open) != 0);
            break;
        default: WIREBOOK_CHECK(false);
    }
}

void BookSet::clear_books() noexcept {
    // Few levels are taken out of the map one by one, many by zeroing it.
    const bool singly = live_levels_ < map_.buckets() / 4;
    if (!singly) map_.reset();
    for (BookLine& book : books_.first(instruments_end_)) {
        for (std::size_t side = 0; side < 2; ++side) {
            if (singly) {
                trees_.for_each(book.levels[side], [&](std::int64_t rank, std::uint32_t line) {
                    map_.erase(map_.hash(lines_.level(line).book_side, rank), line);
                    return true;
                });
            }
            book.best_line[side] = no_line;
            book.levels[side] = 0;
        }
        book.set(book_flag::event_open, false);
        book.set(book_flag::listed | book_flag::missed, false);
    }
    touched_count_ = 0;
    live_levels_ = 0;
    followed_orders_ = 0;
    lines_.reset();
    trees_.reset();
    orders_.reset();
}

void BookSet::new_session() noexcept {
    clear_books();
    for (BookLine& book : books_.first(instruments_end_)) {
        book.symbol = {};
        book.symbol_bytes = 0;
        book.group = 0;
        book.places = 0;
        book.last_touch_time_ns = 0;
        book.set(book_flag::status_flipped | book_flag::named, false);
    }
    std::ranges::fill(markets_, 0U);
}

void BookSet::add_unfollowed(const UpdateBatch& batch, std::uint32_t i) noexcept {
    const std::uint64_t id = batch.order_id[i];
    const std::uint64_t quantity = batch.quantity[i];
    if (!is_order_quantity(quantity) || (batch.flags[i] & update_flag::bad_side) != 0) return;
    if (orders_.find(id).record != nullptr) return;
    if (orders_.full()) {
        ++counters_.no_room_orders;
        return;
    }
    orders_.insert(id, {LineRef::unfollowed(), static_cast<std::uint32_t>(quantity)});
    books_[batch.instrument[i]].set(book_flag::missed, true);
}

void BookSet::replace_unfollowed(const UpdateBatch& batch, std::uint32_t i,
                                 OrderTable::Found order) noexcept {
    orders_.erase(batch.order_id[i], order);
    const std::uint64_t quantity = batch.quantity[i];
    const std::uint64_t id = batch.new_order_id[i];
    if (!is_order_quantity(quantity) || orders_.find(id).record != nullptr) return;
    orders_.insert(id, {LineRef::unfollowed(), static_cast<std::uint32_t>(quantity)});
}

// The orders of the side stay known by their references, its levels go.
void BookSet::unfollow_side(std::uint32_t instrument, Side side) noexcept {
    BookLine& book = books_[instrument];
    while (book.best_line[index_of(side)] != no_line) {
        book.set(book_flag::missed, true);
        const std::uint32_t level = book.best_line[index_of(side)];
        for_each_in_queue(lines_, level, [this](Handle handle) {
            orders_.set_unfollowed(handle);
            --followed_orders_;
            return true;
        });
        while (lines_.level(level).first_chunk != no_line) {
            drop_chunk(lines_, lines_.level(level).first_chunk);
        }
        drop_level(level);
    }
}

void BookSet::set_followed(std::uint32_t instrument, bool follow) noexcept {
    if (followed(instrument) == follow) return;
    BookLine& book = books_[instrument];
    book.set(book_flag::not_followed, !follow);
    if (follow) return;
    unfollow_side(instrument, Side::bid);
    unfollow_side(instrument, Side::ask);
    if (!book.is(book_flag::listed)) return;
    book.set(book_flag::listed, false);
    const auto waiting = touched_.first(touched_count_);
    const auto rest = std::remove(waiting.begin(), waiting.end(), instrument);
    touched_count_ = static_cast<std::uint32_t>(rest - waiting.begin());
}

}  // namespace wirebook::book
