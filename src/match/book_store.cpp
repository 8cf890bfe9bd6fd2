// The books' memory, and their check. See the header.
#include "wirebook/match/book_store.hpp"

#include <algorithm>

namespace wirebook::match {

namespace {

std::uint64_t nodes_for(const BookStore::Sizes& sizes) noexcept {
    const std::uint64_t sides = std::uint64_t{sizes.instruments} * order_books * 2;
    return book::LevelTrees::nodes_for(sizes.levels, sides) + 1;
}

}  // namespace

std::size_t BookStore::bytes_needed(const Sizes& sizes) noexcept {
    const auto words = [](std::uint64_t count) { return count * sizeof(std::uint32_t); };
    const std::uint64_t orders = std::uint64_t{sizes.orders} + 2;
    const std::uint64_t levels = std::uint64_t{sizes.levels} + 1;
    std::size_t bytes = sizes.instruments * (sizeof(Book) + sizeof(WaitingBook));
    bytes += orders * sizeof(Order) + words(orders) + levels * sizeof(Level) + words(levels);
    bytes += IndexMap::slots_for(sizes.orders) * sizeof(std::uint64_t);
    bytes += IndexMap::slots_for(sizes.levels) * sizeof(std::uint64_t);
    bytes += nodes_for(sizes) * sizeof(book::TreeNode) + words(nodes_for(sizes));
    const std::size_t arrays = 10;  // each starts on a cache line
    return bytes + arrays * cache_line_bytes;
}

bool BookStore::start(Arena& arena, const Sizes& sizes, book::HashSeed seed) noexcept {
    books_ = arena.make_array<Book>(sizes.instruments);
    waiting_ = arena.make_array<WaitingBook>(sizes.instruments);
    const auto orders = arena.make_array<Order>(std::size_t{sizes.orders} + 2);
    const auto spare_orders = arena.make_array<std::uint32_t>(std::size_t{sizes.orders} + 2);
    const auto levels = arena.make_array<Level>(std::size_t{sizes.levels} + 1);
    const auto spare_levels = arena.make_array<std::uint32_t>(std::size_t{sizes.levels} + 1);
    const auto id_slots = arena.make_array<std::uint64_t>(IndexMap::slots_for(sizes.orders));
    const auto level_slots = arena.make_array<std::uint64_t>(IndexMap::slots_for(sizes.levels));
    const auto nodes = arena.make_array<book::TreeNode>(nodes_for(sizes));
    const auto spare_nodes = arena.make_array<std::uint32_t>(nodes_for(sizes));
    if (books_.empty() || waiting_.empty() || orders.empty() || spare_orders.empty() ||
        levels.empty() || spare_levels.empty() || id_slots.empty() || level_slots.empty() ||
        nodes.empty() || spare_nodes.empty()) {
        return false;
    }
    orders_.start(orders, spare_orders);
    levels_.start(levels, spare_levels);
    ids_.start(id_slots);
    level_map_.start(level_slots);
    trees_.start(nodes, spare_nodes);
    seed_ = seed;
    for (Book& book : books_) book.best_rank = {no_rank, no_rank};
    return true;
}

std::uint64_t BookStore::check_side(std::uint32_t instrument, OrderBook order_book,
                                    Side side) const noexcept {
    const book::BookSide key = key_of(instrument, order_book, side);
    const book::LevelTrees::Root root = root_of(instrument, order_book, side);
    std::uint64_t orders = 0;
    std::uint64_t levels = 0;
    for_each_level(instrument, order_book, side, [&](const Level& level) {
        const std::uint32_t index = find_level(key, level.rank);
        WIREBOOK_CHECK(index != no_index && &levels_[index] == &level);
        if (levels++ == 0) WIREBOOK_CHECK(best(instrument, order_book, side) == index);
        std::uint64_t shown = 0;
        std::uint64_t reserve = 0;
        std::uint32_t count = 0;
        std::uint32_t previous = no_index;
        for (std::uint32_t i = level.head; i != no_index; previous = i, i = orders_[i].next) {
            const Order& order = orders_[i];
            WIREBOOK_CHECK(order.previous == previous && order.level == index);
            WIREBOOK_CHECK(order.instrument == instrument && order.book == order_book);
            WIREBOOK_CHECK(order.side == side && order.rank() == level.rank);
            WIREBOOK_CHECK(find(order.id) == i && order.shown != 0);
            WIREBOOK_CHECK(order.reserve == 0 ||
                           (order.display != 0 && order_book == OrderBook::displayed));
            WIREBOOK_CHECK(previous == no_index || orders_[previous].reference < order.reference);
            shown += order.shown;
            reserve += order.reserve;
            ++count;
        }
        WIREBOOK_CHECK(level.tail == previous && level.orders == count && count != 0);
        WIREBOOK_CHECK(level.quantity == shown && level.reserve == reserve);
        orders += count;
        return true;
    });
    WIREBOOK_CHECK(trees_.check(root) == levels);
    if (order_book == OrderBook::displayed && levels == 0) {
        WIREBOOK_CHECK(books_[instrument].best_level[as_index(side)] == no_index);
        WIREBOOK_CHECK(books_[instrument].best_rank[as_index(side)] == no_rank);
    }
    return orders;
}

void BookStore::check() const noexcept {
    std::uint64_t orders = 0;
    for (std::uint32_t instrument = 0; instrument < instruments(); ++instrument) {
        for (std::uint32_t which = 0; which < order_books; ++which) {
            for (const Side side : {Side::bid, Side::ask}) {
                orders += check_side(instrument, static_cast<OrderBook>(which), side);
            }
        }
    }
    WIREBOOK_CHECK(orders == live_orders() && orders == orders_.used());
}

}  // namespace wirebook::match
