// BookSet: memory, and what readers of books ask.
#include "wirebook/book/book_set.hpp"

#include <sys/random.h>

#include <algorithm>
#include <bit>
#include <string>

#include "wirebook/core/clock.hpp"

namespace wirebook::book {

HashSeed HashSeed::draw() noexcept {
    HashSeed seed;
    std::array<std::uint64_t, 2> words{};
    if (::getrandom(words.data(), sizeof(words), GRND_NONBLOCK) != sizeof(words)) {
        words = {rdtsc(), rdtsc()};  // early at boot: less secret, still right
    }
    seed.a ^= words[0];
    seed.b ^= words[1];
    return seed;
}

void LevelMap::reset() noexcept {
    std::ranges::fill(buckets_, Bucket{});
}

struct BookSet::Sizes {
    std::uint64_t lines, buckets, nodes, pages, order_buckets, orders;
    std::uint32_t instruments;
};

BookSet::Sizes BookSet::sizes_of(const BookSetOptions& options) noexcept {
    Sizes sizes{};
    sizes.instruments = options.instruments;
    sizes.orders = options.live_orders;
    const std::uint64_t queue_lines =
        options.queue_lines != 0 ? options.queue_lines : options.live_orders / 6;
    sizes.lines = options.levels + queue_lines + first_line;
    sizes.buckets = LevelMap::buckets_for(options.levels);
    sizes.nodes = LevelTrees::nodes_for(options.levels, std::uint64_t{options.instruments} * 2) + 1;
    const std::uint64_t dense = options.live_orders >> OrderTable::page_bits;
    sizes.pages = options.order_pages != 0 ? options.order_pages : dense * 4 + 16;
    sizes.pages = std::min<std::uint64_t>(sizes.pages, OrderTable::page_limit);
    sizes.order_buckets = std::max<std::uint64_t>(2, std::bit_ceil(options.live_orders));
    return sizes;
}

std::size_t BookSet::bytes_needed(const BookSetOptions& options) noexcept {
    const Sizes sizes = sizes_of(options);
    const auto words = [](std::uint64_t count) { return count * sizeof(std::uint32_t); };
    std::size_t bytes = sizes.lines * sizeof(Line) + words(sizes.lines);
    bytes += sizes.buckets * sizeof(LevelMap::Bucket);
    bytes += sizes.nodes * sizeof(TreeNode) + words(sizes.nodes);
    bytes += sizes.instruments * sizeof(BookLine) + words(sizes.instruments);
    bytes += market_words * sizeof(std::uint64_t);
    bytes += sizes.pages * (OrderTable::page_orders * sizeof(OrderRecord) +
                            sizeof(OrderTable::Page) + 2 * sizeof(std::uint32_t));
    bytes += OrderTable::ranges * (sizeof(OrderTable::Range) + sizeof(std::uint32_t));
    bytes += sizes.orders * sizeof(OrderTable::Node) + words(sizes.orders + sizes.order_buckets);
    const std::size_t arrays = 17;  // each starts on a cache line
    return bytes + arrays * cache_line_bytes;
}

bool BookSet::take_memory(Arena& arena, const Sizes& sizes) noexcept {
    OrderTable::Memory orders;
    orders.records = arena.make_array<OrderRecord>(sizes.pages << OrderTable::page_bits);
    orders.pages = arena.make_array<OrderTable::Page>(sizes.pages);
    orders.free_pages = arena.make_array<std::uint32_t>(sizes.pages);
    orders.dirty_pages = arena.make_array<std::uint32_t>(sizes.pages);
    orders.directory = arena.make_array<OrderTable::Range>(OrderTable::ranges);
    orders.range_nodes = arena.make_array<std::uint32_t>(OrderTable::ranges);
    orders.nodes = arena.make_array<OrderTable::Node>(sizes.orders);
    orders.free_nodes = arena.make_array<std::uint32_t>(sizes.orders);
    orders.buckets = arena.make_array<std::uint32_t>(sizes.order_buckets);
    const auto lines = arena.make_array<Line>(sizes.lines);
    const auto spare_lines = arena.make_array<std::uint32_t>(sizes.lines);
    const auto buckets = arena.make_array<LevelMap::Bucket>(sizes.buckets);
    const auto nodes = arena.make_array<TreeNode>(sizes.nodes);
    const auto spare_nodes = arena.make_array<std::uint32_t>(sizes.nodes);
    books_ = arena.make_array<BookLine>(sizes.instruments);
    touched_ = arena.make_array<std::uint32_t>(sizes.instruments);
    markets_ = arena.make_array<std::uint64_t>(market_words);
    // The arena only moves forward: the last array being there says nothing of a larger one before.
    if (orders.records.empty() || orders.pages.empty() || orders.free_pages.empty() ||
        orders.dirty_pages.empty() || orders.directory.empty() || orders.range_nodes.empty() ||
        orders.nodes.empty() || orders.free_nodes.empty() || orders.buckets.empty() ||
        lines.empty() || spare_lines.empty() || buckets.empty() || nodes.empty() ||
        spare_nodes.empty() || books_.empty() || touched_.empty() || markets_.empty()) {
        return false;
    }
    orders_.start(orders, seed_);
    lines_.start(lines, spare_lines);
    map_.start(buckets, seed_);
    trees_.start(nodes, spare_nodes);
    return true;
}

Result<BookSet> BookSet::create(Arena& arena, const BookSetOptions& options) {
    const auto out_of_range = [](const char* what, std::uint64_t limit) {
        return Error{
            .code = 0,
            .context = std::string("books: ") + what + " must be 1 to " + std::to_string(limit)};
    };
    constexpr std::uint64_t instrument_limit = std::uint64_t{1} << 24U;
    constexpr std::uint64_t limit = LineRef::index_limit / 4;
    if (options.instruments == 0 || options.instruments > instrument_limit) {
        return out_of_range("instruments", instrument_limit);
    }
    if (options.live_orders == 0 || options.live_orders > limit) {
        return out_of_range("live_orders", limit);
    }
    if (options.levels == 0 || options.levels > limit) return out_of_range("levels", limit);
    if (options.queue_lines > limit) return out_of_range("queue_lines", limit);

    BookSet set;
    if (options.hash_seed != 0) {
        set.seed_.a ^= options.hash_seed;
        set.seed_.b ^= std::rotl(options.hash_seed, 32);
    } else {
        set.seed_ = HashSeed::draw();
    }
    set.level_limit_ = options.levels;
    set.trading_by_default_ = options.trading_by_default;
    set.look_ahead_ = options.look_ahead;
    if (!set.take_memory(arena, sizes_of(options))) {
        return Error{.code = 0,
                     .context = "books: " + std::to_string(bytes_needed(options) >> 20U) +
                                " MiB do not fit into the arena; make it larger, or lower "
                                "live_orders, levels or instruments"};
    }
    return set;
}

std::string_view BookSet::symbol(std::uint32_t instrument) const noexcept {
    const BookLine& book = books_[instrument];
    return {book.symbol.data(), book.symbol_bytes};
}

std::size_t BookSet::depth(std::uint32_t instrument, Side side,
                           std::span<LevelView> out) const noexcept {
    std::size_t levels = 0;
    if (out.empty()) return 0;
    trees_.for_each(books_[instrument].levels[index_of(side)],
                    [&](std::int64_t rank, std::uint32_t index) {
                        const LevelLine& line = lines_.level(index);
                        out[levels] = {price_of(side, rank), line.quantity, line.orders};
                        return ++levels < out.size();
                    });
    return levels;
}

std::optional<LevelView> BookSet::best(std::uint32_t instrument, Side side) const noexcept {
    const BookLine& book = books_[instrument];
    const std::uint32_t index = book.best_line[index_of(side)];
    if (index == no_line) return std::nullopt;
    const LevelLine& line = lines_.level(index);
    return LevelView{price_of(side, line.rank), line.quantity, line.orders};
}

std::optional<OrderView> BookSet::order(std::uint64_t order_id) noexcept {
    const OrderTable::Found found = orders_.find(order_id);
    if (found.record == nullptr || !found.record->where.followed()) return std::nullopt;
    const LevelLine& line = lines_.level(level_of(lines_, found.record->where));
    const Side side = line.book_side.side();
    return OrderView{line.book_side.instrument(), side, price_of(side, line.rank),
                     found.record->quantity};
}

std::optional<QueuePosition> BookSet::queue_position(std::uint64_t order_id) noexcept {
    const OrderTable::Found found = orders_.find(order_id);
    if (found.record == nullptr || !found.record->where.followed()) return std::nullopt;
    QueuePosition position;
    for_each_in_queue(lines_, level_of(lines_, found.record->where), [&](Handle handle) {
        if (handle == found.handle) return false;
        ++position.orders_ahead;
        position.quantity_ahead += orders_.at(handle).quantity;
        return true;
    });
    return position;
}

}  // namespace wirebook::book
