// A record of the ring as a line for people or as a JSON object. Cold: allocates. Any thread.
#pragma once

#include <string>

#include "wirebook/ring/segment.hpp"

namespace wirebook::app {

// What stands in the row of an instrument.
struct Standing {
    ring::TradeStatistics statistics;
    ring::AuctionState auction;
};

// A record with what the reader knows besides.
struct ShownRecord {
    const ring::Record& record;
    ring::Identity identity;  // of its instrument; empty for channel-wide events
    ring::Quality quality = ring::Quality::not_ready;  // the channel's word included
    const Standing* standing = nullptr;                // shown too where it is given; JSON only
};

// Units of 1e-9 with the venue's decimal places; `none` where there is no price.
[[nodiscard]] std::string price_text(std::int64_t price, unsigned places, const char* none);
[[nodiscard]] const char* name_of(ring::Quality quality);       // "good", "not-ready" ...
[[nodiscard]] const char* name_of(ring::TradingStatus status);  // "trading", "halted" ...

// "AAPL        300 x 185.2300 | 185.2400 x 200   STALE", without newline.
void append_record_line(std::string& out, const ShownRecord& shown);

// {"sequence": ..., "kind": "snapshot", "symbol": "AAPL", ..., "bids": [[185.2300, 300, 2], ...]}
// without newline. Prices are JSON numbers with the venue's decimal places, null where there is
// none; integers are raw; times ns since 1970, UTC.
void append_record_json(std::string& out, const ShownRecord& shown);

// {"trades": ..., "volume": ...}, and behind it `, "auction": {...}` where there was one.
void append_standing_json(std::string& out, const Standing& standing, unsigned places);

}  // namespace wirebook::app
