// What a C reader gets: records and the bodies of events. Plain data; the functions are in
// wirebook.h, which includes this file. Rows of instruments: instrument.h.
//
// A record has the layout that it has in the segment (docs/ring.md), byte for byte that of the C++
// reader's wirebook::ring::Record; src/capi/layout.cpp asserts it of every field here.
// Prices: signed, units of 1e-9 of the currency. Quantities: unsigned, whole units of the venue.
// Times: ns since 1970, UTC, but exchange_time_ns of a feed without dates: ns since midnight.
// Characters are the feed's own, ' ' where it does not say. Texts are zero-padded, and without a
// terminating zero where they fill their array. No thread rules.
#ifndef WIREBOOK_CAPI_RECORDS_H
#define WIREBOOK_CAPI_RECORDS_H

#include <stdint.h>

// NOLINTBEGIN(readability-identifier-naming)

#define WIREBOOK_ABI 2                     // of the segment: the layout of all that is here
#define WIREBOOK_NO_PRICE INT64_MIN        // an empty side, a price that the feed leaves out
#define WIREBOOK_NO_INSTRUMENT UINT32_MAX  // an event of the whole channel
#define WIREBOOK_MAX_DEPTH 20
#define WIREBOOK_LAST_OF_PACKET 1u  // wirebook_record::flags: nothing more of this packet follows
#define WIREBOOK_FROM_TABLE 0x80u   // wirebook_record::flags: a join delivered it
#define WIREBOOK_STREAM_ORDERS 1u   // wirebook_segment::streams: WIREBOOK_KIND_ORDER is published

enum wirebook_record_kind {
    WIREBOOK_KIND_NONE = 0,
    WIREBOOK_KIND_SNAPSHOT = 1,
    WIREBOOK_KIND_TRADE = 2,
    WIREBOOK_KIND_BREAK = 3,
    WIREBOOK_KIND_STATUS = 4,
    WIREBOOK_KIND_AUCTION = 5,
    WIREBOOK_KIND_SYSTEM = 6,
    WIREBOOK_KIND_GAP = 7,
    WIREBOOK_KIND_SESSION = 8,
    WIREBOOK_KIND_QUALITY = 9,
    WIREBOOK_KIND_DIRECTORY = 10,
    WIREBOOK_KIND_COLLAR = 11,
    WIREBOOK_KIND_IPO = 12,
    WIREBOOK_KIND_ORDER = 13
};
enum wirebook_quality {  // worse is larger
    WIREBOOK_QUALITY_GOOD = 0,
    WIREBOOK_QUALITY_STALE = 1,
    WIREBOOK_QUALITY_RECOVERING = 2,
    WIREBOOK_QUALITY_NOT_READY = 3
};
enum wirebook_trading_status {
    WIREBOOK_STATUS_UNKNOWN = 0,
    WIREBOOK_STATUS_TRADING = 1,
    WIREBOOK_STATUS_HALTED = 2,
    WIREBOOK_STATUS_PAUSED = 3,
    WIREBOOK_STATUS_QUOTING = 4,  // quotation only: orders are taken, nothing trades
    WIREBOOK_STATUS_AUCTION = 5,
    WIREBOOK_STATUS_CLOSED = 6
};
enum wirebook_time_source {
    WIREBOOK_TIME_NONE = 0,
    WIREBOOK_TIME_CAPTURE = 1,
    WIREBOOK_TIME_SOFTWARE = 2,
    WIREBOOK_TIME_NIC = 3,
    WIREBOOK_TIME_NIC_UNSYNCHRONISED = 4
};
enum wirebook_side { WIREBOOK_SIDE_NONE = 0, WIREBOOK_SIDE_BID = 1, WIREBOOK_SIDE_ASK = 2 };
enum wirebook_order_action {
    WIREBOOK_ORDER_ADD = 1,
    WIREBOOK_ORDER_EXECUTE = 2,
    WIREBOOK_ORDER_REDUCE = 3,
    WIREBOOK_ORDER_REMOVE = 4,
    WIREBOOK_ORDER_REPLACE = 5
};

struct wirebook_level {
    int64_t price;
    uint64_t quantity;
    uint32_t orders;  // 0 for feeds that do not say
    uint32_t reserved;
};
struct wirebook_level_row {
    struct wirebook_level bid;
    struct wirebook_level ask;
};

