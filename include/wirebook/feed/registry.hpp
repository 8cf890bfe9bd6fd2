// The handlers of all protocols, one line each beside the protocol's row in wire/protocol.hpp.
//
// A handler is a class with:
//   static constexpr wire::Protocol protocol
//   constructor (BatchWriter, const SymbolFilter&, std::uint32_t instruments), the last one
//   optional wire::DecodeStatus decode(wire::Bytes message) noexcept    updates and events into the
//   batch void new_session() noexcept                                forgets what a session taught
//   it const InstrumentMap& instruments() const noexcept          where it numbers instruments
//   itself
// May depend on core, wire and book.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>

#include "wirebook/feed/batch_writer.hpp"
#include "wirebook/feed/iex_handler.hpp"
#include "wirebook/feed/itch50_handler.hpp"
#include "wirebook/feed/jnx_handler.hpp"
#include "wirebook/feed/symbol_filter.hpp"
#include "wirebook/wire/protocol.hpp"

namespace wirebook::feed {

// In the order of wire::protocol_rows.
using Handler = std::variant<  //
    Itch50Handler,             //
    JnxHandler,                //
    TopsHandler,               //
    DeepHandler>;

namespace detail {
template <class... Handlers>
[[nodiscard]] constexpr auto protocols_of(std::type_identity<std::variant<Handlers...>>) noexcept {
    return std::array{Handlers::protocol...};
}
template <class H>
[[nodiscard]] inline Handler make(BatchWriter out, const SymbolFilter& filter,
                                  std::uint32_t instruments) {
    if constexpr (std::is_constructible_v<H, BatchWriter, const SymbolFilter&, std::uint32_t>) {
        return Handler(std::in_place_type<H>, out, filter, instruments);
    } else {
        return Handler(std::in_place_type<H>, out, filter);
    }
}
}  // namespace detail
static_assert(detail::protocols_of(std::type_identity<Handler>{}) == wire::all_protocols,
              "each row of wire/protocol.hpp has its handler here, in the same order");

template <std::size_t I = 0>
[[nodiscard]] inline Handler make_handler(wire::Protocol protocol, BatchWriter out,
                                          const SymbolFilter& filter, std::uint32_t instruments) {
    using H = std::variant_alternative_t<I, Handler>;
    if constexpr (I + 1 < std::variant_size_v<Handler>) {
        if (protocol != H::protocol) return make_handler<I + 1>(protocol, out, filter, instruments);
    }
    WIREBOOK_CHECK(protocol == H::protocol);
    return detail::make<H>(out, filter, instruments);
}

}  // namespace wirebook::feed
