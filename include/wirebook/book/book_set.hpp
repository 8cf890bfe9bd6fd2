// The books of one channel: order books with queue position, level books and quote books.
//
// apply() takes a batch of updates and leaves the books as the venue has them. All three kinds of
// book are the same lines (lines.hpp), tree and map; they differ in which verbs arrive:
//   order books   add, execute, reduce, remove, replace: a level is the queue of its orders
//   level books   level_set, level_remove: a level is a total without orders
//   quote books   quote: at most one level a side
// A channel sends the verbs of one kind. Mixed ones stay safe: a level_set, level_remove or quote
// that would hit a level with orders in it is refused as of an unknown level.
//
// What is refused, what counts as touching and when an instrument is let out at the end of a packet
// is docs/books.md; the comments at the verbs (apply.hpp) name the rules.
//
// Cost: an update touches the order's record, its level's line (and chunk line), the book line,
// and for an add the bucket of its price: independent cache lines whose addresses are known early,
// so they are asked for some messages ahead (look_ahead.hpp). Nothing is allocated after create():
// out of room is a counted refusal. A new session costs milliseconds at most (order_table.hpp).
//
// May depend on core. One thread; other threads see books through what the observer publishes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "wirebook/book/book_line.hpp"
#include "wirebook/book/level_map.hpp"
#include "wirebook/book/level_tree.hpp"
#include "wirebook/book/lines.hpp"
#include "wirebook/book/order_table.hpp"
#include "wirebook/book/queue.hpp"
#include "wirebook/book/update_batch.hpp"
#include "wirebook/book/views.hpp"
#include "wirebook/core/arena.hpp"
#include "wirebook/core/result.hpp"

namespace wirebook::book {

struct BookSetOptions {
    std::uint32_t instruments = 65'536;     // indices 0 .. instruments - 1
    std::uint64_t live_orders = 4'000'000;  // at one time, also of instruments not followed
    std::uint64_t levels = 1'000'000;       // at one time
    std::uint64_t queue_lines = 0;    // for the orders of a level beyond seven, twelve a line;
                                      // 0: live_orders / 6
    std::uint32_t order_pages = 0;    // of 2^18 references each (2 MiB); 0: from live_orders
    bool trading_by_default = false;  // what no status was told of: trades continuously
    bool look_ahead = true;
    std::uint64_t hash_seed = 0;  // 0: a secret one. Never changes a result
};

struct BookCounters {
    std::uint64_t unknown_orders = 0;
    std::uint64_t duplicate_orders = 0;
    std::uint64_t overfills = 0;
    std::uint64_t bad_orders = 0;
    std::uint64_t unknown_levels = 0;
    std::uint64_t crossed = 0;
    std::uint64_t no_room_orders = 0;       // raise live_orders
    std::uint64_t no_room_levels = 0;       // raise levels or queue_lines
    std::uint64_t no_room_instruments = 0;  // raise instruments
};

class BookSet {
public:
    // Memory comes from the arena, bytes_needed() of it. Fails when it has less.
    [[nodiscard]] static Result<BookSet> create(Arena& arena, const BookSetOptions& options);
    [[nodiscard]] static std::size_t bytes_needed(const BookSetOptions& options) noexcept;

    BookSet(BookSet&&) noexcept = default;
    BookSet& operator=(BookSet&&) noexcept = default;
    BookSet(const BookSet&) = delete;
    BookSet& operator=(const BookSet&) = delete;
    ~BookSet() = default;

    // Applies the batch in stream order. Observer, all noexcept, called between updates:
    //   on_event(const Event&, const PacketEnd&)          an event, at its place
    //   on_execution(const Execution&, const PacketEnd&)  after the execution changed the book
    //   on_clear(const PacketEnd&)                        after clear_books, new_session
    //   on_touched(uint32_t instrument, const PacketEnd&) at the packet's end, see docs/books.md
    //   on_packet_end(const PacketEnd&)                   after the packet's last on_touched
    // And, if it has bool wants_orders() and that says true:
    //   on_order(const OrderChange&, const PacketEnd&)    after each change of an order
    // With tail_open, batch.packet[batch.packets] holds what is known of the unfinished packet.
    template <class Observer>
    void apply(const UpdateBatch& batch, Observer& observer) noexcept;

    // Best first; returns how many levels were written to `out`.
    std::size_t depth(std::uint32_t instrument, Side side, std::span<LevelView> out) const noexcept;
    // The best level; nothing where the side is empty.
    [[nodiscard]] std::optional<LevelView> best(std::uint32_t instrument, Side side) const noexcept;
    // f(const LevelView&), best first.
    template <class F>
    void for_each_level(std::uint32_t instrument, Side side, F&& f) const noexcept;
    // f(order_id, price, quantity), best level first, head of the queue first.
    template <class F>
    void for_each_order(std::uint32_t instrument, Side side, F&& f) const noexcept;

