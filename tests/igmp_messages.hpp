// IGMP for tests, made and read the plain way: what routers and other hosts send, and what is in a
// frame that a host sent. Everything is checked on reading; a fault is text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wire_frames.hpp"

namespace wirebook::wire::testing {

inline constexpr std::int64_t ms = 1'000'000;
inline constexpr std::int64_t second = 1'000 * ms;

// RFC 1071 as it stands, one 16-bit word after the other.
inline std::uint16_t plain_sum(Bytes bytes) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const auto byte = std::to_integer<std::uint32_t>(bytes[i]);
        sum += i % 2 == 0 ? byte << 8 : byte;
    }
    while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
    return static_cast<std::uint16_t>(sum);
}

// Sets the big-endian checksum at bytes[at].
inline void set_checksum(std::span<std::byte> bytes, std::size_t at) {
    bytes[at] = bytes[at + 1] = std::byte{0};
    const auto sum = static_cast<std::uint16_t>(~plain_sum(bytes));
    bytes[at] = static_cast<std::byte>(sum >> 8);
    bytes[at + 1] = static_cast<std::byte>(sum & 0xFF);
}

// Hex digits; blanks do not count.
inline Buffer from_hex(std::string_view text) {
    Buffer out;
    std::string digits;
    for (const char c : text) {
        if (c != ' ' && c != '\n') digits += c;
    }
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
        out.push_back(static_cast<std::byte>(std::stoul(digits.substr(i, 2), nullptr, 16)));
    }
    return out;
}

inline void append_be32(Buffer& out, std::uint32_t value) {
    be32 field{};
    field.set(value);
    append(out, field);
}

inline constexpr std::uint32_t router = 0x0A000001;  // 10.0.0.1
inline constexpr std::array<unsigned char, 6> router_mac{0x02, 0, 0, 0, 0, 0x99};

// `message` with its checksum set, behind an IPv4 header with Router Alert.
inline Buffer igmp_packet(Buffer message, std::uint32_t destination) {
    if (message.size() >= 4) set_checksum(message, 2);
    Ipv4Header ip{};
    ip.version_and_words = 0x46;
    ip.service = 0xC0;
    ip.total_length.set(static_cast<std::uint16_t>(24 + message.size()));
    ip.time_to_live = 1;
    ip.protocol = 2;
    ip.source.set(router);
    ip.destination.set(destination);
    Buffer out = with_header(ip, from_hex("94 04 00 00"));
    set_checksum(std::span(out), 10);
    append(out, message);
    return out;
}

inline Buffer igmp_frame(Buffer message, std::uint32_t destination) {
    EthernetHeader header{};
    header.destination = multicast_mac(destination);
    header.source = router_mac;
    header.type.set(ethertype::ipv4);
    return with_header(header, igmp_packet(std::move(message), destination));
}

// The same frame with a tag.
inline Buffer tagged(const Buffer& frame, std::uint16_t vlan_id) {
    Buffer out(frame.begin(), frame.begin() + 12);
    append(out, from_hex("81 00"));
    be16 control{};
    control.set(vlan_id);
    append(out, control);
    append(out, Bytes(frame).subspan(12));
    return out;
}

// Version 1 or 2: type, code, checksum, group.
inline Buffer old_message(unsigned char type, unsigned char code, std::uint32_t group) {
    Buffer out{std::byte{type}, std::byte{code}, std::byte{0}, std::byte{0}};
    append_be32(out, group);
    return out;
}

inline Buffer query_v1() {
    return igmp_frame(old_message(0x11, 0, 0), 0xE0000001);
}
inline Buffer query_v2(unsigned char code, std::uint32_t group = 0) {
    return igmp_frame(old_message(0x11, code, group), group == 0 ? 0xE0000001 : group);
}

