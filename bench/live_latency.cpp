// From a packet's sending to the new book, one packet at a time, by way of receiving.
//
//     build/bench/live_latency [--packets 20000] [--rounds 5] [--only NAME]... [--csv]   # as root
//
// Core 0 sends a packet on one end of a pair of veth, polls the ring until the packet's snapshot is
// there, waits 25 us, and sends the next. Core 1 has the handler: an lcore as `wirebook run` has
// it, over each way in turn, in a process of its own; in every round all ways. Every packet changes
// the best bid. Stamps are the TSC's, the same on both cores: at sending, in the record, when it
// was read. The figures are medians of the rounds' percentiles, in ns; docs/latency.md reads them.
// It runs in a network namespace of its own; 3: that is not allowed here.
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "live_handler.hpp"
#include "live_link.hpp"
#include "wirebook/core/clock.hpp"
#include "wirebook/core/histogram.hpp"
#include "wirebook/ring/reader.hpp"

using namespace wirebook;
using namespace wirebook::bench;

namespace {

constexpr std::uint32_t sender_cpu = 0, handler_cpu = 1;

struct Settings {
    std::uint64_t packets = 20'000, warm_up = 2'000;
    std::uint32_t rounds = 5, gap_us = 25, fifo = 0;
    std::vector<std::string> only;
    bool csv = false, hugepages = false;
};

// Parts of a packet's way. The first six follow each other, but that sendto returns while the
// handler works; the last two are since the sending.
enum Part : std::size_t {
    sendto_returns,
    received,
    decoded,
    booked,
    placed,
    taken,
    published,
    read
};
constexpr std::array<const char*, 8> part_names{"sendto", "receive", "decode",    "book",
                                                "place",  "take",    "published", "read"};
constexpr std::size_t parts = part_names.size();

// min, p50, p99, p99.9.
using Figures = std::array<std::int64_t, 4>;

struct Round {
    std::array<Figures, parts> figures{};
    std::uint64_t count = 0, lost = 0;
};
struct WayResult {
    std::vector<Round> rounds;
    std::string note;

    [[nodiscard]] std::int64_t median(std::size_t part, std::size_t figure) const {
        std::vector<std::int64_t> values;
        for (const Round& round : rounds) values.push_back(round.figures[part][figure]);
        std::sort(values.begin(), values.end());
        const std::size_t middle = values.size() / 2;
        return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
    }
    [[nodiscard]] std::int64_t least(std::size_t part) const {
        std::int64_t value = INT64_MAX;
        for (const Round& round : rounds) value = std::min(value, round.figures[part][0]);
        return value;
    }
    [[nodiscard]] std::uint64_t sum(std::uint64_t Round::*member) const {
        std::uint64_t value = 0;
        for (const Round& round : rounds) value += round.*member;
        return value;
    }
};

void pin(std::uint32_t cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (::sched_setaffinity(0, sizeof set, &set) != 0)
        std::fprintf(stderr, "live_latency: cannot pin to CPU %u\n", cpu);
}

bool stopping() {
    return app::stop_requested.load(std::memory_order_relaxed);
}

// Of one handler's life.
class Measurement {
public:
    Measurement(const Sender& sender, ring::Reader& reader, const TscClock& clock,
                std::uint32_t gap_us)
        : sender_(sender),
          reader_(reader),
          clock_(clock),
          gap_ticks_(clock.ticks_from_ns(std::int64_t{gap_us} * 1000)),
          patience_(clock.ticks_from_ns(50'000'000)) {}

