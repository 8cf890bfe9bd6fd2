// The producer's side (produce, fill, run) and the hand-over (next): see the header for threads.
#include "wirebook/io/block_stream.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace wirebook::io {

BlockStream::BlockStream(RawInput& input, Compression compression, BlockPool& pool)
    : input_(input), pool_(pool), decompressor_(compression), compression_(compression) {
}

BlockStream::~BlockStream() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    input_.stop();
    if (thread_.joinable()) thread_.join();
    for (Block* block : queue_) pool_.give(block);
}

BlockStream::Taken BlockStream::next(std::chrono::milliseconds wait) {
    if (first_) {  // nobody else is there yet
        first_ = false;
        Block* block = produce(first_bytes);
        if (block != nullptr) return {Next::block, block};
        ended_ = true;
        return {};
    }
    std::unique_lock lock(mutex_);
    if (!thread_.joinable() && !ended_) thread_ = std::thread([this] { run(); });
    changed_.wait_for(lock, wait, [this] { return !queue_.empty() || ended_; });
    if (queue_.empty()) return {ended_ ? Next::end : Next::not_yet, nullptr};
    Block* block = queue_.front();
    queue_.pop_front();
    lock.unlock();
    changed_.notify_all();
    return {Next::block, block};
}

void BlockStream::run() {
    for (;;) {
        Block* block = produce(no_limit);
        std::unique_lock lock(mutex_);
        if (block == nullptr) {
            ended_ = true;
            lock.unlock();
            changed_.notify_all();
            return;
        }
        queue_.push_back(block);
        changed_.notify_all();
        changed_.wait(lock, [this] { return queue_.size() < queue_blocks || stopping_; });
        if (stopping_) return;
    }
}

// A block with at least one byte, or nullptr when the stream has ended.
Block* BlockStream::produce(std::size_t most_bytes) {
    if (exhausted_) return nullptr;
    Block* block = pool_.take();
    exhausted_ = !fill(*block, most_bytes);
    if (block->end > block->begin) return block;
    pool_.give(block);
    return nullptr;
}

// False where nothing follows the block, because the input ended or is broken (failure_).
bool BlockStream::fill(Block& block, std::size_t most_bytes) {
    std::span<std::byte> room{block.memory.get() + block.end,
                              std::min(block.capacity - block.end, most_bytes)};
    while (!room.empty()) {
        const wire::Bytes before = input_.available();
        wire::Bytes in = before;
        const std::size_t room_before = room.size();
        const bool good = decompressor_.step(in, room);
        const std::size_t consumed = before.size() - in.size();
        block.end = static_cast<std::size_t>(room.data() - block.memory.get());
        if (consumed > 0) input_.consume(consumed);
        if (!good) {
            failure_ = Error{EBADMSG, "broken " + std::string(name_of(compression_)) +
                                          " data at byte " + std::to_string(input_.position()) +
                                          " of the file: " + decompressor_.fault()};
            return false;
        }
        if (consumed > 0 || room.size() != room_before) continue;
        if (block.end > block.begin && !input_.ready()) return true;  // a slow pipe
        if (input_.refill()) continue;
        const std::string at = " at byte " + std::to_string(input_.position());
        if (input_.error_number() != 0) {
            failure_ =
                Error{input_.error_number(),
                      "read" + at + ": " + std::system_category().message(input_.error_number())};
        } else if (!decompressor_.at_boundary()) {
            failure_ = Error{EBADMSG, "the " + std::string(name_of(compression_)) + " data is cut" +
                                          at + " of the file"};
        }
        return false;
    }
    return true;
}

}  // namespace wirebook::io
