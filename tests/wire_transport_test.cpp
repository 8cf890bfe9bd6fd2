// MoldUDP64 packets and IEX-TP segments: what is accepted, what is malformed, the block walk.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "wire_frames.hpp"
#include "wirebook/wire/iex_tp.hpp"
#include "wirebook/wire/moldudp64.hpp"

namespace wirebook::wire {

using namespace testing;

namespace {

using Strings = std::vector<std::string>;

template <class Length>
Buffer blocks_of(const Strings& messages) {
    Buffer out;
    for (const std::string& message : messages) {
        Length length{};
        length.set(static_cast<std::uint16_t>(message.size()));
        append(out, length);
        append(out, to_buffer(message));
    }
    return out;
}

Buffer mold(std::uint64_t sequence, std::uint16_t count, const Strings& messages = {}) {
    moldudp64::Header header{};
    const std::string_view session = "000010059B";
    std::copy(session.begin(), session.end(), header.session.begin());
    header.sequence.set(sequence);
    header.count.set(count);
    return with_header(header, blocks_of<be16>(messages));
}

iex_tp::Header iex_header(std::uint64_t sequence, std::uint16_t count, std::size_t bytes) {
    iex_tp::Header header{};
    header.version = 1;
    header.protocol.set(iex_tp::protocol_deep_1_0);
    header.channel.set(1);
    header.session.set(0x44964000);
    header.payload_length.set(static_cast<std::uint16_t>(bytes));
    header.message_count.set(count);
    header.first_sequence.set(sequence);
    header.send_time_ns.set(1'700'000'251'565'573'925);
    return header;
}

Buffer iex(std::uint64_t sequence, std::uint16_t count, const Strings& messages = {}) {
    const Buffer blocks = blocks_of<le16>(messages);
    return with_header(iex_header(sequence, count, blocks.size()), blocks);
}

Strings walk(const TransportPacket& packet) {
    Strings messages;
    BlockCursor cursor{packet};
    for (std::uint32_t i = 0; i < packet.count; ++i) {
        std::string text;
        for (const std::byte byte : cursor.next()) text += static_cast<char>(byte);
        messages.push_back(text);
    }
    CHECK(cursor.done());
    return messages;
}

TransportStatus mold_status(const Buffer& payload) {
    TransportPacket packet;
    return moldudp64::parse(payload, packet);
}

TransportStatus iex_status(const Buffer& payload) {
    TransportPacket packet;
    return iex_tp::parse(payload, packet);
}

}  // namespace

TEST_CASE("wire: a MoldUDP64 packet gives session, sequence and its messages in order") {
    const Buffer payload = mold(19'009'117, 3, {"one", "", "three"});
    TransportPacket packet;
    REQUIRE(moldudp64::parse(payload, packet) == TransportStatus::ok);
    CHECK(std::string(packet.session_key.data(), packet.session_key_bytes) == "000010059B");
    CHECK(packet.sequence == 19'009'117);
    CHECK(packet.count == 3);
    CHECK_FALSE(packet.heartbeat);
    CHECK_FALSE(packet.end_of_session);
    CHECK(packet.big_endian_lengths);
    CHECK(walk(packet) == Strings{"one", "", "three"});
}

TEST_CASE("wire: MoldUDP64 count 0 is a heartbeat and 0xFFFF the end of the session") {
    TransportPacket packet;
    REQUIRE(moldudp64::parse(mold(7, 0), packet) == TransportStatus::ok);
    CHECK(packet.heartbeat);
    CHECK_FALSE(packet.end_of_session);
    CHECK(packet.count == 0);
    CHECK(packet.sequence == 7);

    REQUIRE(moldudp64::parse(mold(7, 0xFFFF, {"left over"}), packet) == TransportStatus::ok);
    CHECK_FALSE(packet.heartbeat);
    CHECK(packet.end_of_session);
    CHECK(packet.count == 0);
    CHECK(packet.blocks.empty());
}

TEST_CASE("wire: bytes after the last MoldUDP64 block are no part of it") {
    Buffer payload = mold(1, 2, {"one", "two"});
    append(payload, to_buffer("padding"));
    TransportPacket packet;
    REQUIRE(moldudp64::parse(payload, packet) == TransportStatus::ok);
    CHECK(packet.blocks.size() == 10);
    CHECK(walk(packet) == Strings{"one", "two"});
}

TEST_CASE("wire: every prefix of a MoldUDP64 packet is malformed and not read beyond its end") {
    const Buffer payload = mold(1, 3, {"first", "second", ""});
    GuardedBuffer guarded{payload};
    for (std::size_t bytes = payload.size(); bytes-- > 0;) {
        INFO(bytes << " bytes");
        TransportPacket packet;
        REQUIRE(moldudp64::parse(guarded.prefix(bytes), packet) == TransportStatus::malformed);
    }
}

TEST_CASE("wire: a MoldUDP64 packet that promises too much is malformed as a whole") {
    CHECK(mold_status(mold(1, 3, {"one", "two"})) == TransportStatus::malformed);
    CHECK(mold_status(mold(1, 0xFFFE, {"one", "two"})) == TransportStatus::malformed);
    Buffer overrun = mold(1, 2, {"one", "two"});
    overrun.pop_back();
    CHECK(mold_status(overrun) == TransportStatus::malformed);
}

TEST_CASE("wire: a MoldUDP64 sequence that overflows with its count is malformed") {
    const std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
    CHECK(mold_status(mold(last, 1, {"one"})) == TransportStatus::malformed);
    CHECK(mold_status(mold(last - 1, 1, {"one"})) == TransportStatus::ok);
    CHECK(mold_status(mold(last, 0)) == TransportStatus::ok);
    CHECK(mold_status(mold(last, 0xFFFF)) == TransportStatus::ok);
}

TEST_CASE("wire: an IEX-TP segment gives protocol, session, sequence and its messages") {
    const Buffer payload = iex(34'347, 2, {"8abc", "5d"});
    TransportPacket packet;
    REQUIRE(iex_tp::recognise(payload));
    REQUIRE(iex_tp::parse(payload, packet) == TransportStatus::ok);
    CHECK(packet.protocol_id == iex_tp::protocol_deep_1_0);
    CHECK(packet.session_key_bytes == 10);
    CHECK(packet.sequence == 34'347);
    CHECK(packet.send_time_ns == 1'700'000'251'565'573'925);
    CHECK_FALSE(packet.heartbeat);
    CHECK_FALSE(packet.big_endian_lengths);
    CHECK(walk(packet) == Strings{"8abc", "5d"});
}

TEST_CASE("wire: IEX-TP segments of other protocols, channels or sessions have other keys") {
    TransportPacket first;
    REQUIRE(iex_tp::parse(iex(1, 0), first) == TransportStatus::ok);
    for (const std::size_t offset : {2U, 4U, 8U}) {
        Buffer payload = iex(1, 0);
        payload.at(offset) ^= std::byte{1};
        TransportPacket second;
        REQUIRE(iex_tp::parse(payload, second) == TransportStatus::ok);
        CHECK(first.session_key != second.session_key);
    }
    Buffer later = iex(2, 0);
    later.at(1) = std::byte{0x30};  // reserved
    TransportPacket same;
    REQUIRE(iex_tp::parse(later, same) == TransportStatus::ok);
    CHECK(first.session_key == same.session_key);
}

TEST_CASE("wire: an IEX-TP segment without messages is a heartbeat") {
    TransportPacket packet;
    REQUIRE(iex_tp::parse(iex(9, 0), packet) == TransportStatus::ok);
    CHECK(packet.heartbeat);
    CHECK_FALSE(packet.end_of_session);
    CHECK(packet.sequence == 9);
}

TEST_CASE("wire: another IEX-TP version is told apart from a malformed segment") {
    Buffer payload = iex(1, 1, {"8"});
    payload.front() = std::byte{2};
    CHECK(iex_status(payload) == TransportStatus::other_version);
    CHECK(iex_tp::recognise(payload));  // so that its packets are not taken for MoldUDP64
    CHECK_FALSE(iex_tp::recognise(mold(1, 0)));
}

TEST_CASE("wire: every prefix of an IEX-TP segment is malformed and not read beyond its end") {
    const Buffer payload = iex(1, 3, {"first", "second", ""});
    GuardedBuffer guarded{payload};
    for (std::size_t bytes = payload.size(); bytes-- > 0;) {
        INFO(bytes << " bytes");
        TransportPacket packet;
        REQUIRE(iex_tp::parse(guarded.prefix(bytes), packet) == TransportStatus::malformed);
    }
}

TEST_CASE("wire: an IEX-TP block must lie within the payload length and the datagram") {
    const Buffer blocks = blocks_of<le16>({"first", "second"});
    CHECK(iex_status(with_header(iex_header(1, 2, blocks.size() - 1), blocks)) ==
          TransportStatus::malformed);
    CHECK(iex_status(with_header(iex_header(1, 3, blocks.size()), blocks)) ==
          TransportStatus::malformed);
    CHECK(iex_status(with_header(iex_header(1, 1, 0), blocks)) == TransportStatus::malformed);
    CHECK(iex_status(with_header(iex_header(1, 2, blocks.size()), blocks)) == TransportStatus::ok);
    // Frames are padded, and the datagram may hold more than the segment.
    Buffer padded = with_header(iex_header(1, 2, blocks.size()), blocks);
    padded.resize(padded.size() + 6);
    CHECK(iex_status(padded) == TransportStatus::ok);
}

TEST_CASE("wire: an IEX-TP sequence that overflows with its count is malformed") {
    const std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
    CHECK(iex_status(iex(last, 1, {"8"})) == TransportStatus::malformed);
    CHECK(iex_status(iex(last, 0)) == TransportStatus::ok);
}

}  // namespace wirebook::wire
