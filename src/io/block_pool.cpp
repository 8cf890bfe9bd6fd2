// The free list and the ownership of blocks: see the header for threads and bounds.
#include "wirebook/io/block_pool.hpp"

#include <algorithm>

namespace wirebook::io {

Block* BlockPool::add(std::size_t bytes) {
    auto block = std::make_unique<Block>();
    block->memory = std::make_unique_for_overwrite<std::byte[]>(bytes);
    block->capacity = bytes;
    all_.push_back(std::move(block));
    return all_.back().get();
}

Block* BlockPool::take() {
    const std::lock_guard lock(mutex_);
    Block* block = nullptr;
    if (free_.empty()) {
        block = add(block_bytes_);
    } else {
        block = free_.back();
        free_.pop_back();
    }
    block->begin = headroom_bytes_;
    block->end = headroom_bytes_;
    return block;
}

Block* BlockPool::take_large(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    return add(std::max(bytes, block_bytes_ + 1));  // told from an ordinary one by its capacity
}

void BlockPool::give(Block* block) noexcept {
    const std::lock_guard lock(mutex_);
    WIREBOOK_CHECK(block->references == 0);
    if (block->capacity == block_bytes_) {
        free_.push_back(block);
        return;
    }
    const auto found = std::find_if(all_.begin(), all_.end(),
                                    [&](const auto& owned) { return owned.get() == block; });
    WIREBOOK_CHECK(found != all_.end());
    all_.erase(found);
}

std::size_t BlockPool::blocks() const {
    const std::lock_guard lock(mutex_);
    return all_.size();
}

}  // namespace wirebook::io
