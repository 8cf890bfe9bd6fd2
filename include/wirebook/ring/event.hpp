// The words of a record: kinds, quality, status, and the bodies of events (docs/ring.md has the
// offsets). A body lies in a record where a snapshot has its book: Record::event<T>().
// Characters are the feed's own, ' ' where it does not say. Includes only the standard library.
// Plain data; no thread rules.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace wirebook::ring {

inline constexpr std::int64_t no_price = std::numeric_limits<std::int64_t>::min();
inline constexpr std::uint32_t no_instrument = 0xFFFF'FFFF;  // channel-wide events

enum class RecordKind : std::uint8_t {
    none = 0,
    snapshot = 1,
    trade = 2,
    trade_break = 3,
    status = 4,
    auction = 5,
    system = 6,
    gap = 7,
    session = 8,
    quality = 9,
    directory = 10,
    collar = 11,
    ipo = 12,
    order = 13,
};

// Worse is larger: the quality of a snapshot is the maximum of the record's and the channel's.
enum class Quality : std::uint8_t { good = 0, stale = 1, recovering = 2, not_ready = 3 };
[[nodiscard]] constexpr Quality worse(Quality a, Quality b) noexcept {
    return a < b ? b : a;
}

enum class TradingStatus : std::uint8_t {
    unknown = 0,
    trading = 1,
    halted = 2,
    paused = 3,
    quoting = 4,  // quotation only: orders are taken, nothing trades
    auction = 5,
    closed = 6,
};

enum class TimeSource : std::uint8_t { none, capture, software, nic, nic_unsynchronised };
enum class RecordSide : std::uint8_t { none = 0, bid = 1, ask = 2 };

// A type that an event record's 56 bytes can be read as.
inline constexpr std::size_t event_bytes = 56;
template <class T>
concept EventBody = std::is_trivially_copyable_v<T> && std::is_standard_layout_v<T> &&
                    sizeof(T) == event_bytes&& requires {
    T::kind;
};

