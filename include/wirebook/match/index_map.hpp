// Hash -> index: where an order id or a price level is. Open addressing, one word an entry: the
// upper half of the hash and the index. The place follows from the hash alone, so it can be asked
// for long before it is read; another key's entry is told apart without looking at its line, but
// for one in 2^32.
//
// Half full at most. An erased entry leaves no mark: those behind it move up. May depend on core
// and book. One thread.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wirebook/book/prefetch.hpp"
#include "wirebook/core/base.hpp"

namespace wirebook::match {

class IndexMap {
public:
    // A power of two; no more than 2^32.
    [[nodiscard]] static constexpr std::size_t slots_for(std::uint64_t entries) noexcept {
        return std::bit_ceil(static_cast<std::size_t>(entries * 2 + 8));
    }

    // Zeroed memory.
    void start(std::span<std::uint64_t> slots) noexcept {
        WIREBOOK_CHECK(std::has_single_bit(slots.size()) && slots.size() <= std::size_t{1} << 32U);
        slots_ = slots.data();
        mask_ = slots.size() - 1;
        shift_ = 64U - static_cast<unsigned>(std::countr_zero(slots.size()));
    }

    // Where a search ended: at the slot of what it found, or, with index 0, at the gap where it
    // would be put. Good until the next insert or erase.
    struct Found {
        std::uint32_t index;
        std::size_t at;
    };

    // The index under `hash` of which same(index) is true.
    template <class Same>
    [[nodiscard, gnu::always_inline]] Found find(std::uint64_t hash, Same&& same) const noexcept {
        for (std::size_t at = hash >> shift_;; at = (at + 1) & mask_) {
            const std::uint64_t slot = slots_[at];
            if (slot == 0) return {0, at};
            if ((slot ^ hash) >> 32U == 0 && same(static_cast<std::uint32_t>(slot))) {
                return {static_cast<std::uint32_t>(slot), at};
            }
        }
    }
    // The index that is probably meant, or 0: looks at two slots and at nothing else.
    [[nodiscard]] std::uint32_t guess(std::uint64_t hash) const noexcept {
        const std::size_t at = hash >> shift_;
        const std::uint64_t first = slots_[at];
        const std::uint64_t second = slots_[(at + 1) & mask_];
        const std::uint64_t slot = (first ^ hash) >> 32U == 0 ? first : second;
        return (slot ^ hash) >> 32U == 0 ? static_cast<std::uint32_t>(slot) : 0;
    }

    // `index` is not 0, and there is room: slots_for() was asked for enough.
    void insert(std::uint64_t hash, std::uint32_t index) noexcept {
        std::size_t at = hash >> shift_;
        while (slots_[at] != 0) at = (at + 1) & mask_;
        insert_at(at, hash, index);
    }
    // `at` is the gap that find() met.
    void insert_at(std::size_t at, std::uint64_t hash, std::uint32_t index) noexcept {
        slots_[at] = (hash & upper_half) | index;
    }

    // `index` is in the map under `hash`.
    void erase(std::uint64_t hash, std::uint32_t index) noexcept {
        std::size_t at = hash >> shift_;
        while (static_cast<std::uint32_t>(slots_[at]) != index) at = (at + 1) & mask_;
        erase_at(at);
    }
    // `at` is the slot of what find() found.
    [[gnu::always_inline]] void erase_at(std::size_t at) noexcept {
        std::size_t hole = at;
        for (std::size_t next = (hole + 1) & mask_; slots_[next] != 0; next = (next + 1) & mask_) {
            // An entry may not move in front of where its search starts.
            const std::size_t home = slots_[next] >> shift_;
            if (((next - home) & mask_) < ((next - hole) & mask_)) continue;
            slots_[hole] = slots_[next];
            hole = next;
        }
        slots_[hole] = 0;
    }

    void prefetch(std::uint64_t hash) const noexcept { book::prefetch(&slots_[hash >> shift_]); }

private:
    static constexpr std::uint64_t upper_half = ~std::uint64_t{0xFFFF'FFFF};

    std::uint64_t* slots_ = nullptr;
    std::size_t mask_ = 0;
    unsigned shift_ = 0;
};

}  // namespace wirebook::match
