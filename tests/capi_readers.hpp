// One face for both readers of a segment, the C++ one and the C interface, so that the same
// scenario runs against either. What they return is brought to the C interface's terms: numbers of
// wirebook_polled, negative errnos.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ring_fixture.hpp"
#include "wirebook.h"

namespace wirebook::test {

struct Attach {
    std::string name = "test";
    ring::Resume resume = ring::Resume::table;
    bool join_table = true, live_only = true, follow = false, show_position = false;
    bool by_path = false;  // attach_file
    unsigned wait_ms = 0;
};

// What wirebook_describe gives, compared as a whole.
struct Description {
    std::vector<std::uint64_t> numbers;
    double ns_per_tick = 0;
    std::string session_name, path, position_path;
    bool operator==(const Description&) const = default;
};

class CppReader {
public:
    explicit CppReader(const std::string& directory, const Attach& how = {}) {
        ring::AttachOptions options;
        options.directory = directory;
        options.wait = std::chrono::milliseconds(how.wait_ms);
        options.resume = how.resume;
        options.join_table = how.join_table;
        options.live_only = how.live_only;
        options.follow = how.follow;
        options.show_position = how.show_position;
        auto attached =
            how.by_path ? ring::Reader::attach_file(directory + "/wirebook." + how.name, options)
                        : ring::Reader::attach(how.name, options);
        if (attached)
            reader_.emplace(std::move(attached).value());
        else
            status_ = -attached.error().code, error_ = attached.error().context;
    }
    [[nodiscard]] int status() const { return status_; }  // of attach
    [[nodiscard]] const std::string& error() const { return error_; }

