// The matching engine: nanoseconds an operation, on one book of 100,000 live orders and on 8,000
// books of 100 each, beside a plain engine (match_plain.hpp) on the same requests.
//
//     taskset -c 1 build/bench/match_bench [--operations N] [--repeat N] [--seed N]
//     valgrind --tool=callgrind ... match_bench --count KIND [--books N]   (docs/matching.md)
//
// Requests are made before the clock starts (match_streams.hpp). The mix: 47 % add, 40 % cancel, 8
// % replace, 5 % cross (an immediate order that trades with one or two resting ones). Each kind
// also in blocks of its own. The engines take turns in each repetition; medians are told. Then, by
// kind, the time of single calls in the mix, by rdtsc around each: the two readings are in the
// figure, their own cost is the first line; the machine's jitter (bench/jitter.cpp) is the tail's
// floor.
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "match_plain.hpp"
#include "match_streams.hpp"
#include "wirebook/core/clock.hpp"
#include "wirebook/core/histogram.hpp"
#include "wirebook/match/engine.hpp"

namespace match_bench {
namespace {

using namespace wirebook;

double cpu_ns() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

// Read when all before it is done: else much of a call would still be under way.
std::uint64_t fenced_tsc() {
#if defined(__x86_64__)
    __builtin_ia32_lfence();
#endif
    return rdtsc();
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

template <class Engine>
void apply_each(Engine& engine, std::span<const Request> requests, KeepingSink& sink) {
    for (const Request& request : requests) engine.apply(request, sink);
}
void apply_batches(Engine& engine, std::span<const Request> requests, KeepingSink& sink) {
    for (std::size_t i = 0; i < requests.size(); i += batch) {
        engine.apply(requests.subspan(i, std::min(batch, requests.size() - i)), sink);
    }
}

// ns an operation of the mix, then of each kind.
using Figures = std::array<double, kinds + 1>;

template <class Apply>
Figures time_of(const Stream& stream, KeepingSink& sink, Apply&& apply) {
    Figures figures{};
    apply(stream.warm_up, sink);
    double start = cpu_ns();
    apply(stream.mix, sink);
    figures[0] = (cpu_ns() - start) / static_cast<double>(stream.mix.size());
    std::array<std::size_t, kinds> counts{};
    for (const Stream::Block& block : stream.blocks) {
        const auto kind = static_cast<std::size_t>(block.kind);
        start = cpu_ns();
        apply(block.requests, sink);
        figures[kind + 1] += cpu_ns() - start;
        counts[kind] += block.requests.size();
    }
    for (std::size_t kind = 0; kind < kinds; ++kind) {
        figures[kind + 1] /= static_cast<double>(counts[kind]);
    }
    return figures;
}

void print_figures(const char* what, const std::vector<Figures>& runs) {
    std::printf("  %-22s", what);
    for (std::size_t i = 0; i <= kinds; ++i) {
        std::vector<double> values;
        for (const Figures& run : runs) values.push_back(run[i]);
        std::printf(" %8.1f", median(values));
    }
    std::printf("\n");
}

void throughput(const Shape& shape, const Stream& stream, const Settings& settings) {
    std::vector<Figures> batches, singles, plain;
    KeepingSink ours, theirs;
    for (std::uint32_t n = 0; n < settings.repeat; ++n) {
        ours = theirs = {};
        {
            match_bench::Rig rig(shape, settings);
            batches.push_back(time_of(stream, ours, [&](std::span<const Request> r, auto& sink) {
                apply_batches(rig.engine, r, sink);
            }));
        }
        KeepingSink again;
        {
            match_bench::Rig rig(shape, settings);
            singles.push_back(time_of(stream, again, [&](std::span<const Request> r, auto& sink) {
                apply_each(rig.engine, r, sink);
            }));
        }
        WIREBOOK_CHECK(again.sum == ours.sum);
        PlainEngine engine(shape.books, shape.live * 2);
        plain.push_back(time_of(stream, theirs, [&](std::span<const Request> r, auto& sink) {
            apply_each(engine, r, sink);
        }));
        WIREBOOK_CHECK(theirs.executions == ours.executions);
    }
    std::printf("%s: ns an operation, median of %u\n", shape.name, settings.repeat);
    std::printf("  %-22s %8s %8s %8s %8s %8s\n", "", "mix", "add", "cancel", "replace", "cross");
    print_figures("engine, batches of 64", batches);
    print_figures("engine, one by one", singles);
    print_figures("plain", plain);
    const auto mix = [](const std::vector<Figures>& runs) {
        std::vector<double> values;
        for (const Figures& run : runs) values.push_back(run[0]);
        return median(values);
    };
    std::printf("  plain / engine, mix: %.1f in batches, %.1f one by one\n",
                mix(plain) / mix(batches), mix(plain) / mix(singles));
}

void print_percentiles(const char* what, const Histogram& h) {
    std::printf("  %-22s %8ld %8ld %8ld %8ld  (%lu)\n", what, static_cast<long>(h.percentile(50)),
                static_cast<long>(h.percentile(99)), static_cast<long>(h.percentile(99.9)),
                static_cast<long>(h.max()), static_cast<unsigned long>(h.count()));
}

void latency(const Shape& shape, const Stream& stream, const Settings& settings) {
    const TscClock clock = TscClock::calibrate();
    const auto h = std::make_unique<std::array<Histogram, kinds + 1>>();
    match_bench::Rig rig(shape, settings);
    KeepingSink sink;
    apply_batches(rig.engine, stream.warm_up, sink);
    for (const Request& request : stream.mix) {
        const std::uint64_t empty = fenced_tsc();
        const std::uint64_t start = fenced_tsc();
        rig.engine.apply(request, sink);
        const std::uint64_t end = fenced_tsc();
        const bool cross = request.time_in_force == TimeInForce::immediate_or_cancel;
        const std::size_t kind = request.kind == RequestKind::cancel    ? 1
                                 : request.kind == RequestKind::replace ? 2
                                 : cross                                ? 3
                                                                        : 0;
        (*h)[kind].record(clock.ns_from_ticks(end - start));
        (*h)[kinds].record(clock.ns_from_ticks(start - empty));
    }
    for (const std::uint64_t rejected : rig.engine.counters().rejected) {
        WIREBOOK_CHECK(rejected == 0);
    }
    std::printf("%s: one call, ns\n", shape.name);
    std::printf("  %-22s %8s %8s %8s %8s\n", "", "p50", "p99", "p99.9", "max");
    print_percentiles("two clock readings", (*h)[kinds]);
    for (std::size_t kind = 0; kind < kinds; ++kind) {
        print_percentiles(kind_names[kind], (*h)[kind]);
    }
}

// For callgrind: applies one kind's blocks once, in the functions named count_*.
[[gnu::noinline]] void count_batches(Engine& engine, std::span<const Request> r,
                                     KeepingSink& sink) {
    apply_batches(engine, r, sink);
}
[[gnu::noinline]] void count_singles(Engine& engine, std::span<const Request> r,
                                     KeepingSink& sink) {
    apply_each(engine, r, sink);
}

int count(const Settings& settings) {
    const Shape& shape = settings.books > 1 ? shapes[1] : shapes[0];
    const Stream stream = Generator(shape, settings).make(settings.operations);
    match_bench::Rig batches(shape, settings);
    match_bench::Rig singles(shape, settings);
    KeepingSink sink;
    apply_batches(batches.engine, stream.warm_up, sink);
    apply_batches(singles.engine, stream.warm_up, sink);
    if (settings.count == "mix") {
        count_batches(batches.engine, stream.mix, sink);
        count_singles(singles.engine, stream.mix, sink);
        std::printf("%zu operations each\n", stream.mix.size());
        return 0;
    }
    apply_batches(batches.engine, stream.mix, sink);
    apply_batches(singles.engine, stream.mix, sink);
    std::size_t counted = 0;
    for (const Stream::Block& block : stream.blocks) {
        if (settings.count == kind_names[static_cast<std::size_t>(block.kind)]) {
            count_batches(batches.engine, block.requests, sink);
            count_singles(singles.engine, block.requests, sink);
            counted += block.requests.size();
        } else {
            apply_batches(batches.engine, block.requests, sink);
            apply_batches(singles.engine, block.requests, sink);
        }
    }
    std::printf("%zu operations each\n", counted);
    return 0;
}

std::optional<Settings> parse(std::span<char*> arguments) {
    Settings settings;
    for (std::size_t i = 1; i < arguments.size(); i += 2) {
        if (i + 1 == arguments.size()) return std::nullopt;
        const std::string name = arguments[i];
        const char* const text = arguments[i + 1];
        const std::uint64_t value = std::strtoull(text, nullptr, 0);
        const auto word = static_cast<std::uint32_t>(value);
        if (name == "--operations" && value >= 5 * block_length && value <= 50'000'000) {
            settings.operations = word;
        } else if (name == "--repeat" && value >= 1 && value <= 1'000) {
            settings.repeat = word;
        } else if (name == "--seed" && value >= 1) {
            settings.seed = value;
        } else if (name == "--books" && value >= 1) {
            settings.books = word;
        } else if (name == "--count") {
            settings.count = text;
        } else {
            return std::nullopt;
        }
    }
    return settings;
}

}  // namespace
}  // namespace match_bench

int main(int argc, char** argv) {
    using namespace match_bench;
    const auto settings = parse({argv, static_cast<std::size_t>(argc)});
    if (!settings) {
        std::fprintf(stderr,
                     "usage: match_bench [--operations N] [--repeat N] [--seed N]\n"
                     "       match_bench --count mix|add|cancel|replace|cross [--books N]\n");
        return 2;
    }
    if (!settings->count.empty()) return count(*settings);
    for (const Shape& shape : shapes) {
        const Stream stream = Generator(shape, *settings).make(settings->operations);
        throughput(shape, stream, *settings);
        latency(shape, stream, *settings);
    }
    return 0;
}
