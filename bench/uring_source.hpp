// Datagrams through io_uring, for the live latency bench (socket_sources.hpp says what a source of
// it is). Wants liburing 2.3.
#pragma once

#include <liburing.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "socket_sources.hpp"
#include "wirebook/core/arena.hpp"

namespace wirebook::bench {

// One receive stands in the ring: it gives datagram after datagram into buffers that the kernel
// takes from a list (multishot), or is sent again for each where the kernel has no multishot.
class UringSource {
public:
    // `waits`: in the kernel, for a completion; else it spins over the completions in user space.
    static Result<UringSource> open(const Listen& listen, bool waits) {
        auto socket = open_socket(listen);
        if (!socket) return socket.error();
        auto memory = Arena::create({.bytes = list_bytes + 4096, .prefault = true});
        if (!memory) return memory.error();
        return UringSource(listen, waits, std::move(socket).value(), std::move(memory).value());
    }
    // The ring belongs to the thread that asks it.
    [[nodiscard]] Status enter() noexcept {
        // A completion is finished when we ask for it (the ring says that one is there), not by an
        // interrupt of this core, which the sender would wait for.
        const unsigned flags = waits_ ? IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN
                                      : IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG;
        int code = ::io_uring_queue_init(64, &ring_, flags);
        if (code == -EINVAL) code = ::io_uring_queue_init(64, &ring_, 0);
        if (code < 0) return errno_error("io_uring_queue_init", -code);
        entered_ = true;
        void* const list = memory_.allocate(list_bytes, 4096);
        list_ = static_cast<io_uring_buf_ring*>(list);
        io_uring_buf_reg request{};
        std::memcpy(&request.ring_addr, &list, sizeof list);
        request.ring_entries = DatagramBuffers::count;
        code = ::io_uring_register_buf_ring(&ring_, &request, 0);
        if (code < 0) return errno_error("io_uring_register_buf_ring", -code);
        ::io_uring_buf_ring_init(list_);
        while (const auto buffer = buffers_.take()) offer(*buffer);
        arm();
        return Ok{};
    }
    void leave() noexcept {
        if (std::exchange(entered_, false)) ::io_uring_queue_exit(&ring_);
    }

    [[nodiscard]] std::size_t receive(std::span<wire::Packet> out) noexcept {
        io_uring_cqe* done = nullptr;
        __kernel_timespec wait{0, wait_ms * 1'000'000};
        const int code = waits_ ? ::io_uring_wait_cqe_timeout(&ring_, &done, &wait)
                                : ::io_uring_peek_cqe(&ring_, &done);
        if (code < 0) return 0;
        const int bytes = done->res;
        const unsigned flags = done->flags;
        ::io_uring_cqe_seen(&ring_, done);
        if (bytes == -EINVAL) multishot_ = false;
        if ((flags & IORING_CQE_F_MORE) == 0) arm();
        if (bytes < 0) return 0;
        const std::size_t buffer = flags >> IORING_CQE_BUFFER_SHIFT;
        out[0] = buffers_.packet(buffer, static_cast<std::size_t>(bytes), clock_);
        return 1;
    }
    void release(std::span<const wire::Packet> packets) noexcept {
        for (const wire::Packet& packet : packets) offer(packet.owner);
    }
    [[nodiscard]] bool finished() const noexcept { return false; }
    [[nodiscard]] bool multishot() const noexcept { return multishot_; }

private:
    static constexpr std::size_t list_bytes = DatagramBuffers::count * sizeof(io_uring_buf);

    UringSource(const Listen& listen, bool waits, FileDescriptor socket, Arena memory)
        : waits_(waits), socket_(std::move(socket)), memory_(std::move(memory)), buffers_(listen) {}

    void offer(std::size_t buffer) noexcept {
        ::io_uring_buf_ring_add(list_, buffers_.payload(buffer), datagram_bytes,
                                static_cast<unsigned short>(buffer),
                                ::io_uring_buf_ring_mask(DatagramBuffers::count), 0);
        ::io_uring_buf_ring_advance(list_, 1);
    }
    void arm() noexcept {
        io_uring_sqe* const request = ::io_uring_get_sqe(&ring_);
        if (multishot_) {
            ::io_uring_prep_recv_multishot(request, socket_.get(), nullptr, 0, 0);
        } else {
            ::io_uring_prep_recv(request, socket_.get(), nullptr, datagram_bytes, 0);
        }
        request->flags |= IOSQE_BUFFER_SELECT;
        request->buf_group = 0;
        ::io_uring_submit(&ring_);
    }

    bool waits_;
    bool multishot_ = true;
    bool entered_ = false;
    FileDescriptor socket_;
    Arena memory_;
    DatagramBuffers buffers_;
    io_uring_buf_ring* list_ = nullptr;
    io_uring ring_{};
    TscClock clock_ = TscClock::calibrate();
};

}  // namespace wirebook::bench
