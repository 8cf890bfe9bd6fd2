// An input that is not mapped, as a row of blocks: read and decompressed ahead in a second thread.
//
// The first block is made by the thread that opens the stream (it says what the file is); the
// second thread starts when the next one is asked for, so that a folder of a thousand compressed
// files does not start a thousand threads. It hands blocks over through a queue of `queue_blocks`
// and waits when that is full. From a pipe it hands over what is there rather than wait for a
// full block.
//
// Threads: next(), and the destructor, by the receiving thread; one thread inside.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <optional>
#include <string>
#include <thread>

#include "wirebook/core/result.hpp"
#include "wirebook/io/block_pool.hpp"
#include "wirebook/io/decompressor.hpp"
#include "wirebook/io/raw_input.hpp"

namespace wirebook::io {

class BlockStream {
public:
    enum class Next : std::uint8_t { block, not_yet, end };

    struct Taken {
        Next next = Next::end;
        Block* block = nullptr;  // the caller's, until it gives it to the pool
    };

    // `input` and `pool` outlive the stream.
    BlockStream(RawInput& input, Compression compression, BlockPool& pool);
    ~BlockStream();
    BlockStream(const BlockStream&) = delete;
    BlockStream& operator=(const BlockStream&) = delete;
    BlockStream(BlockStream&&) = delete;
    BlockStream& operator=(BlockStream&&) = delete;

    // The next block, at the latest after `wait`. After `end`, failure() says whether the stream is
    // broken: everything that came before is good.
    [[nodiscard]] Taken next(std::chrono::milliseconds wait);

    // Without the name of the file. Valid after next() said `end`.
    [[nodiscard]] const std::optional<Error>& failure() const noexcept { return failure_; }

private:
    static constexpr std::size_t queue_blocks = 4;
    // Of a folder full of files, most wait long with their first block in memory: it is small.
    static constexpr std::size_t first_bytes = std::size_t{32} * 1024;
    static constexpr std::size_t no_limit = ~std::size_t{0};

    Block* produce(std::size_t most_bytes);
    bool fill(Block& block, std::size_t most_bytes);
    void run();

    RawInput& input_;
    BlockPool& pool_;
    Decompressor decompressor_;
    Compression compression_;
    bool exhausted_ = false;        // producer: nothing comes any more
    std::optional<Error> failure_;  // written before ended_ is set under the mutex

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Block*> queue_;
    bool ended_ = false;
    bool stopping_ = false;
    bool first_ = true;
    std::thread thread_;
};

}  // namespace wirebook::io
