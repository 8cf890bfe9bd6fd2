// Feeds a pipeline with datagrams made by hand and writes down, as text, what comes out of it.
// Shared by the feed tests and the fuzz target. Every frame lies in a heap buffer of exactly its
// size until the rig dies, so that AddressSanitizer sees a read past its end.
#pragma once

#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wire_frames.hpp"
#include "wirebook/feed/pipeline.hpp"
#include "wirebook/wire/drop_reason.hpp"

namespace wirebook::feed::testing {

using wire::testing::append;
using wire::testing::Buffer;

// ---- payloads

template <class Length>
void append_block(Buffer& out, wire::Bytes message) {
    Length length;
    length.set(static_cast<std::uint16_t>(message.size()));
    append(out, length);
    append(out, message);
}

inline constexpr std::uint16_t count_them = 0xFFFE;

struct Mold {
    std::string_view session = "SESSION1";
    std::uint64_t sequence = 1;
    std::uint16_t count = count_them;  // what the header says; by default how many there are
};
inline Buffer mold(const Mold& mold, const std::vector<Buffer>& messages = {}) {
    wire::moldudp64::Header header{};
    header.session.fill(' ');
    mold.session.copy(header.session.data(), header.session.size());
    header.sequence.set(mold.sequence);
    header.count.set(mold.count == count_them ? static_cast<std::uint16_t>(messages.size())
                                              : mold.count);
    Buffer out;
    append(out, header);
    for (const Buffer& message : messages) append_block<wire::be16>(out, message);
    return out;
}

struct Iex {
    std::uint16_t protocol = wire::iex_tp::protocol_deep_1_0;
    std::uint32_t session = 7;
    std::uint64_t sequence = 1;
    std::uint32_t channel = 1;
    unsigned char version = wire::iex_tp::version;
};
inline Buffer iex(const Iex& iex, const std::vector<Buffer>& messages = {}) {
    Buffer blocks;
    for (const Buffer& message : messages) append_block<wire::le16>(blocks, message);
    wire::iex_tp::Header header{};
    header.version = iex.version;
    header.protocol.set(iex.protocol);
    header.channel.set(iex.channel);
    header.session.set(iex.session);
    header.payload_length.set(static_cast<std::uint16_t>(blocks.size()));
    header.message_count.set(static_cast<std::uint16_t>(messages.size()));
    header.first_sequence.set(iex.sequence);
    return wire::testing::with_header(header, blocks);
}

// An Ethernet frame to 233.54.12.`group`, UDP port 20000 + `group`. The checksum of 0 is "none".
inline Buffer frame_to(unsigned group, wire::Bytes payload, std::uint16_t checksum = 0) {
    using namespace wire;
    Buffer out = wire::testing::ethernet(
        ethertype::ipv4, wire::testing::ipv4(wire::testing::udp(payload, checksum)));
    be32 address;
    address.set(0xE9360C00U | group);
    be16 port;
    port.set(static_cast<std::uint16_t>(20000 + group));
    std::memcpy(&out[14 + 16], &address, sizeof address);
    std::memcpy(&out[14 + 20 + 2], &port, sizeof port);
    return out;
}
inline LineKey line_of(unsigned group) {
    LineKey key;
    key.address = wire::Address::from_ipv4(0xE9360C00U | group);
    key.udp_port = static_cast<std::uint16_t>(20000 + group);
    return key;
}

// ---- messages

template <wire::Message M>
Buffer bytes_of(const M& message) {
    Buffer out;
    append(out, message);
    return out;
}
template <std::size_t N>
void put(std::array<char, N>& field, std::string_view text) {
    field.fill(' ');
    text.copy(field.data(), N);
}

namespace itch {
template <class M>
M start(std::uint16_t locate) {
    M message{};
    message.header.type = M::message_type;
    message.header.stock_locate.set(locate);
    message.header.timestamp_ns.set(34'200'000'000'000);
    return message;
}
inline Buffer directory(std::uint16_t locate, std::string_view stock) {
    auto m = start<wire::itch50::StockDirectory>(locate);
    put(m.stock, stock);
    m.round_lot_size.set(100);
    m.authenticity = 'P';
    return bytes_of(m);
}
inline Buffer add(std::uint16_t locate, std::uint64_t reference, char side, std::uint32_t shares,
                  std::uint32_t price_e4, std::string_view stock = "ACME") {
    auto m = start<wire::itch50::AddOrder>(locate);
    m.order_ref.set(reference);
    m.side = static_cast<unsigned char>(side);
    m.shares.set(shares);
    put(m.stock, stock);
    m.price_e4.set(price_e4);
    return bytes_of(m);
}
inline Buffer execute(std::uint16_t locate, std::uint64_t reference, std::uint32_t shares) {
    auto m = start<wire::itch50::OrderExecuted>(locate);
    m.order_ref.set(reference);
    m.executed_shares.set(shares);
    m.match_number.set(77);
    return bytes_of(m);
}
inline Buffer remove(std::uint16_t locate, std::uint64_t reference) {
    auto m = start<wire::itch50::OrderDelete>(locate);
    m.order_ref.set(reference);
    return bytes_of(m);
}
inline Buffer replace(std::uint16_t locate, std::uint64_t reference, std::uint64_t new_reference,
                      std::uint32_t shares, std::uint32_t price_e4) {
    auto m = start<wire::itch50::OrderReplace>(locate);
    m.original_ref.set(reference);
    m.new_ref.set(new_reference);
    m.shares.set(shares);
    m.price_e4.set(price_e4);
    return bytes_of(m);
}
inline Buffer trade(std::uint16_t locate, std::uint32_t shares, std::uint32_t price_e4) {
    auto m = start<wire::itch50::Trade>(locate);
    m.side = 'B';
    m.shares.set(shares);
    m.price_e4.set(price_e4);
    return bytes_of(m);
}
inline Buffer system(char code) {
    auto m = start<wire::itch50::SystemEvent>(0);
    m.event_code = static_cast<unsigned char>(code);
    return bytes_of(m);
}
// Makes neither an update nor an event.
inline Buffer participant(std::uint16_t locate) {
    return bytes_of(start<wire::itch50::MarketParticipantPosition>(locate));
}
}  // namespace itch

// ---- what comes out

// Lines: "channel 0 NAME", "session 0 KEY 1 first", "quality 0 good", "gap 0 2..5",
// "message 0 4 A", "event 0 P SYMBOL", "execution 0 SYMBOL 10@1000", "end 0 n2 s4 l0",
// "touched 0 SYMBOL 10@1000(1) -" with the best bid and ask.
class Recorder {
public:
    std::vector<std::string> log;
    bool messages = false;

