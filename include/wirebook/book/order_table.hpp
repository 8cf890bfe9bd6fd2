// Every live order of a book set by its reference: eight bytes that say which line of which level
// holds it and how much is left of it.
//
// Exchanges hand out references in ascending order, so the table is a plain array where the
// references are dense: pages of 2^18 references (2 MiB), opened for a range of references once
// some number of orders in it live. Until then, and for references that are sparse or too large,
// orders are nodes of a chained hash. A feed of sparse references (and anyone who sends hostile
// ones) costs a node an order, never a page.
//
// A handle names an order in four bytes for as long as it lives: page and place in it, or node.
// Only maintain() moves orders, and tells their lines.
//
// Work that is too long for one update is done in slices by maintain(), between batches: moving a
// range's first orders into its new page; emptying a page that few old orders keep, when pages run
// short; zeroing the pages of a session that ended. Nobody waits for it: the hash takes what has no
// page. So how many orders fit is order_limit, whatever the references are.
//
// A page is all zero where no order lives. May depend on core. One thread.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wirebook/book/hash.hpp"
#include "wirebook/book/lines.hpp"
#include "wirebook/core/base.hpp"

namespace wirebook::book {

struct OrderRecord {
    LineRef where;  // none: no order has this reference
    std::uint32_t quantity;
};
static_assert(sizeof(OrderRecord) == 8);

class OrderTable {
public:
    static constexpr unsigned page_bits = 18;
    static constexpr std::uint32_t page_orders = std::uint32_t{1} << page_bits;
    static constexpr unsigned id_bits = 38;  // references from 2^38 on have no pages
    static constexpr std::size_t ranges = std::size_t{1} << (id_bits - page_bits);
    static constexpr std::uint32_t page_limit = std::uint32_t{1} << (31U - page_bits);
    static constexpr std::uint32_t open_at = 128;     // orders of a range that earn it a page
    static constexpr std::uint32_t open_up_to = 512;  // more are not moved at a stroke

    // A range of page_orders references.
    struct Range {
        std::uint32_t page;        // 1 + page, 0: none
        std::uint32_t first_node;  // 1 + node, of those of its orders that are in the hash
    };
    struct Page {
        std::uint32_t live;    // orders in it
        std::uint32_t range;   // that it serves
        std::uint64_t opened;  // the how manieth opening this was
    };
    struct Node {
        std::uint64_t id;
        OrderRecord record;
        std::uint32_t next;            // 1 + node in the bucket's chain
        std::uint32_t range_previous;  // 1 + node in the range's list
        std::uint32_t range_next;
        std::uint32_t unused;
    };
    static_assert(sizeof(Node) == 32);

    // Zeroed memory. Bounds: pages.size() <= page_limit; free_pages and dirty_pages as long as
    // pages; records page_orders times that; buckets a power of two; free_nodes as nodes;
    // directory `ranges` long.
    struct Memory {
        std::span<OrderRecord> records;
        std::span<Page> pages;
        std::span<std::uint32_t> free_pages;
        std::span<std::uint32_t> dirty_pages;
        std::span<Range> directory;
        std::span<std::uint32_t> range_nodes;  // how many nodes a range has; as directory
        std::span<Node> nodes;                 // as many as orders may live
        std::span<std::uint32_t> free_nodes;
        std::span<std::uint32_t> buckets;
    };

    struct Found {
        OrderRecord* record;  // nullptr: not live
        Handle handle;
    };

    void start(const Memory& memory, HashSeed seed) noexcept;
    // Forgets every order. Short: pages are put aside to be zeroed in slices.
    void reset() noexcept;

    [[nodiscard]] std::uint64_t live() const noexcept { return live_; }
    [[nodiscard]] bool full() const noexcept { return live_ == memory_.nodes.size(); }

    [[nodiscard]] Found find(std::uint64_t id) noexcept {
        if (id >> id_bits == 0) [[likely]] {
            const Range range = memory_.directory[id >> page_bits];
            if (range.page != 0) [[likely]] {
                const Handle handle = in_page(range.page - 1, id);
                OrderRecord& record = memory_.records[handle];
                if (record.where.live()) return {&record, handle};
            }
            if (range.first_node == 0) return {nullptr, 0};
        }
        return find_node(id);
    }

    // The order is not live, and the table is not full().
    Handle insert(std::uint64_t id, OrderRecord record) noexcept {
        ++live_;
        if (id >> id_bits == 0) [[likely]] {
            const std::uint32_t page = memory_.directory[id >> page_bits].page;
            if (page != 0 && page != closing_) [[likely]] {
                const Handle handle = in_page(page - 1, id);
                memory_.records[handle] = record;
                ++memory_.pages[page - 1].live;
                return handle;
            }
        }
        return insert_node(id, record);
    }

    void erase(std::uint64_t id, Found found) noexcept {
        --live_;
        if ((found.handle & node_bit) != 0) {
            erase_node(id, found.handle & ~node_bit);
            return;
        }
        *found.record = OrderRecord{};
        const std::uint32_t page = found.handle >> page_bits;
        if (--memory_.pages[page].live == 0) free_page(page);
    }

