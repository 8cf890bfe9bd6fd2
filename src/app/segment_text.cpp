#include "wirebook/app/segment_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <iterator>
#include <nlohmann/json.hpp>

#include "wirebook/app/record_text.hpp"

namespace wirebook::app {
namespace {

using Json = nlohmann::ordered_json;

template <class... Arguments>
void add(std::string& out, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(out), format, std::forward<Arguments>(arguments)...);
}

// Any number of ticks fits: a corrupt stamp must not overflow.
std::int64_t ns_of_ticks(const TscClock& clock, std::uint64_t ticks) {
    return static_cast<std::int64_t>(
        std::clamp(static_cast<double>(ticks) * clock.ns_per_tick, 0.0, 9e18));
}
std::optional<std::int64_t> age_of(const SegmentView& view, std::uint64_t tsc) {
    if (tsc == 0) return std::nullopt;
    if (tsc <= view.now_tsc) return ns_of_ticks(view.reader.clock(), view.now_tsc - tsc);
    const bool just_now = ns_of_ticks(view.reader.clock(), tsc - view.now_tsc) < 1'000'000'000;
    return just_now ? std::optional<std::int64_t>(0) : std::nullopt;  // stored since we looked
}

const char* writer_text(WriterState state) {
    switch (state) {
        case WriterState::running: return "running";
        case WriterState::closed: return "closed";
        case WriterState::dead: break;
    }
    return "dead";
}

std::string session_of(const ring::SegmentHeader& header) {
    const std::string_view name(header.session_name.data(), header.session_name.size());
    return std::string(name.substr(0, name.find('\0')));
}

std::vector<const char*> stream_names(std::uint32_t streams) {
    std::vector<const char*> names;
    if ((streams & ring::stream_flag::orders) != 0) names.push_back("orders");
    return names;
}

// A row of the table, read once.
struct Row {
    std::uint32_t index = 0;
    ring::Identity identity;
    ring::InstrumentStatus status;
    Standing standing;
    ring::Quality quality = ring::Quality::not_ready;  // the worse of the row's and its channel's
    bool whole = false;                                // false: its writer died while writing it
};
Row read_row(const ring::Reader& reader, std::uint32_t index) {
    Row row;
    row.index = index;
    const auto identity = reader.identity(index);
    const auto status = reader.status(index);
    const auto statistics = reader.statistics(index);
    const auto auction = reader.auction(index);
    row.whole = identity && status && statistics && auction;
    row.identity = identity.value_or(ring::Identity{});
    row.status = status.value_or(ring::InstrumentStatus{});
    row.standing.statistics = statistics.value_or(ring::TradeStatistics{});
    row.standing.auction = auction.value_or(ring::AuctionState{});
    if (row.whole)
        row.quality = ring::worse(row.status.quality, reader.channel_quality(row.identity.channel));
    return row;
}

bool is_wanted(const SegmentView& view, const ring::Identity& identity) {
    return view.symbols.empty() || std::find(view.symbols.begin(), view.symbols.end(),
                                             identity.symbol.view()) != view.symbols.end();
}
template <class Visit>
void for_each_row(const SegmentView& view, Visit visit) {
    const std::uint32_t instruments = view.reader.instruments();
    for (std::uint32_t i = 0; i < instruments; ++i) {
        const Row row = read_row(view.reader, i);
        if (is_wanted(view, row.identity)) visit(row);
    }
}

// Those that instruments are of.
std::vector<std::uint16_t> channels_of(const ring::Reader& reader) {
    std::array<bool, ring::max_channels> used{};
    for (std::uint32_t i = 0; i < reader.instruments(); ++i) {
        const auto identity = reader.identity(i);
        if (identity && identity->channel < used.size()) used[identity->channel] = true;
    }
    std::vector<std::uint16_t> channels;
    for (std::size_t i = 0; i < used.size(); ++i)
        if (used[i]) channels.push_back(static_cast<std::uint16_t>(i));
    return channels;
}

// ---- text

std::string age_text(const std::optional<std::int64_t>& ns) {
    if (!ns) return "at an unknown time";
    const auto age = static_cast<double>(*ns);
    if (age < 1e3) return fmt::format("{} ns ago", *ns);
    if (age < 1e6) return fmt::format("{:.1f} us ago", age / 1e3);
    if (age < 1e9) return fmt::format("{:.1f} ms ago", age / 1e6);
    return fmt::format("{:.1f} s ago", age / 1e9);
}
std::string utc_text(std::int64_t ns) {
    const std::time_t seconds = ns / 1'000'000'000;
    std::tm parts{};
    if (::gmtime_r(&seconds, &parts) == nullptr) return "?";
    return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", parts.tm_year + 1900,
                       parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}
std::string printable(std::string_view text) {
    std::string shown(text);
    for (char& c : shown)
        if (c < ' ' || c > '~') c = '?';
    return shown;
}

void append_writer(std::string& out, const SegmentView& view, const SegmentHealth& health) {
    const ring::SegmentHeader& h = view.reader.header();
    const std::string age = age_text(health.heartbeat_age_ns);
    switch (health.writer) {
        case WriterState::running:
            add(out, "writer      process {}, running, heartbeat {}{}\n", h.writer_pid, age,
                health.hangs() ? ": it hangs" : "");
            break;
        case WriterState::closed:
            add(out, "writer      process {}, has closed the segment, heartbeat {}\n", h.writer_pid,
                age);
            break;
        case WriterState::dead:
            add(out, "writer      process {}, has died without closing it, heartbeat {}\n",
                h.writer_pid, age);
            break;
    }
}

void append_head(std::string& out, const SegmentView& view, const SegmentHealth& health) {
    const ring::Reader& reader = view.reader;
    const ring::SegmentHeader& h = reader.header();
    add(out, "segment     {}, session {}, ABI version {}\n", printable(reader.path()),
        printable(session_of(h)), h.abi);
    append_writer(out, view, health);
    add(out, "made        {}, epoch {}\n", utc_text(h.created_ns), h.epoch);
    add(out, "geometry    depth {}, {} slots of {} bytes, {} of {} instruments, {} channels\n",
        h.depth, h.slots, h.slot_bytes, reader.instruments(), h.instrument_capacity, h.channels);
    add(out, "sizes       {} bytes: header {}, instruments at {}, table at {}, ring at {}\n",
        h.segment_bytes, h.header_bytes, h.instruments_offset, h.table_offset, h.ring_offset);
    add(out, "streams     {} (word {})\n",
        stream_names(h.streams).empty() ? "books and events" : "books, events and orders",
        h.streams);
    add(out, "published   {} records, the ring holds {}", health.published, health.held);
    if (view.rate) add(out, ", {:.0f} a second", *view.rate);
    out += "\n";
    for (const std::uint16_t channel : channels_of(reader))
        add(out, "channel     {}: {}\n", channel, name_of(reader.channel_quality(channel)));
}

void append_readers(std::string& out, const SegmentView& view, const SegmentHealth& health) {
    for (const ring::ReaderPosition& reader : view.positions.readers) {
        const auto lag = reader.lag(health.published);
        add(out, "reader      process {} ({}): {} records behind, {} lost, heard {}\n", reader.pid,
            reader.program, lag ? std::to_string(*lag) : "?", reader.lost,
            age_text(age_of(view, reader.heartbeat)));
    }
    if (view.positions.readers.empty()) out += "readers     none that shows its position\n";
    if (view.positions.more) out += "readers     there are more than are shown\n";
}

void append_rows(std::string& out, const SegmentView& view) {
    add(out, "\n{:<16} {:>3} {:<9} {:<10} {:>10}   {:>12} | {:<12}   {:<10} {:>8} {:>10} {:>12}\n",
        "symbol", "ch", "status", "quality", "quantity", "bid", "ask", "quantity", "trades",
        "volume", "last");
    ring::Record record;
    for_each_row(view, [&](const Row& row) {
        if (!row.whole) return add(out, "(row {} was being written)\n", row.index);
        const unsigned places = row.identity.price_places;
        const bool has_book = view.reader.latest(row.index, record) == ring::Latest::ok;
        const ring::Level bid = has_book ? record.bid(0) : ring::Level{};
        const ring::Level ask = has_book ? record.ask(0) : ring::Level{};
        const ring::TradeStatistics& trades = row.standing.statistics;
        add(out,
            "{:<16} {:>3} {:<9} {:<10} {:>10} x {:>12} | {:<12} x {:<10} {:>8} {:>10} {:>12}\n",
            printable(row.identity.symbol.view()), row.identity.channel,
            name_of(row.status.trading), name_of(row.quality), bid.quantity,
            price_text(bid.price, places, "-"), price_text(ask.price, places, "-"), ask.quantity,
            trades.trades, trades.volume, price_text(trades.last_price, places, "-"));
    });
}

// ---- JSON

template <class T>
Json or_null(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}
// Text of a feed or a file: bytes as Latin-1.
Json text_json(std::string_view text) {
    std::string utf8;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x80) {
            utf8 += c;
        } else {
            utf8 += static_cast<char>(0xC0U | (byte >> 6U));
            utf8 += static_cast<char>(0x80U | (byte & 0x3FU));
        }
    }
    return utf8;
}
Json text_json(const char& c) {
    return text_json(std::string_view(&c, 1));
}
std::string dumped(const Json& json) {
    return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

Json readers_json(const SegmentView& view, const SegmentHealth& health) {
    Json readers = Json::array();
    for (const ring::ReaderPosition& reader : view.positions.readers)
        readers.push_back({{"pid", reader.pid},
                           {"program", reader.program},
                           {"uid", reader.uid},
                           {"next", reader.next},
                           {"lag", or_null(reader.lag(health.published))},
                           {"lost", reader.lost},
                           {"heartbeat_age_ns", or_null(age_of(view, reader.heartbeat))},
                           {"attached_ns", reader.attached_ns},
                           {"file", text_json(reader.path)}});
    return readers;
}

Json head_json(const SegmentView& view, const SegmentHealth& health) {
    const ring::Reader& reader = view.reader;
    const ring::SegmentHeader& h = reader.header();
    Json json;
    json["path"] = text_json(reader.path());
    json["session"] = text_json(session_of(h));
    json["abi"] = h.abi;
    json["epoch"] = h.epoch;
    json["created_ns"] = h.created_ns;
    json["writer"] = {{"pid", h.writer_pid}, {"start_ticks", h.writer_start}};
    json["health"] = {{"state", writer_text(health.writer)},
                      {"alive", health.writer == WriterState::running},
                      {"hangs", health.hangs()},
                      {"heartbeat_tsc", reader.heartbeat()},
                      {"heartbeat_age_ns", or_null(health.heartbeat_age_ns)},
                      {"published", health.published},
                      {"held", health.held},
                      {"rate", or_null(view.rate)}};
    json["geometry"] = {{"depth", h.depth},
                        {"slots", h.slots},
                        {"instruments", h.instrument_capacity},
                        {"channels", h.channels}};
    json["sizes"] = {{"segment_bytes", h.segment_bytes},
                     {"header_bytes", h.header_bytes},
                     {"instrument_bytes", h.instrument_bytes},
                     {"slot_bytes", h.slot_bytes},
                     {"instruments_offset", h.instruments_offset},
                     {"table_offset", h.table_offset},
                     {"ring_offset", h.ring_offset}};
    json["clock"] = {
        {"ns_per_tick", h.ns_per_tick}, {"base_tsc", h.base_tsc}, {"base_utc_ns", h.base_utc_ns}};
    json["streams"] = h.streams;
    json["stream_names"] = stream_names(h.streams);
    json["channels"] = Json::array();
    for (const std::uint16_t channel : channels_of(reader))
        json["channels"].push_back(
            {{"channel", channel}, {"quality", name_of(reader.channel_quality(channel))}});
    json["readers"] = readers_json(view, health);
    json["more_readers"] = view.positions.more;
    json["instrument_count"] = reader.instruments();
    json["renames"] = h.renames.load(std::memory_order_relaxed);
    return json;
}

// With a comma behind each key but the last: what follows is not of nlohmann's making, as prices
// are decimals of any length.
void append_row_json(std::string& out, const SegmentView& view, const Row& row) {
    Json head;
    head["index"] = row.index;
    if (!row.whole) {
        head["symbol"] = nullptr;
        out += dumped(head);
        return;
    }
    const std::string_view reason(row.status.reason.data(), row.status.reason.size());
    head["symbol"] = text_json(row.identity.symbol.view());
    head["channel"] = row.identity.channel;
    head["venue"] = row.identity.venue;
    head["price_places"] = row.identity.price_places;
    head["round_lot"] = row.identity.round_lot;
    head["status"] = name_of(row.status.trading);
    head["state"] = text_json(row.status.code);
    head["reason"] = text_json(reason.substr(0, reason.find('\0')));
    head["changed_ns"] = row.status.changed_ns;
    head["quality"] = name_of(row.quality);
    const std::string text = dumped(head);
    out.append(text, 0, text.size() - 1);
    out += ", \"statistics\": ";
    append_standing_json(out, row.standing, row.identity.price_places);
    ring::Record record;
    out += ", \"book\": ";
    if (view.reader.latest(row.index, record) == ring::Latest::ok)
        append_record_json(out, {record, row.identity, view.reader.quality(record), nullptr});
    else
        out += "null";
    out += "}";
}

}  // namespace

