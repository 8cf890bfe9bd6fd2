// One channel: its sequence, its handler and its books, and what it counted.
//
// A channel is a MoldUDP64 session or an IEX (protocol, channel, session), with all the lines that
// carry it, and whatever sessions follow. May depend on core, wire and book. Owned by one lcore.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "wirebook/book/book_set.hpp"
#include "wirebook/core/arena.hpp"
#include "wirebook/feed/batch_writer.hpp"
#include "wirebook/feed/counters.hpp"
#include "wirebook/feed/registry.hpp"
#include "wirebook/feed/sequencer.hpp"
#include "wirebook/feed/symbol_filter.hpp"
#include "wirebook/wire/address.hpp"
#include "wirebook/wire/protocol.hpp"

namespace wirebook::feed {

// One of a channel's sources: a UDP group, and where lines are told apart by it, an input.
struct LineKey {
    static constexpr std::uint16_t any_input = 0xFFFF;

    wire::Address address;
    std::uint16_t udp_port = 0;
    std::uint16_t input = any_input;  // of the file or port
    std::uint64_t sub_channel = 0;    // IEX: protocol and channel id; else 0

    friend constexpr bool operator==(const LineKey&, const LineKey&) noexcept = default;
};

// Whether a channel's memory is touched when it is made: nothing faults on its packets' way then.
enum class Prefault : std::uint8_t {
    no,        // where it is used, at the first use
    if_roomy,  // all of it, if it is at most a quarter of the free memory
    always,    // all of it, from explicit 2 MiB pages if there are; fails where there is too little
};

struct ChannelOptions {
    std::string name;  // "": made up from the group
    wire::Protocol protocol = wire::Protocol::itch50;
    std::vector<LineKey> lines;  // configured ones; sub_channel is not compared
    SymbolFilter filter;
    SequencerOptions sequencer;
    book::BookSetOptions books;
    Prefault prefault = Prefault::no;
};

// A session id as people write it: "000010059B"; IEX "1/1196785920", channel and session.
[[nodiscard]] std::string session_text(wire::Protocol protocol, const wire::SessionKey& key);

class Channel {
    struct Private {};  // create() alone makes channels, in place: their parts refer to each other

public:
    Channel(Private, std::uint16_t index, ChannelOptions options, Arena arena, book::BookSet books,
            book::UpdateBatch& batch);
    [[nodiscard]] static Result<std::unique_ptr<Channel>> create(std::uint16_t index,
                                                                 ChannelOptions options,
                                                                 book::UpdateBatch& batch);
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;
    Channel(Channel&&) = delete;
    Channel& operator=(Channel&&) = delete;
    ~Channel() = default;

    [[nodiscard]] std::uint16_t index() const noexcept { return index_; }
    [[nodiscard]] const std::string& name() const noexcept { return options_.name; }
    [[nodiscard]] wire::Protocol protocol() const noexcept { return options_.protocol; }
    [[nodiscard]] const book::BookSet& books() const noexcept { return books_; }
    [[nodiscard]] book::BookSet& books() noexcept { return books_; }
    [[nodiscard]] const ChannelOptions& options() const noexcept { return options_; }
    [[nodiscard]] const wire::ProtocolRow& traits() const noexcept {
        return wire::row_of(protocol());
    }
    [[nodiscard]] Quality quality() const noexcept {
        return offline_ && quality_ < Quality::stale ? Quality::stale : quality_;
    }
    // What the feed alone says, whatever the links are.
    [[nodiscard]] Quality feed_quality() const noexcept { return quality_; }
    [[nodiscard]] const Sequencer& sequencer() const noexcept { return sequencer_; }
    // Lines that were seen; the next one gets the number that add_line() returns.
    [[nodiscard]] std::uint16_t lines() const noexcept { return lines_; }
    std::uint16_t add_line() noexcept { return lines_++; }
    // What sorts instruments of the same symbol: the feed's own key, as numbers.
    [[nodiscard]] InstrumentMap::Key instrument_key(std::uint32_t instrument) const noexcept;
    // Messages by wire type.
    [[nodiscard]] const std::array<std::uint64_t, 256>& by_type() const noexcept {
        return by_type_;
    }

private:
    template <class Observer>
    friend class Pipeline;
    friend class ChannelMap;

    // A channel that was made ahead becomes the one that is opened.
    void enter(std::uint16_t index, std::string name) noexcept {
        index_ = index;
        options_.name = std::move(name);
    }

    std::uint16_t index_;
    ChannelOptions options_;
    Arena arena_;
    book::BookSet books_;
    BatchWriter out_;
    Handler handler_;
    Sequencer sequencer_;
    Quality quality_ = Quality::not_ready;
    bool offline_ = false;  // none of its lines can bring anything
    std::array<std::uint64_t, 256> by_type_{};
    std::uint16_t lines_ = 0;
};

}  // namespace wirebook::feed