    // nullopt: the first packet made no snapshot, or too many were lost in a row.
    std::optional<Round> run(std::uint64_t warm_up, std::uint64_t packets) {
        bool there = false;
        for (int attempt = 0; attempt < 20 && !there && !stopping(); ++attempt)
            there = ping(feed_.first());
        if (!there || !send(warm_up)) return std::nullopt;
        for (Histogram& part : parts_) part.clear();
        least_.fill(INT64_MAX);
        lost_ = 0;
        if (!send(packets)) return std::nullopt;
        Round round;
        round.count = parts_[read].count();
        round.lost = lost_;
        for (std::size_t i = 0; i < parts; ++i) {
            const Histogram& part = parts_[i];
            round.figures[i] = {least_[i], part.percentile(50), part.percentile(99),
                                part.percentile(99.9)};
        }
        return round;
    }

private:
    static constexpr std::uint64_t lost_in_a_row = 20;

    bool send(std::uint64_t packets) {
        bool fresh = false;
        std::uint64_t in_a_row = 0;
        for (std::uint64_t n = 0; n < packets && !stopping(); ++n) {
            const bool there = ping(feed_.next(fresh));
            lost_ += there ? 0 : 1;
            in_a_row = there ? 0 : in_a_row + 1;
            if (in_a_row == lost_in_a_row) return false;
            fresh = !there;
            const std::uint64_t due = rdtsc() + gap_ticks_;
            while (rdtsc() < due) {
            }
        }
        return !stopping();
    }
    // True: its snapshot was read.
    bool ping(std::span<const std::byte> payload) {
        const std::uint64_t start = rdtsc();
        if (!sender_.send(payload)) return false;
        const std::uint64_t sent = rdtsc();
        for (;;) {
            const ring::Poll poll = reader_.poll(record_);
            const std::uint64_t now = rdtsc();
            if (poll == ring::Poll::record && record_.kind == ring::RecordKind::snapshot &&
                record_.feed_sequence == feed_.sequence() && !record_.from_table()) {
                note(start, sent, now);
                return true;
            }
            if (poll == ring::Poll::writer_dead || poll == ring::Poll::writer_closed) return false;
            if (now - start > patience_) return false;
        }
    }
    void note(std::uint64_t start, std::uint64_t sent, std::uint64_t now) noexcept {
        const std::uint64_t receive = record_.receive_tsc;
        const std::uint64_t placed_at = receive + record_.published_delta;
        add(sendto_returns, start, sent);
        add(received, start, receive);
        add(decoded, receive, receive + record_.decoded_delta);
        add(booked, receive + record_.decoded_delta, receive + record_.booked_delta);
        add(placed, receive + record_.booked_delta, placed_at);
        add(taken, placed_at, now);
        add(published, start, placed_at);
        add(read, start, now);
    }
    void add(Part part, std::uint64_t from, std::uint64_t to) noexcept {
        const std::int64_t ns = to > from ? clock_.ns_from_ticks(to - from) : 0;
        parts_[part].record(ns);
        least_[part] = std::min(least_[part], ns);
    }

    const Sender& sender_;
    ring::Reader& reader_;
    const TscClock& clock_;
    std::uint64_t gap_ticks_, patience_, lost_ = 0;
    Feed feed_;
    ring::Record record_;
    std::array<Histogram, parts> parts_;
    std::array<std::int64_t, parts> least_{};
};

void measure(const Way& way, const Settings& settings, const HandlerSettings& handler_settings,
             const TscClock& clock, WayResult& result) {
    if (Status made = make_link(way.napi); !made) {
        result.note = made.error().context;
        return;
    }
    auto sender = Sender::open();
    if (!sender) {
        result.note = sender.error().context;
        return;
    }
    Handler handler(way, handler_settings);
    std::optional<Round> round;
    std::string fault = "the handler did not start";
    if (handler.wait_until_ready()) {
        ring::AttachOptions attach;
        attach.directory = handler_settings.directory;
        auto reader = ring::Reader::attach(segment_name, attach);
        if (reader) {
            auto measurement = std::make_unique<Measurement>(sender.value(), reader.value(), clock,
                                                             settings.gap_us);
            round = measurement->run(settings.warm_up, settings.packets);
            fault = "packets do not arrive";
        } else {
            fault = reader.error().context;
        }
    }
    handler.stop();
    const std::string note = handler.note();
    if (round) result.rounds.push_back(*round);
    if (!note.empty() || !round) result.note = note.empty() ? fault : note;
}

// As bench/jitter does, where the handler will be.
Figures jitter(const TscClock& clock) {
    pin(handler_cpu);
    Histogram pauses;
    const std::uint64_t end = rdtsc() + clock.ticks_from_ns(500'000'000);
    for (std::uint64_t last = rdtsc(); last < end;) {
        const std::uint64_t now = rdtsc();
        const std::int64_t pause_ns = clock.ns_from_ticks(now - last);
        pauses.record(pause_ns, static_cast<std::uint64_t>(pause_ns));
        last = now;
    }
    pin(sender_cpu);
    return {0, pauses.percentile(50), pauses.percentile(99), pauses.percentile(99.9)};
}

std::string load() {
    std::ifstream file("/proc/loadavg");
    std::string one;
    file >> one;
    return one;
}

class Tables {
public:
    Tables(const std::vector<const Way*>& chosen, const std::vector<WayResult>& results)
        : chosen_(chosen), results_(results) {}

