// The 64-byte lines that levels are made of, and the pool that they come from.
//
// A level is one line: rank, total, the first seven orders of its queue. Longer queues go on in
// chunk lines of twelve. An order's record names the line that holds its handle, so taking an
// order out of any queue touches that line and the level's, however long the queue is.
//
// rank: higher is better on both sides (the price for bids, its complement for asks, which unlike
// its negative exists for every price), so that both sides share all code.
//
// Lines 0 and 1 hold nothing: 0 means "no line", 1 is where orders of instruments that are not
// followed point to. May depend on core. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wirebook/book/prefetch.hpp"
#include "wirebook/book/update_batch.hpp"
#include "wirebook/core/base.hpp"

namespace wirebook::book {

[[nodiscard]] constexpr std::int64_t rank_of(Side side, std::int64_t price) noexcept {
    return side == Side::bid ? price : ~price;
}
[[nodiscard]] constexpr std::int64_t price_of(Side side, std::int64_t rank) noexcept {
    return rank_of(side, rank);  // its own inverse
}

// One side of one book: the instrument's index and the side in one word.
class BookSide {
public:
    BookSide() = default;
    constexpr BookSide(std::uint32_t instrument, Side side) noexcept
        : bits_(instrument << 1U | static_cast<std::uint32_t>(side)) {}
    [[nodiscard]] constexpr std::uint32_t instrument() const noexcept { return bits_ >> 1U; }
    [[nodiscard]] constexpr Side side() const noexcept { return static_cast<Side>(bits_ & 1U); }
    [[nodiscard]] constexpr std::uint32_t bits() const noexcept { return bits_; }
    friend constexpr bool operator==(BookSide, BookSide) noexcept = default;

private:
    std::uint32_t bits_;
};

// An order as its table names it, for as long as the order lives (order_table.hpp).
using Handle = std::uint32_t;

inline constexpr std::uint32_t no_line = 0;
inline constexpr std::uint32_t unfollowed_line = 1;
inline constexpr std::uint32_t first_line = 2;

// Which line holds an order, and what kind of line it is, without looking at it.
class LineRef {
public:
    static constexpr std::uint32_t index_limit = std::uint32_t{1} << 30U;

    LineRef() = default;
    [[nodiscard]] static constexpr LineRef level(std::uint32_t index, Side side) noexcept {
        return LineRef{index | static_cast<std::uint32_t>(side) << 30U};
    }
    [[nodiscard]] static constexpr LineRef chunk(std::uint32_t index, Side side) noexcept {
        return LineRef{index | static_cast<std::uint32_t>(side) << 30U | std::uint32_t{1} << 31U};
    }
    [[nodiscard]] static constexpr LineRef none() noexcept { return LineRef{no_line}; }
    [[nodiscard]] static constexpr LineRef unfollowed() noexcept {
        return LineRef{unfollowed_line};
    }

    [[nodiscard]] constexpr bool live() const noexcept { return bits_ != 0; }
    [[nodiscard]] constexpr bool followed() const noexcept { return bits_ != unfollowed_line; }
    [[nodiscard]] constexpr bool is_chunk() const noexcept { return (bits_ >> 31U) != 0; }
    [[nodiscard]] constexpr Side side() const noexcept {
        return static_cast<Side>(bits_ >> 30U & 1U);
    }
    [[nodiscard]] constexpr std::uint32_t index() const noexcept {
        return bits_ & (index_limit - 1);
    }
    friend constexpr bool operator==(LineRef, LineRef) noexcept = default;

private:
    explicit constexpr LineRef(std::uint32_t bits) noexcept : bits_(bits) {}
    std::uint32_t bits_;
};

struct LevelLine {
    static constexpr std::uint32_t capacity = 7;

    std::int64_t rank;
    std::uint64_t quantity;  // of all its orders, or as told by the feed
    std::uint32_t orders;    // 0 where the feed has no orders
    BookSide book_side;
    std::uint32_t first_chunk;  // no_line: the queue is wholly inside this line
    std::uint32_t last_chunk;
    std::uint32_t inside;  // handles in this line: the head of the queue
    std::array<Handle, capacity> handle;
};
static_assert(sizeof(LevelLine) == 64);

struct ChunkLine {
    static constexpr std::uint32_t capacity = 12;

    std::uint32_t level;
    std::uint32_t previous;
    std::uint32_t next;
    std::uint32_t inside;
    std::array<Handle, capacity> handle;
};
static_assert(sizeof(ChunkLine) == 64);

// Which of the two it is, its references say (LineRef, LevelLine::first_chunk).
union Line {
    LevelLine level;
    ChunkLine chunk;
};

class LinePool {
public:
    // `lines` and `spare`: zeroed memory, equally long; index 0 and 1 of `lines` stay unused.
    void start(std::span<Line> lines, std::span<std::uint32_t> spare) noexcept {
        WIREBOOK_CHECK(lines.size() == spare.size() && lines.size() > first_line);
        WIREBOOK_CHECK(lines.size() <= LineRef::index_limit);
        lines_ = lines;
        spare_ = spare;
        reset();
    }
    void reset() noexcept { fresh_ = first_line, spares_ = 0; }

    // An unused line with whatever was in it, or no_line. Last given back, first taken: it is
    // likely to be in the cache.
    [[nodiscard]] std::uint32_t take() noexcept {
        if (spares_ != 0) return spare_[--spares_];
        if (fresh_ == lines_.size()) return no_line;
        return fresh_++;
    }
    void give_back(std::uint32_t index) noexcept { spare_[spares_++] = index; }

    [[nodiscard]] LevelLine& level(std::uint32_t index) noexcept { return lines_[index].level; }
    [[nodiscard]] const LevelLine& level(std::uint32_t index) const noexcept {
        return lines_[index].level;
    }
    [[nodiscard]] ChunkLine& chunk(std::uint32_t index) noexcept { return lines_[index].chunk; }
    [[nodiscard]] const ChunkLine& chunk(std::uint32_t index) const noexcept {
        return lines_[index].chunk;
    }

    void prefetch_line(std::uint32_t index) const noexcept { prefetch(&lines_[index]); }
    // The line that the next take() but `ahead` will give, if nothing comes back before.
    void prefetch_spare(std::uint32_t ahead) const noexcept {
        if (spares_ > ahead) prefetch(&lines_[spare_[spares_ - 1 - ahead]]);
    }

    [[nodiscard]] std::uint64_t used() const noexcept { return fresh_ - first_line - spares_; }
    [[nodiscard]] std::uint64_t room() const noexcept { return lines_.size() - fresh_ + spares_; }
    [[nodiscard]] std::uint64_t capacity() const noexcept { return lines_.size() - first_line; }

private:
    std::span<Line> lines_;
    std::span<std::uint32_t> spare_;    // the first spares_ are unused lines
    std::uint32_t fresh_ = first_line;  // lines from here on were never taken
    std::uint32_t spares_ = 0;
};

}  // namespace wirebook::book
