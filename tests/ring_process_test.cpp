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

// The child: a writer that publishes `records` (0: until it is killed). It stops after 1000 of them
// until it gets SIGUSR1, which the caller has blocked. Never returns.
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
        if (records != 0 && writer.next_sequence() == 1000) {
            sigset_t go;
            int signal = 0;
            ::sigemptyset(&go);
            ::sigaddset(&go, SIGUSR1);
            if (::sigwait(&go, &signal) != 0) std::_Exit(4);
        }
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

}  // namespace

TEST_CASE("ring: another process reads whole records and ends with an exact account",
          "[ring][process]") {
    const TemporaryFolder folder;
    SegmentOptions options = small_segment(folder.path());
    options.geometry.slots = 1024;
    constexpr std::uint64_t records = 20'000;
    sigset_t go;
    ::sigemptyset(&go);
    ::sigaddset(&go, SIGUSR1);
    REQUIRE(::sigprocmask(SIG_BLOCK, &go, nullptr) == 0);
    const pid_t child = start_writer(options, records);
    AttachOptions attach = patient(folder.path());
    attach.resume = Resume::oldest;  // however slow we are, the ring holds something
    auto attached = Reader::attach("test", attach);
    REQUIRE(attached.ok());
    REQUIRE(::kill(child, SIGUSR1) == 0);
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

namespace {

// Checks every record of one life after the other: whole, of this writer, and in order.
class Follower {
public:
    Follower(std::string directory, Resume resume, bool join_table)
        : directory_(std::move(directory)), resume_(resume), join_table_(join_table) {}

    // Attaches, or goes on to the next writer.
    void find() {
        if (reader_) {
            auto again = reader_->reattach();
            if (!again) FAIL(again.error().context);
            if (again.value()) begin_life();
            return;
        }
        AttachOptions options;
        options.directory = directory_;
        options.resume = resume_;
        options.join_table = join_table_;
        auto attached = Reader::attach("test", options);
        if (!attached) return;
        reader_.emplace(std::move(attached).value());
        begin_life();
    }
    [[nodiscard]] bool follows(std::uint64_t who) const {
        return reader_ && reader_->header().writer_pid == who;
    }
    Poll poll() {
        const Poll polled = reader_->poll(record_);
        if (polled == Poll::record) check();
        return polled;
    }
    // What a dead writer left, until its death is noticed by polling alone.
    void read_to_the_end() {
        const std::uint64_t heartbeat = reader_->heartbeat();
        bad_ += heartbeat <= rdtsc() ? 0U : 1U;
        const auto begin = std::chrono::steady_clock::now();
        while (poll() != Poll::writer_dead) continue;
        slowest_ = std::max(slowest_, std::chrono::steady_clock::now() - begin);
        bad_ += reader_->heartbeat() == heartbeat ? 0U : 1U;
        deaths_ += 1;
    }
    // The table of a dead writer: each entry whole, or the one that it died in.
    void check_table() {
        const auto who = reader_->header().writer_pid;
        unsigned busy = 0;
        for (std::uint32_t i = 0; i < reader_->instruments(); ++i) {
            const Latest latest = reader_->latest(i, record_);
            if (latest == Latest::ok) bad_ += test::is_whole(record_, who) ? 0U : 1U;
            busy += latest == Latest::busy ? 1U : 0U;
        }
        bad_ += busy <= 1 ? 0U : 1U;
        torn_ += busy;
    }
    [[nodiscard]] Reader& reader() { return *reader_; }
    [[nodiscard]] bool attached() const { return reader_.has_value(); }

    std::uint64_t records_ = 0, bad_ = 0, lives_ = 0, deaths_ = 0, torn_ = 0;
    std::chrono::steady_clock::duration slowest_{0};

private:
    void begin_life() {
        lives_ += 1;
        next_.reset();
        lost_ = reader_->lost();
    }
    void check() {
        records_ += 1;
        bad_ += test::is_whole(record_, reader_->header().writer_pid) ? 0U : 1U;
        if (record_.from_table()) return;
        const std::uint64_t n = record_.sequence, lost = reader_->lost();
        // After a join by the table the ring's snapshots that it had are left out.
        if (next_ && join_table_) bad_ += n >= *next_ ? 0U : 1U;
        if (next_ && !join_table_) bad_ += n == *next_ + (lost - lost_) ? 0U : 1U;
        next_ = n + 1;
        lost_ = lost;
    }

    std::string directory_;
    Resume resume_;
    bool join_table_;
    std::optional<Reader> reader_;
    Record record_;
    std::optional<std::uint64_t> next_;
    std::uint64_t lost_ = 0;
};

}  // namespace

TEST_CASE("ring: a writer killed at any moment shows nothing torn, and its successor is found",
          "[ring][process]") {
    const TemporaryFolder folder;
    SegmentOptions options = small_segment(folder.path());
    options.geometry.slots = 256;
    std::mt19937_64 random(test::random_seed());
    const int kills = test::long_tests() ? 10'000 : (test::instrumented ? 200 : 500);
    Follower late(folder.path(), Resume::table, true), exact(folder.path(), Resume::oldest, false);
    for (int kill = 0; kill < kills; ++kill) {
        const pid_t child = start_writer(options, 0);
        const auto who = static_cast<std::uint64_t>(child);
        const auto patience = std::chrono::microseconds(random() % 2000);
        // Every fifth is killed while it starts, the others some time after it was found.
        auto end = std::chrono::steady_clock::now() + patience;
        bool running = kill % 5 == 0;
        for (;;) {
            const bool found = late.follows(who) && exact.follows(who);
            if (found && !running) {
                end = std::chrono::steady_clock::now() + patience;
                running = true;
            }
            if (running && std::chrono::steady_clock::now() >= end) break;
            for (Follower* follower : {&late, &exact}) {
                if (follower->follows(who))
                    (void)follower->poll();
                else
                    follower->find();
            }
        }
        ::kill(child, SIGKILL);
        (void)wait_for(child);
        for (Follower* follower : {&late, &exact}) {
            if (!follower->attached()) continue;
            CHECK_FALSE(follower->reader().writer_alive());
            if (!follower->follows(who)) continue;
            if (kill % 8 == 1) follower->read_to_the_end();
            follower->check_table();
        }
    }
    for (const Follower* follower : {&late, &exact}) {
        const auto slowest =
            std::chrono::duration_cast<std::chrono::milliseconds>(follower->slowest_);
        std::cerr << follower->records_ << " records of " << follower->lives_ << " lives, "
                  << follower->torn_ << " of them ended inside an entry; death noticed after "
                  << slowest.count() << " ms at the most\n";
        CHECK(follower->bad_ == 0);
        CHECK(follower->records_ > 0);
        CHECK(follower->lives_ > static_cast<std::uint64_t>(kills) / 2);
        CHECK(follower->deaths_ > 0);
        CHECK(slowest < std::chrono::seconds(10));  // 20 ms, and what the machine makes of it
    }
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
    Writer writer = test::must_create(small_segment(folder.path()));
    test::add_instruments(writer);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        std::signal(SIGSEGV, SIG_DFL);
        Reader reader = test::must_attach(folder.path());
        auto& header = const_cast<SegmentHeader&>(reader.header());
        // Nor can it get the right to.
        if (::mprotect(&header, sizeof(header), PROT_READ | PROT_WRITE) == 0) std::_Exit(0);
        header.published.store(7, std::memory_order_relaxed);
        std::_Exit(0);
    }
    const int status = wait_for(child);
    CHECK(WIFSIGNALED(status));
    Reader reader = test::must_attach(folder.path());
    CHECK(reader.header().published.load() == 0);
    Record record;
    test::publish(writer, record, 1);
    REQUIRE(reader.poll(record) == Poll::record);
    CHECK(is_whole(record, 1));
}

TEST_CASE("ring: a reader that is killed leaves nothing behind", "[ring][process]") {
    const TemporaryFolder folder;
    Writer writer = test::must_create(small_segment(folder.path()));
    test::add_instruments(writer);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        Reader reader = test::must_attach(folder.path());
        Record record;
        for (;;) (void)reader.poll(record);
    }
    Record record;
    for (int n = 0; n < 10'000; ++n) {
        test::publish(writer, record, 1);
        if (n == 5'000) ::kill(child, SIGKILL);
    }
    CHECK(WIFSIGNALED(wait_for(child)));
    CHECK(writer.next_sequence() == 10'000);
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path()))
        files += 1;
    CHECK(files == 1);
    CHECK(test::must_attach(folder.path()).writer_alive());
}