    int poll(ring::Record& out) { return static_cast<int>(reader_->poll(out)); }
    int reattach() {
        const auto found = reader_->reattach();
        return found ? int{found.value()} : -found.error().code;
    }
    void rejoin() { reader_->rejoin(); }
    [[nodiscard]] std::int64_t lost() const { return static_cast<std::int64_t>(reader_->lost()); }
    [[nodiscard]] std::int64_t lag() const { return static_cast<std::int64_t>(reader_->lag()); }
    int latest(std::uint32_t instrument, ring::Record& out) const {
        switch (reader_->latest(instrument, out)) {
            case ring::Latest::ok: return 0;
            case ring::Latest::none: return -ENOENT;
            case ring::Latest::busy: return -EBUSY;
        }
        return -EINVAL;
    }
    [[nodiscard]] int quality(const ring::Record& record) const {
        return static_cast<int>(reader_->quality(record));
    }
    [[nodiscard]] int channel_quality(std::uint16_t channel) const {
        return static_cast<int>(reader_->channel_quality(channel));
    }
    [[nodiscard]] std::int64_t instruments() const { return reader_->instruments(); }
    [[nodiscard]] std::int64_t renames() const {
        return static_cast<std::int64_t>(reader_->header().renames.load());
    }
    [[nodiscard]] std::int64_t find(const char* symbol,
                                    std::optional<std::uint16_t> channel = {}) const {
        const auto found = reader_->find(symbol, channel);
        return found ? *found : std::int64_t{-ENOENT};
    }
    [[nodiscard]] std::int64_t find_at_venue(const char* symbol, std::uint32_t venue) const {
        for (std::uint32_t i = 0; i < reader_->instruments(); ++i)
            if (reader_->symbol(i).view() == symbol && reader_->identity(i)->venue == venue)
                return i;
        return -ENOENT;
    }
    template <class Row>
    [[nodiscard]] std::optional<Row> row(std::uint32_t instrument) const {
        if constexpr (std::is_same_v<Row, ring::Identity>) return reader_->identity(instrument);
        if constexpr (std::is_same_v<Row, ring::InstrumentStatus>)
            return reader_->status(instrument);
        if constexpr (std::is_same_v<Row, ring::TradeStatistics>)
            return reader_->statistics(instrument);
        if constexpr (std::is_same_v<Row, ring::AuctionState>) return reader_->auction(instrument);
    }
    [[nodiscard]] Description describe() const {
        const ring::SegmentHeader& h = reader_->header();
        return {{h.abi, h.depth, h.instrument_capacity, h.channels, h.streams, h.slots,
                 h.slot_bytes, h.segment_bytes, h.epoch, h.writer_pid, h.writer_start,
                 static_cast<std::uint64_t>(h.created_ns), h.base_tsc,
                 static_cast<std::uint64_t>(h.base_utc_ns)},
                h.ns_per_tick,
                h.session_name.data(),
                reader_->path(),
                reader_->position_path()};
    }
    [[nodiscard]] int writer_alive() const { return int{reader_->writer_alive()}; }
    [[nodiscard]] std::uint64_t heartbeat() const { return reader_->heartbeat(); }
    [[nodiscard]] std::int64_t ns_from_ticks(std::uint64_t ticks) const {
        return reader_->clock().ns_from_ticks(ticks);
    }
    [[nodiscard]] std::int64_t utc_from_tsc(std::uint64_t tsc) const {
        return reader_->clock().to_utc_ns(tsc);
    }
    static ring::Level level(const ring::Record& record, bool bid, std::uint32_t level) {
        return bid ? record.bid(level) : record.ask(level);
    }
    template <class Body>
    static Body event(const ring::Record& record) {
        return record.event<Body>();
    }

private:
    int status_ = 0;
    std::string error_;
    std::optional<ring::Reader> reader_;
};

inline int c_row(const wirebook_reader* reader, std::uint32_t i, wirebook_identity* out) {
    return wirebook_read_identity(reader, i, out);
}
inline int c_row(const wirebook_reader* reader, std::uint32_t i, wirebook_instrument_status* out) {
    return wirebook_read_status(reader, i, out);
}
inline int c_row(const wirebook_reader* reader, std::uint32_t i, wirebook_trade_statistics* out) {
    return wirebook_read_statistics(reader, i, out);
}
inline int c_row(const wirebook_reader* reader, std::uint32_t i, wirebook_auction_state* out) {
    return wirebook_read_auction(reader, i, out);
}
// A C function of a record's event, and what it gives, by the C++ body's type.
template <class Body>
struct COf;
#define WIREBOOK_C_OF(Body, c_name, function)  \
    template <>                                \
    struct COf<ring::Body> {                   \
        using Type = c_name;                   \
        static constexpr auto* get = function; \
    }
WIREBOOK_C_OF(TradeEvent, wirebook_trade_event, wirebook_event_trade);
WIREBOOK_C_OF(TradeBreakEvent, wirebook_break_event, wirebook_event_break);
WIREBOOK_C_OF(StatusEvent, wirebook_status_event, wirebook_event_status);
WIREBOOK_C_OF(AuctionEvent, wirebook_auction_event, wirebook_event_auction);
WIREBOOK_C_OF(CollarEvent, wirebook_collar_event, wirebook_event_collar);
WIREBOOK_C_OF(IpoEvent, wirebook_ipo_event, wirebook_event_ipo);
WIREBOOK_C_OF(SystemEvent, wirebook_system_event, wirebook_event_system);
WIREBOOK_C_OF(GapEvent, wirebook_gap_event, wirebook_event_gap);
WIREBOOK_C_OF(SessionEvent, wirebook_session_event, wirebook_event_session);
WIREBOOK_C_OF(QualityEvent, wirebook_quality_event, wirebook_event_quality);
WIREBOOK_C_OF(DirectoryEvent, wirebook_directory_event, wirebook_event_directory);
WIREBOOK_C_OF(OrderEvent, wirebook_order_event, wirebook_event_order);
#undef WIREBOOK_C_OF
template <class Row>
struct CRow;
template <>
struct CRow<ring::Identity> : std::type_identity<wirebook_identity> {};
template <>
struct CRow<ring::InstrumentStatus> : std::type_identity<wirebook_instrument_status> {};
template <>
struct CRow<ring::TradeStatistics> : std::type_identity<wirebook_trade_statistics> {};
template <>
struct CRow<ring::AuctionState> : std::type_identity<wirebook_auction_state> {};

// `Offset`: how far the record that it polls into lies from a boundary of 64 bytes.
template <std::size_t Offset>
class CReaderAt {
public:
    explicit CReaderAt(const std::string& directory, const Attach& how = {}) {
        wirebook_attach_options options{};
        options.size = sizeof(options);
        options.flags = (how.join_table ? 0 : WIREBOOK_ATTACH_NO_TABLE) |
                        (how.live_only ? 0 : WIREBOOK_ATTACH_LEFT_BEHIND) |
                        (how.follow ? WIREBOOK_ATTACH_FOLLOW : 0) |
                        (how.show_position ? WIREBOOK_ATTACH_SHOW_POSITION : 0);
        options.resume = static_cast<std::uint32_t>(how.resume);
        options.wait_ms = how.wait_ms;
        options.directory = directory.c_str();
        wirebook_reader* reader = nullptr;
        const std::string path = directory + "/wirebook." + how.name;
        status_ = how.by_path ? wirebook_attach_file(path.c_str(), &options, &reader)
                              : wirebook_attach(how.name.c_str(), &options, &reader);
        CHECK((status_ == 0) == (reader != nullptr));
        if (status_ != 0) error_ = wirebook_last_error();
        reader_.reset(reader);
    }
    [[nodiscard]] int status() const { return status_; }
    [[nodiscard]] const std::string& error() const { return error_; }

