// Levels and bodies of events out of a record of C. They need no reader.
#include "handle.hpp"

namespace capi = wirebook::capi;
namespace ring = wirebook::ring;

namespace {

// The body of an event lies in a record where a snapshot has its book, in two parts.
template <class Body>
int body_of(const wirebook_record* record, wirebook_record_kind kind, Body* out) noexcept {
    static_assert(sizeof(Body) == ring::event_bytes);
    constexpr std::size_t first = offsetof(wirebook_record, bid_price);
    constexpr std::size_t first_bytes = offsetof(wirebook_record, exchange_time_ns) - first;
    constexpr std::size_t second = offsetof(wirebook_record, bid_levels);
    constexpr std::size_t second_bytes = offsetof(wirebook_record, levels) - second;
    static_assert(first_bytes + second_bytes == ring::event_bytes);
    if (record == nullptr || out == nullptr) return capi::invalid("event: a null argument");
    if (record->kind != kind) return capi::invalid("event: the record is of another kind");
    const auto* const from = static_cast<const std::byte*>(static_cast<const void*>(record));
    auto* const to = static_cast<std::byte*>(static_cast<void*>(out));
    std::memcpy(to, from + first, first_bytes);
    std::memcpy(to + first_bytes, from + second, second_bytes);
    return 0;
}

constexpr wirebook_level empty_level{WIREBOOK_NO_PRICE, 0, 0, 0};

}  // namespace

int wirebook_bid(const wirebook_record* record, uint32_t level, wirebook_level* out) {
    if (record == nullptr || out == nullptr) return capi::invalid("bid: a null argument");
    *out = empty_level;
    if (level >= record->bid_levels || level >= WIREBOOK_MAX_DEPTH) return -ENOENT;
    *out = level == 0
               ? wirebook_level{record->bid_price, record->bid_quantity, record->bid_orders, 0}
               : record->levels[level - 1].bid;
    return 0;
}
int wirebook_ask(const wirebook_record* record, uint32_t level, wirebook_level* out) {
    if (record == nullptr || out == nullptr) return capi::invalid("ask: a null argument");
    *out = empty_level;
    if (level >= record->ask_levels || level >= WIREBOOK_MAX_DEPTH) return -ENOENT;
    *out = level == 0
               ? wirebook_level{record->ask_price, record->ask_quantity, record->ask_orders, 0}
               : record->levels[level - 1].ask;
    return 0;
}

int wirebook_event_trade(const wirebook_record* record, wirebook_trade_event* out) {
    return body_of(record, WIREBOOK_KIND_TRADE, out);
}
int wirebook_event_break(const wirebook_record* record, wirebook_break_event* out) {
    return body_of(record, WIREBOOK_KIND_BREAK, out);
}
int wirebook_event_status(const wirebook_record* record, wirebook_status_event* out) {
    return body_of(record, WIREBOOK_KIND_STATUS, out);
}
int wirebook_event_auction(const wirebook_record* record, wirebook_auction_event* out) {
    return body_of(record, WIREBOOK_KIND_AUCTION, out);
}
int wirebook_event_collar(const wirebook_record* record, wirebook_collar_event* out) {
    return body_of(record, WIREBOOK_KIND_COLLAR, out);
}
int wirebook_event_ipo(const wirebook_record* record, wirebook_ipo_event* out) {
    return body_of(record, WIREBOOK_KIND_IPO, out);
}
int wirebook_event_system(const wirebook_record* record, wirebook_system_event* out) {
    return body_of(record, WIREBOOK_KIND_SYSTEM, out);
}
int wirebook_event_gap(const wirebook_record* record, wirebook_gap_event* out) {
    return body_of(record, WIREBOOK_KIND_GAP, out);
}
int wirebook_event_session(const wirebook_record* record, wirebook_session_event* out) {
    return body_of(record, WIREBOOK_KIND_SESSION, out);
}
int wirebook_event_quality(const wirebook_record* record, wirebook_quality_event* out) {
    return body_of(record, WIREBOOK_KIND_QUALITY, out);
}
int wirebook_event_directory(const wirebook_record* record, wirebook_directory_event* out) {
    return body_of(record, WIREBOOK_KIND_DIRECTORY, out);
}
int wirebook_event_order(const wirebook_record* record, wirebook_order_event* out) {
    return body_of(record, WIREBOOK_KIND_ORDER, out);
}
