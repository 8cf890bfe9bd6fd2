// An observer of feed::Pipeline that does nothing: a program that embeds the pipeline derives from
// it and declares the calls that it wants; they hide these. No virtual call: the pipeline is a
// template over its observer. All calls come from the thread that calls the pipeline, between
// on_packet() and the end of flush() or finish().
// May depend on core, wire and book.
#pragma once

#include <cstdint>

#include "wirebook/book/book_set.hpp"
#include "wirebook/feed/channel.hpp"

namespace wirebook::feed {

class IgnoreAll {
public:
    // True: on_message is called for each new message, with its bytes.
    [[nodiscard]] bool wants_messages() const noexcept { return false; }
    void on_message(const Channel&, std::uint64_t /*sequence*/, wire::Bytes) noexcept {}

    // A channel was opened, before its first packet.
    void on_channel(const Channel&) noexcept {}
    // A trade that touches no displayed order, a break, a status, an auction, a directory entry ...
    void on_event(const Channel&, const book::Event&, const book::PacketEnd&) noexcept {}
    // An order in the book was executed; it is in the book no longer, or with less.
    void on_execution(const Channel&, const book::Execution&, const book::PacketEnd&) noexcept {}
    // True: on_order is called for each change of an order, with its place in the queue.
    [[nodiscard]] bool wants_orders() const noexcept { return false; }
    // Of an execution: after its on_execution.
    void on_order(const Channel&, const book::OrderChange&, const book::PacketEnd&) noexcept {}
    // The book of `instrument` was touched by this packet and its event is not open: ask
    // channel.books() now. Also when nothing visible changed.
    void on_touched(const Channel&, std::uint32_t /*instrument*/, const book::PacketEnd&) noexcept {
    }
    void on_packet_end(const Channel&, const book::PacketEnd&) noexcept {}
    // A session was adopted; not the first one: everything of the one before is forgotten.
    // `packet`: the number that the next packet will have, here and below.
    void on_session(const Channel&, const wire::SessionKey&, std::uint64_t /*sequence*/,
                    bool /*first*/, std::uint64_t /*packet*/) noexcept {}
    // Sequence numbers first .. end - 1 are lost.
    void on_gap(const Channel&, std::uint64_t /*first*/, std::uint64_t /*end*/,
                std::uint64_t /*packet*/) noexcept {}
    // channel.quality() has changed.
    void on_quality(const Channel&, std::uint64_t /*packet*/) noexcept {}
};

}  // namespace wirebook::feed