    int poll(ring::Record& out) {
        wirebook_record& record = place();
        const int polled = wirebook_poll(reader_.get(), &record);
        if (polled == WIREBOOK_POLL_RECORD) std::memcpy(static_cast<void*>(&out), &record, 1088);
        return polled;
    }
    int reattach() { return wirebook_reattach(reader_.get()); }
    void rejoin() { CHECK(wirebook_rejoin(reader_.get()) == 0); }
    [[nodiscard]] std::int64_t lost() const { return wirebook_lost(reader_.get()); }
    [[nodiscard]] std::int64_t lag() const { return wirebook_lag(reader_.get()); }
    int latest(std::uint32_t instrument, ring::Record& out) {
        wirebook_record& record = place();
        const int got = wirebook_latest(reader_.get(), instrument, &record);
        if (got == 0) std::memcpy(static_cast<void*>(&out), &record, 1088);
        return got;
    }
    [[nodiscard]] int quality(const ring::Record& record) const {
        return wirebook_quality_of(reader_.get(), as_c(record));
    }
    [[nodiscard]] int channel_quality(std::uint16_t channel) const {
        return wirebook_channel_quality(reader_.get(), channel);
    }
    [[nodiscard]] std::int64_t instruments() const { return wirebook_instruments(reader_.get()); }
    [[nodiscard]] std::int64_t renames() const { return wirebook_renames(reader_.get()); }
    [[nodiscard]] std::int64_t find(const char* symbol,
                                    std::optional<std::uint16_t> channel = {}) const {
        return channel ? wirebook_find_on_channel(reader_.get(), symbol, *channel)
                       : wirebook_find(reader_.get(), symbol);
    }
    [[nodiscard]] std::int64_t find_at_venue(const char* symbol, std::uint32_t venue) const {
        return wirebook_find_at_venue(reader_.get(), symbol, venue);
    }
    template <class Row>
    [[nodiscard]] std::optional<Row> row(std::uint32_t instrument) const {
        typename CRow<Row>::type row;
        const int got = c_row(reader_.get(), instrument, &row);
        if (got != 0) return std::nullopt;
        return std::bit_cast<Row>(row);
    }
    [[nodiscard]] Description describe() const {
        wirebook_segment s{};
        s.size = sizeof(s);
        CHECK(wirebook_describe(reader_.get(), &s) == 0);
        return {{s.abi, s.depth, s.instrument_capacity, s.channels, s.streams, s.slots,
                 s.slot_bytes, s.segment_bytes, s.epoch, s.writer_pid, s.writer_start,
                 static_cast<std::uint64_t>(s.created_ns), s.base_tsc,
                 static_cast<std::uint64_t>(s.base_utc_ns)},
                s.ns_per_tick,
                s.session_name,
                wirebook_path(reader_.get()),
                wirebook_position_path(reader_.get())};
    }
    [[nodiscard]] int writer_alive() const { return wirebook_writer_alive(reader_.get()); }
    [[nodiscard]] std::uint64_t heartbeat() const {
        std::uint64_t tsc = 0;
        CHECK(wirebook_heartbeat(reader_.get(), &tsc) == 0);
        return tsc;
    }
    [[nodiscard]] std::int64_t ns_from_ticks(std::uint64_t ticks) const {
        return wirebook_ns_from_ticks(reader_.get(), ticks);
    }
    [[nodiscard]] std::int64_t utc_from_tsc(std::uint64_t tsc) const {
        std::int64_t ns = 0;
        CHECK(wirebook_utc_from_tsc(reader_.get(), tsc, &ns) == 0);
        return ns;
    }
    static ring::Level level(const ring::Record& record, bool bid, std::uint32_t level) {
        wirebook_level out{1, 1, 1, 1};
        const auto of_side = bid ? record.bid_levels : record.ask_levels;
        const int got = (bid ? wirebook_bid : wirebook_ask)(as_c(record), level, &out);
        CHECK(got == (level < of_side ? 0 : -ENOENT));
        return std::bit_cast<ring::Level>(out);
    }
    template <class Body>
    static Body event(const ring::Record& record) {
        typename COf<Body>::Type out;
        CHECK(COf<Body>::get(as_c(record), &out) == 0);
        return std::bit_cast<Body>(out);
    }

private:
    static const wirebook_record* as_c(const ring::Record& record) {
        return static_cast<const wirebook_record*>(static_cast<const void*>(&record));
    }
    wirebook_record& place() {
        return *static_cast<wirebook_record*>(static_cast<void*>(room_.data() + Offset));
    }
    struct Close {
        void operator()(wirebook_reader* reader) const { wirebook_close(reader); }
    };
    int status_ = 0;
    std::string error_;
    std::unique_ptr<wirebook_reader, Close> reader_;
    alignas(64) std::array<std::byte, 1088 + 64> room_{};
};
using CReader = CReaderAt<0>;
using UnalignedCReader = CReaderAt<8>;

// A live segment and a C reader of it.
struct Attached {
    Attached() : writer(must_create(small_segment(folder.path()))) {
        add_instruments(writer);
        options.size = sizeof(options);
        options.directory = folder.path().c_str();
        REQUIRE(wirebook_attach("test", &options, &reader) == 0);
    }
    ~Attached() { wirebook_close(reader); }
    Attached(const Attached&) = delete;
    Attached& operator=(const Attached&) = delete;

    TemporaryFolder folder;
    ring::Writer writer;
    wirebook_attach_options options{};
    wirebook_reader* reader = nullptr;
};

}  // namespace wirebook::test
