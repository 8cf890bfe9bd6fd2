// The queue and the rings at work: what they return when full or empty, and threads at full speed.
#include <catch2/catch.hpp>
#include <memory>
#include <thread>
#include <vector>

#include "wirebook/match/producer.hpp"

using namespace wirebook;
using namespace wirebook::match;

namespace {

using Queue = QueueView<HardwareMemory>;
using Taker = QueueTaker<HardwareMemory>;

// A queue in memory of its own.
struct OwnQueue {
    OwnQueue(std::uint64_t slot_count, std::size_t cell_count)
        : slots(slot_count * Queue::slot_stride), cells(cell_count) {
        view = {slots.data(), slot_count, &tail, cells.data(), cell_count};
    }
    std::vector<HardwareMemory::Word> slots;
    std::vector<Queue::Cell> cells;
    alignas(false_sharing_bytes) HardwareMemory::Word tail{0};
    Queue view;
};

// A ring of reports in memory of its own.
struct OwnRing {
    explicit OwnRing(std::uint64_t slot_count) : slots(slot_count) {
        place = {slots.data(), slot_count, &published, &consumed};
    }
    std::vector<HardwareMemory::Cell<Ack>> slots;
    alignas(false_sharing_bytes) HardwareMemory::Word published{0};
    alignas(false_sharing_bytes) HardwareMemory::Word consumed{0};
    RingPlace<HardwareMemory, Ack> place;
};

Request request_of(std::uint64_t id) {
    Request request;
    request.order_id = id;
    request.price = static_cast<std::int64_t>(id * 3);
    request.quantity = ~id;
    return request;
}
bool is_whole(const Request& request) {
    return request.quantity == ~request.order_id &&
           request.price == static_cast<std::int64_t>(request.order_id * 3);
}
Report report_of(ReportKind kind, std::uint64_t id = 0) {
    Report report;
    report.kind = kind;
    report.order_id = id;
    if (kind == ReportKind::accepted) report.flags = match::report_flag::answer;
    return report;
}

}  // namespace

TEST_CASE("queue: requests come out in their order, in batches of what there is", "[match]") {
    OwnQueue own(8, 8);
    Taker taker(own.view);
    std::vector<Request> out(4);
    CHECK(taker.take(out) == 0);
    for (std::uint64_t lap = 0; lap < 5; ++lap) {
        for (std::uint64_t i = 0; i < 6; ++i)
            REQUIRE(push_request(own.view, i, request_of(lap * 6 + i)));
        CHECK(taker.take(out) == 4);
        for (std::uint64_t i = 0; i < 4; ++i) CHECK(out[i].order_id == lap * 6 + i);
        CHECK(taker.take(out) == 2);
        CHECK(out[1].order_id == lap * 6 + 5);
        CHECK(taker.take(out) == 0);
    }
    CHECK(taker.taken() == 30);
}

TEST_CASE("queue: a full one refuses and keeps what it has", "[match]") {
    for (const std::uint64_t slots : {1U, 2U, 16U}) {
        OwnQueue own(slots, slots + 1);
        Taker taker(own.view);
        for (std::uint64_t i = 0; i < slots; ++i) REQUIRE(push_request(own.view, i, request_of(i)));
        CHECK_FALSE(push_request(own.view, slots, request_of(99)));
        CHECK_FALSE(push_request(own.view, slots, request_of(99)));
        std::vector<Request> out(slots);
        CHECK(taker.take({out.data(), 1}) == 1);
        CHECK(out[0].order_id == 0);
        CHECK(push_request(own.view, 0, request_of(slots)));
        CHECK_FALSE(push_request(own.view, slots, request_of(99)));
        CHECK(taker.take(out) == slots);
        CHECK(out.back().order_id == slots);
    }
}

TEST_CASE("producer: it has as many requests under way as it has credit for", "[match]") {
    OwnQueue own(8, 8);
    OwnRing ring(16);
    Producer producer(own.view, ring.place, 1, 4);  // cells 4 to 7
    AckWriter writer(ring.place, 4);
    Taker taker(own.view);
    std::vector<Request> out(8);
    Ack ack{};
    for (std::uint64_t round = 0; round < 10; ++round) {
        for (std::uint64_t i = 0; i < 4; ++i)
            CHECK(producer.push(request_of(i)) == PushResult::pushed);
        CHECK(producer.push(request_of(9)) == PushResult::no_credit);
        REQUIRE(taker.take(out) == 4);
        CHECK(out[3].producer == 1);
        CHECK(out[3].order_id == 3);
        CHECK(producer.push(request_of(9)) == PushResult::no_credit);  // taken is not acknowledged
        for (std::uint64_t i = 1; i <= 4; ++i)
            writer.acknowledge(report_of(ReportKind::accepted), 4 * round + i);
        CHECK_FALSE(producer.poll(ack));  // not released
        writer.release(4 * round + 2);
        CHECK(producer.poll(ack));
        CHECK(producer.poll(ack));
        CHECK(ack.sequence == 4 * round + 2);
        CHECK_FALSE(producer.poll(ack));
        writer.release(4 * round + 4);
        CHECK(producer.poll(ack));
        CHECK(producer.poll(ack));
        CHECK(producer.unacknowledged() == 0);
    }
}

