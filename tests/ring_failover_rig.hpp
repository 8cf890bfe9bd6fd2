// Two handlers' segments "a" and "b" of the same channels, written by hand, and their failover
// reader, whose records are told as text. Their rows differ: "b" has another instrument in front
// and the common ones in the opposite order.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "ring_fixture.hpp"
#include "wirebook/ring/failover.hpp"

namespace wirebook::test {

using Texts = std::vector<std::string>;
inline constexpr std::chrono::microseconds no_limit{1'000'000'000'000'000};

class FailoverRig {
public:
    static constexpr std::uint32_t symbols = 4;

    explicit FailoverRig(std::chrono::microseconds limit = no_limit, std::uint64_t slots = 64,
                         std::chrono::microseconds session_limit = no_limit)
        : limit_(limit), session_limit_(session_limit), slots_(slots) {}

    void create(std::size_t s) {
        ring::SegmentOptions options = small_segment(folder_.path());
        options.name = name(s);
        options.geometry.slots = slots_;
        writers[s].emplace(must_create(options));
        writers[s]->heartbeat(~std::uint64_t{0});  // beats for ever
        if (s == 1) static_cast<void>(writers[s]->add_instrument("OTHER", 1, 4));
        for (std::uint32_t i = 0; i < symbols; ++i) {
            const std::uint32_t symbol = s == 0 ? i : symbols - 1 - i;
            static_cast<void>(writers[s]->add_instrument("S" + std::to_string(symbol), 0, 4));
        }
    }
    void attach() {
        ring::AttachOptions options;
        options.directory = folder_.path();
        auto attached = ring::FailoverReader::attach(
            {"a", "b"}, options, {.limit = limit_, .session_limit = session_limit_});
        if (!attached) FAIL(attached.error().context);
        reader.emplace(std::move(attached).value());
    }
    // Both, good, with nothing published yet.
    void start() {
        for (std::size_t s = 0; s < 2; ++s) {
            create(s);
            for (std::uint16_t channel = 0; channel < 2; ++channel)
                writers[s]->set_channel_quality(channel, ring::Quality::good);
        }
        attach();
        REQUIRE(read().empty());  // the table is behind us
    }

    [[nodiscard]] static std::uint32_t row(std::size_t s, std::uint32_t symbol) {
        return s == 0 ? symbol : symbols - symbol;
    }
    // A trade: its match says which message of the feed it is.
    void trade(std::size_t s, std::uint64_t sequence, std::uint64_t match, bool last = false,
               std::uint16_t channel = 0) {
        ring::Record record = of_packet(s, sequence, last, channel);
        record.instrument = row(s, match % symbols);
        record.set_event(ring::TradeEvent{.price = 1, .quantity = 1, .match = match});
        writers[s]->publish_event(record);
    }
    void book(std::size_t s, std::uint64_t sequence, std::uint32_t symbol, bool last = false,
              std::uint16_t channel = 0) {
        ring::Record record = of_packet(s, sequence, last, channel);
        record.instrument = row(s, symbol);
        record.bid_quantity = sequence;
        writers[s]->publish_snapshot(record);
    }
    // A packet of one trade, with the book behind it.
    void packet(std::size_t s, std::uint64_t sequence, std::uint16_t channel = 0) {
        trade(s, sequence, sequence, false, channel);
        book(s, sequence, sequence % symbols, true, channel);
    }
    void gap(std::size_t s, std::uint64_t first, std::uint64_t last, std::uint16_t channel = 0) {
        ring::Record record = of_packet(s, first, true, channel);
        record.set_event(ring::GapEvent{.first = first, .last = last});
        writers[s]->publish_event(record);
        quality(s, ring::Quality::stale, channel);
    }
    void quality(std::size_t s, ring::Quality after, std::uint16_t channel = 0) {
        ring::Record record = of_packet(s, 0, true, channel);
        writers[s]->set_channel_quality(channel, after);
        record.set_event(ring::QualityEvent{.after = after});
        writers[s]->publish_event(record);
    }
    void session(std::size_t s, char id, std::uint64_t next, std::uint16_t channel = 0) {
        ring::Record record = of_packet(s, next, true, channel);
        ring::SessionEvent body;
        body.session[0] = id;
        body.next_sequence = next;
        record.set_event(body);
        writers[s]->publish_event(record);
    }

    // What poll returns until it has nothing for a while; ends with what it says then.
    Texts read() {
        Texts texts;
        ring::Record record;
        ring::Poll polled = ring::Poll::empty;
        for (int empty = 0; empty < 300;) {
            polled = reader->poll(record);
            empty = polled == ring::Poll::record ? 0 : empty + 1;
            if (polled == ring::Poll::record) texts.push_back(text(record));
            if (polled == ring::Poll::lapped) texts.emplace_back("lapped");
            if (polled == ring::Poll::reattached) texts.emplace_back("reattached");
        }
        return texts;
    }
    // Polls until it says that.
    void wait_for(ring::Poll wanted, Texts& texts) {
        ring::Record record;
        for (;;) {
            const ring::Poll polled = reader->poll(record);
            if (polled == ring::Poll::record) texts.push_back(text(record));
            if (polled == wanted) return;
        }
    }
    std::string text(const ring::Record& record) const {
        const std::string at = std::to_string(record.feed_sequence);
        switch (record.kind) {
            case ring::RecordKind::trade: {
                const auto match = record.event<ring::TradeEvent>().match;
                check_symbol(record, match % symbols);
                return "t" + std::to_string(match);
            }
            case ring::RecordKind::snapshot: return book_text(record);
            case ring::RecordKind::gap: {
                const auto body = record.event<ring::GapEvent>();
                return "gap" + std::to_string(body.first) + "-" + std::to_string(body.last);
            }
            case ring::RecordKind::quality:
                return "quality" +
                       std::to_string(static_cast<int>(record.event<ring::QualityEvent>().after));
            case ring::RecordKind::session:
                return std::string("session") + record.event<ring::SessionEvent>().session[0] + at;
            default: return "?";
        }
    }

private:
    static std::string name(std::size_t s) { return s == 0 ? "a" : "b"; }
    static ring::Record of_packet(std::size_t s, std::uint64_t sequence, bool last,
                                  std::uint16_t channel) {
        ring::Record record;
        record.feed_sequence = sequence;
        record.channel = channel;
        record.flags = last ? ring::record_flag::last_of_packet : std::uint8_t{0};
        record.line = static_cast<std::uint8_t>(s);
        record.exchange_time_ns = static_cast<std::int64_t>(sequence);
        return record;
    }
    // "S1@100": the book of S1 behind packet 100; "=S1@100" from the table.
    std::string book_text(const ring::Record& record) const {
        const auto identity = reader->identity(record.instrument);
        REQUIRE(identity.has_value());
        return (record.from_table() ? "=" : "") + std::string(identity->symbol.view()) + "@" +
               std::to_string(record.bid_quantity);
    }
    void check_symbol(const ring::Record& record, std::uint64_t symbol) const {
        const auto identity = reader->identity(record.instrument);
        REQUIRE(identity.has_value());
        REQUIRE(identity->symbol.view() == "S" + std::to_string(symbol));
    }

    TemporaryFolder folder_;
    std::chrono::microseconds limit_, session_limit_;
    std::uint64_t slots_;

public:
    std::array<std::optional<ring::Writer>, 2> writers;
    std::optional<ring::FailoverReader> reader;
};

}  // namespace wirebook::test
