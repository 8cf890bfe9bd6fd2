// Speed of the wire module: frame to datagram, checksum, block walk, decode to a typed view.
// Inputs are made from a seed outside the loops.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "wirebook/wire/frame.hpp"
#include "wirebook/wire/itch50.hpp"
#include "wirebook/wire/moldudp64.hpp"
#include "wirebook/wire/udp_checksum.hpp"

namespace {

using namespace wirebook::wire;

using Buffer = std::vector<std::byte>;

template <Message M>
void append(Buffer& out, const M& message) {
    // Not insert(): g++ 12 warns of an overflow in it that cannot be.
    out.resize(out.size() + sizeof(M));
    std::memcpy(out.data() + out.size() - sizeof(M), &message, sizeof(M));
}

template <Message M>
void append_block(Buffer& out, M message, unsigned char type) {
    be16 length{};
    length.set(sizeof(M));
    append(out, length);
    message.header.type = type;
    append(out, message);
}

// The mix of a continuous session, roughly: adds and deletes, some replaces and executions.
Buffer make_blocks(std::size_t count, std::mt19937_64& random) {
    Buffer out;
    for (std::size_t i = 0; i < count; ++i) {
        const auto draw = random() % 100;
        if (draw < 45) {
            append_block(out, itch50::AddOrder{}, 'A');
        } else if (draw < 88) {
            append_block(out, itch50::OrderDelete{}, 'D');
        } else if (draw < 96) {
            append_block(out, itch50::OrderReplace{}, 'U');
        } else {
            append_block(out, itch50::OrderExecuted{}, 'E');
        }
    }
    return out;
}

Buffer make_frame(std::size_t messages) {
    std::mt19937_64 random{5};
    const Buffer blocks = make_blocks(messages, random);
    moldudp64::Header mold{};
    mold.sequence.set(1);
    mold.count.set(static_cast<std::uint16_t>(messages));
    const std::size_t udp_bytes = sizeof(UdpHeader) + sizeof mold + blocks.size();
    EthernetHeader link{};
    link.type.set(ethertype::ipv4);
    Ipv4Header ip{};
    ip.version_and_words = 0x45;
    ip.total_length.set(static_cast<std::uint16_t>(sizeof ip + udp_bytes));
    ip.protocol = ip_protocol::udp;
    UdpHeader udp{};
    udp.length.set(static_cast<std::uint16_t>(udp_bytes));
    udp.checksum.set(1);  // wrong, which takes as long to find out as right
    Buffer frame;
    append(frame, link);
    append(frame, ip);
    append(frame, udp);
    append(frame, mold);
    frame.resize(frame.size() + blocks.size());
    std::memcpy(frame.data() + frame.size() - blocks.size(), blocks.data(), blocks.size());
    return frame;
}

Packet packet_of(const Buffer& frame) {
    Packet packet;
    packet.data = frame.data();
    packet.bytes = static_cast<std::uint32_t>(frame.size());
    packet.original_bytes = packet.bytes;
    return packet;
}

struct Sum {
    void on(const itch50::AddOrder& message) noexcept { total += message.order_ref.get(); }
    void on(const itch50::OrderDelete& message) noexcept { total += message.order_ref.get(); }
    void on(const itch50::OrderReplace& message) noexcept { total += message.new_ref.get(); }
    void on(const itch50::OrderExecuted& message) noexcept { total += message.order_ref.get(); }
    template <class M>
    void on(const M&) noexcept {}

    std::uint64_t total = 0;
};

void BM_wire_parse_frame(benchmark::State& state) {
    const Buffer frame = make_frame(static_cast<std::size_t>(state.range(0)));
    const Packet packet = packet_of(frame);
    for (auto _ : state) {
        Datagram datagram;
        benchmark::DoNotOptimize(parse_frame(packet, datagram));
        benchmark::DoNotOptimize(datagram);
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_wire_parse_frame)->Arg(1);

void BM_wire_udp_checksum(benchmark::State& state) {
    const Buffer frame = make_frame(static_cast<std::size_t>(state.range(0)));
    Datagram datagram;
    if (parse_frame(packet_of(frame), datagram) != DropReason::none) std::abort();
    for (auto _ : state) benchmark::DoNotOptimize(udp_checksum_ok(datagram));
    state.SetBytesProcessed(state.iterations() *
                            static_cast<std::int64_t>(datagram.segment().size()));
}
BENCHMARK(BM_wire_udp_checksum)->Arg(1)->Arg(8)->Arg(40);

// From frame to handler; items are messages.
void BM_wire_decode_packet(benchmark::State& state) {
    const Buffer frame = make_frame(static_cast<std::size_t>(state.range(0)));
    const Packet packet = packet_of(frame);
    Sum sum;
    for (auto _ : state) {
        Datagram datagram;
        TransportPacket transport;
        if (parse_frame(packet, datagram) != DropReason::none) std::abort();
        if (moldudp64::parse(datagram.payload, transport) != TransportStatus::ok) std::abort();
        BlockCursor cursor{transport};
        for (std::uint32_t i = 0; i < transport.count; ++i) {
            benchmark::DoNotOptimize(itch50::decode(cursor.next(), sum));
        }
    }
    benchmark::DoNotOptimize(sum.total);
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_wire_decode_packet)->Arg(1)->Arg(8)->Arg(40);

}  // namespace

BENCHMARK_MAIN();
