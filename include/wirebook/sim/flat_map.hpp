// A hash table for the simulator's own books: linear probing, erased by moving back, grows by
// doubling. Key: an integer-like struct with ==; hash(key) is found by the caller's Hash.
//
// May depend on core. One thread; a pointer is good until the next insertion or erasure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "wirebook/core/base.hpp"

namespace wirebook::sim {

template <class Key, class Value, class Hash>
class FlatMap {
public:
    explicit FlatMap(std::size_t expected = 1024) {
        std::size_t slots = 16;
        while (slots < expected * 2) slots *= 2;
        slots_.resize(slots);
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    [[nodiscard]] Value* find(const Key& key) noexcept {
        const std::size_t at = probe(key);
        return slots_[at].used ? &slots_[at].value : nullptr;
    }
    // The value of the key, made with its default where there is none.
    [[nodiscard]] Value& operator[](const Key& key) {
        std::size_t at = probe(key);
        if (!slots_[at].used) {
            if ((size_ + 1) * 2 > slots_.size()) {
                grow();
                at = probe(key);
            }
            slots_[at] = {key, Value{}, true};
            ++size_;
        }
        return slots_[at].value;
    }
    // The key has to be there.
    void erase(const Key& key) noexcept {
        std::size_t hole = probe(key);
        WIREBOOK_CHECK(slots_[hole].used);
        --size_;
        // Everything behind the hole that would be sought at it or before moves into it.
        for (std::size_t at = next(hole); slots_[at].used; at = next(at)) {
            const std::size_t home = Hash{}(slots_[at].key) & mask();
            if (((at - home) & mask()) < ((at - hole) & mask())) continue;
            slots_[hole] = slots_[at];
            hole = at;
        }
        slots_[hole].used = false;
    }
    void clear() noexcept {
        for (Slot& slot : slots_) slot.used = false;
        size_ = 0;
    }

private:
    struct Slot {
        Key key{};
        Value value{};
        bool used = false;
    };

    [[nodiscard]] std::size_t mask() const noexcept { return slots_.size() - 1; }
    [[nodiscard]] std::size_t next(std::size_t at) const noexcept { return (at + 1) & mask(); }
    // Where the key is, or would go.
    [[nodiscard]] std::size_t probe(const Key& key) const noexcept {
        std::size_t at = Hash{}(key)&mask();
        while (slots_[at].used && !(slots_[at].key == key)) at = next(at);
        return at;
    }
    void grow() {
        std::vector<Slot> old(slots_.size() * 2);
        std::swap(old, slots_);
        for (Slot& slot : old) {
            if (slot.used) slots_[probe(slot.key)] = slot;
        }
    }

    std::vector<Slot> slots_;  // a power of two
    std::size_t size_ = 0;
};

}  // namespace wirebook::sim
