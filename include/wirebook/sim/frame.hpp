// A frame of one line on its way to a file, a socket or a port, and how it is made: Ethernet,
// IPv4 and UDP around a datagram, with right checksums.
//
// May depend on core and wire. Plain data; a builder is used by one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "wirebook/sim/packer.hpp"
#include "wirebook/wire/internet.hpp"

namespace wirebook::sim {

struct FrameView {
    std::int64_t time_ns = 0;  // of sending, since the Unix epoch
    std::uint8_t line = 0;     // 0 is A
    PayloadKind kind = PayloadKind::data;
    std::span<const std::byte> bytes;  // from the Ethernet header on; gone after the call
};

// Whom frames are handed to: a stage of faults, a merger of lines, a file, a socket, a port. Times
// of one line never go back but for what a stage says.
template <class S>
concept FrameSink = requires(S& sink, const FrameView& frame) {
    sink.on_frame(frame);
};

inline constexpr std::size_t frame_header_bytes =
    sizeof(wire::EthernetHeader) + sizeof(wire::Ipv4Header) + sizeof(wire::UdpHeader);

// Where a line goes. Addresses and ports as numbers: 233.54.12.111 is 0xE9360C6F.
struct LineAddress {
    std::uint32_t group = 0;  // multicast, IPv4
    std::uint16_t port = 0;
    std::uint32_t source = 0xC0A8'0001;  // 192.168.0.1
    std::uint16_t source_port = 49'000;
    std::array<unsigned char, 6> source_mac{0x02, 0, 0, 0, 0, 0x01};
    std::uint8_t time_to_live = 16;
    bool checksum = true;  // of UDP; false: 0, the sender made none
};

using wire::multicast_mac;

class FrameBuilder {
public:
    // CHECKs that the group is one.
    explicit FrameBuilder(const LineAddress& address);

    // The frame around `payload` (at most 65,000 bytes), good until the next call. The IPv4
    // identification counts frames, and wraps.
    [[nodiscard]] std::span<const std::byte> build(std::span<const std::byte> payload);

private:
    LineAddress address_;
    std::uint16_t identification_ = 0;
    std::vector<std::byte> buffer_;
};

// Sets both checksums of a frame made by a builder, whose lengths are right; UDP's to 0 where
// `checksum` is false.
void set_checksums(std::span<std::byte> frame, bool checksum) noexcept;

// A PayloadSink: the datagrams of one line as frames, `skew_ns` (0 or more) later than they were
// packed: the way to the second line is a little longer.
template <FrameSink Next>
class LineFramer {
public:
    LineFramer(std::uint8_t line, const LineAddress& address, Next& next, std::int64_t skew_ns = 0)
        : builder_(address), next_(next), skew_ns_(skew_ns), line_(line) {}

    void on_payload(const PayloadInfo& info, std::span<const std::byte> payload) {
        next_.on_frame({info.time_ns + skew_ns_, line_, info.kind, builder_.build(payload)});
    }

private:
    FrameBuilder builder_;
    Next& next_;
    std::int64_t skew_ns_;
    std::uint8_t line_;
};

}  // namespace wirebook::sim
