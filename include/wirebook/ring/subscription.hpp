// Which instruments a strategy wants: by symbol or by pattern, of all venues and channels or of
// one.
//
//     auto made = Subscription::make({.symbols = {"AAPL", "BRK*"}, .venue = 7});
//     if (!made) { ... made.error().context ... }
//     Subscription wanted = std::move(made).value();
//     if (wanted.wants(reader, record)) ...
//
// Patterns are those of the shell: * any characters, ? one, [abc] [a-z] one of them, [!abc] one
// that is none of them, \ before a character that is meant itself. Rows that the writer adds or
// renames are matched as they come, and all of them anew after the reader went over to another
// writer: a record's row is at least as new as the record.
// Includes only the standard library and core. A Subscription belongs to its reader's thread.
#pragma once

#include <cerrno>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wirebook/ring/reader.hpp"

namespace wirebook::ring {

namespace detail {

// What the pattern's element at `at` is: where the next one begins, and whether `c` is of it.
struct PatternStep {
    std::size_t next = 0;
    bool matches = false;
};
inline constexpr std::size_t unclosed = std::string_view::npos;  // as `next`: the pattern is cut

[[nodiscard]] constexpr PatternStep match_set(std::string_view pattern, std::size_t at,
                                              char c) noexcept {
    std::size_t i = at + 1;
    const bool negated = i < pattern.size() && pattern[i] == '!';
    if (negated) i += 1;
    bool found = false;
    for (bool first = true; i < pattern.size() && (first || pattern[i] != ']'); first = false) {
        const char low = pattern[i];
        char high = low;
        if (i + 2 < pattern.size() && pattern[i + 1] == '-' && pattern[i + 2] != ']') {
            high = pattern[i + 2];
            i += 2;
        }
        found = found || (low <= c && c <= high);
        i += 1;
    }
    return {i < pattern.size() ? i + 1 : unclosed, found != negated};
}

[[nodiscard]] constexpr PatternStep match_one(std::string_view pattern, std::size_t at,
                                              char c) noexcept {
    switch (pattern[at]) {
        case '?': return {at + 1, true};
        case '[': return match_set(pattern, at, c);
        case '\\':
            if (at + 1 == pattern.size()) return {unclosed, false};
            return {at + 2, pattern[at + 1] == c};
        default: return {at + 1, pattern[at] == c};
    }
}

}  // namespace detail

// nullptr: a pattern. Else what is wrong with it.
[[nodiscard]] constexpr const char* pattern_fault(std::string_view pattern) noexcept {
    if (pattern.empty()) return "is empty";
    for (std::size_t at = 0; at < pattern.size();) {
        const std::size_t next = detail::match_one(pattern, at, ' ').next;
        if (next == detail::unclosed)
            return pattern[at] == '[' ? "has a [ without ]" : "ends with a \\";
        at = next;
    }
    return nullptr;
}

// The whole text. Of a faulty pattern: false.
[[nodiscard]] constexpr bool matches_pattern(std::string_view pattern,
                                             std::string_view text) noexcept {
    constexpr std::size_t none = std::string_view::npos;
    std::size_t at = 0, i = 0;
    std::size_t star = none, star_text = 0;  // the newest *, and where its characters end so far
    while (i < text.size() || at < pattern.size()) {
        if (at < pattern.size() && pattern[at] == '*') {
            star = at++;
            star_text = i;
            continue;
        }
        if (at < pattern.size() && i < text.size()) {
            const detail::PatternStep step = detail::match_one(pattern, at, text[i]);
            if (step.next == detail::unclosed) return false;
            if (step.matches) {
                at = step.next;
                i += 1;
                continue;
            }
        }
        if (star == none || star_text == text.size()) return false;
        i = ++star_text;  // the * takes one character more
        at = star + 1;
    }
    return true;
}

struct Wanted {
    std::vector<std::string> symbols{};      // patterns; none: every symbol
    std::optional<std::uint32_t> venue{};    // Identity::venue
    std::optional<std::uint16_t> channel{};  // Identity::channel

