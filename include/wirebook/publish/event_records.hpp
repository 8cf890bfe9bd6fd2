// A feed's events in the words of the ring: prices in 1e-9, bodies of records, the rows that stand
// for late joiners.
//
// May depend on book and ring. Pure functions. Any thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "wirebook/book/book_set.hpp"
#include "wirebook/ring/instrument.hpp"
#include "wirebook/ring/record.hpp"

namespace wirebook::publish {

// The venue's ticks in units of 1e-9; no_price where 64 bits do not hold it: some other price would
// be acted on.
[[nodiscard]] inline std::int64_t to_nano(std::int64_t ticks, std::uint8_t places) noexcept {
    static constexpr std::array<std::int64_t, 10> scale{
        1'000'000'000, 100'000'000, 10'000'000, 1'000'000, 100'000, 10'000, 1'000, 100, 10, 1};
    for (; places > 9; --places) ticks /= 10;  // finer than the unit
    std::int64_t nano = 0;
    const std::int64_t factor = scale[places];
    if (!__builtin_mul_overflow(ticks, factor, &nano) && nano != ring::no_price) return nano;
    return ring::no_price;
}
[[nodiscard]] inline bool has_price_too_large(const book::Event& event,
                                              std::uint8_t places) noexcept {
    return to_nano(event.price, places) == ring::no_price ||
           to_nano(event.price2, places) == ring::no_price ||
           to_nano(event.price3, places) == ring::no_price;
}

// How an instrument of an event is called, and where its times begin.
struct EventContext {
    std::string_view symbol;
    std::uint8_t places = 4;
    std::int64_t time_offset_ns = 0;  // from the feed's times to UTC
};

// Kind and body of the record; stamps and identity stay as they are.
void fill_event(ring::Record& record, const book::Event& event,
                const EventContext& context) noexcept;

[[nodiscard]] ring::OrderEvent order_of(const book::OrderChange& change,
                                        std::uint8_t places) noexcept;

// What the event changes in the row of its instrument. False: nothing.
[[nodiscard]] bool update_status(ring::InstrumentStatus& status, const book::Event& event,
                                 const EventContext& context) noexcept;
[[nodiscard]] bool update_auction(ring::AuctionState& auction, const book::Event& event,
                                  const EventContext& context) noexcept;

}  // namespace wirebook::publish
