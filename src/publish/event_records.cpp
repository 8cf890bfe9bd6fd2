#include "wirebook/publish/event_records.hpp"

#include <algorithm>

namespace wirebook::publish {
namespace {

// Feeds send 0 where an auction has no such price.
std::int64_t price_or_none(std::int64_t ticks, std::uint8_t places) noexcept {
    return ticks == 0 ? ring::no_price : to_nano(ticks, places);
}

ring::TradingStatus trading_status(char value) noexcept {
    switch (value) {
        case 'T': return ring::TradingStatus::trading;
        case 'H':
        case 'V': return ring::TradingStatus::halted;
        case 'P': return ring::TradingStatus::paused;
        case 'Q': return ring::TradingStatus::quoting;
        case 'O': return ring::TradingStatus::auction;
        default: return ring::TradingStatus::unknown;
    }
}

// Where an event says when something is planned: id holds it, in the feed's own times.
std::int64_t planned_ns(const book::Event& event, const EventContext& context) noexcept {
    return event.id == 0 ? 0 : static_cast<std::int64_t>(event.id) + context.time_offset_ns;
}

std::uint32_t planned_s(const book::Event& event, const EventContext& context) noexcept {
    return static_cast<std::uint32_t>(planned_ns(event, context) / 1'000'000'000);
}

char letter(char c) noexcept {
    return c == '\0' ? ' ' : c;
}

ring::TradeEvent trade_of(const book::Event& event, const EventContext& context) noexcept {
    ring::TradeEvent body;
    body.price = to_nano(event.price, context.places);
    body.quantity = event.quantity;
    body.match = event.id;
    body.printable = (event.flags & book::update_flag::printable) != 0 ? 1 : 0;
    body.code = event.code;
    body.cross_type = letter(event.text[0]);
    body.sale_flags = static_cast<std::uint8_t>(event.detail);
    return body;
}

ring::TradeBreakEvent break_of(const book::Event& event, const EventContext& context) noexcept {
    ring::TradeBreakEvent body;
    body.match = event.id;
    body.quantity = event.quantity;
    if (event.quantity != 0) body.price = to_nano(event.price, context.places);
    return body;
}

ring::StatusEvent status_of(const book::Event& event) noexcept {
    ring::StatusEvent body;
    body.status = event.code == 'H' ? trading_status(event.value) : ring::TradingStatus::unknown;
    body.code = event.code;
    body.value = event.value;
    body.reason = event.text;
    return body;
}

ring::AuctionEvent auction_of(const book::Event& event, const EventContext& context) noexcept {
    ring::AuctionEvent body;
    body.reference_price = price_or_none(event.price, context.places);
    body.indicative_price = price_or_none(event.price2, context.places);
    body.far_price = price_or_none(event.price3, context.places);
    body.paired_quantity = event.quantity;
    body.imbalance_quantity = event.quantity2;
    body.imbalance_side = event.value;
    body.code = event.code;
    body.cross_type = letter(event.text[0]);
    body.variation = letter(event.detail);
    body.scheduled_s = planned_s(event, context);
    return body;
}

ring::CollarEvent collar_of(const book::Event& event, const EventContext& context) noexcept {
    ring::CollarEvent body;
    body.reference_price = price_or_none(event.price, context.places);
    body.lower_price = price_or_none(event.price2, context.places);
    body.upper_price = price_or_none(event.price3, context.places);
    body.extension = static_cast<std::uint32_t>(event.quantity);
    body.code = event.code;
    body.cross_type = letter(event.text[0]);
    return body;
}

ring::IpoEvent ipo_of(const book::Event& event, const EventContext& context) noexcept {
    ring::IpoEvent body;
    body.price = price_or_none(event.price, context.places);
    body.release_ns = planned_ns(event, context);
    body.qualifier = event.value;
    body.code = event.code;
    return body;
}

ring::SystemEvent system_of(const book::Event& event) noexcept {
    ring::SystemEvent body;
    body.value = event.value;
    body.group = event.text;
    return body;
}

ring::DirectoryEvent directory_of(const book::Event& event, const EventContext& context) noexcept {
    ring::DirectoryEvent body;
    body.round_lot = event.quantity;
    body.price_places = context.places;
    std::copy(context.symbol.begin(), context.symbol.end(), body.symbol.begin());
    body.authenticity = event.value;
    body.luld_tier = letter(event.detail);
    if ((event.flags & book::event_flag::listing) != 0) {
        body.market_category = event.text[0];
        body.financial_status = event.text[1];
        body.etp = event.text[2];
    }
    body.reference_price = price_or_none(event.price, context.places);
    body.lower_limit = price_or_none(event.price2, context.places);
    body.upper_limit = price_or_none(event.price3, context.places);
    return body;
}

}  // namespace

ring::OrderEvent order_of(const book::OrderChange& change, std::uint8_t places) noexcept {
    static_assert(static_cast<int>(book::UpdateKind::replace) + 1 ==
                  static_cast<int>(ring::OrderAction::replace));
    ring::OrderEvent body;
    body.price = to_nano(change.price, places);
    body.order_id = change.order_id;
    body.other_id = change.other_id;
    body.quantity_ahead = change.position.quantity_ahead;
    body.orders_ahead = static_cast<std::uint32_t>(change.position.orders_ahead);
    body.quantity = change.quantity;
    body.left = change.left;
    body.action = static_cast<ring::OrderAction>(static_cast<int>(change.kind) + 1);
    body.side = change.side == book::Side::bid ? ring::RecordSide::bid : ring::RecordSide::ask;
    body.printable = change.printable ? 1 : 0;
    return body;
}

void fill_event(ring::Record& record, const book::Event& event,
                const EventContext& context) noexcept {
    switch (event.kind) {
        case book::EventKind::trade: return record.set_event(trade_of(event, context));
        case book::EventKind::trade_break: return record.set_event(break_of(event, context));
        case book::EventKind::status: return record.set_event(status_of(event));
        case book::EventKind::auction: return record.set_event(auction_of(event, context));
        case book::EventKind::collar: return record.set_event(collar_of(event, context));
        case book::EventKind::ipo: return record.set_event(ipo_of(event, context));
        case book::EventKind::system: return record.set_event(system_of(event));
        case book::EventKind::directory: return record.set_event(directory_of(event, context));
    }
}

bool update_status(ring::InstrumentStatus& status, const book::Event& event,
                   const EventContext& context) noexcept {
    if (event.kind != book::EventKind::status) return false;
    switch (event.code) {
        case 'H':
            status.trading = trading_status(event.value);
            status.code = event.value;
            status.reason = event.text;
            status.changed_ns = event.exchange_time_ns + context.time_offset_ns;
            return true;
        case 'Y':
        case 'P': status.short_sale = event.value; return true;
        case 'h':
        case 'O': status.operational_halt = event.value; return true;
        case 'E': status.security_event = event.value; return true;
        default: return false;
    }
}

bool update_auction(ring::AuctionState& auction, const book::Event& event,
                    const EventContext& context) noexcept {
    const std::int64_t time_ns = event.exchange_time_ns + context.time_offset_ns;
    const auto official = [&](std::uint64_t quantity) {
        auction.official_ns = time_ns;
        auction.official_price = to_nano(event.price, context.places);
        auction.official_quantity = quantity;
        auction.official_type = letter(event.text[0]);
        return true;
    };
    if (event.kind == book::EventKind::trade)
        return event.text[0] != '\0' && event.quantity != 0 && official(event.quantity);
    if (event.kind == book::EventKind::collar) {
        const ring::CollarEvent collar = collar_of(event, context);
        auction.collar_ns = time_ns;
        auction.collar_reference = collar.reference_price;
        auction.collar_lower = collar.lower_price;
        auction.collar_upper = collar.upper_price;
        auction.extension = collar.extension;
        return true;
    }
    if (event.kind != book::EventKind::auction) return false;
    if (event.code == 'X') return official(0);
    const ring::AuctionEvent body = auction_of(event, context);
    auction.changed_ns = time_ns;
    auction.reference_price = body.reference_price;
    auction.indicative_price = body.indicative_price;
    auction.far_price = body.far_price;
    auction.paired_quantity = body.paired_quantity;
    auction.imbalance_quantity = body.imbalance_quantity;
    auction.imbalance_side = body.imbalance_side;
    auction.code = body.code;
    auction.cross_type = body.cross_type;
    auction.variation = body.variation;
    auction.scheduled_s = body.scheduled_s;
    return true;
}

}  // namespace wirebook::publish
