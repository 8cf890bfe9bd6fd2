// The order table's slow paths: the hash, opening, emptying and zeroing pages. See the header.
#include "wirebook/book/order_table.hpp"

#include <algorithm>

#include "wirebook/book/queue.hpp"

namespace wirebook::book {

void OrderTable::start(const Memory& memory, HashSeed seed) noexcept {
    WIREBOOK_CHECK(memory.pages.size() <= page_limit);
    WIREBOOK_CHECK(memory.free_pages.size() == memory.pages.size());
    WIREBOOK_CHECK(memory.dirty_pages.size() == memory.pages.size());
    WIREBOOK_CHECK(memory.records.size() == memory.pages.size() << page_bits);
    WIREBOOK_CHECK(memory.directory.size() == ranges && memory.range_nodes.size() == ranges);
    WIREBOOK_CHECK(!memory.nodes.empty() && memory.nodes.size() < node_bit);
    WIREBOOK_CHECK(memory.free_nodes.size() == memory.nodes.size());
    WIREBOOK_CHECK(memory.buckets.size() >= 2 && std::has_single_bit(memory.buckets.size()));
    memory_ = memory;
    seed_ = seed;
    bucket_shift_ = 64U - static_cast<unsigned>(std::countr_zero(memory.buckets.size()));
    for (std::size_t page = memory.pages.size(); page-- > 0;) {
        memory_.free_pages[free_++] = static_cast<std::uint32_t>(page);
    }
}

void OrderTable::reset() noexcept {
    if (live_ != 0) {
        for (std::uint32_t page = 0; page < memory_.pages.size(); ++page) {
            if (memory_.pages[page].live == 0) continue;
            memory_.pages[page].live = 0;
            memory_.dirty_pages[dirty_++] = page;
        }
        // A page half zeroed is taken up from its start again if another came on top of it.
        cleaned_ = 0;
        clear_buckets();
    }
    std::ranges::fill(memory_.directory.first(ranges_used_), Range{});
    std::ranges::fill(memory_.range_nodes.first(ranges_used_), 0U);
    ranges_used_ = 0;
    live_ = 0;
    fresh_nodes_ = spare_nodes_ = 0;
    opening_ = none;
    closing_ = 0;
}

void OrderTable::clear_buckets() noexcept {
    if (fresh_nodes_ > memory_.buckets.size() / 16) {
        std::ranges::fill(memory_.buckets, 0U);
        return;
    }
    for (const Node& node : memory_.nodes.first(fresh_nodes_)) {
        memory_.buckets[bucket_of(node.id)] = 0;
    }
}

Handle OrderTable::insert_node(std::uint64_t id, OrderRecord record) noexcept {
    const std::uint32_t index =
        spare_nodes_ != 0 ? memory_.free_nodes[--spare_nodes_] : fresh_nodes_++;
    std::uint32_t& bucket = memory_.buckets[bucket_of(id)];
    Node node{};
    node.id = id;
    node.record = record;
    node.next = bucket;
    bucket = index + 1;
    if (id >> id_bits == 0) {
        const std::size_t at = id >> page_bits;
        ranges_used_ = std::max(ranges_used_, at + 1);
        Range& range = memory_.directory[at];
        node.range_next = range.first_node;
        if (range.first_node != 0) {
            memory_.nodes[range.first_node - 1].range_previous = index + 1;
        }
        range.first_node = index + 1;
        const std::uint32_t nodes = ++memory_.range_nodes[at];
        if (nodes >= open_at && nodes <= open_up_to && range.page == 0) {
            opening_ = static_cast<std::uint32_t>(at);
        }
    }
    memory_.nodes[index] = node;
    return index | node_bit;
}

void OrderTable::erase_node(std::uint64_t id, std::uint32_t index) noexcept {
    const Node node = memory_.nodes[index];
    std::uint32_t* link = &memory_.buckets[bucket_of(id)];
    while (*link != index + 1) link = &memory_.nodes[*link - 1].next;
    *link = node.next;
    if (id >> id_bits == 0) {
        const std::size_t at = id >> page_bits;
        if (node.range_previous != 0) {
            memory_.nodes[node.range_previous - 1].range_next = node.range_next;
        } else {
            memory_.directory[at].first_node = node.range_next;
        }
        if (node.range_next != 0) {
            memory_.nodes[node.range_next - 1].range_previous = node.range_previous;
        }
        --memory_.range_nodes[at];
    }
    memory_.free_nodes[spare_nodes_++] = index;
}

// The last order of the page is gone, so it is all zero again.
void OrderTable::free_page(std::uint32_t page) noexcept {
    if (closing_ == page + 1) closing_ = 0;
    memory_.directory[memory_.pages[page].range].page = 0;
    memory_.free_pages[free_++] = page;
}

// Gives the range that earned it a page and moves its orders there.
void OrderTable::open_page(LinePool& lines) noexcept {
    const std::uint32_t at = opening_;
    opening_ = none;
    Range& range = memory_.directory[at];
    const std::uint32_t nodes = memory_.range_nodes[at];
    if (range.page != 0 || nodes < open_at || nodes > open_up_to) return;
    if (free_ == 0) {
        if (closing_ == 0 && dirty_ == 0) choose_page_to_close();
        return;
    }
    const std::uint32_t page = memory_.free_pages[--free_];
    memory_.pages[page] = Page{.live = 0, .range = at, .opened = ++openings_};
    range.page = page + 1;
    while (range.first_node != 0) {
        const std::uint32_t index = range.first_node - 1;
        const Node node = memory_.nodes[index];
        erase_node(node.id, index);
        const Handle handle = in_page(page, node.id);
        memory_.records[handle] = node.record;
        ++memory_.pages[page].live;
        rename(lines, node.record.where, index | node_bit, handle);
    }
    // Begin early, so that the next range finds a page.
    if (free_ == 0 && closing_ == 0 && dirty_ == 0) choose_page_to_close();
}

// The emptiest of the older pages, if it is worth emptying.
void OrderTable::choose_page_to_close() noexcept {
    const std::uint64_t recent = memory_.pages.size() / 4 + 1;
    std::uint32_t best = page_orders / 16;
    for (std::uint32_t page = 0; page < memory_.pages.size(); ++page) {
        const Page& candidate = memory_.pages[page];
        if (candidate.live == 0 || candidate.live >= best) continue;
        if (candidate.opened + recent > openings_) continue;
        best = candidate.live;
        closing_ = page + 1;
    }
    closed_up_to_ = 0;
}

// Moves orders of the page that is being closed to the hash.
void OrderTable::close_slice_of_page(LinePool& lines) noexcept {
    const std::uint32_t page = closing_ - 1;
    const std::uint64_t first_id = std::uint64_t{memory_.pages[page].range} << page_bits;
    const std::uint32_t end = std::min(closed_up_to_ + close_slice, page_orders);
    for (std::uint32_t i = closed_up_to_; i < end; ++i) {
        const Handle from = page << page_bits | i;
        OrderRecord& record = memory_.records[from];
        if (!record.where.live()) continue;
        const OrderRecord moved = record;
        record = OrderRecord{};
        rename(lines, moved.where, from, insert_node(first_id | i, moved));
        if (--memory_.pages[page].live == 0) {
            free_page(page);
            return;
        }
    }
    closed_up_to_ = end;
}

void OrderTable::clean_slice_of_page() noexcept {
    const std::uint32_t page = memory_.dirty_pages[dirty_ - 1];
    const std::size_t start = (std::size_t{page} << page_bits) + cleaned_;
    std::ranges::fill(memory_.records.subspan(start, clean_slice), OrderRecord{});
    cleaned_ += clean_slice;
    if (cleaned_ < page_orders) return;
    cleaned_ = 0;
    --dirty_;
    memory_.free_pages[free_++] = page;
}

void OrderTable::maintain(LinePool& lines) noexcept {
    if (dirty_ != 0) clean_slice_of_page();
    if (opening_ != none) open_page(lines);
    if (closing_ != 0) close_slice_of_page(lines);
}

void OrderTable::check() const noexcept {
    std::uint64_t in_pages = 0;
    for (std::uint32_t page = 0; page < memory_.pages.size(); ++page) {
        const auto records = memory_.records.subspan(std::size_t{page} << page_bits, page_orders);
        const auto dirty = memory_.dirty_pages.first(dirty_);
        if (std::ranges::find(dirty, page) != dirty.end()) continue;
        const auto live =
            std::ranges::count_if(records, [](const OrderRecord& r) { return r.where.live(); });
        WIREBOOK_CHECK(static_cast<std::uint64_t>(live) == memory_.pages[page].live);
        in_pages += memory_.pages[page].live;
        WIREBOOK_CHECK(live == 0 || memory_.directory[memory_.pages[page].range].page == page + 1);
    }
    std::uint64_t in_chains = 0;
    for (std::size_t bucket = 0; bucket < memory_.buckets.size(); ++bucket) {
        for (std::uint32_t n = memory_.buckets[bucket]; n != 0; n = memory_.nodes[n - 1].next) {
            WIREBOOK_CHECK(bucket_of(memory_.nodes[n - 1].id) == bucket);
            ++in_chains;
        }
    }
    WIREBOOK_CHECK(in_chains == in_hash());
    WIREBOOK_CHECK(in_pages + in_chains == live_);
}

}  // namespace wirebook::book
