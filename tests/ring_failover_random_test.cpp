// Failover against an obvious reference: whatever the two handlers lose, and whenever they stop,
// what one of them had is given once, in order.
#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "ring_failover_rig.hpp"

using namespace wirebook;
using namespace wirebook::ring;
using wirebook::test::FailoverRig;
using wirebook::test::no_limit;

namespace {

constexpr std::uint16_t channels = 2;
constexpr std::uint64_t messages = 160;  // of each channel and session
constexpr std::uint64_t session_step = 1000;

// One record of a handler's stream, as a call of the rig.
struct Step {
    enum class Kind : std::uint8_t { trade, book, gap, session } kind;
    std::uint16_t channel = 0;
    std::uint64_t sequence = 0;  // of the packet; a gap's first
    std::uint64_t last = 0;      // a gap's last; of a trade its number; else the session
    std::uint32_t symbol = 0;
    bool ends_packet = false;
};
struct Packet {
    std::uint16_t channel;
    std::uint64_t sequence, end;
    std::uint64_t session;  // 0, 1
};

// Packets of both channels as the exchange sends them, with a new session in the middle.
std::vector<Packet> make_packets(std::mt19937_64& random) {
    std::vector<Packet> packets;
    std::array<std::uint64_t, channels> next{1, 1};
    std::array<std::uint64_t, channels> session{};
    while (session != std::array<std::uint64_t, channels>{2, 2}) {
        const auto c = static_cast<std::uint16_t>(random() % channels);
        if (session[c] == 2) continue;
        const std::uint64_t end = next[c] + 1 + random() % 4;
        packets.push_back({c, next[c], end, session[c]});
        next[c] = end;
        if (end <= messages) continue;
        next[c] = 1;
        session[c] += 1;
    }
    return packets;
}

std::uint64_t number_of(const Packet& packet, std::uint64_t sequence) {
    return packet.session * session_step + sequence;
}

// What a handler publishes that loses the packets that `loses` says.
template <class Loses>
std::vector<Step> make_steps(const std::vector<Packet>& packets, Loses loses) {
    std::vector<Step> steps;
    std::array<std::uint64_t, channels> next{};
    std::array<std::uint64_t, channels> session{9, 9};
    for (const Packet& packet : packets) {
        const std::uint16_t c = packet.channel;
        if (loses(packet)) continue;
        if (session[c] != packet.session) {
            // The end of a session that was lost shows as no gap.
            steps.push_back({Step::Kind::session, c, 1, packet.session, 0, true});
            session[c] = packet.session;
            next[c] = 1;
        }
        if (packet.sequence > next[c])
            steps.push_back({Step::Kind::gap, c, next[c], packet.sequence - 1, 0, true});
        next[c] = packet.end;
        std::set<std::uint32_t> touched;
        for (std::uint64_t m = packet.sequence; m < packet.end; ++m) {
            const std::uint64_t number = number_of(packet, m);
            steps.push_back({Step::Kind::trade, c, packet.sequence, number, 0, false});
            touched.insert(static_cast<std::uint32_t>(number % FailoverRig::symbols));
        }
        for (const std::uint32_t symbol : touched)
            steps.push_back({Step::Kind::book, c, packet.sequence, packet.session, symbol, false});
        steps.back().ends_packet = true;
    }
    return steps;
}

void publish(FailoverRig& rig, std::size_t s, const Step& step) {
    switch (step.kind) {
        case Step::Kind::trade:
            return rig.trade(s, step.sequence, step.last, step.ends_packet, step.channel);
        case Step::Kind::book:
            return rig.book(s, step.sequence, step.symbol, step.ends_packet, step.channel);
        case Step::Kind::gap: return rig.gap(s, step.sequence, step.last, step.channel);
        case Step::Kind::session:
            rig.session(s, step.last == 0 ? 'A' : 'B', 1, step.channel);
            return rig.quality(s, Quality::good, step.channel);
    }
}

// What came out: trades by channel, books of packets by channel and session.
struct Given {
    std::array<std::vector<std::uint64_t>, channels> trades;
    std::set<std::tuple<std::uint16_t, std::uint64_t, std::uint64_t, std::uint32_t>> books;
    std::array<std::uint64_t, channels> session{};
    bool twice = false, inside_gap = false;
    std::array<std::uint64_t, channels> packet{}, packet_session{};  // of the last trade