inline Buffer query_v3(unsigned char code, std::uint32_t group = 0,
                       const std::vector<std::uint32_t>& sources = {}, unsigned char flags = 2,
                       unsigned char interval_code = 125) {
    Buffer message = old_message(0x11, code, group);
    message.push_back(std::byte{flags});
    message.push_back(std::byte{interval_code});
    be16 count{};
    count.set(static_cast<std::uint16_t>(sources.size()));
    append(message, count);
    for (const std::uint32_t source : sources) append_be32(message, source);
    return igmp_frame(message, group == 0 ? 0xE0000001 : group);
}

// Of another host.
inline Buffer report_of_other(unsigned char type, std::uint32_t group) {
    return igmp_frame(old_message(type, 0, group), group);
}

struct ReadRecord {
    unsigned type = 0;
    std::uint32_t group = 0;
    std::vector<std::uint32_t> sources;
    friend bool operator==(const ReadRecord&, const ReadRecord&) = default;
};

// What a host sent.
struct ReadFrame {
    std::string fault;  // "": none
    std::optional<unsigned> vlan;
    std::uint32_t source = 0;
    std::uint32_t destination = 0;
    unsigned type = 0;
    std::uint32_t group = 0;          // of version 1 and 2
    std::vector<ReadRecord> records;  // of version 3
    std::size_t ip_bytes = 0;
};

inline std::uint32_t number_at(Bytes bytes, std::size_t at, std::size_t count) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < count; ++i) {
        value = value << 8 | std::to_integer<std::uint32_t>(bytes[at + i]);
    }
    return value;
}

inline std::string read_records(Bytes message, ReadFrame& out) {
    std::size_t at = 8;
    for (std::uint32_t left = number_at(message, 6, 2); left != 0; --left) {
        if (message.size() < at + 8) return "a record is cut";
        ReadRecord record;
        record.type = number_at(message, at, 1);
        record.group = number_at(message, at + 4, 4);
        if (number_at(message, at + 1, 1) != 0) return "auxiliary data";
        const std::uint32_t count = number_at(message, at + 2, 2);
        at += 8;
        if (message.size() < at + 4 * count) return "the sources are cut";
        for (std::uint32_t i = 0; i < count; ++i, at += 4) {
            record.sources.push_back(number_at(message, at, 4));
        }
        out.records.push_back(record);
    }
    return at == message.size() ? "" : "bytes after the last record";
}

inline std::string read_ip(Bytes ip, ReadFrame& out) {
    if (ip.size() < 32) return "too short";
    if (number_at(ip, 0, 2) != 0x46C0) return "version, length or service";
    out.ip_bytes = number_at(ip, 2, 2);
    if (out.ip_bytes > ip.size()) return "total length";
    if (number_at(ip, 8, 2) != 0x0102) return "time to live or protocol";
    if (number_at(ip, 20, 4) != 0x94040000) return "no router alert";
    if (plain_sum(ip.first(24)) != 0xFFFF) return "checksum of IP";
    out.source = number_at(ip, 12, 4);
    out.destination = number_at(ip, 16, 4);
    const Bytes message = ip.subspan(24, out.ip_bytes - 24);
    if (plain_sum(message) != 0xFFFF) return "checksum of IGMP";
    out.type = number_at(message, 0, 1);
    if (out.type == 0x22) return read_records(message, out);
    out.group = number_at(message, 4, 4);
    return message.size() == 8 ? "" : "length of IGMP";
}

inline ReadFrame read_host_frame(Bytes frame) {
    ReadFrame out;
    if (frame.size() < 60) {
        out.fault = "shorter than Ethernet allows";
        return out;
    }
    std::size_t at = 12;
    if (number_at(frame, at, 2) == 0x8100) {
        out.vlan = number_at(frame, at + 2, 2);
        at += 4;
    }
    if (number_at(frame, at, 2) != 0x0800) {
        out.fault = "not IPv4";
        return out;
    }
    out.fault = read_ip(frame.subspan(at + 2), out);
    const std::uint32_t low = out.destination & 0x7FFFFF;
    if (number_at(frame, 0, 3) != 0x01005E || number_at(frame, 3, 3) != low) {
        out.fault += " Ethernet destination";
    }
    return out;
}

}  // namespace wirebook::wire::testing
