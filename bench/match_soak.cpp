// The exchange at a steady rate for a long time: from the moment an order was meant to be sent to
// the moment its acknowledgement was read, through queue, journal, engine and ring.
//
//     build/bench/match_soak --seconds 1800 --rate 100000 --producers 4 --journal FILE
//
// One core is the engine's (--engine-cpu), one is the world's (--world-cpu): a thread there plays
// all producers, in turn, each order at its time (a late one counts from when it was due), reads
// the acknowledgements, and writes the journal between two looks (--journal-thread: a thread of
// its own on the same core does). Percentiles a minute and in total, resident memory, the calls of
// malloc after the start (there must be none), the machine's own jitter before the run, and the
// longest spikes with what stood still meanwhile and whether they keep step with a period.
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "count_allocations.hpp"
#include "soak_flow.hpp"
#include "soak_log.hpp"
#include "wirebook/core/clock.hpp"
#include "wirebook/core/histogram.hpp"
#include "wirebook/match/engine.hpp"
#include "wirebook/match/engine_digest.hpp"
#include "wirebook/match/gateway.hpp"

using namespace wirebook;
using namespace wirebook::match;
using namespace wirebook::bench;

namespace {

struct Settings {
    std::uint32_t seconds = 60, rate = 100'000, producers = 4, instruments = 100, live = 100'000;
    unsigned engine_cpu = 1, world_cpu = 0;
    std::string journal;
    bool durable = false, journal_thread = false;
    double spike_us = 15;
};

constexpr std::uint32_t in_flight = 1024;

void pin(unsigned cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (::pthread_setaffinity_np(::pthread_self(), sizeof(set), &set) != 0)
        std::fprintf(stderr, "match_soak: cannot pin to CPU %u\n", cpu);
}

struct Minute {
    Histogram since_due, since_sent;
    std::int64_t sum_ns = 0;  // since due
};

void print_minute(const char* name, const Minute& minute, long resident_kib) {
    const Histogram& h = minute.since_due;
    const double count = static_cast<double>(std::max<std::uint64_t>(h.count(), 1));
    const auto us = [&h](double percent) {
        return static_cast<double>(h.percentile(percent)) / 1e3;
    };
    std::printf(
        "%-10s %10llu acks, mean %.2f p50 %.2f p99 %.2f p99.9 %.2f p99.99 %.2f max %.1f us"
        "; resident %ld KiB\n",
        name, static_cast<unsigned long long>(h.count()),
        static_cast<double>(minute.sum_ns) / count / 1e3, us(50), us(99), us(99.9), us(99.99),
        static_cast<double>(h.max()) / 1e3, resident_kib);
}

// The thread that is everybody but the engine.
class World {
public:
    World(const Settings& settings, const TscClock& clock, Journal* journal)
        : settings_(settings),
          clock_(clock),
          journal_(journal),
          flow_(settings.instruments, settings.live),
          sent_(settings.producers, std::vector<std::uint64_t>(in_flight)),
          acknowledged_(settings.producers),
          minutes(settings.seconds / 60 + 2),
          spikes(std::size_t{1} << 20U),
          stood(std::size_t{1} << 20U) {}

