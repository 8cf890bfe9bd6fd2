// An exchange that is killed with SIGKILL at random moments and started again from its journal,
// over and over. The child tells through shared memory what was acknowledged and what its engine's
// state was after how many requests; the parent holds both against the file. WIREBOOK_SEED.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <memory>
#include <thread>

#include "match_gateway_rig.hpp"

using namespace wirebook;
using namespace wirebook::match;
using namespace wirebook::test;

namespace {

constexpr std::uint16_t producers = 2;
constexpr std::size_t entries = 1U << 14U;

// What one life leaves in shared memory: lists that grow, each with its count stored last.
struct Heard {
    std::uint64_t sequence, order_id;
};
struct State {
    std::uint64_t requests, hash;
};
struct Diary {
    std::atomic<std::uint64_t> running;
    std::array<std::atomic<std::uint64_t>, producers> acknowledged;
    std::atomic<std::uint64_t> states;
    std::array<std::array<Heard, entries>, producers> heard;
    std::array<State, entries> state;
};

class SharedDiary {
public:
    SharedDiary()
        : memory_(::mmap(nullptr, sizeof(Diary), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                         -1, 0)) {
        REQUIRE(memory_ != MAP_FAILED);
    }
    ~SharedDiary() { ::munmap(memory_, sizeof(Diary)); }
    SharedDiary(const SharedDiary&) = delete;
    SharedDiary& operator=(const SharedDiary&) = delete;
    void clear() { std::memset(memory_, 0, sizeof(Diary)); }
    Diary* operator->() { return static_cast<Diary*>(memory_); }

private:
    void* memory_;
};

void produce(Producer producer, std::uint64_t seed, std::uint64_t first_id, Diary& diary) {
    RequestStream stream(seed, test_instruments, first_id);
    const std::uint16_t self = producer.index();
    Request request = stream.next();
    Ack ack{};
    for (std::uint64_t count = 0; count < entries;) {
        if (producer.push(request) == PushResult::pushed)
            request = stream.next();
        else
            std::this_thread::yield();
        while (producer.poll(ack)) {
            if (!is_acknowledgement(ack.report) || count == entries) continue;
            // A replacement's answer has the new order's id, and the request's beside it.
            const bool replaced = ack.report.kind == match::ReportKind::replaced;
            diary.heard[self][count] = {
                ack.sequence, replaced ? ack.report.contra_order_id : ack.report.order_id};
            diary.acknowledged[self].store(++count, std::memory_order_release);
        }
    }
    for (;;) std::this_thread::yield();
}

struct LifeOptions {
    std::string path;
    std::uint64_t seed, number;
    bool durable;
};

void tell_state(Diary& diary, std::uint64_t requests, std::uint64_t hash) {
    const std::uint64_t count = diary.states.load(std::memory_order_relaxed);
    if (count == entries) return;
    diary.state[count] = {requests, hash};
    diary.states.store(count + 1, std::memory_order_release);
}

// The child. Ends by being killed; by an abort if anything is wrong in it.
[[noreturn]] void live(const LifeOptions& life, Diary& diary) noexcept {
    RealEngine engine;
    Arena arena = must_make_arena(std::size_t{8} << 20U);
    JournalOptions journal_options;
    journal_options.path = life.path;
    journal_options.engine_digest = RealEngine::digest();
    journal_options.durable = life.durable;
    journal_options.ring_records = 256;
    auto journal = Journal::open(arena, journal_options,
                                 [&](std::span<const Request> r) { feed(*engine, r); });
    if (!journal) std::_Exit(3);
    GatewayOptions options;
    options.producers = producers;
    options.in_flight = 32;
    options.ack_records = 256;
    NoTape tape;
    auto gateway = Gateway<Engine>::create(arena, options, *engine, &journal.value(), tape);
    if (!gateway) std::_Exit(4);
    const std::atomic<bool> never{false};
    std::thread writer([&] { journal.value().run(never, 0); });
    std::vector<std::thread> threads;
    for (std::uint16_t p = 0; p < producers; ++p)
        threads.emplace_back([&, p] {
            const std::uint64_t first_id = life.number << 32U | std::uint64_t{p} << 28U;
            produce(gateway.value().producer(p), life.seed + p, first_id, diary);
        });
    tell_state(diary, gateway.value().applied(), engine->state_hash());
    diary.running.store(1, std::memory_order_release);
    for (std::uint64_t round = 0;;) {
        if (gateway.value().poll() == 0) {
            std::this_thread::yield();
            continue;
        }
        if (++round % 2 == 0) tell_state(diary, gateway.value().applied(), engine->state_hash());
    }
}

// The parent's engine, which follows the file from life to life.
class Follower {
public:
    // Reads the file and checks what the last life left behind. Returns the requests in it.
    std::uint64_t check(const std::string& path, SharedDiary& diary) {
        std::vector<Request> requests;
        const auto read = read_journal(path, RealEngine::digest(), [&](auto part) {
            requests.insert(requests.end(), part.begin(), part.end());
        });
        if (!read && read.error().code == ENOENT) return 0;  // killed before it made one
        if (!read) FAIL(read.error().context);
        REQUIRE(requests.size() >= fed_);  // what was read once stays
        std::uint64_t state = 0;
        const std::uint64_t states = diary->states.load(std::memory_order_acquire);
        for (;; ++fed_) {
            for (; state < states && diary->state[state].requests == fed_; ++state)
                REQUIRE(diary->state[state].hash == engine_->state_hash());
            if (fed_ == requests.size()) break;
            feed(*engine_, {&requests[fed_], 1});
        }
        for (; state < states; ++state) REQUIRE(diary->state[state].requests > requests.size());
        states_ += states;
        for (std::size_t p = 0; p < producers; ++p) {
            const std::uint64_t count = diary->acknowledged[p].load(std::memory_order_acquire);
            for (std::uint64_t i = 0; i < count; ++i) {
                const Heard& heard = diary->heard[p][i];
                REQUIRE(heard.sequence <= requests.size());
                const Request& request = requests[heard.sequence - 1];
                REQUIRE(request.order_id == heard.order_id);
                REQUIRE(request.producer == p);
            }
            acknowledged_ += count;
        }
        return requests.size();
    }
    [[nodiscard]] std::uint64_t hash() { return engine_->state_hash(); }
    [[nodiscard]] std::uint64_t acknowledged() const { return acknowledged_; }
    [[nodiscard]] std::uint64_t states() const { return states_; }

private:
    RealEngine engine_;
    std::uint64_t fed_ = 0, acknowledged_ = 0, states_ = 0;
};

void live_and_die(int lives, bool durable) {
    const JournalFolder folder;
    std::mt19937_64 random(test_seed());
    SharedDiary diary;
    Follower follower;
    std::uint64_t requests = 0, unfinished = 0;
    for (int life = 1; life <= lives; ++life) {
        diary.clear();
        const LifeOptions options{folder.file(), random(), static_cast<std::uint64_t>(life),
                                  durable};
        const auto patience = std::chrono::microseconds(random() % 5000);
        const pid_t child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0) live(options, *diary.operator->());
        // Of five, one is killed while it starts, one when it runs, three when it has acknowledged.
        const auto waits = [&] {
            if (life % 5 == 0) return false;
            if (life % 5 == 1) return diary->running.load(std::memory_order_acquire) == 0;
            return diary->acknowledged[0].load(std::memory_order_acquire) == 0;
        };
        while (waits() && ::waitpid(child, nullptr, WNOHANG) == 0) std::this_thread::yield();
        std::this_thread::sleep_for(patience);
        ::kill(child, SIGKILL);
        int status = 0;
        REQUIRE(::waitpid(child, &status, 0) == child);
        REQUIRE(WIFSIGNALED(status));
        REQUIRE(WTERMSIG(status) == SIGKILL);
        const std::string bytes = read_file(folder.file());
        unfinished += bytes.size() > 64 && (bytes.size() - 64) % 80 != 0 ? 1U : 0U;
        requests = follower.check(folder.file(), diary);
    }
    RealEngine again;
    REQUIRE(read_journal(folder.file(), RealEngine::digest(), [&](auto part) {
                feed(*again, part);
            }).ok());
    CHECK(again->state_hash() == follower.hash());
    CHECK(follower.acknowledged() > 0);
    CHECK(follower.states() > 0);
    WARN(lives << " lives, " << requests << " requests in the journal, " << follower.acknowledged()
               << " acknowledged, " << follower.states() << " states compared, " << unfinished
               << " ends cut");
}

}  // namespace

TEST_CASE("gateway: an exchange killed 200 times has what it acknowledged, and its state",
          "[match][big]") {
    live_and_die(200, false);
}

TEST_CASE("gateway: the same where acknowledgements wait for the disk", "[match][big]") {
    live_and_die(20, true);
}
