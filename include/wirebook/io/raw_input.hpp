// The bytes of an input as they are stored, before decompression: of a mapping, or of a descriptor
// (pipe, terminal, socket) through a small buffer.
//
// May depend on core and wire. One thread at a time, but stop() by any.
#pragma once

#include <atomic>
#include <memory>

#include "wirebook/io/mapped_file.hpp"
#include "wirebook/wire/view.hpp"

namespace wirebook::io {

class RawInput {
public:
    // Bytes that stay where they are; done_until() is told to `mapping` where it is not null.
    RawInput(wire::Bytes bytes, MappedFile* mapping) noexcept
        : available_(bytes), mapping_(mapping), total_(bytes.size()) {}
    // Takes the descriptor over, but for that of stdin.
    explicit RawInput(int descriptor);
    ~RawInput();
    RawInput(const RawInput&) = delete;
    RawInput& operator=(const RawInput&) = delete;
    RawInput(RawInput&&) = delete;
    RawInput& operator=(RawInput&&) = delete;

    [[nodiscard]] wire::Bytes available() const noexcept { return available_; }
    void consume(std::size_t bytes) noexcept;

    // More behind what is available; blocks. False at the end, after stop(), or on an error.
    [[nodiscard]] bool refill() noexcept;
    // refill() would not block.
    [[nodiscard]] bool ready() const noexcept;
    void stop() noexcept;

    [[nodiscard]] int error_number() const noexcept { return error_number_; }
    [[nodiscard]] std::uint64_t position() const noexcept {
        return position_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t total() const noexcept { return total_; }  // 0: not known

private:
    static constexpr std::size_t buffer_bytes = std::size_t{128} * 1024;

    wire::Bytes available_;
    MappedFile* mapping_ = nullptr;
    std::unique_ptr<std::byte[]> buffer_;
    std::uint64_t total_ = 0;
    int descriptor_ = -1;
    int stop_event_ = -1;
    int error_number_ = 0;
    std::atomic<std::uint64_t> position_{0};  // read for progress by the receiving thread
};

}  // namespace wirebook::io
