#include "wirebook/feed/channel_map.hpp"

#include <algorithm>
#include <cstring>

#include "wirebook/wire/iex_tp.hpp"
#include "wirebook/wire/moldudp64.hpp"

namespace wirebook::feed {
namespace {

bool over_iex_tp(wire::Protocol protocol) noexcept {
    return wire::row_of(protocol).transport == wire::Transport::iex_tp;
}

static_assert(wire::protocol_from_iex_id(wire::iex_tp::protocol_tops_1_6) ==
              wire::Protocol::iex_tops);
static_assert(wire::protocol_from_iex_id(wire::iex_tp::protocol_deep_1_0) ==
              wire::Protocol::iex_deep);

bool same_group(const LineKey& a, const LineKey& b) noexcept {
    return a.address == b.address && a.udp_port == b.udp_port &&
           (a.input == b.input || a.input == LineKey::any_input || b.input == LineKey::any_input);
}

}  // namespace

Status ChannelMap::open_configured() {
    for (ChannelOptions& options : options_.channels) {
        const bool iex = over_iex_tp(options.protocol);
        const std::vector<LineKey> lines = options.lines;
        Channel* channel = open_channel(std::move(options));
        if (channel == nullptr) return *open_error_;
        if (iex) continue;  // routed by protocol and channel id, at their first segment
        for (const LineKey& line : lines) static_cast<void>(add_route(line, *channel));
    }
    return Ok{};
}

Channel* ChannelMap::open_channel(ChannelOptions options) {
    if (channels_.size() == channel_limit) return nullptr;
    auto channel =
        Channel::create(static_cast<std::uint16_t>(channels_.size()), std::move(options), batch_);
    if (!channel) {
        open_error_ = channel.error();
        return nullptr;
    }
    channels_.push_back(std::move(channel).value());
    return channels_.back().get();
}

const ChannelMap::Route* ChannelMap::route_of(const LineKey& key) noexcept {
    const auto matches = [&](const Route& route) {
        return route.key.sub_channel == key.sub_channel && same_group(route.key, key);
    };
    if (last_route_ < routes_.size() && matches(routes_[last_route_])) return &routes_[last_route_];
    const auto found = std::find_if(routes_.begin(), routes_.end(), matches);
    if (found == routes_.end()) return nullptr;
    last_route_ = static_cast<std::size_t>(found - routes_.begin());
    return &*found;
}

// A group stays what it is, whatever a single packet looks like.
ChannelMap::Kind ChannelMap::kind_of(const LineKey& key, wire::Bytes payload) const noexcept {
    const auto of_group = [&](const Route& route) { return same_group(route.key, key); };
    const auto kind = [](bool iex) { return iex ? Kind::iex_tp : Kind::moldudp64; };
    if (last_route_ < routes_.size() && of_group(routes_[last_route_])) {
        return kind(routes_[last_route_].key.sub_channel != 0);
    }
    const auto route = std::find_if(routes_.begin(), routes_.end(), of_group);
    if (route != routes_.end()) return kind(route->key.sub_channel != 0);
    if (const Channel* channel = configured_channel(key)) {
        return kind(over_iex_tp(channel->protocol()));
    }
    if (!options_.open_unknown) return Kind::unknown;
    if (options_.feed) return kind(over_iex_tp(*options_.feed));
    if (wire::iex_tp::recognise(payload)) return Kind::iex_tp;
    return wire::moldudp64::recognise(payload) ? Kind::moldudp64 : Kind::unknown;
}

const ChannelMap::Route* ChannelMap::add_route(const LineKey& key, Channel& channel) {
    routes_.push_back({key, &channel, channel.add_line()});
    return &routes_.back();
}

wire::TransportStatus ChannelMap::parse(const wire::Datagram& datagram, bool iex,
                                        Item& item) const noexcept {
    return iex ? wire::iex_tp::parse(datagram.payload, item.transport)
               : wire::moldudp64::parse(datagram.payload, item.transport);
}

LineKey ChannelMap::key_of(const wire::Packet& packet,
                           const wire::Datagram& datagram) const noexcept {
    LineKey key{datagram.destination, datagram.destination_port, packet.input, 0};
    if (!options_.inputs_are_lines && options_.channels.empty()) key.input = LineKey::any_input;
    return key;
}

// What a channel that this packet opens speaks; nothing where --feed says that it is something
// else.
std::optional<wire::Protocol> ChannelMap::protocol_of(
    bool iex, const wire::TransportPacket& packet) const noexcept {
    const auto protocol = iex ? wire::protocol_from_iex_id(packet.protocol_id)
                              : options_.feed.value_or(wire::Protocol::itch50);
    if (options_.feed && protocol != options_.feed) return std::nullopt;
    return protocol;
}

// The protocol of the channel that the packet will open; nothing where it opens none.
std::optional<wire::Protocol> ChannelMap::foresee(Item& item) const noexcept {
    if (item.packet.link == wire::LinkType::binaryfile) {
        const std::uint16_t input = options_.inputs_are_lines ? 0 : item.packet.input;
        std::memcpy(item.transport.session_key.data(), &input, sizeof input);
        return options_.feed.value_or(wire::Protocol::itch50);
    }
    wire::Datagram datagram;
    if (wire::parse_frame(item.packet, datagram) != wire::DropReason::none) return std::nullopt;
    const LineKey key = key_of(item.packet, datagram);
    const Kind kind = kind_of(key, datagram.payload);
    const bool iex = kind == Kind::iex_tp;
    if (kind == Kind::unknown || configured_channel(key) != nullptr ||
        parse(datagram, iex, item) != wire::TransportStatus::ok ||
        (item.transport.unsequenced && item.transport.count == 0)) {
        return std::nullopt;
    }
    return protocol_of(iex, item.transport);
}

void ChannelMap::prepare(const wire::Packet& packet) {
    if (!options_.open_unknown) return;
    Item item{packet, {}, 0};
    const auto protocol = foresee(item);
    if (!protocol) return;
    for (const Spare& spare : spares_) {
        if (spare.session == item.transport.session_key && spare.channel->protocol() == *protocol)
            return;
    }
    ChannelOptions options = options_.unknown;
    options.protocol = *protocol;
    auto channel = Channel::create(0, std::move(options), batch_);
    // What cannot be had now is asked for again, and reported, when the channel opens.
    if (channel) spares_.push_back({item.transport.session_key, std::move(channel).value()});
}

Channel* ChannelMap::find(const wire::Datagram& datagram, Item& item,
                          FeedCounters& counters) noexcept {
    LineKey key = key_of(item.packet, datagram);
    const Kind kind = kind_of(key, datagram.payload);
    if (kind == Kind::unknown || !sender_passes(key, datagram.source)) {
        counters.no_channel += 1;
        return nullptr;
    }
    const bool iex = kind == Kind::iex_tp;
    switch (parse(datagram, iex, item)) {
        case wire::TransportStatus::ok: break;
        case wire::TransportStatus::malformed: counters.malformed += 1; return nullptr;
        case wire::TransportStatus::other_version: counters.no_channel += 1; return nullptr;
    }
    if (iex) {
        std::uint32_t channel_id = 0;
        std::memcpy(&channel_id, item.transport.session_key.data() + 2, sizeof channel_id);
        key.sub_channel = (std::uint64_t{item.transport.protocol_id} << 32) | channel_id;
    }
    const Route* route = route_of(key);
    if (route == nullptr) {
        if (item.transport.unsequenced && item.transport.count == 0) {
            counters.unbound_heartbeats += 1;  // says nothing, so it opens nothing
            return nullptr;
        }
        const auto protocol = protocol_of(iex, item.transport);
        Channel* channel = nullptr;
        if (protocol && routes_.size() < route_limit) {
            channel = channel_for(key, *protocol, item.transport);
        }
        if (channel == nullptr) {
            counters.no_channel += 1;
            return nullptr;
        }
        route = add_route(key, *channel);
    }
    item.line = route->line;
    return route->channel;
}

bool ChannelMap::sender_passes(const LineKey& key, const wire::Address& sender) const noexcept {
    for (const SenderRule& rule : options_.senders) {
        if (!same_group(rule.line, key)) continue;
        return std::find(rule.senders.begin(), rule.senders.end(), sender) != rule.senders.end();
    }
    return true;
}

Channel* ChannelMap::configured_channel(const LineKey& key) const noexcept {
    for (const auto& channel : channels_) {
        for (const LineKey& line : channel->options().lines) {
            if (same_group(line, key)) return channel.get();
        }
    }
    return nullptr;
}

// A configured channel that names the group; else the one that has the group on another line, or
// that has or had the session; else a new one.
Channel* ChannelMap::channel_for(const LineKey& key, wire::Protocol protocol,
                                 const wire::TransportPacket& packet) {
    if (Channel* channel = configured_channel(key)) {
        return channel->protocol() == protocol ? channel : nullptr;
    }
    if (!options_.open_unknown) return nullptr;
    for (const Route& route : routes_) {  // the same group in another of the inputs that are lines
        if (route.key.address == key.address && route.key.udp_port == key.udp_port &&
            route.key.sub_channel == key.sub_channel) {
            return route.channel;
        }
    }
    for (const auto& channel : channels_) {
        if (channel->protocol() == protocol && channel->options().lines.empty() &&
            channel->sequencer().has_or_had(packet.session_key)) {
            return channel.get();
        }
    }
    return open_unknown(protocol,
                        wire::to_string(key.address) + ":" + std::to_string(key.udp_port));
}

// `name`: where nobody configured one.
Channel* ChannelMap::open_unknown(wire::Protocol protocol, std::string name) {
    if (!options_.unknown.name.empty()) name = options_.unknown.name;
    const auto spare = std::find_if(spares_.begin(), spares_.end(), [&](const Spare& made) {
        return made.channel->protocol() == protocol;
    });
    if (spare != spares_.end() && channels_.size() < channel_limit) {
        channels_.push_back(std::move(spare->channel));
        spares_.erase(spare);
        channels_.back()->enter(static_cast<std::uint16_t>(channels_.size() - 1), std::move(name));
        return channels_.back().get();
    }
    ChannelOptions options = options_.unknown;
    options.protocol = protocol;
    options.name = std::move(name);
    return open_channel(std::move(options));
}

// The channel of a BinaryFILE. Where all channels name groups, it is of the only one that it can
// be of; of a second file, with the same options.
Channel* ChannelMap::channel_for_file(std::uint16_t input) {
    if (options_.open_unknown) {
        return open_unknown(options_.feed.value_or(wire::Protocol::itch50),
                            "file" + std::to_string(input));
    }
    Channel* only = nullptr;
    for (std::size_t i = 0; i < options_.channels.size(); ++i) {
        if (over_iex_tp(channels_[i]->protocol())) continue;
        if (only != nullptr) return nullptr;
        only = channels_[i].get();
    }
    if (only == nullptr) return nullptr;
    const bool taken = std::any_of(routes_.begin(), routes_.end(), [](const Route& route) {
        return route.key.udp_port == 0 && route.key.address == wire::Address{};
    });
    return taken ? open_channel(only->options()) : only;
}

Channel* ChannelMap::find_binaryfile(Item& item) noexcept {
    LineKey key{{}, 0, item.packet.input, 0};
    if (options_.inputs_are_lines) key.input = LineKey::any_input;
    item.transport.sequence = item.packet.record + 1;
    item.transport.count = 1;
    item.transport.blocks = item.packet.frame();
    const Route* route = route_of(key);
    if (route == nullptr) {
        Channel* channel = channel_for_file(item.packet.input);
        if (channel == nullptr) return nullptr;
        route = add_route(key, *channel);
    }
    item.line = route->line;
    return route->channel;
}

}  // namespace wirebook::feed
