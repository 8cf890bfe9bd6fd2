// The books of all instruments: orders in queues, queues in levels, levels by price; and the live
// orders by id. It keeps structures and decides nothing: the rules are the engine's.
//
// Invariants: a level has orders; the sums in a level are those of its orders; Book::best_level is
// the first level of the displayed tree. An order whose id is entered is in one queue, but for
// moments inside a verb of the engine.
// May depend on core and book. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wirebook/book/hash.hpp"
#include "wirebook/book/level_tree.hpp"
#include "wirebook/core/arena.hpp"
#include "wirebook/match/index_map.hpp"
#include "wirebook/match/lines.hpp"

namespace wirebook::match {

class BookStore {
public:
    struct Sizes {
        std::uint32_t instruments;
        std::uint32_t orders;
        std::uint32_t levels;  // of all books and sides together
    };
    [[nodiscard]] static std::size_t bytes_needed(const Sizes& sizes) noexcept;
    // False: the arena is too small.
    [[nodiscard]] bool start(Arena& arena, const Sizes& sizes, book::HashSeed seed) noexcept;

    [[nodiscard]] std::uint32_t instruments() const noexcept {
        return static_cast<std::uint32_t>(books_.size());
    }
    [[nodiscard]] Book& book(std::uint32_t instrument) noexcept { return books_[instrument]; }
    [[nodiscard]] const Book& book(std::uint32_t instrument) const noexcept {
        return books_[instrument];
    }
    [[nodiscard]] WaitingBook& waiting(std::uint32_t instrument) noexcept {
        return waiting_[instrument];
    }
    [[nodiscard]] const WaitingBook& waiting(std::uint32_t instrument) const noexcept {
        return waiting_[instrument];
    }
    [[nodiscard]] Order& order(std::uint32_t index) noexcept { return orders_[index]; }
    [[nodiscard]] const Order& order(std::uint32_t index) const noexcept { return orders_[index]; }
    [[nodiscard]] const Level& level(std::uint32_t index) const noexcept { return levels_[index]; }
    [[nodiscard]] std::uint32_t live_orders() const noexcept { return live_orders_; }
    [[nodiscard]] std::uint32_t live_levels() const noexcept { return levels_.used(); }
    [[nodiscard]] bool orders_full() const noexcept {
        return live_orders_ + 1 == orders_.capacity();
    }
    [[nodiscard]] bool levels_full() const noexcept { return levels_.full(); }

    [[nodiscard]] std::uint64_t id_hash(std::uint64_t id) const noexcept {
        return seed_.mix(id, 0);
    }
    // The live order of this id, or none. `hash` is id_hash(id). What it says is good until an id
    // is entered or leaves.
    using Found = IndexMap::Found;
    [[nodiscard, gnu::always_inline]] Found look_up(std::uint64_t id,
                                                    std::uint64_t hash) const noexcept {
        return ids_.find(hash, [&](std::uint32_t index) { return orders_[index].id == id; });
    }
    [[nodiscard]] std::uint32_t find(std::uint64_t id) const noexcept {
        return look_up(id, id_hash(id)).index;
    }
    // A line for an order on its way in, of which there is one at a time: there always is a line
    // for it. The order lives once its id is entered, until it leaves.
    [[nodiscard, gnu::always_inline]] std::uint32_t take_order() noexcept { return orders_.take(); }
    void give_back_order(std::uint32_t index) noexcept { orders_.give_back(index); }
    void enter_id(std::uint32_t index, std::uint64_t hash) noexcept {
        ids_.insert(hash, index);
        ++live_orders_;
    }
    // `at`: of look_up(), which found none.
    void enter_id_at(std::size_t at, std::uint32_t index, std::uint64_t hash) noexcept {
        ids_.insert_at(at, hash, index);
        ++live_orders_;
    }
    void leave_id(std::uint32_t index) noexcept {
        ids_.erase(id_hash(orders_[index].id), index);
        --live_orders_;
    }
    // `at`: of look_up(), which found it.
    void leave_id_at(std::size_t at) noexcept {
        ids_.erase_at(at);
        --live_orders_;
    }

