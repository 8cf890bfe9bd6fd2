// Pools that all threads share without locks.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <memory>
#include <thread>

#include "pools/object.hpp"

namespace wirebook::bench {

// A stack whose head is (tag, index + 1): the tag grows with every change, so that a head that was
// popped and pushed again is another one (ABA).
template <class ObjectType>
class CasStackPool {
public:
    using Object = ObjectType;
    CasStackPool(std::size_t objects, unsigned) : storage_(objects) {
        for (Object& object : storage_.objects()) give_back(&object);
    }
    Object* take() noexcept {
        std::uint64_t head = head_.load(std::memory_order_acquire);
        for (;;) {
            const auto number = static_cast<std::uint32_t>(head);
            if (number == 0) return nullptr;
            Object* object = &storage_.objects()[number - 1];
            // May be another's by now: then the tag is another too.
            const auto next = std::atomic_ref(object->link).load(std::memory_order_relaxed);
            if (head_.compare_exchange_weak(head, tag_after(head) | next,
                                            std::memory_order_acquire)) {
                return object;
            }
        }
    }
    void give_back(Object* object) noexcept {
        const auto number = static_cast<std::uint64_t>(object - storage_.objects().data()) + 1;
        std::uint64_t head = head_.load(std::memory_order_relaxed);
        do {
            std::atomic_ref(object->link)
                .store(static_cast<std::uint32_t>(head), std::memory_order_relaxed);
        } while (!head_.compare_exchange_weak(
            head, tag_after(head) | number, std::memory_order_release, std::memory_order_relaxed));
    }
    CasStackPool& local(unsigned) noexcept { return *this; }

private:
    static std::uint64_t tag_after(std::uint64_t head) noexcept { return ((head >> 32) + 1) << 32; }
    Storage<Object> storage_;
    alignas(false_sharing_bytes) std::atomic<std::uint64_t> head_{0};
};

// A counter says where to look next; a flag an object, whether it is taken. With twice the objects
// needed, every second look finds a free one. Unchecked: no flags, as if what is a round old were
// free for certain; only good for objects that live shortly.
template <class ObjectType, bool checked>
class FetchAddSlab {
public:
    using Object = ObjectType;
    static constexpr bool random_lifetime = checked;
    FetchAddSlab(std::size_t objects, unsigned)
        : storage_(std::bit_ceil(checked ? 2 * objects : std::min(objects, unchecked_objects))),
          mask_(storage_.objects().size() - 1),
          taken_(std::make_unique<std::atomic<std::uint8_t>[]>(checked ? mask_ + 1 : 1)) {}
    Object* take() noexcept {
        for (;;) {
            const std::size_t index = next_.fetch_add(1, std::memory_order_relaxed) & mask_;
            if constexpr (checked) {
                if (taken_[index].load(std::memory_order_relaxed) != 0) continue;
                if (taken_[index].exchange(1, std::memory_order_acquire) != 0) continue;
            }
            return &storage_.objects()[index];
        }
    }
    void give_back(Object* object) noexcept {
        if constexpr (checked) {
            const auto index = static_cast<std::size_t>(object - storage_.objects().data());
            taken_[index].store(0, std::memory_order_release);
        }
    }
    FetchAddSlab& local(unsigned) noexcept { return *this; }

private:
    static constexpr std::size_t unchecked_objects = 1024;
    Storage<Object> storage_;
    std::size_t mask_;
    std::unique_ptr<std::atomic<std::uint8_t>[]> taken_;
    alignas(false_sharing_bytes) std::atomic<std::uint64_t> next_{0};
};
template <class Object>
using CheckedFetchAddSlab = FetchAddSlab<Object, true>;
template <class Object>
using UncheckedFetchAddSlab = FetchAddSlab<Object, false>;

// Free objects wait in a bounded queue for several producers and consumers (Vyukov's): first in,
// first out, so every object is used in turn. The pool has more objects than its users take.
template <class ObjectType>
class RingSlab {
    struct Cell {
        std::atomic<std::uint64_t> turn;
        ObjectType* object;
    };

public:
    using Object = ObjectType;
    RingSlab(std::size_t objects, unsigned)
        : storage_(objects),
          mask_(std::bit_ceil(objects) - 1),
          cells_(std::make_unique<Cell[]>(mask_ + 1)) {
        for (std::size_t i = 0; i <= mask_; ++i) cells_[i].turn.store(i, std::memory_order_relaxed);
        for (Object& object : storage_.objects()) give_back(&object);
    }
    Object* take() noexcept {
        std::uint64_t at = head_.load(std::memory_order_relaxed);
        for (;;) {
            Cell& cell = cells_[at & mask_];
            const std::uint64_t turn = cell.turn.load(std::memory_order_acquire);
            if (turn == at + 1) {
                if (head_.compare_exchange_weak(at, at + 1, std::memory_order_relaxed)) {
                    Object* object = cell.object;
                    cell.turn.store(at + mask_ + 1, std::memory_order_release);
                    return object;
                }
            } else {
                // Behind: its giver was interrupted between its place and its object, and all
                // others have come round to it. Nothing but waiting helps.
                if (turn < at + 1) std::this_thread::yield();
                at = head_.load(std::memory_order_relaxed);
            }
        }
    }
    void give_back(Object* object) noexcept {
        std::uint64_t at = tail_.load(std::memory_order_relaxed);
        for (;;) {
            Cell& cell = cells_[at & mask_];
            // Never full: as many cells as objects. Behind: its last user has not yet left it.
            if (cell.turn.load(std::memory_order_acquire) == at) {
                if (tail_.compare_exchange_weak(at, at + 1, std::memory_order_relaxed)) {
                    cell.object = object;
                    cell.turn.store(at + 1, std::memory_order_release);
                    return;
                }
            } else {
                at = tail_.load(std::memory_order_relaxed);
            }
        }
    }
    RingSlab& local(unsigned) noexcept { return *this; }

private:
    Storage<Object> storage_;
    std::size_t mask_;
    std::unique_ptr<Cell[]> cells_;
    alignas(false_sharing_bytes) std::atomic<std::uint64_t> head_{0};
    alignas(false_sharing_bytes) std::atomic<std::uint64_t> tail_{0};
};

}  // namespace wirebook::bench