    [[nodiscard]] const OrderRecord& at(Handle handle) const noexcept {
        return (handle & node_bit) != 0 ? memory_.nodes[handle & ~node_bit].record
                                        : memory_.records[handle];
    }
    void set_unfollowed(Handle handle) noexcept {
        ((handle & node_bit) != 0 ? memory_.nodes[handle & ~node_bit].record
                                  : memory_.records[handle])
            .where = LineRef::unfollowed();
    }
    [[nodiscard]] std::uint64_t id_of(Handle handle) const noexcept {
        if ((handle & node_bit) != 0) return memory_.nodes[handle & ~node_bit].id;
        return std::uint64_t{memory_.pages[handle >> page_bits].range} << page_bits |
               (handle & (page_orders - 1));
    }

    // Look-ahead: the record's line, or the first line of the way to it.
    void prefetch_order(std::uint64_t id) const noexcept {
        if (id >> id_bits == 0) {
            const std::uint32_t page = memory_.directory[id >> page_bits].page;
            if (page != 0) {
                prefetch(&memory_.records[in_page(page - 1, id)]);
                return;
            }
        }
        prefetch(&memory_.buckets[bucket_of(id)]);
    }
    // Where the order is, as far as the lines that prefetch_order() asked for tell; a hint. For an
    // order in the hash the node is asked for, and none() says to ask again later.
    [[nodiscard]] LineRef guess(std::uint64_t id) const noexcept {
        if (id >> id_bits == 0) {
            const std::uint32_t page = memory_.directory[id >> page_bits].page;
            if (page != 0) return memory_.records[in_page(page - 1, id)].where;
        }
        const std::uint32_t node = memory_.buckets[bucket_of(id)];
        if (node != 0) prefetch(&memory_.nodes[node - 1]);
        return LineRef::none();
    }
    [[nodiscard]] bool hashed(std::uint64_t id) const noexcept {
        return id >> id_bits != 0 || memory_.directory[id >> page_bits].page == 0;
    }
    // The same one step later, for an order in the hash.
    [[nodiscard]] LineRef guess_node(std::uint64_t id) const noexcept {
        const std::uint32_t node = memory_.buckets[bucket_of(id)];
        if (node == 0) return LineRef::none();
        const Node& first = memory_.nodes[node - 1];
        if (first.id == id) return first.record.where;
        if (first.next != 0) prefetch(&memory_.nodes[first.next - 1]);
        return LineRef::none();
    }

    // Between batches: does a slice of what is due. Orders that get another handle are renamed in
    // their lines.
    [[nodiscard]] bool maintenance_due() const noexcept {
        return opening_ != none || closing_ != 0 || dirty_ != 0;
    }
    void maintain(LinePool& lines) noexcept;

    [[nodiscard]] std::uint64_t pages_in_use() const noexcept {
        return memory_.pages.size() - free_ - dirty_;
    }
    [[nodiscard]] std::uint64_t in_hash() const noexcept { return fresh_nodes_ - spare_nodes_; }

    // For tests: aborts when the counts and lists do not agree.
    void check() const noexcept;

private:
    static constexpr Handle node_bit = std::uint32_t{1} << 31U;
    static constexpr std::uint32_t none = 0xFFFF'FFFF;
    static constexpr std::uint32_t close_slice = 512;   // records looked at in one maintain()
    static constexpr std::uint32_t clean_slice = 1024;  // records zeroed in one maintain()

    [[nodiscard]] static Handle in_page(std::uint32_t page, std::uint64_t id) noexcept {
        return page << page_bits | (static_cast<std::uint32_t>(id) & (page_orders - 1));
    }
    [[nodiscard]] std::size_t bucket_of(std::uint64_t id) const noexcept {
        return seed_.mix(id, 0) >> bucket_shift_;
    }

    [[nodiscard]] Found find_node(std::uint64_t id) noexcept {
        for (std::uint32_t n = memory_.buckets[bucket_of(id)]; n != 0;) {
            Node& node = memory_.nodes[n - 1];
            if (node.id == id) return {&node.record, (n - 1) | node_bit};
            n = node.next;
        }
        return {nullptr, 0};
    }
    Handle insert_node(std::uint64_t id, OrderRecord record) noexcept;
    void erase_node(std::uint64_t id, std::uint32_t node) noexcept;
    void clear_buckets() noexcept;
    void free_page(std::uint32_t page) noexcept;
    void open_page(LinePool& lines) noexcept;
    void choose_page_to_close() noexcept;
    void close_slice_of_page(LinePool& lines) noexcept;
    void clean_slice_of_page() noexcept;

    Memory memory_;
    HashSeed seed_;
    unsigned bucket_shift_ = 63;
    std::uint64_t live_ = 0;
    std::uint32_t fresh_nodes_ = 0;   // nodes from here on were never used
    std::uint32_t spare_nodes_ = 0;   // in free_nodes
    std::uint32_t free_ = 0;          // in free_pages
    std::uint32_t dirty_ = 0;         // in dirty_pages; the last of them is being zeroed
    std::uint32_t cleaned_ = 0;       // records of it that are zero again
    std::uint32_t opening_ = none;    // the range that earned a page
    std::uint32_t closing_ = 0;       // 1 + page that is being emptied, 0: none
    std::uint32_t closed_up_to_ = 0;  // records of it that were looked at
    std::uint64_t openings_ = 0;
    std::size_t ranges_used_ = 0;  // directory entries from here on are zero
};

}  // namespace wirebook::book
