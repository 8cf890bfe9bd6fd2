// What an engine is made with, and what it answers when it is asked: plain data of engine.hpp.
// May depend on core and book.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "wirebook/match/lines.hpp"
#include "wirebook/match/report.hpp"

namespace wirebook::match {

struct InstrumentTerms {
    std::int64_t tick = 1;             // prices are multiples of it
    std::uint32_t lot = 1;             // quantities are multiples of it
    std::int64_t reference_price = 0;  // for crosses until there is a trade; 0 or more
};

struct EngineOptions {
    static constexpr std::int64_t price_limit = std::int64_t{1} << 62U;
    static constexpr std::uint64_t quantity_limit = std::numeric_limits<std::uint32_t>::max();
    static constexpr std::uint32_t instrument_limit = std::uint32_t{1} << 24U;
    static constexpr std::uint32_t pool_limit = std::uint32_t{1} << 28U;

    std::uint32_t instruments = 1;
    std::uint32_t orders = 1'000'000;  // live at a time, of all instruments
    std::uint32_t levels = 250'000;    // prices with orders: of all books, sides and kinds of order
    std::uint64_t largest_quantity = quantity_limit;
    std::int64_t largest_price = price_limit;
    std::uint64_t hash_seed = 0;  // 0: a secret one. Results do not depend on it
};

// A price of the displayed book. orders 0: there is none.
struct LevelView {
    std::int64_t price = 0;
    std::uint64_t quantity = 0;
    std::uint32_t orders = 0;
};

struct OrderView {
    std::uint64_t order_id, reference;
    std::int64_t price;  // 0: market
    std::uint64_t shown, reserve, display;
    std::uint32_t instrument;
    std::uint16_t participant, producer;
    Side side;
    OrderBook book;
    OrderType type;
};

inline constexpr std::size_t reasons = as_index(Reason::cross_over) + 1;

struct EngineCounters {
    std::uint64_t accepted = 0;
    std::array<std::uint64_t, reasons> rejected{};  // by reason
    std::uint64_t executions = 0;                   // reports of them
    std::uint64_t executed_quantity = 0;            // each trade once, a cross too
    std::uint64_t refills = 0;
    std::uint64_t crosses = 0;  // that traded
};

}  // namespace wirebook::match