TEST_CASE("acks: a producer that does not read misses reports, counted, but no acknowledgement",
          "[match]") {
    OwnQueue own(4, 4);
    OwnRing ring(8);
    Producer producer(own.view, ring.place, 0, 4);
    AckWriter writer(ring.place, 4);
    Taker taker(own.view);
    std::vector<Request> out(4);
    for (std::uint64_t i = 0; i < 10; ++i)
        CHECK(writer.deliver(report_of(ReportKind::executed, i), 0) == (i < 4));
    CHECK(writer.lost() == 6);
    for (std::uint64_t i = 1; i <= 4; ++i) {
        REQUIRE(producer.push(request_of(i)) == PushResult::pushed);
        REQUIRE(taker.take(out) == 1);
        writer.acknowledge(report_of(ReportKind::accepted, i), i);
    }
    writer.release(4);
    CHECK(producer.push(request_of(5)) == PushResult::no_credit);
    Ack ack{};
    for (std::uint64_t i = 0; i < 4; ++i) {
        REQUIRE(producer.poll(ack));
        CHECK(ack.report.order_id == i);
        CHECK(ack.lost == 0);
    }
    for (std::uint64_t i = 1; i <= 4; ++i) {
        REQUIRE(producer.poll(ack));
        CHECK(ack.report.kind == ReportKind::accepted);
        CHECK(ack.sequence == i);
        CHECK(ack.lost == 6);  // before it
    }
    CHECK(producer.lost() == 6);
    CHECK(writer.deliver(report_of(ReportKind::executed, 7), 4));
}

TEST_CASE("queue: producers at full speed lose nothing and keep their order", "[match]") {
    constexpr std::size_t producers = 4;
    constexpr std::uint64_t requests = 10'000, cells = 8;
    for (const std::uint64_t slots : {2U, 32U}) {
        OwnQueue own(slots, producers * cells);
        std::vector<std::unique_ptr<OwnRing>> rings;
        std::vector<AckWriter> writers;
        for (std::size_t p = 0; p < producers; ++p) {
            rings.push_back(std::make_unique<OwnRing>(16));
            writers.emplace_back(rings[p]->place, cells);
        }
        std::vector<std::uint64_t> bad(producers);
        std::vector<std::thread> threads;
        for (std::size_t p = 0; p < producers; ++p) {
            threads.emplace_back([&, p] {
                Producer producer(own.view, rings[p]->place, static_cast<std::uint16_t>(p), cells);
                Ack ack{};
                std::uint64_t read = 0;
                while (read < requests) {
                    const bool more = producer.pushed() < requests;
                    if (!more || producer.push(request_of(producer.pushed())) != PushResult::pushed)
                        std::this_thread::yield();
                    while (producer.poll(ack)) {
                        bad[p] += ack.report.order_id == read ? 0U : 1U;
                        read += 1;
                    }
                }
            });
        }
        Taker taker(own.view);
        std::vector<Request> out(16);
        std::vector<std::uint64_t> next(producers);
        std::uint64_t sequence = 0, wrong = 0;
        while (taker.taken() < producers * requests) {
            const std::size_t count = taker.take(out);
            if (count == 0) std::this_thread::yield();
            for (std::size_t i = 0; i < count; ++i) {
                const Request& request = out[i];
                wrong += is_whole(request) && request.order_id == next[request.producer] ? 0U : 1U;
                next[request.producer] += 1;
                sequence += 1;
                const Report report = report_of(ReportKind::accepted, request.order_id);
                writers[request.producer].acknowledge(report, sequence);
            }
            for (AckWriter& writer : writers) writer.release(sequence);
        }
        for (std::thread& thread : threads) thread.join();
        CHECK(wrong == 0);
        for (std::size_t p = 0; p < producers; ++p) {
            CHECK(bad[p] == 0);
            CHECK(next[p] == requests);
        }
    }
}
