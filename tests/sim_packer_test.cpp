// sim: messages into MoldUDP64 packets and IEX-TP segments.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "wirebook/core/random.hpp"
#include "wirebook/sim/packer.hpp"

namespace {

using namespace wirebook;
using namespace wirebook::sim;
using Buffer = std::vector<std::byte>;

constexpr std::int64_t second = 1'000'000'000;
constexpr MoldFraming::Session day_one{'D', 'A', 'Y', '0', '0', '0', '0', '0', '0', '1'};

struct Collected {
    PayloadInfo info;
    Buffer payload;
    wire::TransportPacket packet;
    std::vector<Buffer> messages;
};

// Parses everything with the decoder's own parser; a packet that it refuses fails the test.
template <class Framing>
struct Collector {
    std::vector<Collected> all;

    void on_payload(const PayloadInfo& info, std::span<const std::byte> payload) {
        Collected one{info, {payload.begin(), payload.end()}, {}, {}};
        wire::TransportStatus status{};
        if constexpr (std::is_same_v<Framing, MoldFraming>) {
            status = wire::moldudp64::parse(one.payload, one.packet);
        } else {
            status = wire::iex_tp::parse(one.payload, one.packet);
        }
        CHECK(status == wire::TransportStatus::ok);
        CHECK(one.packet.count == info.count);
        CHECK(one.packet.sequence == info.first_sequence);
        auto rest = one.packet.blocks;
        for (std::uint32_t i = 0; i < one.packet.count; ++i) {
            typename Framing::Length length{};
            std::memcpy(&length, rest.data(), sizeof length);
            const auto message = rest.subspan(sizeof length, length.get());
            one.messages.emplace_back(message.begin(), message.end());
            rest = rest.subspan(sizeof length + message.size());
        }
        CHECK(rest.empty());
        all.push_back(std::move(one));
    }
};

Buffer message(std::size_t bytes, std::uint64_t number) {
    Buffer made(bytes);
    for (std::size_t i = 0; i < bytes; ++i) made[i] = static_cast<std::byte>(number + i * 7);
    return made;
}

std::uint64_t test_seed() {
    const char* text = std::getenv("WIREBOOK_SEED");
    const std::uint64_t seed =
        text != nullptr ? std::strtoull(text, nullptr, 0) : std::random_device{}();
    WARN("WIREBOOK_SEED=" << seed);
    return seed;
}

// Random messages at random times through random options: every message comes out once and in
// order, no packet is too long, sequences, offsets and times fit together, no silence is longer
// than a heartbeat.
template <class Framing>
void run_model(const typename Framing::Session& session, std::uint64_t seed) {
    Random random(seed);
    PackerOptions options;
    options.largest_payload = 200 + random.below(1'300);
    options.flush_delay_ns = static_cast<std::int64_t>(random.below(3) * 50'000);
    options.heartbeat_ns = 1'000'000;
    Collector<Framing> out;
    Packer<Framing, Collector<Framing>> packer(options, session, 1'000, out);
    std::vector<Buffer> sent;
    std::vector<std::int64_t> times;
    std::int64_t now = 1'000;
    for (int i = 0; i < 2'000; ++i) {
        if (random.chance(0.7)) now += static_cast<std::int64_t>(random.exponential(60'000));
        if (random.chance(0.01)) now += 3'500'000;
        sent.push_back(message(1 + random.below(130), random.next()));
        times.push_back(now);
        packer.add(now, sent.back());
    }
    packer.finish(now);

    std::size_t next = 0;
    std::uint64_t offset = 0;
    std::int64_t last = 1'000;
    std::uint32_t endings = 0;
    for (const Collected& one : out.all) {
        REQUIRE(one.payload.size() <= options.largest_payload);
        REQUIRE(one.info.first_sequence == next + 1);
        REQUIRE(one.info.time_ns >= last);
        REQUIRE(one.info.time_ns - last <= options.heartbeat_ns + options.flush_delay_ns);
        last = one.info.time_ns;
        if constexpr (std::is_same_v<Framing, IexFraming>) {
            const auto* header = wire::view_as<wire::iex_tp::Header>(one.payload);
            REQUIRE(header->stream_offset.get() == offset);
            REQUIRE(header->send_time_ns.get() == one.info.time_ns);
            REQUIRE(header->payload_length.get() == one.payload.size() - sizeof *header);
            offset += header->payload_length.get();
        }
        endings += static_cast<std::uint32_t>(one.info.kind == PayloadKind::end_of_session);
        REQUIRE((one.info.kind == PayloadKind::data) == (one.info.count != 0));
        for (const Buffer& got : one.messages) {
            REQUIRE(got == sent.at(next));
            REQUIRE(one.info.time_ns - times[next] <= options.flush_delay_ns);
            REQUIRE(one.info.time_ns >= times[next]);
            ++next;
        }
    }
    CHECK(next == sent.size());
    CHECK(endings == options.ending_packets);
}

}  // namespace

TEST_CASE("packer: a model of both transports holds for random streams") {
    const std::uint64_t seed = test_seed();
    for (std::uint64_t round = 0; round < 20; ++round) {
        run_model<MoldFraming>(day_one, seed + round);
        run_model<IexFraming>({wire::iex_tp::protocol_deep_1_0, 1, 77}, seed + round);
    }
}

TEST_CASE("packer: messages of one time share a packet, later ones do not wait longer than asked") {
    Collector<MoldFraming> out;
    MoldPacker<Collector<MoldFraming>> packer({}, day_one, 0, out);
    packer.add(100, message(10, 1));
    packer.add(100, message(11, 2));
    CHECK(out.all.empty());
    CHECK(packer.waiting() == 2);
    packer.add(101, message(12, 3));
    REQUIRE(out.all.size() == 1);
    CHECK(out.all[0].info.time_ns == 100);
    CHECK(out.all[0].messages.size() == 2);
    CHECK(out.all[0].payload.size() == 20 + 2 + 10 + 2 + 11);
    CHECK(packer.next_sequence() == 4);
}

TEST_CASE("packer: a message that fits exactly goes in, one byte more does not") {
    Collector<MoldFraming> out;
    MoldPacker<Collector<MoldFraming>> packer({.largest_payload = 200}, day_one, 0, out);
    packer.add(1, message(88, 1));
    packer.add(1, message(88, 2));  // 20 + 90 + 90 = 200
    CHECK(packer.waiting() == 2);
    packer.add(1, message(1, 3));
    REQUIRE(out.all.size() == 1);
    CHECK(out.all[0].payload.size() == 200);
}

TEST_CASE("packer: an idle line gets a heartbeat each second, with the next sequence") {
    Collector<MoldFraming> out;
    MoldPacker<Collector<MoldFraming>> packer({}, day_one, 0, out);
    packer.advance(second);
    CHECK(out.all.empty());
    packer.advance(2 * second + 1);
    REQUIRE(out.all.size() == 2);
    CHECK(out.all[1].info.time_ns == 2 * second);
    CHECK(out.all[1].info.kind == PayloadKind::heartbeat);
    CHECK(out.all[1].packet.heartbeat);
    CHECK(out.all[1].info.first_sequence == 1);
    packer.add(2 * second + 5, message(4, 1));
    packer.advance(3 * second + 6);
    REQUIRE(out.all.size() == 4);
    CHECK(out.all[3].info.time_ns == 3 * second + 5);
    CHECK(out.all[3].info.first_sequence == 2);
}

TEST_CASE("packer: the end of a session is told in its own packets, of IEX-TP in heartbeats") {
    Collector<MoldFraming> mold;
    MoldPacker<Collector<MoldFraming>> packer({}, day_one, 0, mold);
    packer.add(5, message(4, 1));
    packer.finish(5);
    REQUIRE(mold.all.size() == 4);
    CHECK(mold.all[0].info.kind == PayloadKind::data);
    CHECK(mold.all[1].packet.end_of_session);
    CHECK(mold.all[1].info.first_sequence == 2);
    CHECK(mold.all[3].info.time_ns == 5 + 2 * second);

    Collector<IexFraming> iex;
    IexPacker<Collector<IexFraming>> other({}, {}, 0, iex);
    other.add(5, message(4, 1));
    other.finish(5);
    REQUIRE(iex.all.size() == 4);
    CHECK(iex.all[3].packet.heartbeat);
}

TEST_CASE("packer: a new session starts at 1 with what comes after it") {
    Collector<IexFraming> out;
    IexPacker<Collector<IexFraming>> packer({}, {wire::iex_tp::protocol_deep_1_0, 1, 5}, 0, out);
    packer.add(1, message(4, 1));
    packer.new_session(2, {wire::iex_tp::protocol_deep_1_0, 1, 6});
    packer.add(2, message(4, 2));
    packer.flush(2);
    REQUIRE(out.all.size() == 2);
    const auto* first = wire::view_as<wire::iex_tp::Header>(out.all[0].payload);
    const auto* then = wire::view_as<wire::iex_tp::Header>(out.all[1].payload);
    CHECK(first->session.get() == 5);
    CHECK(then->session.get() == 6);
    CHECK(then->first_sequence.get() == 1);
    CHECK(then->stream_offset.get() == 0);
}

TEST_CASE("packer: a silent sender sends everything at the end of the silence, nothing missing") {
    Collector<MoldFraming> out;
    MoldPacker<Collector<MoldFraming>> packer({}, day_one, 0, out);
    packer.silence_until(5 * second);
    for (std::int64_t i = 1; i <= 40; ++i) packer.add(i * second / 10, message(4, 1));
    packer.advance(5 * second);
    packer.add(5 * second + 1, message(4, 2));
    packer.flush(5 * second + 1);
    std::uint64_t expected = 1;
    for (const Collected& one : out.all) {
        CHECK(one.info.time_ns >= 5 * second);
        CHECK(one.info.first_sequence == expected);
        expected += one.info.count;
    }
    CHECK(expected == 42);
    CHECK(out.all.back().info.time_ns == 5 * second + 1);
}