    // Nothing where the order is unknown or its instrument is not followed.
    [[nodiscard]] std::optional<OrderView> order(std::uint64_t order_id) noexcept;
    // Walks the queue to the order.
    [[nodiscard]] std::optional<QueuePosition> queue_position(std::uint64_t order_id) noexcept;

    // Instruments. Indices from instruments_end() on were never used, and answer as empty ones.
    [[nodiscard]] std::uint32_t instruments_end() const noexcept { return instruments_end_; }
    [[nodiscard]] std::string_view symbol(std::uint32_t instrument) const noexcept;
    [[nodiscard]] std::uint8_t price_places(std::uint32_t instrument) const noexcept {
        return books_[instrument].places;
    }
    [[nodiscard]] bool named(std::uint32_t instrument) const noexcept {
        return books_[instrument].is(book_flag::named);
    }
    [[nodiscard]] bool followed(std::uint32_t instrument) const noexcept {
        return !books_[instrument].is(book_flag::not_followed);
    }
    [[nodiscard]] bool event_open(std::uint32_t instrument) const noexcept {
        return books_[instrument].is(book_flag::event_open);
    }
    [[nodiscard]] std::int64_t last_touch_time_ns(std::uint32_t instrument) const noexcept {
        return books_[instrument].last_touch_time_ns;
    }
    [[nodiscard]] bool trades_continuously(std::uint32_t instrument) const noexcept {
        const BookLine& book = books_[instrument];
        return book.is(book_flag::status_flipped) != trading_by_default_ && market_open(book.group);
    }
    // It is followed, but has been only since after orders of it had come: its book lacks them
    // until all books are cleared.
    [[nodiscard]] bool incomplete(std::uint32_t instrument) const noexcept {
        return books_[instrument].is(book_flag::missed) && followed(instrument);
    }
    // What a `name` update does with its flag not_followed; the next `name` decides anew. The
    // orders of an instrument that is not followed any more leave its book for good.
    void set_followed(std::uint32_t instrument, bool followed) noexcept;

    [[nodiscard]] const BookCounters& counters() const noexcept { return counters_; }
    [[nodiscard]] std::uint64_t live_orders() const noexcept { return followed_orders_; }
    [[nodiscard]] std::uint64_t live_levels() const noexcept { return live_levels_; }
    // Over all sessions: instruments that were ever named or touched; that ever had a level.
    [[nodiscard]] std::uint64_t instruments_ever() const noexcept { return instruments_ever_; }
    [[nodiscard]] std::uint64_t books_ever() const noexcept { return books_ever_; }
    [[nodiscard]] const OrderTable& orders() const noexcept { return orders_; }

    // For tests: aborts when lines, trees, map, orders and counts do not agree.
    void check() noexcept;

private:
    BookSet() = default;
    struct Sizes;
    static Sizes sizes_of(const BookSetOptions& options) noexcept;
    bool take_memory(Arena& arena, const Sizes& sizes) noexcept;

    // apply.hpp
    template <bool LookAhead, class Observer>
    void apply_packets(const UpdateBatch& batch, Observer& observer) noexcept;
    template <class Observer>
    void apply_update(const UpdateBatch& batch, std::uint32_t i, const PacketEnd& end,
                      Observer& observer) noexcept;
    template <class Observer>
    void end_packet(const PacketEnd& end, Observer& observer) noexcept;
    template <class Observer>
    void execute(const UpdateBatch& batch, std::uint32_t i, const PacketEnd& end,
                 Observer& observer) noexcept;

    // order_stream.hpp
    template <class Observer>
    void apply_and_tell(const UpdateBatch& batch, std::uint32_t i, const PacketEnd& end,
                        Observer& observer) noexcept;
    [[nodiscard]] OrderChange change_before(const UpdateBatch& batch, std::uint32_t i) noexcept;
    [[nodiscard]] bool describe_new(OrderChange& change, std::uint64_t id) noexcept;
    [[nodiscard]] bool change_after(OrderChange& change, const UpdateBatch& batch, std::uint32_t i,
                                    bool new_id_free) noexcept;

