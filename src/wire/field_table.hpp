// How the field tables are written down: name, place and kind of each field taken from the
// layout struct. Private to the wire module.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "wirebook/wire/field.hpp"
#include "wirebook/wire/fields.hpp"

namespace wirebook::wire::detail {

template <class Member>
inline constexpr FieldKind kind_of =
    std::same_as<Member, le64_signed> ? FieldKind::signed_integer : FieldKind::unsigned_integer;
template <std::size_t N>
inline constexpr FieldKind kind_of<std::array<char, N>> = FieldKind::text;
template <>
inline constexpr FieldKind kind_of<unsigned char> = FieldKind::text;  // codes, mostly

template <class Member>
[[nodiscard]] constexpr Field make_field(std::string_view name, std::size_t offset,
                                         FieldKind kind = kind_of<Member>) {
    return {name, static_cast<std::uint16_t>(offset), static_cast<std::uint8_t>(sizeof(Member)),
            kind};
}

template <class M>
[[nodiscard]] constexpr MessageFields make_message(std::span<const Field> fields) {
    return {M::message_type, static_cast<std::uint16_t>(sizeof(M)), fields};
}

}  // namespace wirebook::wire::detail

// The member's name is not always the name in the output: it carries the unit besides.
#define WIREBOOK_FIELD(message, member, name) \
    ::wirebook::wire::detail::make_field<decltype(message::member)>(name, offsetof(message, member))

// A single byte that is a number or bits, not a character.
#define WIREBOOK_NUMBER(message, member, name)                                           \
    ::wirebook::wire::detail::make_field<unsigned char>(name, offsetof(message, member), \
                                                        FieldKind::unsigned_integer)

namespace wirebook::wire::detail {

// One for each protocol, in the file of that protocol.
[[nodiscard]] std::span<const MessageFields> itch50_fields() noexcept;
[[nodiscard]] std::span<const MessageFields> itch_jnx_fields() noexcept;
[[nodiscard]] std::span<const MessageFields> iex_tops_fields() noexcept;
[[nodiscard]] std::span<const MessageFields> iex_deep_fields() noexcept;

}  // namespace wirebook::wire::detail