    [[nodiscard]] std::uint64_t level_hash(book::BookSide key, std::int64_t rank) const noexcept {
        const std::uint64_t bits = key.bits();
        return seed_.mix(static_cast<std::uint64_t>(rank), bits << 32U | bits);
    }
    // The level's index, or none.
    [[nodiscard]] std::uint32_t find_level(book::BookSide key, std::int64_t rank) const noexcept {
        return look_up_level(key, rank, level_hash(key, rank)).index;
    }

    // Behind the queue of its price. Where that has no level, levels_full() is false.
    void place(std::uint32_t index) noexcept {
        const Order& order = orders_[index];
        const book::BookSide key = key_of(order.instrument, order.book, order.side);
        join(index, {key, order.rank(), level_hash(key, order.rank()), order.shown, order.reserve});
    }
    // The same, for who knows all of this; what was written just now is not read back.
    struct Joining {
        book::BookSide key;
        std::int64_t rank;
        std::uint64_t hash;  // level_hash() of the two
        std::uint32_t shown, reserve;
    };
    void join(std::uint32_t index, const Joining& joining) noexcept;
    // Out of its queue, with what it has left; keeps its line and its id.
    void take_out(std::uint32_t index) noexcept;
    // Takes off what the order shows; where nothing is left of that, it leaves its queue.
    void take_shown(std::uint32_t index, std::uint32_t quantity) noexcept {
        Order& order = orders_[index];
        order.shown -= quantity;
        levels_[order.level].quantity -= quantity;
        if (order.shown == 0) take_out(index);
    }
    void take_reserve(std::uint32_t index, std::uint32_t quantity) noexcept {
        Order& order = orders_[index];
        order.reserve -= quantity;
        levels_[order.level].reserve -= quantity;
    }

    // The first level of a side of one of the books, or none.
    [[nodiscard]] std::uint32_t best(std::uint32_t instrument, OrderBook order_book,
                                     Side side) const noexcept {
        if (order_book == OrderBook::displayed)
            return books_[instrument].best_level[as_index(side)];
        const book::LevelTrees::Root root = root_of(instrument, order_book, side);
        return root == 0 ? no_index : trees_.best(root).line;
    }
    // f(level), best first, until it returns false.
    template <class F>
    void for_each_level(std::uint32_t instrument, OrderBook order_book, Side side,
                        F&& f) const noexcept {
        trees_.for_each(root_of(instrument, order_book, side),
                        [&](std::int64_t, std::uint32_t line) { return f(levels_[line]); });
    }

    // Cache hints (look_ahead.hpp).
    void prefetch_book(std::uint32_t instrument) const noexcept {
        if (instrument < books_.size()) book::prefetch(&books_[instrument]);
    }
    void prefetch_id(std::uint64_t hash) const noexcept { ids_.prefetch(hash); }
    void prefetch_price(std::uint64_t hash) const noexcept { level_map_.prefetch(hash); }
    void prefetch_order(std::uint32_t index) const noexcept { orders_.prefetch(index); }
    void prefetch_level(std::uint32_t index) const noexcept { levels_.prefetch(index); }
    void prefetch_spares(std::uint32_t ahead) const noexcept {
        orders_.prefetch_spare(ahead);
        levels_.prefetch_spare(ahead);
    }
    void prefetch_tree(book::BookSide key) const noexcept {
        trees_.prefetch_root(root_of(instrument_of(key), book_of(key), key.side()));
    }
    // What is probably meant, of the lines that prefetch_id() and prefetch_price() asked for.
    [[nodiscard]] std::uint32_t guess_order(std::uint64_t hash) const noexcept {
        return ids_.guess(hash);
    }
    [[nodiscard]] std::uint32_t guess_level(std::uint64_t hash) const noexcept {
        return level_map_.guess(hash);
    }

