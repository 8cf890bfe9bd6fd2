#include "wirebook/publish/publisher.hpp"

#include <algorithm>
#include <limits>

namespace wirebook::publish {
namespace {

// The venue's ticks in units of 1e-9; what does not fit 64 bits is the nearest price that does.
std::int64_t to_nano(std::int64_t ticks, std::uint8_t places) noexcept {
    static constexpr std::array<std::int64_t, 10> scale{
        1'000'000'000, 100'000'000, 10'000'000, 1'000'000, 100'000, 10'000, 1'000, 100, 10, 1};
    std::int64_t nano = 0;
    const std::int64_t factor = scale[std::min<std::size_t>(places, 9)];
    if (!__builtin_mul_overflow(ticks, factor, &nano) && nano != ring::no_price) return nano;
    return ticks < 0 ? std::numeric_limits<std::int64_t>::min() + 1
                     : std::numeric_limits<std::int64_t>::max();
}

ring::Level to_level(const book::LevelView& view, std::uint8_t places) noexcept {
    return {to_nano(view.price, places), view.quantity, view.orders, 0};
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

void fill_trade(ring::Record& record, const book::Event& event, std::uint8_t places) noexcept {
    ring::TradeEvent body;
    body.price = to_nano(event.price, places);
    body.quantity = event.quantity;
    body.match = event.id;
    body.printable = (event.flags & book::update_flag::printable) != 0 ? 1 : 0;
    body.code = event.code;
    record.set_event(body);
}

void fill_break(ring::Record& record, const book::Event& event, std::uint8_t places) noexcept {
    ring::TradeBreakEvent body;
    body.match = event.id;
    body.quantity = event.quantity;
    if (event.quantity != 0) body.price = to_nano(event.price, places);
    record.set_event(body);
}

void fill_status(ring::Record& record, const book::Event& event) noexcept {
    ring::StatusEvent body;
    body.status = event.code == 'H' ? trading_status(event.value) : ring::TradingStatus::unknown;
    body.code = event.code;
    body.value = event.value;
    body.reason = event.text;
    record.set_event(body);
}

void fill_auction(ring::Record& record, const book::Event& event, std::uint8_t places) noexcept {
    ring::AuctionEvent body;
    body.reference_price = to_nano(event.price, places);
    body.indicative_price = to_nano(event.price2, places);
    body.far_price = to_nano(event.price3, places);
    body.paired_quantity = event.quantity;
    body.imbalance_quantity = event.quantity2;
    body.imbalance_side = event.value;
    body.code = event.code;
    std::copy_n(event.text.begin(), body.cross_type.size(), body.cross_type.begin());
    record.set_event(body);
}

void fill_directory(ring::Record& record, const book::Event& event, std::uint8_t places,
                    std::string_view symbol) noexcept {
    ring::DirectoryEvent body;
    body.round_lot = event.quantity;
    body.price_places = places;
    std::copy(symbol.begin(), symbol.end(), body.symbol.begin());
    record.set_event(body);
}

void fill_event(ring::Record& record, const book::Event& event, std::uint8_t places,
                std::string_view symbol) noexcept {
    switch (event.kind) {
        case book::EventKind::trade: fill_trade(record, event, places); break;
        case book::EventKind::trade_break: fill_break(record, event, places); break;
        case book::EventKind::status: fill_status(record, event); break;
        case book::EventKind::auction: fill_auction(record, event, places); break;
        case book::EventKind::system: {
            ring::SystemEvent body;
            body.value = event.value;
            body.group = event.text;
            record.set_event(body);
            break;
        }
        case book::EventKind::directory: fill_directory(record, event, places, symbol); break;
    }
}

// Fills the sides of a snapshot from the book, `depth` levels.
void fill_book(ring::Record& record, const book::BookSet& books, std::uint32_t instrument,
               std::uint32_t depth) noexcept {
    std::array<book::LevelView, ring::max_depth> bids;
    std::array<book::LevelView, ring::max_depth> asks;
    const std::size_t bid_count =
        books.depth(instrument, book::Side::bid, std::span(bids).first(depth));
    const std::size_t ask_count =
        books.depth(instrument, book::Side::ask, std::span(asks).first(depth));
    const std::uint8_t places = books.price_places(instrument);
    record.bid_levels = static_cast<std::uint8_t>(bid_count);
    record.ask_levels = static_cast<std::uint8_t>(ask_count);
    const ring::Level bid = bid_count > 0 ? to_level(bids[0], places) : ring::Level{};
    const ring::Level ask = ask_count > 0 ? to_level(asks[0], places) : ring::Level{};
    record.bid_price = bid.price;
    record.bid_quantity = bid.quantity;
    record.bid_orders = bid.orders;
    record.ask_price = ask.price;
    record.ask_quantity = ask.quantity;
    record.ask_orders = ask.orders;
    for (std::size_t i = 1; i < std::max(bid_count, ask_count); ++i) {
        record.levels[i - 1] = {i < bid_count ? to_level(bids[i], places) : ring::Level{},
                                i < ask_count ? to_level(asks[i], places) : ring::Level{}};
    }
}

}  // namespace

Publisher::ChannelState* Publisher::channel(std::uint16_t index) noexcept {
    if (index >= writer_.geometry().channels) {
        counters_.no_channel += 1;
        return nullptr;
    }
    if (index >= channels_.size()) channels_.resize(std::size_t{index} + 1);
    return &channels_[index];
}

void Publisher::set_time_offset(std::uint16_t index, std::int64_t offset_ns) {
    if (ChannelState* state = channel(index)) state->time_offset_ns = offset_ns;
}

std::uint32_t Publisher::row_of(const book::BookSet& books, std::uint32_t instrument,
                                std::uint16_t index) noexcept {
    ChannelState* state = channel(index);
    if (state == nullptr) return unmapped;
    if (instrument >= state->rows.size()) {
        state->rows.resize(std::max<std::size_t>(instrument + 1, state->rows.size() * 2), unmapped);
    }
    std::uint32_t& row = state->rows[instrument];
    if (row == unmapped) row = add_row(books, instrument, index);
    return row;
}

std::uint32_t Publisher::add_row(const book::BookSet& books, std::uint32_t instrument,
                                 std::uint16_t index) noexcept {
    const std::string_view symbol = books.symbol(instrument);
    const auto [found, is_new] = by_symbol_.try_emplace({index, std::string(symbol)}, unmapped);
    if (is_new) {
        found->second = writer_.add_instrument(symbol, index, books.price_places(instrument));
        if (found->second == ring::no_instrument) {
            by_symbol_.erase(found);
            counters_.no_instrument += 1;
            return unmapped;
        }
        row_states_.resize(found->second + 1);
        last_.resize(std::size_t{found->second + 1} * depth_);
    }
    return found->second;
}

ring::Record& Publisher::next_record(std::uint32_t row, const book::PacketEnd& end) noexcept {
    publish_held(0);
    holding_ = true;
    ring::Record& record = held_;
    record.instrument = row;
    record.flags = 0;
    record.channel = end.channel;
    record.quality = ring::Quality::good;
    record.status =
        row == ring::no_instrument ? ring::TradingStatus::unknown : row_states_[row].status.trading;
    record.receive_tsc = end.receive_tsc;
    record.receive_time_ns = end.receive_time_ns;
    record.feed_sequence = end.sequence;
    record.packet = end.number;
    record.decoded_delta = ring::tsc_delta(end.receive_tsc, end.decoded_tsc);
    record.line = static_cast<std::uint8_t>(end.line);
    record.time_source = static_cast<ring::TimeSource>(end.time_source);
    record.bid_levels = record.ask_levels = 0;
    return record;
}

void Publisher::publish_held(std::uint8_t flags) noexcept {
    if (!holding_) return;
    holding_ = false;
    held_.flags = flags;
    if (held_.kind == ring::RecordKind::snapshot) {
        writer_.publish_snapshot(held_);
    } else {
        writer_.publish_event(held_);
    }
}

void Publisher::touched(const book::BookSet& books, std::uint32_t instrument,
                        const book::PacketEnd& end) noexcept {
    const std::uint32_t row = row_of(books, instrument, end.channel);
    if (row == unmapped) return;
    ring::Record& record = next_record(row, end);
    record.kind = ring::RecordKind::snapshot;
    record.exchange_time_ns =
        books.last_touch_time_ns(instrument) + channels_[end.channel].time_offset_ns;
    fill_book(record, books, instrument, depth_);
    if (end.receive_tsc != 0) record.booked_delta = ring::tsc_delta(end.receive_tsc, rdtsc());
    RowState& state = row_states_[row];
    if (mode_ == Mode::changed && state.published && same_as_last(row, record)) {
        counters_.suppressed += 1;
        holding_ = false;
        return;
    }
    remember(row, record);
    if (state.status.quality != ring::Quality::good) set_quality(row, ring::Quality::good);
    counters_.snapshots += 1;
}

bool Publisher::same_as_last(std::uint32_t row, const ring::Record& record) const noexcept {
    const RowState& state = row_states_[row];
    if (state.bid_levels != record.bid_levels || state.ask_levels != record.ask_levels)
        return false;
    const ring::LevelRow* last = &last_[std::size_t{row} * depth_];
    if (!(last[0] == ring::LevelRow{record.bid(0), record.ask(0)})) return false;
    const std::size_t rows = std::max(record.bid_levels, record.ask_levels);
    for (std::size_t i = 1; i < rows; ++i) {
        if (!(last[i] == record.levels[i - 1])) return false;
    }
    return true;
}

void Publisher::remember(std::uint32_t row, const ring::Record& record) noexcept {
    RowState& state = row_states_[row];
    state.published = true;
    state.bid_levels = record.bid_levels;
    state.ask_levels = record.ask_levels;
    ring::LevelRow* last = &last_[std::size_t{row} * depth_];
    last[0] = {record.bid(0), record.ask(0)};
    const std::size_t rows = std::max(record.bid_levels, record.ask_levels);
    for (std::size_t i = 1; i < rows; ++i) last[i] = record.levels[i - 1];
}

void Publisher::set_quality(std::uint32_t row, ring::Quality quality) noexcept {
    row_states_[row].status.quality = quality;
    writer_.set_status(row, row_states_[row].status);
}

void Publisher::set_status(std::uint32_t row, const book::Event& event,
                           std::int64_t time_ns) noexcept {
    ring::InstrumentStatus& status = row_states_[row].status;
    status.trading = trading_status(event.value);
    status.code = event.value;
    status.reason = event.text;
    status.changed_ns = time_ns;
    writer_.set_status(row, status);
}

void Publisher::event(const book::BookSet& books, const book::Event& event,
                      const book::PacketEnd& end) noexcept {
    ChannelState* state = channel(end.channel);
    if (state == nullptr) return;
    std::uint32_t row = ring::no_instrument;
    if (event.instrument < books.instruments_end() && !books.symbol(event.instrument).empty()) {
        row = row_of(books, event.instrument, end.channel);
        if (row == unmapped) return;
    }
    const std::uint8_t places =
        row == ring::no_instrument ? std::uint8_t{4} : books.price_places(event.instrument);
    const std::int64_t time_ns = event.exchange_time_ns + state->time_offset_ns;
    if (event.kind == book::EventKind::status && event.code == 'H' && row != ring::no_instrument) {
        set_status(row, event, time_ns);
    }
    ring::Record& record = next_record(row, end);
    record.exchange_time_ns = time_ns;
    const std::string_view symbol =
        row == ring::no_instrument ? std::string_view{} : books.symbol(event.instrument);
    fill_event(record, event, places, symbol);
    if (event.kind == book::EventKind::directory && row != ring::no_instrument) {
        rename(row, end.channel, symbol, places);
    }
    counters_.events += 1;
}

// The same instrument under another symbol: later sessions find its row by the new one.
void Publisher::rename(std::uint32_t row, std::uint16_t index, std::string_view symbol,
                       std::uint8_t places) noexcept {
    writer_.rename_instrument(row, symbol, places);
    by_symbol_.insert_or_assign({index, std::string(symbol)}, row);
}

void Publisher::execution(const book::BookSet& books, const book::Execution& execution,
                          const book::PacketEnd& end) noexcept {
    const std::uint32_t row = row_of(books, execution.instrument, end.channel);
    if (row == unmapped) return;
    ring::Record& record = next_record(row, end);
    record.exchange_time_ns = execution.exchange_time_ns + channels_[end.channel].time_offset_ns;
    ring::TradeEvent body;
    body.price = to_nano(execution.price, books.price_places(execution.instrument));
    body.quantity = execution.quantity;
    body.match = execution.match_number;
    body.resting_side =
        execution.side == book::Side::bid ? ring::RecordSide::bid : ring::RecordSide::ask;
    body.printable = execution.printable ? 1 : 0;
    body.code = 'E';
    record.set_event(body);
    counters_.events += 1;
}

void Publisher::publish_alone(ring::Record& record) noexcept {
    record.flags = ring::record_flag::last_of_packet;
    writer_.publish_event(record);
    counters_.events += 1;
}

void Publisher::gap(std::uint16_t index, std::uint64_t first, std::uint64_t end,
                    std::uint16_t lines) noexcept {
    if (channel(index) == nullptr) return;
    ring::Record record{};
    record.channel = index;
    record.feed_sequence = first;
    ring::GapEvent body;
    body.first = first;
    body.last = end - 1;
    body.lines = static_cast<std::uint8_t>(std::min<std::uint16_t>(lines, 255));
    record.set_event(body);
    publish_alone(record);
}

void Publisher::session(std::uint16_t index, const std::array<char, 16>& session,
                        std::uint64_t next_sequence) noexcept {
    if (channel(index) == nullptr) return;
    ring::Record record{};
    record.channel = index;
    record.feed_sequence = next_sequence;
    ring::SessionEvent body;
    body.session = session;
    body.next_sequence = next_sequence;
    record.set_event(body);
    publish_alone(record);
}

void Publisher::quality(std::uint16_t index, ring::Quality quality) noexcept {
    ChannelState* state = channel(index);
    if (state == nullptr) return;
    writer_.set_channel_quality(index, quality);
    ring::Record record{};
    record.channel = index;
    ring::QualityEvent body;
    body.before = state->quality;
    body.after = quality;
    state->quality = quality;
    record.set_event(body);
    publish_alone(record);
}

void Publisher::cleared(std::uint16_t index, bool forget) noexcept {
    ChannelState* state = channel(index);
    if (state == nullptr) return;
    for (std::uint32_t& row : state->rows) {
        if (row == unmapped) continue;
        row_states_[row].published = false;
        if (forget) row_states_[row].status = {};
        set_quality(row, ring::Quality::not_ready);
        if (forget) row = unmapped;
    }
}

}  // namespace wirebook::publish
