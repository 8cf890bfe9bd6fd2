// BookSet's look-ahead: asks for the cache lines that updates further on in the batch will touch.
// Part of book_set.hpp; one thread.
//
// An update is looked at three times before it is applied, some updates apart, so that the line
// that one look asked for has come when the next reads it:
//   far     what follows from the update alone: order record, bucket of the price, book line
//   nearer  order record -> its line; bucket -> the level's line, or the tree that gets a new level
//   near    chunk line -> its level; level -> the last chunk; an order in the hash -> its line;
//           a level that is about to empty -> its bucket and tree
// Looking changes nothing, and what it sees may be stale by the time the update is applied: all is
// read again then. Distances tie from 4 to 12; batches end the pipeline, packets do not.
#pragma once

#include <cstdint>

#include "wirebook/book/book_set.hpp"

namespace wirebook::book {

inline void BookSet::look_far(const UpdateBatch& batch, std::uint32_t i) const noexcept {
    const std::uint32_t instrument = batch.instrument[i];
    if (instrument < books_.size()) prefetch(&books_[instrument]);
    switch (batch.kind[i]) {
        case UpdateKind::add: orders_.prefetch_order(batch.order_id[i]); [[fallthrough]];
        case UpdateKind::level_set:
        case UpdateKind::level_remove: {
            const Side side = batch.side[i];
            map_.prefetch_bucket(map_.hash({instrument, side}, rank_of(side, batch.price[i])));
            break;
        }
        case UpdateKind::replace: orders_.prefetch_order(batch.new_order_id[i]); [[fallthrough]];
        case UpdateKind::execute:
        case UpdateKind::reduce:
        case UpdateKind::remove: orders_.prefetch_order(batch.order_id[i]); break;
        default: break;
    }
}

inline void BookSet::look_nearer(const UpdateBatch& batch, std::uint32_t i) const noexcept {
    switch (batch.kind[i]) {
        case UpdateKind::add:
        case UpdateKind::level_set:
        case UpdateKind::level_remove: {
            const std::uint32_t instrument = batch.instrument[i];
            const Side side = batch.side[i];
            const std::uint64_t hash = map_.hash({instrument, side}, rank_of(side, batch.price[i]));
            const std::uint32_t line = map_.guess(hash);
            if (line != no_line) {
                lines_.prefetch_line(line);
            } else if (instrument < books_.size()) {
                trees_.prefetch_root(books_[instrument].levels[index_of(side)]);
            }
            break;
        }
        case UpdateKind::replace:
        case UpdateKind::execute:
        case UpdateKind::reduce:
        case UpdateKind::remove: {
            const LineRef where = orders_.guess(batch.order_id[i]);
            if (!where.live()) break;
            lines_.prefetch_line(where.index());
            if (batch.kind[i] == UpdateKind::replace) {
                const Side side = where.side();
                map_.prefetch_bucket(
                    map_.hash({batch.instrument[i], side}, rank_of(side, batch.price[i])));
            }
            break;
        }
        default: break;
    }
}

// What taking an order out of this level will need, or putting one into it.
inline void BookSet::look_at_level(std::uint32_t line) const noexcept {
    const LevelLine& level = lines_.level(line);
    if (level.last_chunk != no_line) lines_.prefetch_line(level.last_chunk);
}

inline void BookSet::look_near(const UpdateBatch& batch, std::uint32_t i) const noexcept {
    switch (batch.kind[i]) {
        case UpdateKind::add: {
            const Side side = batch.side[i];
            const std::uint32_t line =
                map_.guess(map_.hash({batch.instrument[i], side}, rank_of(side, batch.price[i])));
            if (line != no_line) look_at_level(line);
            break;
        }
        case UpdateKind::replace:
        case UpdateKind::execute:
        case UpdateKind::reduce:
        case UpdateKind::remove: {
            const std::uint64_t id = batch.order_id[i];
            const bool hashed = orders_.hashed(id);
            const LineRef where = hashed ? orders_.guess_node(id) : orders_.guess(id);
            if (!where.live()) break;
            if (hashed) {
                lines_.prefetch_line(where.index());
                break;
            }
            if (where.is_chunk()) {
                lines_.prefetch_line(lines_.chunk(where.index()).level);
                break;
            }
            const LevelLine& level = lines_.level(where.index());
            if (level.orders == 1) {
                map_.prefetch_bucket(map_.hash(level.book_side, level.rank));
                const std::uint32_t instrument = level.book_side.instrument();
                trees_.prefetch_root(books_[instrument].levels[index_of(level.book_side.side())]);
            }
            if (batch.kind[i] == UpdateKind::replace) {
                const Side side = where.side();
                const std::uint32_t line = map_.guess(
                    map_.hash({batch.instrument[i], side}, rank_of(side, batch.price[i])));
                if (line != no_line) lines_.prefetch_line(line);
            }
            break;
        }
        default: break;
    }
}

}  // namespace wirebook::book
