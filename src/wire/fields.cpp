// Look-up in the field tables of all protocols.
#include "wirebook/wire/fields.hpp"

#include "field_table.hpp"

namespace wirebook::wire {

std::span<const MessageFields> message_fields(Protocol protocol) noexcept {
    switch (protocol) {
        case Protocol::itch50: return detail::itch50_fields();
        case Protocol::itch_jnx: return detail::itch_jnx_fields();
        case Protocol::iex_tops: return detail::iex_tops_fields();
        case Protocol::iex_deep: return detail::iex_deep_fields();
    }
    return {};
}

const MessageFields* find_fields(Protocol protocol, unsigned char type) noexcept {
    for (const MessageFields& message : message_fields(protocol)) {
        if (message.type == type) return &message;
    }
    return nullptr;
}

std::uint16_t minimum_length(Protocol protocol, unsigned char type) noexcept {
    const MessageFields* message = find_fields(protocol, type);
    return message == nullptr ? std::uint16_t{0} : message->length;
}

}  // namespace wirebook::wire
