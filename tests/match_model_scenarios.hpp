// Small programs of the queue and the staged ring on the model memory, each with what must never
// be seen. Each returns the number of executions explored and sets `fault` to a sentence when one
// broke the rule. Used by match_queue_model_test.cpp, and by match_mutants.cpp against weakened
// headers.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "model_memory.hpp"
#include "wirebook/match/producer.hpp"

namespace wirebook::test {

using match::PushResult;
using match::Report;
using match::ReportKind;
using match::Request;
using ModelProducer = match::BasicProducer<ModelMemory>;
using ModelAckWriter = match::BasicAckWriter<ModelMemory>;

constexpr int model_step_limit = 400;

inline Request model_request(std::uint64_t id) {
    Request request;
    request.order_id = id;
    request.quantity = ~id;
    return request;
}
inline bool is_whole(const Request& request) {
    return request.quantity == ~request.order_id;
}

struct ModelQueue {
    std::vector<ModelAtomic> slots;
    std::vector<ModelCell<Request>> cells;
    ModelAtomic tail;
    std::uint64_t slot_count;

    ModelQueue(std::uint64_t slots_wanted, std::size_t cell_count)
        : slots(slots_wanted * match::QueueView<ModelMemory>::slot_stride),
          cells(cell_count),
          slot_count(slots_wanted) {}
    match::QueueView<ModelMemory> view() {
        return {slots.data(), slot_count, &tail, cells.data(), cells.size()};
    }
};

struct ModelRing {
    std::array<ModelCell<match::Ack>, 4> slots;
    ModelAtomic published, consumed;
    std::uint64_t slot_count;

    explicit ModelRing(std::uint64_t slots_wanted) : slot_count(slots_wanted) {}
    match::RingPlace<ModelMemory, match::Ack> place() {
        return {slots.data(), slot_count, &published, &consumed};
    }
};

// What producers pushed and what the consumer took: ids are producer << 8 | its n-th, from 1.
struct QueueLog {
    std::array<std::uint64_t, 3> pushed{};  // successful ones, by producer
    std::array<std::uint64_t, 3> taken{};
    std::string fault;

