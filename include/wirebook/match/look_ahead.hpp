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

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wirebook/match/engine.hpp"

namespace wirebook::match {

inline Engine::Hashes Engine::look_far(const Request& request) const noexcept {
    Hashes hashes;  // NOLINT(cppcoreguidelines-pro-type-member-init): price is for orders to enter
    hashes.id = books_.id_hash(request.order_id);
    books_.prefetch_id(hashes.id);
    if (request.kind == RequestKind::enter) {
        hashes.price =
            books_.level_hash(key_of(request.instrument, OrderBook::displayed, request.side),
                              book::rank_of(request.side, request.price));
        books_.prefetch_book(request.instrument);
        books_.prefetch_price(hashes.price);
    } else if (request.kind == RequestKind::replace) [[unlikely]] {
        books_.prefetch_id(books_.id_hash(request.new_order_id));
    }
    return hashes;
}

inline void Engine::look_nearer(const Request& request, Ahead& ahead) const noexcept {
    ahead.meets = no_index;
    if (request.kind != RequestKind::enter) {
        ahead.index = books_.guess_order(ahead.hashes.id);
        books_.prefetch_order(ahead.index);
        return;
    }
    ahead.index = books_.guess_level(ahead.hashes.price);
    books_.prefetch_level(ahead.index);
    if (request.instrument >= books_.instruments() || request.side > Side::ask) [[unlikely]]
        return;
    const Book& book = books_.book(request.instrument);
    const Side other = opposite(request.side);
    if (book.best_rank[as_index(other)] >= book::rank_of(other, request.price)) [[unlikely]] {
        ahead.meets = book.best_level[as_index(other)];
        books_.prefetch_level(ahead.meets);
    }
    if (ahead.index == no_index) {
        books_.prefetch_tree(key_of(request.instrument, OrderBook::displayed, request.side));
    }
}

inline void Engine::look_near(const Request& request, const Ahead& ahead) const noexcept {
    if (request.kind == RequestKind::enter) {
        books_.prefetch_order(books_.level(ahead.index).tail);
        if (ahead.meets != no_index) [[unlikely]]
            books_.prefetch_order(books_.level(ahead.meets).head);
        return;
    }
    const Order& order = books_.order(ahead.index);
    books_.prefetch_level(order.level);
    books_.prefetch_order(order.previous);
    books_.prefetch_order(order.next);
    if (request.kind == RequestKind::replace) [[unlikely]] {
        books_.prefetch_price(books_.level_hash(key_of(order.instrument, order.book, order.side),
                                                book::rank_of(order.side, request.price)));
    }
}

// In groups: while one is applied, the next three are looked at, one kind of look each.
template <class Sink>
inline void Engine::apply(std::span<const Request> requests, Sink& sink) noexcept {
    constexpr std::size_t group = 8;
    constexpr std::size_t groups = 4;
    std::array<Ahead, group * groups> ahead;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    const std::size_t count = requests.size();
    // f(request, ahead) for each request of group `g`, if there are any.
    const auto for_group = [&](std::size_t g, auto&& f) {
        const std::size_t first = g * group;
        if (first >= count) return;
        const std::size_t size = std::min(group, count - first);
        const Request* const request = requests.data() + first;
        Ahead* const looked = &ahead[g % groups * group];
        for (std::size_t i = 0; i < size; ++i) f(request[i], looked[i]);
    };
    const auto far = [&](const Request& r, Ahead& a) { a.hashes = look_far(r); };
    const auto nearer = [&](const Request& r, Ahead& a) { look_nearer(r, a); };
    const auto near = [&](const Request& r, Ahead& a) { look_near(r, a); };
    for_group(0, far);
    for_group(1, far);
    for_group(0, nearer);
    for_group(2, far);
    for_group(1, nearer);
    for_group(0, near);
    for (std::size_t g = 0; g * group < count; ++g) {
        for_group(g + 3, far);
        for_group(g + 2, nearer);
        for_group(g + 1, near);
        for_group(g, [&](const Request& r, Ahead& a) { apply_hashed(r, a.hashes, sink); });
    }
}

}  // namespace wirebook::match
