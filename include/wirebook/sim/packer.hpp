// From messages to the datagrams of one line: MoldUDP64 packets or IEX-TP segments.
//
// Each line has a packer of its own, so that lines are cut differently. A packet is closed and
// handed to the owner
//   - when the next message would not fit largest_payload: with that message's time;
//   - when the clock passes the first waiting message's time + flush_delay_ns: with that time (0:
//     messages of one time share packets, no others);
//   - at the end, at a new session, and where the owner says so.
// A line on which nothing was sent for heartbeat_ns gets a heartbeat, and again each heartbeat_ns.
// Times of packets never go back.
//
// For the books that belong to a packet: on_payload() comes before the message that did not fit is
// taken in, so the owner notes what a message touches after add() has returned.
//
// A sender restart is a silence: packets closed meanwhile are sent at its end, in the same session,
// with no number missing. May depend on core and wire. One thread.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "wirebook/core/base.hpp"
#include "wirebook/wire/iex_tp.hpp"
#include "wirebook/wire/moldudp64.hpp"

namespace wirebook::sim {

enum class PayloadKind : std::uint8_t { data, heartbeat, end_of_session };

struct PayloadInfo {
    std::int64_t time_ns = 0;          // of sending, since the Unix epoch
    std::uint64_t first_sequence = 0;  // of the next message, where there is none in it
    std::uint32_t count = 0;           // messages
    PayloadKind kind = PayloadKind::data;
};

// Whom a packer hands its datagrams. The bytes are gone afterwards.
template <class O>
concept PayloadSink = requires(O& owner, const PayloadInfo& info, std::span<const std::byte> all) {
    owner.on_payload(info, all);
};

struct PackerOptions {
    std::size_t largest_payload = 1400;  // UDP payload, header included; 200 to 65,000
    std::int64_t flush_delay_ns = 0;
    std::int64_t heartbeat_ns = 1'000'000'000;
    std::uint32_t ending_packets = 3;  // sent by finish(), heartbeat_ns apart
};

// Headers of the two transports.
struct MoldFraming {
    using Session = std::array<char, 10>;
    using Length = wire::be16;
    using Header = wire::moldudp64::Header;
    static constexpr std::uint32_t most_messages = 0xFFFE;

    static void fill(Header& header, const Session& session, const PayloadInfo& info,
                     std::uint64_t /*stream_offset*/, std::size_t /*block_bytes*/) noexcept {
        header.session = session;
        header.sequence.set(info.first_sequence);
        header.count.set(info.kind == PayloadKind::end_of_session
                             ? wire::moldudp64::end_of_session_count
                             : static_cast<std::uint16_t>(info.count));
    }
};

struct IexSession {
    std::uint16_t protocol = wire::iex_tp::protocol_deep_1_0;
    std::uint32_t channel = 1;
    std::uint32_t session = 0;
};

struct IexFraming {
    using Session = IexSession;
    using Length = wire::le16;
    using Header = wire::iex_tp::Header;
    static constexpr std::uint32_t most_messages = 0xFFFF;

    // There is no end of session on the wire: it is a heartbeat.
    static void fill(Header& header, const Session& session, const PayloadInfo& info,
                     std::uint64_t stream_offset, std::size_t block_bytes) noexcept {
        header.version = wire::iex_tp::version;
        header.protocol.set(session.protocol);
        header.channel.set(session.channel);
        header.session.set(session.session);
        header.payload_length.set(static_cast<std::uint16_t>(block_bytes));
        header.message_count.set(static_cast<std::uint16_t>(info.count));
        header.stream_offset.set(stream_offset);
        header.first_sequence.set(info.first_sequence);
        header.send_time_ns.set(info.time_ns);
    }
};

template <class Framing, PayloadSink Owner>
class Packer {
public:
    using Session = typename Framing::Session;

