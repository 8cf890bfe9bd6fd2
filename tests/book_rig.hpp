// A small BookSet with its arena, and one-line updates, for the book tests.
#pragma once

#include <catch2/catch.hpp>

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "wirebook/book/book_set.hpp"
#include "wirebook/core/arena.hpp"

namespace wirebook::book {

inline BookSetOptions small_options() {
    return {.instruments = 8, .live_orders = 10'000, .levels = 1'000, .order_pages = 1};
}

class BookRig {
public:
    explicit BookRig(const BookSetOptions& options = small_options())
        : arena_(std::move(
              Arena::create({.bytes = BookSet::bytes_needed(options), .hugetlb = false}).value())),
          books(std::move(BookSet::create(arena_, options).value())) {}

private:
    Arena arena_;

public:
    BookSet books;
    std::vector<std::string> heard;  // "touched 3", "execution 0 B 100 x5", "clear", "event 7"

    // What the observer has to say.
    void on_event(const Event& event, const PacketEnd&) noexcept {
        heard.push_back("event " + std::to_string(event.id));
    }
    void on_execution(const Execution& x, const PacketEnd&) noexcept {
        heard.push_back("execution " + std::to_string(x.instrument) +
                        (x.side == Side::bid ? " B " : " S ") + std::to_string(x.price) + " x" +
                        std::to_string(x.quantity) + (x.printable ? " printable" : "") +
                        (x.has_price ? " priced" : ""));
    }
    void on_clear(const PacketEnd&) noexcept { heard.emplace_back("clear"); }
    void on_touched(std::uint32_t instrument, const PacketEnd&) noexcept {
        heard.push_back("touched " + std::to_string(instrument));
    }
    void on_packet_end(const PacketEnd&) noexcept {}

    // Updates collect in one packet until packet_end(); apply() ends the packet and the batch.
    std::uint32_t push(UpdateKind kind, std::uint32_t instrument = 0) {
        UpdateBatch& b = *batch_;
        const std::uint32_t u = b.updates++;
        b.kind[u] = kind;
        b.side[u] = Side::bid;
        b.flags[u] = 0;
        b.instrument[u] = instrument;
        b.order_id[u] = b.new_order_id[u] = 0;
        b.price[u] = 0;
        b.quantity[u] = 0;
        b.exchange_time_ns[u] = ++time_;
        return u;
    }
    BookRig& add(std::uint32_t instrument, Side side, std::uint64_t id, std::int64_t price,
                 std::uint64_t quantity, std::uint8_t flags = 0) {
        const std::uint32_t u = push(UpdateKind::add, instrument);
        set(u, side, price, quantity, flags);
        batch_->order_id[u] = id;
        return *this;
    }
    BookRig& order(UpdateKind kind, std::uint64_t id, std::uint64_t quantity = 0,
                   std::uint8_t flags = 0, std::int64_t price = 0) {
        const std::uint32_t u = push(kind);
        set(u, Side::bid, price, quantity, flags);
        batch_->order_id[u] = id;
        return *this;
    }
    BookRig& replace(std::uint64_t id, std::uint64_t new_id, std::int64_t price,
                     std::uint64_t quantity) {
        const std::uint32_t u = push(UpdateKind::replace);
        set(u, Side::bid, price, quantity, 0);
        batch_->order_id[u] = id;
        batch_->new_order_id[u] = new_id;
        return *this;
    }
    BookRig& level(UpdateKind kind, std::uint32_t instrument, Side side, std::int64_t price,
                   std::uint64_t quantity, bool open = false) {
        set(push(kind, instrument), side, price, quantity, open ? update_flag::event_open : 0);
        return *this;
    }
    BookRig& quote(std::uint32_t instrument, std::int64_t bid, std::uint64_t bid_quantity,
                   std::int64_t ask, std::uint64_t ask_quantity) {
        const std::uint32_t u = push(UpdateKind::quote, instrument);
        set(u, Side::bid, bid, bid_quantity, 0);
        batch_->order_id[u] = static_cast<std::uint64_t>(ask);
        batch_->new_order_id[u] = ask_quantity;
        return *this;
    }
    BookRig& name(std::uint32_t instrument, std::string_view symbol, bool follow = true) {
        const std::uint32_t u = push(UpdateKind::name, instrument);
        std::array<char, 16> text{};
        const std::size_t size = symbol.copy(text.data(), text.size());
        batch_->price[u] = static_cast<std::int64_t>(size);
        std::memcpy(&batch_->order_id[u], text.data(), 8);
        std::memcpy(&batch_->new_order_id[u], text.data() + 8, 8);
        batch_->quantity[u] = 4;
        batch_->flags[u] = follow ? 0 : update_flag::not_followed;
        return *this;
    }
    // trading, group, market, close_event, clear_books, new_session
    BookRig& tell(UpdateKind kind, std::uint32_t instrument = 0, std::uint64_t quantity = 0,
                  std::int64_t price = 0, std::uint8_t flags = 0) {
        set(push(kind, instrument), Side::bid, price, quantity, flags);
        return *this;
    }
    BookRig& event(std::uint64_t id) {
        batch_->event[batch_->events] = Event{};
        batch_->event[batch_->events].id = id;
        batch_->event[batch_->events++].place = batch_->updates;
        return *this;
    }
    BookRig& packet_end() {
        PacketEnd& end = batch_->packet[batch_->packets++];
        end = PacketEnd{};
        end.updates_end = batch_->updates;
        end.events_end = batch_->events;
        return *this;
    }
    BookRig& apply() { return packet_end().apply_batch(); }
    BookRig& apply_batch() {
        books.apply(*batch_, *this);
        batch_->clear();
        books.check();
        return *this;
    }
    BookRig& apply_open() {
        batch_->packet[batch_->packets] = PacketEnd{};
        batch_->tail_open = true;
        return apply_batch();
    }

    // "100x7/2 99x1/1": price, quantity, orders; best first.
    [[nodiscard]] std::string side(std::uint32_t instrument, Side side) const {
        std::string out;
        books.for_each_level(instrument, side, [&](const LevelView& level) {
            out += (out.empty() ? "" : " ") + std::to_string(level.price) + "x" +
                   std::to_string(level.quantity) + "/" + std::to_string(level.orders);
        });
        return out;
    }
    [[nodiscard]] std::string bids(std::uint32_t i = 0) const { return side(i, Side::bid); }
    [[nodiscard]] std::string asks(std::uint32_t i = 0) const { return side(i, Side::ask); }
    [[nodiscard]] UpdateBatch& batch() { return *batch_; }
    std::vector<std::string> take_heard() { return std::exchange(heard, {}); }

private:
    void set(std::uint32_t u, Side side, std::int64_t price, std::uint64_t quantity,
             std::uint8_t flags) {
        batch_->side[u] = side;
        batch_->price[u] = price;
        batch_->quantity[u] = quantity;
        batch_->flags[u] = flags;
    }

    std::unique_ptr<UpdateBatch> batch_ = std::make_unique<UpdateBatch>();
    std::int64_t time_ = 0;
};

}  // namespace wirebook::book
