#include "wirebook/app/dumps.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include "wirebook/app/book_rows.hpp"
#include "wirebook/wire/message_json.hpp"

namespace wirebook::app {
namespace {

void append_key(std::string& out, std::string_view key) {
    if (!out.empty()) out.push_back(' ');
    out.append(key);
    out.push_back('=');
}
void append_key_number(std::string& out, std::string_view key, std::uint64_t number) {
    append_key(out, key);
    append_number(out, number);
}
void append_key_price(std::string& out, std::string_view key, std::int64_t price,
                      std::uint8_t places) {
    append_key(out, key);
    append_price(out, price, places);
}
void append_key_char(std::string& out, std::string_view key, char value) {
    append_key(out, key);
    if (value != ' ' && value != '\0') out.push_back(value);
}
std::string_view text_of(const book::Event& event) {
    std::size_t size = 0;
    while (size < event.text.size() && event.text[size] != '\0') size += 1;
    return {event.text.data(), size};
}

void append_trade(std::string& detail, const book::Event& event, std::uint8_t places) {
    append_key_price(detail, "price", event.price, places);
    append_key_number(detail, "qty", event.quantity);
    append_key_number(detail, "id", event.id);
    append_key(detail, "printable");
    detail.push_back((event.flags & book::update_flag::printable) != 0 ? 'Y' : 'N');
    append_key_char(detail, "type", event.code);
    if (event.text[0] != '\0') append_key_char(detail, "cross", event.text[0]);
}

void append_auction(std::string& detail, const book::Event& event, std::uint8_t places) {
    append_key_char(detail, "type", event.code);
    append_key_price(detail, "reference", event.price, places);
    append_key_price(detail, "price2", event.price2, places);
    append_key_price(detail, "price3", event.price3, places);
    append_key_number(detail, "qty", event.quantity);
    append_key_number(detail, "imbalance", event.quantity2);
    append_key_char(detail, "side", event.value);
    append_key(detail, "cross");
    detail.append(text_of(event));
    append_key_char(detail, "variation", event.detail);
    append_key_number(detail, "scheduled", event.id);
}

void append_collar(std::string& detail, const book::Event& event, std::uint8_t places) {
    append_key_char(detail, "type", event.code);
    append_key_price(detail, "reference", event.price, places);
    append_key_price(detail, "lower", event.price2, places);
    append_key_price(detail, "upper", event.price3, places);
    append_key_number(detail, "extension", event.quantity);
}

void append_directory(std::string& detail, const book::Event& event, std::uint8_t places) {
    append_key_char(detail, "type", event.code);
    append_key_number(detail, "round_lot", event.quantity);
    append_key_char(detail, "value", event.value);
    append_key_char(detail, "tier", event.detail);
    if ((event.flags & book::event_flag::listing) != 0) {
        append_key_char(detail, "category", event.text[0]);
        append_key_char(detail, "financial", event.text[1]);
        append_key_char(detail, "etp", event.text[2]);
        return;
    }
    append_key_price(detail, "reference", event.price, places);
    append_key_price(detail, "lower", event.price2, places);
    append_key_price(detail, "upper", event.price3, places);
    append_key(detail, "text");
    detail.append(text_of(event));
}

std::string detail_of(const book::Event& event, std::uint8_t places) {
    std::string detail;
    switch (event.kind) {
        case book::EventKind::trade: append_trade(detail, event, places); break;
        case book::EventKind::trade_break:
            append_key_number(detail, "id", event.id);
            if (event.quantity != 0) {
                append_key_price(detail, "price", event.price, places);
                append_key_number(detail, "qty", event.quantity);
            }
            append_key_char(detail, "type", event.code);
            break;
        case book::EventKind::auction: append_auction(detail, event, places); break;
        case book::EventKind::collar: append_collar(detail, event, places); break;
        case book::EventKind::ipo:
            append_key_char(detail, "type", event.code);
            append_key_price(detail, "price", event.price, places);
            append_key_number(detail, "release", event.id);
            append_key_char(detail, "qualifier", event.value);
            break;
        case book::EventKind::status:
        case book::EventKind::system:
            append_key_char(detail, "type", event.code);
            append_key_char(detail, "value", event.value);
            append_key(detail, "text");
            detail.append(text_of(event));
            break;
        case book::EventKind::directory: append_directory(detail, event, places); break;
    }
    return detail;
}

std::string_view name_of(book::EventKind kind) {
    switch (kind) {
        case book::EventKind::trade: return "trade";
        case book::EventKind::trade_break: return "break";
        case book::EventKind::status: return "status";
        case book::EventKind::auction:
        case book::EventKind::collar:
        case book::EventKind::ipo: return "auction";
        case book::EventKind::system: return "system";
        case book::EventKind::directory: return "directory";
    }
    return "";
}

}  // namespace

std::string_view to_string(feed::Quality quality) noexcept {
    switch (quality) {
        case feed::Quality::good: return "good";
        case feed::Quality::stale: return "stale";
        case feed::Quality::recovering: return "recovering";
        case feed::Quality::not_ready: return "not-ready";
    }
    return "";
}

TopDump::TopDump(TextOutput output) : output_(std::move(output)) {
    output_.buffer() = top_header;
}

void TopDump::row(const book::BookSet& books, std::uint32_t instrument,
                  const book::PacketEnd& end) {
    append_top_row(
        output_.buffer(), {end.number, end.sequence, books.last_touch_time_ns(instrument)},
        {books.symbol(instrument), books.price_places(instrument)},
        books.best(instrument, book::Side::bid), books.best(instrument, book::Side::ask));
    output_.flush_if_full();
}

void MessagesDump::line(wire::Protocol protocol, std::uint64_t sequence, wire::Bytes message) {
    wire::append_message_json(output_.buffer(), protocol, sequence, message);
    output_.flush_if_full();
}

EventsDump::EventsDump(TextOutput output) : output_(std::move(output)) {
    output_.buffer() = "packet,seq,ts_ns,symbol,event,detail\n";
}

std::string& EventsDump::begin(const Where& where, std::string_view symbol,
                               std::string_view event) {
    std::string& out = output_.buffer();
    append_number(out, where.packet);
    out.push_back(',');
    append_number(out, where.sequence);
    out.push_back(',');
    append_signed(out, where.time_ns);
    out.push_back(',');
    append_csv_text(out, symbol);
    out.push_back(',');
    out.append(event);
    out.push_back(',');
    return out;
}

void EventsDump::end_row(std::string_view detail) {
    append_csv_text(output_.buffer(), detail);
    output_.buffer().push_back('\n');
    output_.flush_if_full();
}

void EventsDump::event(const book::BookSet& books, const book::Event& event,
                       const book::PacketEnd& end) {
    const bool named = event.instrument < books.instruments_end();
    const std::string_view symbol = named ? books.symbol(event.instrument) : std::string_view{};
    const std::uint8_t places = named ? books.price_places(event.instrument) : std::uint8_t{0};
    begin({end.number, end.sequence, event.exchange_time_ns}, symbol, name_of(event.kind));
    end_row(detail_of(event, places));
}

void EventsDump::execution(const book::BookSet& books, const book::Execution& execution,
                           const book::PacketEnd& end) {
    book::Event event{};
    event.kind = book::EventKind::trade;
    event.code = execution.has_price ? 'C' : 'E';
    event.flags = execution.printable ? book::update_flag::printable : std::uint8_t{0};
    event.price = execution.price;
    event.quantity = execution.quantity;
    event.id = execution.match_number;
    begin({end.number, end.sequence, execution.exchange_time_ns},
          books.symbol(execution.instrument), "trade");
    std::string detail = detail_of(event, books.price_places(execution.instrument));
    append_key(detail, "resting");
    detail.push_back(execution.side == book::Side::bid ? 'B' : 'S');
    end_row(detail);
}

void EventsDump::gap(const feed::Channel& channel, std::uint64_t first, std::uint64_t end,
                     std::uint64_t packet, std::string_view cause) {
    begin({packet, first, 0}, {}, "gap");
    std::string detail;
    append_key(detail, "channel");
    detail.append(channel.name());
    append_key_number(detail, "first", first);
    append_key_number(detail, "last", end - 1);
    append_key_number(detail, "lines", channel.lines());
    append_key(detail, "cause");
    detail.append(cause);
    detail.append(" outcome=given_up");
    end_row(detail);
}

void EventsDump::session(const feed::Channel& channel, const wire::SessionKey& key,
                         std::uint64_t sequence, std::uint64_t packet) {
    begin({packet, sequence, 0}, {}, "session");
    std::string detail;
    append_key(detail, "channel");
    detail.append(channel.name());
    append_key(detail, "id");
    detail.append(feed::session_text(channel.protocol(), key));
    append_key_number(detail, "next", sequence);
    end_row(detail);
}

void EventsDump::quality(const feed::Channel& channel, std::uint64_t packet,
                         std::string_view more) {
    begin({packet, channel.sequencer().expected(), 0}, {}, "quality");
    std::string detail;
    append_key(detail, "channel");
    detail.append(channel.name());
    append_key(detail, "quality");
    detail.append(to_string(channel.quality()));
    detail.append(more);
    end_row(detail);
}

Status write_final_dump(TextOutput output, std::span<const feed::Channel* const> channels) {
    struct Row {
        std::string_view symbol;
        const book::BookSet* books;
        std::uint32_t instrument;
        std::size_t channel;
        feed::InstrumentMap::Key key;
    };
    std::vector<Row> rows;
    for (std::size_t c = 0; c < channels.size(); ++c) {
        const feed::Channel* channel = channels[c];
        const book::BookSet& books = channel->books();
        for (std::uint32_t i = 0; i < books.instruments_end(); ++i) {
            std::array<book::LevelView, 1> best{};
            if (books.depth(i, book::Side::bid, best) + books.depth(i, book::Side::ask, best) > 0) {
                rows.push_back({books.symbol(i), &books, i, c, channel->instrument_key(i)});
            }
        }
    }
    const auto order = [](const Row& row) {
        return std::tuple(row.symbol, row.channel, row.key.high, row.key.low);
    };
    std::sort(rows.begin(), rows.end(),
              [&](const Row& a, const Row& b) { return order(a) < order(b); });

    std::string& out = output.buffer();
    out = final_header;
    for (const Row& row : rows) {
        for (const book::Side side : {book::Side::bid, book::Side::ask}) {
            std::uint64_t level = 0;
            row.books->for_each_level(row.instrument, side, [&](const book::LevelView& view) {
                append_final_row(out, {row.symbol, row.books->price_places(row.instrument)}, side,
                                 level++, view);
                output.flush_if_full();
            });
        }
    }
    return output.close();
}

}  // namespace wirebook::app
