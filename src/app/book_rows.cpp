#include "wirebook/app/book_rows.hpp"

#include "wirebook/app/text_output.hpp"

namespace wirebook::app {
namespace {

void append_side(std::string& out, const std::optional<book::LevelView>& best,
                 std::uint8_t places) {
    if (!best) {
        out.append(",,0,0");
        return;
    }
    out.push_back(',');
    append_price(out, best->price, places);
    out.push_back(',');
    append_number(out, best->quantity);
    out.push_back(',');
    append_number(out, best->orders);
}

}  // namespace

void append_top_row(std::string& out, const TopRowKey& key, const RowInstrument& instrument,
                    const std::optional<book::LevelView>& bid,
                    const std::optional<book::LevelView>& ask) {
    append_number(out, key.packet);
    out.push_back(',');
    append_number(out, key.sequence);
    out.push_back(',');
    append_signed(out, key.time_ns);
    out.push_back(',');
    append_csv_text(out, instrument.symbol);
    append_side(out, bid, instrument.price_places);
    append_side(out, ask, instrument.price_places);
    out.push_back('\n');
}

void append_final_row(std::string& out, const RowInstrument& instrument, book::Side side,
                      std::uint64_t level, const book::LevelView& view) {
    append_csv_text(out, instrument.symbol);
    out.append(side == book::Side::bid ? ",B," : ",S,");
    append_number(out, level);
    out.push_back(',');
    append_price(out, view.price, instrument.price_places);
    out.push_back(',');
    append_number(out, view.quantity);
    out.push_back(',');
    append_number(out, view.orders);
    out.push_back('\n');
}

}  // namespace wirebook::app
