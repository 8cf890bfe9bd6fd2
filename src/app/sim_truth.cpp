#include "sim_truth.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace wirebook::app {
namespace {

constexpr std::uint8_t price_places = 4;  // of both feeds

}  // namespace

Result<TruthFiles> TruthFiles::open(const std::string& prefix, sim::FeedKind feed) {
    auto top = TextOutput::open(prefix + ".top.csv");
    if (!top) return top.error();
    auto final_books = TextOutput::open(prefix + ".final.csv");
    if (!final_books) return final_books.error();
    TruthFiles files(std::move(top).value(), std::move(final_books).value(),
                     feed == sim::FeedKind::itch50);
    files.top_.buffer() = top_header;
    files.final_.buffer() = final_header;
    return files;
}

book::LevelView TruthFiles::view(const match::LevelView& level) const noexcept {
    return {level.price, level.quantity, with_orders_ ? level.orders : 0};
}

void TruthFiles::row(const sim::TruthRow& row, const std::vector<sim::Listing>& listings) {
    std::optional<book::LevelView> bid;
    std::optional<book::LevelView> ask;
    if (row.top.bid.orders != 0) bid = view(row.top.bid);
    if (row.top.ask.orders != 0) ask = view(row.top.ask);
    append_top_row(top_.buffer(), {row.packet, row.sequence, row.time_ns},
                   {listings[row.instrument].symbol, price_places}, bid, ask);
    top_.flush_if_full();
}

Status TruthFiles::finish(const sim::Exchange& exchange) {
    const std::vector<sim::Listing>& listings = exchange.listings();
    std::vector<std::uint32_t> order(listings.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return listings[a].symbol < listings[b].symbol;
    });
    for (const std::uint32_t instrument : order) {
        for (const book::Side side : {book::Side::bid, book::Side::ask}) {
            std::uint64_t index = 0;
            exchange.engine().for_each_level(instrument, side, [&](const match::LevelView& level) {
                append_final_row(final_.buffer(), {listings[instrument].symbol, price_places}, side,
                                 index++, view(level));
                final_.flush_if_full();
                return true;
            });
        }
    }
    const Status top = top_.close();
    const Status final_books = final_.close();
    return top ? final_books : top;
}

}  // namespace wirebook::app
