#include "wirebook/app/record_text.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <iterator>

#include "wirebook/wire/message_json.hpp"
#include "wirebook/wire/protocol.hpp"

namespace wirebook::app {

// Digits beyond the places are never cut off: a venue may print finer than it quotes.
std::string price_text(std::int64_t price, unsigned places, const char* none) {
    if (price == ring::no_price) return none;
    const auto magnitude =
        price < 0 ? 0 - static_cast<std::uint64_t>(price) : static_cast<std::uint64_t>(price);
    std::string text = fmt::format("{}{}.{:09}", price < 0 ? "-" : "", magnitude / 1'000'000'000,
                                   magnitude % 1'000'000'000);
    const std::size_t whole = text.size() - 10;
    while (text.size() > whole + 1 + places && text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
    return text;
}

const char* name_of(ring::Quality quality) {
    switch (quality) {
        case ring::Quality::good: return "good";
        case ring::Quality::stale: return "stale";
        case ring::Quality::recovering: return "recovering";
        case ring::Quality::not_ready: return "not-ready";
    }
    return "unknown";
}
const char* name_of(ring::TradingStatus status) {
    switch (status) {
        case ring::TradingStatus::unknown: break;
        case ring::TradingStatus::trading: return "trading";
        case ring::TradingStatus::halted: return "halted";
        case ring::TradingStatus::paused: return "paused";
        case ring::TradingStatus::quoting: return "quoting";
        case ring::TradingStatus::auction: return "auction";
        case ring::TradingStatus::closed: return "closed";
    }
    return "unknown";
}

const char* name_of(ring::RecordKind kind) {
    switch (kind) {
        case ring::RecordKind::none: break;
        case ring::RecordKind::snapshot: return "snapshot";
        case ring::RecordKind::trade: return "trade";
        case ring::RecordKind::trade_break: return "break";
        case ring::RecordKind::status: return "status";
        case ring::RecordKind::auction: return "auction";
        case ring::RecordKind::system: return "system";
        case ring::RecordKind::gap: return "gap";
        case ring::RecordKind::session: return "session";
        case ring::RecordKind::quality: return "quality";
        case ring::RecordKind::directory: return "directory";
        case ring::RecordKind::collar: return "collar";
        case ring::RecordKind::ipo: return "ipo";
        case ring::RecordKind::order: return "order";
    }
    return "unknown";
}
const char* name_of(ring::RecordSide side) {
    if (side == ring::RecordSide::none) return "none";
    return side == ring::RecordSide::bid ? "bid" : "ask";
}

const char* name_of(ring::OrderAction action) {
    switch (action) {
        case ring::OrderAction::add: return "add";
        case ring::OrderAction::execute: return "execute";
        case ring::OrderAction::reduce: return "reduce";
        case ring::OrderAction::remove: return "remove";
        case ring::OrderAction::replace: return "replace";
    }
    return "unknown";
}

namespace {

template <class... Arguments>
void add(std::string& out, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(out), format, std::forward<Arguments>(arguments)...);
}

// key=value pairs, for the line and, with JSON's quotes, for the object.
class Details {
public:
    Details(std::string& out, bool json) : out_(out), json_(json) {}

    void number(const char* key, std::uint64_t value) {
        begin(key);
        add(out_, "{}", value);
    }
    void price(const char* key, std::int64_t value, unsigned places) {
        begin(key);
        out_ += price_text(value, places, json_ ? "null" : "-");
    }
    void text(const char* key, std::string_view value) {
        value = value.substr(0, value.find('\0'));
        begin(key);
        if (json_)
            wire::append_json_text(out_, std::as_bytes(std::span(value)));
        else
            for (const char c : value) out_ += c >= ' ' && c <= '~' ? c : '?';
    }
    void letter(const char* key, const char& value) { text(key, {&value, 1}); }

private:
    void begin(const char* key) {
        if (json_)
            add(out_, ", \"{}\": ", key);
        else
            add(out_, " {}=", key);
    }
    std::string& out_;
    bool json_;
};

// IEX names its sessions by numbers (channel, session): as the events' dump has them.
std::string session_text(const ring::SessionEvent& event) {
    const std::array<char, 16>& id = event.session;
    const auto number = [&id](std::size_t at, std::size_t bytes) {
        std::uint32_t value = 0;
        std::memcpy(&value, id.data() + at, bytes);
        return value;
    };
    for (const wire::ProtocolRow& row : wire::protocol_rows) {
        if (row.transport != wire::Transport::iex_tp || number(0, 2) != row.iex_id) continue;
        return fmt::format("{}/{}", number(2, 4), number(6, 4));
    }
    return {id.data(), id.size()};
}

void append_session(Details& details, const ring::SessionEvent& session) {
    const std::string text = session_text(session);
    details.text("session", text);
    details.number("next_sequence", session.next_sequence);
}

void append_auction(Details& details, const ring::AuctionEvent& auction, unsigned places) {
    details.price("reference", auction.reference_price, places);
    details.price("indicative", auction.indicative_price, places);
    details.price("far", auction.far_price, places);
    details.number("paired", auction.paired_quantity);
    details.number("imbalance", auction.imbalance_quantity);
    details.letter("side", auction.imbalance_side);
    details.letter("type", auction.code);
    details.letter("cross", auction.cross_type);
    details.letter("variation", auction.variation);
    details.number("scheduled", auction.scheduled_s);
}

void append_directory(Details& details, const ring::DirectoryEvent& directory, unsigned places) {
    details.number("round_lot", directory.round_lot);
    details.letter("authenticity", directory.authenticity);
    details.letter("category", directory.market_category);
    details.letter("financial", directory.financial_status);
    details.letter("luld_tier", directory.luld_tier);
    details.letter("etp", directory.etp);
    details.price("reference", directory.reference_price, places);
    details.price("lower", directory.lower_limit, places);
    details.price("upper", directory.upper_limit, places);
}

void append_order(Details& details, const ring::OrderEvent& order, unsigned places) {
    details.text("action", name_of(order.action));
    details.text("side", name_of(order.side));
    details.number("order", order.order_id);
    if (order.action == ring::OrderAction::replace) details.number("new_order", order.other_id);
    if (order.action == ring::OrderAction::execute) {
        details.number("match", order.other_id);
        details.number("printable", order.printable);
    }
    details.price("price", order.price, places);
    details.number("quantity", order.quantity);
    details.number("left", order.left);
    details.number("orders_ahead", order.orders_ahead);
    details.number("quantity_ahead", order.quantity_ahead);
}

void append_event(Details& details, const ring::Record& record, unsigned places) {
    switch (record.kind) {
        case ring::RecordKind::trade: {
            const auto trade = record.event<ring::TradeEvent>();
            details.price("price", trade.price, places);
            details.number("quantity", trade.quantity);
            details.number("match", trade.match);
            details.text("resting", name_of(trade.resting_side));
            details.number("printable", trade.printable);
            details.letter("type", trade.code);
            details.letter("cross", trade.cross_type);
            return details.number("sale_flags", trade.sale_flags);
        }
        case ring::RecordKind::trade_break: {
            const auto broken = record.event<ring::TradeBreakEvent>();
            details.price("price", broken.price, places);
            details.number("quantity", broken.quantity);
            return details.number("match", broken.match);
        }
        case ring::RecordKind::status: {
            const auto status = record.event<ring::StatusEvent>();
            details.letter("type", status.code);
            details.letter("value", status.value);
            return details.text("reason", {status.reason.data(), status.reason.size()});
        }
        case ring::RecordKind::auction:
            return append_auction(details, record.event<ring::AuctionEvent>(), places);
        case ring::RecordKind::collar: {
            const auto collar = record.event<ring::CollarEvent>();
            details.price("reference", collar.reference_price, places);
            details.price("lower", collar.lower_price, places);
            details.price("upper", collar.upper_price, places);
            details.number("extension", collar.extension);
            details.letter("type", collar.code);
            return details.letter("cross", collar.cross_type);
        }
        case ring::RecordKind::ipo: {
            const auto ipo = record.event<ring::IpoEvent>();
            details.price("price", ipo.price, places);
            details.number("release_ns", static_cast<std::uint64_t>(ipo.release_ns));
            return details.letter("qualifier", ipo.qualifier);
        }
        case ring::RecordKind::system: {
            const auto system = record.event<ring::SystemEvent>();
            details.letter("value", system.value);
            return details.text("group", {system.group.data(), system.group.size()});
        }
        case ring::RecordKind::gap: {
            const auto gap = record.event<ring::GapEvent>();
            details.number("first", gap.first);
            details.number("last", gap.last);
            return details.number("lines", gap.lines);
        }
        case ring::RecordKind::session:
            return append_session(details, record.event<ring::SessionEvent>());
        case ring::RecordKind::quality: {
            const auto quality = record.event<ring::QualityEvent>();
            details.text("before", name_of(quality.before));
            return details.text("after", name_of(quality.after));
        }
        case ring::RecordKind::directory:
            return append_directory(details, record.event<ring::DirectoryEvent>(), places);
        case ring::RecordKind::order:
            return append_order(details, record.event<ring::OrderEvent>(), places);
        case ring::RecordKind::none:
        case ring::RecordKind::snapshot: return;
    }
}

void append_side(std::string& out, const ShownRecord& shown, bool bids) {
    const ring::Record& record = shown.record;
    const std::size_t levels = bids ? record.bid_levels : record.ask_levels;
    add(out, ", \"{}\": [", bids ? "bids" : "asks");
    for (std::size_t i = 0; i < levels && i < ring::max_depth; ++i) {
        const ring::Level level = bids ? record.bid(i) : record.ask(i);
        add(out, "{}[{}, {}, {}]", i == 0 ? "" : ", ",
            price_text(level.price, shown.identity.price_places, "null"), level.quantity,
            level.orders);
    }
    out += "]";
}

}  // namespace

void append_standing_json(std::string& out, const Standing& standing, unsigned places) {
    const ring::TradeStatistics& trades = standing.statistics;
    add(out, "{{\"trades\": {}", trades.trades);
    Details statistics(out, true);
    statistics.number("volume", trades.volume);
    statistics.price("open", trades.open_price, places);
    statistics.price("high", trades.high_price, places);
    statistics.price("low", trades.low_price, places);
    statistics.price("last", trades.last_price, places);
    statistics.number("last_quantity", trades.last_quantity);
    add(out, ", \"last_ns\": {}", trades.last_ns);
    statistics.number("breaks", trades.breaks);
    add(out, ", \"uncertain\": {}}}", trades.flags != 0);
    const ring::AuctionState& state = standing.auction;
    if (state.changed_ns == 0 && state.collar_ns == 0 && state.official_ns == 0) return;
    add(out, ", \"auction\": {{\"changed_ns\": {}", state.changed_ns);
    Details auction(out, true);
    append_auction(auction,
                   {.reference_price = state.reference_price,
                    .indicative_price = state.indicative_price,
                    .far_price = state.far_price,
                    .paired_quantity = state.paired_quantity,
                    .imbalance_quantity = state.imbalance_quantity,
                    .imbalance_side = state.imbalance_side,
                    .code = state.code,
                    .cross_type = state.cross_type,
                    .variation = state.variation,
                    .scheduled_s = state.scheduled_s,
                    .reserved = 0},
                   places);
    auction.price("collar_lower", state.collar_lower, places);
    auction.price("collar_upper", state.collar_upper, places);
    auction.number("extension", state.extension);
    auction.price("official", state.official_price, places);
    auction.letter("official_type", state.official_type);
    out += "}";
}

void append_record_line(std::string& out, const ShownRecord& shown) {
    const ring::Record& record = shown.record;
    const unsigned places = shown.identity.price_places;
    std::string symbol;
    for (const char c : shown.identity.symbol.view()) symbol += c >= ' ' && c <= '~' ? c : '?';
    add(out, "{:<16} ", symbol);
    if (record.kind == ring::RecordKind::snapshot) {
        const ring::Level bid = record.bid(0), ask = record.ask(0);
        add(out, "{:>10} x {:>12} | {:<12} x {:<10}", bid.quantity,
            price_text(bid.price, places, "-"), price_text(ask.price, places, "-"), ask.quantity);
    } else {
        out += name_of(record.kind);
        Details details(out, false);
        append_event(details, record, places);
    }
    if (shown.quality != ring::Quality::good) add(out, "  [{}]", name_of(shown.quality));
    while (!out.empty() && out.back() == ' ') out.pop_back();
}

void append_record_json(std::string& out, const ShownRecord& shown) {
    const ring::Record& record = shown.record;
    add(out, "{{\"sequence\": {}, \"kind\": \"{}\"", record.sequence, name_of(record.kind));
    Details details(out, true);
    if (record.instrument != ring::no_instrument) {
        details.text("symbol", shown.identity.symbol.view());
        details.number("instrument", record.instrument);
    }
    details.number("channel", record.channel);
    details.text("quality", name_of(shown.quality));
    details.text("status", name_of(record.status));
    add(out, ", \"exchange_time_ns\": {}, \"receive_time_ns\": {}", record.exchange_time_ns,
        record.receive_time_ns);
    details.number("feed_sequence", record.feed_sequence);
    details.number("packet", record.packet);
    details.number("line", record.line);
    add(out, ", \"last_of_packet\": {}", record.last_of_packet());
    if (record.kind == ring::RecordKind::snapshot) {
        append_side(out, shown, true);
        append_side(out, shown, false);
    } else {
        append_event(details, record, shown.identity.price_places);
    }
    if (shown.standing != nullptr) {
        out += ", \"statistics\": ";
        append_standing_json(out, *shown.standing, shown.identity.price_places);
    }
    out += "}";
}

}  // namespace wirebook::app
