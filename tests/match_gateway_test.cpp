// The engine's loop: who hears what, when, what is left out, restart, and sudden death.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <thread>

#include "match_gateway_rig.hpp"

using namespace wirebook;
using namespace wirebook::match;
using namespace wirebook::test;

namespace {

// A tape that keeps everything, and how far it was released at each report.
struct Tape {
    void on_report(const Report& report) noexcept { reports.push_back(report); }
    void on_released(std::uint64_t sequence) noexcept { released = sequence; }
    std::vector<Report> reports;
    std::uint64_t released = 0;
};

// A journal over a file, replayed into `engine`.
template <class Engine>
struct Life {
    Life(const std::string& path, std::uint64_t digest, Engine& engine,
         std::uint32_t ring_records = 4096)
        : arena(must_make_arena(std::size_t{8} << 20U)) {
        JournalOptions options;
        options.path = path;
        options.engine_digest = digest;
        options.ring_records = ring_records;
        auto opened = Journal::open(
            arena, options, [&](std::span<const Request> requests) { feed(engine, requests); });
        if (!opened) FAIL(opened.error().context);
        journal.emplace(std::move(opened).value());
    }
    void write_all() {
        while (journal->write_some() != 0) {
        }
    }
    Arena arena;
    std::optional<Journal> journal;
};

GatewayOptions small_gateway(std::uint32_t producers) {
    GatewayOptions options;
    options.producers = producers;
    options.in_flight = 16;
    options.ack_records = 64;
    options.batch = 8;
    return options;
}

template <class Engine, class AnyTape>
Gateway<Engine, AnyTape> must_make(Arena& arena, const GatewayOptions& options, Engine& engine,
                                   Journal* journal, AnyTape& tape) {
    auto made = Gateway<Engine, AnyTape>::create(arena, options, engine, journal, tape);
    if (!made) FAIL(made.error().context);
    return std::move(made).value();
}

Request request_of(std::uint64_t id, std::uint64_t resting_producer = 0) {
    Request request;
    request.order_id = id;
    request.display = resting_producer;  // see HashEngine
    return request;
}

std::vector<Ack> read_all(Producer& producer) {
    std::vector<Ack> acks;
    Ack ack{};
    while (producer.poll(ack)) acks.push_back(ack);
    return acks;
}

}  // namespace

TEST_CASE("gateway: reports go to whom they concern, in the engine's order", "[match]") {
    Arena arena = must_make_arena(std::size_t{4} << 20U);
    HashEngine engine;
    Tape tape;
    auto gateway = must_make(arena, small_gateway(2), engine, nullptr, tape);
    std::array<Producer, 2> producers = {gateway.producer(0), gateway.producer(1)};
    CHECK(gateway.poll() == 0);
    // Requests 1, 2, 4 are accepted, 3 is rejected, 4 trades with an order of producer 1.
    REQUIRE(producers[0].push(request_of(10)) == PushResult::pushed);
    REQUIRE(producers[1].push(request_of(20)) == PushResult::pushed);
    REQUIRE(producers[0].push(request_of(11)) == PushResult::pushed);
    REQUIRE(producers[0].push(request_of(12, 1)) == PushResult::pushed);
    CHECK(gateway.poll() == 4);
    const auto first = read_all(producers[0]);
    const auto second = read_all(producers[1]);
    const auto are = [](const std::vector<Ack>& acks, std::vector<ReportKind> kinds,
                        std::vector<std::uint64_t> sequences) {
        std::vector<ReportKind> got;
        std::vector<std::uint64_t> at;
        for (const Ack& ack : acks) got.push_back(ack.report.kind), at.push_back(ack.sequence);
        return got == kinds && at == sequences;
    };
    using Kind = ReportKind;
    CHECK(are(
        first,
        {Kind::accepted, Kind::added, Kind::rejected, Kind::accepted, Kind::added, Kind::executed},
        {1, 1, 3, 4, 4, 4}));
    CHECK(are(second, {Kind::accepted, Kind::added, Kind::executed}, {2, 2, 4}));
    CHECK(first[5].report.contra_order_id == 12);
    CHECK(second[2].report.order_id == 11);
    CHECK(tape.reports.size() == 8);
    CHECK(gateway.counters().delivered == 9);
    CHECK(tape.released == 4);
}

