// Writer and reader as two processes, and the writer's sudden death.
#include <sys/wait.h>

#include <csignal>
#include <iostream>
#include <map>
#include <random>

#include "ring_fixture.hpp"

using namespace wirebook;
using namespace wirebook::ring;
using wirebook::test::is_whole;
using wirebook::test::small_segment;
using wirebook::test::TemporaryFolder;

namespace {

std::uint64_t seed() {
    const char* given = std::getenv("WIREBOOK_SEED");
    const std::uint64_t chosen =
        given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
    std::cerr << "seed: WIREBOOK_SEED=" << chosen << '\n';
    return chosen;
}

// The child: a writer that publishes `records` (0: until it is killed). Never returns.
[[noreturn]] void write_in_child(const SegmentOptions& options, std::uint64_t records) {
    auto created = Writer::create(options);
    if (!created) std::_Exit(3);
    Writer writer = std::move(created).value();
    for (int i = 0; i < 8; ++i) (void)writer.add_instrument("SYM" + std::to_string(i), 1, 4);
    Record record;
    const auto who = static_cast<std::uint64_t>(::getpid());
    while (records == 0 || writer.next_sequence() < records) {
        test::publish(writer, record, who);
        if (writer.next_sequence() % 32 == 0) writer.heartbeat(rdtsc());
        if (records != 0 && writer.next_sequence() % 64 == 0) ::usleep(20);
    }
    writer.close();
    std::_Exit(0);
}
pid_t start_writer(const SegmentOptions& options, std::uint64_t records) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) write_in_child(options, records);
    return child;
}
int wait_for(pid_t child) {
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    return status;
}
AttachOptions patient(const std::string& directory) {
    AttachOptions options;
    options.directory = directory;
    options.wait = std::chrono::seconds(20);
    return options;
}

// Attaches or re-attaches. True: to another writer than before.
bool find_writer(std::optional<Reader>& reader, const std::string& directory) {
    if (reader) {
        auto again = reader->reattach();
        if (!again) FAIL(again.error().context);
        return again.value();
    }
    AttachOptions options;
    options.directory = directory;
    auto attached = Reader::attach("test", options);
    if (attached) reader.emplace(std::move(attached).value());
    return reader.has_value();
}

}  // namespace

TEST_CASE("ring: another process reads whole records and ends with an exact account",
          "[ring][process]") {
    const TemporaryFolder folder;
    SegmentOptions options = small_segment(folder.path());
    options.geometry.slots = 1024;
    constexpr std::uint64_t records = 20'000;
    const pid_t child = start_writer(options, records);
    auto attached = Reader::attach("test", patient(folder.path()));
    REQUIRE(attached.ok());
    Reader reader = std::move(attached).value();
    const auto who = reader.header().writer_pid;
    Record record;
    std::uint64_t joined_at = 0, from_ring = 0, bad = 0, backwards = 0;
    bool first = true;
    std::map<std::uint32_t, std::uint64_t> newest;
    for (;;) {
        const Poll polled = reader.poll(record);
        if (polled == Poll::writer_closed || polled == Poll::writer_dead) break;
        if (polled != Poll::record) continue;
        bad += is_whole(record, who) ? 0U : 1U;
        if (record.kind == RecordKind::snapshot) {
            backwards +=
                newest.count(record.instrument) != 0 && newest[record.instrument] >= record.sequence
                    ? 1U
                    : 0U;
            newest[record.instrument] = record.sequence;
        }
        if (record.from_table()) continue;
        if (first) joined_at = record.sequence, first = false;
        from_ring += 1;
    }
    CHECK(wait_for(child) == 0);
    CHECK(bad == 0);
    CHECK(backwards == 0);
    CHECK(from_ring > 0);
    CHECK(joined_at + from_ring + reader.lost() <= records);  // less what the table had shown
    for (std::uint32_t i = 0; i < 7; ++i) CHECK(newest[i] + 8 >= records - 8 + i);
}

