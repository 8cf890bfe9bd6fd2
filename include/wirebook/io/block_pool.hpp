// The buffers of input that is not mapped: reference-counted blocks that are used again.
//
// A packet is a view into a block and holds a reference; a block goes back when its last packet
// was released and the reader is past it. There is no limit on blocks: if packets pin all of them,
// the pool grows by one, so that a session that holds packets while it reads on can never stop the
// reading it waits for. Memory is bounded by what the session holds (its park limit) and the
// hand-over queue, not by the file.
//
// Threads: take() and give() by any; a block's `references` only by the thread that calls receive()
// and release(), between the hand-over and give().
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "wirebook/core/base.hpp"
#include "wirebook/io/capture_format.hpp"

namespace wirebook::io {

struct Block {
    std::unique_ptr<std::byte[]> memory;
    std::size_t capacity = 0;
    std::size_t begin = 0;  // bytes [begin, end) are data; before `begin` there is room for what
    std::size_t end = 0;    // the block before this one left over
    std::uint32_t references = 0;

    [[nodiscard]] Window window() const noexcept {
        return {memory.get() + begin, memory.get() + end};
    }
};

class BlockPool {
public:
    explicit BlockPool(std::size_t block_bytes)
        : headroom_bytes_(block_bytes / 4), block_bytes_(headroom_bytes_ + block_bytes) {}

    // An empty block (begin and end at the headroom) of the ordinary size.
    [[nodiscard]] Block* take();
    // A block of an extraordinary size, freed instead of used again; begin and end are 0.
    [[nodiscard]] Block* take_large(std::size_t bytes);
    void give(Block* block) noexcept;

    [[nodiscard]] std::size_t headroom_bytes() const noexcept { return headroom_bytes_; }
    [[nodiscard]] std::size_t blocks() const;  // that exist

private:
    Block* add(std::size_t bytes);

    const std::size_t headroom_bytes_;
    const std::size_t block_bytes_;
    mutable std::mutex mutex_;
    std::vector<std::unique_ptr<Block>> all_;
    std::vector<Block*> free_;
};

}  // namespace wirebook::io
