#include "wirebook/sim/deep_feed.hpp"

#include "wirebook/sim/itch_feed.hpp"

namespace wirebook::sim {
namespace {

char code_of(SystemEvent event) noexcept {
    switch (event) {
        case SystemEvent::start_of_messages: return 'O';
        case SystemEvent::start_of_system_hours: return 'S';
        case SystemEvent::start_of_market_hours: return 'R';
        case SystemEvent::end_of_market_hours: return 'M';
        case SystemEvent::end_of_system_hours: return 'E';
        case SystemEvent::end_of_messages: break;
    }
    return 'C';
}

}  // namespace

DeepFeed::DeepFeed(const match::Engine& engine, const std::vector<Listing>& listings,
                   MessageOut& out)
    : engine_(engine),
      listings_(listings),
      out_(out),
      context_(feed_instruments(listings)),
      encoder_(context_, out),
      day_(context_, out) {
}

void DeepFeed::system(SystemEvent event, std::int64_t time_ns) {
    day_.system_event(time_ns, code_of(event));
}

void DeepFeed::directory(std::uint32_t instrument, std::int64_t time_ns) {
    const Listing& listing = listings_[instrument];
    DeepListing row;
    if (listing.authenticity == 'T') row.flags |= 0x80U;
    if (listing.exchange_traded_product) row.flags |= 0x20U;
    row.adjusted_close_e4 = listing.price_e4;
    row.luld_tier = listing.luld_tier == '1' ? 1 : 2;
    day_.security_directory(time_ns, instrument, row);
}

void DeepFeed::short_sale(std::uint32_t instrument, std::int64_t time_ns) {
    day_.operational_halt(time_ns, instrument, false);
    day_.short_sale_test(time_ns, instrument, false, ' ');
}

void DeepFeed::broken_trade(const match::Report& trade, std::int64_t time_ns) {
    day_.trade_break(time_ns, trade.instrument,
                     {0, trade.quantity, trade.price, trade.match_number});
}

void DeepFeed::trading_state(std::uint32_t instrument, match::TradingState state,
                             std::int64_t time_ns) {
    const bool paused =
        state == match::TradingState::paused || state == match::TradingState::quotation;
    day_.trading_status(time_ns, instrument, deep_trading_status(state), paused ? "LUDP" : "");
}

// Each level an event of its own.
void DeepFeed::announce_orders(std::uint32_t instrument, std::int64_t time_ns) {
    for (const match::Side side : {match::Side::bid, match::Side::ask}) {
        engine_.for_each_level(instrument, side, [&](const match::LevelView& level) {
            out_.announcing({side, level.price, level.quantity, level.orders});
            encoder_.tell_level(instrument, side, level.price, time_ns);
            return true;
        });
    }
    out_.announced();
}

void DeepFeed::on_report(const match::Report& report) {
    if (report.kind == match::ReportKind::state_changed) {
        return trading_state(report.instrument, report.state, report.time_ns);
    }
    if (report.kind == match::ReportKind::crossed) crossed_ = report;
    encoder_.on_report(report);
}

// The official price and the end of the process follow the cross's level updates.
void DeepFeed::end_request() {
    encoder_.end_of_request();
    if (!crossed_) return;
    const match::Report report = *crossed_;
    crossed_.reset();
    if (report.cross == match::CrossKind::halt) return;
    const bool opening = report.cross == match::CrossKind::opening;
    if (report.quantity != 0) {
        day_.official_price(report.time_ns, report.instrument, opening ? 'Q' : 'M', report.price);
    }
    day_.security_event(report.time_ns, report.instrument, opening ? 'O' : 'C');
}

}  // namespace wirebook::sim
