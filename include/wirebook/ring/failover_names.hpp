// One numbering of instruments over two segments whose rows differ: part of failover.hpp.
//
// An instrument is a channel and a symbol; of several rows of one segment that have both in common
// the first is paired with the other segment's first, the second with its second. It gets its
// number when one of the segments first shows it, and keeps it over renames and restarts. A row
// that is renamed to what the other segment's instrument is called becomes that instrument; rows
// without a symbol are paired with nothing until they have one. Of rows that are found renamed at
// once all give their names back before any takes its new one, and none takes the number of
// another of its segment: where two have swapped names, each keeps its number.
// Includes only the standard library and core. One thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "wirebook/ring/reader.hpp"

namespace wirebook::ring::detail {

struct RowName {
    std::uint16_t channel = 0;
    Symbol symbol;
    bool operator<(const RowName& other) const noexcept {
        return std::tie(channel, symbol.text) < std::tie(other.channel, other.symbol.text);
    }
    bool operator==(const RowName&) const = default;
    [[nodiscard]] bool empty() const noexcept { return symbol.view().empty(); }
};
// And which of the rows of that name.
using RowKey = std::pair<RowName, std::uint32_t>;
struct NumberedRow {
    RowName name;
    std::uint32_t number = no_instrument;
    RowKey key;
};

class FailoverNames {
public:
    static constexpr std::size_t sources = 2;

    // The number of a row of that source's segment; no_instrument for no_instrument and for rows
    // that are not there. Looks at new rows and changed names first.
    [[nodiscard]] std::uint32_t number(std::size_t source, const Reader& reader,
                                       std::uint32_t row) {
        Side& side = sides_[source];
        const std::uint64_t renames = reader.renames();
        if (renames != side.renames) read_again(side, reader, renames);
        if (row == no_instrument) return no_instrument;
        if (row >= side.rows.size()) read_new(side, reader);
        return row < side.rows.size() ? side.rows[row].number : no_instrument;
    }
    // The row of an instrument in that source's segment, as far as it was read.
    [[nodiscard]] std::optional<std::uint32_t> row(std::size_t source,
                                                   std::uint32_t number) const noexcept {
        const auto& row_of = sides_[source].row_of;
        if (number >= row_of.size() || row_of[number] == no_instrument) return std::nullopt;
        return row_of[number];
    }
    void forget(std::size_t source) { sides_[source] = {}; }

    [[nodiscard]] std::uint32_t size() const noexcept {
        return static_cast<std::uint32_t>(identities_.size());
    }
    [[nodiscard]] std::optional<Identity> identity(std::uint32_t number) const noexcept {
        if (number >= identities_.size()) return std::nullopt;
        return identities_[number];
    }
    [[nodiscard]] std::uint64_t renames() const noexcept { return renames_; }

private:
    struct Side {
        std::vector<NumberedRow> rows;
        std::vector<std::uint32_t> row_of;  // by number
        std::set<RowKey> keys;              // of its rows
        std::uint64_t renames = 0;
    };

    void read_new(Side& side, const Reader& reader) {
        const std::uint32_t end = reader.instruments();
        for (auto row = static_cast<std::uint32_t>(side.rows.size()); row < end; ++row) {
            const auto identity = reader.identity(row).value_or(Identity{});
            side.rows.emplace_back();
            enter(side, row, identity);
        }
    }
    void read_again(Side& side, const Reader& reader, std::uint64_t renames) {
        side.renames = renames;
        std::vector<std::pair<std::uint32_t, Identity>> renamed;
        for (std::uint32_t row = 0; row < side.rows.size(); ++row) {
            const auto identity = reader.identity(row);
            if (!identity) continue;
            const RowName name{identity->channel, identity->symbol};
            if (name != side.rows[row].name) renamed.emplace_back(row, *identity);
        }
        std::vector<std::uint32_t> numbers;
        for (const auto& [row, identity] : renamed) {
            leave(side, row);
            numbers.push_back(side.rows[row].number);
        }
        for (const auto& [row, identity] : renamed) enter(side, row, identity);
        for (const std::uint32_t number : numbers) {
            std::uint32_t& row = side.row_of[number];
            if (row != no_instrument && side.rows[row].number != number) row = no_instrument;
        }
    }
    // row_of stays: its number is not another row's.
    void leave(Side& side, std::uint32_t row) {
        NumberedRow& left = side.rows[row];
        side.keys.erase(left.key);
        const bool others = std::any_of(sides_.begin(), sides_.end(), [&](const Side& other) {
            return other.keys.count(left.key) != 0;
        });
        const auto known = by_key_.find(left.key);
        if (!others && known != by_key_.end() && known->second == left.number) by_key_.erase(known);
        left.key = {};
    }
    // Has another row of the source that number?
    [[nodiscard]] static bool has_other(const Side& side, std::uint32_t number, std::uint32_t row) {
        return number < side.row_of.size() && side.row_of[number] != no_instrument &&
               side.row_of[number] != row;
    }
    // The first of that name that no row of the source has.
    [[nodiscard]] static RowKey free_key(const Side& side, const RowName& name) {
        RowKey key{name, 0};
        for (auto at = side.keys.lower_bound(key); at != side.keys.end() && *at == key; ++at)
            key.second += 1;
        return key;
    }
    // The row is called so from now on.
    void enter(Side& side, std::uint32_t row, const Identity& identity) {
        NumberedRow& entered = side.rows[row];
        entered.name = {identity.channel, identity.symbol};
        if (entered.name.empty()) {
            if (entered.number == no_instrument) entered.number = add(identity);
        } else {
            entered.key = *side.keys.insert(free_key(side, entered.name)).first;
            const auto known = by_key_.find(entered.key);
            if (known != by_key_.end() && !has_other(side, known->second, row)) {
                entered.number = known->second;
            } else {
                if (entered.number == no_instrument) {
                    entered.number = add(identity);
                } else {
                    rename(entered.number, identity);
                }
                by_key_.insert_or_assign(entered.key, entered.number);
            }
        }
        if (side.row_of.size() <= entered.number)
            side.row_of.resize(std::size_t{entered.number} + 1, no_instrument);
        side.row_of[entered.number] = row;
    }
    [[nodiscard]] std::uint32_t add(const Identity& identity) {
        identities_.push_back(identity);
        return size() - 1;
    }
    void rename(std::uint32_t number, const Identity& identity) {
        identities_[number] = identity;
        renames_ += 1;
    }

    std::array<Side, sources> sides_;
    std::vector<Identity> identities_;  // by number
    std::map<RowKey, std::uint32_t> by_key_;
    std::uint64_t renames_ = 0;
};

}  // namespace wirebook::ring::detail
