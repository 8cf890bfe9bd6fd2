// The parts of the books: price ranks, level map, level trees.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "wirebook/book/level_map.hpp"
#include "wirebook/book/level_tree.hpp"
#include "wirebook/core/arena.hpp"

namespace {

using namespace wirebook;
using namespace wirebook::book;

std::uint64_t test_seed() {
    const char* text = std::getenv("WIREBOOK_SEED");
    const std::uint64_t seed =
        text != nullptr ? std::strtoull(text, nullptr, 0) : std::random_device{}();
    UNSCOPED_INFO("WIREBOOK_SEED=" << seed);
    return seed;
}

Arena arena_of(std::size_t bytes) {
    return std::move(Arena::create({.bytes = bytes, .hugetlb = false}).value());
}

TEST_CASE("rank: higher is better on both sides, for every price") {
    for (const std::int64_t price : {INT64_MIN, INT64_MIN + 1, std::int64_t{-1}, std::int64_t{0},
                                     std::int64_t{1}, INT64_MAX - 1, INT64_MAX}) {
        CHECK(price_of(Side::bid, rank_of(Side::bid, price)) == price);
        CHECK(price_of(Side::ask, rank_of(Side::ask, price)) == price);
        if (price == INT64_MAX) continue;
        CHECK(rank_of(Side::bid, price) < rank_of(Side::bid, price + 1));
        CHECK(rank_of(Side::ask, price) > rank_of(Side::ask, price + 1));
    }
}

struct TreeRig {
    explicit TreeRig(std::size_t nodes) : arena(arena_of(nodes * 300 + 4096)) {
        trees.start(arena.make_array<TreeNode>(nodes), arena.make_array<std::uint32_t>(nodes));
    }
    void compare(LevelTrees::Root root, const std::map<std::int64_t, std::uint32_t>& model) const {
        REQUIRE(trees.check(root) == model.size());
        auto expected = model.rbegin();
        trees.for_each(root, [&](std::int64_t rank, std::uint32_t line) {
            REQUIRE(expected != model.rend());
            REQUIRE(rank == expected->first);
            REQUIRE(line == expected->second);
            ++expected;
            return true;
        });
        REQUIRE(expected == model.rend());
        if (model.empty()) return;
        REQUIRE(trees.best(root).rank == model.rbegin()->first);
        REQUIRE(trees.best(root).line == model.rbegin()->second);
    }

