// Wirebook as a library: packets that are yours go in, books and trades come out as calls. No NIC
// driver, no segment, no configuration; `pkg-config wirebook` is all that it needs:
//
//     g++ -std=c++20 -O2 embed_books.cpp $(pkg-config --cflags --libs wirebook) -o embed_books
//     ./embed_books day.pcap AAPL MSFT
//
// prints a line of CSV for each time that a packet touched a book (of those symbols; of all where
// none is named), and a line for each trade, to stdout; what it counted to stderr.
// docs/embed.md explains the calls.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "wirebook/feed/observer.hpp"
#include "wirebook/feed/pipeline.hpp"

namespace book = wirebook::book;
namespace feed = wirebook::feed;
namespace wire = wirebook::wire;

namespace {

// ---- your receive path: here a classic pcap file of Ethernet frames, read whole ---------------

class Frames {
public:
    // Frames stay where they are until this object goes: the pipeline may hold on to them.
    static std::optional<Frames> read(const char* path) {
        std::ifstream file(path, std::ios::binary);
        Frames frames;
        frames.bytes_.assign(std::istreambuf_iterator<char>(file), {});
        std::uint32_t magic = 0;
        if (frames.bytes_.size() < file_header) return std::nullopt;
        std::memcpy(&magic, frames.bytes_.data(), sizeof magic);
        if (magic != 0xA1B2C3D4 && magic != 0xA1B23C4D) return std::nullopt;  // other byte order
        frames.ns_per_unit_ = magic == 0xA1B23C4D ? 1 : 1000;
        return frames;
    }
    [[nodiscard]] bool next(wire::Packet& packet) noexcept {
        std::uint32_t header[4];  // seconds, fraction, captured bytes, bytes on the wire
        if (bytes_.size() - at_ < sizeof header) return false;
        std::memcpy(header, &bytes_[at_], sizeof header);
        at_ += sizeof header;
        if (bytes_.size() - at_ < header[2]) return false;
        packet = {};
        packet.data = reinterpret_cast<const std::byte*>(&bytes_[at_]);
        packet.bytes = header[2];
        packet.original_bytes = header[3];
        packet.receive_time_ns =
            std::int64_t{header[0]} * 1'000'000'000 + std::int64_t{header[1]} * ns_per_unit_;
        packet.time_source = wire::TimeSource::capture;
        packet.record = record_++;
        at_ += header[2];
        return true;
    }

private:
    static constexpr std::size_t file_header = 24;
    std::vector<char> bytes_;
    std::size_t at_ = file_header;
    std::int64_t ns_per_unit_ = 1000;
    std::uint64_t record_ = 0;
};

// ---- your strategy: what you want to hear ------------------------------------------------------

std::string price(std::int64_t ticks, unsigned places) {
    long long scale = 1;
    for (unsigned i = 0; i < places; ++i) scale *= 10;
    const long long whole = ticks / scale, part = ticks % scale;
    char text[48];
    std::snprintf(text, sizeof text, "%s%lld.%0*lld", ticks < 0 ? "-" : "",
                  whole < 0 ? -whole : whole, static_cast<int>(places), part < 0 ? -part : part);
    return places == 0 ? std::to_string(ticks) : text;
}

class Strategy : public feed::IgnoreAll {
public:
    explicit Strategy(std::vector<std::string> symbols) : symbols_(std::move(symbols)) {}

    void on_touched(const feed::Channel& channel, std::uint32_t instrument,
                    const book::PacketEnd& end) noexcept {
        const book::BookSet& books = channel.books();
        if (!wanted(books.symbol(instrument))) return;
        const unsigned places = books.price_places(instrument);
        const std::string symbol(books.symbol(instrument));
        const auto side = [&](book::Side which) {
            const auto best = books.best(instrument, which);
            return best ? price(best->price, places) + "," + std::to_string(best->quantity) : ",0";
        };
        std::printf("book,%" PRIu64 ",%s,%s,%s\n", end.sequence, symbol.c_str(),
                    side(book::Side::bid).c_str(), side(book::Side::ask).c_str());
    }
    void on_execution(const feed::Channel& channel, const book::Execution& execution,
                      const book::PacketEnd& end) noexcept {
        trade(channel.books(), execution.instrument, execution.price, execution.quantity, end);
    }
    void on_event(const feed::Channel& channel, const book::Event& event,
                  const book::PacketEnd& end) noexcept {
        if (event.kind != book::EventKind::trade) return;
        trade(channel.books(), event.instrument, event.price, event.quantity, end);
    }
    void on_gap(const feed::Channel& channel, std::uint64_t first, std::uint64_t end,
                std::uint64_t) noexcept {
        std::fprintf(stderr, "%s: %" PRIu64 " to %" PRIu64 " are lost\n", channel.name().c_str(),
                     first, end - 1);
    }

private:
    [[nodiscard]] bool wanted(std::string_view symbol) const noexcept {
        if (symbols_.empty()) return true;
        for (const std::string& one : symbols_) {
            if (one == symbol) return true;
        }
        return false;
    }
    void trade(const book::BookSet& books, std::uint32_t instrument, std::int64_t ticks,
               std::uint64_t quantity, const book::PacketEnd& end) noexcept {
        const std::string symbol(books.symbol(instrument));
        if (!wanted(symbol)) return;
        std::printf("trade,%" PRIu64 ",%s,%s,%" PRIu64 "\n", end.sequence, symbol.c_str(),
                    price(ticks, books.price_places(instrument)).c_str(), quantity);
    }

    std::vector<std::string> symbols_;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2 || argv[1][0] == '-') {
        std::fputs("usage: embed_books FILE.pcap [SYMBOL...]\n", stderr);
        return 2;
    }
    std::optional<Frames> frames = Frames::read(argv[1]);
    if (!frames) {
        std::fprintf(stderr, "embed_books: %s is no pcap file of this byte order\n", argv[1]);
        return 2;
    }
    Strategy strategy(std::vector<std::string>(argv + 2, argv + argc));
    feed::PipelineOptions options;  // channels open by themselves, by what their packets say
    options.unknown.books.live_orders = 1'000'000;
    feed::Pipeline<Strategy> pipeline(std::move(options), strategy);
    if (const auto opened = pipeline.open(); !opened) {
        std::fprintf(stderr, "embed_books: %s\n", opened.error().context.c_str());
        return 3;
    }
    wire::Packet packet;
    while (frames->next(packet)) {
        (void)pipeline.on_packet(packet);  // a packet behind a hole is kept: its bytes must stay
        pipeline.flush();                  // calls come now; less often is faster
        pipeline.released().clear();       // kept ones that are done with: give their buffers back
    }
    pipeline.finish();
    std::fprintf(stderr, "%" PRIu64 " packets, %" PRIu64 " messages, %zu channels\n",
                 pipeline.counters().packets, pipeline.counters().messages,
                 pipeline.channels().size());
    return 0;
}
