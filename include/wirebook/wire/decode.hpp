// What the decoders of all protocols share: the status, and the delivery of one typed view.
// Depends on wire only. Any thread.
#pragma once

#include <cstdint>

#include "wirebook/wire/view.hpp"

namespace wirebook::wire {

enum class DecodeStatus : std::uint8_t {
    ok,
    truncated,     // shorter than its type's layout, or empty; nothing was delivered
    unknown_type,  // nothing was delivered
};

namespace detail {

// Bytes past the layout are later additions of the venue and not looked at.
template <Message M, class Handler>
[[nodiscard]] inline DecodeStatus deliver(Bytes bytes, Handler& handler) noexcept {
    const M* message = view_as<M>(bytes);
    if (message == nullptr) return DecodeStatus::truncated;
    handler.on(*message);
    return DecodeStatus::ok;
}

}  // namespace detail

}  // namespace wirebook::wire
