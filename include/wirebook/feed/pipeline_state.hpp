// What changes the state of a whole channel: holes, sessions, links, lists of symbols. The second
// part of pipeline.hpp, which includes it.
#pragma once

#include <cstdint>
#include <utility>
#include <variant>

#include "wirebook/feed/pipeline.hpp"

namespace wirebook::feed {

template <class Observer>
void Pipeline<Observer>::on_gap(Channel& channel, std::uint64_t first, std::uint64_t end) noexcept {
    begin(channel);
    flush();
    observer_.on_gap(channel, first, end, next_number_);
    if (channel.quality_ < Quality::stale) {
        channel.quality_ = Quality::stale;
        observer_.on_quality(channel, next_number_);
    }
    if (channel.traits().clears_after_gap) {
        batch_.tail_open = true;
        channel.out_.everything(book::UpdateKind::clear_books);
    }
}

template <class Observer>
void Pipeline<Observer>::on_session(Channel& channel, const wire::SessionKey& key,
                                    std::uint64_t sequence, bool first) noexcept {
    begin(channel);
    flush();
    observer_.on_session(channel, key, sequence, first, next_number_);
    const Quality before = channel.quality_;
    channel.quality_ = sequence <= 1 || channel.traits().heals ? Quality::good : Quality::not_ready;
    if (channel.quality_ != before || first) observer_.on_quality(channel, next_number_);
    if (first) return;
    std::visit([](auto& handler) { handler.new_session(); }, channel.handler_);
    batch_.tail_open = true;
    channel.out_.everything(book::UpdateKind::new_session);
}

template <class Observer>
void Pipeline<Observer>::set_offline(std::size_t channel, bool offline) noexcept {
    Channel& changed = *map_.channels()[channel];
    begin(changed);
    flush();
    const Quality before = changed.quality();
    changed.offline_ = offline;
    if (changed.quality() != before) observer_.on_offline(changed, next_number_);
}

template <class Observer>
void Pipeline<Observer>::change_symbols(std::size_t channel, SymbolFilter& filter) noexcept {
    Channel& changed = *map_.channels()[channel];
    begin(changed);
    flush();
    std::swap(changed.options_.filter, filter);
    book::BookSet& books = changed.books_;
    for (std::uint32_t i = 0; i < books.instruments_end(); ++i) {
        if (!books.named(i)) continue;
        const bool follow = changed.options_.filter.follows(books.symbol(i));
        if (books.followed(i) && !follow) observer_.on_unfollowed(changed, i);
        books.set_followed(i, follow);
    }
}

}  // namespace wirebook::feed
