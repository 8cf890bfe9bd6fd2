// Who looks at the pipeline's results: dumps, fingerprint, publisher, latency. All are optional.
//
// Static polymorphism towards feed::Pipeline; the parts are plain pointers, null where off. One
// thread: the lcore's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "wirebook/app/dumps.hpp"
#include "wirebook/app/fingerprint.hpp"
#include "wirebook/app/loss_watch.hpp"
#include "wirebook/app/trading_date.hpp"
#include "wirebook/core/clock.hpp"
#include "wirebook/core/histogram.hpp"
#include "wirebook/feed/pipeline.hpp"
#include "wirebook/publish/publisher.hpp"

namespace wirebook::app {

// Latency of each packet that published something, since its receive stamp, in ns.
struct Latencies {
    Histogram decoded, published;
};

class Observer {
public:
    std::optional<TopDump> top;
    std::optional<MessagesDump> messages;
    std::optional<EventsDump> events;
    std::optional<TextOutput> final_books, stats;  // written at the end, opened at the start
    std::optional<Fingerprint> fingerprint;
    std::unique_ptr<publish::Publisher> publisher;
    std::unique_ptr<Latencies> latencies;  // where packets carry a receive TSC
    const LossWatch* losses = nullptr;     // of the ports, in run
    GapCauses gap_causes;
    TscClock clock;
    TradingDates dates;

    [[nodiscard]] bool wants_orders() const noexcept {
        return publisher && publisher->wants_orders();
    }
    void on_order(const feed::Channel& channel, const book::OrderChange& change,
                  const book::PacketEnd& end) noexcept {
        set_date(channel, end);
        publisher->order(channel.books(), change, end);
    }
    [[nodiscard]] bool wants_messages() const noexcept { return messages.has_value(); }

    void on_channel(const feed::Channel& channel) noexcept {
        dates.add(channel);
        const auto venue = static_cast<std::uint32_t>(channel.traits().venue);
        if (publisher) publisher->set_venue(channel.index(), venue);
    }
    void on_message(const feed::Channel& channel, std::uint64_t sequence,
                    wire::Bytes message) noexcept {
        messages->line(channel.protocol(), sequence, message);
    }
    void on_event(const feed::Channel& channel, const book::Event& event,
                  const book::PacketEnd& end) noexcept {
        const book::BookSet& books = channel.books();
        if (is_left_out(channel, event.instrument)) return;
        if (events) events->event(books, event, end);
        if (fingerprint) hash(books, event);
        if (publisher) publish_event(channel, event, end);
    }
    void on_execution(const feed::Channel& channel, const book::Execution& execution,
                      const book::PacketEnd& end) noexcept {
        if (events) events->execution(channel.books(), execution, end);
        if (fingerprint) hash(channel.books(), execution);
        if (publisher) {
            set_date(channel, end);
            publisher->execution(channel.books(), execution, end);
        }
    }
    void on_touched(const feed::Channel& channel, std::uint32_t instrument,
                    const book::PacketEnd& end) noexcept {
        if (top) top->row(channel.books(), instrument, end);
        if (fingerprint) hash(channel.books(), instrument);
        if (publisher) {
            set_date(channel, end);
            publisher->touched(channel.books(), instrument, end);
        }
    }
    void on_packet_end(const feed::Channel&, const book::PacketEnd& end) noexcept {
        if (!publisher) return;
        publisher->packet_end();
        if (latencies == nullptr || end.receive_tsc == 0) return;
        const std::uint64_t now = rdtsc();
        latencies->published.record(ns_between(end.receive_tsc, now));
        latencies->decoded.record(ns_between(end.receive_tsc, end.decoded_tsc));
    }
    void on_session(const feed::Channel& channel, const wire::SessionKey& key,
                    std::uint64_t sequence, bool first, std::uint64_t packet) noexcept;
    void on_gap(const feed::Channel& channel, std::uint64_t first, std::uint64_t end,
                std::uint64_t packet) noexcept;
    void on_quality(const feed::Channel& channel, std::uint64_t packet) noexcept;
    void on_offline(const feed::Channel& channel, std::uint64_t packet) noexcept;
    void on_unfollowed(const feed::Channel& channel, std::uint32_t instrument) noexcept {
        if (publisher) publisher->unfollowed(instrument, channel.index());
    }

private:
    [[nodiscard]] std::int64_t ns_between(std::uint64_t from, std::uint64_t to) const noexcept {
        return to <= from ? 0 : clock.ns_from_ticks(to - from);
    }
    // Events of instruments that the configuration leaves out are in no dump and on no ring.
    // An instrument without a name yet is in no list of symbols.
    [[nodiscard]] static bool is_left_out(const feed::Channel& channel,
                                          std::uint32_t instrument) noexcept {
        const book::BookSet& books = channel.books();
        if (instrument == book::no_instrument) return false;
        if (instrument >= books.instruments_end() || !books.named(instrument)) {
            return !channel.options().filter.follows_all();
        }
        return !books.followed(instrument);
    }
    // A feed's times of day need the date of its session: that of the session's first packet.
    void set_date(const feed::Channel& channel, const book::PacketEnd& end) noexcept {
        constexpr auto no_time = static_cast<std::uint8_t>(wire::TimeSource::nic_unsynchronised);
        const std::int64_t time_ns =
            end.time_source == no_time ? clock.to_utc_ns(end.receive_tsc) : end.receive_time_ns;
        if (const auto offset = dates.offset_once(channel, time_ns)) {
            publisher->set_time_offset(channel.index(), *offset);
        }
    }
    void publish_event(const feed::Channel& channel, const book::Event& event,
                       const book::PacketEnd& end) noexcept;
    void hash(const book::BookSet& books, const book::Event& event) noexcept;
    void hash(const book::BookSet& books, const book::Execution& execution) noexcept;
    void hash(const book::BookSet& books, std::uint32_t instrument) noexcept;
};

using AppPipeline = feed::Pipeline<Observer>;

}  // namespace wirebook::app
