// BookSet's order-level stream: each change of a followed order as it was made, with its place in
// the queue of its price. Part of book_set.hpp; one thread.
//
// Asked for by the observer (wants_orders()), and dear: the order is looked up before and after the
// change, and its queue is walked. Nobody who does not ask pays for it. Changes that no update of
// an order makes are not told: clear_books, new_session and an instrument that is followed no more
// take orders out without a word each.
#pragma once

#include <cstdint>
#include <optional>

#include "wirebook/book/book_set.hpp"

namespace wirebook::book {

// The order before the change, its place, and the update's own fields.
inline OrderChange BookSet::change_before(const UpdateBatch& batch, std::uint32_t i) noexcept {
    OrderChange change;
    change.order_id = batch.order_id[i];
    change.exchange_time_ns = batch.exchange_time_ns[i];
    const std::optional<OrderView> before = order(change.order_id);
    if (!before) return change;
    change.instrument = before->instrument;
    change.side = before->side;
    change.price = before->price;
    change.quantity = before->quantity;
    change.position = queue_position(change.order_id).value_or(QueuePosition{});
    return change;
}

// The order that an add or a replacement has put in. False: it was refused.
inline bool BookSet::describe_new(OrderChange& change, std::uint64_t id) noexcept {
    const std::optional<OrderView> now = order(id);
    if (!now) return false;
    change.instrument = now->instrument;
    change.side = now->side;
    change.price = now->price;
    change.quantity = now->quantity;
    change.left = now->quantity;
    change.position = queue_position(id).value_or(QueuePosition{});
    return true;
}

// What became of the order that an update of another kind than add was about. False: nothing.
inline bool BookSet::change_after(OrderChange& change, const UpdateBatch& batch, std::uint32_t i,
                                  bool new_id_free) noexcept {
    if (change.instrument == no_instrument) return false;
    change.kind = batch.kind[i];
    if (change.kind == UpdateKind::replace) {
        change.other_id = batch.new_order_id[i];
        if (new_id_free && describe_new(change, change.other_id)) return true;
        change.kind = UpdateKind::remove;  // the original went, the replacement was refused
        change.other_id = 0;
        return true;
    }
    if (change.kind == UpdateKind::execute) {
        change.other_id = batch.new_order_id[i];
        change.printable = (batch.flags[i] & update_flag::printable) != 0;
        if ((batch.flags[i] & update_flag::has_price) != 0) change.price = batch.price[i];
    }
    const std::optional<OrderView> now = order(change.order_id);
    change.left = now ? now->quantity : 0;
    change.quantity -= change.left;
    return change.quantity != 0;
}

template <class Observer>
[[gnu::noinline]] void BookSet::apply_and_tell(const UpdateBatch& batch, std::uint32_t i,
                                               const PacketEnd& end, Observer& observer) noexcept {
    OrderChange change = change_before(batch, i);
    const bool was_live = change.instrument != no_instrument;
    const std::uint64_t new_id = batch.new_order_id[i];
    const bool new_id_free = new_id == change.order_id || orders_.find(new_id).record == nullptr;
    switch (batch.kind[i]) {
        case UpdateKind::add: add(batch, i); break;
        case UpdateKind::execute: execute(batch, i, end, observer); break;
        case UpdateKind::reduce: reduce(batch, i); break;
        case UpdateKind::remove: remove(batch, i); break;
        default: replace(batch, i); break;
    }
    if (batch.kind[i] == UpdateKind::add) {
        change.kind = UpdateKind::add;
        if (!was_live && describe_new(change, change.order_id)) observer.on_order(change, end);
    } else if (change_after(change, batch, i, new_id_free)) {
        observer.on_order(change, end);
    }
}

}  // namespace wirebook::book
