// From a captured or received frame to its UDP datagram, in place.
//
// parse_frame() reads every LinkType, skips VLAN tags, IPv4 options and IPv6 extension headers,
// and yields a view of the UDP payload. The UDP length rules: what follows it in the frame
// (padding, FCS, a switch's time trailer) is not looked at. Every byte is bounds-checked before
// it is read; no allocation, no state. Depends on core and wire; any thread.
//
// What is checked in which order decides the reason of a drop: first what the bytes are (not
// UDP, a tunnel, a fragment), then whether the lengths agree (bad_length), then whether the
// bytes are there (snaplen where the record was cut, bad_length where it was not).
#pragma once

#include <cstddef>
#include <cstdint>

#include "wirebook/wire/address.hpp"
#include "wirebook/wire/drop_reason.hpp"
#include "wirebook/wire/internet.hpp"
#include "wirebook/wire/packet.hpp"
#include "wirebook/wire/view.hpp"

namespace wirebook::wire {

struct Datagram {
    Bytes payload;  // UDP length - 8 bytes, preceded in the frame by the UDP header
    Address source;
    Address destination;
    std::uint16_t source_port = 0;
    std::uint16_t destination_port = 0;
    bool checksum_present = false;  // the sender computed one

    // UDP header and payload: what the checksum covers besides the pseudo header.
    [[nodiscard]] Bytes segment() const noexcept {
        return {payload.data() - sizeof(UdpHeader), payload.size() + sizeof(UdpHeader)};
    }
};

namespace detail {

// What every step of the parse needs: how missing bytes are to be called.
struct FrameContext {
    DropReason missing;  // snaplen where the record was cut, else bad_length
};

[[nodiscard]] inline DropReason classify_protocol(std::uint8_t protocol) noexcept {
    switch (protocol) {
        case ip_protocol::udp: return DropReason::none;
        case ip_protocol::ipv4_in_ip:
        case ip_protocol::ipv6_in_ip:
        case ip_protocol::gre:
        case ip_protocol::esp:
        case ip_protocol::authentication:
        case ip_protocol::ethernet_in_ip:
        case ip_protocol::l2tp:
        case ip_protocol::mpls_in_ip: return DropReason::tunnel;
        default: return DropReason::not_udp;
    }
}

// `rest` starts at the UDP header and may hold more than the datagram, or less where bytes are
// missing; `ip_bytes` is what the IP header says follows it.
[[nodiscard]] inline DropReason parse_udp(Bytes rest, std::size_t ip_bytes, FrameContext context,
                                          Datagram& datagram) noexcept {
    if (ip_bytes < sizeof(UdpHeader)) return DropReason::bad_length;
    const auto* udp = view_as<UdpHeader>(rest);
    if (udp == nullptr) return context.missing;
    const std::size_t length = udp->length.get();
    if (length < sizeof(UdpHeader) || length > ip_bytes) return DropReason::bad_length;
    if (length > rest.size()) return context.missing;
    datagram.payload = rest.subspan(sizeof(UdpHeader), length - sizeof(UdpHeader));
    datagram.source_port = udp->source_port.get();
    datagram.destination_port = udp->destination_port.get();
    datagram.checksum_present = udp->checksum.get() != 0;
    return DropReason::none;
}

[[nodiscard]] inline DropReason parse_ipv4(Bytes rest, FrameContext context,
                                           Datagram& datagram) noexcept {
    const auto* ip = view_as<Ipv4Header>(rest);
    if (ip == nullptr) return context.missing;
    if (ip->version_and_words >> 4 != 4) return DropReason::not_udp;
    const DropReason kind = classify_protocol(ip->protocol);
    if (kind != DropReason::none) return kind;
    if ((ip->flags_and_offset.get() & Ipv4Header::fragment_bits) != 0) return DropReason::fragment;

    const std::size_t header_bytes = std::size_t{4} * (ip->version_and_words & 0xFU);
    const std::size_t total_bytes = ip->total_length.get();
    if (header_bytes < sizeof(Ipv4Header) || total_bytes < header_bytes) {
        return DropReason::bad_length;
    }
    // A packet that was cut may lack its end and still hold the whole datagram.
    if (total_bytes > rest.size() && context.missing == DropReason::bad_length) {
        return DropReason::bad_length;
    }
    if (header_bytes > rest.size()) return context.missing;
    datagram.source = Address::from_ipv4(ip->source.get());
    datagram.destination = Address::from_ipv4(ip->destination.get());
    return parse_udp(rest.subspan(header_bytes), total_bytes - header_bytes, context, datagram);
}

[[nodiscard]] constexpr bool is_skipped_extension(std::uint8_t header) noexcept {
    return header == ip_protocol::hop_by_hop || header == ip_protocol::routing ||
           header == ip_protocol::destination_options;
}

[[nodiscard]] inline DropReason parse_ipv6(Bytes rest, FrameContext context,
                                           Datagram& datagram) noexcept {
    const auto* ip = view_as<Ipv6Header>(rest);
    if (ip == nullptr) return context.missing;
    if (ip->version_class_flow.get() >> 28 != 6) return DropReason::not_udp;
    std::size_t ip_bytes = ip->payload_length.get();  // of what follows the header at `rest`
    rest = rest.subspan(sizeof(Ipv6Header));
    const bool ends_early = ip_bytes > rest.size();

    std::uint8_t next = ip->next_header;
    while (is_skipped_extension(next)) {
        const auto* extension = view_as<Ipv6Extension>(rest);
        if (ip_bytes < sizeof(Ipv6Extension)) return DropReason::bad_length;
        if (extension == nullptr) return context.missing;
        const std::size_t bytes =
            sizeof(Ipv6Extension) * (std::size_t{1} + extension->length_words);
        if (bytes > ip_bytes) return DropReason::bad_length;
        if (bytes > rest.size()) return context.missing;
        next = extension->next_header;
        ip_bytes -= bytes;
        rest = rest.subspan(bytes);
    }
    if (next == ip_protocol::fragment) return DropReason::fragment;
    const DropReason kind = classify_protocol(next);
    if (kind != DropReason::none) return kind;
    if (ends_early && context.missing == DropReason::bad_length) return DropReason::bad_length;
    datagram.source = {ip->source_high.get(), ip->source_low.get()};
    datagram.destination = {ip->destination_high.get(), ip->destination_low.get()};
    return parse_udp(rest, ip_bytes, context, datagram);
}

// `rest` starts after the type field.
[[nodiscard]] inline DropReason parse_by_type(std::uint16_t type, Bytes rest, FrameContext context,
                                              Datagram& datagram) noexcept {
    while (type == ethertype::vlan || type == ethertype::vlan_service ||
           type == ethertype::vlan_old) {
        const auto* tag = view_as<VlanTag>(rest);
        if (tag == nullptr) return context.missing;
        type = tag->type.get();
        rest = rest.subspan(sizeof(VlanTag));
    }
    switch (type) {
        case ethertype::ipv4: return parse_ipv4(rest, context, datagram);
        case ethertype::ipv6: return parse_ipv6(rest, context, datagram);
        case ethertype::mpls:
        case ethertype::mpls_multicast:
        case ethertype::pppoe_session:
        case ethertype::provider_backbone: return DropReason::tunnel;
        default: return DropReason::not_udp;
    }
}

template <Message Header>
[[nodiscard]] inline DropReason parse_typed_link(Bytes frame, FrameContext context,
                                                 Datagram& datagram) noexcept {
    const auto* link = view_as<Header>(frame);
    if (link == nullptr) return context.missing;
    return parse_by_type(link->type.get(), frame.subspan(sizeof(Header)), context, datagram);
}

[[nodiscard]] inline DropReason parse_raw_ip(Bytes frame, FrameContext context,
                                             Datagram& datagram) noexcept {
    if (frame.empty()) return context.missing;
    switch (static_cast<unsigned char>(frame[0]) >> 4) {
        case 4: return parse_ipv4(frame, context, datagram);
        case 6: return parse_ipv6(frame, context, datagram);
        default: return DropReason::not_udp;
    }
}

// The address family is in the byte order of the machine that captured, and AF_INET6 has another
// number on every system; the IP version behind it is checked in any case.
[[nodiscard]] inline DropReason parse_loopback(Bytes frame, FrameContext context,
                                               Datagram& datagram) noexcept {
    const auto* family_field = view_as<le32>(frame);
    if (family_field == nullptr) return context.missing;
    std::uint32_t family = family_field->get();
    if (family > 0xFFFF) family = __builtin_bswap32(family);
    const Bytes rest = frame.subspan(sizeof(le32));
    switch (family) {
        case 2: return parse_ipv4(rest, context, datagram);
        case 10:                                              // Linux
        case 24:                                              // NetBSD, OpenBSD
        case 28:                                              // FreeBSD
        case 30: return parse_ipv6(rest, context, datagram);  // macOS
        default: return DropReason::not_udp;
    }
}

}  // namespace detail

// The UDP datagram of a frame. DropReason::none: `datagram` is filled, and its payload points
// into the packet. Otherwise not_udp, snaplen, bad_length, fragment or tunnel, and `datagram`
// is unspecified. A packet of LinkType::binaryfile has no frame: not_udp. The UDP checksum is
// not verified here (wire/udp_checksum.hpp).
[[nodiscard]] inline DropReason parse_frame(const Packet& packet, Datagram& datagram) noexcept {
    const bool cut = packet.cut || packet.bytes < packet.original_bytes;
    const detail::FrameContext context{cut ? DropReason::snaplen : DropReason::bad_length};
    const Bytes frame = packet.frame();
    switch (packet.link) {
        case LinkType::ethernet:
            return detail::parse_typed_link<EthernetHeader>(frame, context, datagram);
        case LinkType::raw_ip: return detail::parse_raw_ip(frame, context, datagram);
        case LinkType::null_loopback: return detail::parse_loopback(frame, context, datagram);
        case LinkType::linux_cooked:
            return detail::parse_typed_link<LinuxCookedHeader>(frame, context, datagram);
        case LinkType::linux_cooked2:
            return detail::parse_typed_link<LinuxCooked2Header>(frame, context, datagram);
        case LinkType::binaryfile: break;
    }
    return DropReason::not_udp;
}

}  // namespace wirebook::wire
