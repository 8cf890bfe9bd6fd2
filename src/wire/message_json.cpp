// Messages as JSON lines, driven by the field tables.
#include "wirebook/wire/message_json.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "wirebook/wire/fields.hpp"

namespace wirebook::wire {

namespace {

template <class Integer>
void append_number(std::string& out, Integer value) {
    std::array<char, 24> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    out.append(digits.data(), end);
}

std::uint64_t read_integer(Bytes bytes, bool big_endian) noexcept {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const std::byte byte = big_endian ? bytes[i] : bytes[bytes.size() - 1 - i];
        value = (value << 8) | std::to_integer<std::uint64_t>(byte);
    }
    return value;
}

Bytes without_trailing_spaces(Bytes text) noexcept {
    while (!text.empty() && text.back() == std::byte{' '}) text = text.first(text.size() - 1);
    return text;
}

void append_value(std::string& out, const Field& field, Bytes bytes, bool big_endian) {
    switch (field.kind) {
        case FieldKind::unsigned_integer:
            append_number(out, read_integer(bytes, big_endian));
            break;
        case FieldKind::signed_integer: {
            // All signed fields have eight bytes: two's complement needs no sign extension.
            append_number(out, static_cast<std::int64_t>(read_integer(bytes, big_endian)));
            break;
        }
        case FieldKind::text: append_json_text(out, without_trailing_spaces(bytes)); break;
    }
}

}  // namespace

void append_json_text(std::string& out, Bytes text) {
    constexpr std::string_view hex = "0123456789abcdef";
    out += '"';
    for (const std::byte byte : text) {
        const auto code = std::to_integer<unsigned char>(byte);
        if (code < 0x20 || code >= 0x7F) {
            out += "\\u00";
            out += hex[code >> 4];
            out += hex[code & 0xF];
        } else {
            if (code == '"' || code == '\\') out += '\\';
            out += static_cast<char>(code);
        }
    }
    out += '"';
}

void append_message_json(std::string& out, Protocol protocol, std::uint64_t seq, Bytes message) {
    if (message.empty()) return;
    out += "{\"seq\": ";
    append_number(out, seq);
    out += ", \"type\": ";
    append_json_text(out, message.first(1));
    const auto* known = find_fields(protocol, std::to_integer<unsigned char>(message[0]));
    if (known != nullptr && message.size() >= known->length) {
        for (const Field& field : known->fields) {
            out += ", \"";
            out += field.name;
            out += "\": ";
            append_value(out, field, message.subspan(field.offset, field.bytes),
                         is_big_endian(protocol));
        }
    }
    out += "}\n";
}

}  // namespace wirebook::wire
