// Appends updates and events to a batch: one line a message in the handlers.
//
// The pipeline leaves room for `room_updates` and `room_events` before each message, so nothing
// here checks for space; a message makes no more than that. May depend on core and book.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "wirebook/book/update_batch.hpp"

namespace wirebook::feed {

class BatchWriter {
public:
    static constexpr std::uint32_t room_updates = 4;
    static constexpr std::uint32_t room_events = 2;

    explicit BatchWriter(book::UpdateBatch& batch) noexcept : batch_(batch) {}

    [[nodiscard]] bool has_room() const noexcept {
        return batch_.updates + room_updates <= book::UpdateBatch::capacity &&
               batch_.events + room_events <= book::UpdateBatch::event_capacity;
    }
    // One parameter a column, in the order of the columns.
    // NOLINTBEGIN(readability-function-size)
    void add(std::uint32_t instrument, std::uint64_t order_id, char side, std::int64_t price,
             std::uint64_t quantity, std::int64_t time_ns) noexcept {
        const std::uint32_t at = row(book::UpdateKind::add, instrument, time_ns);
        batch_.side[at] = side == 'B' ? book::Side::bid : book::Side::ask;
        batch_.flags[at] =
            side == 'B' || side == 'S' ? std::uint8_t{0} : book::update_flag::bad_side;
        batch_.order_id[at] = order_id;
        batch_.price[at] = price;
        batch_.quantity[at] = quantity;
    }
    void execute(std::uint32_t instrument, std::uint64_t order_id, std::uint64_t quantity,
                 std::uint64_t match_number, std::uint8_t flags, std::int64_t price,
                 std::int64_t time_ns) noexcept {
        const std::uint32_t at = row(book::UpdateKind::execute, instrument, time_ns);
        batch_.flags[at] = flags;
        batch_.order_id[at] = order_id;
        batch_.new_order_id[at] = match_number;
        batch_.price[at] = price;
        batch_.quantity[at] = quantity;
    }
    void reduce(std::uint32_t instrument, std::uint64_t order_id, std::uint64_t quantity,
                std::int64_t time_ns) noexcept {
        const std::uint32_t at = row(book::UpdateKind::reduce, instrument, time_ns);
        batch_.order_id[at] = order_id;
        batch_.quantity[at] = quantity;
    }
    void remove(std::uint32_t instrument, std::uint64_t order_id, std::int64_t time_ns) noexcept {
        batch_.order_id[row(book::UpdateKind::remove, instrument, time_ns)] = order_id;
    }
    void replace(std::uint32_t instrument, std::uint64_t order_id, std::uint64_t new_order_id,
                 std::int64_t price, std::uint64_t quantity, std::int64_t time_ns) noexcept {
        const std::uint32_t at = row(book::UpdateKind::replace, instrument, time_ns);
        batch_.order_id[at] = order_id;
        batch_.new_order_id[at] = new_order_id;
        batch_.price[at] = price;
        batch_.quantity[at] = quantity;
    }
    // Size 0 removes the level. `open`: the instrument's event goes on.
    void level(std::uint32_t instrument, book::Side side, std::int64_t price,
               std::uint64_t quantity, bool open, std::int64_t time_ns) noexcept {
        const auto kind =
            quantity == 0 ? book::UpdateKind::level_remove : book::UpdateKind::level_set;
        const std::uint32_t at = row(kind, instrument, time_ns);
        batch_.side[at] = side;
        batch_.flags[at] = open ? book::update_flag::event_open : std::uint8_t{0};
        batch_.price[at] = price;
        batch_.quantity[at] = quantity;
    }
    // NOLINTEND(readability-function-size)
    struct QuoteSide {
        std::int64_t price;
        std::uint64_t quantity;
    };
    void quote(std::uint32_t instrument, QuoteSide bid, QuoteSide ask,
               std::int64_t time_ns) noexcept {
        const std::uint32_t at = row(book::UpdateKind::quote, instrument, time_ns);
        batch_.price[at] = bid.price;
        batch_.quantity[at] = bid.quantity;
        std::memcpy(&batch_.order_id[at], &ask.price, sizeof ask.price);
        batch_.new_order_id[at] = ask.quantity;
    }
    // `places`: decimal places of the instrument's prices.
    void name(std::uint32_t instrument, std::string_view symbol, std::uint8_t places,
              bool followed) noexcept {
        std::array<char, 16> bytes{};
        const std::size_t size = std::min(symbol.size(), bytes.size());
        std::copy_n(symbol.begin(), size, bytes.begin());
        const std::uint32_t at = row(book::UpdateKind::name, instrument, 0);
        std::memcpy(&batch_.order_id[at], bytes.data(), 8);
        std::memcpy(&batch_.new_order_id[at], bytes.data() + 8, 8);
        batch_.price[at] = static_cast<std::int64_t>(size);
        batch_.quantity[at] = places;
        if (!followed) batch_.flags[at] = book::update_flag::not_followed;
    }
    void trading(std::uint32_t instrument, bool continuous) noexcept {
        batch_.quantity[row(book::UpdateKind::trading, instrument, 0)] = continuous ? 1 : 0;
    }
    void group(std::uint32_t instrument, std::uint32_t group) noexcept {
        batch_.quantity[row(book::UpdateKind::group, instrument, 0)] = group;
    }
    void market(std::uint32_t group, bool open) noexcept {
        const std::uint32_t at = row(book::UpdateKind::market, 0, 0);
        batch_.quantity[at] = group;
        batch_.price[at] = open ? 1 : 0;
    }
    void everything(book::UpdateKind clear_books_or_new_session) noexcept {
        row(clear_books_or_new_session, 0, 0);
    }
    // The caller fills in what the kind asks for.
    book::Event& event(book::EventKind kind, char code, std::uint32_t instrument,
                       std::int64_t time_ns) noexcept {
        book::Event& event = batch_.event[batch_.events];
        batch_.events += 1;
        event = book::Event{};
        event.place = batch_.updates;
        event.instrument = instrument;
        event.kind = kind;
        event.code = code;
        event.exchange_time_ns = time_ns;
        return event;
    }

private:
    std::uint32_t row(book::UpdateKind kind, std::uint32_t instrument,
                      std::int64_t time_ns) noexcept {
        const std::uint32_t at = batch_.updates;
        batch_.updates = at + 1;
        batch_.kind[at] = kind;
        batch_.flags[at] = 0;
        batch_.instrument[at] = instrument;
        batch_.exchange_time_ns[at] = time_ns;
        return at;
    }

    book::UpdateBatch& batch_;
};

// Copies wire text into an event's zero-padded text, without trailing spaces.
template <std::size_t N>
inline void set_text(book::Event& event, const std::array<char, N>& text) noexcept {
    static_assert(N <= 16);
    std::size_t size = N;
    while (size > 0 && text[size - 1] == ' ') size -= 1;
    std::copy_n(text.begin(), size, event.text.begin());
}

}  // namespace wirebook::feed
