// Which instruments a strategy wants: by symbol or by pattern, of all venues and channels or of
// one.
//
//     auto made = Subscription::make({.symbols = {"AAPL", "BRK*"}, .venue = 7});
//     if (!made) { ... made.error().context ... }
//     Subscription wanted = std::move(made).value();
//     if (wanted.wants(reader, record)) ...
//
// Patterns are those of the shell, by fnmatch(3) in the C locale: * any characters, ? one, [abc]
// [a-z] [[:digit:]] one of them, [!abc] one that is none of them, \ before a character that is
// meant itself. As POSIX has it, a [ without ] stands for itself, and a range that runs backwards
// holds nothing. Rows that the writer adds or
// renames are matched as they come, and all of them anew after the reader went over to another
// writer: a record's row is at least as new as the record.
// Includes only the standard library, core and libc. A Subscription belongs to its reader's thread.
#pragma once

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <clocale>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wirebook/ring/reader.hpp"

namespace wirebook::ring {

namespace detail {

// fnmatch goes by the thread's locale. Symbols are bytes, and A comes before B everywhere.
class InLocaleC {
public:
    InLocaleC() noexcept : before_(::uselocale(locale())) {}
    ~InLocaleC() { ::uselocale(before_); }
    InLocaleC(const InLocaleC&) = delete;
    InLocaleC& operator=(const InLocaleC&) = delete;

private:
    [[nodiscard]] static locale_t locale() noexcept {
        static const locale_t c = ::newlocale(LC_ALL_MASK, "C", nullptr);
        return c;
    }
    locale_t before_;
};

}  // namespace detail

// nullptr: a pattern. Else what is wrong with it.
[[nodiscard]] inline const char* pattern_fault(std::string_view pattern) noexcept {
    if (pattern.empty()) return "is empty";
    if (pattern.find('\0') != pattern.npos) return "holds a zero byte";
    std::size_t escapes = 0;
    while (escapes < pattern.size() && pattern[pattern.size() - 1 - escapes] == '\\') escapes += 1;
    return escapes % 2 == 0 ? nullptr : "ends with a \\";
}

// The whole symbol. Of a faulty pattern: false.
[[nodiscard]] inline bool matches_pattern(const std::string& pattern,
                                          const Symbol& symbol) noexcept {
    std::array<char, sizeof(Symbol) + 1> text{};  // with its zero
    const std::string_view view = symbol.view();
    std::copy(view.begin(), view.end(), text.begin());
    if (view.find('\0') != view.npos || pattern_fault(pattern) != nullptr) return false;
    const detail::InLocaleC locale;
    return ::fnmatch(pattern.c_str(), text.data(), 0) == 0;
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
            if (matches_pattern(pattern, identity.symbol)) return true;
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
