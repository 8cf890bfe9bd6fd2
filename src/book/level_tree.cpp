// Level trees: what happens when a leaf splits, merges or borrows. See the header.
#include "wirebook/book/level_tree.hpp"

namespace wirebook::book {

LevelTrees::Path LevelTrees::descend(Root root, std::int64_t rank) const noexcept {
    Path path;  // NOLINT(cppcoreguidelines-pro-type-member-init): written up to depth
    path.depth = 0;
    std::uint32_t at = root;
    for (;; ++path.depth) {
        WIREBOOK_CHECK(path.depth < height_limit);
        const TreeNode& node = nodes_[at];
        path.node[path.depth] = at;
        path.slot[path.depth] = node.leaf ? position(node, rank) : branch(node, rank);
        if (node.leaf) return path;
        at = node.child[path.slot[path.depth]];
    }
}

// Moves the better half of a full node to a new node; returns the new one.
std::uint32_t LevelTrees::split(std::uint32_t index) noexcept {
    const std::uint32_t fresh = take();
    TreeNode& from = nodes_[index];
    TreeNode& to = nodes_[fresh];
    const std::uint32_t keep = TreeNode::capacity / 2;
    const std::uint32_t moved = from.count - keep;
    to = TreeNode{};
    to.leaf = from.leaf;
    to.count = static_cast<std::uint16_t>(moved);
    for (std::uint32_t i = 0; i < moved; ++i) {
        to.key[i] = from.key[keep + i];
        to.child[i] = from.child[keep + i];
    }
    from.count = static_cast<std::uint16_t>(keep);
    if (from.leaf) {
        to.worse = index;
        to.better = from.better;
        if (from.better != 0) nodes_[from.better].worse = fresh;
        from.better = fresh;
    }
    return fresh;
}

bool LevelTrees::insert_deep(Root& root, std::int64_t rank, std::uint32_t line) noexcept {
    if (root == 0) {
        if (room() == 0) return false;
        root = take();
        TreeNode fresh{};
        fresh.leaf = true;
        nodes_[root] = fresh;
        put(nodes_[root], 0, rank, line);
        return true;
    }
    const Path path = descend(root, rank);
    // Every full node from the leaf up splits, and a root that splits needs one above it.
    std::uint32_t top = path.depth + 1;
    while (top > 0 && nodes_[path.node[top - 1]].count == TreeNode::capacity) --top;
    const std::uint32_t splits = path.depth + 1 - top;
    if (room() < splits + std::uint64_t{top == 0}) return false;

    std::int64_t key = rank;
    std::uint32_t child = line;
    for (std::uint32_t depth = path.depth;; --depth) {
        const std::uint32_t index = path.node[depth];
        // Inner nodes: the new child goes right behind the one that was split.
        const std::uint32_t at = path.slot[depth] + std::uint32_t{depth != path.depth};
        if (nodes_[index].count < TreeNode::capacity) {
            put(nodes_[index], at, key, child);
            return true;
        }
        const std::uint32_t fresh = split(index);
        const std::uint32_t kept = nodes_[index].count;
        // At the seam an inner entry stays with the left node, so that the right node's first
        // child keeps its key as the separator.
        if (at <= kept) {
            put(nodes_[index], at, key, child);
        } else {
            put(nodes_[fresh], at - kept, key, child);
        }
        key = nodes_[fresh].key[0];
        child = fresh;
        if (depth == 0) break;
    }
    const std::uint32_t old_root = root;
    root = take();
    TreeNode fresh{};
    nodes_[root] = fresh;
    put(nodes_[root], 0, nodes_[old_root].key[0], old_root);
    put(nodes_[root], 1, key, child);
    return true;
}

// Joins the children at left_slot and behind it into the left one.
void LevelTrees::merge(TreeNode& parent, std::uint32_t left_slot) noexcept {
    const std::uint32_t left_index = parent.child[left_slot];
    const std::uint32_t right_index = parent.child[left_slot + 1];
    TreeNode& left = nodes_[left_index];
    TreeNode& right = nodes_[right_index];
    // A first child's own key is no bound; the parent's separator is.
    if (!right.leaf) right.key[0] = parent.key[left_slot + 1];
    for (std::uint32_t i = 0; i < right.count; ++i) {
        left.key[left.count + i] = right.key[i];
        left.child[left.count + i] = right.child[i];
    }
    left.count = static_cast<std::uint16_t>(left.count + right.count);
    if (left.leaf) {
        left.better = right.better;
        if (right.better != 0) nodes_[right.better].worse = left_index;
    }
    cut(parent, left_slot + 1);
    give_back(right_index);
}

// Moves the nearest entry of a neighbour to the child at `slot`.
void LevelTrees::borrow(TreeNode& parent, std::uint32_t slot, bool from_left) noexcept {
    TreeNode& node = nodes_[parent.child[slot]];
    if (from_left) {
        TreeNode& left = nodes_[parent.child[slot - 1]];
        const std::uint32_t last = left.count - 1U;
        if (!node.leaf) node.key[0] = parent.key[slot];
        put(node, 0, left.key[last], left.child[last]);
        --left.count;
        parent.key[slot] = node.key[0];
    } else {
        TreeNode& right = nodes_[parent.child[slot + 1]];
        const std::int64_t key = right.leaf ? right.key[0] : parent.key[slot + 1];
        put(node, node.count, key, right.child[0]);
        cut(right, 0);
        parent.key[slot + 1] = right.key[0];
    }
}

// Brings the child at `slot`, which may have become too small, back to `least` entries. True when
// the parent lost an entry by it.
bool LevelTrees::mend(TreeNode& parent, std::uint32_t slot) noexcept {
    if (nodes_[parent.child[slot]].count >= TreeNode::least) return false;
    const std::uint32_t left = slot > 0 ? slot - 1 : slot;
    const std::uint32_t joined =
        std::uint32_t{nodes_[parent.child[left]].count} + nodes_[parent.child[left + 1]].count;
    // Not merged to the brim: the next insert would split it again.
    if (joined <= TreeNode::capacity - TreeNode::least) {
        merge(parent, left);
        return true;
    }
    borrow(parent, slot, slot > 0);
    return false;
}

void LevelTrees::erase_deep(Root& root, std::int64_t rank) noexcept {
    const Path path = descend(root, rank);
    TreeNode& leaf = nodes_[path.node[path.depth]];
    WIREBOOK_CHECK(path.slot[path.depth] < leaf.count && leaf.key[path.slot[path.depth]] == rank);
    cut(leaf, path.slot[path.depth]);
    for (std::uint32_t depth = path.depth; depth > 0; --depth) {
        if (!mend(nodes_[path.node[depth - 1]], path.slot[depth - 1])) break;
    }
    const TreeNode& top = nodes_[root];
    if (top.leaf && top.count == 0) {
        give_back(root);
        root = 0;
    } else if (!top.leaf && top.count == 1) {
        const Root only = top.child[0];
        give_back(root);
        root = only;
    }
}

std::uint64_t LevelTrees::check_node(std::uint32_t index, bool is_root) const noexcept {
    WIREBOOK_CHECK(index != 0 && index < fresh_);
    const TreeNode& node = nodes_[index];
    WIREBOOK_CHECK(node.count <= TreeNode::capacity);
    WIREBOOK_CHECK(node.count >= (is_root ? (node.leaf ? 1U : 2U) : TreeNode::least));
    for (std::uint32_t i = node.leaf ? 1 : 2; i < node.count; ++i) {
        WIREBOOK_CHECK(node.key[i - 1] < node.key[i]);
    }
    if (node.leaf) return node.count;
    std::uint64_t levels = 0;
    for (std::uint32_t i = 0; i < node.count; ++i) levels += check_node(node.child[i], false);
    return levels;
}

std::uint64_t LevelTrees::check(Root root) const noexcept {
    if (root == 0) return 0;
    const std::uint64_t levels = check_node(root, true);
    std::uint64_t walked = 0;
    std::int64_t last = 0;
    std::uint32_t better = 0;
    for (std::uint32_t at = best_leaf(root); at != 0; at = nodes_[at].worse) {
        const TreeNode& leaf = nodes_[at];
        WIREBOOK_CHECK(leaf.leaf && leaf.better == better);
        for (std::uint32_t i = leaf.count; i-- > 0; ++walked) {
            WIREBOOK_CHECK(walked == 0 || leaf.key[i] < last);
            WIREBOOK_CHECK(descend(root, leaf.key[i]).node[descend(root, leaf.key[i]).depth] == at);
            last = leaf.key[i];
        }
        better = at;
    }
    WIREBOOK_CHECK(walked == levels);
    return levels;
}

}  // namespace wirebook::book
