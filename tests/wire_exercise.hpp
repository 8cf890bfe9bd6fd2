// Takes arbitrary bytes through the whole module: frame, checksum, transport, decoders, JSON, IGMP.
// Shared by the fuzz target and by the mutation test; checks what must hold for any input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "igmp_messages.hpp"
#include "wire_decode.hpp"
#include "wirebook/core/base.hpp"
#include "wirebook/wire/fields.hpp"
#include "wirebook/wire/frame.hpp"
#include "wirebook/wire/iex_tp.hpp"
#include "wirebook/wire/igmp.hpp"
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

// Returns whether the frame is a good IGMP message.
inline bool exercise_igmp_bytes(Bytes frame) {
    igmp::Heard heard;
    if (igmp::parse(frame, heard) != igmp::ParseStatus::ok) return false;
    WIREBOOK_CHECK((heard.kind == igmp::MessageKind::query) == (heard.version != 0));
    WIREBOOK_CHECK(heard.max_response_ns >= 0 && heard.max_response_ns <= 31'744 * (second / 10));
    WIREBOOK_CHECK(heard.sources.empty() || heard.version == 3);
    WIREBOOK_CHECK(lies_within(heard.sources.bytes(), frame));
    return true;
}

// As it is, and with right checksums, where there are places for them.
inline void exercise_igmp(Bytes frame) {
    exercise_igmp_bytes(frame);
    for (const std::size_t ip_at : {std::size_t{14}, std::size_t{18}}) {
        if (frame.size() < ip_at + 20) continue;
        Buffer mended(frame.begin(), frame.end());
        const std::span<std::byte> ip = std::span(mended).subspan(ip_at);
        const std::size_t header_bytes = 4 * std::to_integer<std::size_t>(ip[0] & std::byte{15});
        const std::size_t total_bytes = number_at(ip, 2, 2);
        if (header_bytes < 20 || total_bytes < header_bytes + 4 || total_bytes > ip.size())
            continue;
        set_checksum(ip.first(header_bytes), 10);
        set_checksum(ip.subspan(header_bytes, total_bytes - header_bytes), 2);
        exercise_igmp_bytes(mended);
    }
}

// Returns whether a datagram was found.
inline bool exercise_packet(const Packet& packet) {
    if (packet.link == LinkType::ethernet) exercise_igmp(packet.frame());
    Datagram datagram;
    if (parse_frame(packet, datagram) != DropReason::none) return false;
    WIREBOOK_CHECK(lies_within(datagram.segment(), packet.frame()));
    if (!datagram.checksum_present) WIREBOOK_CHECK(udp_checksum_ok(datagram));
    static_cast<void>(udp_sum(datagram));
    exercise_payload(datagram.payload);
    return true;
}

}  // namespace wirebook::wire::testing
