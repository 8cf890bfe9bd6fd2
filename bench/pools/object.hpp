// What the pools of pool_bench hand out, and where those of our own making keep it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wirebook/core/arena.hpp"

namespace wirebook::bench {

// Free objects of a pool are linked through `link`; users write `stamp`.
template <std::size_t size>
struct alignas(cache_line_bytes) Object {
    static constexpr std::size_t bytes = size;
    std::uint64_t link;
    std::uint64_t stamp;
    std::array<std::byte, size - 16> rest;
};

// The objects of one pool, or of one thread's part of it, on 2 MiB pages where there are any.
template <class Object>
class Storage {
public:
    explicit Storage(std::size_t count) : arena_(arena_for(count)) {
        objects_ = arena_.make_array<Object>(count);
        WIREBOOK_CHECK(objects_.size() == count);
    }
    [[nodiscard]] std::span<Object> objects() noexcept { return objects_; }
    [[nodiscard]] static Arena arena_for(std::size_t count) {
        auto made = Arena::create({.bytes = count * sizeof(Object) + 4096, .prefault = true});
        if (!made.ok()) std::fprintf(stderr, "%s\n", made.error().context.c_str());
        WIREBOOK_CHECK(made.ok());
        return std::move(made).value();
    }

private:
    Arena arena_;
    std::span<Object> objects_;
};

}  // namespace wirebook::bench
