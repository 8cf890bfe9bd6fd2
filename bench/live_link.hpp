// The two ends of the live latency bench: a pair of veth in a network namespace of its own, and the
// sender with the feed it sends. One thread.
#pragma once

#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "socket_sources.hpp"
#include "wirebook/core/result.hpp"
#include "wirebook/wire/itch50_orders.hpp"
#include "wirebook/wire/itch50_stock.hpp"
#include "wirebook/wire/moldudp64.hpp"

namespace wirebook::bench {

inline const Listen listen_to{0xEFC0'0001, 26'477, "a1"};  // 239.192.0.1
inline constexpr const char* sending_interface = "a0";

inline bool write_file(const std::string& path, const char* text) {
    std::ofstream file(path);
    file << text << std::flush;
    return file.good();
}

// Nothing of the machine's own network is touched from here on.
inline Status enter_namespace() {
    if (::geteuid() != 0) return Error{EPERM, "wants root: a network namespace of its own"};
    if (::unshare(CLONE_NEWNET) != 0) return errno_error("a network namespace of its own", errno);
    const std::string all = "/proc/sys/net/ipv4/conf/all/";
    if (!write_file("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1") ||
        !write_file("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1") ||
        !write_file(all + "rp_filter", "0")) {
        return errno_error("settings of the network namespace", errno);
    }
    return Ok{};
}

// A fresh pair a0 - a1: nothing is left of a program or a setting of the way before. The sender
// makes the checksums, as there is no NIC that would. a1 takes packets that this machine sent.
// `napi`: a1 gets what it receives through NAPI, which a busy poll can poll.
inline Status make_link(bool napi) {
    std::string commands =
        "ip link del a0 2> /dev/null; ip link add a0 type veth peer name a1 && "
        "ip addr add 10.9.1.1/24 dev a0 && ip link set a0 up && ip link set a1 up && "
        "ethtool -K a0 tx off > /dev/null";
    if (napi) commands += " && ethtool -K a1 gro on > /dev/null";
    // NOLINTNEXTLINE(concurrency-mt-unsafe,cert-env33-c): one thread, a constant
    const int status = std::system(commands.c_str());
    const std::string a1 = "/proc/sys/net/ipv4/conf/a1/";
    if (status != 0 || !write_file(a1 + "accept_local", "1") || !write_file(a1 + "rp_filter", "0"))
        return Error{ENODEV, "cannot make a pair of veth with ip and ethtool"};
    return Ok{};
}

// UDP multicast on a0. No other socket of this machine gets it but over the wire.
class Sender {
public:
    static Result<Sender> open() {
        Sender sender;
        sender.socket_ = FileDescriptor(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        const int fd = sender.socket_.get();
        if (fd < 0) return errno_error("open a UDP socket", errno);
        ip_mreqn through{};
        through.imr_ifindex = static_cast<int>(if_nametoindex(sending_interface));
        const int off = 0;
        if (::setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &through, sizeof through) != 0 ||
            ::setsockopt(fd, IPPROTO_IP, IP_MULTICAST_LOOP, &off, sizeof off) != 0) {
            return errno_error("send multicast on a0", errno);
        }
        sender.to_.sin_family = AF_INET;
        sender.to_.sin_addr.s_addr = htonl(listen_to.group);
        sender.to_.sin_port = htons(listen_to.udp_port);
        return sender;
    }
    [[nodiscard]] bool send(std::span<const std::byte> payload) const noexcept {
        const auto* to = static_cast<const sockaddr*>(static_cast<const void*>(&to_));
        return ::sendto(socket_.get(), payload.data(), payload.size(), 0, to, sizeof to_) > 0;
    }

private:
    Sender() = default;
    FileDescriptor socket_;
    sockaddr_in to_{};
};

// ITCH 5.0 over MoldUDP64: one instrument, an order on each side that stays, and then a better bid
// that comes with one packet and goes with the next, so that each packet publishes one snapshot.
class Feed {
public:
    // Of a UDP payload, so that frames have the 200 bytes that the floor was measured with. What
    // the messages leave is filled with zeros, which nobody reads.
    static constexpr std::size_t payload_bytes = 158;

    // The directory and the two orders.
    std::span<const std::byte> first() {
        begin();
        wire::itch50::StockDirectory directory{};
        directory.stock = stock;
        directory.round_lot_size.set(100);
        directory.authenticity = 'P';
        add(directory);
        add_order('B', 100'0000);
        add_order('S', 101'0000);
        return end();
    }
    // The next packet. `fresh`: the one before got lost, so its order may not be there to go.
    std::span<const std::byte> next(bool fresh) {
        begin();
        if (resting_ && !fresh) {
            wire::itch50::OrderDelete gone{};
            gone.order_ref.set(reference_);
            add(gone);
            resting_ = false;
        } else {
            add_order('B', 100'5000);
            resting_ = true;
        }
        return end();
    }
    // Of the packet that was made last, in its header.
    [[nodiscard]] std::uint64_t sequence() const noexcept { return sequence_; }

private:
    static constexpr std::array<char, 8> stock{'A', 'C', 'M', 'E', ' ', ' ', ' ', ' '};

    void begin() {
        bytes_.fill(std::byte{0});
        used_ = sizeof(wire::moldudp64::Header);
        sequence_ += count_;
        count_ = 0;
    }
    template <wire::Message M>
    void add(M& message) {
        message.header.type = M::message_type;
        message.header.stock_locate.set(1);
        message.header.timestamp_ns.set(34'200'000'000'000);
        wire::be16 length;
        length.set(static_cast<std::uint16_t>(sizeof message));
        put(&length, sizeof length);
        put(&message, sizeof message);
        count_ += 1;
    }
    void add_order(char side, std::uint32_t price_e4) {
        wire::itch50::AddOrder order{};
        order.order_ref.set(++reference_);
        order.side = static_cast<unsigned char>(side);
        order.shares.set(100);
        order.stock = stock;
        order.price_e4.set(price_e4);
        add(order);
    }
    void put(const void* from, std::size_t bytes) {
        WIREBOOK_CHECK(used_ + bytes <= bytes_.size());
        std::memcpy(bytes_.data() + used_, from, bytes);
        used_ += bytes;
    }
    std::span<const std::byte> end() {
        wire::moldudp64::Header header{};
        header.session = {'L', 'A', 'T', 'E', 'N', 'C', 'Y', ' ', ' ', ' '};
        header.sequence.set(sequence_);
        header.count.set(count_);
        std::memcpy(bytes_.data(), &header, sizeof header);
        return bytes_;
    }

    std::array<std::byte, payload_bytes> bytes_{};
    std::size_t used_ = 0;
    std::uint64_t sequence_ = 1;
    std::uint64_t reference_ = 0;
    std::uint16_t count_ = 0;
    bool resting_ = false;
};

}  // namespace wirebook::bench