    // `owner` outlives the packer. The clock starts at `start_ns`: the first heartbeat is due
    // heartbeat_ns later.
    Packer(const PackerOptions& options, const Session& session, std::int64_t start_ns,
           Owner& owner)
        : options_(options),
          session_(session),
          owner_(owner),
          last_sent_ns_(start_ns),
          buffer_(options.largest_payload) {
        WIREBOOK_CHECK(options.largest_payload >= 200 && options.largest_payload <= 65'000);
        WIREBOOK_CHECK(options.heartbeat_ns > 0 && options.flush_delay_ns >= 0);
    }

    // Sends what is due before `time_ns`. Times never go back.
    void advance(std::int64_t time_ns) {
        if (count_ != 0 && time_ns > first_waiting_ns_ + options_.flush_delay_ns) {
            close(first_waiting_ns_ + options_.flush_delay_ns);
        }
        while (count_ == 0 && time_ns > last_sent_ns_ + options_.heartbeat_ns) {
            send(PayloadKind::heartbeat, last_sent_ns_ + options_.heartbeat_ns);
        }
    }

    // Advances, then takes the message in: 1 to 65,535 bytes that fit a packet of their own.
    void add(std::int64_t time_ns, std::span<const std::byte> message) {
        advance(time_ns);
        const std::size_t bytes = sizeof(Length) + message.size();
        WIREBOOK_CHECK(sizeof(Header) + bytes <= options_.largest_payload);
        if (sizeof(Header) + used_ + bytes > options_.largest_payload ||
            count_ == Framing::most_messages) {
            close(time_ns);
        }
        if (count_ == 0) first_waiting_ns_ = time_ns;
        Length length{};
        length.set(static_cast<std::uint16_t>(message.size()));
        std::byte* to = buffer_.data() + sizeof(Header) + used_;
        std::memcpy(to, &length, sizeof length);
        std::memcpy(to + sizeof length, message.data(), message.size());
        used_ += bytes;
        ++count_;
    }

    // Closes the packet that is waiting, if there is one.
    void flush(std::int64_t time_ns) {
        if (count_ != 0) close(time_ns);
    }

    // What waits, then the packets that end the session, the first one at once.
    void finish(std::int64_t time_ns) {
        flush(time_ns);
        for (std::uint32_t i = 0; i < options_.ending_packets; ++i) {
            send(PayloadKind::end_of_session, time_ns);
            time_ns += options_.heartbeat_ns;
        }
    }

    // What waits goes out in the old session; the next message is number 1 of the new one. The
    // owner has to announce everything again: a receiver forgets its books.
    void new_session(std::int64_t time_ns, const Session& session) {
        flush(time_ns);
        session_ = session;
        next_sequence_ = 1;
        stream_offset_ = 0;
    }

    // Nothing leaves before `end_ns`, heartbeats neither.
    void silence_until(std::int64_t end_ns) noexcept {
        not_before_ns_ = std::max(not_before_ns_, end_ns);
    }

    [[nodiscard]] std::uint64_t next_sequence() const noexcept { return next_sequence_ + count_; }
    [[nodiscard]] std::uint32_t waiting() const noexcept { return count_; }  // messages

private:
    using Header = typename Framing::Header;
    using Length = typename Framing::Length;

    void close(std::int64_t time_ns) { send(PayloadKind::data, time_ns); }

    void send(PayloadKind kind, std::int64_t time_ns) {
        last_sent_ns_ = std::max({time_ns, last_sent_ns_, not_before_ns_});
        const PayloadInfo info{last_sent_ns_, next_sequence_, count_, kind};
        Header header{};
        Framing::fill(header, session_, info, stream_offset_, used_);
        std::memcpy(buffer_.data(), &header, sizeof header);
        const std::span all{buffer_.data(), sizeof header + used_};
        next_sequence_ += count_;
        stream_offset_ += used_;
        count_ = 0;
        used_ = 0;
        owner_.on_payload(info, all);
    }

    PackerOptions options_;
    Session session_;
    Owner& owner_;
    std::uint64_t next_sequence_ = 1;  // of the first message waiting
    std::uint64_t stream_offset_ = 0;  // of the first byte waiting
    std::int64_t first_waiting_ns_ = 0;
    std::int64_t last_sent_ns_ = 0;
    std::int64_t not_before_ns_ = 0;
    std::uint32_t count_ = 0;  // messages waiting
    std::size_t used_ = 0;     // bytes of blocks waiting
    std::vector<std::byte> buffer_;
};

template <PayloadSink Owner>
using MoldPacker = Packer<MoldFraming, Owner>;
template <PayloadSink Owner>
using IexPacker = Packer<IexFraming, Owner>;

}  // namespace wirebook::sim