TEST_CASE("ring: a writer killed at any moment shows nothing torn, and its successor is found",
          "[ring][process]") {
    const TemporaryFolder folder;
    SegmentOptions options = small_segment(folder.path());
    options.geometry.slots = 256;
    std::mt19937_64 random(seed());
    constexpr int kills = 300;
    std::optional<Reader> reader;
    Record record;
    std::uint64_t records = 0, bad = 0, dead = 0, lives = 0;
    for (int kill = 0; kill < kills; ++kill) {
        const pid_t child = start_writer(options, 0);
        const auto who = static_cast<std::uint64_t>(child);
        const auto patience = std::chrono::microseconds(random() % 2000);
        // Every fifth is killed while it starts, the others some time after it was found.
        auto end = std::chrono::steady_clock::now() + patience;
        bool running = kill % 5 == 0;
        for (;;) {
            const bool found = reader && reader->header().writer_pid == who;
            if (found && !running) {
                end = std::chrono::steady_clock::now() + patience;
                running = true;
            }
            if (running && std::chrono::steady_clock::now() >= end) break;
            if (!found) {
                lives += find_writer(reader, folder.path()) ? 1U : 0U;
                continue;
            }
            if (reader->poll(record) != Poll::record) continue;
            records += 1;
            bad += is_whole(record, who) ? 0U : 1U;
        }
        ::kill(child, SIGKILL);
        (void)wait_for(child);
        if (!reader) continue;
        CHECK_FALSE(reader->writer_alive());
        if (reader->header().writer_pid != who) continue;
        // All that it left is whole too, in the ring and in the table.
        Poll polled = Poll::empty;
        if (kill % 16 == 0) {  // death is noticed by polling alone
            while (polled != Poll::writer_dead) {
                polled = reader->poll(record);
                if (polled == Poll::record) bad += is_whole(record, who) ? 0U : 1U;
            }
            dead += 1;
        }
        for (std::uint32_t i = 0; i < reader->instruments(); ++i)
            if (reader->latest(i, record) == Latest::ok) bad += is_whole(record, who) ? 0U : 1U;
    }
    INFO(records << " records of " << lives << " lives");
    CHECK(bad == 0);
    CHECK(records > 0);
    CHECK(lives > kills / 2);
    CHECK(dead > 0);
}

TEST_CASE("ring: of writers that start at the same time one wins", "[ring][process]") {
    const TemporaryFolder folder;
    const SegmentOptions options = small_segment(folder.path());
    for (int round = 0; round < 10; ++round) {
        std::array<pid_t, 4> children{};
        for (auto& child : children) child = start_writer(options, 0);
        // Three give up by themselves, with 3 for "somebody writes it".
        unsigned refused = 0;
        pid_t winner = 0;
        for (int i = 0; i < 3; ++i) {
            int status = 0;
            const pid_t ended = ::waitpid(-1, &status, 0);
            refused += WIFEXITED(status) && WEXITSTATUS(status) == 3 ? 1U : 0U;
            for (auto& child : children)
                if (child == ended) child = 0;
        }
        CHECK(refused == 3);
        for (const pid_t child : children)
            if (child != 0) winner = child;
        auto attached = Reader::attach("test", patient(folder.path()));
        REQUIRE(attached.ok());
        CHECK(attached.value().header().writer_pid == static_cast<std::uint64_t>(winner));
        ::kill(winner, SIGKILL);
        (void)wait_for(winner);
    }
}

TEST_CASE("ring: a reader that writes to the segment dies alone", "[ring][process]") {
    const TemporaryFolder folder;
    const Writer writer = test::must_create(small_segment(folder.path()));
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        std::signal(SIGSEGV, SIG_DFL);
        Reader reader = test::must_attach(folder.path());
        const_cast<SegmentHeader&>(reader.header()).published.store(7, std::memory_order_relaxed);
        std::_Exit(0);
    }
    const int status = wait_for(child);
    CHECK(WIFSIGNALED(status));
    CHECK(test::must_attach(folder.path()).header().published.load() == 0);
}