    [[nodiscard]] bool matches(const Identity& identity) const noexcept {
        if (venue && identity.venue != *venue) return false;
        if (channel && identity.channel != *channel) return false;
        if (symbols.empty()) return true;
        for (const std::string& pattern : symbols)
            if (matches_pattern(pattern, identity.symbol.view())) return true;
        return false;
    }
};

// The first instrument of that symbol (as it is, no pattern) at that venue. Reader::find has it by
// channel.
[[nodiscard]] inline std::optional<std::uint32_t> find_at_venue(const Reader& reader,
                                                                std::string_view symbol,
                                                                std::uint32_t venue) noexcept {
    for (std::uint32_t i = 0; i < reader.instruments(); ++i) {
        const auto row = reader.identity(i);
        if (row && row->venue == venue && row->symbol.view() == symbol) return i;
    }
    return std::nullopt;
}

class Subscription {
public:
    // EINVAL: a pattern is faulty; the text says which and why.
    [[nodiscard]] static Result<Subscription> make(Wanted wanted) {
        for (const std::string& pattern : wanted.symbols) {
            if (const char* fault = pattern_fault(pattern))
                return Error{EINVAL, "symbol pattern '" + pattern + "' " + fault};
        }
        return Subscription(std::move(wanted));
    }

    // Is the record of a wanted instrument, or of its whole channel? Costs a bit's test and two
    // loads, but when rows came or changed. The reader (Reader, or FailoverReader with its own
    // numbers; of a MergeReader the segment's, with a Subscription each) must be the one that gave
    // the record.
    template <class AnyReader>
    [[nodiscard]] bool wants(const AnyReader& reader, const Record& record) noexcept {
        if (record.instrument == no_instrument) return true;
        if (record.instrument >= rows_ || reader.renames() != renames_ || reader.epoch() != epoch_)
            refresh(reader);
        return contains(record.instrument);
    }
    // By index, as of the last refresh.
    [[nodiscard]] bool contains(std::uint32_t instrument) const noexcept {
        return instrument < rows_ && ((bits_[instrument / 64] >> (instrument % 64)) & 1U) != 0;
    }
    // Looks at the rows that are new, or at all of them where names or the writer have changed.
    // Allocates only for the first and for another writer. `wants` calls it by itself.
    template <class AnyReader>
    void refresh(const AnyReader& reader) noexcept {
        // Before the rows are read: a row that changes meanwhile is looked at again.
        const std::uint64_t renames = reader.renames();
        if (reader.epoch() != epoch_ || renames != renames_) {
            bits_.assign(bits_.size(), 0);
            instruments_.clear();
            rows_ = 0;
        }
        const std::uint32_t room = reader.instrument_capacity();
        if (room > instruments_.capacity()) {
            instruments_.reserve(room);
            bits_.resize(room / 64 + 1);
        }
        epoch_ = reader.epoch();
        renames_ = renames;
        for (const std::uint32_t end = reader.instruments(); rows_ < end; ++rows_) {
            const auto identity = reader.identity(rows_);
            if (!identity || !wanted_.matches(*identity)) continue;
            bits_[rows_ / 64] |= std::uint64_t{1} << (rows_ % 64);
            instruments_.push_back(rows_);
        }
    }
    // The wanted instruments' indices as of the last refresh, ascending.
    [[nodiscard]] std::span<const std::uint32_t> instruments() const noexcept {
        return instruments_;
    }
    [[nodiscard]] const Wanted& wanted() const noexcept { return wanted_; }

private:
    explicit Subscription(Wanted wanted) noexcept : wanted_(std::move(wanted)) {}

    Wanted wanted_;
    std::vector<std::uint64_t> bits_;  // one an instrument
    std::vector<std::uint32_t> instruments_;
    std::uint32_t rows_ = 0;   // looked at so far
    std::uint64_t epoch_ = 0;  // of the writer whose rows these are; no writer has 0
    std::uint64_t renames_ = 0;
};

}  // namespace wirebook::ring