    void take(const Request& request) {
        const std::uint64_t producer = request.order_id >> 8U;
        if (!is_whole(request) || producer >= taken.size()) {
            fault = "a torn or invented request was taken";
            return;
        }
        taken[producer] += 1;
        if ((request.order_id & 0xFFU) != taken[producer])
            fault = "a request was lost, taken twice, or overtook another of its producer";
    }
};

inline void finish(const QueueLog& log, std::string& fault) {
    if (!log.fault.empty()) fault = log.fault;
    if (ModelPlain::raced) fault = "a cell was read and written at the same time";
    ModelPlain::raced = false;
}

struct QueueProgram {
    std::uint64_t slots = 2;
    std::array<int, 2> pushes = {1, 1};  // of two producers, each into a cell of its own
    int takes = 2;                       // looks of the consumer while they run
    int kill_after = -1;                 // steps of producer 0; -1: it lives
    int preemptions = 1000;              // at most
};

// Every request that was pushed is taken, once, whole, in its producer's order, whatever the other
// producer does, or does not do any more.
inline std::uint64_t explore_queue(const QueueProgram& program, std::string& fault) {
    const bool kill = program.kill_after >= 0;
    return explore(Schedule::interleaved, [&](Machine& machine) {
        machine.limit_steps(model_step_limit);
        machine.limit_preemptions(program.preemptions);
        const auto cells = static_cast<std::size_t>(program.pushes[0] + program.pushes[1]);
        auto queue = std::make_shared<ModelQueue>(program.slots, cells);
        auto log = std::make_shared<QueueLog>();
        const auto produce = [queue, log, &program](std::size_t producer) {
            const std::size_t first =
                producer == 0 ? 0 : static_cast<std::size_t>(program.pushes[0]);
            for (int n = 0; n < program.pushes[producer]; ++n) {
                const std::uint64_t id = producer << 8U | (log->pushed[producer] + 1);
                const auto cell = first + static_cast<std::size_t>(n);
                if (match::push_request(queue->view(), cell, model_request(id)))
                    log->pushed[producer] += 1;
            }
        };
        const auto take = [log](match::QueueTaker<ModelMemory>& taker) {
            std::array<Request, 2> out;
            const std::size_t count = taker.take(out);
            for (std::size_t i = 0; i < count; ++i) log->take(out[i]);
            return count != 0;
        };
        auto taker = std::make_shared<match::QueueTaker<ModelMemory>>(queue->view());
        if (kill)
            machine.spawn([produce] { produce(0); }, program.kill_after);
        else
            machine.spawn([produce] { produce(0); });
        machine.spawn([produce] { produce(1); });
        machine.spawn([taker, take, &program] {
            for (int i = 0; i < program.takes; ++i) (void)take(*taker);
        });
        machine.spawn_after([queue, log, taker, take, kill] {
            while (take(*taker)) {
            }
            // Of one that was killed the last request may be in without its knowing.
            if (log->taken[1] != log->pushed[1] || log->taken[0] < log->pushed[0] ||
                log->taken[0] > log->pushed[0] + (kill ? 1U : 0U))
                log->fault = "what was taken is not what was pushed";
            // All is taken: there is room, and what is pushed now is the next that is taken.
            const std::uint64_t id = 2U << 8U | 1U;
            if (!match::push_request(queue->view(), 0, model_request(id)))
                log->fault = "an empty queue was full";
            if (!take(*taker) || log->taken[2] != 1)
                log->fault = "a request pushed after all the others was not taken";
        });
        return [log, &fault] { finish(*log, fault); };
    });
}

// A queue that nobody takes from is full after as many pushes as it has slots, not before.
inline std::uint64_t explore_full(int preemptions, std::string& fault) {
    return explore(Schedule::interleaved, [&, preemptions](Machine& machine) {
        machine.limit_steps(model_step_limit);
        machine.limit_preemptions(preemptions);
        auto queue = std::make_shared<ModelQueue>(2, 3);
        auto pushed = std::make_shared<int>(0);
        const auto push = [queue, pushed](std::size_t cell) {
            if (match::push_request(queue->view(), cell, model_request(cell))) *pushed += 1;
        };
        machine.spawn([push] { push(0), push(1); });
        machine.spawn([push] { push(2); });
        return [pushed, &fault] {
            if (*pushed != 2) fault = "two slots did not take two of three requests";
        };
    });
}

// The ring alone: records come whole and in their order, and a slot is written again only after it
// was read.
inline std::uint64_t explore_ring(std::uint64_t slots, int records, std::string& fault) {
    return explore(Schedule::interleaved, [&, slots, records](Machine& machine) {
        machine.limit_steps(model_step_limit);
        struct Run {
            explicit Run(std::uint64_t slots)
                : ring(slots), writer(ring.place()), reader(ring.place()) {}
            void read_one() {
                match::Ack record{};
                if (reader.available() == 0) return;
                reader.read(record);
                reader.consume();
                read += 1;
                if (record.sequence != read || record.lost != ~read)
                    fault = "a record was torn, lost, or read twice";
            }
            ModelRing ring;
            match::StagedWriter<ModelMemory, match::Ack> writer;
            match::StagedReader<ModelMemory, match::Ack> reader;
            std::uint64_t read = 0;
            std::string fault;
        };
        auto run = std::make_shared<Run>(slots);
        machine.spawn([run, records] {
            for (int i = 0; i < records; ++i) {
                if (run->writer.room(1) == 0) continue;
                const std::uint64_t n = run->writer.staged() + 1;
                run->writer.stage({{}, n, ~n, {}});
                run->writer.publish(n);
            }
        });
        machine.spawn([run, records] {
            for (int i = 0; i < records; ++i) run->read_one();
        });
        machine.spawn_after([run, slots, records] {
            for (int i = 0; i < records; ++i) run->read_one();
            if (run->read != run->writer.staged()) run->fault = "a published record was not read";
            if (run->writer.room(slots) != slots) run->fault = "an empty ring has no room";
        });
        return [run, &fault] {
            if (!run->fault.empty()) fault = run->fault;
            finish({}, fault);
        };
    });
}

// A producer with some cells, an engine that acknowledges and, in between, tells it something else:
// whole, in order, acknowledgements complete, the rest complete or counted as lost.
class AckCheck {
public:
    AckCheck(std::uint64_t ring_slots, std::uint32_t in_flight)
        : queue(2, in_flight),
          ring(ring_slots),
          producer(queue.view(), ring.place(), 0, in_flight),
          taker(queue.view()),
          writer(ring.place(), in_flight) {}

