// What a book set reports of a batch, handed to the pipeline's observer with the channel added.
//
// May depend on core, wire and book. Made for one BookSet::apply(); one thread.
#pragma once

#include <cstdint>

#include "wirebook/book/update_batch.hpp"
#include "wirebook/feed/channel.hpp"

namespace wirebook::feed {

template <class Observer>
struct BookObserver {
    const Channel& channel;
    Observer& observer;

    void on_event(const book::Event& event, const book::PacketEnd& end) noexcept {
        observer.on_event(channel, event, end);
    }
    void on_execution(const book::Execution& execution, const book::PacketEnd& end) noexcept {
        observer.on_execution(channel, execution, end);
    }
    void on_touched(std::uint32_t instrument, const book::PacketEnd& end) noexcept {
        observer.on_touched(channel, instrument, end);
    }
    [[nodiscard]] bool wants_orders() const noexcept requires requires(const Observer& asked) {
        asked.wants_orders();
    }
    { return observer.wants_orders(); }
    void on_order(const book::OrderChange& change, const book::PacketEnd& end) noexcept {
        observer.on_order(channel, change, end);
    }
    void on_clear(const book::PacketEnd&) noexcept {}  // on_gap, on_session have said it
    void on_packet_end(const book::PacketEnd& end) noexcept {
        observer.on_packet_end(channel, end);
    }
};

}  // namespace wirebook::feed