    // verbs.hpp
    [[nodiscard]] static bool is_order_quantity(std::uint64_t quantity) noexcept;
    void add(const UpdateBatch& batch, std::uint32_t i) noexcept;
    void reduce(const UpdateBatch& batch, std::uint32_t i) noexcept;
    void remove(const UpdateBatch& batch, std::uint32_t i) noexcept;
    void replace(const UpdateBatch& batch, std::uint32_t i) noexcept;
    void take_quantity(std::uint64_t id, OrderTable::Found order, std::uint64_t quantity,
                       std::int64_t time) noexcept;
    [[nodiscard]] bool place(std::uint64_t id, BookSide book_side, std::int64_t rank,
                             std::uint32_t quantity) noexcept;
    BookSide unplace(std::uint64_t id, OrderTable::Found order) noexcept;
    [[nodiscard]] std::uint32_t make_level(std::uint64_t hash, BookSide book_side,
                                           std::int64_t rank) noexcept;
    void drop_level(std::uint32_t index) noexcept;
    void touch(std::uint32_t instrument, std::int64_t exchange_time_ns) noexcept;
    void count_unknown_order(const UpdateBatch& batch, std::uint32_t i) noexcept;
    [[nodiscard]] bool counts(std::uint32_t instrument) const noexcept {
        return instrument >= books_.size() || followed(instrument);
    }
    [[nodiscard]] bool market_open(std::uint16_t group) const noexcept {
        return ((markets_[group / 64U] >> (group % 64U) & 1U) != 0) != trading_by_default_;
    }

    // level_verbs.cpp, bookkeeping.cpp: level and quote books, and what is rare
    void level_set(const UpdateBatch& batch, std::uint32_t i) noexcept;
    void level_remove(const UpdateBatch& batch, std::uint32_t i) noexcept;
    void quote(const UpdateBatch& batch, std::uint32_t i) noexcept;
    void set_quote_side(BookSide book_side, std::int64_t price, std::uint64_t quantity) noexcept;
    void mark_event(std::uint32_t instrument, bool open) noexcept;
    void bookkeeping(const UpdateBatch& batch, std::uint32_t i) noexcept;
    void name(const UpdateBatch& batch, std::uint32_t i) noexcept;
    void clear_books() noexcept;
    void new_session() noexcept;
    void use_instrument(std::uint32_t instrument) noexcept;
    void add_unfollowed(const UpdateBatch& batch, std::uint32_t i) noexcept;
    void replace_unfollowed(const UpdateBatch& batch, std::uint32_t i,
                            OrderTable::Found order) noexcept;
    void unfollow_side(std::uint32_t instrument, Side side) noexcept;
    void first_level_ever(BookLine& book) noexcept;
    std::uint64_t check_side(std::uint32_t instrument, Side side,
                             std::uint64_t& orders_seen) noexcept;

    // look_ahead.hpp
    static constexpr std::uint32_t look_far_ahead = 12;
    static constexpr std::uint32_t look_nearer_ahead = 8;
    static constexpr std::uint32_t look_near_ahead = 4;
    void look_far(const UpdateBatch& batch, std::uint32_t i) const noexcept;
    void look_nearer(const UpdateBatch& batch, std::uint32_t i) const noexcept;
    void look_near(const UpdateBatch& batch, std::uint32_t i) const noexcept;
    void look_at_level(std::uint32_t line) const noexcept;

    static constexpr std::uint64_t group_limit = 65'535;
    static constexpr std::size_t market_words = (group_limit + 1) / 64;

    HashSeed seed_;
    OrderTable orders_;
    LinePool lines_;
    LevelMap map_;
    LevelTrees trees_;
    std::span<BookLine> books_;
    std::span<std::uint32_t> touched_;  // touched and not let out yet, in order of first touch
    std::uint32_t touched_count_ = 0;
    std::uint32_t instruments_end_ = 0;
    std::span<std::uint64_t> markets_;  // a bit a market group: is not as by default
    std::uint64_t level_limit_ = 0;
    std::uint64_t live_levels_ = 0;
    std::uint64_t followed_orders_ = 0;
    std::uint64_t instruments_ever_ = 0;
    std::uint64_t books_ever_ = 0;
    BookCounters counters_;
    bool trading_by_default_ = false;
    bool look_ahead_ = true;
};

template <class F>
void BookSet::for_each_level(std::uint32_t instrument, Side side, F&& f) const noexcept {
    trees_.for_each(books_[instrument].levels[index_of(side)],
                    [&](std::int64_t rank, std::uint32_t index) {
                        const LevelLine& line = lines_.level(index);
                        f(LevelView{price_of(side, rank), line.quantity, line.orders});
                        return true;
                    });
}

template <class F>
void BookSet::for_each_order(std::uint32_t instrument, Side side, F&& f) const noexcept {
    trees_.for_each(
        books_[instrument].levels[index_of(side)], [&](std::int64_t rank, std::uint32_t index) {
            for_each_in_queue(lines_, index, [&](Handle handle) {
                f(orders_.id_of(handle), price_of(side, rank), orders_.at(handle).quantity);
                return true;
            });
            return true;
        });
}

}  // namespace wirebook::book

// The members that are on the hot path.
#include "wirebook/book/apply.hpp"
#include "wirebook/book/look_ahead.hpp"
#include "wirebook/book/verbs.hpp"
