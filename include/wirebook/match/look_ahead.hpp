// Engine's look-ahead: asks for the cache lines that requests further on will touch. Part of
// engine.hpp; one thread.
//
// A request is looked at three times before it is applied, some requests apart, so that the line
// that one look asked for has come when the next reads it:
//   far     what follows from the request alone: the book, the buckets of id and price
//   nearer  id -> the order; price -> its level, or the tree that gets a new one; the best level
//           that a marketable order meets
//   near    order -> its level and its neighbours; level -> its tail; best level -> its first order
// Looking changes nothing, and what it sees may be stale by the time the request is applied: all is
// read again then.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wirebook/match/engine.hpp"

namespace wirebook::match {

inline void Engine::look_far(const Request& request, Ahead& ahead) const noexcept {
    switch (request.kind) {
        case RequestKind::enter:
            books_.prefetch_book(request.instrument);
            ahead.id_hash = books_.id_hash(request.order_id);
            ahead.price_hash =
                books_.level_hash(key_of(request.instrument, OrderBook::displayed, request.side),
                                  book::rank_of(request.side, request.price));
            books_.prefetch_id(ahead.id_hash);
            books_.prefetch_price(ahead.price_hash);
            return;
        case RequestKind::replace:
            books_.prefetch_id(books_.id_hash(request.new_order_id));
            [[fallthrough]];
        case RequestKind::cancel:
        case RequestKind::reduce:
            ahead.id_hash = books_.id_hash(request.order_id);
            books_.prefetch_id(ahead.id_hash);
            return;
        default: books_.prefetch_book(request.instrument); return;
    }
}

inline void Engine::look_nearer(const Request& request, Ahead& ahead) const noexcept {
    switch (request.kind) {
        case RequestKind::enter: {
            ahead.index = no_index;
            if (request.instrument >= books_.instruments() || request.side > Side::ask) return;
            const Book& book = books_.book(request.instrument);
            const Side other = opposite(request.side);
            if (book.best_rank[as_index(other)] >= book::rank_of(other, request.price)) {
                books_.prefetch_level(book.best_level[as_index(other)]);
            }
            if (request.time_in_force == TimeInForce::immediate_or_cancel) return;
            ahead.index = books_.guess_level(ahead.price_hash);
            if (ahead.index != no_index) {
                books_.prefetch_level(ahead.index);
            } else {
                books_.prefetch_tree(
                    key_of(request.instrument, OrderBook::displayed, request.side));
            }
            return;
        }
        case RequestKind::cancel:
        case RequestKind::reduce:
        case RequestKind::replace:
            ahead.index = books_.guess_order(ahead.id_hash);
            books_.prefetch_order(ahead.index);
            return;
        default: return;
    }
}

inline void Engine::look_near(const Request& request, const Ahead& ahead) const noexcept {
    switch (request.kind) {
        case RequestKind::enter: {
            if (request.instrument >= books_.instruments() || request.side > Side::ask) return;
            const Book& book = books_.book(request.instrument);
            const Side other = opposite(request.side);
            if (book.best_rank[as_index(other)] >= book::rank_of(other, request.price)) {
                books_.prefetch_order(books_.level(book.best_level[as_index(other)]).head);
            }
            books_.prefetch_order(books_.level(ahead.index).tail);
            return;
        }
        case RequestKind::cancel:
        case RequestKind::reduce:
        case RequestKind::replace: {
            const Order& order = books_.order(ahead.index);
            books_.prefetch_level(order.level);
            books_.prefetch_order(order.previous);
            books_.prefetch_order(order.next);
            if (request.kind != RequestKind::replace) return;
            books_.prefetch_price(
                books_.level_hash(key_of(order.instrument, order.book, order.side),
                                  book::rank_of(order.side, request.price)));
            return;
        }
        default: return;
    }
}

template <class Sink>
inline void Engine::apply(std::span<const Request> requests, Sink& sink) noexcept {
    constexpr std::size_t near = 4;
    constexpr std::size_t nearer = 8;
    constexpr std::size_t far = 12;
    constexpr std::size_t kept = 16;  // a power of two above `far`
    std::array<Ahead, kept> ahead;    // NOLINT(cppcoreguidelines-pro-type-member-init): by look_far
    const std::size_t count = requests.size();
    // Starts before the first request, so that those at the front are looked at as well.
    for (std::size_t i = 0; i < count + far; ++i) {
        if (i < count) look_far(requests[i], ahead[i % kept]);
        const std::size_t next = i - (far - nearer);
        if (next < count) look_nearer(requests[next], ahead[next % kept]);
        const std::size_t soon = i - (far - near);
        if (soon < count) look_near(requests[soon], ahead[soon % kept]);
        if (i >= far) apply(requests[i - far], sink);
    }
}

}  // namespace wirebook::match
