// A pool of objects of one type: take() and give_back() are a handful of instructions each.
//
// All slabs lie in one array of an Arena (2 MiB pages), each on cache lines of its own, so that
// two objects never share a line and an object of 64 bytes or less is one line. A slab that was
// given back holds the address of the next free one in its first 8 bytes; the list is last in,
// first out, because what was freed last is still in the cache. Slabs that were never taken are
// not on any list: they are the rest of the array, so starting a pool touches no memory.
//
// take() runs no constructor. An object that was never taken before is all zero bytes; one that
// was holds what its last user left, but for its first 8 bytes. Write every field you read later.
// Objects are never destroyed, and their addresses and indices hold as long as the arena.
// Layer 0. A pool belongs to one thread; hand_back.hpp brings back what other threads are done
// with. Nothing is allocated after start().
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "wirebook/core/arena.hpp"
#include "wirebook/core/base.hpp"

namespace wirebook {

// On lines of its own: the neighbour may be another thread's pool.
template <class T>
class alignas(false_sharing_bytes) SlabPool {
    // Its bytes may be overwritten by the list's address and later be assigned again.
    static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_copyable_v<T>);

public:
    // An object is the first member of its slab: the same address.
    struct alignas(std::max(alignof(T), cache_line_bytes)) Slab {
        T object;
    };
    static constexpr std::size_t stride_bytes = sizeof(Slab);
    static constexpr std::size_t link_bytes = sizeof(void*);  // lost of a freed object's value
    static_assert(stride_bytes >= link_bytes);

    SlabPool() = default;
    ~SlabPool() = default;
    SlabPool(const SlabPool&) = delete;  // two lists of the same slabs
    SlabPool& operator=(const SlabPool&) = delete;
    SlabPool(SlabPool&&) = delete;
    SlabPool& operator=(SlabPool&&) = delete;

    // Takes `capacity` slabs from the arena; once. False: it has no room for them, or none were
    // asked for. The pool is then empty and stays usable: take() returns nullptr.
    [[nodiscard]] bool start(Arena& arena, std::uint32_t capacity) noexcept {
        WIREBOOK_CHECK(slabs_.empty());
        slabs_ = arena.make_array<Slab>(capacity);
        bytes_ = slabs_.size_bytes();
        return bytes_ != 0;
    }

    // nullptr when all `capacity` objects are taken.
    [[nodiscard]] T* take() noexcept {
        if (free_ != nullptr) [[likely]] {
            T* object = free_;
            free_ = next_of(object);
            return object;
        }
        if (untouched_ == slabs_.size()) return nullptr;
        return &slabs_[untouched_++].object;
    }

    // `object` came from this pool's take(); not to be used after.
    void give_back(T* object) noexcept {
        WIREBOOK_CHECK(owns(object));
        set_next(object, free_);
        free_ = object;
    }

    // Position in the pool, 0 .. capacity() - 1: half the size of an address, for links and maps.
    [[nodiscard]] std::uint32_t index_of(const T* object) const noexcept {
        return static_cast<std::uint32_t>(slab_of(object) - slabs_.data());
    }
    // `index` from index_of(). Not checked.
    [[nodiscard]] T& at(std::uint32_t index) noexcept { return slabs_.data()[index].object; }
    [[nodiscard]] const T& at(std::uint32_t index) const noexcept {
        return slabs_.data()[index].object;
    }

    // Counts the list of free objects: a counter that take() and give_back() kept would be half of
    // their time.
    [[nodiscard]] std::uint32_t used() const noexcept {
        std::uint32_t free = 0;
        for (const T* object = free_; object != nullptr; object = next_of(object)) ++free;
        return untouched_ - free;
    }
    [[nodiscard]] std::uint32_t capacity() const noexcept {
        return static_cast<std::uint32_t>(slabs_.size());
    }
    // Whether `object` is one of this pool's, taken or not.
    [[nodiscard]] bool owns(const T* object) const noexcept {
        const auto offset = static_cast<std::size_t>(bytes_of(object) - bytes_of(slabs_.data()));
        return offset < bytes_;
    }

    // For hand_back.hpp: chains of free objects that are built by another thread. The last
    // object's next is nullptr. The slabs' place is constant after start().
    [[nodiscard]] std::span<Slab> slabs() noexcept { return slabs_; }
    [[nodiscard]] static const Slab* slab_of(const T* object) noexcept {
        return static_cast<const Slab*>(static_cast<const void*>(object));
    }
    [[nodiscard]] static T* next_of(const T* object) noexcept {
        T* next = nullptr;
        std::memcpy(&next, bytes_of(object), link_bytes);
        return next;
    }
    static void set_next(T* object, T* next) noexcept {
        std::memcpy(static_cast<void*>(object), &next, link_bytes);
    }
    [[nodiscard]] bool list_empty() const noexcept { return free_ == nullptr; }
    // Makes a chain of objects of this pool its list, which was empty.
    void adopt(T* first) noexcept {
        WIREBOOK_CHECK(list_empty());
        free_ = first;
    }

private:
    [[nodiscard]] static const std::byte* bytes_of(const void* object) noexcept {
        return static_cast<const std::byte*>(object);
    }

    T* free_ = nullptr;            // given back last
    std::uint32_t untouched_ = 0;  // this slab and all after it were never taken
    std::size_t bytes_ = 0;        // of all slabs: give_back() looks at it each time
    std::span<Slab> slabs_;
};

}  // namespace wirebook