    Arena arena;
    LevelTrees trees;
};

TEST_CASE("level tree: random insertions and removals agree with an ordered map") {
    std::mt19937_64 random(test_seed());
    TreeRig rig(LevelTrees::nodes_for(3'000, 4));
    std::array<LevelTrees::Root, 4> roots{};
    std::array<std::map<std::int64_t, std::uint32_t>, 4> models;
    bool grow = true;
    std::size_t levels = 0;
    for (std::uint32_t step = 1; step < 40'000; ++step) {
        const std::size_t side = random() % 4;
        auto& model = models[side];
        std::int64_t rank = static_cast<std::int64_t>(random() % 5'000);
        if (random() % 50 == 0) rank = static_cast<std::int64_t>(random());
        if (levels > 2'900) grow = false;
        if (levels < 10) grow = true;
        const bool insert = random() % 100 < (grow ? 70 : 30);
        if (insert) {
            if (model.contains(rank)) continue;
            REQUIRE(rig.trees.insert(roots[side], rank, step));
            model[rank] = step;
            ++levels;
        } else {
            auto at = model.lower_bound(rank);
            if (at == model.end()) continue;
            rig.trees.erase(roots[side], at->first);
            model.erase(at);
            --levels;
        }
        if (step % 200 == 0) rig.compare(roots[side], model);
    }
    for (std::size_t side = 0; side < 4; ++side) {
        rig.compare(roots[side], models[side]);
        while (!models[side].empty()) {
            rig.trees.erase(roots[side], models[side].begin()->first);
            models[side].erase(models[side].begin());
        }
        REQUIRE(roots[side] == 0);
    }
    CHECK(rig.trees.used() == 0);
}

TEST_CASE("level tree: a hundred thousand levels a side go in and out in any order") {
    const int order = GENERATE(0, 1, 2);
    constexpr std::uint32_t levels = 100'000;
    TreeRig rig(LevelTrees::nodes_for(levels, 2));
    LevelTrees::Root root = 0;
    const auto rank = [order](std::uint32_t i) {
        const std::uint32_t k = order == 0 ? i : order == 1 ? levels - 1 - i : i * 7919U % levels;
        return static_cast<std::int64_t>(k);
    };
    for (std::uint32_t i = 0; i < levels; ++i) REQUIRE(rig.trees.insert(root, rank(i), i + 1));
    CHECK(rig.trees.check(root) == levels);
    CHECK(rig.trees.best(root).rank == levels - 1);
    std::uint32_t walked = 0;
    rig.trees.for_each(root, [&](std::int64_t, std::uint32_t) { return ++walked < 20; });
    CHECK(walked == 20);
    for (std::uint32_t i = 0; i < levels; ++i) {
        rig.trees.erase(root, rank(i));
        if (i % 10'000 == 0) CHECK(rig.trees.check(root) == levels - 1 - i);
    }
    CHECK(root == 0);
}

TEST_CASE("level tree: without nodes an insertion changes nothing") {
    TreeRig rig(3);  // two usable
    LevelTrees::Root root = 0;
    std::map<std::int64_t, std::uint32_t> model;
    for (std::int64_t rank = 0; rank < 20; ++rank) {
        REQUIRE(rig.trees.insert(root, rank, 1));
        model[rank] = 1;
    }
    CHECK_FALSE(rig.trees.insert(root, 99, 1));  // a split needs two more
    rig.compare(root, model);
    LevelTrees::Root other = 0;
    CHECK(rig.trees.insert(other, 1, 1));
    LevelTrees::Root third = 0;
    CHECK_FALSE(rig.trees.insert(third, 1, 1));
    CHECK(third == 0);
}

TEST_CASE("level map: what was inserted is found, also through full buckets") {
    std::mt19937_64 random(test_seed());
    constexpr std::uint32_t levels = 400;
    Arena arena = arena_of(std::size_t{1} << 20U);
    LinePool lines;
    lines.start(arena.make_array<Line>(levels + 2), arena.make_array<std::uint32_t>(levels + 2));
    LevelMap map;
    // Twice as full as BookSet makes it.
    map.start(arena.make_array<LevelMap::Bucket>(LevelMap::buckets_for(levels) / 2),
              HashSeed::draw());
    std::map<std::pair<std::uint32_t, std::int64_t>, std::uint32_t> model;
    for (int step = 0; step < 100'000; ++step) {
        const BookSide side(static_cast<std::uint32_t>(random() % 5),
                            random() % 2 == 0 ? Side::bid : Side::ask);
        const auto rank = static_cast<std::int64_t>(random() % 100);
        const std::uint64_t hash = map.hash(side, rank);
        const auto at = model.find({side.bits(), rank});
        const std::uint32_t found = map.find(lines, hash, side, rank);
        REQUIRE(found == (at == model.end() ? no_line : at->second));
        const std::size_t target = step / 10'000 % 2 == 0 ? levels - 20 : 20;
        if (at == model.end() && model.size() < target) {
            const std::uint32_t line = lines.take();
            LevelLine fresh{};
            fresh.rank = rank;
            fresh.book_side = side;
            lines.level(line) = fresh;
            map.insert(hash, line);
            model[{side.bits(), rank}] = line;
        } else if (at != model.end() && model.size() > target / 2) {
            map.erase(hash, found);
            lines.give_back(found);
            model.erase(at);
        }
    }
    map.reset();
    for (const auto& [key, line] : model) {
        REQUIRE(map.find(lines, map.hash(lines.level(line).book_side, key.second),
                         lines.level(line).book_side, key.second) == no_line);
    }
}

}  // namespace
