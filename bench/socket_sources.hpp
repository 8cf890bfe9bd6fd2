// Sources of the live latency bench that take datagrams from the kernel's sockets: what the DPDK
// ports are compared with (io_uring: uring_source.hpp). The same shape as DpdkPoller, so that
// app::Loop runs over them.
//
// A socket gives the payload alone. Each buffer has IP and UDP headers before it, prepared, so that
// the pipeline decodes the same frames as from a port (LinkType::raw_ip). The kernel has checked
// the checksum, so the header has none. A buffer stays as it is until it is released.
// One polling thread; opened on another one before.
#pragma once

#include <net/if.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "wirebook/core/clock.hpp"
#include "wirebook/core/result.hpp"
#include "wirebook/wire/internet.hpp"
#include "wirebook/wire/packet.hpp"

namespace wirebook::bench {

inline constexpr std::size_t datagram_bytes = 1'472;  // what an MTU of 1,500 lets through
inline constexpr int wait_ms = 100;  // a waiting source looks up so often whether it shall stop

// What a socket listens to.
struct Listen {
    std::uint32_t group = 0;  // IPv4 multicast, as a number
    std::uint16_t udp_port = 0;
    std::string interface;
};

class FileDescriptor {
public:
    explicit FileDescriptor(int descriptor = -1) noexcept : descriptor_(descriptor) {}
    FileDescriptor(FileDescriptor&& other) noexcept
        : descriptor_(std::exchange(other.descriptor_, -1)) {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    FileDescriptor(const FileDescriptor&) = delete;
    FileDescriptor& operator=(const FileDescriptor&) = delete;
    ~FileDescriptor() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    [[nodiscard]] int get() const noexcept { return descriptor_; }

private:
    int descriptor_;
};

// A UDP socket that gets the group's datagrams from that interface alone. A receive that waits
// gives up after wait_ms.
inline Result<FileDescriptor> open_socket(const Listen& listen) {
    FileDescriptor opened(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const int fd = opened.get();
    if (fd < 0) return errno_error("open a UDP socket", errno);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(listen.group);
    address.sin_port = htons(listen.udp_port);
    ip_mreqn membership{};
    membership.imr_multiaddr = address.sin_addr;
    membership.imr_ifindex = static_cast<int>(if_nametoindex(listen.interface.c_str()));
    const timeval wait{0, wait_ms * 1000};
    const int off = 0;
    const auto* name = static_cast<const sockaddr*>(static_cast<const void*>(&address));
    const bool done =
        ::bind(fd, name, sizeof address) == 0 &&
        ::setsockopt(fd, IPPROTO_IP, IP_MULTICAST_ALL, &off, sizeof off) == 0 &&
        ::setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &membership, sizeof membership) == 0 &&
        ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait) == 0;
    if (!done) return errno_error("listen to the group on " + listen.interface, errno);
    return opened;
}

// Buffers with headers before them, and which of them are free.
class DatagramBuffers {
public:
    static constexpr std::size_t count = 1024;  // more than a channel parks