    void run(std::vector<Producer>& producers) noexcept {
        const double gap = 1e9 / clock_.ns_per_tick / settings_.rate;
        const std::uint64_t spike =
            clock_.ticks_from_ns(static_cast<std::int64_t>(settings_.spike_us * 1e3));
        start = rdtsc();
        const std::uint64_t total = std::uint64_t{settings_.rate} * settings_.seconds;
        const std::uint64_t minute_ticks = clock_.ticks_from_ns(60'000'000'000);
        std::uint64_t made = 0, minute_end = start + minute_ticks, last = start, due = start;
        std::size_t minute = 0;
        Request request = flow_.next();
        request.time_ns = static_cast<std::int64_t>(due);
        for (std::uint64_t acks = 0; acks < total;) {
            const std::uint64_t now = rdtsc();
            if (now - last > spike / 2) stood.note(now, now - last);
            last = now;
            if (now >= minute_end) {
                minute_end += minute_ticks;
                minutes_done.store(++minute, std::memory_order_release);
            }
            if (now >= due && made < total) {
                const std::size_t p = made % producers.size();
                const std::uint64_t number = producers[p].pushed();
                if (producers[p].push(request) == PushResult::pushed) {
                    sent_[p][number % in_flight] = now;
                    made += 1;
                    due = start + static_cast<std::uint64_t>(gap * static_cast<double>(made));
                    request = flow_.next();
                    request.time_ns = static_cast<std::int64_t>(due);
                } else {
                    refused += 1;
                }
            }
            for (std::size_t p = 0; p < producers.size(); ++p)
                acks += read_acks(producers[p], p, minutes[minute], spike);
            if (journal_ != nullptr) (void)journal_->write_some();
        }
        end = rdtsc();
        for (const Producer& producer : producers) lost += producer.lost();
        usage = thread_usage();
    }

private:
    std::uint64_t read_acks(Producer& producer, std::size_t p, Minute& minute,
                            std::uint64_t spike) noexcept {
        Ack ack;
        std::uint64_t acks = 0;
        while (producer.poll(ack)) {
            if (!is_acknowledgement(ack.report)) {
                others += 1;
                continue;
            }
            const std::uint64_t now = rdtsc();
            const std::uint64_t ticks = now - static_cast<std::uint64_t>(ack.report.time_ns);
            const std::int64_t ns = clock_.ns_from_ticks(ticks);
            minute.since_due.record(ns);
            minute.sum_ns += ns;
            const std::uint64_t sent = sent_[p][acknowledged_[p]++ % in_flight];
            minute.since_sent.record(clock_.ns_from_ticks(now - sent));
            if (ticks > spike) spikes.note(now, ticks);
            rejected += ack.report.kind == ReportKind::rejected ? 1U : 0U;
            acks += 1;
        }
        return acks;
    }

    const Settings& settings_;
    const TscClock& clock_;
    Journal* journal_;  // nullptr: another thread writes it, or there is none
    Flow flow_;
    std::vector<std::vector<std::uint64_t>> sent_;  // by producer: TSC of what is under way
    std::vector<std::uint64_t> acknowledged_;

public:
    std::vector<Minute> minutes;
    std::atomic<std::size_t> minutes_done{0};
    MomentLog spikes, stood;
    std::uint64_t start = 0, end = 0, refused = 0, others = 0, lost = 0, rejected = 0;
    rusage usage{};
};

// The engine's loop, and when it stood still.
template <class AnyGateway>
void run_engine(AnyGateway& gateway, const std::atomic<bool>& stop, MomentLog& stood,
                std::uint64_t threshold, rusage& usage) noexcept {
    std::uint64_t last = rdtsc();
    while (!stop.load(std::memory_order_relaxed)) {
        (void)gateway.poll();
        const std::uint64_t now = rdtsc();
        if (now - last > threshold) stood.note(now, now - last);
        last = now;
    }
    gateway.run(stop);
    usage = thread_usage();
}

// What the machine takes away from loops on both cores that only read the TSC.
void print_jitter(const Settings& settings, const TscClock& clock) {
    const auto measure = [&](unsigned cpu, Histogram& pauses) {
        pin(cpu);
        const std::uint64_t end = rdtsc() + clock.ticks_from_ns(3'000'000'000);
        for (std::uint64_t before = rdtsc(); before < end;) {
            const std::uint64_t now = rdtsc();
            const std::int64_t ns = clock.ns_from_ticks(now - before);
            pauses.record(ns, static_cast<std::uint64_t>(ns));  // by the instants in it
            before = now;
        }
    };
    auto of_engine = std::make_unique<Histogram>(), of_world = std::make_unique<Histogram>();
    std::thread other([&] { measure(settings.engine_cpu, *of_engine); });
    measure(settings.world_cpu, *of_world);
    other.join();
    const auto print = [](const char* who, const Histogram& h) {
        std::printf(
            "jitter of the %s core, by instant, 3 s: p50 %.2f p99 %.2f p99.9 %.2f p99.99 "
            "%.2f max %.1f us\n",
            who, static_cast<double>(h.percentile(50)) / 1e3,
            static_cast<double>(h.percentile(99)) / 1e3,
            static_cast<double>(h.percentile(99.9)) / 1e3,
            static_cast<double>(h.percentile(99.99)) / 1e3, static_cast<double>(h.max()) / 1e3);
    };
    print("engine's", *of_engine);
    print("world's", *of_world);
}

void print_spikes(const World& world, const MomentLog& engine_stood, const TscClock& clock) {
    const auto us = [&](std::uint64_t ticks) {
        return static_cast<double>(clock.ns_from_ticks(ticks)) / 1e3;
    };
    const std::uint64_t apart = clock.ticks_from_ns(200'000);
    auto spikes = spikes_of(world.spikes.moments(), apart);
    std::printf(
        "%zu spikes (%zu late acknowledgements, %llu more not kept); the longest, and the "
        "longest time for which each side stood still during it:\n",
        spikes.size(), world.spikes.moments().size(),
        static_cast<unsigned long long>(world.spikes.left_out()));
    const std::vector<Moment> in_time = spikes;
    std::sort(spikes.begin(), spikes.end(),
              [](const Moment& a, const Moment& b) { return a.ticks > b.ticks; });
    for (std::size_t i = 0; i < std::min<std::size_t>(spikes.size(), 20); ++i) {
        const Moment& spike = spikes[i];
        const std::uint64_t from = spike.tsc - spike.ticks;
        std::printf("  at %12.6f s %9.1f us   engine %9.1f us   world %9.1f us\n",
                    us(spike.tsc - world.start) / 1e6, us(spike.ticks),
                    us(engine_stood.longest_in(from, spike.tsc).ticks),
                    us(world.stood.longest_in(from, spike.tsc).ticks));
    }
    print_periods("spikes", in_time, clock);
    print_periods("engine stood still", spikes_of(engine_stood.moments(), apart), clock);
    print_periods("world stood still", spikes_of(world.stood.moments(), apart), clock);
}

void print_thread(const char* who, const rusage& usage) {
    std::printf(
        "%s thread: switched out %ld times against its will, %ld willingly; %ld page "
        "faults\n",
        who, usage.ru_nivcsw, usage.ru_nvcsw, usage.ru_minflt + usage.ru_majflt);
}

template <class T>
T must(Result<T> result) {
    if (!result) {
        std::fprintf(stderr, "match_soak: %s\n", result.error().context.c_str());
        std::exit(1);
    }
    return std::move(result).value();
}

int soak(const Settings& settings) {
    const TscClock clock = TscClock::calibrate();
    print_jitter(settings, clock);
    EngineOptions engine_options;
    engine_options.instruments = settings.instruments;
    engine_options.orders = 2 * settings.live + 65'536;
    engine_options.levels = 64 * settings.instruments;
    const std::vector<InstrumentTerms> terms(settings.instruments);
    GatewayOptions options;
    options.producers = settings.producers;
    options.in_flight = in_flight;
    JournalOptions journal_options;
    journal_options.path = settings.journal;
    journal_options.durable = settings.durable;
    journal_options.engine_digest = engine_digest(engine_options, terms);
    using AnyGateway = Gateway<Engine>;
    Arena arena = must(Arena::create({.bytes = Engine::bytes_needed(engine_options) +
                                               AnyGateway::bytes_needed(options) +
                                               Journal::bytes_needed(journal_options),
                                      .prefault = true}));
    std::printf("memory: %zu MiB in %s\n", arena.bytes_total() >> 20U, to_string(arena.backing()));
    Engine engine = must(Engine::create(arena, engine_options, terms));
    std::optional<Journal> journal;
    if (!settings.journal.empty()) {
        ::unlink(settings.journal.c_str());
        journal.emplace(must(Journal::open(arena, journal_options, nullptr)));
    }
    Journal* const kept = journal ? &*journal : nullptr;
    NoTape tape;
    AnyGateway gateway = must(AnyGateway::create(arena, options, engine, kept, tape));
    std::vector<Producer> producers;
    for (std::uint16_t p = 0; p < settings.producers; ++p) producers.push_back(gateway.producer(p));

    const auto world =
        std::make_unique<World>(settings, clock, settings.journal_thread ? nullptr : kept);
    MomentLog engine_stood(std::size_t{1} << 20U);
    const std::uint64_t still =
        clock.ticks_from_ns(static_cast<std::int64_t>(settings.spike_us * 500));
    std::atomic<bool> stop{false}, stop_writer{false}, ready{false};
    rusage engine_usage{};
    std::thread engine_thread([&] {
        pin(settings.engine_cpu);
        run_engine(gateway, stop, engine_stood, still, engine_usage);
    });
    std::thread writer;
    if (kept != nullptr && settings.journal_thread)
        writer = std::thread([&] { pin(settings.world_cpu), kept->run(stop_writer, 0); });
    std::thread world_thread([&] {
        pin(settings.world_cpu);
        while (!ready.load(std::memory_order_acquire)) wirebook::pause();
        world->run(producers);
        stop.store(true, std::memory_order_release);
    });
    const auto engine_before = machine_counts(settings.engine_cpu);
    const auto world_before = machine_counts(settings.world_cpu);
    const std::uint64_t allocated = allocations.load();
    ready.store(true, std::memory_order_release);
    for (std::size_t minute = 0; !stop.load(std::memory_order_acquire);) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        if (world->minutes_done.load(std::memory_order_acquire) == minute) continue;
        char name[32];
        std::snprintf(name, sizeof(name), "minute %zu", ++minute);
        print_minute(name, world->minutes[minute - 1], resident_kib());
    }
    const std::uint64_t allocated_after = allocations.load();
    world_thread.join(), engine_thread.join();
    stop_writer.store(true, std::memory_order_release);
    if (writer.joinable()) writer.join();

    const double seconds =
        static_cast<double>(clock.ns_from_ticks(world->end - world->start)) / 1e9;
    auto all = std::make_unique<Minute>(), sent = std::make_unique<Minute>();
    for (const Minute& minute : world->minutes) {
        all->since_due.merge(minute.since_due), all->sum_ns += minute.sum_ns;
        sent->since_due.merge(minute.since_sent);
    }
    print_minute("all", *all, resident_kib());
    const Histogram& since_sent = sent->since_due;
    std::printf("of that since really sent: p50 %.2f p99 %.2f p99.9 %.2f max %.1f us\n",
                static_cast<double>(since_sent.percentile(50)) / 1e3,
                static_cast<double>(since_sent.percentile(99)) / 1e3,
                static_cast<double>(since_sent.percentile(99.9)) / 1e3,
                static_cast<double>(since_sent.max()) / 1e3);
    std::printf(
        "%.1f s, %.0f orders a second, %llu rejected, %llu other reports, %llu reports lost, "
        "%llu pushes refused; %llu live orders\n",
        seconds, static_cast<double>(all->since_due.count()) / seconds,
        static_cast<unsigned long long>(world->rejected),
        static_cast<unsigned long long>(world->others),
        static_cast<unsigned long long>(world->lost),
        static_cast<unsigned long long>(world->refused),
        static_cast<unsigned long long>(engine.live_orders()));
    std::printf("allocations after the start, in all threads: %llu\n",
                static_cast<unsigned long long>(allocated_after - allocated));
    print_thread("engine's", engine_usage);
    print_thread("world's", world->usage);
    print_difference("engine's core", engine_before, machine_counts(settings.engine_cpu), seconds);
    print_difference("world's core", world_before, machine_counts(settings.world_cpu), seconds);
    print_spikes(*world, engine_stood, clock);
    return allocated_after == allocated ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    CLI::App app("enqueue to acknowledgement, for a long time");
    app.add_option("--seconds", settings.seconds)->check(CLI::Range(1, 86'400));
    app.add_option("--rate", settings.rate, "orders a second")->check(CLI::Range(1, 10'000'000));
    app.add_option("--producers", settings.producers)->check(CLI::Range(1, 64));
    app.add_option("--live", settings.live, "resting orders")->check(CLI::Range(1, 10'000'000));
    app.add_option("--journal", settings.journal, "is overwritten; none: no journal");
    app.add_flag("--durable", settings.durable, "acknowledgements wait for the disk");
    app.add_flag("--journal-thread", settings.journal_thread, "not in the world's loop");
    app.add_option("--engine-cpu", settings.engine_cpu);
    app.add_option("--world-cpu", settings.world_cpu);
    app.add_option("--spike-us", settings.spike_us, "what counts as a spike");
    CLI11_PARSE(app, argc, argv);
    return soak(settings);
}