    [[nodiscard]] bool wants_messages() const noexcept { return messages; }
    void on_channel(const Channel& channel) noexcept { add("channel", channel, channel.name()); }
    void on_message(const Channel& channel, std::uint64_t sequence, wire::Bytes message) noexcept {
        add("message", channel,
            std::to_string(sequence) + " " + std::string(1, static_cast<char>(message[0])));
    }
    void on_event(const Channel& channel, const book::Event& event,
                  const book::PacketEnd&) noexcept {
        last_event_time_ns = event.exchange_time_ns;
        const bool known = event.instrument < channel.books().instruments_end();
        add("event", channel,
            std::string(1, event.code) + " " +
                std::string(known ? channel.books().symbol(event.instrument) : "-"));
    }
    void on_execution(const Channel& channel, const book::Execution& execution,
                      const book::PacketEnd&) noexcept {
        add("execution", channel,
            std::string(channel.books().symbol(execution.instrument)) + " " +
                std::to_string(execution.quantity) + "@" + std::to_string(execution.price));
    }
    void on_touched(const Channel& channel, std::uint32_t instrument,
                    const book::PacketEnd&) noexcept {
        add("touched", channel,
            std::string(channel.books().symbol(instrument)) + " " +
                side(channel, instrument, book::Side::bid) + " " +
                side(channel, instrument, book::Side::ask));
    }
    void on_packet_end(const Channel& channel, const book::PacketEnd& end) noexcept {
        add("end", channel,
            "n" + std::to_string(end.number) + " s" + std::to_string(end.sequence) + " l" +
                std::to_string(end.line));
    }
    void on_session(const Channel& channel, const wire::SessionKey& key, std::uint64_t sequence,
                    bool first, std::uint64_t) noexcept {
        add("session", channel,
            session_text(channel.protocol(), key) + " " + std::to_string(sequence) +
                (first ? " first" : " next"));
    }
    void on_gap(const Channel& channel, std::uint64_t first, std::uint64_t end,
                std::uint64_t) noexcept {
        add("gap", channel, std::to_string(first) + ".." + std::to_string(end));
    }
    void on_quality(const Channel& channel, std::uint64_t) noexcept {
        static constexpr std::array<std::string_view, 4> names{"good", "stale", "recovering",
                                                               "not-ready"};
        add("quality", channel, names[static_cast<std::size_t>(channel.quality())]);
    }

