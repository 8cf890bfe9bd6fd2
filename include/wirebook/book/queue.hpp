// The queue of a level: order handles in time priority, first those inside the level line, then
// those of its chunk lines in chain order.
//
// Invariants: every line's handles are its first `inside`; a chunk line is never empty between
// calls; while there are chunk lines, new orders go behind the last of them, even when the level
// line has room again, so that order of arrival is kept. May depend on core. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "wirebook/book/lines.hpp"

namespace wirebook::book {

// Takes `handle` out, which is in `handles`, and keeps the order of the rest. Without branches on
// where it was: that is a coin toss for the predictor. What lies behind the last handle in use is
// moved along, harmless.
template <std::size_t N>
inline void close_up(std::array<Handle, N>& handles, Handle handle) noexcept {
    bool found = false;
    for (std::size_t i = 0; i + 1 < N; ++i) {
        found |= handles[i] == handle;
        handles[i] = found ? handles[i + 1] : handles[i];
    }
}

// Hangs an empty chunk line behind the level's queue; no_line when the pool is empty.
[[nodiscard]] inline std::uint32_t open_chunk(LinePool& pool, std::uint32_t level) noexcept {
    const std::uint32_t index = pool.take();
    if (index == no_line) return no_line;
    LevelLine& line = pool.level(level);
    ChunkLine fresh{};
    fresh.level = level;
    fresh.previous = line.last_chunk;
    (line.last_chunk == no_line ? line.first_chunk : pool.chunk(line.last_chunk).next) = index;
    line.last_chunk = index;
    pool.chunk(index) = fresh;
    return index;
}

// The line that the next order of `level` goes to, with room in it; not live when the pool is
// empty. To be followed by push_back().
[[nodiscard]] inline LineRef open_back(LinePool& pool, std::uint32_t level) noexcept {
    const LevelLine& line = pool.level(level);
    const Side side = line.book_side.side();
    if (line.last_chunk == no_line && line.inside < LevelLine::capacity) {
        return LineRef::level(level, side);
    }
    if (line.last_chunk != no_line && pool.chunk(line.last_chunk).inside < ChunkLine::capacity) {
        return LineRef::chunk(line.last_chunk, side);
    }
    const std::uint32_t chunk = open_chunk(pool, level);
    return chunk == no_line ? LineRef::none() : LineRef::chunk(chunk, side);
}

inline void push_back(LinePool& pool, LineRef where, Handle handle) noexcept {
    if (where.is_chunk()) {
        ChunkLine& chunk = pool.chunk(where.index());
        chunk.handle[chunk.inside++] = handle;
    } else {
        LevelLine& line = pool.level(where.index());
        line.handle[line.inside++] = handle;
    }
}

inline void drop_chunk(LinePool& pool, std::uint32_t index) noexcept {
    const ChunkLine chunk = pool.chunk(index);
    LevelLine& line = pool.level(chunk.level);
    (chunk.previous == no_line ? line.first_chunk : pool.chunk(chunk.previous).next) = chunk.next;
    (chunk.next == no_line ? line.last_chunk : pool.chunk(chunk.next).previous) = chunk.previous;
    pool.give_back(index);
}

// Takes the order out of the queue; its line `where` has it.
inline void take_out(LinePool& pool, LineRef where, Handle handle) noexcept {
    if (where.is_chunk()) {
        ChunkLine& chunk = pool.chunk(where.index());
        close_up(chunk.handle, handle);
        if (--chunk.inside == 0) drop_chunk(pool, where.index());
    } else {
        LevelLine& line = pool.level(where.index());
        close_up(line.handle, handle);
        --line.inside;
    }
}

// The level of the line `where`.
[[nodiscard]] inline std::uint32_t level_of(const LinePool& pool, LineRef where) noexcept {
    return where.is_chunk() ? pool.chunk(where.index()).level : where.index();
}

// The order table moved an order (order_table.hpp).
inline void rename(LinePool& pool, LineRef where, Handle from, Handle to) noexcept {
    const auto put = [from, to](auto& line) {
        for (std::uint32_t i = 0; i < line.inside; ++i) {
            if (line.handle[i] == from) line.handle[i] = to;
        }
    };
    if (!where.followed()) return;
    if (where.is_chunk()) {
        put(pool.chunk(where.index()));
    } else {
        put(pool.level(where.index()));
    }
}

// f(handle) for the level's orders, first in the queue first, until it returns false.
template <class F>
inline void for_each_in_queue(const LinePool& pool, std::uint32_t level, F&& f) noexcept {
    const LevelLine& line = pool.level(level);
    for (std::uint32_t i = 0; i < line.inside; ++i) {
        if (!f(line.handle[i])) return;
    }
    for (std::uint32_t c = line.first_chunk; c != no_line; c = pool.chunk(c).next) {
        const ChunkLine& chunk = pool.chunk(c);
        for (std::uint32_t i = 0; i < chunk.inside; ++i) {
            if (!f(chunk.handle[i])) return;
        }
    }
}

}  // namespace wirebook::book