    explicit DatagramBuffers(const Listen& listen) : buffers_(count) {
        for (std::size_t i = 0; i < count; ++i) {
            Buffer& buffer = buffers_[i];
            buffer.ip.version_and_words = 0x45;
            buffer.ip.time_to_live = 1;
            buffer.ip.protocol = wire::ip_protocol::udp;
            buffer.ip.destination.set(listen.group);
            buffer.udp.destination_port.set(listen.udp_port);
            free_.push_back(count - 1 - i);
        }
    }
    [[nodiscard]] std::optional<std::size_t> take() noexcept {
        if (free_.empty()) return std::nullopt;
        const std::size_t index = free_.back();
        free_.pop_back();
        return index;
    }
    void give_back(std::size_t index) noexcept { free_.push_back(index); }
    [[nodiscard]] std::byte* payload(std::size_t index) noexcept {
        return buffers_[index].payload.data();
    }
    // The datagram of `bytes` that was written there.
    [[nodiscard]] wire::Packet packet(std::size_t index, std::size_t bytes,
                                      const TscClock& clock) noexcept {
        Buffer& buffer = buffers_[index];
        constexpr std::size_t headers = sizeof buffer.ip + sizeof buffer.udp;
        buffer.ip.total_length.set(static_cast<std::uint16_t>(headers + bytes));
        buffer.udp.length.set(static_cast<std::uint16_t>(sizeof buffer.udp + bytes));
        wire::Packet packet;
        packet.data = static_cast<const std::byte*>(static_cast<const void*>(&buffer.ip));
        packet.bytes = packet.original_bytes = static_cast<std::uint32_t>(headers + bytes);
        packet.receive_tsc = rdtsc();
        packet.receive_time_ns = clock.to_utc_ns(packet.receive_tsc);
        packet.owner = index;
        packet.record = record_++;
        packet.link = wire::LinkType::raw_ip;
        packet.time_source = wire::TimeSource::software;
        return packet;
    }

private:
    struct alignas(64) Buffer {
        wire::Ipv4Header ip{};
        wire::UdpHeader udp{};
        std::array<std::byte, datagram_bytes> payload{};
    };
    std::vector<Buffer> buffers_;
    std::vector<std::size_t> free_;
    std::uint64_t record_ = 0;
};

enum class SocketWay : std::uint8_t {
    blocking,   // recv waits
    epoll,      // epoll_wait waits, then recv
    busy_poll,  // recv waits, and the kernel polls the device meanwhile for 50 us
    spinning,   // recv never waits
};

class SocketSource {
public:
    static Result<SocketSource> open(const Listen& listen, SocketWay way) {
        auto socket = open_socket(listen);
        if (!socket) return socket.error();
        SocketSource source(listen, way, std::move(socket).value());
        const int fd = source.socket_.get();
        const int poll_us = 50;
        if (way == SocketWay::busy_poll &&
            ::setsockopt(fd, SOL_SOCKET, SO_BUSY_POLL, &poll_us, sizeof poll_us) != 0) {
            return errno_error("set SO_BUSY_POLL", errno);
        }
        if (way == SocketWay::epoll) {
            source.epoll_ = FileDescriptor(::epoll_create1(EPOLL_CLOEXEC));
            epoll_event wanted{};
            wanted.events = EPOLLIN;
            if (::epoll_ctl(source.epoll_.get(), EPOLL_CTL_ADD, fd, &wanted) != 0)
                return errno_error("epoll_ctl", errno);
        }
        return source;
    }
    [[nodiscard]] Status enter() noexcept { return Ok{}; }
    void leave() noexcept {}

    [[nodiscard]] std::size_t receive(std::span<wire::Packet> out) noexcept {
        if (way_ == SocketWay::epoll) {
            epoll_event event{};
            if (::epoll_wait(epoll_.get(), &event, 1, wait_ms) <= 0) return 0;
        }
        const auto buffer = buffers_.take();
        if (!buffer) return 0;
        const bool waits = way_ == SocketWay::blocking || way_ == SocketWay::busy_poll;
        const ssize_t bytes = ::recv(socket_.get(), buffers_.payload(*buffer), datagram_bytes,
                                     waits ? 0 : MSG_DONTWAIT);
        if (bytes < 0) {
            buffers_.give_back(*buffer);
            return 0;
        }
        out[0] = buffers_.packet(*buffer, static_cast<std::size_t>(bytes), clock_);
        return 1;
    }
    void release(std::span<const wire::Packet> packets) noexcept {
        for (const wire::Packet& packet : packets) buffers_.give_back(packet.owner);
    }
    [[nodiscard]] bool finished() const noexcept { return false; }

    // Whether what came had a NAPI that a busy poll can poll.
    [[nodiscard]] bool has_napi() const noexcept {
        unsigned id = 0;
        socklen_t bytes = sizeof id;
        return ::getsockopt(socket_.get(), SOL_SOCKET, SO_INCOMING_NAPI_ID, &id, &bytes) == 0 &&
               id != 0;
    }

private:
    SocketSource(const Listen& listen, SocketWay way, FileDescriptor socket)
        : way_(way), socket_(std::move(socket)), buffers_(listen) {}

    SocketWay way_;
    FileDescriptor socket_, epoll_;
    DatagramBuffers buffers_;
    TscClock clock_ = TscClock::calibrate();
};

}  // namespace wirebook::bench
