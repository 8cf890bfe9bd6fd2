#include "wirebook/app/observer.hpp"

namespace wirebook::app {

void Observer::on_session(const feed::Channel& channel, const wire::SessionKey& key,
                          std::uint64_t sequence, bool first, std::uint64_t packet) noexcept {
    if (events) events->session(channel, key, sequence, packet);
    if (fingerprint) {
        fingerprint->add_text({key.data(), key.size()});
        fingerprint->add(sequence);
    }
    dates.new_session(channel);
    if (!publisher) return;
    if (!first) publisher->cleared(channel.index(), true);
    publisher->session(channel.index(), key, sequence);
}

void Observer::on_gap(const feed::Channel& channel, std::uint64_t first, std::uint64_t end,
                      std::uint64_t packet) noexcept {
    const GapCause cause = losses != nullptr ? losses->cause(channel) : GapCause{};
    gap_causes.add(cause);
    if (events) events->gap(channel, first, end, packet, cause.text());
    if (fingerprint) {
        fingerprint->add(first);
        fingerprint->add(end);
    }
    if (!publisher) return;
    publisher->gap(channel.index(), first, end, channel.lines());
    if (channel.traits().clears_after_gap) publisher->cleared(channel.index(), false);
}

void Observer::on_quality(const feed::Channel& channel, std::uint64_t packet) noexcept {
    if (events) events->quality(channel, packet);
    if (fingerprint) fingerprint->add(static_cast<std::uint64_t>(channel.feed_quality()));
    if (publisher) {
        publisher->quality(channel.index(), static_cast<ring::Quality>(channel.quality()));
    }
}

// Links are this machine's own matter: no part of the fingerprint.
void Observer::on_offline(const feed::Channel& channel, std::uint64_t packet) noexcept {
    if (events) events->quality(channel, packet, " cause=link");
    if (publisher) {
        publisher->quality(channel.index(), static_cast<ring::Quality>(channel.quality()));
    }
}

void Observer::publish_event(const feed::Channel& channel, const book::Event& event,
                             const book::PacketEnd& end) noexcept {
    set_date(channel, end);
    publisher->event(channel.books(), event, end);
}

void Observer::hash(const book::BookSet& books, const book::Event& event) noexcept {
    Fingerprint& hash = *fingerprint;
    hash.add(static_cast<std::uint64_t>(event.kind) << 24 |
             std::uint64_t{static_cast<unsigned char>(event.code)} << 16 |
             std::uint64_t{static_cast<unsigned char>(event.value)} << 8 | event.flags);
    if (event.instrument < books.instruments_end()) hash.add_text(books.symbol(event.instrument));
    hash.add_text({event.text.data(), event.text.size()});
    hash.add_signed(event.price);
    hash.add_signed(event.price2);
    hash.add_signed(event.price3);
    hash.add(event.quantity);
    hash.add(event.quantity2);
    hash.add(event.id);
}

void Observer::hash(const book::BookSet& books, const book::Execution& execution) noexcept {
    Fingerprint& hash = *fingerprint;
    hash.add_text(books.symbol(execution.instrument));
    hash.add_signed(execution.price);
    hash.add(execution.quantity);
    hash.add(execution.match_number);
    hash.add((execution.printable ? 2U : 0U) | (execution.side == book::Side::ask ? 1U : 0U));
}

void Observer::hash(const book::BookSet& books, std::uint32_t instrument) noexcept {
    constexpr std::size_t depth = 5;
    Fingerprint& hash = *fingerprint;
    hash.add_text(books.symbol(instrument));
    for (const book::Side side : {book::Side::bid, book::Side::ask}) {
        std::array<book::LevelView, depth> levels;
        const std::size_t count = books.depth(instrument, side, levels);
        hash.add(count);
        for (std::size_t i = 0; i < count; ++i) {
            hash.add_signed(levels[i].price);
            hash.add(levels[i].quantity);
            hash.add(levels[i].orders);
        }
    }
}

}  // namespace wirebook::app
