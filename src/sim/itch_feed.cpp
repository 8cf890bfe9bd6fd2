#include "wirebook/sim/itch_feed.hpp"

namespace wirebook::sim {
namespace {

// Participants 1 and 2 trade under their names (OrderFlow: `attributed`).
ItchOptions itch_options(const std::vector<Listing>& listings, std::int64_t midnight_ns) {
    ItchOptions options;
    options.instruments = feed_instruments(listings);
    options.midnight_ns = midnight_ns;
    options.mpids = {{}, padded<4>("WIRE"), padded<4>("BOOK")};
    return options;
}

char code_of(SystemEvent event) noexcept {
    switch (event) {
        case SystemEvent::start_of_messages: return 'O';
        case SystemEvent::start_of_system_hours: return 'S';
        case SystemEvent::start_of_market_hours: return 'Q';
        case SystemEvent::end_of_market_hours: return 'M';
        case SystemEvent::end_of_system_hours: return 'E';
        case SystemEvent::end_of_messages: break;
    }
    return 'C';
}

std::uint32_t price(std::int64_t price_e4) noexcept {
    WIREBOOK_CHECK(price_e4 >= 0 && price_e4 <= std::int64_t{UINT32_MAX});
    return static_cast<std::uint32_t>(price_e4);
}

}  // namespace

std::vector<FeedInstrument> feed_instruments(const std::vector<Listing>& listings) {
    std::vector<FeedInstrument> instruments;
    for (const Listing& listing : listings) {
        FeedInstrument instrument;
        instrument.symbol = padded<8>(listing.symbol);
        instrument.stock_locate = static_cast<std::uint16_t>(instruments.size() + 1);
        instrument.round_lot = listing.round_lot;
        instruments.push_back(instrument);
    }
    return instruments;
}

ItchFeed::ItchFeed(const match::Engine& engine, const std::vector<Listing>& listings,
                   std::int64_t midnight_ns, MessageOut& out)
    : engine_(engine),
      listings_(listings),
      out_(out),
      context_(itch_options(listings, midnight_ns)),
      encoder_(context_, out),
      day_(context_, out) {
}

void ItchFeed::system(SystemEvent event, std::int64_t time_ns) {
    day_.system_event(time_ns, code_of(event));
}

void ItchFeed::directory(std::uint32_t instrument, std::int64_t time_ns) {
    const Listing& listing = listings_[instrument];
    ItchListing row;
    row.market_category = listing.market_category;
    row.financial_status = listing.financial_status;
    row.issue_classification = listing.issue_classification;
    row.issue_sub_type = listing.issue_sub_type;
    row.authenticity = listing.authenticity;
    row.luld_tier = listing.luld_tier;
    row.etp_flag = listing.exchange_traded_product ? 'Y' : 'N';
    day_.stock_directory(time_ns, instrument, row);
}

void ItchFeed::short_sale(std::uint32_t instrument, std::int64_t time_ns) {
    day_.reg_sho(time_ns, instrument, '0');
}

void ItchFeed::market_maker(std::uint32_t instrument, std::int64_t time_ns) {
    day_.participant_position(time_ns, instrument, "WIRE", {'Y', 'N', 'A'});
}

void ItchFeed::decline_levels(std::int64_t time_ns) {
    constexpr std::uint64_t dollar_e8 = 100'000'000;
    day_.mwcb_decline_levels(time_ns, {4'185 * dollar_e8, 3'915 * dollar_e8, 3'600 * dollar_e8});
}

void ItchFeed::collar(std::uint32_t instrument, std::int64_t reference_e4, std::int64_t lower_e4,
                      std::int64_t upper_e4, std::int64_t time_ns) {
    day_.auction_collar(time_ns, instrument,
                        {price(reference_e4), price(upper_e4), price(lower_e4), 0});
}

void ItchFeed::broken_trade(const match::Report& trade, std::int64_t time_ns) {
    day_.broken_trade(time_ns, trade.instrument, trade.match_number);
}

void ItchFeed::trading_state(std::uint32_t instrument, match::TradingState state,
                             std::int64_t time_ns) {
    const bool paused =
        state == match::TradingState::paused || state == match::TradingState::quotation;
    day_.trading_action(time_ns, instrument, itch_trading_state(state), paused ? "LUDP" : "");
}

void ItchFeed::announce_orders(std::uint32_t instrument, std::int64_t time_ns) {
    for (const match::Side side : {match::Side::bid, match::Side::ask}) {
        engine_.for_each_order(instrument, match::OrderBook::displayed, side,
                               [&](const match::OrderView& order) {
                                   match::Report report;
                                   report.kind = match::ReportKind::added;
                                   report.flags = match::report_flag::displayed;
                                   report.side = side;
                                   report.instrument = instrument;
                                   report.participant = order.participant;
                                   report.reference = order.reference;
                                   report.price = order.price;
                                   report.quantity = order.shown;
                                   report.time_ns = time_ns;
                                   out_.announcing({side, order.price, order.shown, 1});
                                   encoder_.on_report(report);
                               });
    }
    out_.announced();
}

void ItchFeed::on_report(const match::Report& report) {
    if (report.kind == match::ReportKind::state_changed) {
        trading_state(report.instrument, report.state, report.time_ns);
    } else {
        encoder_.on_report(report);
    }
}

}  // namespace wirebook::sim
