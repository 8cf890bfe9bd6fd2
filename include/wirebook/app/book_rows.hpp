// Rows of the dumps about books (`--top`, `--final`), and of the simulator's truth beside them.
//
// Cold. Any thread, each its own text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wirebook/book/book_set.hpp"

namespace wirebook::app {

inline constexpr std::string_view top_header =
    "packet,seq,ts_ns,symbol,bid_price,bid_qty,bid_orders,ask_price,ask_qty,ask_orders\n";
inline constexpr std::string_view final_header = "symbol,side,level,price,qty,orders\n";

struct TopRowKey {
    std::uint64_t packet = 0;
    std::uint64_t sequence = 0;
    std::int64_t time_ns = 0;
};

struct RowInstrument {
    std::string_view symbol;
    std::uint8_t price_places = 0;  // decimals
};

// No level: an empty side.
void append_top_row(std::string& out, const TopRowKey& key, const RowInstrument& instrument,
                    const std::optional<book::LevelView>& bid,
                    const std::optional<book::LevelView>& ask);
// `level`: from 0, the best first.
void append_final_row(std::string& out, const RowInstrument& instrument, book::Side side,
                      std::uint64_t level, const book::LevelView& view);

}  // namespace wirebook::app