SegmentHealth health_of(const SegmentView& view) {
    const ring::SegmentHeader& h = view.reader.header();
    SegmentHealth health;
    const bool running = h.state.load(std::memory_order_acquire) ==
                         static_cast<std::uint64_t>(ring::SegmentState::running);
    if (!running)
        health.writer = WriterState::closed;
    else if (view.reader.writer_alive())
        health.writer = WriterState::running;
    health.published = h.published.load(std::memory_order_acquire);
    health.held = std::min(health.published, h.slots);
    const std::uint64_t heartbeat = view.reader.heartbeat();
    if (health.writer == WriterState::running) {
        health.heartbeat_age_ns = age_of(view, heartbeat);
        return health;
    }
    // Perhaps of an earlier boot: by the writer's own clock.
    const auto ticks = static_cast<double>(heartbeat) - static_cast<double>(h.base_tsc);
    const double at = static_cast<double>(h.base_utc_ns) + ticks * h.ns_per_tick;
    const double age = static_cast<double>(view.now_ns) - at;
    if (heartbeat != 0 && age >= 0 && age < 9e18)
        health.heartbeat_age_ns = static_cast<std::int64_t>(age);
    return health;
}

void append_segment_text(std::string& out, const SegmentView& view) {
    const SegmentHealth health = health_of(view);
    append_head(out, view, health);
    append_readers(out, view, health);
    if (view.rows) append_rows(out, view);
}

void append_segment_json(std::string& out, const SegmentView& view, bool one_line) {
    const SegmentHealth health = health_of(view);
    const char* const newline = one_line ? "" : "\n";
    const std::string head = dumped(head_json(view, health));
    out.append(head, 0, head.size() - 1);
    if (view.rows) {
        out += ", \"instruments\": [";
        const char* separator = "";
        for_each_row(view, [&](const Row& row) {
            add(out, "{}{}", separator, newline);
            append_row_json(out, view, row);
            separator = ",";
        });
        add(out, "{}]", newline);
    }
    out += "}";
}

}  // namespace wirebook::app
