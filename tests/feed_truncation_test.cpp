// Cut and damaged packets of every feed through the whole pipeline: nothing is read past the end
// of a frame (every frame is a heap buffer of its exact size; the run under AddressSanitizer
// sees), every packet is accounted for once, and the books stay consistent.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "feed_messages.hpp"

using namespace wirebook;
using namespace wirebook::feed::testing;

namespace {

wire::Protocol any_protocol() {
    return GENERATE(from_range(wire::all_protocols.begin(), wire::all_protocols.end()));
}

std::uint64_t seed_of_run() {
    const char* text = std::getenv("WIREBOOK_SEED");
    return text == nullptr ? 20'261'130 : std::strtoull(text, nullptr, 10);
}

std::uint64_t dropped(const Rig& rig, wire::DropReason reason) {
    return rig.counters().frame_drops[static_cast<std::size_t>(reason)];
}

void flip(MessageMaker& maker, Buffer& payload, std::size_t first, std::size_t end) {
    for (std::uint64_t i = maker.number(8); i <= 8 && first < end; ++i) {
        payload[first + maker.number(end - first)] ^= std::byte(1U << maker.number(8));
    }
}

// Damages a payload: flipped bits, a count or a block length that lies, cut or made longer. True
// where the header's session and sequence may be others now.
bool damage(MessageMaker& maker, Buffer& payload) {
    const std::size_t header = maker.over_iex_tp() ? 40 : 20;
    const std::size_t count_at = maker.over_iex_tp() ? 14 : 18;
    const std::size_t length_at = header;  // of the first block
    switch (maker.number(8)) {
        case 0:
        case 1:
        case 2: flip(maker, payload, header, payload.size()); return false;
        case 3: payload[count_at + maker.number(2)] ^= std::byte(maker.number(256)); return false;
        case 4:
            if (payload.size() > length_at + 2) {
                payload[length_at + maker.number(2)] ^= std::byte(maker.number(16));
            }
            return false;
        case 5: payload.resize(maker.number(payload.size() + 1)); return false;
        case 6: payload.resize(payload.size() + maker.number(40)); return false;
        default:
            if (maker.number(20) != 0) return false;
            flip(maker, payload, 0, header);
            return true;
    }
}

}  // namespace

TEST_CASE("feed: every prefix of a frame is dropped, cut by the capture or not") {
    const wire::Protocol protocol = any_protocol();
    CAPTURE(wire::to_string(protocol));
    MessageMaker maker(protocol, 1);
    std::vector<Buffer> messages;
    for (const unsigned char type : maker.types()) messages.push_back(maker.make(type));
    const Buffer frame = frame_to(1, maker.payload(1, messages));

    Rig rig(small_pipeline_of(protocol));
    for (std::size_t bytes = 0; bytes < frame.size(); ++bytes) {
        static_cast<void>(rig.send_frame(wire::Bytes(frame).first(bytes)));
        auto exact = std::make_unique<std::byte[]>(bytes);
        std::memcpy(exact.get(), frame.data(), bytes);
        wire::Packet cut = wire::testing::packet_of({exact.get(), bytes});
        cut.original_bytes = static_cast<std::uint32_t>(frame.size());
        REQUIRE(rig.pipeline->on_packet(cut) == feed::Kept::no);
    }
    CHECK(rig.take({"channel"}).empty());
    CHECK(dropped(rig, wire::DropReason::bad_length) == frame.size());
    CHECK(dropped(rig, wire::DropReason::snaplen) == frame.size());
    static_cast<void>(rig.send_frame(frame));
    CHECK(rig.take({"end"}).size() == 1);
    CHECK(rig.counters().messages == messages.size());
    CHECK(rig.counters().decode_errors + rig.counters().unknown_messages == 0);
}

TEST_CASE("feed: every prefix of a payload is malformed as a whole") {
    const wire::Protocol protocol = any_protocol();
    CAPTURE(wire::to_string(protocol));
    MessageMaker maker(protocol, 2);
    std::vector<Buffer> messages;
    for (const unsigned char type : maker.types()) messages.push_back(maker.make(type));
    const Buffer payload = maker.payload(1, messages);

    Rig rig(small_pipeline_of(protocol));
    for (std::size_t bytes = 0; bytes < payload.size(); ++bytes) {
        static_cast<void>(rig.send(1, wire::Bytes(payload).first(bytes)));
    }
    CHECK(rig.take({"channel", "end"}).empty());
    CHECK(rig.counters().malformed == payload.size());
}

TEST_CASE("feed: every prefix of every message is a decode error and keeps its number") {
    const wire::Protocol protocol = any_protocol();
    CAPTURE(wire::to_string(protocol));
    MessageMaker maker(protocol, 3);
    Rig rig(small_pipeline_of(protocol));
    std::uint64_t sequence = 1;
    std::uint64_t cut = 0;
    for (const unsigned char type : maker.types()) {
        const Buffer message = maker.make(type);
        for (std::size_t bytes = 1; bytes < message.size(); ++bytes) {
            const Buffer prefix(message.begin(),
                                message.begin() + static_cast<std::ptrdiff_t>(bytes));
            static_cast<void>(rig.send(1, maker.payload(sequence, {prefix})));
            sequence += 1;
            cut += 1;
        }
    }
    CHECK(rig.take({"end"}).size() == cut);
    CHECK(rig.counters().decode_errors == cut);
    CHECK(rig.counters().messages == cut);
    CHECK(rig.take({"gap", "touched", "event"}).empty());
}

TEST_CASE("feed: damaged streams leave every packet accounted for and the books consistent") {
    const wire::Protocol protocol = any_protocol();
    const std::uint64_t seed = seed_of_run();
    INFO("WIREBOOK_SEED=" << seed << " " << wire::to_string(protocol));
    MessageMaker maker(protocol, seed);
    auto options = small_pipeline_of(protocol);
    options.inputs_are_lines = true;
    options.unknown.books.live_orders = 256;  // small enough to run full
    options.unknown.books.levels = 128;
    Rig rig(std::move(options));
    std::uint64_t sequence = 1;
    std::int64_t time_ns = 0;
    std::uint32_t session = 1;
    for (int i = 0; i < 20'000; ++i) {
        std::vector<Buffer> messages;
        for (std::uint64_t n = maker.number(6); n > 0; --n) messages.push_back(maker.make());
        Buffer payload = maker.payload(sequence, messages, session);
        if (maker.number(20) != 0) sequence += messages.size();  // else the next one overlaps
        if (maker.number(50) == 0) sequence += maker.number(5);
        const bool lost = maker.number(3) == 0 && damage(maker, payload);
        if (lost || maker.number(2000) == 0) sequence = 1, session += 1;
        time_ns += static_cast<std::int64_t>(maker.number(100'000));
        static_cast<void>(rig.send(1, payload, time_ns, static_cast<std::uint16_t>(i % 2)));
        if (i % 4000 == 0) static_cast<void>(rig.take({}));
    }
    rig.pipeline->finish();
    static_cast<void>(rig.take({}));
    const std::uint64_t packets = rig.counters().packets;
    CHECK(packets == 20'000);
    CHECK(rig.sequence().processed_packets > packets / 4);
}