    void on_offline(const Channel& channel, std::uint64_t packet) noexcept {
        on_quality(channel, packet);
    }
    void on_unfollowed(const Channel& channel, std::uint32_t instrument) noexcept {
        add("unfollowed", channel, channel.books().symbol(instrument));
    }

    // The lines that begin with one of the words, and empties the log.
    [[nodiscard]] std::vector<std::string> take(std::initializer_list<std::string_view> words) {
        std::vector<std::string> taken;
        for (const std::string& line : log) {
            for (const std::string_view word : words) {
                if (line.starts_with(word)) taken.push_back(line);
            }
        }
        log.clear();
        return taken;
    }
    std::int64_t last_event_time_ns = 0;

private:
    void add(std::string_view what, const Channel& channel, std::string_view detail) {
        log.push_back(std::string(what) + " " + std::to_string(channel.index()) + " " +
                      std::string(detail));
    }
    static std::string side(const Channel& channel, std::uint32_t instrument, book::Side side) {
        const auto best = channel.books().best(instrument, side);
        if (!best) return "-";
        return std::to_string(best->quantity) + "@" + std::to_string(best->price) + "(" +
               std::to_string(best->orders) + ")";
    }
};

inline PipelineOptions small_pipeline() {
    PipelineOptions options;
    options.unknown.books = {
        .instruments = 64, .live_orders = 4096, .levels = 1024, .order_pages = 1, .hash_seed = 1};
    options.unknown.sequencer = {.gap_wait_ns = 500'000, .park_packets = 16};
    return options;
}

// Every packet is accounted for once, as Statistics::collect asks, and the books are consistent.
template <class Observer>
void check_pipeline(const Pipeline<Observer>& pipeline, bool with_books = true) {
    const FeedCounters& feed = pipeline.counters();
    std::uint64_t accounted = feed.no_channel + feed.malformed + feed.unbound_heartbeats;
    for (const std::uint64_t drops : feed.frame_drops) accounted += drops;
    std::uint64_t messages = 0;
    for (const auto& channel : pipeline.channels()) {
        const SequenceCounters& counts = channel->sequencer().counters();
        accounted += counts.processed_packets + counts.duplicate_packets + counts.heartbeats +
                     counts.old_session + channel->sequencer().parked();
        channel->sequencer().check();
        if (with_books) channel->books().check();
        for (const std::uint64_t count : channel->by_type()) messages += count;
    }
    WIREBOOK_CHECK(accounted == feed.packets);
    WIREBOOK_CHECK(messages == feed.messages);
    WIREBOOK_CHECK(feed.unknown_messages + feed.decode_errors <= feed.messages);
}

class Rig {
public:
    explicit Rig(PipelineOptions options = small_pipeline())
        : pipeline(std::make_unique<Pipeline<Recorder>>(std::move(options), recorder)) {
        WIREBOOK_CHECK(pipeline->open().ok());
    }

    Kept send_frame(wire::Bytes frame, std::int64_t time_ns = 0, std::uint16_t input = 0) {
        wire::Packet packet = wire::testing::packet_of(keep(frame));
        packet.receive_time_ns = time_ns;
        packet.input = input;
        packet.record = frames_.size();
        return pipeline->on_packet(packet);
    }
    Kept send(unsigned group, wire::Bytes payload, std::int64_t time_ns = 0,
              std::uint16_t input = 0) {
        return send_frame(frame_to(group, payload), time_ns, input);
    }
    // Whole log lines of these kinds since the last call; everything has reached the books.
    std::vector<std::string> take(std::initializer_list<std::string_view> words) {
        pipeline->flush();
        check_pipeline(*pipeline);
        return recorder.take(words);
    }
    [[nodiscard]] const SequenceCounters& sequence(std::size_t channel = 0) const {
        return pipeline->channels()[channel]->sequencer().counters();
    }
    [[nodiscard]] const FeedCounters& counters() const { return pipeline->counters(); }

    Recorder recorder;
    std::unique_ptr<Pipeline<Recorder>> pipeline;

private:
    wire::Bytes keep(wire::Bytes frame) {
        frames_.push_back(std::make_unique<std::byte[]>(frame.size()));
        if (!frame.empty()) std::memcpy(frames_.back().get(), frame.data(), frame.size());
        return {frames_.back().get(), frame.size()};
    }

    std::vector<std::unique_ptr<std::byte[]>> frames_;
};

}  // namespace wirebook::feed::testing
