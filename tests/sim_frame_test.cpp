// sim: Ethernet, IPv4 and UDP around datagrams, and frames of several lines in one order.
#include <catch2/catch.hpp>
#include <vector>

#include "wirebook/sim/frame.hpp"
#include "wirebook/sim/frame_merger.hpp"
#include "wirebook/wire/frame.hpp"
#include "wirebook/wire/udp_checksum.hpp"

namespace {

using namespace wirebook;
using namespace wirebook::sim;
using Buffer = std::vector<std::byte>;

const LineAddress line_a{.group = 0xE9360C6F, .port = 26477};

wire::Packet packet_of(std::span<const std::byte> frame) {
    wire::Packet packet;
    packet.data = frame.data();
    packet.bytes = packet.original_bytes = static_cast<std::uint32_t>(frame.size());
    return packet;
}

// RFC 1071 as it stands, one 16-bit word after the other.
std::uint16_t plain_sum(std::span<const std::byte> bytes) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const auto byte = std::to_integer<std::uint32_t>(bytes[i]);
        sum += i % 2 == 0 ? byte << 8 : byte;
    }
    while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
    return static_cast<std::uint16_t>(sum);
}

struct Recorder {
    struct Seen {
        std::int64_t time_ns;
        std::uint8_t line;
        Buffer bytes;
    };
    std::vector<Seen> seen;
    void on_frame(const FrameView& frame) {
        seen.push_back({frame.time_ns, frame.line, {frame.bytes.begin(), frame.bytes.end()}});
    }
};

}  // namespace

TEST_CASE("frame: a group's Ethernet address has the low 23 bits of it") {
    CHECK(multicast_mac(0xE9360C6F) ==
          std::array<unsigned char, 6>{0x01, 0x00, 0x5E, 0x36, 0x0C, 0x6F});
    CHECK(multicast_mac(0xEFFF0102)[3] == 0x7F);
}

TEST_CASE("frame: every payload length parses back with both checksums right") {
    FrameBuilder builder(line_a);
    for (std::size_t bytes = 0; bytes <= 1'472; ++bytes) {
        Buffer payload(bytes);
        for (std::size_t i = 0; i < bytes; ++i) payload[i] = static_cast<std::byte>(i * 31 + bytes);
        const auto frame = builder.build(payload);
        REQUIRE(frame.size() == frame_header_bytes + bytes);
        wire::Datagram datagram;
        REQUIRE(wire::parse_frame(packet_of(frame), datagram) == wire::DropReason::none);
        REQUIRE(Buffer(datagram.payload.begin(), datagram.payload.end()) == payload);
        REQUIRE(datagram.checksum_present);
        REQUIRE(wire::udp_checksum_ok(datagram));
        REQUIRE(plain_sum(frame.subspan(14, 20)) == 0xFFFF);
        REQUIRE(datagram.destination == wire::Address::from_ipv4(line_a.group));
        REQUIRE(datagram.destination_port == line_a.port);
        REQUIRE(datagram.source_port == line_a.source_port);
        const auto* ip = wire::view_as<wire::Ipv4Header>(frame.subspan(14));
        REQUIRE(ip->identification.get() == bytes);
        REQUIRE(ip->time_to_live == 16);
    }
}

TEST_CASE("frame: a checksum that adds up to 0 is sent as 0xFFFF, for 0 would mean none") {
    FrameBuilder builder(line_a);
    bool seen = false;
    for (unsigned value = 0; value <= 0xFFFF; ++value) {
        const Buffer payload{static_cast<std::byte>(value >> 8), static_cast<std::byte>(value)};
        const auto frame = builder.build(payload);
        const auto* udp = wire::view_as<wire::UdpHeader>(frame.subspan(34));
        REQUIRE(udp->checksum.get() != 0);
        seen = seen || udp->checksum.get() == 0xFFFF;
    }
    CHECK(seen);
}

TEST_CASE("frame: a line without UDP checksums sends 0") {
    LineAddress address = line_a;
    address.checksum = false;
    FrameBuilder builder(address);
    const auto frame = builder.build(Buffer(40));
    wire::Datagram datagram;
    REQUIRE(wire::parse_frame(packet_of(frame), datagram) == wire::DropReason::none);
    CHECK_FALSE(datagram.checksum_present);
}

TEST_CASE("frame: the second line's frames are as much later as the skew says") {
    Recorder recorder;
    LineFramer<Recorder> framer(1, line_a, recorder, 250);
    framer.on_payload({.time_ns = 1'000}, Buffer(20));
    REQUIRE(recorder.seen.size() == 1);
    CHECK(recorder.seen[0].time_ns == 1'250);
    CHECK(recorder.seen[0].line == 1);
}

TEST_CASE("merger: frames leave in the order of time, then of line, then of arrival") {
    Recorder recorder;
    FrameMerger<Recorder> merger(recorder);
    const auto send = [&](std::int64_t time_ns, std::uint8_t line, unsigned mark) {
        const Buffer bytes(4, static_cast<std::byte>(mark));
        merger.on_frame({time_ns, line, PayloadKind::data, bytes});
    };
    send(30, 0, 1);
    send(10, 1, 2);
    send(10, 0, 3);
    send(10, 0, 4);
    merger.advance(10);
    CHECK(recorder.seen.empty());  // more of time 10 may come
    send(10, 0, 5);
    merger.advance(11);
    REQUIRE(recorder.seen.size() == 4);
    send(20, 1, 6);
    merger.finish();
    std::string order;
    for (const auto& seen : recorder.seen) {
        order += std::to_string(std::to_integer<int>(seen.bytes[0]));
    }
    CHECK(order == "345261");
    CHECK(merger.waiting() == 0);
}
