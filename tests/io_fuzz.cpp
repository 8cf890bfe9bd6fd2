// Any bytes as a capture: in place and through small blocks must agree, and nothing reads past
// them.
//
//     clang++ -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -Iinclude
//         tests/io_fuzz.cpp src/io/*.cpp src/core/clock.cpp -lz -lzstd
//
// Any small capture is a good seed. Packets are held for a while, as a session holds them.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "wirebook/io/capture_source.hpp"

namespace {

struct Digest {
    std::uint64_t hash = 0xCBF2'9CE4'8422'2325;
    std::uint64_t records = 0;
    bool opened = false;
    bool failed = false;
    std::size_t notices = 0;

    friend bool operator==(const Digest&, const Digest&) = default;

    void add(std::uint64_t value) { hash = (hash ^ value) * 0x100'0000'01B3; }
    void add(const wirebook::wire::Packet& packet) {
        ++records;
        add(static_cast<std::uint64_t>(packet.receive_time_ns));
        add(packet.original_bytes);
        add(packet.record << 1 | (packet.cut ? 1 : 0));
        for (const std::byte byte : packet.frame()) add(std::to_integer<std::uint64_t>(byte));
    }
};

std::uint32_t every_type(std::uint8_t type) noexcept {
    return type < 0x20 ? 0 : 2;
}

Digest read(wirebook::wire::Bytes bytes, bool as_stream) {
    constexpr std::size_t most_held = 50;
    wirebook::io::CaptureOptions options;
    options.binaryfile_min_length = every_type;
    options.block_bytes = 64;
    Digest digest;
    auto opened = wirebook::io::CaptureSource::open_memory(bytes, as_stream, options);
    if (!opened) return digest;
    digest.opened = true;
    auto& source = opened.value();
    std::vector<wirebook::wire::Packet> held(most_held + 7);
    std::size_t count = 0;
    while (!source.finished()) {
        count += source.receive(std::span(held).subspan(count, 7));
        if (count <= most_held - 7) continue;
        for (std::size_t i = 0; i < count; ++i) digest.add(held[i]);
        source.release({held.data(), count});
        count = 0;
    }
    for (std::size_t i = 0; i < count; ++i) digest.add(held[i]);
    source.release({held.data(), count});
    digest.failed = source.error().has_value();
    digest.notices = source.notices().size();
    return digest;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const wirebook::wire::Bytes bytes{reinterpret_cast<const std::byte*>(data), size};
    const Digest in_place = read(bytes, false);
    const Digest in_blocks = read(bytes, true);
    if (in_place == in_blocks) return 0;
    std::fprintf(stderr, "%llu records in place, %llu in blocks\n",
                 static_cast<unsigned long long>(in_place.records),
                 static_cast<unsigned long long>(in_blocks.records));
    std::abort();
}
