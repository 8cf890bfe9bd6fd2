// A row of the instrument table: who the instrument is, and what stands for those who join late:
// its status, its trades of the session, its last auction messages.
//
// A row's blocks are written before the event that changes them is published: who read a record
// finds its row at least as new as the record. Prices are in units of 1e-9 (no_price: none),
// times ns since 1970, UTC. Includes only the standard library and core. Blocks: protocol.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "wirebook/core/base.hpp"
#include "wirebook/core/clock.hpp"
#include "wirebook/ring/event.hpp"
#include "wirebook/ring/protocol.hpp"

namespace wirebook::ring {

// A symbol as the venue has it, without trailing spaces; 16 bytes at most, zero-padded.
struct Symbol {
    std::array<char, 16> text{};

    Symbol() = default;
    explicit Symbol(std::string_view symbol) noexcept {
        std::memcpy(text.data(), symbol.data(), std::min(symbol.size(), text.size()));
    }
    [[nodiscard]] std::string_view view() const noexcept {
        std::size_t bytes = text.size();
        while (bytes > 0 && text[bytes - 1] == '\0') bytes -= 1;
        return {text.data(), bytes};
    }
    bool operator==(const Symbol&) const = default;
};

struct Identity {
    std::uint64_t version = 0;  // of the block
    Symbol symbol;
    std::uint16_t channel = 0;
    std::uint8_t price_places = 0;       // of the venue's own prices, for showing them
    std::int8_t currency_exponent = -9;  // unit of the record's prices
    std::uint32_t venue = 0;             // 1 Nasdaq, 2 Japannext, 3 IEX (docs/ring.md); 0: not said
    std::uint64_t round_lot = 0;         // 0: not known
    std::array<std::uint64_t, 3> reserved{};
};
struct InstrumentStatus {
    std::uint64_t version = 0;  // of the block
    TradingStatus trading = TradingStatus::unknown;
    Quality quality = Quality::good;
    char code = ' ';  // the state as the feed says it
    // Of the other states, as the feed says them; ' ': never told.
    char short_sale = ' ';        // restriction (Nasdaq Y, IEX P, Japannext Y)
    char operational_halt = ' ';  // of this market alone
    char security_event = ' ';    // IEX E: O opening process complete, C closing
    std::array<char, 2> reserved0{};
    std::array<char, 16> reason{};
    std::int64_t changed_ns = 0;  // exchange time
    std::array<std::uint64_t, 3> reserved1{};
};
static_assert(sizeof(Identity) == 64 && sizeof(InstrumentStatus) == 64);
static_assert(offsetof(Identity, channel) == 24 && offsetof(Identity, round_lot) == 32);
static_assert(offsetof(InstrumentStatus, reason) == 16);
static_assert(offsetof(InstrumentStatus, changed_ns) == 32);

// What of an instrument's trades is uncertain: bits of TradeStatistics::flags.
namespace statistics_flag {
inline constexpr std::uint64_t last_broken = 1;  // the trade that last_* shows was broken
inline constexpr std::uint64_t high_broken = 2;  // a broken trade had this price, or its like
inline constexpr std::uint64_t low_broken = 4;
inline constexpr std::uint64_t open_broken = 8;
// A broken trade is still counted in trades and volume: the writer no longer knew it.
inline constexpr std::uint64_t break_unknown = 16;
// Trades of this session may be missing: messages were lost, or the writer joined in its middle.
inline constexpr std::uint64_t incomplete = 32;
}  // namespace statistics_flag

// The session's trades that count: printable ones, for IEX those eligible for last sale.
struct TradeStatistics {
    std::uint64_t version = 0;  // of the block
    std::uint64_t trades = 0;
    std::uint64_t volume = 0;
    std::int64_t last_price = no_price;  // prices: no_price before the first trade
    std::uint64_t last_quantity = 0;
    std::int64_t high_price = no_price;
    std::int64_t low_price = no_price;
    std::int64_t open_price = no_price;
    std::int64_t last_ns = 0;  // exchange time
    std::uint64_t last_match = 0;
    std::uint64_t breaks = 0;  // break messages of the session, known or not
    std::uint64_t flags = 0;   // statistics_flag
    // Ring sequence + 1 of the newest trade or break in these numbers: who counts on from here
    // adds only later records.
    std::uint64_t through = 0;
    std::array<std::uint64_t, 3> reserved{};

