// BookSet::apply(): the loop over packets, events and updates. Part of book_set.hpp; one thread.
#pragma once

#include <cstdint>

#include "wirebook/book/book_set.hpp"
#include "wirebook/book/look_ahead.hpp"
#include "wirebook/book/order_stream.hpp"
#include "wirebook/book/verbs.hpp"

namespace wirebook::book {

template <class Observer>
inline void BookSet::execute(const UpdateBatch& batch, std::uint32_t i, const PacketEnd& end,
                             Observer& observer) noexcept {
    const std::uint64_t id = batch.order_id[i];
    const OrderTable::Found order = orders_.find(id);
    if (order.record == nullptr) [[unlikely]] {
        count_unknown_order(batch, i);
        return;
    }
    const LineRef where = order.record->where;
    if (!where.followed()) [[unlikely]] {
        take_quantity(id, order, batch.quantity[i], batch.exchange_time_ns[i]);
        return;
    }
    const LevelLine& level = lines_.level(level_of(lines_, where));
    Execution execution;
    execution.instrument = level.book_side.instrument();
    execution.side = level.book_side.side();
    execution.printable = (batch.flags[i] & update_flag::printable) != 0;
    execution.has_price = (batch.flags[i] & update_flag::has_price) != 0;
    execution.price = execution.has_price ? batch.price[i] : price_of(execution.side, level.rank);
    execution.quantity = batch.quantity[i];
    execution.order_id = id;
    execution.match_number = batch.new_order_id[i];
    execution.exchange_time_ns = batch.exchange_time_ns[i];
    take_quantity(id, order, batch.quantity[i], batch.exchange_time_ns[i]);
    observer.on_execution(execution, end);
}

template <class Observer>
inline void BookSet::apply_update(const UpdateBatch& batch, std::uint32_t i, const PacketEnd& end,
                                  Observer& observer) noexcept {
    if constexpr (requires { observer.wants_orders(); }) {
        if (is_order_update(batch.kind[i]) && observer.wants_orders()) {
            apply_and_tell(batch, i, end, observer);
            return;
        }
    }
    switch (batch.kind[i]) {
        case UpdateKind::add: add(batch, i); return;
        case UpdateKind::execute: execute(batch, i, end, observer); return;
        case UpdateKind::reduce: reduce(batch, i); return;
        case UpdateKind::remove: remove(batch, i); return;
        case UpdateKind::replace: replace(batch, i); return;
        case UpdateKind::level_set: level_set(batch, i); return;
        case UpdateKind::level_remove: level_remove(batch, i); return;
        case UpdateKind::quote: quote(batch, i); return;
        case UpdateKind::clear_books:
            clear_books();
            observer.on_clear(end);
            return;
        case UpdateKind::new_session:
            new_session();
            observer.on_clear(end);
            return;
        case UpdateKind::name:
        case UpdateKind::trading:
        case UpdateKind::group:
        case UpdateKind::market:
        case UpdateKind::close_event: bookkeeping(batch, i); return;
    }
}

// Lets out, in order of first touch, every touched instrument whose event is closed.
template <class Observer>
inline void BookSet::end_packet(const PacketEnd& end, Observer& observer) noexcept {
    std::uint32_t waiting = 0;
    for (std::uint32_t k = 0; k < touched_count_; ++k) {
        const std::uint32_t instrument = touched_[k];
        BookLine& book = books_[instrument];
        if (book.is(book_flag::event_open)) {
            touched_[waiting++] = instrument;
            continue;
        }
        book.set(book_flag::listed, false);
        if (book.best_line[0] != no_line && book.best_line[1] != no_line) {
            // best bid > best ask, where the ask's rank is the complement of its price
            const bool crossed = book.best_rank[0] > ~book.best_rank[1];
            if (crossed && trades_continuously(instrument)) [[unlikely]]
                ++counters_.crossed;
        }
        observer.on_touched(instrument, end);
    }
    touched_count_ = waiting;
    observer.on_packet_end(end);
}

template <bool LookAhead, class Observer>
inline void BookSet::apply_packets(const UpdateBatch& batch, Observer& observer) noexcept {
    const std::uint32_t updates = batch.updates;
    if constexpr (LookAhead) {
        for (std::uint32_t i = 0; i < look_far_ahead && i < updates; ++i) look_far(batch, i);
        for (std::uint32_t i = 0; i < look_nearer_ahead && i < updates; ++i) look_nearer(batch, i);
        for (std::uint32_t i = 0; i < look_near_ahead && i < updates; ++i) look_near(batch, i);
    }
    std::uint32_t update = 0;
    std::uint32_t event = 0;
    const std::uint32_t packets = batch.packets + std::uint32_t{batch.tail_open};
    for (std::uint32_t p = 0; p < packets; ++p) {
        const PacketEnd& end = batch.packet[p];
        const bool whole = p < batch.packets;
        const std::uint32_t updates_end = whole ? end.updates_end : updates;
        const std::uint32_t events_end = whole ? end.events_end : batch.events;
        for (; update < updates_end; ++update) {
            if constexpr (LookAhead) {
                const std::uint32_t far = update + look_far_ahead;
                if (far < updates) [[likely]]
                    look_far(batch, far);
                const std::uint32_t nearer = update + look_nearer_ahead;
                if (nearer < updates) [[likely]]
                    look_nearer(batch, nearer);
                const std::uint32_t near = update + look_near_ahead;
                if (near < updates) [[likely]]
                    look_near(batch, near);
            }
            for (; event < events_end && batch.event[event].place <= update; ++event) {
                observer.on_event(batch.event[event], end);
            }
            apply_update(batch, update, end, observer);
        }
        for (; event < events_end; ++event) observer.on_event(batch.event[event], end);
        if (whole) end_packet(end, observer);
    }
}

template <class Observer>
inline void BookSet::apply(const UpdateBatch& batch, Observer& observer) noexcept {
    WIREBOOK_CHECK(batch.packets + std::uint32_t{batch.tail_open} <= UpdateBatch::packet_capacity);
    if (orders_.maintenance_due()) orders_.maintain(lines_);
    if (look_ahead_ && batch.updates > 1) {
        apply_packets<true>(batch, observer);
    } else {
        apply_packets<false>(batch, observer);
    }
}

}  // namespace wirebook::book
