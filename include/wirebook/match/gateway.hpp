// The engine's loop: requests from the queue into the journal and through the engine, reports back
// to the producers once the journal holds what they are about.
//
//   producers -> queue -> [journal ring ... writer's thread -> file] -> engine -> ack rings
//
// poll() does one round and never waits, allocates, or makes a system call; run() is poll() until
// told to stop. Whoever is slow keeps nobody else waiting: a producer that does not read misses
// reports (producer.hpp), a journal that does not get on leaves the requests in the queue, where
// the producers' credits bound them. Once the journal has failed nothing is taken any more and
// nothing is acknowledged that is not written.
//
// Who hears what: the acknowledgement and the market's reports (crosses, imbalances, states) go to
// the producer of the request; reports of an order to the producer that entered it (without
// report_flag::answer where the request was another's); an execution of a resting order to both
// sides' producers. The tape hears everything, when it happens.
//
// Tape: on_report(const Report&); and, if it has it, on_released(sequence): the journal holds all
// requests up to that one, what they caused may leave the house.
//
// May depend on core and book. poll, run, counters: the engine's thread. producer: before it runs.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "wirebook/core/arena.hpp"
#include "wirebook/core/base.hpp"
#include "wirebook/core/clock.hpp"
#include "wirebook/core/result.hpp"
#include "wirebook/match/journal.hpp"
#include "wirebook/match/producer.hpp"

namespace wirebook::match {

struct GatewayOptions {
    std::uint32_t producers = 1;       // up to 65,535
    std::uint32_t in_flight = 1024;    // requests a producer may have unacknowledged
    std::uint32_t ack_records = 4096;  // of a producer's ring: a power of two above in_flight
    std::uint32_t queue_slots = 0;     // a power of two; 0: so many that it cannot be full
    std::uint32_t batch = 64;          // requests a round takes at most
    bool wait_for_journal = true;      // false: acknowledges what may be lost at a crash
};

// Of the engine's thread.
struct GatewayCounters {
    std::uint64_t taken = 0;         // requests
    std::uint64_t rounds = 0;        // of those that took any
    std::uint64_t delivered = 0;     // reports into a producer's ring, acknowledgements among them
    std::uint64_t lost = 0;          // reports that a producer's ring had no room for
    std::uint64_t nobody = 0;        // reports of orders whose producer does not exist (any more)
    std::uint64_t journal_full = 0;  // rounds that could take nothing because the journal's ring
                                     // was full, or writing has failed
};

struct NoTape {
    void on_report(const Report&) noexcept {}
};

template <class Engine, class Tape = NoTape>
class Gateway {
public:
    // The arena gives `bytes_needed`. It, the engine, the tape and the journal outlive this.
    // `journal`: nullptr for none; else the engine has replayed it.
    [[nodiscard]] static Result<Gateway> create(Arena& arena, const GatewayOptions& options,
                                                Engine& engine, Journal* journal, Tape& tape) {
        if (auto valid = check(options); !valid) return valid.error();
        Gateway gateway(options, engine, journal, tape);
        if (!gateway.lay_out(arena))
            return Error{ENOMEM, "gateway: the arena has no room for the queue and the rings"};
        return gateway;
    }
    [[nodiscard]] static std::size_t bytes_needed(const GatewayOptions& options) noexcept {
        const std::size_t cells = std::size_t{options.producers} * options.in_flight;
        return slots_of(options) * cache_line_bytes + cells * sizeof(Cell) +
               (2 * std::size_t{options.producers} + 1) * false_sharing_bytes +
               std::size_t{options.producers} * options.ack_records * sizeof(Ack) +
               options.producers * sizeof(AckWriter) + options.batch * sizeof(Request) +
               8 * false_sharing_bytes;
    }

    // The ends of producer `index`; asked for once each.
    [[nodiscard]] Producer producer(std::uint16_t index) const noexcept {
        WIREBOOK_CHECK(index < options_.producers);
        return {queue_, ack_ring(index), index, options_.in_flight};
    }