    // For tests: aborts when the structures disagree.
    void check() const noexcept;

private:
    [[nodiscard, gnu::always_inline]] Found look_up_level(book::BookSide key, std::int64_t rank,
                                                          std::uint64_t hash) const noexcept {
        return level_map_.find(hash, [&](std::uint32_t index) {
            const Level& level = levels_[index];
            return level.rank == rank && level.key == key;
        });
    }
    [[nodiscard]] const book::LevelTrees::Root& root_of(std::uint32_t instrument,
                                                        OrderBook order_book,
                                                        Side side) const noexcept {
        const std::size_t which = as_index(order_book);
        return which < open_books ? books_[instrument].levels[which][as_index(side)]
                                  : waiting_[instrument].levels[which - open_books][as_index(side)];
    }
    [[nodiscard]] book::LevelTrees::Root& root_of(book::BookSide key) noexcept {
        const std::size_t which = as_index(book_of(key));
        const std::size_t side = as_index(key.side());
        return which < open_books ? books_[instrument_of(key)].levels[which][side]
                                  : waiting_[instrument_of(key)].levels[which - open_books][side];
    }
    [[nodiscard]] std::uint32_t make_level(book::BookSide key, std::int64_t rank,
                                           std::uint64_t hash, std::size_t at) noexcept;
    void drop_level(std::uint32_t index) noexcept;
    [[nodiscard]] std::uint64_t check_side(std::uint32_t instrument, OrderBook order_book,
                                           Side side) const noexcept;

    std::span<Book> books_;
    std::span<WaitingBook> waiting_;
    IndexPool<Order> orders_;
    IndexPool<Level> levels_;
    IndexMap ids_;        // id -> order
    IndexMap level_map_;  // key, rank -> level
    book::LevelTrees trees_;
    book::HashSeed seed_;
    std::uint32_t live_orders_ = 0;
};

[[gnu::noinline]] inline std::uint32_t BookStore::make_level(book::BookSide key, std::int64_t rank,
                                                             std::uint64_t hash,
                                                             std::size_t at) noexcept {
    WIREBOOK_CHECK(!levels_.full());
    const std::uint32_t index = levels_.take();
    WIREBOOK_CHECK(trees_.insert(root_of(key), rank, index));
    Level fresh{};
    fresh.rank = rank;
    fresh.key = key;
    levels_[index] = fresh;
    level_map_.insert_at(at, hash, index);
    if (book_of(key) == OrderBook::displayed) {
        Book& book = books_[instrument_of(key)];
        const std::size_t side = as_index(key.side());
        if (rank > book.best_rank[side]) {
            book.best_rank[side] = rank;
            book.best_level[side] = index;
        }
    }
    return index;
}

[[gnu::noinline]] inline void BookStore::drop_level(std::uint32_t index) noexcept {
    const Level& level = levels_[index];
    const book::BookSide key = level.key;
    book::LevelTrees::Root& root = root_of(key);
    level_map_.erase(level_hash(key, level.rank), index);
    trees_.erase(root, level.rank);
    levels_.give_back(index);
    if (book_of(key) != OrderBook::displayed) return;
    Book& book = books_[instrument_of(key)];
    const std::size_t side = as_index(key.side());
    if (book.best_level[side] != index) return;
    const book::LevelTrees::Entry best =
        root != 0 ? trees_.best(root) : book::LevelTrees::Entry{no_rank, no_index};
    book.best_rank[side] = best.rank;
    book.best_level[side] = best.line;
}

[[gnu::always_inline]] inline void BookStore::join(std::uint32_t index,
                                                   const Joining& joining) noexcept {
    Order& order = orders_[index];
    const Found found = look_up_level(joining.key, joining.rank, joining.hash);
    const std::uint32_t at_level =
        found.index != no_index ? found.index
                                : make_level(joining.key, joining.rank, joining.hash, found.at);
    Level& level = levels_[at_level];
    order.level = at_level;
    order.previous = level.tail;
    order.next = no_index;
    (level.tail == no_index ? level.head : orders_[level.tail].next) = index;
    level.tail = index;
    level.quantity += joining.shown;
    level.reserve += joining.reserve;
    ++level.orders;
}

inline void BookStore::take_out(std::uint32_t index) noexcept {
    const Order& order = orders_[index];
    Level& level = levels_[order.level];
    if (--level.orders == 0) {
        drop_level(order.level);
        return;
    }
    (order.previous == no_index ? level.head : orders_[order.previous].next) = order.next;
    (order.next == no_index ? level.tail : orders_[order.next].previous) = order.previous;
    level.quantity -= order.shown;
    level.reserve -= order.reserve;
}

}  // namespace wirebook::match
