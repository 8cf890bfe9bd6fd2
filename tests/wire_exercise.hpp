// Takes arbitrary bytes through the whole module: frame, checksum, transport, decoders, JSON.
// Shared by the fuzz target and by the mutation test; checks what must hold for any input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "wire_decode.hpp"
#include "wirebook/core/base.hpp"
#include "wirebook/wire/fields.hpp"
#include "wirebook/wire/frame.hpp"
#include "wirebook/wire/iex_tp.hpp"
#include "wirebook/wire/message_json.hpp"
#include "wirebook/wire/moldudp64.hpp"
#include "wirebook/wire/udp_checksum.hpp"

namespace wirebook::wire::testing {

inline bool lies_within(Bytes inner, Bytes outer) {
    return inner.empty() || (inner.data() >= outer.data() &&
                             inner.data() + inner.size() <= outer.data() + outer.size());
}

inline void exercise_message(Protocol protocol, Bytes message) {
    Recorder recorder;
    const DecodeStatus status = decode_as(protocol, message, recorder);
    WIREBOOK_CHECK((status == DecodeStatus::ok) == (recorder.calls == 1));
    if (message.empty()) {
        WIREBOOK_CHECK(status == DecodeStatus::truncated);
        return;
    }
    const std::uint16_t minimum =
        minimum_length(protocol, std::to_integer<unsigned char>(message[0]));
    const bool whole = minimum != 0 && message.size() >= minimum;
    WIREBOOK_CHECK((status == DecodeStatus::ok) == whole);
    std::string line;
    append_message_json(line, protocol, 1, message);
    WIREBOOK_CHECK(line.ends_with("}\n"));
}

inline void exercise_transport(const TransportPacket& packet, Bytes payload) {
    WIREBOOK_CHECK(lies_within(packet.blocks, payload));
    WIREBOOK_CHECK(packet.sequence + packet.count >= packet.sequence);
    WIREBOOK_CHECK(packet.count == 0 || !(packet.heartbeat || packet.end_of_session));
    BlockCursor cursor{packet};
    for (std::uint32_t i = 0; i < packet.count; ++i) {
        const Bytes message = cursor.next();
        WIREBOOK_CHECK(lies_within(message, packet.blocks));
        for (const Protocol protocol : all_protocols) exercise_message(protocol, message);
    }
    WIREBOOK_CHECK(cursor.done());
}

inline void exercise_payload(Bytes payload) {
    TransportPacket packet;
    if (moldudp64::parse(payload, packet) == TransportStatus::ok) {
        exercise_transport(packet, payload);
    }
    if (iex_tp::parse(payload, packet) == TransportStatus::ok) {
        exercise_transport(packet, payload);
    }
}

// Returns whether a datagram was found.
inline bool exercise_packet(const Packet& packet) {
    Datagram datagram;
    if (parse_frame(packet, datagram) != DropReason::none) return false;
    WIREBOOK_CHECK(lies_within(datagram.segment(), packet.frame()));
    if (!datagram.checksum_present) WIREBOOK_CHECK(udp_checksum_ok(datagram));
    static_cast<void>(udp_sum(datagram));
    exercise_payload(datagram.payload);
    return true;
}

}  // namespace wirebook::wire::testing
