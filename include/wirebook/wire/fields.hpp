// The fields of every known message by name: what --messages prints and what tells a BinaryFILE
// from other files. The offsets are those of the layout structs. Cold; depends on wire only.
// The tables are constants: any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "wirebook/wire/protocol.hpp"

namespace wirebook::wire {

enum class FieldKind : std::uint8_t { unsigned_integer, signed_integer, text };

struct Field {
    std::string_view name;
    std::uint16_t offset = 0;  // from the type byte
    std::uint8_t bytes = 0;
    FieldKind kind = FieldKind::text;
};

struct MessageFields {
    unsigned char type = 0;
    std::uint16_t length = 0;       // of the message, type included
    std::span<const Field> fields;  // without the type, in the order of the wire
};

// Every message that the protocol knows.
[[nodiscard]] std::span<const MessageFields> message_fields(Protocol protocol) noexcept;

// Null where the protocol has no such type.
[[nodiscard]] const MessageFields* find_fields(Protocol protocol, unsigned char type) noexcept;

// Bytes that a message of this type has at least; 0 where the protocol has no such type.
[[nodiscard]] std::uint16_t minimum_length(Protocol protocol, unsigned char type) noexcept;

// Integers of the protocol: big-endian (ITCH) or little-endian (IEX).
[[nodiscard]] constexpr bool is_big_endian(Protocol protocol) noexcept {
    return row_of(protocol).big_endian;
}

}  // namespace wirebook::wire
