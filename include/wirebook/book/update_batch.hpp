// What a feed handler makes of packets: book updates as parallel arrays, and the events that are
// no book updates, in stream order. The one thing that feed and book share.
//
// A batch holds many whole packets: packets[p].updates_end says where packet p ends. A packet
// larger than what is left is split: the batch is applied with `tail_open` set, which says that
// the updates after the last packet end belong to a packet that goes on in the next batch; what is
// known of that packet stands in packet[packets], so packets < packet_capacity then.
// Plain data, owned by one lcore; no thread rules beyond that.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "wirebook/core/base.hpp"

namespace wirebook::book {

enum class Side : std::uint8_t { bid, ask };

enum class UpdateKind : std::uint8_t {
    // Order feeds. order_id is the order's reference.
    add,      // instrument, side, order_id, price, quantity (0, or flag bad_side: refused)
    execute,  // order_id, quantity; match number in new_order_id; price where execution_has_price
    reduce,   // order_id, quantity taken off
    remove,   // order_id
    replace,  // order_id -> new_order_id, price, quantity; instrument and side are inherited
    // Level feeds by price.
    level_set,     // instrument, side, price, quantity (> 0): the level's new total
    level_remove,  // instrument, side, price
    // Quote feeds. Bid: price, quantity. Ask: order_id holds the price, new_order_id the quantity.
    // A side of quantity 0 is empty.
    quote,
    // Bookkeeping, at its place in the stream; touches nothing.
    name,  // instrument; symbol in order_id and new_order_id, its size in price, places in quantity
    trading,      // instrument; quantity 1: trades continuously (as far as its own status says)
    group,        // instrument; quantity: the market group it belongs to
    market,       // quantity: market group; price 1: continuous session open, 0: closed
    close_event,  // instrument: its open event ends (with flag event_open: opens) without a change
    clear_books,  // every book of the set empties, open events close, waiting rows are dropped
    new_session,  // as clear_books, and names, groups, status and market hours are forgotten
};

// Bits of UpdateBatch::flags. Order feeds have no event flag: theirs is not looked at.
namespace update_flag {
inline constexpr std::uint8_t event_open = 1;  // the instrument's event goes on after this update
inline constexpr std::uint8_t printable = 2;   // execute: counts in volume
inline constexpr std::uint8_t has_price = 4;   // execute: at `price`, not at the order's own
inline constexpr std::uint8_t bad_side = 8;    // add: the side on the wire was neither B nor S
inline constexpr std::uint8_t not_followed = 16;  // name: not in the configured list of symbols
}  // namespace update_flag

// Bits of Event::flags, beside update_flag::printable of a trade.
namespace event_flag {
inline constexpr std::uint8_t listing = 1;  // directory: text is market category, financial status
                                            // and whether it is an exchange traded product
}  // namespace event_flag

enum class EventKind : std::uint8_t {
    trade,
    trade_break,
    status,
    auction,
    system,
    directory,
    collar,
    ipo,
};

// An event that is no book update. Field meanings by kind:
//   trade        price, quantity, id = match number or trade id, flags (update_flag::printable),
//                side = resting side where side_known; code = wire type; text = cross type of a
//                bulk print, else empty; detail = sale condition flags as on the wire, else 0
//   trade_break  id = match number or trade id; price, quantity where the feed sends them
//   status       code = what changed (wire type), value = new state character, text = reason
//   auction      price = reference, price2 = indicative (near), price3 = far, quantity = paired,
//                quantity2 = imbalance, value = imbalance side, code = wire type, text = cross
//                type, detail = variation of the near price, id = planned time in the feed's ns, 0
//                not said
//   collar       price = reference, price2 = lower, price3 = upper, quantity = extensions so far
//   ipo          price, id = release time in the feed's ns, value = qualifier
//   system       value = event code, text = group where the feed has groups
//   directory    quantity = round lot, value = authenticity, detail = LULD tier, price = reference,
//                price2, price3 = lower and upper limit of the day; text = what the feed has more
// Prices of auctions, collars and directories are 0 where there is none.
inline constexpr std::uint32_t no_instrument = 0xFFFF'FFFF;

struct Event {
    std::uint32_t place = 0;  // comes before updates[place] of the batch
    std::uint32_t instrument = no_instrument;
    EventKind kind = EventKind::trade;
    std::uint8_t flags = 0;
    char code = ' ';
    char value = ' ';
    Side side = Side::bid;
    bool side_known = false;
    char detail = '\0';
    std::array<char, 16> text{};  // zero-padded
    std::int64_t exchange_time_ns = 0;
    std::int64_t price = 0, price2 = 0, price3 = 0;
    std::uint64_t quantity = 0, quantity2 = 0;
    std::uint64_t id = 0;
};

// Facts of a packet, for those who look at the end of it.
struct PacketEnd {
    std::uint32_t updates_end = 0;  // one past its last update
    std::uint32_t events_end = 0;   // one past its last event
    std::uint64_t number = 0;       // docs/replay.md, `packet`
    std::uint64_t sequence = 0;     // in its header
    std::int64_t receive_time_ns = 0;
    std::uint64_t receive_tsc = 0;
    std::uint64_t decoded_tsc = 0;  // 0 where nobody asked for stamps
    std::uint16_t channel = 0;
    std::uint16_t line = 0;        // the line of the channel that won
    std::uint8_t time_source = 0;  // wire::TimeSource
    bool numbered = true;          // false: of empty blocks only
};

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): the columns, see below
struct UpdateBatch {
    static constexpr std::uint32_t capacity = 256;
    static constexpr std::uint32_t event_capacity = 128;
    static constexpr std::uint32_t packet_capacity = 256;
    template <class T>
    using Column = std::array<T, capacity>;

    std::uint32_t updates = 0;
    std::uint32_t events = 0;
    std::uint32_t packets = 0;
    bool tail_open = false;

    // Columns are written before they are read, up to the counts above: not zeroed.
    alignas(cache_line_bytes) Column<UpdateKind> kind;
    alignas(cache_line_bytes) Column<Side> side;
    alignas(cache_line_bytes) Column<std::uint8_t> flags;
    alignas(cache_line_bytes) Column<std::uint32_t> instrument;
    alignas(cache_line_bytes) Column<std::uint64_t> order_id;
    alignas(cache_line_bytes) Column<std::uint64_t> new_order_id;
    alignas(cache_line_bytes) Column<std::int64_t> price;  // the venue's own integer ticks
    alignas(cache_line_bytes) Column<std::uint64_t> quantity;
    alignas(cache_line_bytes) Column<std::int64_t> exchange_time_ns;  // the feed's unit and epoch
    std::array<Event, event_capacity> event;
    std::array<PacketEnd, packet_capacity> packet;

    void clear() noexcept { updates = events = packets = 0, tail_open = false; }
};

}  // namespace wirebook::book
