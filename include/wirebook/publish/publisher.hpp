// Books -> ring records: what is published, when, and in which order (docs/books.md).
//
// Knows books and the ring, not feeds. One Publisher a segment, on the lcore that owns the books.
// A record is held back until it is known whether it is its packet's last, which is flagged; so
// everything of a packet is in the ring after packet_end().
//
// Instruments get their row in the segment when they are first seen; the same symbol of the same
// channel keeps its row over sessions. Two instruments of one session never share a row. After a
// session change or a clear the table's old snapshots stay readable but the instrument's own
// quality says not-ready until its next snapshot.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wirebook/book/book_set.hpp"
#include "wirebook/publish/event_records.hpp"
#include "wirebook/publish/trade_keeper.hpp"
#include "wirebook/ring/writer.hpp"

namespace wirebook::publish {

enum class Mode : std::uint8_t {
    changed,  // only where something visible at the segment's depth has changed
    touched,  // for every touched instrument
};

struct PublisherCounters {
    std::uint64_t snapshots = 0;
    std::uint64_t suppressed = 0;  // touched, but nothing visible changed
    std::uint64_t events = 0;
    std::uint64_t orders = 0;           // records of the order stream
    std::uint64_t no_instrument = 0;    // not published: the instrument table is full
    std::uint64_t unknown_breaks = 0;   // of trades that nobody remembers: still counted
    std::uint64_t unrepresentable = 0;  // records with a price beyond the ring's range, left out
    std::uint64_t no_channel = 0;       // not published: more channels than a segment has words for
};

// In the order that reads, not in the one with the least padding: there is one of it.
class Publisher {  // NOLINT(clang-analyzer-optin.performance.Padding)
public:
    Publisher(ring::Writer writer, Mode mode)
        : writer_(std::move(writer)),
          mode_(mode),
          orders_((writer_.streams() & ring::stream_flag::orders) != 0),
          depth_(writer_.geometry().depth) {
        for (std::uint32_t i = 0; i < writer_.geometry().channels; ++i) {
            writer_.set_channel_quality(static_cast<std::uint16_t>(i), ring::Quality::not_ready);
        }
    }

    // What the exchange times of a channel's feed need to become ns since 1970, UTC.
    void set_time_offset(std::uint16_t channel, std::int64_t offset_ns);
    // Of the instruments that the channel shows from now on (ring::Identity).
    void set_venue(std::uint16_t channel, std::uint32_t venue);

    void touched(const book::BookSet& books, std::uint32_t instrument,
                 const book::PacketEnd& end) noexcept;
    void event(const book::BookSet& books, const book::Event& event,
               const book::PacketEnd& end) noexcept;
    void execution(const book::BookSet& books, const book::Execution& execution,
                   const book::PacketEnd& end) noexcept;
    // The segment has the order stream, as its writer was made.
    [[nodiscard]] bool wants_orders() const noexcept { return orders_; }
    void order(const book::BookSet& books, const book::OrderChange& change,
               const book::PacketEnd& end) noexcept;
    void packet_end() noexcept { publish_held(ring::record_flag::last_of_packet); }

    // The feed's own state, between packets.
    void gap(std::uint16_t channel, std::uint64_t first, std::uint64_t end,
             std::uint16_t lines) noexcept;
    void session(std::uint16_t channel, const std::array<char, 16>& session,
                 std::uint64_t next_sequence) noexcept;
    void quality(std::uint16_t channel, ring::Quality quality) noexcept;
    // The channel's books are empty now, without snapshots saying so. `forget`: its instruments
    // get their names anew.
    void cleared(std::uint16_t channel, bool forget) noexcept;

    // The instrument gets no snapshots any more: its last one is not to be believed.
    void unfollowed(std::uint32_t instrument, std::uint16_t channel) noexcept;

    void heartbeat(std::uint64_t tsc) noexcept { writer_.heartbeat(tsc); }
    void close() noexcept { writer_.close(); }
    // TSC of the last publication, and the packet's stamps are those of the record held: for
    // latency histograms.
    [[nodiscard]] const PublisherCounters& counters() const noexcept { return counters_; }
    [[nodiscard]] const ring::Writer& writer() const noexcept { return writer_; }

private:
    static constexpr std::uint32_t unmapped = 0xFFFF'FFFF;
    using Levels = std::array<ring::LevelRow, ring::max_depth>;

    struct ChannelState {
        std::vector<std::uint32_t> rows;  // instrument of the book set -> row of the segment
        std::int64_t time_offset_ns = 0;
        std::uint32_t venue = 0;
        ring::Quality quality = ring::Quality::not_ready;
        bool incomplete = true;  // trades of this session may be missing
    };
    struct RowState {
        std::uint8_t bid_levels = 0, ask_levels = 0;  // of the last snapshot
        bool published = false;                       // has one since the last clear
        bool taken = false;                           // by an instrument of this session
        std::string symbol;
        ring::InstrumentStatus status;
    };

    [[nodiscard]] ChannelState* channel(std::uint16_t index) noexcept;
    [[nodiscard]] std::uint32_t row_of(const book::BookSet& books, std::uint32_t instrument,
                                       std::uint16_t channel) noexcept;
    [[nodiscard]] std::uint32_t add_row(const book::BookSet& books, std::uint32_t instrument,
                                        std::uint16_t channel) noexcept;
    [[nodiscard]] bool same_as_last(std::uint32_t row, const ring::Record& record) const noexcept;
    void remember(std::uint32_t row, const ring::Record& record) noexcept;
    // The held record is published; a fresh one takes its place.
    ring::Record& next_record(std::uint32_t row, const book::PacketEnd& end) noexcept;
    void describe(ring::Record& record, std::uint32_t row,
                  const book::PacketEnd& end) const noexcept;
    void publish_held(std::uint8_t flags) noexcept;
    [[nodiscard]] ring::Record& held() noexcept { return records_[held_at_]; }
    void publish_alone(ring::Record& record) noexcept;
    void rename(std::uint32_t row, std::uint16_t channel, std::string_view symbol,
                std::uint8_t places) noexcept;
    void set_quality(std::uint32_t row, ring::Quality quality) noexcept;
    void update_row(std::uint32_t row, const book::Event& event, const EventContext& context,
                    const ring::Record& record) noexcept;
    void count_trade(const ring::Record& record) noexcept;
    void trade_broken(std::uint32_t row, std::uint16_t channel, std::uint64_t match) noexcept;

    ring::Writer writer_;
    Mode mode_;
    bool orders_;
    std::uint32_t depth_;
    std::array<ring::Record, 2> records_{};  // the held one, and room for the next snapshot
    std::size_t held_at_ = 0;
    bool holding_ = false;
    std::vector<ChannelState> channels_;
    std::vector<RowState> row_states_;
    std::vector<ring::LevelRow> last_;  // depth_ rows for each segment row: its last snapshot
    std::vector<ring::AuctionState> auctions_;  // by row
    TradeKeeper trades_;
    std::map<std::pair<std::uint16_t, std::string>, std::uint32_t> by_symbol_;
    PublisherCounters counters_;
};

}  // namespace wirebook::publish
