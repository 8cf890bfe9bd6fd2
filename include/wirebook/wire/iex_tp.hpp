// IEX-TP 1.x segments: one to a UDP datagram, little-endian throughout.
// Depends on wire only. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "wirebook/wire/field.hpp"
#include "wirebook/wire/transport.hpp"
#include "wirebook/wire/view.hpp"

namespace wirebook::wire::iex_tp {

struct Header {
    unsigned char version;
    unsigned char reserved;
    le16 protocol;  // of the messages
    le32 channel;
    le32 session;
    le16 payload_length;  // of what follows this header
    le16 message_count;
    le64 stream_offset;  // of the payload's first byte in the session
    le64 first_sequence;
    le64_signed send_time_ns;  // since the Unix epoch
};
static_assert(Message<Header>);
static_assert(sizeof(Header) == 40);
static_assert(offsetof(Header, protocol) == 2);
static_assert(offsetof(Header, channel) == 4);
static_assert(offsetof(Header, session) == 8);
static_assert(offsetof(Header, payload_length) == 12);
static_assert(offsetof(Header, message_count) == 14);
static_assert(offsetof(Header, stream_offset) == 16);
static_assert(offsetof(Header, first_sequence) == 24);
static_assert(offsetof(Header, send_time_ns) == 32);

inline constexpr unsigned char version = 1;
inline constexpr std::uint16_t protocol_tops_1_6 = 0x8003;
inline constexpr std::uint16_t protocol_deep_1_0 = 0x8004;
inline constexpr std::uint16_t protocol_deep_plus_1_0 = 0x8005;

// The session key is (protocol, channel, session), which lie side by side.
inline constexpr std::size_t session_key_offset = offsetof(Header, protocol);
inline constexpr std::size_t session_key_bytes =
    offsetof(Header, payload_length) - session_key_offset;

// Whether a datagram looks like IEX-TP, of any version: for telling feeds apart where no
// configuration does. A MoldUDP64 session that looks so would have to be binary.
[[nodiscard]] inline bool recognise(Bytes payload) noexcept {
    const auto* header = view_as<Header>(payload);
    if (header == nullptr || header->version == 0 || header->version >= 0x20) return false;
    const std::uint16_t protocol = header->protocol.get();
    return protocol >= 0x8001 && protocol <= 0x80FF;
}

// Validates the whole segment before anything of it is used. Blocks must lie within both the
// payload length and the datagram; bytes after the last block are ignored. `packet` is
// unspecified unless the status is ok.
[[nodiscard]] inline TransportStatus parse(Bytes payload, TransportPacket& packet) noexcept {
    const auto* header = view_as<Header>(payload);
    if (header == nullptr) return TransportStatus::malformed;
    if (header->version != version) return TransportStatus::other_version;

    packet = TransportPacket{};
    std::memcpy(packet.session_key.data(), payload.data() + session_key_offset, session_key_bytes);
    packet.session_key_bytes = static_cast<std::uint8_t>(session_key_bytes);
    packet.count = header->message_count.get();
    packet.heartbeat = packet.count == 0;
    packet.protocol_id = header->protocol.get();
    packet.sequence = header->first_sequence.get();
    packet.send_time_ns = header->send_time_ns.get();
    if (detail::sequence_overflows(packet.sequence, packet.count)) {
        return TransportStatus::malformed;
    }
    Bytes rest = payload.subspan(sizeof(Header));
    if (header->payload_length.get() < rest.size()) rest = rest.first(header->payload_length.get());
    const auto used = detail::measure_blocks<le16>(rest, packet.count);
    if (!used) return TransportStatus::malformed;
    packet.blocks = rest.first(*used);
    return TransportStatus::ok;
}

}  // namespace wirebook::wire::iex_tp
