// The pipeline from frame to book: which channel a packet belongs to, in which order packets are
// let out, what is counted, and packets that are larger than a batch.
#include <catch2/catch.hpp>

#include "feed_rig.hpp"

using namespace wirebook;
using namespace wirebook::feed::testing;
using feed::Kept;
using Lines = std::vector<std::string>;

TEST_CASE("feed: groups of one session are lines of one channel, another session is another one") {
    Rig rig;
    rig.send(1, mold({"ONE", 1}, {itch::add(1, 1, 'B', 100, 1000)}));
    rig.send(2, mold({"ONE", 1}, {itch::add(1, 1, 'B', 100, 1000)}));
    rig.send(3, mold({"TWO", 1}, {itch::add(1, 1, 'S', 200, 3000)}));
    rig.send(2, mold({"ONE", 2}, {itch::add(1, 2, 'B', 300, 1000)}));
    rig.send(1, mold({"ONE", 2}, {itch::add(1, 2, 'B', 300, 1000)}));
    CHECK(rig.take({"channel", "touched", "end"}) ==
          Lines{"channel 0 233.54.12.1:20001", "channel 1 233.54.12.3:20003",
                "touched 0 ACME 100@1000(1) -", "end 0 n0 s1 l0", "touched 1 ACME - 200@3000(1)",
                "end 1 n1 s1 l0", "touched 0 ACME 400@1000(2) -", "end 0 n2 s2 l1"});
    CHECK(rig.sequence(0).duplicate_packets == 2);
    CHECK(rig.sequence(0).duplicates == 2);
}

TEST_CASE("feed: a group stays with its channel over sessions, and a new group joins by session") {
    Rig rig;
    rig.send(1, mold({"ONE", 1}, {itch::add(1, 1, 'B', 100, 1000)}));
    rig.send(1, mold({"TWO", 1}, {itch::add(1, 1, 'B', 200, 2000, "NEW")}));
    rig.send(2, mold({"ONE", 2}, {itch::remove(1, 1)}));  // a session that the channel has left
    rig.send(3, mold({"TWO", 2}, {itch::remove(1, 1)}));
    CHECK(rig.take({"channel", "session", "touched"}) ==
          Lines{"channel 0 233.54.12.1:20001", "session 0 ONE 1 first",
                "touched 0 ACME 100@1000(1) -", "session 0 TWO 1 next",
                "touched 0 NEW 200@2000(1) -", "touched 0 NEW - -"});
    CHECK(rig.sequence().old_session == 1);
    CHECK(rig.sequence().sessions == 2);
    // Heartbeats of an earlier session are dropped as well.
    rig.send(1, mold({"ONE", 9}));
    CHECK(rig.sequence().old_session == 2);
    CHECK(rig.sequence().heartbeats == 0);
}

TEST_CASE("feed: a heartbeat begins a new session and lets out what waits in the old one") {
    Rig rig;
    rig.send(1, mold({"ONE", 1}, {itch::add(1, 1, 'B', 100, 1000)}), 10);
    CHECK(rig.send(1, mold({"ONE", 3}, {itch::add(1, 3, 'B', 50, 1000)}), 20) == Kept::yes);
    rig.send(1, mold({"TWO", 1}), 30);
    CHECK(rig.take({"session", "gap", "touched", "quality"}) ==
          Lines{"session 0 ONE 1 first", "quality 0 good", "touched 0 ACME 100@1000(1) -",
                "gap 0 2..3", "quality 0 stale", "touched 0 ACME 150@1000(2) -",
                "session 0 TWO 1 next", "quality 0 good"});
    CHECK(rig.pipeline->released().size() == 1);
    CHECK(rig.pipeline->channels()[0]->books().live_orders() == 0);
}

TEST_CASE("feed: starting above 1 is no gap, and only level and quote feeds are good from there") {
    Rig rig;
    rig.send(1, mold({"ONE", 1000}, {itch::remove(1, 5)}));
    rig.send(2, iex({.sequence = 500}));
    CHECK(rig.take({"session", "quality", "gap"}) ==
          Lines{"session 0 ONE 1000 first", "quality 0 not-ready", "session 1 1/7 500 first",
                "quality 1 good"});
    rig.send(1, mold({"ONE", 1003}));
    rig.pipeline->finish();
    // Worse than stale already.
    CHECK(rig.take({"quality", "gap"}) == Lines{"gap 0 1001..1003"});
    CHECK(rig.sequence().gap_messages == 2);
}

