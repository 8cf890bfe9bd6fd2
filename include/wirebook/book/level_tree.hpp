// The levels of one side of one book in order of price: a B+-tree of (rank, level line), touched
// only when a level is made or empties, and to walk the depth.
//
// Nodes are 256 bytes (20 entries). Ranks ascend and the best is last, because most levels come
// and go near the best price: few entries move. Leaves are chained both ways, so walking best
// first needs no stack. Every node but a root holds at least `least` entries, so no history of
// levels makes the tree high or the nodes sparse: a pool of nodes_for() nodes never runs out
// before the levels do. May depend on core. One thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wirebook/book/prefetch.hpp"
#include "wirebook/core/base.hpp"

namespace wirebook::book {

struct alignas(cache_line_bytes) TreeNode {
    static constexpr std::uint32_t capacity = 20;
    static constexpr std::uint32_t least = 5;

    std::uint16_t count;
    bool leaf;
    std::uint32_t worse;  // leaves: the neighbours, 0: none
    std::uint32_t better;
    // Leaf: rank and line of a level. Inner: the least rank under a child, which may have gone by
    // now, and the child; key[0] is not compared, it counts as less than everything.
    std::array<std::int64_t, capacity> key;
    std::array<std::uint32_t, capacity> child;
};
static_assert(sizeof(TreeNode) == 256);

class LevelTrees {
public:
    // A tree is named by the index of its root node, 0 when it is empty.
    using Root = std::uint32_t;

    struct Entry {
        std::int64_t rank;
        std::uint32_t line;
    };

    [[nodiscard]] static constexpr std::uint64_t nodes_for(std::uint64_t levels,
                                                           std::uint64_t sides) noexcept {
        return levels / 4 + std::min(levels, sides) + 16;
    }

    // `nodes` and `spare`: zeroed memory, equally long.
    void start(std::span<TreeNode> nodes, std::span<std::uint32_t> spare) noexcept {
        WIREBOOK_CHECK(nodes.size() == spare.size() && nodes.size() > 1);
        nodes_ = nodes;
        spare_ = spare;
        reset();
    }
    void reset() noexcept { fresh_ = 1, spares_ = 0; }

    // Adds a level whose rank is not in the tree. False, and nothing changed, without nodes.
    [[nodiscard]] bool insert(Root& root, std::int64_t rank, std::uint32_t line) noexcept {
        if (root != 0 && nodes_[root].leaf && nodes_[root].count < TreeNode::capacity) {
            put(nodes_[root], position(nodes_[root], rank), rank, line);
            return true;
        }
        return insert_deep(root, rank, line);
    }

    // Takes out the level of this rank, which is in the tree.
    void erase(Root& root, std::int64_t rank) noexcept {
        TreeNode& node = nodes_[root];
        if (node.leaf && node.count > 1) {
            cut(node, position(node, rank));
            return;
        }
        erase_deep(root, rank);
    }

    // The best level of a tree that is not empty.
    [[nodiscard]] Entry best(Root root) const noexcept {
        const TreeNode& leaf = nodes_[best_leaf(root)];
        return {leaf.key[leaf.count - 1U], leaf.child[leaf.count - 1U]};
    }

    // f(rank, line), best first, until it returns false.
    template <class F>
    void for_each(Root root, F&& f) const noexcept {
        if (root == 0) return;
        for (std::uint32_t at = best_leaf(root); at != 0; at = nodes_[at].worse) {
            const TreeNode& leaf = nodes_[at];
            for (std::uint32_t i = leaf.count; i-- > 0;) {
                if (!f(leaf.key[i], leaf.child[i])) return;
            }
        }
    }

    // The first lines of the root, where a small tree has everything.
    void prefetch_root(Root root) const noexcept {
        const char* const node = static_cast<const char*>(static_cast<const void*>(&nodes_[root]));
        for (std::size_t at = 0; at < sizeof(TreeNode); at += cache_line_bytes) prefetch(node + at);
    }

    // For tests: aborts when the tree is not as described above. Returns its number of levels.
    std::uint64_t check(Root root) const noexcept;
    [[nodiscard]] std::uint64_t used() const noexcept { return fresh_ - 1 - spares_; }

private:
    static constexpr std::uint32_t height_limit = 16;  // least^height_limit > 2^32
    struct Path {
        std::array<std::uint32_t, height_limit> node;
        std::array<std::uint32_t, height_limit> slot;
        std::uint32_t depth;  // of the leaf; node[depth] is the leaf
    };

    // Leaf: how many ranks are less.
    [[nodiscard]] static std::uint32_t position(const TreeNode& leaf, std::int64_t rank) noexcept {
        std::uint32_t less = 0;
        for (std::uint32_t i = 0; i < leaf.count; ++i) {
            less += static_cast<std::uint32_t>(leaf.key[i] < rank);
        }
        return less;
    }
    // Inner node: the child under which the rank belongs.
    [[nodiscard]] static std::uint32_t branch(const TreeNode& node, std::int64_t rank) noexcept {
        std::uint32_t slot = 0;
        for (std::uint32_t i = 1; i < node.count; ++i) {
            slot += static_cast<std::uint32_t>(node.key[i] <= rank);
        }
        return slot;
    }
    static void put(TreeNode& node, std::uint32_t at, std::int64_t key,
                    std::uint32_t child) noexcept {
        for (std::uint32_t i = node.count; i > at; --i) {
            node.key[i] = node.key[i - 1];
            node.child[i] = node.child[i - 1];
        }
        node.key[at] = key;
        node.child[at] = child;
        ++node.count;
    }
    static void cut(TreeNode& node, std::uint32_t at) noexcept {
        --node.count;
        for (std::uint32_t i = at; i < node.count; ++i) {
            node.key[i] = node.key[i + 1];
            node.child[i] = node.child[i + 1];
        }
    }

    [[nodiscard]] std::uint32_t best_leaf(Root root) const noexcept {
        std::uint32_t at = root;
        while (!nodes_[at].leaf) at = nodes_[at].child[nodes_[at].count - 1U];
        return at;
    }
    [[nodiscard]] std::uint32_t take() noexcept {
        return spares_ != 0 ? spare_[--spares_] : fresh_++;
    }
    void give_back(std::uint32_t index) noexcept { spare_[spares_++] = index; }
    [[nodiscard]] std::uint64_t room() const noexcept { return nodes_.size() - fresh_ + spares_; }

    [[nodiscard]] Path descend(Root root, std::int64_t rank) const noexcept;
    [[nodiscard]] bool insert_deep(Root& root, std::int64_t rank, std::uint32_t line) noexcept;
    void erase_deep(Root& root, std::int64_t rank) noexcept;
    [[nodiscard]] std::uint32_t split(std::uint32_t index) noexcept;
    [[nodiscard]] bool mend(TreeNode& parent, std::uint32_t slot) noexcept;
    void merge(TreeNode& parent, std::uint32_t left_slot) noexcept;
    void borrow(TreeNode& parent, std::uint32_t slot, bool from_left) noexcept;
    std::uint64_t check_node(std::uint32_t index, bool is_root) const noexcept;

    std::span<TreeNode> nodes_;  // index 0 stays unused
    std::span<std::uint32_t> spare_;
    std::uint32_t fresh_ = 1;
    std::uint32_t spares_ = 0;
};

}  // namespace wirebook::book
