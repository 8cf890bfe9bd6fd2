// Frames around datagrams; see the header.
#include "wirebook/sim/frame.hpp"

#include <cstring>

#include "wirebook/core/base.hpp"
#include "wirebook/wire/address.hpp"
#include "wirebook/wire/frame.hpp"
#include "wirebook/wire/udp_checksum.hpp"

namespace wirebook::sim {

namespace {

constexpr std::size_t ip_at = sizeof(wire::EthernetHeader);
constexpr std::size_t udp_at = ip_at + sizeof(wire::Ipv4Header);

template <class Header>
Header load(std::span<const std::byte> frame, std::size_t at) noexcept {
    Header header{};
    std::memcpy(&header, frame.data() + at, sizeof header);
    return header;
}

template <class Header>
void store(std::span<std::byte> frame, std::size_t at, const Header& header) noexcept {
    std::memcpy(frame.data() + at, &header, sizeof header);
}

// A sum whose words were read as little-endian, as the checksum field of the wire.
std::uint16_t complement(std::uint16_t little_endian_sum) noexcept {
    return static_cast<std::uint16_t>(~__builtin_bswap16(little_endian_sum));
}

}  // namespace

FrameBuilder::FrameBuilder(const LineAddress& address)
    : address_(address), buffer_(frame_header_bytes) {
    WIREBOOK_CHECK(wire::Address::from_ipv4(address.group).is_multicast());
    wire::EthernetHeader ethernet{};
    ethernet.destination = multicast_mac(address.group);
    ethernet.source = address.source_mac;
    ethernet.type.set(wire::ethertype::ipv4);
    store(std::span(buffer_), 0, ethernet);
}

std::span<const std::byte> FrameBuilder::build(std::span<const std::byte> payload) {
    WIREBOOK_CHECK(payload.size() <= 65'000);
    buffer_.resize(frame_header_bytes + payload.size());
    const auto udp_bytes = static_cast<std::uint16_t>(sizeof(wire::UdpHeader) + payload.size());
    wire::Ipv4Header ip{};
    ip.version_and_words = 0x45;
    ip.total_length.set(static_cast<std::uint16_t>(sizeof ip + udp_bytes));
    ip.identification.set(identification_++);
    ip.flags_and_offset.set(wire::Ipv4Header::dont_fragment);
    ip.time_to_live = address_.time_to_live;
    ip.protocol = wire::ip_protocol::udp;
    ip.source.set(address_.source);
    ip.destination.set(address_.group);
    store(std::span(buffer_), ip_at, ip);
    wire::UdpHeader udp{};
    udp.source_port.set(address_.source_port);
    udp.destination_port.set(address_.port);
    udp.length.set(udp_bytes);
    store(std::span(buffer_), udp_at, udp);
    if (!payload.empty()) {
        std::memcpy(buffer_.data() + frame_header_bytes, payload.data(), payload.size());
    }
    set_checksums(buffer_, address_.checksum);
    return buffer_;
}

void set_checksums(std::span<std::byte> frame, bool checksum) noexcept {
    auto ip = load<wire::Ipv4Header>(frame, ip_at);
    ip.checksum.set(0);
    store(frame, ip_at, ip);
    const std::uint64_t sum =
        wire::detail::ones_complement_sum(frame.subspan(ip_at, sizeof(wire::Ipv4Header)));
    ip.checksum.set(complement(wire::detail::fold_to_16(sum)));
    store(frame, ip_at, ip);

    auto udp = load<wire::UdpHeader>(frame, udp_at);
    udp.checksum.set(0);
    store(frame, udp_at, udp);
    if (!checksum) return;
    wire::Datagram datagram;
    datagram.payload = frame.subspan(frame_header_bytes, udp.length.get() - sizeof udp);
    datagram.source = wire::Address::from_ipv4(ip.source.get());
    datagram.destination = wire::Address::from_ipv4(ip.destination.get());
    const std::uint16_t value = complement(wire::udp_sum(datagram));
    udp.checksum.set(value == 0 ? std::uint16_t{0xFFFF} : value);  // 0 would mean none
    store(frame, udp_at, udp);
}

}  // namespace wirebook::sim
