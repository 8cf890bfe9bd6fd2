// The sequencer against the obvious implementation: every missing number by itself in a map.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "wirebook/feed/sequencer.hpp"

using namespace wirebook;
using feed::Item;
using feed::Kept;

namespace {

// What the channel would see, as text: the same for both.
using Log = std::vector<std::string>;

std::string numbers(std::uint64_t first, std::uint64_t end) {
    return std::to_string(first) + ".." + std::to_string(end);
}

struct RecordingSink {
    Log log;
    void process(const Item& item, std::uint64_t known) noexcept {
        log.push_back("process " + std::to_string(item.packet.record) + " " +
                      std::to_string(known));
    }
    void gap(std::uint64_t first, std::uint64_t end) noexcept {
        log.push_back("gap " + numbers(first, end));
    }
    void session(const wire::SessionKey& key, std::uint64_t sequence, bool first) noexcept {
        log.push_back("session " + std::string(1, key[0]) + " " + std::to_string(sequence) +
                      (first ? " first" : ""));
    }
    void release(const Item& item) noexcept {
        log.push_back("release " + std::to_string(item.packet.record));
    }
};

// The rules of docs/replay.md, word for word and without a thought for speed.
class Reference {
public:
    Reference(std::int64_t gap_wait_ns, std::size_t park_packets)
        : gap_wait_ns_(gap_wait_ns), park_packets_(park_packets) {}

    Log log;
    std::uint64_t gaps = 0, gap_messages = 0, gaps_filled = 0, duplicates = 0, heartbeats = 0;
    std::uint64_t old_session = 0, duplicate_packets = 0, processed = 0;

    void advance(std::int64_t now_ns) {
        now_ns_ = now_ns;
        while (!missing_.empty() && now_ns_ >= missing_.begin()->second + gap_wait_ns_) give_up();
    }
    void accept(const Item& item) {
        const auto& packet = item.transport;
        const char session = packet.session_key[0];
        if (adopted_ && session != session_ && earlier_.count(session) != 0) {
            old_session += 1;
            return;
        }
        if (packet.unsequenced) {
            if (packet.count == 0) heartbeats += 1;
            if (packet.count != 0) processed += 1, deliver(item, 0);
            return;
        }
        if (!adopted_ || session != session_) begin(session, packet.sequence);
        show(packet.sequence, packet.sequence + packet.count);
        if (packet.count == 0) {
            heartbeats += 1;
            if (gap_wait_ns_ == 0) finish();
            return;
        }
        if (gap_wait_ns_ == 0 && packet.sequence > expected_) finish();
        while (packet.sequence > expected_ && parked_.size() == park_packets_) give_up();
        if (packet.sequence > expected_) {
            parked_.push_back(item);
            std::stable_sort(parked_.begin(), parked_.end(), [](const Item& a, const Item& b) {
                return a.transport.sequence < b.transport.sequence;
            });
            return;
        }
        take(item);
        drain();
    }
    void finish() {
        while (!missing_.empty()) give_up();
    }

private:
    void begin(char session, std::uint64_t sequence) {
        const bool first = !adopted_;
        if (!first) {
            finish();
            earlier_.insert(session_);
        }
        session_ = session;
        adopted_ = true;
        expected_ = shown_ = sequence;
        log.push_back("session " + std::string(1, session) + " " + std::to_string(sequence) +
                      (first ? " first" : ""));
    }
    // Runs of missing numbers, [first, end).
    std::vector<std::pair<std::uint64_t, std::uint64_t>> runs() const {
        std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
        for (const auto& [number, start] : missing_) {
            if (!found.empty() && found.back().second == number) {
                found.back().second += 1;
            } else {
                found.emplace_back(number, number + 1);
            }
        }
        return found;
    }
    void show(std::uint64_t first, std::uint64_t end) {
        for (std::uint64_t n = shown_; n < first; ++n) {
            const auto before = missing_.find(n - 1);
            missing_[n] = before == missing_.end() ? now_ns_ : before->second;
        }
        for (const auto& [run_first, run_end] : runs()) {
            if (first <= run_first && run_end <= end) gaps_filled += 1;
        }
        for (std::uint64_t n = first; n < end; ++n) missing_.erase(n);
        shown_ = std::max(shown_, end);
    }
    void give_up() {
        const auto [first, end] = runs().front();
        for (std::uint64_t n = first; n < end; ++n) missing_.erase(n);
        gaps += 1;
        gap_messages += end - first;
        expected_ = end;
        log.push_back("gap " + numbers(first, end));
        drain();
    }
    void drain() {
        while (!parked_.empty() && parked_.front().transport.sequence <= expected_) {
            const Item item = parked_.front();
            parked_.erase(parked_.begin());
            take(item);
            log.push_back("release " + std::to_string(item.packet.record));
        }
    }
    void take(const Item& item) {
        std::uint64_t known = 0;
        for (std::uint64_t i = 0; i < item.transport.count; ++i) {
            if (item.transport.sequence + i < expected_) known += 1;
        }
        duplicates += known;
        if (known == item.transport.count) {
            duplicate_packets += 1;
            return;
        }
        processed += 1;
        expected_ = item.transport.sequence + item.transport.count;
        deliver(item, known);
    }
    void deliver(const Item& item, std::uint64_t known) {
        log.push_back("process " + std::to_string(item.packet.record) + " " +
                      std::to_string(known));
    }

