// One way to decode a message of any protocol, for tests: the type and size that arrived.
#pragma once

#include <cstddef>

#include "wirebook/wire/decode.hpp"
#include "wirebook/wire/iex_decode.hpp"
#include "wirebook/wire/itch50.hpp"
#include "wirebook/wire/itch_jnx_decode.hpp"
#include "wirebook/wire/protocol.hpp"

namespace wirebook::wire::testing {

struct Recorder {
    template <class M>
    void on(const M& message) noexcept {
        ++calls;
        type = M::message_type;
        bytes = sizeof message;
    }

    std::size_t calls = 0;
    std::size_t bytes = 0;
    unsigned char type = 0;
};

template <class Handler>
DecodeStatus decode_as(Protocol protocol, Bytes message, Handler& handler) noexcept {
    switch (protocol) {
        case Protocol::itch50: return itch50::decode(message, handler);
        case Protocol::itch_jnx: return itch_jnx::decode(message, handler);
        case Protocol::iex_tops: return iex::decode_tops(message, handler);
        case Protocol::iex_deep: return iex::decode_deep(message, handler);
    }
    return DecodeStatus::unknown_type;
}

}  // namespace wirebook::wire::testing