struct TradeEvent {
    static constexpr RecordKind kind = RecordKind::trade;
    std::int64_t price = no_price;
    std::uint64_t quantity = 0;
    std::uint64_t match = 0;  // match number or trade id
    RecordSide resting_side = RecordSide::none;
    std::uint8_t printable = 1;   // counts in volume
    char code = ' ';              // the wire's message type
    char cross_type = ' ';        // of an auction's bulk print
    std::uint8_t sale_flags = 0;  // IEX: sale condition flags as on the wire
    std::array<char, 3> reserved0{};
    std::array<std::uint64_t, 3> reserved1{};
};
struct TradeBreakEvent {
    static constexpr RecordKind kind = RecordKind::trade_break;
    std::int64_t price = no_price;  // no_price, 0 where the feed sends only the number
    std::uint64_t quantity = 0;
    std::uint64_t match = 0;
    std::array<std::uint64_t, 4> reserved{};
};
struct StatusEvent {
    static constexpr RecordKind kind = RecordKind::status;
    TradingStatus status = TradingStatus::unknown;
    char code = ' ';   // the wire's message type: what changed
    char value = ' ';  // the new state as the feed says it
    std::array<char, 5> reserved0{};
    std::array<char, 16> reason{};  // zero-padded
    std::array<std::uint64_t, 4> reserved1{};
};
struct AuctionEvent {
    static constexpr RecordKind kind = RecordKind::auction;
    std::int64_t reference_price = no_price;
    std::int64_t indicative_price = no_price;  // near
    std::int64_t far_price = no_price;
    std::uint64_t paired_quantity = 0;
    std::uint64_t imbalance_quantity = 0;
    char imbalance_side = ' ';
    char code = ' ';                // the wire's message type
    char cross_type = ' ';          // or auction type; IEX official price: Q opening, M closing
    char variation = ' ';           // Nasdaq: of the near price from the reference, in bands
    std::uint32_t scheduled_s = 0;  // planned time of the auction, s since 1970; 0 not said
    std::uint64_t reserved = 0;
};
// Prices within which an auction may clear (LULD auction collar; IEX auction collar).
struct CollarEvent {
    static constexpr RecordKind kind = RecordKind::collar;
    std::int64_t reference_price = no_price;
    std::int64_t lower_price = no_price;
    std::int64_t upper_price = no_price;
    std::uint32_t extension = 0;  // how often the auction was put off
    char code = ' ';              // the wire's message type
    char cross_type = ' ';        // where the feed says it
    std::array<char, 2> reserved0{};
    std::array<std::uint64_t, 3> reserved1{};
};
// Quotation of an IPO begins: Nasdaq's K.
struct IpoEvent {
    static constexpr RecordKind kind = RecordKind::ipo;
    std::int64_t price = no_price;
    std::int64_t release_ns = 0;  // quotation opens then, UTC
    char qualifier = ' ';         // A anticipated, C cancelled or postponed
    char code = ' ';
    std::array<char, 6> reserved0{};
    std::array<std::uint64_t, 4> reserved1{};
};
struct SystemEvent {
    static constexpr RecordKind kind = RecordKind::system;
    char value = ' ';  // event code
    std::array<char, 7> reserved0{};
    std::array<char, 16> group{};  // zero-padded; empty where the feed has no groups
    std::array<std::uint64_t, 4> reserved1{};
};
struct GapEvent {
    static constexpr RecordKind kind = RecordKind::gap;
    std::uint64_t first = 0;  // first and last message sequence that was given up
    std::uint64_t last = 0;
    std::uint8_t lines = 0;  // lines the channel had
    std::array<char, 7> reserved0{};
    std::array<std::uint64_t, 4> reserved1{};
};
struct SessionEvent {
    static constexpr RecordKind kind = RecordKind::session;
    std::array<char, 16> session{};   // zero-padded
    std::uint64_t next_sequence = 0;  // the sequence adopted
    std::array<std::uint64_t, 4> reserved{};
};
struct QualityEvent {
    static constexpr RecordKind kind = RecordKind::quality;
    Quality before = Quality::good;
    Quality after = Quality::good;
    std::array<char, 6> reserved0{};
    std::array<std::uint64_t, 6> reserved1{};
};
struct DirectoryEvent {
    static constexpr RecordKind kind = RecordKind::directory;
    std::array<char, 16> symbol{};  // zero-padded
    std::uint64_t round_lot = 0;
    std::uint8_t price_places = 0;
    char authenticity = ' ';      // T test security, P production
    char market_category = ' ';   // Nasdaq: where it is listed
    char financial_status = ' ';  // Nasdaq: N normal, D deficient ...
    char luld_tier = ' ';         // 1, 2
    char etp = ' ';               // exchange traded product: Y, N
    std::array<char, 2> reserved0{};
    std::int64_t reference_price = no_price;  // IEX: adjusted previous official close
    std::int64_t lower_limit = no_price;      // Japannext: of the day
    std::int64_t upper_limit = no_price;
};

enum class OrderAction : std::uint8_t { add = 1, execute, reduce, remove, replace };
// A change of one order, of segments that have the order stream (segment.hpp, stream_flag).
struct OrderEvent {
    static constexpr RecordKind kind = RecordKind::order;
    std::int64_t price = no_price;  // of the order; replace: the new one; execute: of the trade
    std::uint64_t order_id = 0;     // the venue's reference
    std::uint64_t other_id = 0;     // replace: the new order's; execute: the match number
    // At its price, in front of it: add, replace: of the new order; else as it was before.
    std::uint64_t quantity_ahead = 0;
    std::uint32_t orders_ahead = 0;
    std::uint32_t quantity = 0;  // added, executed, taken off, removed; replace: the new order's
    std::uint32_t left = 0;      // of the order; replace: of the new one
    OrderAction action = OrderAction::add;
    RecordSide side = RecordSide::none;
    std::uint8_t printable = 0;  // execute: counts in volume
    std::uint8_t reserved0 = 0;
    std::uint64_t reserved1 = 0;
};

static_assert(EventBody<TradeEvent> && EventBody<TradeBreakEvent> && EventBody<StatusEvent>);
static_assert(EventBody<AuctionEvent> && EventBody<SystemEvent> && EventBody<GapEvent>);
static_assert(EventBody<SessionEvent> && EventBody<QualityEvent> && EventBody<DirectoryEvent>);
static_assert(EventBody<CollarEvent> && EventBody<IpoEvent> && EventBody<OrderEvent>);

}  // namespace wirebook::ring
