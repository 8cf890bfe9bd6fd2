// What MoldUDP64 packets and IEX-TP segments have in common, so that one session layer serves
// both: a session, the sequence of the first message, and length-prefixed message blocks.
//
// A TransportPacket that a parse function filled is valid as a whole: every block lies within
// `blocks`, and sequence + count does not overflow. Depends on core and wire. Any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>

#include "wirebook/wire/field.hpp"
#include "wirebook/wire/view.hpp"

namespace wirebook::wire {

enum class TransportStatus : std::uint8_t {
    ok,
    malformed,      // too short for the header, a block overruns, sequence + count overflows
    other_version,  // IEX-TP of another version than 1: nothing else of it was read
};

using SessionKey = std::array<char, 16>;

struct TransportPacket {
    SessionKey session_key{};            // MoldUDP64: the session; IEX-TP: protocol, channel,
                                         // session as on the wire. Zero after the key
    std::uint8_t session_key_bytes = 0;  // 10 for both
    bool big_endian_lengths = false;     // of the blocks
    bool heartbeat = false;              // no messages; sequence is the next one to come
    bool end_of_session = false;         // MoldUDP64 only; no messages, as a heartbeat
    bool unsequenced = false;            // MoldUDP64 sequence 0: no part in the sequence
    std::uint16_t protocol_id = 0;       // IEX-TP only
    std::uint32_t count = 0;             // blocks, empty ones included
    std::uint64_t sequence = 0;          // of the first block; MoldUDP64 0: unsequenced
    std::int64_t send_time_ns = 0;       // IEX-TP only; since the Unix epoch
    Bytes blocks;                        // exactly the `count` blocks, without what follows them
};

// Takes the messages of a validated packet one by one.
class BlockCursor {
public:
    explicit BlockCursor(const TransportPacket& packet) noexcept
        : rest_(packet.blocks), big_endian_(packet.big_endian_lengths) {}

    [[nodiscard]] bool done() const noexcept { return rest_.empty(); }

    // The next message, empty where its block is. Call it at most `count` times.
    [[nodiscard]] Bytes next() noexcept {
        std::uint16_t length = 0;
        std::memcpy(&length, rest_.data(), sizeof length);
        if (big_endian_) length = __builtin_bswap16(length);
        const Bytes message = rest_.subspan(sizeof length, length);
        rest_ = rest_.subspan(sizeof length + length);
        return message;
    }

private:
    Bytes rest_;
    bool big_endian_;
};

namespace detail {

// Bytes that the first `count` blocks take, or nothing where one overruns `bytes`.
template <class Length>
[[nodiscard]] inline std::optional<std::size_t> measure_blocks(Bytes bytes,
                                                               std::uint32_t count) noexcept {
    std::size_t used = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto* length = view_as<Length>(bytes.subspan(used));
        if (length == nullptr) return std::nullopt;
        used += sizeof(Length) + length->get();
        if (used > bytes.size()) return std::nullopt;
    }
    return used;
}

[[nodiscard]] constexpr bool sequence_overflows(std::uint64_t sequence,
                                                std::uint32_t count) noexcept {
    return sequence > std::numeric_limits<std::uint64_t>::max() - count;
}

}  // namespace detail

}  // namespace wirebook::wire
