// BookSet::check(): what must hold between updates. For tests; walks everything.
#include "wirebook/book/book_set.hpp"

namespace wirebook::book {

// Returns the side's levels; adds its orders to nothing: the caller compares sums.
std::uint64_t BookSet::check_side(std::uint32_t instrument, Side side,
                                  std::uint64_t& orders_seen) noexcept {
    const BookLine& book = books_[instrument];
    const LevelTrees::Root root = book.levels[index_of(side)];
    const std::uint64_t levels = trees_.check(root);
    std::uint64_t walked = 0;
    trees_.for_each(root, [&](std::int64_t rank, std::uint32_t index) {
        const LevelLine& line = lines_.level(index);
        const BookSide book_side(instrument, side);
        WIREBOOK_CHECK(line.rank == rank && line.book_side == book_side);
        WIREBOOK_CHECK(map_.find(lines_, map_.hash(book_side, rank), book_side, rank) == index);
        if (walked++ == 0) {
            WIREBOOK_CHECK(book.best_line[index_of(side)] == index);
            WIREBOOK_CHECK(book.best_rank[index_of(side)] == rank);
        }
        WIREBOOK_CHECK(line.inside <= LevelLine::capacity);
        std::uint64_t quantity = 0;
        std::uint32_t orders = 0;
        for_each_in_queue(lines_, index, [&](Handle handle) {
            const OrderRecord& record = orders_.at(handle);
            WIREBOOK_CHECK(record.where.live() && record.where.side() == side);
            WIREBOOK_CHECK(record.quantity != 0);
            WIREBOOK_CHECK(level_of(lines_, record.where) == index);
            WIREBOOK_CHECK(orders_.find(orders_.id_of(handle)).handle == handle);
            quantity += record.quantity;
            ++orders;
            return true;
        });
        WIREBOOK_CHECK(orders == line.orders);
        WIREBOOK_CHECK(orders == 0 ? line.quantity != 0 : quantity == line.quantity);
        std::uint32_t previous = no_line;
        for (std::uint32_t c = line.first_chunk; c != no_line; c = lines_.chunk(c).next) {
            const ChunkLine& chunk = lines_.chunk(c);
            WIREBOOK_CHECK(chunk.level == index && chunk.previous == previous);
            WIREBOOK_CHECK(chunk.inside > 0 && chunk.inside <= ChunkLine::capacity);
            previous = c;
        }
        WIREBOOK_CHECK(line.last_chunk == previous);
        orders_seen += orders;
        return true;
    });
    WIREBOOK_CHECK(walked == levels);
    WIREBOOK_CHECK((levels == 0) == (book.best_line[index_of(side)] == no_line));
    return levels;
}

void BookSet::check() noexcept {
    std::uint64_t levels = 0;
    std::uint64_t orders_seen = 0;
    for (std::uint32_t i = 0; i < books_.size(); ++i) {
        levels += check_side(i, Side::bid, orders_seen);
        levels += check_side(i, Side::ask, orders_seen);
        WIREBOOK_CHECK(i < instruments_end_ || !books_[i].is(book_flag::ever_seen));
    }
    WIREBOOK_CHECK(levels == live_levels_);
    WIREBOOK_CHECK(orders_seen == followed_orders_);
    WIREBOOK_CHECK(followed_orders_ <= orders_.live());
    for (std::uint32_t k = 0; k < touched_count_; ++k) {
        WIREBOOK_CHECK(books_[touched_[k]].is(book_flag::listed));
    }
    orders_.check();
}

}  // namespace wirebook::book
