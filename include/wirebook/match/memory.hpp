// The memory that the protocols of this module run on: words that two threads may touch at once,
// and cells that the protocol lets only one touch at a time. Tests substitute a memory that
// explores what the C++ memory model allows and notices two accesses to a cell that nothing orders.
//
// May depend on core. Plain data; the thread rules are those of the protocols.
#pragma once

#include <atomic>
#include <cstdint>

namespace wirebook::match {

struct HardwareMemory {
    using Word = std::atomic<std::uint64_t>;
    static_assert(Word::is_always_lock_free && sizeof(Word) == 8);

    // Ordinary memory: cheap to copy, and ThreadSanitizer sees it.
    template <class T>
    struct Cell {
        void put(const T& value_put) noexcept { value = value_put; }
        [[nodiscard]] const T& get() const noexcept { return value; }
        T value;
    };
};

}  // namespace wirebook::match
