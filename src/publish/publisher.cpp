#include "wirebook/publish/publisher.hpp"

#include <algorithm>

#include "wirebook/publish/event_records.hpp"

namespace wirebook::publish {
namespace {

// A level whose price the ring cannot express looks empty: nobody takes it for one to trade at.
ring::Level to_level(const book::LevelView& view, std::uint8_t places, bool& whole) noexcept {
    const std::int64_t price = to_nano(view.price, places);
    if (price != ring::no_price) return {price, view.quantity, view.orders, 0};
    whole = false;
    return {};
}

// Fills the sides of a snapshot from the book, `depth` levels. False: one of them is left out.
bool fill_book(ring::Record& record, const book::BookSet& books, std::uint32_t instrument,
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
    bool whole = true;
    const auto level = [&](const auto& side, std::size_t count, std::size_t i) {
        return i < count ? to_level(side[i], places, whole) : ring::Level{};
    };
    const ring::Level bid = level(bids, bid_count, 0);
    const ring::Level ask = level(asks, ask_count, 0);
    record.bid_price = bid.price;
    record.bid_quantity = bid.quantity;
    record.bid_orders = bid.orders;
    record.ask_price = ask.price;
    record.ask_quantity = ask.quantity;
    record.ask_orders = ask.orders;
    for (std::size_t i = 1; i < std::max(bid_count, ask_count); ++i) {
        record.levels[i - 1] = {level(bids, bid_count, i), level(asks, ask_count, i)};
    }
    return whole;
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

void Publisher::set_venue(std::uint16_t index, std::uint32_t venue) {
    if (index < writer_.geometry().channels) channel(index)->venue = venue;
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
    const auto known = by_symbol_.find({index, std::string(symbol)});
    if (known != by_symbol_.end() && !row_states_[known->second].taken) {
        row_states_[known->second].taken = true;
        return known->second;
    }
    ring::Identity identity;
    identity.symbol = ring::Symbol(symbol);
    identity.channel = index;
    identity.price_places = books.price_places(instrument);
    identity.venue = channels_[index].venue;
    const std::uint32_t row = writer_.add_instrument(identity);
    if (row == ring::no_instrument) {
        counters_.no_instrument += 1;
        return unmapped;
    }
    row_states_.resize(row + 1);
    auctions_.resize(row + 1);
    trades_.grow(row + 1);
    last_.resize(std::size_t{row + 1} * depth_);
    row_states_[row].taken = true;
    row_states_[row].symbol = symbol;
    by_symbol_.insert_or_assign({index, row_states_[row].symbol}, row);
    return row;
}

ring::Record& Publisher::next_record(std::uint32_t row, const book::PacketEnd& end) noexcept {
    publish_held(0);
    holding_ = true;
    describe(held(), row, end);
    return held();
}

void Publisher::describe(ring::Record& record, std::uint32_t row,
                         const book::PacketEnd& end) const noexcept {
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
}

void Publisher::publish_held(std::uint8_t flags) noexcept {
    if (!holding_) return;
    holding_ = false;
    ring::Record& record = held();
    record.flags = flags;
    if (record.kind == ring::RecordKind::snapshot) {
        writer_.publish_snapshot(record);
    } else {
        writer_.publish_event(record);
    }
}

void Publisher::touched(const book::BookSet& books, std::uint32_t instrument,
                        const book::PacketEnd& end) noexcept {
    const std::uint32_t row = row_of(books, instrument, end.channel);
    if (row == unmapped) return;
    // Beside the held one, which may turn out to be the packet's last.
    ring::Record& record = records_[held_at_ ^ 1U];
    describe(record, row, end);
    record.kind = ring::RecordKind::snapshot;
    record.exchange_time_ns =
        books.last_touch_time_ns(instrument) + channels_[end.channel].time_offset_ns;
    const bool whole = fill_book(record, books, instrument, depth_);
    if (!whole || books.incomplete(instrument)) record.quality = ring::Quality::stale;
    if (end.receive_tsc != 0) record.booked_delta = ring::tsc_delta(end.receive_tsc, rdtsc());
    RowState& state = row_states_[row];
    if (mode_ == Mode::changed && state.published && same_as_last(row, record)) {
        counters_.suppressed += 1;
        return;
    }
    publish_held(0);
    held_at_ ^= 1U;
    holding_ = true;
    remember(row, record);
    if (state.status.quality != record.quality) set_quality(row, record.quality);
    if (!whole) counters_.unrepresentable += 1;
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

void Publisher::event(const book::BookSet& books, const book::Event& event,
                      const book::PacketEnd& end) noexcept {
    ChannelState* state = channel(end.channel);
    if (state == nullptr) return;
    std::uint32_t row = ring::no_instrument;
    EventContext context;
    context.time_offset_ns = state->time_offset_ns;
    if (event.instrument < books.instruments_end() && !books.symbol(event.instrument).empty()) {
        row = row_of(books, event.instrument, end.channel);
        if (row == unmapped) return;
        context.symbol = books.symbol(event.instrument);
        context.places = books.price_places(event.instrument);
        if (update_status(row_states_[row].status, event, context))
            writer_.set_status(row, row_states_[row].status);
    }
    ring::Record& record = next_record(row, end);
    record.exchange_time_ns = event.exchange_time_ns + context.time_offset_ns;
    fill_event(record, event, context);
    counters_.events += 1;
    if (has_price_too_large(event, context.places)) counters_.unrepresentable += 1;
    if (event.kind == book::EventKind::trade_break) {
        trade_broken(row, end.channel, event.id);
    } else if (row != ring::no_instrument) {
        update_row(row, event, context, record);
    }
}

// What stands in the row for late joiners, but for the status; before the record is published.
void Publisher::update_row(std::uint32_t row, const book::Event& event, const EventContext& context,
                           const ring::Record& record) noexcept {
    if (update_auction(auctions_[row], event, context)) writer_.set_auction(row, auctions_[row]);
    if (event.kind == book::EventKind::trade) count_trade(record);
    if (event.kind != book::EventKind::directory) return;
    rename(row, record.channel, context.symbol, context.places);
    writer_.set_round_lot(row, event.quantity);
}

void Publisher::count_trade(const ring::Record& record) noexcept {
    const auto body = record.event<ring::TradeEvent>();
    const bool counts = body.printable != 0 && body.price != ring::no_price;
    trades_.trade({.row = record.instrument,
                   .channel = record.channel,
                   .counts = counts,
                   .price = body.price,
                   .quantity = body.quantity,
                   .match = body.match,
                   .time_ns = record.exchange_time_ns},
                  writer_.next_sequence() + 1, channels_[record.channel].incomplete);
    if (counts && body.quantity != 0)
        writer_.set_statistics(record.instrument, trades_.of(record.instrument));
}

void Publisher::trade_broken(std::uint32_t row, std::uint16_t index, std::uint64_t match) noexcept {
    const std::uint32_t changed = trades_.broken(row, index, match, writer_.next_sequence() + 1);
    counters_.unknown_breaks = trades_.unknown_breaks();
    if (changed != ring::no_instrument) writer_.set_statistics(changed, trades_.of(changed));
}

// The same instrument under another symbol: later sessions find its row by the new one.
void Publisher::rename(std::uint32_t row, std::uint16_t index, std::string_view symbol,
                       std::uint8_t places) noexcept {
    writer_.rename_instrument(row, symbol, places);
    RowState& state = row_states_[row];
    if (state.symbol == symbol) return;
    const auto before = by_symbol_.find({index, state.symbol});
    if (before != by_symbol_.end() && before->second == row) by_symbol_.erase(before);
    state.symbol = symbol;
    by_symbol_.insert_or_assign({index, state.symbol}, row);
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
    body.code = execution.has_price ? 'C' : 'E';
    record.set_event(body);
    count_trade(record);
    counters_.events += 1;
    if (body.price == ring::no_price) counters_.unrepresentable += 1;
}

void Publisher::order(const book::BookSet& books, const book::OrderChange& change,
                      const book::PacketEnd& end) noexcept {
    const std::uint32_t row = row_of(books, change.instrument, end.channel);
    if (row == unmapped) return;
    ring::Record& record = next_record(row, end);
    record.exchange_time_ns = change.exchange_time_ns + channels_[end.channel].time_offset_ns;
    const ring::OrderEvent body = order_of(change, books.price_places(change.instrument));
    record.set_event(body);
    counters_.orders += 1;
    if (body.price == ring::no_price) counters_.unrepresentable += 1;
}

void Publisher::publish_alone(ring::Record& record) noexcept {
    record.flags = ring::record_flag::last_of_packet;
    writer_.publish_event(record);
    counters_.events += 1;
}

void Publisher::gap(std::uint16_t index, std::uint64_t first, std::uint64_t end,
                    std::uint16_t lines) noexcept {
    ChannelState* state = channel(index);
    if (state == nullptr) return;
    state->incomplete = true;
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
    ChannelState* state = channel(index);
    if (state == nullptr) return;
    state->incomplete = next_sequence > 1;
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

void Publisher::unfollowed(std::uint32_t instrument, std::uint16_t index) noexcept {
    const ChannelState* state = channel(index);
    if (state == nullptr || instrument >= state->rows.size()) return;
    const std::uint32_t row = state->rows[instrument];
    if (row == unmapped) return;
    publish_held(0);
    row_states_[row].published = false;
    set_quality(row, ring::Quality::not_ready);
}

void Publisher::cleared(std::uint16_t index, bool forget) noexcept {
    ChannelState* state = channel(index);
    if (state == nullptr) return;
    if (forget) trades_.forget_matches(index);
    for (std::uint32_t& row : state->rows) {
        if (row == unmapped) continue;
        row_states_[row].published = false;
        if (forget) row_states_[row].status = {};
        set_quality(row, ring::Quality::not_ready);
        if (!forget) continue;
        row_states_[row].taken = false;
        trades_.clear(row);
        writer_.set_statistics(row, trades_.of(row));
        auctions_[row] = {};
        writer_.set_auction(row, auctions_[row]);
        row = unmapped;
    }
}

}  // namespace wirebook::publish
