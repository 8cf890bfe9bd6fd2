// `--truth`: the engine's own books in the form of replay's dumps. Private to src/app.
#pragma once

#include <optional>
#include <string>

#include "wirebook/app/book_rows.hpp"
#include "wirebook/app/text_output.hpp"
#include "wirebook/core/result.hpp"
#include "wirebook/sim/exchange.hpp"

namespace wirebook::app {

class TruthFiles {
public:
    // PREFIX.top.csv and PREFIX.final.csv.
    [[nodiscard]] static Result<TruthFiles> open(const std::string& prefix, sim::FeedKind feed);

    void row(const sim::TruthRow& row, const std::vector<sim::Listing>& listings);
    // The books as they are, and both files to their end.
    [[nodiscard]] Status finish(const sim::Exchange& exchange);

private:
    TruthFiles(TextOutput top, TextOutput final_books, bool with_orders)
        : top_(std::move(top)), final_(std::move(final_books)), with_orders_(with_orders) {}
    [[nodiscard]] book::LevelView view(const match::LevelView& level) const noexcept;

    TextOutput top_;
    TextOutput final_;
    bool with_orders_;  // the feed tells of orders
};

}  // namespace wirebook::app
