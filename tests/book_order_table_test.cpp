// The order table: pages, hash, and the slices of work between batches.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <map>
#include <random>

#include "wirebook/book/order_table.hpp"
#include "wirebook/book/queue.hpp"
#include "wirebook/core/arena.hpp"

namespace {

using namespace wirebook;
using namespace wirebook::book;

constexpr std::uint64_t page = OrderTable::page_orders;

// Every order stands alone in a level line of its own, as maintain() renames it there.
class Rig {
public:
    explicit Rig(std::uint32_t pages, std::size_t orders = 20'000)
        : arena_(std::move(
              Arena::create({.bytes = std::size_t{64} << 20U, .hugetlb = false}).value())) {
        OrderTable::Memory memory;
        memory.records = arena_.make_array<OrderRecord>(pages * page);
        memory.pages = arena_.make_array<OrderTable::Page>(pages);
        memory.free_pages = arena_.make_array<std::uint32_t>(pages);
        memory.dirty_pages = arena_.make_array<std::uint32_t>(pages);
        memory.directory = arena_.make_array<OrderTable::Range>(OrderTable::ranges);
        memory.range_nodes = arena_.make_array<std::uint32_t>(OrderTable::ranges);
        memory.nodes = arena_.make_array<OrderTable::Node>(orders);
        memory.free_nodes = arena_.make_array<std::uint32_t>(orders);
        memory.buckets = arena_.make_array<std::uint32_t>(std::bit_ceil(orders));
        table.start(memory, HashSeed::draw());
        lines.start(arena_.make_array<Line>(orders + 2),
                    arena_.make_array<std::uint32_t>(orders + 2));
    }

    void insert(std::uint64_t id) {
        REQUIRE(table.find(id).record == nullptr);
        const std::uint32_t line = lines.take();
        LevelLine fresh{};
        fresh.inside = 1;
        lines.level(line) = fresh;
        const LineRef where = LineRef::level(line, Side::bid);
        lines.level(line).handle[0] = table.insert(id, {where, 7});
        model[id] = line;
    }
    void erase(std::uint64_t id) {
        const OrderTable::Found found = table.find(id);
        REQUIRE(found.record != nullptr);
        lines.give_back(found.record->where.index());
        table.erase(id, found);
        model.erase(id);
    }
    void maintain(int slices) {
        for (int i = 0; i < slices && table.maintenance_due(); ++i) table.maintain(lines);
    }
    void check() {
        table.check();
        REQUIRE(table.live() == model.size());
        for (const auto& [id, line] : model) {
            const OrderTable::Found found = table.find(id);
            REQUIRE(found.record != nullptr);
            REQUIRE(found.record->where.index() == line);
            REQUIRE(found.handle == lines.level(line).handle[0]);
            REQUIRE(table.id_of(found.handle) == id);
            REQUIRE(&table.at(found.handle) == found.record);
        }
    }

private:
    Arena arena_;

public:
    OrderTable table;
    LinePool lines;
    std::map<std::uint64_t, std::uint32_t> model;  // id -> line
};

TEST_CASE("order table: a range of references gets a page once enough orders of it live") {
    Rig rig(2);
    for (std::uint64_t id = 1; id < OrderTable::open_at; ++id) rig.insert(id);
    rig.maintain(10);
    CHECK(rig.table.pages_in_use() == 0);
    rig.insert(OrderTable::open_at);
    CHECK(rig.table.in_hash() == OrderTable::open_at);
    rig.maintain(10);
    CHECK(rig.table.pages_in_use() == 1);
    CHECK(rig.table.in_hash() == 0);
    rig.insert(1'000);
    CHECK(rig.table.in_hash() == 0);
    rig.check();
}

TEST_CASE("order table: a page without orders is given back") {
    Rig rig(1);
    for (const std::uint64_t base : {std::uint64_t{0}, 5 * page, 3 * page}) {
        for (std::uint64_t id = 0; id < 300; ++id) rig.insert(base + id);
        rig.maintain(10);
        CHECK(rig.table.pages_in_use() == 1);
        rig.check();
        for (std::uint64_t id = 0; id < 300; ++id) rig.erase(base + id);
        CHECK(rig.table.pages_in_use() == 0);
        rig.check();
    }
}

TEST_CASE("order table: sparse and huge references never take a page") {
    Rig rig(2);
    for (std::uint64_t i = 0; i < 5'000; ++i) {
        rig.insert(i * page + 1);
        rig.insert(~i);
        rig.insert((std::uint64_t{1} << OrderTable::id_bits) + i);
    }
    rig.maintain(10);
    CHECK(rig.table.pages_in_use() == 0);
    CHECK(rig.table.in_hash() == 15'000);
    rig.check();
}

TEST_CASE("order table: when pages run short the emptiest old one is emptied into the hash") {
    Rig rig(4);
    for (std::uint64_t range = 0; range < 12; ++range) {
        for (std::uint64_t id = 0; id < 400; ++id) rig.insert(range * page + id * 601);
        rig.maintain(2'000);
        // A few orders of each range stay for good.
        for (std::uint64_t id = 10; id < 400; ++id) rig.erase(range * page + id * 601);
        rig.maintain(2'000);
        rig.check();
    }
    CHECK(rig.table.live() == 120);
    CHECK(rig.table.pages_in_use() <= 4);
    CHECK(rig.table.in_hash() >= 80);
}

TEST_CASE("order table: orders of a page that is being emptied stay usable throughout") {
    Rig rig(3, 200'000);
    std::uint64_t next = 0;
    for (; rig.table.pages_in_use() < 3; next += page) {
        for (std::uint64_t id = 0; id < 300; ++id) rig.insert(next + id * 800);
        rig.maintain(1);
    }
    // All pages are taken, so one is being emptied now, a slice at a time.
    std::mt19937_64 random(3);
    std::uint64_t most_hashed = 0;
    for (int step = 0; step < 600; ++step) {
        rig.maintain(1);
        most_hashed = std::max(most_hashed, rig.table.in_hash());
        const std::uint64_t id = random() % next;
        if (rig.model.contains(id)) {
            rig.erase(id);
        } else {
            rig.insert(id);
        }
        const auto at = rig.model.lower_bound(random() % next);
        if (at != rig.model.end()) rig.erase(at->first);
        if (step % 50 == 0) rig.check();
    }
    rig.check();
    CHECK(most_hashed > 100);
}

TEST_CASE("order table: a reset forgets everything, and its pages come back in slices") {
    Rig rig(2);
    for (std::uint64_t id = 0; id < 2'000; ++id) {
        rig.insert(id * 150);
        rig.maintain(1);
    }
    for (std::uint64_t id = 0; id < 500; ++id) rig.insert(~id);
    CHECK(rig.table.pages_in_use() == 2);
    rig.table.reset();
    rig.model.clear();
    rig.lines.reset();
    rig.check();
    for (std::uint64_t id = 0; id < 300; ++id) rig.insert(id * 3);
    rig.maintain(20);
    rig.table.reset();  // again, while a page is being zeroed
    rig.model.clear();
    rig.lines.reset();
    for (std::uint64_t id = 0; id < 300; ++id) rig.insert(id * 3);
    rig.maintain(2'000);
    rig.insert(1);
    rig.maintain(10);
    CHECK(rig.table.pages_in_use() == 1);
    rig.check();
}

TEST_CASE("order table: is full at its limit, wherever the orders are") {
    Rig rig(1, 256);
    for (std::uint64_t id = 0; id < 200; ++id) rig.insert(id);
    rig.maintain(10);
    for (std::uint64_t id = 0; id < 56; ++id) {
        CHECK_FALSE(rig.table.full());
        rig.insert(~id);
    }
    CHECK(rig.table.full());
    rig.erase(3);
    CHECK_FALSE(rig.table.full());
    rig.check();
}

}  // namespace
