// The frame parser and the UDP checksum: every link type, every reason of a drop, every prefix.
#include <catch2/catch.hpp>

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "wire_frames.hpp"
#include "wirebook/wire/frame.hpp"
#include "wirebook/wire/udp_checksum.hpp"

namespace wirebook::wire {

using namespace testing;

namespace {

const Buffer payload = to_buffer("sixteen bytes...");

Buffer plain_frame() {
    return ethernet(ethertype::ipv4, ipv4(udp(payload)));
}

void put_be16(Buffer& frame, std::size_t offset, std::uint16_t value) {
    frame.at(offset) = static_cast<std::byte>(value >> 8);
    frame.at(offset + 1) = static_cast<std::byte>(value & 0xFF);
}

DropReason reason_of(const Buffer& frame, LinkType link = LinkType::ethernet) {
    Datagram datagram;
    return parse_frame(packet_of(frame, link), datagram);
}

DropReason reason_when_cut(const Buffer& frame, std::size_t bytes,
                           LinkType link = LinkType::ethernet) {
    const Buffer left(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(bytes));
    Packet packet = packet_of(left, link);
    packet.original_bytes = static_cast<std::uint32_t>(frame.size());
    Datagram datagram;
    return parse_frame(packet, datagram);
}

bool yields_payload(const Buffer& frame, LinkType link = LinkType::ethernet) {
    Datagram datagram;
    if (parse_frame(packet_of(frame, link), datagram) != DropReason::none) return false;
    const Bytes got = datagram.payload;
    return Buffer(got.begin(), got.end()) == payload && datagram.source_port == 49653 &&
           datagram.destination_port == 26477;
}

// RFC 1071 to the letter: big-endian words, added one by one.
std::uint16_t reference_checksum(const Datagram& datagram) {
    Buffer bytes;
    for (const Address& address : {datagram.source, datagram.destination}) {
        be64 high{};
        be64 low{};
        high.set(address.is_ipv4() ? 0 : address.high);
        low.set(address.is_ipv4() ? address.ipv4() : address.low);
        append(bytes, high);
        append(bytes, low);
    }
    const std::size_t length = datagram.segment().size();
    bytes.push_back(std::byte{0});
    bytes.push_back(static_cast<std::byte>(ip_protocol::udp));
    bytes.push_back(static_cast<std::byte>(length >> 8));
    bytes.push_back(static_cast<std::byte>(length & 0xFF));
    append(bytes, datagram.segment());
    if (bytes.size() % 2 != 0) bytes.push_back(std::byte{0});
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < bytes.size(); i += 2) {
        sum += std::to_integer<std::uint32_t>(bytes[i]) << 8;
        sum += std::to_integer<std::uint32_t>(bytes[i + 1]);
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    return static_cast<std::uint16_t>(~sum);
}

// Fills in the right checksum of a frame that has 0 there.
void fill_checksum(Buffer& frame) {
    Datagram datagram;
    REQUIRE(parse_frame(packet_of(frame), datagram) == DropReason::none);
    const auto offset = static_cast<std::size_t>(datagram.payload.data() - frame.data()) - 2;
    const std::uint16_t checksum = reference_checksum(datagram);
    put_be16(frame, offset, checksum == 0 ? std::uint16_t{0xFFFF} : checksum);
}

std::vector<std::pair<LinkType, Buffer>> one_frame_of_every_shape() {
    const Buffer four = ipv4(udp(payload));
    const Buffer six = ipv6(udp(payload));
    LinuxCookedHeader cooked{};
    cooked.type.set(ethertype::ipv4);
    LinuxCooked2Header cooked2{};
    cooked2.type.set(ethertype::ipv6);
    le32 inet{};
    inet.set(2);
    be32 inet6_swapped{};
    inet6_swapped.set(30);
    const auto hop = ip_protocol::hop_by_hop;
    const auto options = ip_protocol::destination_options;
    return {
        {LinkType::ethernet, ethernet(ethertype::ipv4, four)},
        {LinkType::ethernet, ethernet(ethertype::ipv6, six)},
        {LinkType::ethernet, ethernet(ethertype::vlan, vlan(ethertype::ipv4, four))},
        {LinkType::ethernet,
         ethernet(ethertype::vlan_service, vlan(ethertype::vlan, vlan(ethertype::ipv4, four)))},
        {LinkType::ethernet,
         ethernet(ethertype::vlan_old, vlan(ethertype::vlan, vlan(ethertype::ipv6, six)))},
        {LinkType::ethernet, ethernet(ethertype::ipv4, ipv4(udp(payload), {.option_words = 10}))},
        {LinkType::ethernet,
         ethernet(
             ethertype::ipv6,
             ipv6(ipv6_extension(options, 0, ipv6_extension(ip_protocol::udp, 2, udp(payload))),
                  hop))},
        {LinkType::raw_ip, four},
        {LinkType::raw_ip, six},
        {LinkType::null_loopback, with_header(inet, four)},
        {LinkType::null_loopback, with_header(inet6_swapped, six)},
        {LinkType::linux_cooked, with_header(cooked, four)},
        {LinkType::linux_cooked2, with_header(cooked2, six)},
    };
}

}  // namespace

TEST_CASE("wire: every link type, tag, option and extension header leads to the same payload") {
    for (const auto& [link, frame] : one_frame_of_every_shape()) {
        INFO("link type " << static_cast<int>(link) << ", " << frame.size() << " bytes");
        CHECK(yields_payload(frame, link));
    }
}

TEST_CASE("wire: a datagram knows its addresses") {
    const Buffer four = plain_frame();
    Datagram datagram;
    REQUIRE(parse_frame(packet_of(four), datagram) == DropReason::none);
    CHECK(datagram.source == Address::from_ipv4(test_source));
    CHECK(to_string(datagram.source) == "206.200.127.138");
    CHECK(to_string(datagram.destination) == "233.54.12.111");
    CHECK(datagram.destination.is_multicast());
    CHECK_FALSE(datagram.source.is_multicast());
    CHECK_FALSE(datagram.checksum_present);

    const Buffer six = ethernet(ethertype::ipv6, ipv6(udp(payload)));
    REQUIRE(parse_frame(packet_of(six), datagram) == DropReason::none);
    CHECK(to_string(datagram.source) == "2001:db8::1");
    CHECK(to_string(datagram.destination) == "ff0e::1:2345");
    CHECK(datagram.destination.is_multicast());
    CHECK_FALSE(datagram.destination.is_ipv4());
}

TEST_CASE("wire: bytes after the UDP length are not looked at") {
    Buffer frame = plain_frame();
    frame.resize(frame.size() + 18);  // padding, FCS, a switch's time trailer
    CHECK(yields_payload(frame));

    Buffer shorter = ethernet(ethertype::ipv4, ipv4(udp(payload)));
    put_be16(shorter, 38, 8 + 12);  // UDP length, four less than the IP payload
    Datagram datagram;
    REQUIRE(parse_frame(packet_of(shorter), datagram) == DropReason::none);
    CHECK(datagram.payload.size() == 12);
}

TEST_CASE("wire: a datagram of no bytes is a datagram") {
    const Buffer frame = ethernet(ethertype::ipv4, ipv4(udp({})));
    Datagram datagram;
    REQUIRE(parse_frame(packet_of(frame), datagram) == DropReason::none);
    CHECK(datagram.payload.empty());
}

TEST_CASE("wire: what is no UDP is dropped as not_udp") {
    CHECK(reason_of(ethernet(0x0806, Buffer(46))) == DropReason::not_udp);  // ARP
    CHECK(reason_of(ethernet(0x0026, Buffer(46))) == DropReason::not_udp);  // 802.3 length
    CHECK(reason_of(ethernet(ethertype::ipv4, ipv4(udp(payload), {.protocol = 6}))) ==
          DropReason::not_udp);
    CHECK(reason_of(ethernet(ethertype::ipv6, ipv6(udp(payload), 58))) == DropReason::not_udp);
    CHECK(reason_of(ethernet(ethertype::ipv4, ipv6(udp(payload)))) == DropReason::not_udp);
    CHECK(reason_of(ethernet(ethertype::ipv6, ipv4(udp(payload), {.option_words = 6}))) ==
          DropReason::not_udp);
    CHECK(reason_of(Buffer(40, std::byte{0x50}), LinkType::raw_ip) == DropReason::not_udp);
    CHECK(reason_of(Buffer(40, std::byte{0x50}), LinkType::null_loopback) == DropReason::not_udp);
    CHECK(reason_of(plain_frame(), LinkType::binaryfile) == DropReason::not_udp);
}

TEST_CASE("wire: tunnels are dropped as tunnel, whatever is inside") {
    for (const std::uint8_t protocol : std::array<std::uint8_t, 7>{4, 41, 47, 50, 97, 115, 137}) {
        INFO("protocol " << int{protocol});
        const Buffer inner = ipv4(udp(payload));
        CHECK(reason_of(ethernet(ethertype::ipv4, ipv4(inner, {.protocol = protocol}))) ==
              DropReason::tunnel);
        CHECK(reason_of(ethernet(ethertype::ipv6, ipv6(inner, protocol))) == DropReason::tunnel);
    }
    CHECK(reason_of(ethernet(ethertype::mpls, Buffer(50))) == DropReason::tunnel);
}

TEST_CASE("wire: every fragment is dropped as fragment, the first and the last one too") {
    for (const std::uint16_t flags : std::array<std::uint16_t, 4>{0x2000, 0x2001, 1, 0x1FFF}) {
        INFO("flags and offset " << flags);
        CHECK(
            reason_of(ethernet(ethertype::ipv4, ipv4(udp(payload), {.flags_and_offset = flags}))) ==
            DropReason::fragment);
    }
    const Buffer part = ipv6_extension(ip_protocol::udp, 0, udp(payload));
    CHECK(reason_of(ethernet(ethertype::ipv6, ipv6(part, ip_protocol::fragment))) ==
          DropReason::fragment);
}

TEST_CASE("wire: lengths that contradict each other are dropped as bad_length") {
    const std::size_t total_length = 16;
    const std::size_t udp_length = 38;
    const auto with = [](std::size_t offset, std::uint16_t value) {
        Buffer frame = plain_frame();
        put_be16(frame, offset, value);
        return frame;
    };
    CHECK(reason_of(with(udp_length, 0)) == DropReason::bad_length);
    CHECK(reason_of(with(udp_length, 7)) == DropReason::bad_length);
    CHECK(reason_of(with(udp_length, 8 + 17)) == DropReason::bad_length);
    CHECK(reason_of(with(udp_length, 0xFFFF)) == DropReason::bad_length);
    CHECK(reason_of(with(total_length, 19)) == DropReason::bad_length);
    CHECK(reason_of(with(total_length, 27)) == DropReason::bad_length);
    CHECK(reason_of(with(total_length, 45)) == DropReason::bad_length);  // beyond the frame

    Buffer short_header = plain_frame();
    short_header[14] = std::byte{0x44};
    CHECK(reason_of(short_header) == DropReason::bad_length);

    Buffer six = ethernet(ethertype::ipv6, ipv6(udp(payload)));
    put_be16(six, 18, 8 + 17);
    CHECK(reason_of(six) == DropReason::bad_length);
    put_be16(six, 18, 7);
    CHECK(reason_of(six) == DropReason::bad_length);

    // Extension headers up to the packet's end, and one that is longer than the packet.
    CHECK(reason_of(ethernet(ethertype::ipv6, ipv6(Buffer(16), ip_protocol::hop_by_hop))) ==
          DropReason::bad_length);
    const Buffer lying = ipv6_extension(ip_protocol::udp, 0, udp(payload));
    Buffer frame = ethernet(ethertype::ipv6, ipv6(lying, ip_protocol::hop_by_hop));
    frame[14 + 40 + 1] = std::byte{200};
    CHECK(reason_of(frame) == DropReason::bad_length);
}

TEST_CASE("wire: a record that was cut inside the datagram is dropped as snaplen") {
    for (const auto& [link, frame] : one_frame_of_every_shape()) {
        for (std::size_t bytes = 0; bytes < frame.size(); ++bytes) {
            INFO("link type " << static_cast<int>(link) << ", cut to " << bytes << " of "
                              << frame.size());
            REQUIRE(reason_when_cut(frame, bytes, link) == DropReason::snaplen);
        }
    }
}

TEST_CASE("wire: a record that the file's end cuts counts as cut") {
    const Buffer frame = plain_frame();
    Packet packet = packet_of(frame);
    packet.bytes -= 3;
    packet.original_bytes = packet.bytes;
    packet.cut = true;
    Datagram datagram;
    CHECK(parse_frame(packet, datagram) == DropReason::snaplen);
    packet.cut = false;
    CHECK(parse_frame(packet, datagram) == DropReason::bad_length);
}

TEST_CASE("wire: a frame that was cut only in its padding is used") {
    Buffer frame = plain_frame();
    const std::size_t needed = frame.size();
    frame.resize(needed + 10);
    CHECK(reason_when_cut(frame, needed + 4) == DropReason::none);
    CHECK(reason_when_cut(frame, needed) == DropReason::none);
    CHECK(reason_when_cut(frame, needed - 1) == DropReason::snaplen);
}

TEST_CASE("wire: a lie about the length is bad_length also where the record was cut") {
    Buffer frame = plain_frame();
    put_be16(frame, 38, 500);
    CHECK(reason_when_cut(frame, frame.size() - 2) == DropReason::bad_length);
}

TEST_CASE("wire: a prefix of a frame is never read beyond its end") {
    for (const auto& [link, frame] : one_frame_of_every_shape()) {
        GuardedBuffer guarded{frame};
        for (std::size_t bytes = frame.size(); bytes-- > 0;) {
            INFO("link type " << static_cast<int>(link) << ", " << bytes << " bytes");
            Datagram datagram;
            const Packet packet = packet_of(guarded.prefix(bytes), link);
            REQUIRE(parse_frame(packet, datagram) == DropReason::bad_length);
        }
    }
}

TEST_CASE("wire: a right UDP checksum is right for every payload length, a wrong one is wrong") {
    std::mt19937_64 random{20231002};
    for (const bool six : {false, true}) {
        for (std::size_t bytes = 0; bytes < 100; ++bytes) {
            Buffer body(bytes);
            for (std::byte& byte : body) byte = static_cast<std::byte>(random());
            Buffer frame = six ? ethernet(ethertype::ipv6, ipv6(udp(body)))
                               : ethernet(ethertype::ipv4, ipv4(udp(body)));
            fill_checksum(frame);
            frame.resize(frame.size() + 3, std::byte{0xAA});  // is not summed
            Datagram datagram;
            REQUIRE(parse_frame(packet_of(frame), datagram) == DropReason::none);
            INFO((six ? "IPv6, " : "IPv4, ") << bytes << " bytes");
            CHECK(datagram.checksum_present);
            REQUIRE(udp_checksum_ok(datagram));

            const std::size_t victim = frame.size() - 3 - 1 - random() % (bytes + 8);
            frame[victim] ^= std::byte{0x10};
            REQUIRE(parse_frame(packet_of(frame), datagram) !=
                    DropReason::not_udp);  // the flip is behind the IP header
            if (parse_frame(packet_of(frame), datagram) == DropReason::none) {
                REQUIRE_FALSE(udp_checksum_ok(datagram));
            }
        }
    }
}

TEST_CASE("wire: a UDP checksum of zero means that the sender made none") {
    const Buffer frame = plain_frame();
    Datagram datagram;
    REQUIRE(parse_frame(packet_of(frame), datagram) == DropReason::none);
    CHECK_FALSE(datagram.checksum_present);
    CHECK(udp_checksum_ok(datagram));
}

TEST_CASE("wire: the UDP checksum covers the addresses") {
    Buffer frame = plain_frame();
    fill_checksum(frame);
    frame[14 + 19] ^= std::byte{1};  // last byte of the destination
    Datagram datagram;
    REQUIRE(parse_frame(packet_of(frame), datagram) == DropReason::none);
    CHECK_FALSE(udp_checksum_ok(datagram));
}

TEST_CASE("wire: the largest datagram of one bits has a sum that does not overflow") {
    Buffer frame = ethernet(ethertype::ipv4, ipv4(udp(Buffer(65507, std::byte{0xFF}))));
    fill_checksum(frame);
    Datagram datagram;
    REQUIRE(parse_frame(packet_of(frame), datagram) == DropReason::none);
    CHECK(datagram.payload.size() == 65507);
    CHECK(udp_checksum_ok(datagram));
}

TEST_CASE("wire: every drop reason has a name") {
    CHECK(to_string(DropReason::none) == "none");
    CHECK(to_string(DropReason::not_udp) == "not_udp");
    CHECK(to_string(DropReason::snaplen) == "snaplen");
    CHECK(to_string(DropReason::bad_length) == "bad_length");
    CHECK(to_string(DropReason::fragment) == "fragment");
    CHECK(to_string(DropReason::tunnel) == "tunnel");
    CHECK(to_string(DropReason::checksum) == "checksum");
    CHECK(to_string(DropReason::no_channel) == "no_channel");
    CHECK(to_string(DropReason::malformed) == "malformed");
    CHECK(to_string(DropReason::old_session) == "old_session");
}

}  // namespace wirebook::wire
