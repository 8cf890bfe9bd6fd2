// libFuzzer target: a stream of UDP payloads through a whole pipeline with small tables. Whatever
// comes, every packet is accounted for once, messages are counted by type, and books, holes and
// levels are consistent.
//
// Input: one byte of options (bits 0-1 protocol, 2 inputs are lines, 3 gap wait 0, 4 two packets
// may wait, 5 a list of symbols), then packets: two bytes of header, little-endian (bits 0-9
// length of the payload, 10 group, 11 input, 12-15 time that has passed, in units of 100 us).
#include <sys/prctl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "feed_rig.hpp"

namespace {

using namespace wirebook;
using namespace wirebook::feed::testing;

// Looks at all that an observer may look at.
struct Looker {
    std::uint64_t packets = 0;
    bool wants_messages() const noexcept { return false; }
    void on_channel(const feed::Channel&) noexcept {}
    void on_message(const feed::Channel&, std::uint64_t, wire::Bytes) noexcept {}
    void on_event(const feed::Channel& channel, const book::Event& event,
                  const book::PacketEnd&) noexcept {
        if (event.instrument < channel.books().instruments_end()) {
            static_cast<void>(channel.books().symbol(event.instrument));
        }
    }
    void on_execution(const feed::Channel& channel, const book::Execution& execution,
                      const book::PacketEnd&) noexcept {
        WIREBOOK_CHECK(channel.books().named(execution.instrument));
    }
    void on_touched(const feed::Channel& channel, std::uint32_t instrument,
                    const book::PacketEnd&) noexcept {
        std::array<book::LevelView, 5> levels;
        for (const book::Side side : {book::Side::bid, book::Side::ask}) {
            const std::size_t count = channel.books().depth(instrument, side, levels);
            const auto best = channel.books().best(instrument, side);
            WIREBOOK_CHECK(best.has_value() == (count != 0));
            WIREBOOK_CHECK(count == 0 || (best->price == levels[0].price));
        }
        WIREBOOK_CHECK(!channel.books().event_open(instrument));
        WIREBOOK_CHECK(channel.books().followed(instrument));
    }
    void on_packet_end(const feed::Channel&, const book::PacketEnd& end) noexcept {
        WIREBOOK_CHECK(end.number == packets);
        packets += 1;
    }
    void on_session(const feed::Channel&, const wire::SessionKey&, std::uint64_t, bool,
                    std::uint64_t) noexcept {}
    void on_gap(const feed::Channel&, std::uint64_t first, std::uint64_t end,
                std::uint64_t) noexcept {
        WIREBOOK_CHECK(first < end);
    }
    void on_quality(const feed::Channel&, std::uint64_t) noexcept {}
};

feed::PipelineOptions options_of(unsigned bits) {
    feed::PipelineOptions options = small_pipeline();
    options.feed = wire::all_protocols[bits & 3U];
    options.inputs_are_lines = (bits & 4U) != 0;
    options.unknown.books.live_orders = 64;
    options.unknown.books.levels = 32;
    options.unknown.books.instruments = 16;
    if ((bits & 8U) != 0) options.unknown.sequencer.gap_wait_ns = 0;
    if ((bits & 16U) != 0) options.unknown.sequencer.park_packets = 2;
    if ((bits & 32U) != 0) options.unknown.filter = feed::SymbolFilter({"A", "C"});
    return options;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // Tables are made anew for each input and hardly used: small pages are zeroed much faster.
    static const int small_pages = ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    if (size == 0 || small_pages != 0) return 0;
    const wire::Bytes input = std::as_bytes(std::span{data, size});
    Looker looker;
    auto pipeline = std::make_unique<feed::Pipeline<Looker>>(options_of(data[0]), looker);
    std::vector<std::unique_ptr<std::byte[]>> frames;  // exact sizes; packets may wait
    std::int64_t time_ns = 0;
    for (std::size_t at = 1; at + 2 <= size;) {
        const unsigned header = data[at] | static_cast<unsigned>(data[at + 1]) << 8;
        at += 2;
        const std::size_t bytes = std::min<std::size_t>(header & 0x3FFU, size - at);
        const Buffer frame = frame_to(header >> 10 & 1U, input.subspan(at, bytes));
        at += bytes;
        frames.push_back(std::make_unique<std::byte[]>(frame.size()));
        std::memcpy(frames.back().get(), frame.data(), frame.size());
        wire::Packet packet = wire::testing::packet_of({frames.back().get(), frame.size()});
        packet.input = static_cast<std::uint16_t>(header >> 11 & 1U);
        time_ns += std::int64_t{header >> 12} * 100'000;
        packet.receive_time_ns = time_ns;
        static_cast<void>(pipeline->on_packet(packet));
    }
    pipeline->finish();
    // Every table of the books is walked, which takes longer than all else: for some sizes only.
    check_pipeline(*pipeline, size % 4 == 0);
    WIREBOOK_CHECK(looker.packets == pipeline->next_packet_number());
    return 0;
}
