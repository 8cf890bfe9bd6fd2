#include "wirebook/feed/channel.hpp"

#include <cstring>
#include <utility>

namespace wirebook::feed {
namespace {

// Up to so many live orders a channel's tables are small, and there may be many channels.
constexpr std::uint64_t small_orders = std::uint64_t{1} << 17;

}  // namespace

Result<std::unique_ptr<Channel>> Channel::create(std::uint16_t index, ChannelOptions options,
                                                 book::UpdateBatch& batch) {
    const wire::ProtocolRow& traits = wire::row_of(options.protocol);
    if (traits.instruments != 0) options.books.instruments = traits.instruments;
    options.books.trading_by_default = traits.trading_by_default;
    const std::size_t bytes = book::BookSet::bytes_needed(options.books);
    const bool roomy = options.prefault == Prefault::if_roomy && bytes <= memory_available() / 4;
    auto arena = Arena::create({.bytes = bytes,
                                .prefault = options.prefault == Prefault::always || roomy,
                                .hugetlb = options.prefault == Prefault::always,
                                .transparent = options.books.live_orders > small_orders});
    if (!arena) return arena.error();
    auto books = book::BookSet::create(arena.value(), options.books);
    if (!books) return books.error();
    return std::make_unique<Channel>(Private{}, index, std::move(options), std::move(arena).value(),
                                     std::move(books).value(), batch);
}

Channel::Channel(Private /*by create()*/, std::uint16_t index, ChannelOptions options, Arena arena,
                 book::BookSet books, book::UpdateBatch& batch)
    : index_(index),
      options_(std::move(options)),
      arena_(std::move(arena)),
      books_(std::move(books)),
      out_(batch),
      handler_(make_handler(options_.protocol, out_, options_.filter, options_.books.instruments)),
      sequencer_(options_.sequencer) {
}

InstrumentMap::Key Channel::instrument_key(std::uint32_t instrument) const noexcept {
    return std::visit(
        [&](const auto& handler) -> InstrumentMap::Key {
            if constexpr (requires { handler.instruments(); }) {
                const InstrumentMap::Key key = handler.instruments().key_of(instrument);
                return {key.high, __builtin_bswap64(key.low)};  // text sorts by its first byte
            } else {
                return {0, instrument};
            }
        },
        handler_);
}

std::string session_text(wire::Protocol protocol, const wire::SessionKey& key) {
    if (wire::row_of(protocol).transport == wire::Transport::moldudp64) {
        std::string text(key.data(), 10);
        while (!text.empty() && (text.back() == ' ' || text.back() == '\0')) text.pop_back();
        return text;
    }
    std::uint32_t channel = 0;
    std::uint32_t session = 0;
    std::memcpy(&channel, key.data() + 2, sizeof channel);
    std::memcpy(&session, key.data() + 6, sizeof session);
    return std::to_string(channel) + "/" + std::to_string(session);
}

}  // namespace wirebook::feed