// 1088 bytes. Of an event the fields bid_price .. ask_quantity and bid_levels .. reserved2 hold its
// body: wirebook_event_trade() and its like give it.
struct wirebook_record {
    uint64_t sequence;    // in the ring; one more each time
    uint32_t instrument;  // index of its row, or WIREBOOK_NO_INSTRUMENT
    uint8_t kind;         // enum wirebook_record_kind
    uint8_t flags;        // WIREBOOK_LAST_OF_PACKET, WIREBOOK_FROM_TABLE
    uint8_t quality;      // the instrument's own; what counts is wirebook_quality_of()
    uint8_t status;       // enum wirebook_trading_status
    int64_t bid_price;
    uint64_t bid_quantity;
    int64_t ask_price;
    uint64_t ask_quantity;
    int64_t exchange_time_ns;
    uint64_t receive_tsc;  // 0: not stamped, and then no delta is
    int64_t receive_time_ns;
    uint64_t feed_sequence;    // in the packet's header
    uint64_t packet;           // number of the packet in the writer's life, from 0
    uint32_t decoded_delta;    // TSC ticks after receive_tsc, saturating
    uint32_t booked_delta;     // likewise
    uint32_t published_delta;  // likewise
    uint16_t channel;
    uint8_t line;         // the line of the channel that brought it first
    uint8_t time_source;  // enum wirebook_time_source, of receive_time_ns
    uint8_t bid_levels;   // the best included; 0: empty side
    uint8_t ask_levels;
    uint16_t reserved0;
    uint32_t bid_orders;  // at the best price
    uint32_t ask_orders;
    uint32_t reserved1;
    uint64_t reserved2;
    // Levels 1, 2 ...; rows from max(bid_levels, ask_levels) - 1 on hold anything.
    struct wirebook_level_row levels[WIREBOOK_MAX_DEPTH - 1];
    uint64_t reserved3[6];
};

// ---- bodies of events, 56 bytes each

struct wirebook_trade_event {
    int64_t price;
    uint64_t quantity;
    uint64_t match;        // match number or trade id
    uint8_t resting_side;  // enum wirebook_side
    uint8_t printable;     // counts in volume
    char code;             // the wire's message type
    char cross_type;       // of an auction's bulk print
    uint8_t sale_flags;    // IEX: sale condition flags as on the wire
    char reserved0[3];
    uint64_t reserved1[3];
};
struct wirebook_break_event {
    int64_t price;  // WIREBOOK_NO_PRICE and 0 where the feed sends only the number
    uint64_t quantity;
    uint64_t match;
    uint64_t reserved[4];
};
struct wirebook_status_event {
    uint8_t status;  // enum wirebook_trading_status
    char code;       // the wire's message type: what changed
    char value;      // the new state as the feed says it
    char reserved0[5];
    char reason[16];
    uint64_t reserved1[4];
};
struct wirebook_auction_event {
    int64_t reference_price;
    int64_t indicative_price;  // near
    int64_t far_price;
    uint64_t paired_quantity;
    uint64_t imbalance_quantity;
    char imbalance_side;
    char code;             // the wire's message type
    char cross_type;       // or auction type; IEX official price: Q opening, M closing
    char variation;        // Nasdaq: of the near price from the reference, in bands
    uint32_t scheduled_s;  // planned time of the auction, s since 1970; 0 not said
    uint64_t reserved;
};
struct wirebook_collar_event {  // prices within which an auction may clear
    int64_t reference_price;
    int64_t lower_price;
    int64_t upper_price;
    uint32_t extension;  // how often the auction was put off
    char code;           // the wire's message type
    char cross_type;     // where the feed says it
    char reserved0[2];
    uint64_t reserved1[3];
};
struct wirebook_ipo_event {  // quotation of an IPO begins
    int64_t price;
    int64_t release_ns;  // quotation opens then, UTC
    char qualifier;      // A anticipated, C cancelled or postponed
    char code;
    char reserved0[6];
    uint64_t reserved1[4];
};
struct wirebook_system_event {
    char value;  // event code
    char reserved0[7];
    char group[16];  // empty where the feed has no groups
    uint64_t reserved1[4];
};
struct wirebook_gap_event {
    uint64_t first;  // first and last message sequence that was given up
    uint64_t last;
    uint8_t lines;  // lines the channel had
    char reserved0[7];
    uint64_t reserved1[4];
};
struct wirebook_session_event {
    char session[16];
    uint64_t next_sequence;  // the sequence adopted
    uint64_t reserved[4];
};
struct wirebook_quality_event {
    uint8_t before;  // enum wirebook_quality
    uint8_t after;
    char reserved0[6];
    uint64_t reserved1[6];
};
struct wirebook_directory_event {
    char symbol[16];
    uint64_t round_lot;
    uint8_t price_places;
    char authenticity;      // T test security, P production
    char market_category;   // Nasdaq: where it is listed
    char financial_status;  // Nasdaq: N normal, D deficient ...
    char luld_tier;         // 1, 2
    char etp;               // exchange traded product: Y, N
    char reserved0[2];
    int64_t reference_price;  // IEX: adjusted previous official close
    int64_t lower_limit;      // Japannext: of the day
    int64_t upper_limit;
};
struct wirebook_order_event {  // of segments with WIREBOOK_STREAM_ORDERS
    int64_t price;             // of the order; replace: the new one; execute: of the trade
    uint64_t order_id;         // the venue's reference
    uint64_t other_id;         // replace: the new order's; execute: the match number
    uint64_t quantity_ahead;   // in front of it at its price: as it joins, else as it was before
    uint32_t orders_ahead;
    uint32_t quantity;  // added, executed, taken off, removed; replace: the new order's
    uint32_t left;      // of the order; replace: of the new one
    uint8_t action;     // enum wirebook_order_action
    uint8_t side;       // enum wirebook_side
    uint8_t printable;  // execute: counts in volume
    uint8_t reserved0;
    uint64_t reserved1;
};

// NOLINTEND(readability-identifier-naming)

#endif
