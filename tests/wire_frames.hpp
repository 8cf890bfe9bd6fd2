// Frames made by hand for tests: UDP in IPv4 or IPv6 in any link layer, and a buffer that faults
// when a byte past its end is read. Everything here is the plain way to do it, not the fast one.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "wirebook/wire/internet.hpp"
#include "wirebook/wire/packet.hpp"
#include "wirebook/wire/view.hpp"

namespace wirebook::wire::testing {

using Buffer = std::vector<std::byte>;

inline Buffer to_buffer(std::string_view text) {
    Buffer buffer(text.size());
    if (!text.empty()) std::memcpy(buffer.data(), text.data(), text.size());
    return buffer;
}

inline void append(Buffer& out, Bytes bytes) {
    out.insert(out.end(), bytes.begin(), bytes.end());
}

template <Message M>
void append(Buffer& out, const M& message) {
    std::array<std::byte, sizeof(M)> bytes{};
    std::memcpy(bytes.data(), &message, sizeof(M));
    append(out, Bytes{bytes});
}

template <Message Header>
Buffer with_header(const Header& header, Bytes rest) {
    Buffer out;
    append(out, header);
    append(out, rest);
    return out;
}

// Bytes at the very end of a page, the next one not mapped: reading too far is a fault.
class GuardedBuffer {
public:
    explicit GuardedBuffer(Bytes bytes) : bytes_(bytes.size()) {
        const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        const std::size_t data_bytes = (bytes.size() / page + 1) * page;
        mapped_ = data_bytes + page;
        base_ = static_cast<std::byte*>(
            mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        mprotect(base_ + data_bytes, page, PROT_NONE);
        data_ = base_ + data_bytes - bytes.size();
        if (!bytes.empty()) std::memcpy(data_, bytes.data(), bytes.size());
    }
    GuardedBuffer(const GuardedBuffer&) = delete;
    GuardedBuffer& operator=(const GuardedBuffer&) = delete;
    ~GuardedBuffer() { munmap(base_, mapped_); }

    // The last `count` bytes before the guard are the first ones of the buffer.
    [[nodiscard]] Bytes prefix(std::size_t count) {
        std::memmove(base_ + (data_ - base_) + (bytes_ - count), data_, count);
        data_ += bytes_ - count;
        bytes_ = count;
        return {data_, count};
    }

private:
    std::size_t bytes_;
    std::size_t mapped_ = 0;
    std::byte* base_ = nullptr;
    std::byte* data_ = nullptr;
};

inline constexpr std::uint32_t test_source = 0xCEC87F8A;       // 206.200.127.138
inline constexpr std::uint32_t test_destination = 0xE9360C6F;  // 233.54.12.111

inline Buffer udp(Bytes payload, std::uint16_t checksum = 0) {
    UdpHeader header{};
    header.source_port.set(49653);
    header.destination_port.set(26477);
    header.length.set(static_cast<std::uint16_t>(sizeof header + payload.size()));
    header.checksum.set(checksum);
    return with_header(header, payload);
}

struct Ipv4Options {
    std::uint8_t protocol = ip_protocol::udp;
    std::uint16_t flags_and_offset = 0x4000;  // don't fragment
    std::size_t option_words = 0;
};

inline Buffer ipv4(Bytes body, const Ipv4Options& options = {}) {
    const Buffer option_bytes(options.option_words * 4, std::byte{1});  // no-operation
    const std::size_t header_bytes = sizeof(Ipv4Header) + option_bytes.size();
    Ipv4Header header{};
    header.version_and_words = static_cast<unsigned char>(0x40 | header_bytes / 4);
    header.total_length.set(static_cast<std::uint16_t>(header_bytes + body.size()));
    header.flags_and_offset.set(options.flags_and_offset);
    header.time_to_live = 16;
    header.protocol = options.protocol;
    header.source.set(test_source);
    header.destination.set(test_destination);
    Buffer out = with_header(header, option_bytes);
    append(out, body);
    return out;
}

inline Buffer ipv6(Bytes body, std::uint8_t next_header = ip_protocol::udp) {
    Ipv6Header header{};
    header.version_class_flow.set(0x60000000);
    header.payload_length.set(static_cast<std::uint16_t>(body.size()));
    header.next_header = next_header;
    header.hop_limit = 16;
    header.source_high.set(0x20010DB800000000);
    header.source_low.set(1);
    header.destination_high.set(0xFF0E000000000000);
    header.destination_low.set(0x0000000000012345);
    return with_header(header, body);
}

// `words` 8-byte words besides the first.
inline Buffer ipv6_extension(std::uint8_t next_header, std::uint8_t words, Bytes rest) {
    Ipv6Extension extension{};
    extension.next_header = next_header;
    extension.length_words = words;
    Buffer out = with_header(extension, Buffer(std::size_t{8} * words));
    append(out, rest);
    return out;
}

inline Buffer vlan(std::uint16_t type, Bytes rest) {
    VlanTag tag{};
    tag.control.set(0x2064);
    tag.type.set(type);
    return with_header(tag, rest);
}

inline Buffer ethernet(std::uint16_t type, Bytes rest) {
    EthernetHeader header{};
    header.destination = {0x01, 0x00, 0x5E, 0x36, 0x0C, 0x6F};
    header.type.set(type);
    return with_header(header, rest);
}

inline Packet packet_of(Bytes frame, LinkType link = LinkType::ethernet) {
    Packet packet;
    packet.data = frame.data();
    packet.bytes = static_cast<std::uint32_t>(frame.size());
    packet.original_bytes = packet.bytes;
    packet.link = link;
    return packet;
}

}  // namespace wirebook::wire::testing