    void print_csv() const {
        std::printf("way,part,count,lost,min_ns,p50_ns,p99_ns,p999_ns\n");
        for (std::size_t w = 0; w < chosen_.size(); ++w) {
            const WayResult& result = results_[w];
            if (result.rounds.empty()) {
                std::fprintf(stderr, "live_latency: %s: not measured: %s\n", chosen_[w]->name,
                             result.note.c_str());
                continue;
            }
            for (std::size_t p = 0; p < parts; ++p) {
                std::printf("%s,%s,%lu,%lu,%ld,%ld,%ld,%ld\n", chosen_[w]->name, part_names[p],
                            result.sum(&Round::count), result.sum(&Round::lost), result.least(p),
                            result.median(p, 1), result.median(p, 2), result.median(p, 3));
            }
        }
    }
    void print() const {
        std::printf("\n%-15s| %-23s| %-32s|\n", "ns since sending", "published", "read");
        std::printf("%-15s | %6s %7s %7s | %6s %7s %7s %8s | %7s %4s\n", "way", "p50", "p99",
                    "p99.9", "p50", "p99", "p99.9", "min", "count", "lost");
        for (std::size_t w = 0; w < chosen_.size(); ++w) {
            const WayResult& r = results_[w];
            if (r.rounds.empty()) {
                std::printf("%-15s | not measured: %s\n", chosen_[w]->name, r.note.c_str());
                continue;
            }
            std::printf("%-15s | %6ld %7ld %7ld | %6ld %7ld %7ld %8ld | %7lu %4lu\n",
                        chosen_[w]->name, r.median(published, 1), r.median(published, 2),
                        r.median(published, 3), r.median(read, 1), r.median(read, 2),
                        r.median(read, 3), r.least(read), r.sum(&Round::count),
                        r.sum(&Round::lost));
        }
        std::printf("\nwhere it goes, p50 ns\n%-15s", "way");
        for (std::size_t p = 0; p < published; ++p) std::printf(" %8s", part_names[p]);
        std::printf("\n");
        for (std::size_t w = 0; w < chosen_.size(); ++w) {
            if (results_[w].rounds.empty()) continue;
            std::printf("%-15s", chosen_[w]->name);
            for (std::size_t p = 0; p < published; ++p)
                std::printf(" %8ld", results_[w].median(p, 1));
            std::printf("\n");
        }
        std::printf("\n");
        for (std::size_t w = 0; w < chosen_.size(); ++w) {
            const std::string& note = results_[w].note;
            std::printf("%-15s %s%s%s\n", chosen_[w]->name, chosen_[w]->what,
                        note.empty() ? "" : ": ", note.c_str());
        }
    }

private:
    const std::vector<const Way*>& chosen_;
    const std::vector<WayResult>& results_;
};

int bench_all(const Settings& settings, const std::string& directory) {
    std::vector<const Way*> chosen;
    for (const Way& way : ways) {
        const auto& only = settings.only;
        if (only.empty() || std::find(only.begin(), only.end(), way.name) != only.end())
            chosen.push_back(&way);
    }
    const HandlerSettings handler{directory, handler_cpu, settings.fifo, settings.hugepages};
    const TscClock clock = TscClock::calibrate();
    std::vector<WayResult> results(chosen.size());
    WayResult jitters;
    const std::string load_before = load();
    for (std::uint32_t round = 0; round < settings.rounds && !stopping(); ++round) {
        jitters.rounds.emplace_back().figures[0] = jitter(clock);
        for (std::size_t w = 0; w < chosen.size() && !stopping(); ++w)
            measure(*chosen[w], settings, handler, clock, results[w]);
    }
    if (stopping()) return 1;
    const Tables tables(chosen, results);
    if (settings.csv) {
        tables.print_csv();
    } else {
        std::printf("%u rounds of %lu packets, one every %u us after the one before was read\n",
                    settings.rounds, settings.packets, settings.gap_us);
        std::printf("load of the machine (one minute): %s before, %s after\n", load_before.c_str(),
                    load().c_str());
        std::printf("jitter of core %u, by instant: p50 %ld p99 %ld p99.9 %ld ns\n", handler_cpu,
                    jitters.median(0, 1), jitters.median(0, 2), jitters.median(0, 3));
        tables.print();
    }
    const bool any = std::any_of(results.begin(), results.end(),
                                 [](const WayResult& result) { return !result.rounds.empty(); });
    return any ? 0 : 1;
}

int fail_by_host(const std::string& text) {
    std::fprintf(stderr, "live_latency: %s\n", text.c_str());
    return app::exit_host;
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    std::vector<std::string> names;
    for (const Way& way : ways) names.emplace_back(way.name);
    CLI::App cli("sending to published and to read, one packet at a time, by way of receiving");
    cli.add_option("--packets", settings.packets, "of a way in a round")
        ->check(CLI::Range(100, 10'000'000));
    cli.add_option("--rounds", settings.rounds)->check(CLI::Range(1, 1000));
    cli.add_option("--gap-us", settings.gap_us, "from read to the next sending")
        ->check(CLI::Range(0, 1'000'000));
    cli.add_option("--only", settings.only, "this way; several times: these")
        ->check(CLI::IsMember(names));
    cli.add_option("--fifo", settings.fifo, "SCHED_FIFO priority of the handler's thread")
        ->check(CLI::Range(1, 99));
    cli.add_flag("--hugepages", settings.hugepages, "for DPDK; else ordinary memory");
    cli.add_flag("--csv", settings.csv, "every part of the way, instead of tables");
    CLI11_PARSE(cli, argc, argv);
    settings.warm_up = std::min(settings.warm_up, settings.packets);

    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    if (::sched_getaffinity(0, sizeof cpus, &cpus) != 0 || !CPU_ISSET(sender_cpu, &cpus) ||
        !CPU_ISSET(handler_cpu, &cpus)) {
        return fail_by_host("wants CPUs 0 and 1");
    }
    if (Status entered = enter_namespace(); !entered) return fail_by_host(entered.error().context);
    if (Status made = make_link(false); !made) return fail_by_host(made.error().context);
    std::string directory = "/dev/shm/wirebook_latency.XXXXXX";
    if (::mkdtemp(directory.data()) == nullptr)
        return fail_by_host("cannot make a folder in /dev/shm");
    app::catch_stop_signals();
    // Whatever it was started with: it starts and reaps processes, and spins between. --fifo is the
    // handler's thread alone.
    const sched_param ordinary{};
    (void)::sched_setscheduler(0, SCHED_OTHER, &ordinary);
    pin(sender_cpu);
    const int status = bench_all(settings, directory);
    std::error_code ignored;
    std::filesystem::remove_all(directory, ignored);
    return status;
}