    void take(const Record& record) {
        const std::uint16_t c = record.channel;
        if (record.kind == RecordKind::session)
            session[c] = record.event<SessionEvent>().session[0] == 'A' ? 0 : 1;
        if (record.kind == RecordKind::trade) {
            trades[c].push_back(record.event<TradeEvent>().match);
            packet[c] = record.feed_sequence;
            packet_session[c] = session[c];
        }
        if (record.kind == RecordKind::snapshot && !record.from_table()) {
            twice |= !books.emplace(c, session[c], record.feed_sequence, record.instrument).second;
        }
        if (record.kind != RecordKind::gap) return;
        // Where the packet that was given last ends is not known: a gap may begin in it.
        const auto gap = record.event<GapEvent>();
        inside_gap |=
            gap.first > gap.last || (packet_session[c] == session[c] && gap.first < packet[c]);
    }
};

using Numbers = std::vector<std::uint64_t>;

// One run: what was given, and what of each channel at least one handler had.
struct Run {
    Given given;
    std::array<std::set<std::uint64_t>, channels> had;
    std::set<std::tuple<std::uint16_t, std::uint64_t, std::uint64_t, std::uint32_t>> had_books;
    std::uint64_t loss = 0;  // in 32 packets
    std::uint64_t lost = 0, breaks = 0;

    // One handler in three runs closes, or hangs for ever, in the middle of anything.
    Run(std::uint64_t seed, std::chrono::microseconds limit, bool closes) {
        std::mt19937_64 random(seed);
        const auto packets = make_packets(random);
        loss = random() % 4;
        std::array<std::vector<Step>, 2> steps;
        for (auto& of : steps)
            of = make_steps(packets, [&](const Packet&) { return random() % 32 < loss; });
        FailoverRig rig(limit, 4096);
        rig.start();
        std::array<std::size_t, 2> done{};
        const std::size_t stops = random() % 3;
        const std::size_t stops_at = stops < 2 ? random() % steps[stops].size() : 0;
        const auto is_over = [&](std::size_t s) {
            return done[s] == steps[s].size() || (s == stops && done[s] == stops_at);
        };
        while (!is_over(0) || !is_over(1)) {
            const std::size_t s = random() % 2;
            for (std::size_t n = random() % 24; n > 0 && !is_over(s); --n) {
                const Step& step = steps[s][done[s]++];
                publish(rig, s, step);
                if (step.kind == Step::Kind::trade) had[step.channel].insert(step.last);
                if (step.kind == Step::Kind::book)
                    had_books.emplace(step.channel, step.last, step.sequence, step.symbol);
            }
            if (closes && s == stops && is_over(s)) rig.writers[s].reset();
            for (std::size_t n = random() % 48; n > 0; --n) poll(rig);
        }
        rig.writers[0].reset(), rig.writers[1].reset();
        while (poll(rig) != Poll::writer_closed) {
        }
        lost = rig.reader->lost();
        breaks = rig.reader->breaks();
    }

private:
    Poll poll(FailoverRig& rig) {
        const Poll polled = rig.reader->poll(record_);
        if (polled == Poll::record) given.take(record_);
        return polled;
    }
    Record record_;
};

// WIREBOOK_SEED=N repeats a run.
std::uint64_t first_seed() {
    const char* given = std::getenv("WIREBOOK_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 10) : 20'261'130;
}
constexpr std::uint64_t rounds = 60;

}  // namespace

TEST_CASE("failover: random losses and deaths lose nothing that one handler had", "[ring]") {
    for (std::uint64_t seed = first_seed(); seed < first_seed() + rounds; ++seed) {
        INFO("WIREBOOK_SEED=" << seed);
        const Run run(seed, no_limit, true);
        for (std::uint16_t c = 0; c < channels; ++c) {
            const Numbers wanted(run.had[c].begin(), run.had[c].end());
            REQUIRE(run.given.trades[c].size() == wanted.size());
            REQUIRE(std::equal(wanted.begin(), wanted.end(), run.given.trades[c].begin()));
        }
        REQUIRE_FALSE(run.given.twice);
        REQUIRE_FALSE(run.given.inside_gap);
        if (run.loss == 0) REQUIRE(run.given.books.size() == run.had_books.size());
        CHECK(run.lost == 0);
        CHECK(run.breaks == 0);
    }
}

// With a limit of 0 the lead changes whenever the other is ahead, and nobody is waited for.
TEST_CASE("failover: a lead that changes all the time gives nothing twice or out of order",
          "[ring]") {
    std::uint64_t whole = 0;
    for (std::uint64_t seed = first_seed(); seed < first_seed() + rounds; ++seed) {
        INFO("WIREBOOK_SEED=" << seed);
        const Run run(seed, std::chrono::microseconds(0), false);
        for (std::uint16_t c = 0; c < channels; ++c) {
            const Numbers& given = run.given.trades[c];
            REQUIRE(std::adjacent_find(given.begin(), given.end(), std::greater_equal<>()) ==
                    given.end());
            if (run.loss == 0) REQUIRE(given.size() == run.had[c].size());
        }
        if (run.loss == 0) REQUIRE(run.given.books.size() == run.had_books.size());
        whole += run.loss == 0 ? 1 : 0;
        REQUIRE_FALSE(run.given.twice);
        CHECK(run.lost == 0);
    }
    CHECK(whole > 0);
}
