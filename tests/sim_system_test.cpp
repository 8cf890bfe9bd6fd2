// The whole system in one deterministic test: simulated exchange -> seeded network that drops,
// repeats, reorders and spoils -> pipeline and books. The engine's own books are the oracle. No
// clock, no file, no sleep.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <deque>
#include <map>
#include <vector>

#include "wirebook/feed/book_observer.hpp"
#include "wirebook/feed/observer.hpp"
#include "wirebook/feed/pipeline.hpp"
#include "wirebook/sim/exchange.hpp"
#include "wirebook/sim/frame_merger.hpp"

namespace {

using namespace wirebook;

std::uint64_t first_seed() {
    const char* given = std::getenv("WIREBOOK_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 10) : 1;
}

// Frames as a pipeline wants them; bytes stay until the end, as in hugepages that nobody frees.
class Receiver {
public:
    Receiver() : pipeline_(options(), observer_) { REQUIRE(pipeline_.open().ok()); }

    void on_frame(const sim::FrameView& frame) {
        bytes_.emplace_back(frame.bytes.begin(), frame.bytes.end());
        wire::Packet packet;
        packet.data = bytes_.back().data();
        packet.bytes = packet.original_bytes = static_cast<std::uint32_t>(bytes_.back().size());
        packet.receive_time_ns = frame.time_ns;
        (void)pipeline_.on_packet(packet);
        pipeline_.flush();
        pipeline_.released().clear();
    }
    void finish() { pipeline_.finish(); }

    [[nodiscard]] const feed::FeedCounters& counters() const { return pipeline_.counters(); }
    [[nodiscard]] std::size_t channels() const { return pipeline_.channels().size(); }
    [[nodiscard]] const feed::Channel& channel() const { return *pipeline_.channels().front(); }

private:
    static feed::PipelineOptions options() {
        feed::PipelineOptions options;
        options.checksum = feed::ChecksumPolicy::drop;
        options.unknown.sequencer.gap_wait_ns = 1'000'000'000;
        options.unknown.books.live_orders = 100'000;
        options.unknown.books.levels = 100'000;
        options.unknown.books.instruments = 1'024;
        return options;
    }

    feed::IgnoreAll observer_;
    std::deque<std::vector<std::byte>> bytes_;
    feed::Pipeline<feed::IgnoreAll> pipeline_;
};

sim::ExchangeOptions world(sim::FeedKind feed, std::uint64_t seed) {
    sim::ExchangeOptions options;
    options.feed = feed;
    options.day.seed = seed;
    options.day.messages = 12'000;
    options.day.live_orders = 800;
    options.instruments = 30;
    options.midnight_ns = 1'796'014'800'000'000'000;  // 2026-11-30 in New York
    options.lines.resize(2);
    for (std::size_t line = 0; line < 2; ++line) {
        options.lines[line].address.group = 0xEFC0'0001U + static_cast<std::uint32_t>(line);
        options.lines[line].address.port = 26'477;
        options.lines[line].packing.largest_payload = line == 0 ? 1'400 : 700;
        options.lines[line].packing.flush_delay_ns = line == 0 ? 5'000 : 20'000;
        options.lines[line].skew_ns = line == 0 ? 0 : 3'000;
    }
    return options;
}

using Rules = std::vector<const char*>;

struct Run {
    std::unique_ptr<sim::Exchange> exchange;
    std::unique_ptr<Receiver> receiver;
};

Run run_through(sim::FeedKind feed, std::uint64_t seed, const Rules& rules) {
    sim::ExchangeOptions options = world(feed, seed);
    for (const char* rule : rules) {
        auto parsed = sim::parse_fault_rule(rule);
        REQUIRE(parsed.ok());
        options.faults.push_back(parsed.value());
    }
    Run run;
    run.receiver = std::make_unique<Receiver>();
    sim::FrameMerger<Receiver> merger(*run.receiver);
    sim::ExchangeOutputs outputs;
    outputs.frame = [&](const sim::FrameView& frame) { merger.on_frame(frame); };
    outputs.no_frame_before = [&](std::int64_t time_ns) { merger.advance(time_ns); };
    auto exchange = sim::Exchange::create(options, std::move(outputs));
    REQUIRE(exchange.ok());
    run.exchange = std::move(exchange).value();
    run.exchange->run([] { return true; });
    merger.finish();
    run.receiver->finish();
    return run;
}

using Levels = std::vector<std::pair<std::int64_t, std::uint64_t>>;

// By symbol and side, of the books that are not empty.
std::map<std::pair<std::string, int>, Levels> books_of(const feed::Channel& channel) {
    std::map<std::pair<std::string, int>, Levels> all;
    const book::BookSet& books = channel.books();
    for (std::uint32_t i = 0; i < books.instruments_end(); ++i) {
        for (const book::Side side : {book::Side::bid, book::Side::ask}) {
            Levels levels;
            books.for_each_level(i, side, [&](const book::LevelView& level) {
                levels.emplace_back(level.price, level.quantity);
            });
            if (!levels.empty()) {
                all[{std::string(books.symbol(i)), static_cast<int>(side)}] = levels;
            }
        }
    }
    return all;
}
std::map<std::pair<std::string, int>, Levels> books_of(const sim::Exchange& exchange) {
    std::map<std::pair<std::string, int>, Levels> all;
    for (std::uint32_t i = 0; i < exchange.listings().size(); ++i) {
        for (const match::Side side : {match::Side::bid, match::Side::ask}) {
            Levels levels;
            exchange.engine().for_each_level(i, side, [&](const match::LevelView& level) {
                levels.emplace_back(level.price, level.quantity);
                return true;
            });
            if (!levels.empty()) {
                all[{exchange.listings()[i].symbol, static_cast<int>(side)}] = levels;
            }
        }
    }
    return all;
}

void check_sound(const Run& run) {
    const feed::Channel& channel = run.receiver->channel();
    const book::BookCounters& books = channel.books().counters();
    CHECK(run.receiver->channels() == 1);
    CHECK(channel.sequencer().counters().gaps == 0);
    CHECK(books.unknown_orders + books.duplicate_orders + books.overfills + books.bad_orders +
              books.unknown_levels + books.crossed ==
          0);
    CHECK(books_of(channel) == books_of(*run.exchange));
    run.exchange->engine().check();
}

}  // namespace

TEST_CASE("system: an undisturbed feed gives the engine's books") {
    for (std::uint64_t seed = first_seed(); seed < first_seed() + 5; ++seed) {
        INFO("WIREBOOK_SEED=" << seed);
        check_sound(run_through(sim::FeedKind::itch50, seed, {}));
        check_sound(run_through(sim::FeedKind::deep, seed, {}));
    }
}

TEST_CASE("system: what one line loses, repeats, reorders or spoils, the other one has") {
    const Rules rules{"A:loss=0.05",       "A:burst=0.002,12", "A:reorder=0.02,5",
                      "A:duplicate=0.02",  "A:flip=0.02,2",    "A:truncate=0.02",
                      "A:delay=0.02,80us", "B:duplicate=0.05", "B:reorder=0.01,2"};
    for (std::uint64_t seed = first_seed(); seed < first_seed() + 5; ++seed) {
        INFO("WIREBOOK_SEED=" << seed);
        for (const sim::FeedKind feed : {sim::FeedKind::itch50, sim::FeedKind::deep}) {
            const Run run = run_through(feed, seed, rules);
            check_sound(run);
            CHECK(run.exchange->faults(0).of(sim::FaultKind::loss) > 0);
            CHECK(run.receiver->channel().sequencer().counters().gaps_filled > 0);
        }
    }
}

TEST_CASE("system: new sessions and silent senders lose nothing") {
    const Rules rules{"*:session_restart=900", "*:session_restart=80ms",
                      "A:sender_restart=30ms,1s"};
    for (const sim::FeedKind feed : {sim::FeedKind::itch50, sim::FeedKind::deep}) {
        const Run run = run_through(feed, first_seed(), rules);
        check_sound(run);
        CHECK(run.exchange->day().counters().session_restarts == 2);
    }
}

TEST_CASE("system: what both lines lose is a hole that is known, not a wrong book") {
    const Run run = run_through(sim::FeedKind::itch50, first_seed(), {"*:dead=60ms..62ms"});
    const feed::Channel& channel = run.receiver->channel();
    CHECK(channel.sequencer().counters().gaps == 1);
    CHECK(channel.quality() == feed::Quality::stale);
}
