// Descriptors are read with poll(), so that stop() ends a read that waits for a pipe.
#include "wirebook/io/raw_input.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace wirebook::io {

RawInput::RawInput(int descriptor)
    : buffer_(std::make_unique_for_overwrite<std::byte[]>(buffer_bytes)),
      descriptor_(descriptor),
      stop_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    WIREBOOK_CHECK(stop_event_ >= 0);
    available_ = {buffer_.get(), 0};
}

RawInput::~RawInput() {
    if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
    if (stop_event_ >= 0) ::close(stop_event_);
}

void RawInput::consume(std::size_t bytes) noexcept {
    available_ = available_.subspan(bytes);
    const std::uint64_t position = position_.load(std::memory_order_relaxed) + bytes;
    position_.store(position, std::memory_order_relaxed);
    if (mapping_ != nullptr) mapping_->done_until(position);
}

bool RawInput::refill() noexcept {
    if (descriptor_ < 0 || error_number_ != 0) return false;
    const std::size_t left = available_.size();
    if (left > 0) std::memmove(buffer_.get(), available_.data(), left);
    available_ = {buffer_.get(), left};
    if (left == buffer_bytes) return false;
    for (;;) {
        pollfd waits[2] = {{descriptor_, POLLIN, 0}, {stop_event_, POLLIN, 0}};
        if (::poll(waits, 2, -1) < 0) {
            if (errno == EINTR) continue;
            error_number_ = errno;
            return false;
        }
        if (waits[1].revents != 0) return false;
        const ssize_t got = ::read(descriptor_, buffer_.get() + left, buffer_bytes - left);
        if (got > 0) {
            available_ = {buffer_.get(), left + static_cast<std::size_t>(got)};
            return true;
        }
        if (got == 0) return false;
        if (errno == EINTR || errno == EAGAIN) continue;
        error_number_ = errno;
        return false;
    }
}

bool RawInput::ready() const noexcept {
    if (descriptor_ < 0) return true;
    pollfd wait{descriptor_, POLLIN, 0};
    return ::poll(&wait, 1, 0) != 0;  // an error is found by refill()
}

void RawInput::stop() noexcept {
    if (stop_event_ < 0) return;
    const std::uint64_t one = 1;
    // Cannot fail: the counter of an eventfd has room for 2^64 - 2.
    (void)!::write(stop_event_, &one, sizeof(one));
}

}  // namespace wirebook::io