TEST_CASE("gateway: who entered an order hears what another producer did to it", "[match]") {
    Arena arena = must_make_arena(std::size_t{4} << 20U);
    RealEngine engine;
    NoTape tape;
    auto gateway = must_make(arena, small_gateway(2), *engine, nullptr, tape);
    Producer owner = gateway.producer(0);
    Producer other = gateway.producer(1);
    Request open;
    open.kind = RequestKind::set_state;
    open.state = TradingState::continuous;
    Request enter;
    enter.order_id = 7;
    enter.price = 1'000;
    enter.quantity = 100;
    Request cancel;
    cancel.kind = RequestKind::cancel;
    cancel.order_id = 7;
    REQUIRE(owner.push(open) == PushResult::pushed);
    REQUIRE(owner.push(enter) == PushResult::pushed);
    REQUIRE(other.push(cancel) == PushResult::pushed);
    CHECK(gateway.poll() == 3);
    const auto answered = read_all(other);
    REQUIRE(answered.size() == 1);
    CHECK(answered[0].report.kind == ReportKind::removed);
    CHECK(is_acknowledgement(answered[0].report));
    const auto heard = read_all(owner);
    REQUIRE(heard.size() == 4);  // accepted, state_changed, added, removed
    CHECK(heard[3].report.kind == ReportKind::removed);
    CHECK_FALSE(is_acknowledgement(heard[3].report));
    CHECK(owner.unacknowledged() == 0);
    CHECK(other.unacknowledged() == 0);
}

TEST_CASE("gateway: a report for a producer that is not there is counted", "[match]") {
    Arena arena = must_make_arena(std::size_t{4} << 20U);
    HashEngine engine;
    NoTape tape;
    auto gateway = must_make(arena, small_gateway(1), engine, nullptr, tape);
    Producer producer = gateway.producer(0);
    for (std::uint64_t i = 1; i <= 4; ++i)
        REQUIRE(producer.push(request_of(i, 77)) == PushResult::pushed);
    CHECK(gateway.poll() == 4);
    CHECK(gateway.counters().nobody == 1);
    CHECK(read_all(producer).back().report.kind == ReportKind::executed);  // its own side
}

TEST_CASE("gateway: nothing leaves before the journal holds it, unless asked to", "[match]") {
    for (const bool wait : {true, false}) {
        const JournalFolder folder;
        Arena arena = must_make_arena(std::size_t{4} << 20U);
        HashEngine engine;
        Life<HashEngine> life(folder.file(), 1, engine);
        Tape tape;
        GatewayOptions options = small_gateway(1);
        options.wait_for_journal = wait;
        auto gateway = must_make(arena, options, engine, &*life.journal, tape);
        Producer producer = gateway.producer(0);
        for (std::uint64_t i = 1; i <= 5; ++i)
            REQUIRE(producer.push(request_of(i)) == PushResult::pushed);
        CHECK(gateway.poll() == 5);
        CHECK(gateway.poll() == 0);
        CHECK(read_all(producer).empty() == wait);
        CHECK(tape.released == (wait ? 0 : 5));
        life.write_all();
        CHECK(read_all(producer).empty());
        CHECK(gateway.poll() == 0);
        CHECK(read_all(producer).empty() == !wait);
        CHECK(tape.released == 5);
        CHECK(gateway.released() == 5);
    }
}

