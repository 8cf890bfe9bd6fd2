// The rows of an instrument: what stands, for who joins late. Plain data; wirebook.h includes this
// file and has the functions. Units as in records.h. Each struct has the layout of its block in the
// segment (docs/ring.md); src/capi/layout.cpp asserts it of every field.
// Texts are zero-padded, and without a terminating zero where they fill their array.
#ifndef WIREBOOK_CAPI_INSTRUMENT_H
#define WIREBOOK_CAPI_INSTRUMENT_H

#include <stdint.h>

// NOLINTBEGIN(readability-identifier-naming)

// `version` grows with each change of the row's block; 0: nothing was written yet.
struct wirebook_identity {
    uint64_t version;
    char symbol[16];
    uint16_t channel;
    uint8_t price_places;      // of the venue's own prices, for showing them
    int8_t currency_exponent;  // unit of the record's prices: -9
    uint32_t venue;            // 1 Nasdaq, 2 Japannext, 3 IEX; 0: not said
    uint64_t round_lot;        // 0: not known
    uint64_t reserved[3];
};
struct wirebook_instrument_status {
    uint64_t version;
    uint8_t trading;        // enum wirebook_trading_status
    uint8_t quality;        // enum wirebook_quality
    char code;              // the state as the feed says it
    char short_sale;        // restriction; ' ': never told, as the next two
    char operational_halt;  // of this market alone
    char security_event;    // IEX: O opening process complete, C closing
    char reserved0[2];
    char reason[16];
    int64_t changed_ns;  // exchange time
    uint64_t reserved1[3];
};
// What is uncertain: bits of wirebook_trade_statistics::flags.
#define WIREBOOK_LAST_BROKEN 1u  // the trade that last_* shows was broken
#define WIREBOOK_HIGH_BROKEN 2u  // a broken trade had this price, or its like
#define WIREBOOK_LOW_BROKEN 4u
#define WIREBOOK_OPEN_BROKEN 8u
#define WIREBOOK_BREAK_UNKNOWN 16u  // a broken trade is still counted in trades and volume
#define WIREBOOK_INCOMPLETE 32u     // trades of this session may be missing
struct wirebook_trade_statistics {  // of the session's trades that count
    uint64_t version;
    uint64_t trades;
    uint64_t volume;
    int64_t last_price;
    uint64_t last_quantity;
    int64_t high_price;
    int64_t low_price;
    int64_t open_price;
    int64_t last_ns;  // exchange time
    uint64_t last_match;
    uint64_t breaks;   // break messages of the session, known or not
    uint64_t flags;    // WIREBOOK_LAST_BROKEN ...
    uint64_t through;  // count on with trades of records whose sequence is not below
    uint64_t reserved[3];
};
struct wirebook_auction_state {  // a part's time is 0 while there was none
    uint64_t version;
    int64_t changed_ns;  // exchange time of what follows up to scheduled_s
    int64_t reference_price;
    int64_t indicative_price;
    int64_t far_price;
    uint64_t paired_quantity;
    uint64_t imbalance_quantity;
    char imbalance_side;
    char code;
    char cross_type;
    char variation;
    uint32_t scheduled_s;
    int64_t collar_ns;  // exchange time of the collar
    int64_t collar_reference;
    int64_t collar_lower;
    int64_t collar_upper;
    uint32_t extension;
    char official_type;  // Q opening, M closing; Nasdaq: cross type of the newest bulk print
    char reserved0[3];
    int64_t official_ns;  // exchange time of the official or cross price
    int64_t official_price;
    uint64_t official_quantity;  // 0 where the feed does not say
};

// NOLINTEND(readability-identifier-naming)

#endif
