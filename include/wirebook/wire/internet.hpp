// Layouts below the transport: Ethernet, VLAN tags, cooked captures, IPv4, IPv6, UDP.
// Shared by the frame parser and by whatever writes frames (simulator, tests).
// Depends on wire/field.hpp only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "wirebook/wire/field.hpp"
#include "wirebook/wire/view.hpp"

namespace wirebook::wire {

namespace ethertype {
inline constexpr std::uint16_t ipv4 = 0x0800;
inline constexpr std::uint16_t vlan = 0x8100;          // IEEE 802.1Q
inline constexpr std::uint16_t vlan_service = 0x88A8;  // IEEE 802.1ad
inline constexpr std::uint16_t vlan_old = 0x9100;      // outer tag of older switches
inline constexpr std::uint16_t ipv6 = 0x86DD;
inline constexpr std::uint16_t mpls = 0x8847;
inline constexpr std::uint16_t mpls_multicast = 0x8848;
inline constexpr std::uint16_t pppoe_session = 0x8864;
inline constexpr std::uint16_t provider_backbone = 0x88E7;  // IEEE 802.1ah
}  // namespace ethertype

namespace ip_protocol {
inline constexpr std::uint8_t hop_by_hop = 0;
inline constexpr std::uint8_t igmp = 2;
inline constexpr std::uint8_t ipv4_in_ip = 4;
inline constexpr std::uint8_t udp = 17;
inline constexpr std::uint8_t ipv6_in_ip = 41;
inline constexpr std::uint8_t routing = 43;
inline constexpr std::uint8_t fragment = 44;
inline constexpr std::uint8_t gre = 47;
inline constexpr std::uint8_t esp = 50;
inline constexpr std::uint8_t authentication = 51;
inline constexpr std::uint8_t destination_options = 60;
inline constexpr std::uint8_t ethernet_in_ip = 97;
inline constexpr std::uint8_t l2tp = 115;
inline constexpr std::uint8_t mpls_in_ip = 137;
}  // namespace ip_protocol

struct EthernetHeader {
    std::array<unsigned char, 6> destination;
    std::array<unsigned char, 6> source;
    be16 type;
};
static_assert(Message<EthernetHeader>);
static_assert(sizeof(EthernetHeader) == 14);

// The Ethernet address of an IPv4 group: 01:00:5e and its low 23 bits (RFC 1112).
[[nodiscard]] constexpr std::array<unsigned char, 6> multicast_mac(std::uint32_t group) noexcept {
    return {0x01,
            0x00,
            0x5E,
            static_cast<unsigned char>(group >> 16 & 0x7F),
            static_cast<unsigned char>(group >> 8 & 0xFF),
            static_cast<unsigned char>(group & 0xFF)};
}

struct VlanTag {   // what follows a type of ethertype::vlan, vlan_service, vlan_old
    be16 control;  // priority 3 bits, drop eligible 1, VLAN id 12
    be16 type;     // of what follows the tag

    static constexpr std::uint16_t id_bits = 0x0FFF;
};
static_assert(Message<VlanTag>);
static_assert(sizeof(VlanTag) == 4);

struct LinuxCookedHeader {  // LINKTYPE_LINUX_SLL
    be16 packet_type;
    be16 arphrd_type;
    be16 address_bytes;
    std::array<unsigned char, 8> address;
    be16 type;
};
static_assert(Message<LinuxCookedHeader>);
static_assert(sizeof(LinuxCookedHeader) == 16);
static_assert(offsetof(LinuxCookedHeader, type) == 14);

struct LinuxCooked2Header {  // LINKTYPE_LINUX_SLL2
    be16 type;
    be16 reserved;
    be32 interface_index;
    be16 arphrd_type;
    unsigned char packet_type;
    unsigned char address_bytes;
    std::array<unsigned char, 8> address;
};
static_assert(Message<LinuxCooked2Header>);
static_assert(sizeof(LinuxCooked2Header) == 20);

struct Ipv4Header {                   // RFC 791, without options
    unsigned char version_and_words;  // version 4 bits, header length in 32-bit words 4 bits
    unsigned char service;
    be16 total_length;  // header included
    be16 identification;
    be16 flags_and_offset;
    unsigned char time_to_live;
    unsigned char protocol;
    be16 checksum;
    be32 source;
    be32 destination;

    // More-fragments flag and fragment offset: either says that this is no whole datagram.
    static constexpr std::uint16_t fragment_bits = 0x3FFF;
    static constexpr std::uint16_t dont_fragment = 0x4000;
};
static_assert(Message<Ipv4Header>);
static_assert(sizeof(Ipv4Header) == 20);
static_assert(offsetof(Ipv4Header, flags_and_offset) == 6);
static_assert(offsetof(Ipv4Header, protocol) == 9);
static_assert(offsetof(Ipv4Header, source) == 12);

struct Ipv6Header {  // RFC 8200
    be32 version_class_flow;
    be16 payload_length;  // extension headers included, this header not
    unsigned char next_header;
    unsigned char hop_limit;
    be64 source_high;
    be64 source_low;
    be64 destination_high;
    be64 destination_low;
};
static_assert(Message<Ipv6Header>);
static_assert(sizeof(Ipv6Header) == 40);
static_assert(offsetof(Ipv6Header, next_header) == 6);
static_assert(offsetof(Ipv6Header, source_high) == 8);
static_assert(offsetof(Ipv6Header, destination_high) == 24);

struct Ipv6Extension {  // the start that hop-by-hop, routing and destination options share
    unsigned char next_header;
    unsigned char length_words;  // 8-byte words after the first one
    std::array<unsigned char, 6> data;
};
static_assert(Message<Ipv6Extension>);
static_assert(sizeof(Ipv6Extension) == 8);

struct UdpHeader {  // RFC 768
    be16 source_port;
    be16 destination_port;
    be16 length;    // header included
    be16 checksum;  // 0: the sender made none
};
static_assert(Message<UdpHeader>);
static_assert(sizeof(UdpHeader) == 8);

}  // namespace wirebook::wire
