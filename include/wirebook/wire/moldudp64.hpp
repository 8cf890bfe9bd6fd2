// MoldUDP64 1.00 downstream packets (and requests, which have the same header).
// Depends on wire only. Any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "wirebook/wire/field.hpp"
#include "wirebook/wire/transport.hpp"
#include "wirebook/wire/view.hpp"

namespace wirebook::wire::moldudp64 {

struct Header {
    std::array<char, 10> session;  // opaque: compared and echoed byte for byte
    be64 sequence;                 // of the first message; of the next one where there is none
    be16 count;                    // messages; 0 heartbeat, 0xFFFF end of session
};
static_assert(Message<Header>);
static_assert(sizeof(Header) == 20);
static_assert(offsetof(Header, sequence) == 10);
static_assert(offsetof(Header, count) == 18);

inline constexpr std::uint16_t heartbeat_count = 0;
inline constexpr std::uint16_t end_of_session_count = 0xFFFF;

// Whether a datagram can be taken for MoldUDP64 where nothing says what it is: the session is
// printing ASCII, or all zero, as converted captures have it. A datagram too short for the header
// is taken for one too: it is malformed whatever it is.
[[nodiscard]] inline bool recognise(Bytes payload) noexcept {
    const auto* header = view_as<Header>(payload);
    if (header == nullptr) return true;
    bool text = true;
    bool zero = true;
    for (const char c : header->session) {
        text = text && c >= ' ' && c <= '~';
        zero = zero && c == '\0';
    }
    return text || zero;
}

// Validates the whole packet before anything of it is used. Bytes after the last block are
// ignored. `packet` is unspecified unless the status is ok. Never other_version.
[[nodiscard]] inline TransportStatus parse(Bytes payload, TransportPacket& packet) noexcept {
    const auto* header = view_as<Header>(payload);
    if (header == nullptr) return TransportStatus::malformed;
    const std::uint16_t count = header->count.get();

    packet = TransportPacket{};
    std::memcpy(packet.session_key.data(), header->session.data(), header->session.size());
    packet.session_key_bytes = static_cast<std::uint8_t>(header->session.size());
    packet.big_endian_lengths = true;
    packet.heartbeat = count == heartbeat_count;
    packet.end_of_session = count == end_of_session_count;
    packet.count = packet.end_of_session ? 0 : count;
    packet.sequence = header->sequence.get();
    packet.unsequenced = packet.sequence == 0;
    if (detail::sequence_overflows(packet.sequence, packet.count)) {
        return TransportStatus::malformed;
    }
    const Bytes rest = payload.subspan(sizeof(Header));
    const auto used = detail::measure_blocks<be16>(rest, packet.count);
    if (!used) return TransportStatus::malformed;
    packet.blocks = rest.first(*used);
    return TransportStatus::ok;
}

}  // namespace wirebook::wire::moldudp64
