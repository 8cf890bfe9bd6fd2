// Polling, and all that asks an attached reader. Nothing here allocates, throws or blocks, but a
// poll that follows to the next writer.
#include <algorithm>

#include "handle.hpp"

namespace capi = wirebook::capi;
namespace ring = wirebook::ring;
using capi::no_reader;

namespace {

static_assert(WIREBOOK_POLL_EMPTY == static_cast<int>(ring::Poll::empty));
static_assert(WIREBOOK_POLL_RECORD == static_cast<int>(ring::Poll::record));
static_assert(WIREBOOK_POLL_LAPPED == static_cast<int>(ring::Poll::lapped));
static_assert(WIREBOOK_POLL_WRITER_CLOSED == static_cast<int>(ring::Poll::writer_closed));
static_assert(WIREBOOK_POLL_WRITER_DEAD == static_cast<int>(ring::Poll::writer_dead));
static_assert(WIREBOOK_POLL_REATTACHED == static_cast<int>(ring::Poll::reattached));

// The caller's record as the reader's. src/capi/layout.cpp asserts that they are the same bytes.
bool aligned(const wirebook_record* record) noexcept {
    return capi::is_aligned(record, alignof(ring::Record));
}
ring::Record& in_place(wirebook_record* record) noexcept {
    return *static_cast<ring::Record*>(static_cast<void*>(record));
}
void copy_used(const ring::Record& from, wirebook_record* to) noexcept {
    const std::size_t words = ring::record_words(from.kind, from.bid_levels, from.ask_levels);
    std::memcpy(static_cast<void*>(to), &from, std::min(words * 8, sizeof(from)));
}

std::int64_t to_signed(std::uint64_t count) noexcept {
    return static_cast<std::int64_t>(std::min<std::uint64_t>(count, INT64_MAX));
}

// The part of an instrument's row that Reader::*read gives, as the C struct of the same bytes.
template <class Row, class Out>
int read_row(const wirebook_reader* reader, std::uint32_t instrument, Out* out,
             std::optional<Row> (ring::Reader::*read)(std::uint32_t) const noexcept) noexcept {
    static_assert(sizeof(Row) == sizeof(Out));
    if (!capi::usable(reader) || out == nullptr) return capi::invalid(no_reader);
    if (instrument >= reader->ring.instruments()) return -ENOENT;
    const std::optional<Row> row = (reader->ring.*read)(instrument);
    if (!row) return -EBUSY;
    std::memcpy(out, &*row, sizeof(*out));
    return 0;
}

template <class Wanted>
std::int64_t find(const wirebook_reader* reader, const char* symbol, Wanted wanted) noexcept {
    if (!capi::usable(reader) || symbol == nullptr) return capi::invalid(no_reader);
    const std::size_t bytes = ::strnlen(symbol, sizeof(ring::Symbol) + 1);
    if (bytes > sizeof(ring::Symbol)) return -ENOENT;
    const ring::Symbol text(std::string_view(symbol, bytes));
    for (std::uint32_t i = 0; i < reader->ring.instruments(); ++i) {
        const auto row = reader->ring.identity(i);
        if (row && row->symbol == text && wanted(*row)) return i;
    }
    return -ENOENT;
}

}  // namespace

int wirebook_poll(wirebook_reader* reader, wirebook_record* out) {
    if (!capi::usable(reader) || out == nullptr) return capi::invalid(no_reader);
    if (aligned(out)) return static_cast<int>(reader->ring.poll(in_place(out)));
    const ring::Poll polled = reader->ring.poll(reader->record);
    if (polled == ring::Poll::record) copy_used(reader->record, out);
    return static_cast<int>(polled);
}
int wirebook_rejoin(wirebook_reader* reader) {
    if (!capi::usable(reader)) return capi::invalid(no_reader);
    reader->ring.rejoin();
    return 0;
}
int64_t wirebook_lost(const wirebook_reader* reader) {
    return capi::usable(reader) ? to_signed(reader->ring.lost()) : capi::invalid(no_reader);
}
int64_t wirebook_lag(const wirebook_reader* reader) {
    return capi::usable(reader) ? to_signed(reader->ring.lag()) : capi::invalid(no_reader);
}

int wirebook_latest(const wirebook_reader* reader, uint32_t instrument, wirebook_record* out) {
    if (!capi::usable(reader) || out == nullptr) return capi::invalid(no_reader);
    ring::Record record;
    switch (reader->ring.latest(instrument, record)) {
        case ring::Latest::ok: break;
        case ring::Latest::none: return -ENOENT;
        case ring::Latest::busy: return -EBUSY;
    }
    copy_used(record, out);
    return 0;
}
int wirebook_quality_of(const wirebook_reader* reader, const wirebook_record* record) {
    if (!capi::usable(reader) || record == nullptr) return capi::invalid(no_reader);
    const int quality = std::max(int{record->quality},
                                 static_cast<int>(reader->ring.channel_quality(record->channel)));
    return std::min<int>(quality, WIREBOOK_QUALITY_NOT_READY);
}
int wirebook_channel_quality(const wirebook_reader* reader, uint16_t channel) {
    if (!capi::usable(reader)) return capi::invalid(no_reader);
    return std::min<int>(static_cast<int>(reader->ring.channel_quality(channel)),
                         WIREBOOK_QUALITY_NOT_READY);
}

int64_t wirebook_instruments(const wirebook_reader* reader) {
    if (!capi::usable(reader)) return capi::invalid(no_reader);
    return reader->ring.instruments();
}
int64_t wirebook_renames(const wirebook_reader* reader) {
    if (!capi::usable(reader)) return capi::invalid(no_reader);
    return to_signed(reader->ring.header().renames.load(std::memory_order_relaxed));
}
int64_t wirebook_find(const wirebook_reader* reader, const char* symbol) {
    return find(reader, symbol, [](const ring::Identity&) { return true; });
}
int64_t wirebook_find_on_channel(const wirebook_reader* reader, const char* symbol,
                                 uint16_t channel) {
    return find(reader, symbol, [&](const ring::Identity& row) { return row.channel == channel; });
}
int64_t wirebook_find_at_venue(const wirebook_reader* reader, const char* symbol, uint32_t venue) {
    return find(reader, symbol, [&](const ring::Identity& row) { return row.venue == venue; });
}
int wirebook_read_identity(const wirebook_reader* reader, uint32_t instrument,
                           wirebook_identity* out) {
    return read_row(reader, instrument, out, &ring::Reader::identity);
}
int wirebook_read_status(const wirebook_reader* reader, uint32_t instrument,
                         wirebook_instrument_status* out) {
    return read_row(reader, instrument, out, &ring::Reader::status);
}
int wirebook_read_statistics(const wirebook_reader* reader, uint32_t instrument,
                             wirebook_trade_statistics* out) {
    return read_row(reader, instrument, out, &ring::Reader::statistics);
}
int wirebook_read_auction(const wirebook_reader* reader, uint32_t instrument,
                          wirebook_auction_state* out) {
    return read_row(reader, instrument, out, &ring::Reader::auction);
}