TEST_CASE("gateway: a journal that does not get on leaves requests in the queue, none is lost",
          "[match]") {
    const JournalFolder folder;
    Arena arena = must_make_arena(std::size_t{4} << 20U);
    HashEngine engine;
    Life<HashEngine> life(folder.file(), 1, engine, 4);
    NoTape tape;
    auto gateway = must_make(arena, small_gateway(1), engine, &*life.journal, tape);
    Producer producer = gateway.producer(0);
    for (std::uint64_t i = 1; i <= 16; ++i)
        REQUIRE(producer.push(request_of(i)) == PushResult::pushed);
    CHECK(producer.push(request_of(17)) == PushResult::no_credit);
    CHECK(gateway.poll() == 4);
    CHECK(gateway.poll() == 0);
    CHECK(gateway.counters().journal_full == 1);
    for (int i = 0; i < 3; ++i) {
        life.write_all();
        CHECK(gateway.poll() == 4);
    }
    life.write_all();
    CHECK(gateway.poll() == 0);
    std::uint64_t acknowledged = 0;
    for (const Ack& ack : read_all(producer))
        acknowledged += is_acknowledgement(ack.report) ? 1U : 0U;
    CHECK(acknowledged == 16);
    CHECK(producer.unacknowledged() == 0);
}

TEST_CASE("gateway: a producer that reads nothing stops only itself", "[match]") {
    Arena arena = must_make_arena(std::size_t{4} << 20U);
    HashEngine engine;
    NoTape tape;
    auto gateway = must_make(arena, small_gateway(2), engine, nullptr, tape);
    Producer deaf = gateway.producer(0), reading = gateway.producer(1);
    std::uint64_t refused = 0, read = 0;
    for (std::uint64_t i = 0; i < 2000; ++i) {
        refused += deaf.push(request_of(i, 0)) == PushResult::no_credit ? 1U : 0U;
        REQUIRE(reading.push(request_of(i, 0)) == PushResult::pushed);
        while (gateway.poll() != 0) {
        }
        for (const Ack& ack : read_all(reading)) read += is_acknowledgement(ack.report) ? 1U : 0U;
    }
    CHECK(refused == 2000 - 16);
    CHECK(read == 2000);
    CHECK(reading.lost() == 0);
    const auto late = read_all(deaf);
    CHECK(std::count_if(late.begin(), late.end(),
                        [](const Ack& ack) { return is_acknowledgement(ack.report); }) == 16);
    CHECK(gateway.counters().lost > 0);
    REQUIRE(deaf.push(request_of(1)) == PushResult::pushed);
    CHECK(gateway.poll() == 1);
    CHECK(read_all(deaf)[0].lost == gateway.counters().lost);
}