    // One round. Returns how many requests were taken.
    std::size_t poll() noexcept {
        release();
        std::uint64_t most = options_.batch;
        if (journal_ != nullptr) {
            most = std::min(most, journal_->room(most));
            if (most == 0) counters_.journal_full += 1;
        }
        const std::size_t count = taker_.take(requests_.first(static_cast<std::size_t>(most)));
        if (count == 0) return 0;
        const std::span<const Request> batch = requests_.first(count);
        if (journal_ != nullptr) journal_->append(batch);
        Sink sink(*this, batch);
        apply(batch, sink);
        WIREBOOK_CHECK(sink.begun() == count);  // one acknowledgement a request
        counters_.taken += count;
        counters_.rounds += 1;
        release();
        return count;
    }

    // poll() until `stop`; then what the queue still holds, and until all of it is written and
    // acknowledged, or the journal has failed. Its writer has to run until this is back.
    void run(const std::atomic<bool>& stop) noexcept {
        for (;;) {
            // Both asked before the round: with all written, it took nothing because there is none.
            const bool last = stop.load(std::memory_order_acquire);
            const bool written = journal_ == nullptr || journal_->failed() ||
                                 journal_->written() == journal_->appended();
            if (poll() != 0) continue;
            if (last && written) return;
            pause();
        }
    }

    [[nodiscard]] const GatewayCounters& counters() const noexcept { return counters_; }
    // Sequences: of the newest request that went through the engine; of the newest whose reports
    // the producers may see.
    [[nodiscard]] std::uint64_t applied() const noexcept { return applied_; }
    [[nodiscard]] std::uint64_t released() const noexcept { return released_; }

private:
    using Word = HardwareMemory::Word;
    using Cell = HardwareMemory::Cell<Request>;
    using AckCell = HardwareMemory::Cell<Ack>;

    // What the engine reports to: finds out which request a report belongs to.
    class Sink {
    public:
        Sink(Gateway& gateway, std::span<const Request> batch) noexcept
            : gateway_(gateway), batch_(batch) {}

        void on_report(const Report& report) noexcept {
            gateway_.tape_->on_report(report);
            if (!is_acknowledgement(report)) return gateway_.route(report, request_producer_);
            WIREBOOK_CHECK(begun_ < batch_.size());
            request_producer_ = batch_[begun_].producer;
            begun_ += 1;
            gateway_.acknowledge(report, request_producer_);
            if (is_change_of_order(report.kind) && report.producer != request_producer_) {
                // Whoever entered the order hears what another did to it; it answers nothing there.
                Report change = report;
                change.flags = static_cast<std::uint8_t>(change.flags & ~report_flag::answer);
                gateway_.deliver(change, report.producer);
            }
        }
        [[nodiscard]] std::size_t begun() const noexcept { return begun_; }

    private:
        Gateway& gateway_;
        std::span<const Request> batch_;
        std::size_t begun_ = 0;  // requests whose acknowledgement has come
        std::uint16_t request_producer_ = 0;
    };

    Gateway(const GatewayOptions& options, Engine& engine, Journal* journal, Tape& tape) noexcept
        : options_(options), engine_(&engine), journal_(journal), tape_(&tape) {
        if (journal != nullptr) applied_ = released_ = journal->recovered().records;
    }

