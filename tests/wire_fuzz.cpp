// libFuzzer target: one frame through the wire module. The first byte of the input selects the
// link type (low bits; 6 and 7: no frame, the rest is a UDP payload) and whether the record was
// cut (bit 3).
#include <cstddef>
#include <cstdint>

#include "wire_exercise.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wirebook::wire;
    if (size == 0) return 0;
    const Bytes rest = std::as_bytes(std::span{data + 1, size - 1});
    const unsigned selector = data[0] & 7U;
    if (selector >= 6) {
        testing::exercise_payload(rest);
        return 0;
    }
    Packet packet;
    packet.data = rest.data();
    packet.bytes = static_cast<std::uint32_t>(rest.size());
    packet.original_bytes = packet.bytes;
    packet.link = static_cast<LinkType>(selector);
    packet.cut = (data[0] & 8U) != 0;
    testing::exercise_packet(packet);
    return 0;
}