TEST_CASE("gateway: options out of range are errors", "[match]") {
    Arena arena = must_make_arena(std::size_t{4} << 20U);
    HashEngine engine;
    NoTape tape;
    const auto fault = [&](auto change) {
        GatewayOptions options = small_gateway(2);
        change(options);
        return !Gateway<HashEngine>::create(arena, options, engine, nullptr, tape).ok();
    };
    CHECK(fault([](GatewayOptions& o) { o.producers = 0; }));
    CHECK(fault([](GatewayOptions& o) { o.producers = 70'000; }));
    CHECK(fault([](GatewayOptions& o) { o.in_flight = 0; }));
    CHECK(fault([](GatewayOptions& o) { o.in_flight = 1U << 20U; }));
    CHECK(fault([](GatewayOptions& o) { o.ack_records = 16; }));
    CHECK(fault([](GatewayOptions& o) { o.ack_records = 65; }));
    CHECK(fault([](GatewayOptions& o) { o.queue_slots = 3; }));
    CHECK(fault([](GatewayOptions& o) { o.batch = 0; }));
    CHECK(fault([](GatewayOptions& o) { o.ack_records = 1U << 30U; }));  // no room
    CHECK_FALSE(fault([](GatewayOptions&) {}));
}

TEST_CASE("gateway: bytes_needed is enough, exactly as given", "[match]") {
    for (const std::uint32_t producers : {1U, 3U, 16U}) {
        const GatewayOptions options = small_gateway(producers);
        using Made = Gateway<HashEngine>;
        auto arena = Arena::create({.bytes = Made::bytes_needed(options), .hugetlb = false});
        REQUIRE(arena.ok());
        HashEngine engine;
        NoTape tape;
        CHECK(Made::create(arena.value(), options, engine, nullptr, tape).ok());
        CHECK(arena.value().bytes_used() <= Made::bytes_needed(options));
    }
}

TEST_CASE("gateway: threads at full speed; the journal makes the same engine again", "[match]") {
    const JournalFolder folder;
    constexpr std::uint32_t producers = 3;
    constexpr std::uint64_t requests = 10'000;
    Arena arena = must_make_arena(std::size_t{4} << 20U);
    HashEngine engine;
    {
        Life<HashEngine> life(folder.file(), 1, engine);
        NoTape tape;
        auto gateway = must_make(arena, small_gateway(producers), engine, &*life.journal, tape);
        std::atomic<bool> stop{false}, stop_writer{false};
        std::thread loop([&] { gateway.run(stop); });
        std::thread writer([&] { life.journal->run(stop_writer, 20); });
        std::vector<std::thread> threads;
        std::vector<std::uint64_t> wrong(producers);
        for (std::uint16_t p = 0; p < producers; ++p) {
            threads.emplace_back([&, p] {
                Producer producer = gateway.producer(p);
                Ack ack{};
                std::uint64_t read = 0;
                while (read < requests) {
                    const std::uint64_t id = producer.pushed();
                    if (id == requests ||
                        producer.push(request_of(id, (p + 1) % producers)) != PushResult::pushed)
                        std::this_thread::yield();
                    while (producer.poll(ack)) {
                        if (!is_acknowledgement(ack.report)) continue;
                        wrong[p] += ack.report.order_id == read ? 0U : 1U;
                        read += 1;
                    }
                }
            });
        }
        for (std::thread& thread : threads) thread.join();
        stop.store(true, std::memory_order_release);
        loop.join();
        stop_writer.store(true, std::memory_order_release);
        writer.join();
        for (const std::uint64_t count : wrong) CHECK(count == 0);
        CHECK(gateway.counters().taken == producers * requests);
        CHECK(gateway.released() == producers * requests);
    }
    HashEngine again;
    const Life<HashEngine> life(folder.file(), 1, again);
    CHECK(life.journal->recovered().records == producers * requests);
    CHECK(again.state_hash() == engine.state_hash());
}

TEST_CASE("gateway: a real engine is made again from every prefix of its journal", "[match][big]") {
    const JournalFolder folder;
    constexpr std::uint64_t requests = 150;
    std::vector<std::uint64_t> hashes;
    {
        RealEngine engine;
        Arena arena = must_make_arena(std::size_t{4} << 20U);
        Life<Engine> life(folder.file(), RealEngine::digest(), *engine);
        NoTape tape;
        auto gateway = must_make(arena, small_gateway(1), *engine, &*life.journal, tape);
        Producer producer = gateway.producer(0);
        RequestStream stream(test_seed(), test_instruments);
        hashes.push_back(engine->state_hash());
        for (std::uint64_t i = 0; i < requests; ++i) {
            REQUIRE(producer.push(stream.next()) == PushResult::pushed);
            REQUIRE(gateway.poll() == 1);
            life.write_all();
            hashes.push_back(engine->state_hash());
            (void)gateway.poll();
            (void)read_all(producer);
        }
    }
    const std::string whole = read_file(folder.file());
    REQUIRE(whole.size() == 64 + requests * 80);
    for (std::size_t size = 0; size <= whole.size(); ++size) {
        const std::size_t records = size < 64 ? 0 : (size - 64) / 80;
        const std::size_t at = (size + 16) % 80;  // in its record
        if (at > 1 && at < 79 && size % 13 != 0) continue;
        write_file(folder.file(), whole.substr(0, size));
        RealEngine again;
        const Life<Engine> life(folder.file(), RealEngine::digest(), *again);
        REQUIRE(life.journal->recovered().records == records);
        REQUIRE(again->state_hash() == hashes[records]);
    }
}
