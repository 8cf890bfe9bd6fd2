// Valid frames with flipped bits and lying lengths through the whole module: whatever arrives,
// nothing is read beyond the frame and nothing delivered that does not fit.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <random>
#include <vector>

#include "wire_exercise.hpp"
#include "wire_frames.hpp"

namespace wirebook::wire {

using namespace testing;

namespace {

std::uint64_t seed() {
    const char* text = std::getenv("WIREBOOK_SEED");  // NOLINT(concurrency-mt-unsafe)
    return text == nullptr ? 20'170'710 : std::strtoull(text, nullptr, 10);
}

// A message of every known type of the protocol, as the blocks of one packet.
template <class Length>
Buffer all_messages(Protocol protocol) {
    Buffer blocks;
    for (const MessageFields& known : message_fields(protocol)) {
        Length length{};
        length.set(known.length);
        append(blocks, length);
        Buffer message(known.length, std::byte{0x41});
        message[0] = static_cast<std::byte>(known.type);
        append(blocks, message);
    }
    return blocks;
}

Buffer mold_frame(Protocol protocol) {
    moldudp64::Header header{};
    header.sequence.set(1);
    header.count.set(static_cast<std::uint16_t>(message_fields(protocol).size()));
    return ethernet(ethertype::ipv4, ipv4(udp(with_header(header, all_messages<be16>(protocol)))));
}

Buffer iex_frame(Protocol protocol) {
    const Buffer blocks = all_messages<le16>(protocol);
    iex_tp::Header header{};
    header.version = iex_tp::version;
    header.protocol.set(iex_tp::protocol_deep_1_0);
    header.payload_length.set(static_cast<std::uint16_t>(blocks.size()));
    header.message_count.set(static_cast<std::uint16_t>(message_fields(protocol).size()));
    header.first_sequence.set(1);
    return ethernet(ethertype::vlan, vlan(ethertype::ipv6, ipv6(udp(with_header(header, blocks)))));
}

}  // namespace

TEST_CASE("wire: a frame with any bits flipped is parsed or refused, never misread") {
    const std::uint64_t start = seed();
    INFO("WIREBOOK_SEED=" << start);
    std::mt19937_64 random{start};
    const std::vector<Buffer> frames{mold_frame(Protocol::itch50), mold_frame(Protocol::itch_jnx),
                                     iex_frame(Protocol::iex_tops), iex_frame(Protocol::iex_deep)};
    for (const Buffer& frame : frames) {
        REQUIRE(exercise_packet(packet_of(frame)));
        for (int round = 0; round < 5000; ++round) {
            Buffer mutant = frame;
            const std::size_t flips = 1 + random() % 4;
            for (std::size_t i = 0; i < flips; ++i) {
                // Half of the flips hit the headers, where the lengths are.
                const std::size_t range = random() % 2 == 0 ? 100 : mutant.size();
                mutant[random() % range] ^= static_cast<std::byte>(1U << random() % 8);
            }
            if (random() % 4 == 0) mutant.resize(random() % mutant.size());
            mutant.shrink_to_fit();
            Packet packet = packet_of(mutant);
            packet.cut = random() % 2 == 0;
            exercise_packet(packet);
        }
    }
}

}  // namespace wirebook::wire
