// From a feed's own instrument key (a symbol, an order book id and group) to the dense index that
// books use. Fixed capacity, open addressing, nothing allocated after construction.
//
// May depend on core. One owner thread. Indices are given out in order of first sight and never
// change; a full map answers `full`, which the book set refuses and counts.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "wirebook/core/base.hpp"

namespace wirebook::feed {

class InstrumentMap {
public:
    struct Key {
        std::uint64_t high = 0, low = 0;
        friend constexpr bool operator==(const Key&, const Key&) noexcept = default;
    };
    struct Found {
        std::uint32_t index;
        bool is_new;
    };
    static constexpr std::uint32_t full = 0xFFFF'FFFE;

    // `capacity`: instruments; the table is kept at most half full.
    explicit InstrumentMap(std::uint32_t capacity)
        : capacity_(capacity), slots_(std::bit_ceil(std::size_t{capacity} * 2)) {
        keys_.reserve(capacity);
    }

    [[nodiscard]] Found find_or_add(Key key) noexcept {
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t at = hash(key) & mask;; at = (at + 1) & mask) {
            Slot& slot = slots_[at];
            if (slot.index_plus_one == 0) {
                if (size_ == capacity_) return {full, false};
                slot = {key, size_ + 1};
                size_ += 1;
                keys_.push_back(key);
                return {size_ - 1, true};
            }
            if (slot.key == key) return {slot.index_plus_one - 1, false};
        }
    }
    // `index` < size().
    [[nodiscard]] Key key_of(std::uint32_t index) const noexcept { return keys_[index]; }
    [[nodiscard]] std::uint32_t size() const noexcept { return size_; }

private:
    struct Slot {
        Key key;
        std::uint32_t index_plus_one = 0;
    };
    // Two rounds of multiply and fold; symbols differ mostly in their last bytes.
    static std::size_t hash(Key key) noexcept {
        std::uint64_t h = (key.high ^ 0x9E37'79B9'7F4A'7C15u) * 0xFF51'AFD7'ED55'8CCDu;
        h = ((h ^ (h >> 32)) + key.low) * 0xC4CE'B9FE'1A85'EC53u;
        return static_cast<std::size_t>(h ^ (h >> 29));
    }

    std::uint32_t capacity_;
    std::uint32_t size_ = 0;
    std::vector<Slot> slots_;
    std::vector<Key> keys_;  // by index
};

}  // namespace wirebook::feed
