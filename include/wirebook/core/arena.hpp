// One stretch of memory for everything on a hot path, handed out once at start-up.
//
// An arena reserves its whole range at creation and only ever moves a mark forward: nothing is
// given back before the arena dies, so no allocation happens after start-up and no address
// changes. Memory is zero until written. Objects made here are never destroyed one by one.
// Layer 0. Filled by one thread; the memory it gave out follows the rules of its users.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "wirebook/core/base.hpp"
#include "wirebook/core/result.hpp"

namespace wirebook {

struct ArenaOptions {
    std::size_t bytes = 0;    // rounded up to whole 2 MiB pages
    bool prefault = false;    // touch every page now: no page fault later
    bool hugetlb = true;      // try explicit 2 MiB pages (vm.nr_hugepages) first
    bool transparent = true;  // else 2 MiB pages where the kernel finds them. false: for sparse use
                              // of little memory, where each table would take a whole such page
};

class Arena {
public:
    static constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

    // What the kernel was asked for, best first.
    enum class Backing : std::uint8_t {
        hugetlb,      // explicit 2 MiB pages, reserved at creation
        transparent,  // 2 MiB pages where the kernel finds them (madvise)
        small_pages,  // 4 KiB: transparent huge pages are switched off on this host
    };

    // Fails when the address range, or with `prefault` the memory itself, is not to be had.
    [[nodiscard]] static Result<Arena> create(const ArenaOptions& options);

    Arena(Arena&& other) noexcept { swap(other); }
    Arena& operator=(Arena&& other) noexcept {
        swap(other);
        return *this;
    }
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    ~Arena();

    // Zero-filled memory, or nullptr when the arena is full. `alignment`: a power of two up to
    // huge_page_bytes.
    [[nodiscard]] std::byte* allocate(std::size_t bytes,
                                      std::size_t alignment = cache_line_bytes) noexcept;

    // `count` objects whose bytes are all zero, which has to be a valid value of T. Starts on a
    // cache line. An empty span when the arena is full.
    template <class T>
    [[nodiscard]] std::span<T> make_array(std::size_t count) noexcept {
        static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_copyable_v<T>);
        constexpr std::size_t alignment = std::max(alignof(T), cache_line_bytes);
        if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) return {};
        std::byte* memory = allocate(count * sizeof(T), alignment);
        if (memory == nullptr) return {};
        // Implicit-lifetime objects: mapped memory holds them, as malloc's does.
        return {std::launder(reinterpret_cast<T*>(memory)), count};
    }

    [[nodiscard]] std::size_t bytes_used() const noexcept { return used_; }
    [[nodiscard]] std::size_t bytes_total() const noexcept { return bytes_; }
    [[nodiscard]] Backing backing() const noexcept { return backing_; }

private:
    Arena() = default;
    void swap(Arena& other) noexcept {
        std::swap(memory_, other.memory_);
        std::swap(bytes_, other.bytes_);
        std::swap(used_, other.used_);
        std::swap(backing_, other.backing_);
    }

    std::byte* memory_ = nullptr;  // on a 2 MiB boundary
    std::size_t bytes_ = 0;
    std::size_t used_ = 0;
    Backing backing_ = Backing::small_pages;
};

// Bytes that can be had now without swapping; the largest number where the kernel does not say.
[[nodiscard]] std::size_t memory_available() noexcept;

// "2 MiB pages (hugetlb)" and the like, for a start-up notice.
[[nodiscard]] const char* to_string(Arena::Backing backing) noexcept;

}  // namespace wirebook