TEST_CASE("feed: unsequenced packets are always processed and start no session") {
    Rig rig;
    rig.recorder.messages = true;
    const Buffer unsequenced = mold({"ONE", 0}, {itch::add(1, 1, 'B', 100, 1000), Buffer{}});
    rig.send(1, unsequenced);
    rig.send(1, mold({"ONE", 0}));
    CHECK(rig.take({"session", "message", "touched", "end"}) ==
          Lines{"message 0 0 A", "touched 0 ACME 100@1000(1) -", "end 0 n0 s0 l0"});
    rig.send(1, unsequenced);
    CHECK(rig.take({"message", "touched"}) == Lines{"message 0 0 A"});
    CHECK(rig.counters().unsequenced == 2);
    CHECK(rig.sequence().heartbeats == 1);
    CHECK(rig.sequence().sessions == 0);
    CHECK(rig.pipeline->channels()[0]->books().counters().duplicate_orders == 1);
}

TEST_CASE("feed: empty blocks take numbers but no packet number") {
    Rig rig;
    rig.send(1, mold({"ONE", 1}, {Buffer{}, Buffer{}}));
    rig.send(1, mold({"ONE", 3}, {itch::add(1, 1, 'B', 100, 1000), Buffer{}}));
    rig.send(1, mold({"ONE", 5}, {Buffer{}}));
    rig.send(1, mold({"ONE", 6}, {itch::remove(1, 1)}));
    CHECK(rig.take({"end", "gap"}) == Lines{"end 0 n0 s3 l0", "end 0 n1 s6 l0"});
    CHECK(rig.counters().messages == 2);
    CHECK(rig.sequence().processed_packets == 4);
}

