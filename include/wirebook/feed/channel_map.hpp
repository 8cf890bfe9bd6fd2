// Which channel a datagram belongs to: by its UDP group, and for a group not seen before by the
// session that it carries: docs/replay.md, "What is taken for what".
//
// May depend on core, wire and book. One owner thread. Opening a channel allocates; it happens at
// start for configured channels, and at a channel's first packet in an unconfigured replay.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wirebook/feed/channel.hpp"
#include "wirebook/wire/frame.hpp"

namespace wirebook::feed {

enum class ChecksumPolicy : std::uint8_t { off, count, drop };

// A configured line that takes packets of some senders alone (source-specific multicast).
struct SenderRule {
    LineKey line;
    std::vector<wire::Address> senders;
};

struct PipelineOptions {
    std::optional<wire::Protocol> feed;  // of channels that nobody configured; none: by content
    ChecksumPolicy checksum = ChecksumPolicy::count;
    bool inputs_are_lines = false;  // the same group in two inputs is two lines
    bool open_unknown = true;       // false: what is of no configured channel is dropped
    std::vector<ChannelOptions> channels;
    std::vector<SenderRule> senders;  // packets of others count as no_channel
    ChannelOptions unknown;           // what an unconfigured channel gets: filter, sizes, waits
};

class ChannelMap {
public:
    // A capture of anything can hold any number of groups; each channel takes memory.
    static constexpr std::size_t channel_limit = 1024;
    static constexpr std::size_t route_limit = 2048;  // routes are searched one by one

    ChannelMap(PipelineOptions options, book::UpdateBatch& batch)
        : options_(std::move(options)), batch_(batch) {
        channels_.reserve(channel_limit);
    }

    [[nodiscard]] Status open_configured();

    // Of a packet that comes later, before the first one: makes the channel that it will open, if
    // it will open one, so that opening takes no memory and no time. Changes no result.
    void prepare(const wire::Packet& packet);

    // Parses the transport into `item` and finds the channel; nullptr: dropped and counted.
    [[nodiscard]] Channel* find(const wire::Datagram& datagram, Item& item,
                                FeedCounters& counters) noexcept;
    // A message of a BinaryFILE: every input is a channel, or all of them are lines of one. It is
    // the one without groups, or the only one over MoldUDP64 where the configuration has just one.
    [[nodiscard]] Channel* find_binaryfile(Item& item) noexcept;

    [[nodiscard]] std::span<const std::unique_ptr<Channel>> channels() const noexcept {
        return channels_;
    }
    [[nodiscard]] const PipelineOptions& options() const noexcept { return options_; }
    // Why a channel could not be opened; its packets count as no_channel.
    [[nodiscard]] const std::optional<Error>& open_error() const noexcept { return open_error_; }

private:
    enum class Kind : std::uint8_t { unknown, moldudp64, iex_tp };
    struct Route {
        LineKey key;
        Channel* channel = nullptr;
        std::uint16_t line = 0;
    };

    // Made ahead for the session that it will carry, or for a file.
    struct Spare {
        wire::SessionKey session{};
        std::unique_ptr<Channel> channel;
    };

    [[nodiscard]] std::optional<wire::Protocol> foresee(Item& item) const noexcept;
    [[nodiscard]] LineKey key_of(const wire::Packet& packet,
                                 const wire::Datagram& datagram) const noexcept;
    [[nodiscard]] std::optional<wire::Protocol> protocol_of(
        bool iex, const wire::TransportPacket& packet) const noexcept;
    [[nodiscard]] bool sender_passes(const LineKey& key,
                                     const wire::Address& sender) const noexcept;
    [[nodiscard]] const Route* route_of(const LineKey& key) noexcept;
    [[nodiscard]] Kind kind_of(const LineKey& key, wire::Bytes payload) const noexcept;
    [[nodiscard]] Channel* configured_channel(const LineKey& key) const noexcept;
    [[nodiscard]] const Route* add_route(const LineKey& key, Channel& channel);
    [[nodiscard]] Channel* channel_for(const LineKey& key, wire::Protocol protocol,
                                       const wire::TransportPacket& packet);
    [[nodiscard]] Channel* open_channel(ChannelOptions options);
    [[nodiscard]] Channel* open_unknown(wire::Protocol protocol, std::string name);
    [[nodiscard]] Channel* channel_for_file(std::uint16_t input);
    [[nodiscard]] wire::TransportStatus parse(const wire::Datagram& datagram, bool iex,
                                              Item& item) const noexcept;

    PipelineOptions options_;
    book::UpdateBatch& batch_;
    std::vector<std::unique_ptr<Channel>> channels_;
    std::vector<Route> routes_;
    std::vector<Spare> spares_;
    std::size_t last_route_ = 0;
    std::optional<Error> open_error_;
};

}  // namespace wirebook::feed