    static Status check(const GatewayOptions& o) {
        const auto fault = [](const char* what) { return Error{EINVAL, what}; };
        if (o.producers == 0 || o.producers > 65'535)
            return fault("gateway: producers must be 1 to 65,535");
        if (o.in_flight == 0 || o.in_flight > QueueView<HardwareMemory>::max_cells / o.producers)
            return fault("gateway: in_flight must be 1 to 1,048,575 / producers");
        if (!std::has_single_bit(o.ack_records) || o.ack_records <= o.in_flight)
            return fault("gateway: ack_records must be a power of two above in_flight");
        if (o.queue_slots != 0 && !std::has_single_bit(o.queue_slots))
            return fault("gateway: queue_slots must be a power of two, or 0");
        if (o.batch == 0 || o.batch > 65'536) return fault("gateway: batch must be 1 to 65,536");
        return Ok{};
    }
    static std::size_t slots_of(const GatewayOptions& o) noexcept {
        return o.queue_slots != 0 ? o.queue_slots
                                  : std::bit_ceil(std::size_t{o.producers} * o.in_flight);
    }

    [[nodiscard]] bool lay_out(Arena& arena) noexcept {
        const std::size_t cells = std::size_t{options_.producers} * options_.in_flight;
        const auto slots = arena.make_array<Word>(slots_of(options_) * queue_.slot_stride);
        const auto requests = arena.make_array<Cell>(cells);
        words_ = arena.make_array<Word>((2 * std::size_t{options_.producers} + 1) * word_stride);
        acks_ = arena.make_array<AckCell>(std::size_t{options_.producers} * options_.ack_records);
        writers_ = arena.make_array<AckWriter>(options_.producers);
        requests_ = arena.make_array<Request>(options_.batch);
        if (slots.empty() || requests.empty() || words_.empty() || acks_.empty() ||
            writers_.empty() || requests_.empty())
            return false;
        queue_.slots = slots.data();
        queue_.slot_count = slots_of(options_);
        queue_.tail = words_.data();
        queue_.cells = requests.data();
        queue_.cell_count = cells;
        taker_ = QueueTaker<HardwareMemory>(queue_);
        for (std::uint32_t i = 0; i < options_.producers; ++i)
            std::construct_at(&writers_[i], ack_ring(i), options_.in_flight);
        return true;
    }
    [[nodiscard]] RingPlace<HardwareMemory, Ack> ack_ring(std::uint32_t index) const noexcept {
        RingPlace<HardwareMemory, Ack> ring;
        ring.slots = &acks_[std::size_t{index} * options_.ack_records];
        ring.slot_count = options_.ack_records;
        ring.published = &words_[(2 * std::size_t{index} + 1) * word_stride];
        ring.consumed = &words_[(2 * std::size_t{index} + 2) * word_stride];
        return ring;
    }

    // The whole batch at once, where the engine can look ahead in it.
    void apply(std::span<const Request> batch, Sink& sink) noexcept {
        if constexpr (requires { engine_->apply(batch, sink); }) {
            engine_->apply(batch, sink);
        } else {
            for (const Request& request : batch) engine_->apply(request, sink);
        }
    }

    void acknowledge(const Report& report, std::uint16_t producer) noexcept {
        applied_ += 1;
        writers_[producer].acknowledge(report, applied_);
        counters_.delivered += 1;
    }
    void route(const Report& report, std::uint16_t request_producer) noexcept {
        if (report.kind >= ReportKind::crossed) return deliver(report, request_producer);
        deliver(report, report.producer);
        const bool one_for_both =
            report.kind == ReportKind::executed && (report.flags & report_flag::in_cross) == 0;
        if (one_for_both && report.producer != request_producer) deliver(report, request_producer);
    }
    void deliver(const Report& report, std::uint16_t producer) noexcept {
        if (producer >= options_.producers) {
            counters_.nobody += 1;
        } else if (writers_[producer].deliver(report, applied_)) {
            counters_.delivered += 1;
        } else {
            counters_.lost += 1;
        }
    }

    void release() noexcept {
        if (released_ == applied_) return;
        std::uint64_t until = applied_;
        if (journal_ != nullptr && options_.wait_for_journal)
            until = std::min(until, journal_->written());
        if (until == released_) return;
        released_ = until;
        for (AckWriter& writer : writers_) writer.release(until);
        if constexpr (requires { tape_->on_released(until); }) tape_->on_released(until);
    }

    static constexpr std::size_t word_stride = false_sharing_bytes / sizeof(Word);

    GatewayOptions options_;
    Engine* engine_;
    Journal* journal_;
    Tape* tape_;
    QueueView<HardwareMemory> queue_;
    QueueTaker<HardwareMemory> taker_;
    std::span<Word> words_;  // tail, then of each producer: published, consumed
    std::span<AckCell> acks_;
    std::span<AckWriter> writers_;
    std::span<Request> requests_;
    std::uint64_t applied_ = 0;
    std::uint64_t released_ = 0;
    GatewayCounters counters_;
};

}  // namespace wirebook::match