TEST_CASE("feed: a datagram with more messages than a batch holds ends once") {
    const auto [count, kind] = GENERATE(table<std::size_t, char>({{252, 'A'},
                                                                  {253, 'A'},
                                                                  {256, 'A'},
                                                                  {257, 'A'},
                                                                  {600, 'A'},
                                                                  {127, 'P'},
                                                                  {129, 'P'},
                                                                  {400, 'P'},
                                                                  {300, 'L'}}));
    CAPTURE(count, kind);
    Rig rig;
    std::vector<Buffer> messages;
    for (std::size_t i = 0; i < count; ++i) {
        messages.push_back(kind == 'A'   ? itch::add(1, i + 1, 'B', 1, 1000)
                           : kind == 'P' ? itch::trade(1, 1, 1000)
                                         : itch::participant(1));
    }
    rig.send(1, mold({"ONE", 1}, {itch::add(2, 9999, 'S', 5, 2000, "OTHER")}));
    rig.send(1, mold({"ONE", 2}, messages));
    rig.send(1, mold({"ONE", 2 + count}, {itch::add(2, 10'000, 'S', 5, 2000, "OTHER")}));
    Lines expected{"touched 0 OTHER - 5@2000(1)", "end 0 n0 s1 l0"};
    for (std::size_t i = 0; kind == 'P' && i < count; ++i) expected.emplace_back("event 0 P ");
    if (kind == 'A') {
        const std::string text = std::to_string(count);
        expected.push_back("touched 0 ACME " + text + "@1000(" + text + ") -");
    }
    expected.insert(expected.end(), {"end 0 n1 s2 l0", "touched 0 OTHER - 10@2000(2)",
                                     "end 0 n2 s" + std::to_string(2 + count) + " l0"});
    CHECK(rig.take({"touched", "end", "event"}) == expected);
}

TEST_CASE("feed: a new session followed by a batch of packets that change nothing") {
    Rig rig;
    rig.send(1, mold({"ONE", 1}, {itch::add(1, 1, 'B', 100, 1000)}));
    static_cast<void>(rig.take({}));
    for (std::uint64_t i = 0; i < 600; ++i) {
        rig.send(1, mold({"TWO", i + 1}, {itch::participant(1)}));
    }
    CHECK(rig.take({"end"}).size() == 600);
}

TEST_CASE("feed: packets of several channels come out in the order in which they came in") {
    Rig rig;
    Lines expected;
    std::array<std::uint64_t, 3> sent{};
    for (std::size_t i = 0; i < 300; ++i) {
        const std::size_t channel = (i * 7 / 3) % 3;
        const std::string_view session = std::array{"ONE", "TWO", "THREE"}[channel];
        sent[channel] += 1;
        rig.send(static_cast<unsigned>(channel) + 1,
                 mold({session, sent[channel]}, {itch::add(1, i + 1, 'B', 1, 1000)}));
        expected.push_back("end " + std::to_string(channel) + " n" + std::to_string(i) + " s" +
                           std::to_string(sent[channel]) + " l0");
    }
    Lines found = rig.take({"end"});
    // Channels are numbered by their first packets: 0, 2, 1.
    for (std::string& line : expected) {
        if (line[4] != '0') line[4] = line[4] == '1' ? '2' : '1';
    }
    CHECK(found == expected);
}

TEST_CASE("feed: holes wait for gap_wait on the clock of all channels") {
    Rig rig;
    rig.send(1, mold({"ONE", 1}, {itch::add(1, 1, 'B', 100, 1000)}), 1000);
    CHECK(rig.send(1, mold({"ONE", 3}, {itch::add(1, 3, 'B', 300, 1000)}), 2000) == Kept::yes);
    rig.send(2, mold({"TWO", 1}, {itch::add(1, 1, 'S', 1, 1000)}), 501'999);
    CHECK(rig.take({"gap"}).empty());
    // A dropped record moves the clock too, and the hole ends before the record is processed.
    rig.send_frame(wire::testing::ethernet(0x0806, Buffer(40)), 502'000);
    CHECK(rig.take({"gap", "touched"}) == Lines{"gap 0 2..3", "touched 0 ACME 400@1000(2) -"});
    // A filled hole leaves no trace but its count; a clock that goes back does nothing.
    rig.send(1, mold({"ONE", 5}, {itch::add(1, 5, 'B', 500, 1000)}), 10);
    rig.send(1, mold({"ONE", 4}, {itch::add(1, 4, 'B', 400, 1000)}), 5);
    CHECK(rig.take({"gap", "touched"}) ==
          Lines{"touched 0 ACME 800@1000(3) -", "touched 0 ACME 1300@1000(4) -"});
    CHECK(rig.sequence().gaps == 1);
    CHECK(rig.sequence().gaps_filled == 1);
}

TEST_CASE("feed: when the park limit is reached the oldest hole is given up") {
    auto options = small_pipeline();
    options.unknown.sequencer.park_packets = 3;
    Rig rig(std::move(options));
    const auto packet = [](std::uint64_t n) {
        return mold({"ONE", n}, {itch::add(1, n, 'B', 1, 1000)});
    };
    rig.send(1, packet(1));
    for (const std::uint64_t n : {3U, 5U, 6U}) CHECK(rig.send(1, packet(n)) == Kept::yes);
    CHECK(rig.take({"gap", "end"}) == Lines{"end 0 n0 s1 l0"});
    CHECK(rig.send(1, packet(7)) == Kept::yes);
    CHECK(rig.take({"gap", "end"}) == Lines{"gap 0 2..3", "end 0 n1 s3 l0"});
    rig.pipeline->finish();
    CHECK(rig.take({"gap", "end"}) ==
          Lines{"gap 0 4..5", "end 0 n2 s5 l0", "end 0 n3 s6 l0", "end 0 n4 s7 l0"});
    CHECK(rig.pipeline->released().size() == 4);
}

TEST_CASE("feed: a wrong checksum is dropped, counted or not looked at") {
    using feed::ChecksumPolicy;
    const auto policy = GENERATE(ChecksumPolicy::off, ChecksumPolicy::count, ChecksumPolicy::drop);
    auto options = small_pipeline();
    options.checksum = policy;
    Rig rig(std::move(options));
    const Buffer payload = mold({"ONE", 1}, {itch::add(1, 1, 'B', 100, 1000)});
    rig.send_frame(frame_to(1, payload, 0xBAD0));
    const bool dropped = policy == ChecksumPolicy::drop;
    CHECK(rig.take({"end"}).size() == (dropped ? 0U : 1U));
    CHECK(rig.counters().bad_checksums == (policy == ChecksumPolicy::off ? 0U : 1U));
    const auto reason = static_cast<std::size_t>(wire::DropReason::checksum);
    CHECK(rig.counters().frame_drops[reason] == (dropped ? 1U : 0U));
    rig.send(1, mold({"ONE", 2}, {itch::remove(1, 1)}));  // without a checksum
    CHECK(rig.take({"end"}).size() == 1);
}