    [[nodiscard]] bool is(std::uint64_t bits) const noexcept { return (flags & bits) != 0; }
};

// The newest of each kind of auction message; a part's time is 0 while there was none.
struct AuctionState {
    std::uint64_t version = 0;    // of the block
    std::int64_t changed_ns = 0;  // exchange time of the imbalance or indication below
    std::int64_t reference_price = no_price;
    std::int64_t indicative_price = no_price;  // near
    std::int64_t far_price = no_price;
    std::uint64_t paired_quantity = 0;
    std::uint64_t imbalance_quantity = 0;
    char imbalance_side = ' ';
    char code = ' ';
    char cross_type = ' ';
    char variation = ' ';
    std::uint32_t scheduled_s = 0;
    std::int64_t collar_ns = 0;  // exchange time of the collar
    std::int64_t collar_reference = no_price;
    std::int64_t collar_lower = no_price;
    std::int64_t collar_upper = no_price;
    std::uint32_t extension = 0;
    char official_type = ' ';  // Q opening, M closing; Nasdaq: cross type of the newest bulk print
    std::array<char, 3> reserved0{};
    std::int64_t official_ns = 0;  // exchange time of the official or cross price
    std::int64_t official_price = no_price;
    std::uint64_t official_quantity = 0;  // 0 where the feed does not say
};
static_assert(sizeof(TradeStatistics) == 128 && sizeof(AuctionState) == 128);
static_assert(offsetof(TradeStatistics, flags) == 88 && offsetof(TradeStatistics, through) == 96);
static_assert(offsetof(AuctionState, imbalance_side) == 56 &&
              offsetof(AuctionState, collar_ns) == 64);
static_assert(offsetof(AuctionState, official_ns) == 104);

using Word = HardwareMemory::Word;

// Four blocks; each is read and rewritten by itself.
struct alignas(false_sharing_bytes) InstrumentRow {
    std::array<Word, sizeof(Identity) / 8> identity;
    std::array<Word, sizeof(InstrumentStatus) / 8> status;
    std::array<Word, sizeof(TradeStatistics) / 8> statistics;
    std::array<Word, sizeof(AuctionState) / 8> auction;
};
static_assert(sizeof(InstrumentRow) == 384);
static_assert(offsetof(InstrumentRow, statistics) == 128);
static_assert(offsetof(InstrumentRow, auction) == 256);

// How the protocol reads the blocks of a row.
template <class T>
struct RowFormat {
    static constexpr std::size_t head_words = sizeof(T) / sizeof(Word);
    [[nodiscard]] static std::size_t words(const std::byte*) noexcept { return head_words; }
};

// How often a reader looks again at a block that is being rewritten before it gives up: a writer
// that died in the middle of one leaves it so for ever.
inline constexpr int attempts = 10'000;

// A default one where nothing was written yet; nullopt where its writer died while writing it.
template <class T>
[[nodiscard]] inline std::optional<T> read_row(const Word* block) noexcept {
    T row;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        const std::uint64_t version = block_version<HardwareMemory>(block);
        if (version == 0) return T{};
        if (block_complete(version) &&
            copy_block<HardwareMemory, RowFormat<T>>(
                block, version, static_cast<std::byte*>(static_cast<void*>(&row)),
                sizeof(T) / sizeof(Word)))
            return row;
        pause();
    }
    return std::nullopt;
}

}  // namespace wirebook::ring
