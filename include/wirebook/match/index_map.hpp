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

    // The index under `hash` of which same(index) is true, or 0.
    template <class Same>
    [[nodiscard]] std::uint32_t find(std::uint64_t hash, Same&& same) const noexcept {
        for (std::size_t at = hash >> shift_;; at = (at + 1) & mask_) {
            const std::uint64_t slot = slots_[at];
            if (slot == 0) return 0;
            if ((slot ^ hash) >> 32U == 0 && same(static_cast<std::uint32_t>(slot))) {
                return static_cast<std::uint32_t>(slot);
            }
        }
    }
    // The index that is probably meant, or 0: looks at nothing but slots.
    [[nodiscard]] std::uint32_t guess(std::uint64_t hash) const noexcept {
        return find(hash, [](std::uint32_t) { return true; });
    }

    // `index` is not 0, and there is room: slots_for() was asked for enough.
    void insert(std::uint64_t hash, std::uint32_t index) noexcept {
        std::size_t at = hash >> shift_;
        while (slots_[at] != 0) at = (at + 1) & mask_;
        slots_[at] = (hash & upper_half) | index;
    }

    // `index` is in the map under `hash`.
    void erase(std::uint64_t hash, std::uint32_t index) noexcept {
        std::size_t hole = hash >> shift_;
        while (static_cast<std::uint32_t>(slots_[hole]) != index) hole = (hole + 1) & mask_;
        for (std::size_t at = (hole + 1) & mask_; slots_[at] != 0; at = (at + 1) & mask_) {
            // An entry may not move in front of where its search starts.
            const std::size_t home = slots_[at] >> shift_;
            if (((at - home) & mask_) < ((at - hole) & mask_)) continue;
            slots_[hole] = slots_[at];
            hole = at;
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
