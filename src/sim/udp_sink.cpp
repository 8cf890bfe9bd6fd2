// Multicast through a socket; see the header.
#include "wirebook/sim/udp_sink.hpp"

#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "wirebook/wire/udp_checksum.hpp"

namespace wirebook::sim {

namespace {

template <class Value>
std::optional<Error> set_option(int descriptor, std::pair<int, int> level_and_name,
                                const Value& value, const std::string& what) {
    const auto [level, name] = level_and_name;
    if (setsockopt(descriptor, level, name, &value, sizeof value) == 0) return std::nullopt;
    return errno_error(what, errno);
}

std::optional<Error> prepare(int descriptor, const UdpOptions& options) {
    const std::string& name = options.interface;
    ip_mreqn request{};
    request.imr_ifindex = static_cast<int>(if_nametoindex(name.c_str()));
    if (request.imr_ifindex == 0) return errno_error("interface " + name, errno);
    const int loop = options.loop ? 1 : 0;
    if (auto error = set_option(descriptor, {IPPROTO_IP, IP_MULTICAST_IF}, request,
                                "send multicast on " + name)) {
        return error;
    }
    if (auto error = set_option(descriptor, {IPPROTO_IP, IP_MULTICAST_TTL}, options.time_to_live,
                                "set the time to live " + std::to_string(options.time_to_live))) {
        return error;
    }
    if (auto error =
            set_option(descriptor, {IPPROTO_IP, IP_MULTICAST_LOOP}, loop, "set multicast loop")) {
        return error;
    }
    // A smaller buffer only means more retries.
    static_cast<void>(setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &options.send_buffer_bytes,
                                 sizeof options.send_buffer_bytes));
    return std::nullopt;
}

void sleep_us(std::uint64_t us) noexcept {
    const timespec time{0, static_cast<long>(us * 1000)};
    nanosleep(&time, nullptr);
}

}  // namespace

Result<UdpSink> UdpSink::open(const UdpOptions& options) {
    UdpSink sink;
    sink.options_ = options;
    sink.socket_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (sink.socket_ < 0) return errno_error("open a UDP socket", errno);
    if (auto error = prepare(sink.socket_, options)) return *error;
    return sink;
}

UdpSink::~UdpSink() {
    if (socket_ >= 0) ::close(socket_);
}

void UdpSink::on_frame(const FrameView& frame) {
    wire::Packet packet;
    packet.data = frame.bytes.data();
    packet.bytes = packet.original_bytes = static_cast<std::uint32_t>(frame.bytes.size());
    wire::Datagram datagram;
    if (wire::parse_frame(packet, datagram) != wire::DropReason::none ||
        !wire::udp_checksum_ok(datagram)) {
        ++counters_.unsendable;
        return;
    }
    const int code = try_to_send(datagram);
    if (code == 0) {
        ++counters_.datagrams;
        counters_.bytes += datagram.payload.size();
        return;
    }
    ++counters_.errors;
    if (error_) return;
    error_ =
        errno_error("send to " + wire::to_string(datagram.destination) + ":" +
                        std::to_string(datagram.destination_port) + " on " + options_.interface,
                    code);
}

int UdpSink::try_to_send(const wire::Datagram& datagram) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(datagram.destination.ipv4());
    to.sin_port = htons(datagram.destination_port);
    const auto* address = static_cast<const sockaddr*>(static_cast<const void*>(&to));
    std::uint64_t wait_us = 20;
    std::uint64_t waited_us = 0;
    for (;;) {
        if (::sendto(socket_, datagram.payload.data(), datagram.payload.size(), 0, address,
                     sizeof to) >= 0) {
            return 0;
        }
        const int code = errno;
        if (code == EINTR) continue;
        const bool queue_full = code == ENOBUFS || code == EAGAIN || code == EWOULDBLOCK;
        if (!queue_full || waited_us >= std::uint64_t{options_.retry_limit_ms} * 1000) return code;
        ++counters_.retries;
        sleep_us(wait_us);
        waited_us += wait_us;
        wait_us = std::min<std::uint64_t>(wait_us * 2, 1'000);
    }
}

Status UdpSink::status() const {
    if (error_) return *error_;
    return Ok{};
}

}  // namespace wirebook::sim