    std::int64_t gap_wait_ns_;
    std::size_t park_packets_;
    std::int64_t now_ns_ = 0;
    bool adopted_ = false;
    char session_ = 0;
    std::set<char> earlier_;
    std::uint64_t expected_ = 0, shown_ = 0;
    std::map<std::uint64_t, std::int64_t> missing_;  // number -> start of its hole
    std::vector<Item> parked_;
};

Item random_item(std::mt19937_64& rng, std::uint64_t record, std::uint64_t near) {
    Item item;
    item.packet.record = record;
    auto& packet = item.transport;
    const auto roll = rng() % 100;
    packet.session_key[0] = static_cast<char>('A' + (roll < 97 ? 0 : rng() % 4) + record / 150);
    packet.sequence = std::max<std::uint64_t>(near + rng() % 10, 13) - rng() % 13;
    packet.sequence = std::max<std::uint64_t>(packet.sequence, 1);
    packet.count = rng() % 8 == 0 ? 0 : static_cast<std::uint32_t>(rng() % 5 + 1);
    packet.heartbeat = packet.count == 0;
    if (rng() % 40 == 0) {
        packet.sequence = 0;
        packet.unsequenced = true;
    }
    return item;
}

std::uint64_t first_seed() {
    const char* text = std::getenv("WIREBOOK_SEED");
    return text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
}

void compare(std::uint64_t seed, std::int64_t gap_wait_ns, std::uint32_t park_packets) {
    CAPTURE(seed, gap_wait_ns, park_packets);
    std::mt19937_64 rng(seed);
    feed::Sequencer sequencer({gap_wait_ns, park_packets});
    RecordingSink sink;
    Reference reference(gap_wait_ns, park_packets);
    std::int64_t now = 1000;
    std::uint64_t near = 1;
    for (std::uint64_t record = 0; record < 600; ++record) {
        now += static_cast<std::int64_t>(rng() % 4);
        near += rng() % 3;
        sequencer.expire(now, sink);
        reference.advance(now);
        const Item item = random_item(rng, record, near);
        const auto parked = sequencer.parked();
        const Kept kept = sequencer.accept(item, now, sink);
        REQUIRE((kept == Kept::yes) == (sequencer.parked() > parked || kept == Kept::yes));
        reference.accept(item);
        sequencer.check();
        REQUIRE(sink.log == reference.log);
        sink.log.clear();
        reference.log.clear();
    }
    sequencer.finish(sink);
    reference.finish();
    REQUIRE(sink.log == reference.log);
    const feed::SequenceCounters& counters = sequencer.counters();
    CHECK(counters.gaps == reference.gaps);
    CHECK(counters.gap_messages == reference.gap_messages);
    CHECK(counters.gaps_filled == reference.gaps_filled);
    CHECK(counters.duplicates == reference.duplicates);
    CHECK(counters.duplicate_packets == reference.duplicate_packets);
    CHECK(counters.processed_packets == reference.processed);
    CHECK(counters.heartbeats == reference.heartbeats);
    CHECK(counters.old_session == reference.old_session);
}

}  // namespace

TEST_CASE("sequencer: does what the number-by-number reference does", "[feed][model]") {
    const std::uint64_t begin = first_seed();
    for (std::uint64_t seed = begin; seed < begin + 60; ++seed) {
        compare(seed, 7, 64);
        compare(seed, 0, 64);
        compare(seed, 1'000'000, 3);
        compare(seed, 25, 5);
    }
}

TEST_CASE("sequencer: a channel where nothing may wait gives every hole up at once", "[feed]") {
    feed::Sequencer sequencer({500, 0});
    RecordingSink sink;
    Item item;
    item.transport.sequence = 5;
    item.transport.count = 1;
    CHECK(sequencer.accept(item, 0, sink) == Kept::no);
    item.transport.sequence = 9;
    CHECK(sequencer.accept(item, 0, sink) == Kept::no);
    CHECK(sequencer.counters().gap_messages == 3);
    CHECK(sequencer.counters().processed_packets == 2);
}

// What it takes is looked at by hand: with lists that move at every hole this case takes minutes.
TEST_CASE("sequencer: the largest number of packets may wait, in the worst orders", "[feed]") {
    constexpr std::uint64_t waiting = feed::park_packets_limit;
    feed::Sequencer sequencer({1'000'000, feed::park_packets_limit});
    RecordingSink sink;
    Item item;
    item.transport.count = 1;
    const auto send = [&](std::uint64_t sequence) {
        item.transport.sequence = sequence;
        return sequencer.accept(item, 0, sink);
    };
    CHECK(send(1) == Kept::no);
    std::uint64_t kept = 0;
    for (std::uint64_t i = 1; i <= waiting; ++i) kept += send(1 + 2 * i) == Kept::yes ? 1U : 0U;
    CHECK(kept == waiting);
    sequencer.check();
    for (std::uint64_t i = 1; i <= waiting; ++i) static_cast<void>(send(2 * i));  // from the front
    sequencer.check();
    CHECK(sequencer.parked() == 0);
    CHECK(sequencer.counters().gaps_filled == waiting);
    for (std::uint64_t i = 1; i <= waiting; ++i) static_cast<void>(send(4 * waiting + 2 * i));
    sequencer.expire(2'000'000, sink);  // all are given up, one by one
    sequencer.check();
    CHECK(sequencer.counters().gaps == waiting);
    CHECK(sequencer.counters().processed_packets == 1 + 3 * waiting);
}

TEST_CASE("sequencer: numbers up to the very last are counted without overflow", "[feed]") {
    feed::Sequencer sequencer({500, 8});
    RecordingSink sink;
    Item item;
    item.transport.sequence = 1;
    item.transport.count = 1;
    CHECK(sequencer.accept(item, 0, sink) == Kept::no);
    item.transport.sequence = UINT64_MAX - 1;
    CHECK(sequencer.accept(item, 0, sink) == Kept::yes);
    sequencer.finish(sink);
    CHECK(sequencer.counters().gap_messages == UINT64_MAX - 3);
    CHECK(sequencer.expected() == UINT64_MAX);
}
