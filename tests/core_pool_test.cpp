// core: the slab pool. Hand-back from other threads and epochs have tests of their own.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <set>
#include <vector>

#include "wirebook/core/slab_pool.hpp"

using namespace wirebook;

namespace {

struct Order {
    std::uint64_t reference = 7;  // a constructor that take() must not need
    std::uint32_t quantity = 0;
};
struct Wide {
    std::array<std::uint64_t, 17> words;
};
struct alignas(256) Page {
    std::uint32_t word;
};

Arena arena_of(std::size_t bytes) {
    Result<Arena> made = Arena::create({.bytes = bytes, .hugetlb = false, .transparent = false});
    REQUIRE(made.ok());
    return std::move(made).value();
}

bool aligned(const void* object, std::size_t bytes) {
    return reinterpret_cast<std::uintptr_t>(object) % bytes == 0;
}

// As many objects as the pool gives.
template <class T>
std::vector<T*> take_all(SlabPool<T>& pool) {
    std::vector<T*> taken;
    while (T* object = pool.take()) taken.push_back(object);
    return taken;
}

}  // namespace

TEST_CASE("pool: it gives out capacity objects, each once, and then nullptr") {
    Arena arena = arena_of(1 << 20);
    SlabPool<Order> pool;
    REQUIRE(pool.start(arena, 1000));
    CHECK(pool.capacity() == 1000);
    CHECK(pool.used() == 0);
    const std::vector<Order*> taken = take_all(pool);
    CHECK(taken.size() == 1000);
    CHECK(std::set<Order*>(taken.begin(), taken.end()).size() == 1000);
    CHECK(pool.used() == 1000);
    CHECK(pool.take() == nullptr);
    CHECK(pool.used() == 1000);
}

TEST_CASE("pool: what is given back last is taken first") {
    Arena arena = arena_of(1 << 20);
    SlabPool<Order> pool;
    REQUIRE(pool.start(arena, 3));
    const std::vector<Order*> taken = take_all(pool);
    pool.give_back(taken[1]);
    pool.give_back(taken[2]);
    pool.give_back(taken[0]);
    CHECK(pool.used() == 0);
    CHECK(take_all(pool) == std::vector<Order*>{taken[0], taken[2], taken[1]});
    CHECK(pool.used() == 3);
}

TEST_CASE("pool: an object given back is preferred to one never touched") {
    Arena arena = arena_of(1 << 20);
    SlabPool<Order> pool;
    REQUIRE(pool.start(arena, 10));
    Order* first = pool.take();
    pool.give_back(first);
    CHECK(pool.take() == first);
    CHECK(pool.index_of(pool.take()) == 1);
}

TEST_CASE("pool: every object has cache lines of its own") {
    Arena arena = arena_of(1 << 20);
    SlabPool<std::uint8_t> bytes;
    SlabPool<Wide> wides;
    SlabPool<Page> pages;
    REQUIRE(arena.allocate(1) != nullptr);
    REQUIRE((bytes.start(arena, 5) && wides.start(arena, 5) && pages.start(arena, 5)));
    CHECK(SlabPool<std::uint8_t>::stride_bytes == 64);
    CHECK(SlabPool<Wide>::stride_bytes == 192);
    CHECK(SlabPool<Page>::stride_bytes == 256);
    for (std::uint8_t* object : take_all(bytes)) CHECK(aligned(object, 64));
    for (Wide* object : take_all(wides)) CHECK(aligned(object, 64));
    for (Page* object : take_all(pages)) CHECK(aligned(object, 256));
}

TEST_CASE("pool: indices and addresses convert both ways") {
    Arena arena = arena_of(1 << 20);
    SlabPool<Wide> pool;
    REQUIRE(pool.start(arena, 100));
    std::uint32_t expected = 0;
    for (Wide* object : take_all(pool)) {
        CHECK(pool.index_of(object) == expected++);
        CHECK(&pool.at(pool.index_of(object)) == object);
        CHECK(pool.owns(object));
    }
    Wide elsewhere{};
    CHECK_FALSE(pool.owns(&elsewhere));
}

TEST_CASE("pool: objects are zero at first and keep what users wrote but for the first 8 bytes") {
    Arena arena = arena_of(1 << 20);
    SlabPool<Order> pool;
    REQUIRE(pool.start(arena, 2));
    Order* order = pool.take();
    CHECK(order->reference == 0);
    *order = {.reference = 1, .quantity = 2};
    pool.give_back(order);
    REQUIRE(pool.take() == order);
    CHECK(order->quantity == 2);
}

TEST_CASE("pool: objects smaller than a link are given back without harm") {
    Arena arena = arena_of(1 << 20);
    SlabPool<std::uint8_t> pool;
    REQUIRE(pool.start(arena, 3));
    const std::vector<std::uint8_t*> taken = take_all(pool);
    *taken[1] = 200;
    pool.give_back(taken[0]);
    pool.give_back(taken[2]);
    CHECK(*taken[1] == 200);
    CHECK(take_all(pool) == std::vector<std::uint8_t*>{taken[2], taken[0]});
}

TEST_CASE("pool: an arena without room refuses, and the pool is empty") {
    Arena arena = arena_of(1);
    SlabPool<Wide> pool;
    CHECK_FALSE(pool.start(arena, 1'000'000));
    CHECK(pool.capacity() == 0);
    CHECK(pool.take() == nullptr);
    CHECK(arena.bytes_used() == 0);
    CHECK_FALSE(pool.start(arena, 0));
    REQUIRE(pool.start(arena, 1));
    CHECK(pool.take() != nullptr);
}

TEST_CASE("pool: starting one touches none of its memory") {
    Arena arena = arena_of(64 << 20);
    SlabPool<Wide> pool;
    REQUIRE(pool.start(arena, 300'000));
    const Wide* first = pool.take();
    const std::size_t page_bytes = Arena::huge_page_bytes;
    std::vector<unsigned char> resident(page_bytes / 4096);
    REQUIRE(mincore(&pool.at(0), page_bytes, resident.data()) == 0);
    CHECK(std::count(resident.begin(), resident.end(), 0) == std::ssize(resident));
    CHECK(first->words[0] == 0);  // the read is what maps its page
}
