// Frames sent as UDP multicast through the kernel, on a named interface.
//
// The kernel makes its own headers and right checksums, so only the datagram of a frame leaves:
// group, port and payload. A frame that no receiver behind a kernel would see (cut, or with a wrong
// checksum) is not sent and counted as `unsendable`.
//
// A full send queue (ENOBUFS, EAGAIN) is tried again after 20 us, each wait twice the one before up
// to 1 ms, for retry_limit_ms in all; then the datagram is lost and counted in `errors`, as with
// any other error at once. The first error is kept in words. Nothing is lost silently.
// May depend on core and wire. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "wirebook/core/result.hpp"
#include "wirebook/sim/frame.hpp"
#include "wirebook/wire/frame.hpp"

namespace wirebook::sim {

struct UdpOptions {
    std::string interface;
    int time_to_live = 1;
    bool loop = true;                 // receivers on this machine see it too
    int send_buffer_bytes = 4 << 20;  // asked for; the kernel may give less
    std::uint32_t retry_limit_ms = 1'000;
};

struct UdpCounters {
    std::uint64_t datagrams = 0;  // that the kernel took
    std::uint64_t bytes = 0;      // of their payloads
    std::uint64_t retries = 0;
    std::uint64_t errors = 0;  // datagrams that the kernel did not take
    std::uint64_t unsendable = 0;
};

class UdpSink {
public:
    [[nodiscard]] static Result<UdpSink> open(const UdpOptions& options);

    UdpSink(UdpSink&& other) noexcept { swap(other); }
    UdpSink& operator=(UdpSink&& other) noexcept {
        swap(other);
        return *this;
    }
    UdpSink(const UdpSink&) = delete;
    UdpSink& operator=(const UdpSink&) = delete;
    ~UdpSink();

    void on_frame(const FrameView& frame);

    [[nodiscard]] const UdpCounters& counters() const noexcept { return counters_; }
    // The first error of a send, with group and interface; Ok where there was none.
    [[nodiscard]] Status status() const;

private:
    UdpSink() = default;
    void swap(UdpSink& other) noexcept {
        std::swap(socket_, other.socket_);
        std::swap(options_, other.options_);
        std::swap(counters_, other.counters_);
        std::swap(error_, other.error_);
    }
    [[nodiscard]] int try_to_send(const wire::Datagram& datagram);  // 0, or an errno

    int socket_ = -1;
    UdpOptions options_;
    UdpCounters counters_;
    std::optional<Error> error_;
};

}  // namespace wirebook::sim