    void produce(int tries) {
        for (int i = 0; i < tries; ++i) {
            const auto result = producer.push(model_request(producer.pushed() + 1));
            if (result == PushResult::queue_full) fault = "a queue with room was full";
            read(1);
        }
    }
    void read(int most) {
        match::Ack ack{};
        for (int i = 0; i < most && producer.poll(ack); ++i) {
            if (ack.report.quantity != ~ack.report.reference || ack.lost < lost)
                fault = "a torn or invented report was read";
            if (ack.report.kind == ReportKind::accepted) acks += 1;
            if (ack.report.kind != ReportKind::accepted) others += 1;
            if (ack.report.kind == ReportKind::accepted && ack.sequence != acks)
                fault = "an acknowledgement was lost, or read twice";
            if (ack.sequence > released) fault = "a report was seen before it was released";
            lost = ack.lost;
        }
    }
    // One round of an engine. `late`: what the newest request caused is not released yet.
    void engine_round(bool late) {
        std::array<Request, 1> out;
        if (taker.take(out) == 1) {
            if (!is_whole(out[0])) fault = "a torn or invented request was taken";
            if (out[0].order_id != ++applied) fault = "a request was lost, or taken twice";
            writer.acknowledge(report(ReportKind::accepted), applied);
        }
        (void)writer.deliver(report(ReportKind::executed), applied);
        told += 1;
        if (!late) released = applied;  // before the words say so
        if (late && applied != 0) released = std::max(released, applied - 1);
        writer.release(released);
    }
    void end() {
        for (int i = 0; i < 3; ++i) engine_round(false), read(100);
        if (acks != producer.pushed() || producer.unacknowledged() != 0)
            fault = "a request has no acknowledgement";
        if (others + writer.lost() != told || lost > writer.lost())
            fault = "what was lost is not what was counted";
    }

    std::string fault;

private:
    Report report(ReportKind kind) {
        Report made;
        made.kind = kind;
        if (kind == ReportKind::accepted) made.flags = match::report_flag::answer;
        made.reference = ++reports;
        made.quantity = ~reports;
        return made;
    }
    ModelQueue queue;
    ModelRing ring;
    ModelProducer producer;
    match::QueueTaker<ModelMemory> taker;
    ModelAckWriter writer;
    std::uint64_t acks = 0, others = 0, told = 0, lost = 0, applied = 0, released = 0, reports = 0;
};

inline std::uint64_t explore_acks(std::uint64_t ring_slots, std::uint32_t in_flight, int rounds,
                                  int preemptions, std::string& fault) {
    return explore(Schedule::interleaved, [&, rounds, preemptions](Machine& machine) {
        machine.limit_steps(model_step_limit);
        machine.limit_preemptions(preemptions);
        auto check = std::make_shared<AckCheck>(ring_slots, in_flight);
        machine.spawn([check, rounds] { check->produce(rounds); });
        machine.spawn([check, rounds] {
            for (int i = 0; i < rounds; ++i) check->engine_round(i % 2 == 0);
        });
        machine.spawn_after([check] { check->end(); });
        return [check, &fault] {
            if (!check->fault.empty()) fault = check->fault;
            finish({}, fault);
        };
    });
}

}  // namespace wirebook::test
