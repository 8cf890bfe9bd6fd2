// What it costs to take an object from a pool and give it back: ours, and those that others use.
//
//     build/bench/pool_bench                      # a table; 3 to 4 minutes
//     build/bench/pool_bench --quick              # 64 bytes only, one round; 15 seconds
//     build/bench/pool_bench --csv pools.csv      # and every median, for pool_plot.py
//     build/bench/pool_bench --only NAME          # one pool, by its name in the table
//     build/bench/pool_bench --processor-time     # the table without what others took of the
//                                                 # machine, and without waiting
//
// Each pool is measured by a run of this program of its own, one after the other, several rounds
// (so that what disturbs the machine for a while does not hit one pool alone); medians. Other
// implementations of malloc come in by LD_PRELOAD; those that are not installed are left out, with
// a line on stderr. What is measured: pools/measure.hpp.
#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <tuple>

#include "pools/lock_free.hpp"
#include "pools/locked.hpp"
#include "pools/measure.hpp"
#include "pools/unshared.hpp"
#ifdef WIREBOOK_DPDK
#include "pools/mempool.hpp"
#endif

using namespace wirebook;
using namespace wirebook::bench;

namespace {

struct Candidate {
    const char* name;
    const char* preload;  // a library, or nullptr
    std::vector<Row> (*measure)(const Settings&);
};

constexpr Candidate candidates[] = {
    {"no pool: the loop alone", nullptr, measure<NoPool>},
    {"slab, a pool a thread", nullptr, measure<OwnSlab>},
    {"thread_local stack", nullptr, measure<ThreadLocalPool>},
    {"pmr monotonic", nullptr, measure<MonotonicPool>},
    {"pmr unsynchronized", nullptr, measure<UnsynchronizedPool>},
#ifdef WIREBOOK_BOOST_POOL
    {"boost::pool", nullptr, measure<BoostPool>},
#endif
#ifdef WIREBOOK_DPDK
    {"rte_mempool, cache 512", nullptr, measure_mempool},
#endif
    {"fetch_add, unchecked", nullptr, measure<UncheckedFetchAddSlab>},
    {"fetch_add slab", nullptr, measure<CheckedFetchAddSlab>},
    {"CAS stack", nullptr, measure<CasStackPool>},
    {"ring slab", nullptr, measure<RingSlab>},
    {"spin lock", nullptr, measure<SpinPool>},
    {"16 mutexes", nullptr, measure<SixteenMutexPool>},
    {"4 mutexes", nullptr, measure<FourMutexPool>},
    {"one mutex", nullptr, measure<OneMutexPool>},
    {"glibc malloc", nullptr, measure<MallocPool>},
    {"tcmalloc", "libtcmalloc_minimal.so.4", measure<MallocPool>},
    {"jemalloc", "libjemalloc.so.2", measure<MallocPool>},
    {"mimalloc", "libmimalloc.so.2", measure<MallocPool>},
};

struct Options {
    Settings settings;
    int rounds = 3;
    bool quick = false, processor_time = false;
    const char* csv = nullptr;
    const char* only = nullptr;
    const char* child = nullptr;  // this run measures the candidate of that name
};

Options parse(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const char* value = i + 1 < argc ? argv[i + 1] : nullptr;
        if (word == "--quick") {
            options.quick = true;
        } else if (word == "--processor-time") {
            options.processor_time = true;
        } else if (word == "--csv" && value) {
            options.csv = argv[++i];
        } else if (word == "--only" && value) {
            options.only = argv[++i];
        } else if (word == "--child" && value) {
            options.child = argv[++i];
        } else {
            std::fprintf(
                stderr,
                "usage: pool_bench [--quick] [--processor-time] [--csv FILE] [--only NAME]\n");
            std::exit(2);
        }
    }
    if (options.quick) {
        options.rounds = 1;
        options.settings.sizes = {64};
        options.settings.repetitions = 1;
        options.settings.milliseconds = 10;
    }
    return options;
}

bool library_loaded(const char* name) {
    return dl_iterate_phdr(
               [](dl_phdr_info* info, std::size_t, void* wanted) {
                   return std::strstr(info->dlpi_name, static_cast<const char*>(wanted)) ? 1 : 0;
               },
               const_cast<char*>(name)) != 0;
}

// One line a row, for the run that started this one.
int child(const Options& options) {
    for (const Candidate& candidate : candidates) {
        if (std::strcmp(candidate.name, options.child) != 0) continue;
        if (candidate.preload != nullptr && !library_loaded(candidate.preload)) return 1;
        for (const Row& row : candidate.measure(options.settings)) {
            std::printf("%s %zu %u %.4f %.4f %.1f %.1f %.4f\n", row.pattern.c_str(), row.bytes,
                        row.threads, row.wall_ns, row.processor_ns, row.p50_ns, row.p99_ns,
                        row.lock_share);
        }
        return 0;
    }
    return 2;
}

std::vector<Row> run_child(const Candidate& candidate, bool quick) {
    std::string command = candidate.preload ? "LD_PRELOAD=" + std::string(candidate.preload) : "";
    command += " exec /proc/" + std::to_string(getpid()) + "/exe --child '" + candidate.name + "'";
    if (quick) command += " --quick";
    std::vector<Row> rows;
    std::FILE* out = popen(command.c_str(), "r");
    char line[256], pattern[16];
    Row row;
    while (out && std::fgets(line, sizeof(line), out)) {
        if (std::sscanf(line, "%15s %zu %u %lf %lf %lf %lf %lf", pattern, &row.bytes, &row.threads,
                        &row.wall_ns, &row.processor_ns, &row.p50_ns, &row.p99_ns,
                        &row.lock_share) != 8)
            continue;
        row.pattern = pattern;
        rows.push_back(row);
    }
    if (out == nullptr || pclose(out) != 0)
        std::fprintf(stderr, "pool_bench: %s is left out\n", candidate.name);
    return rows;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

using Key = std::tuple<std::string, std::size_t, unsigned>;  // pattern, bytes, threads
using Medians = std::map<Key, Row>;

Medians medians_of(const std::vector<Row>& rows) {
    std::map<Key, std::vector<Row>> groups;
    for (const Row& row : rows) groups[{row.pattern, row.bytes, row.threads}].push_back(row);
    Medians medians;
    for (const auto& [key, group] : groups) {
        const auto of = [&group = group](double Row::*field) {
            std::vector<double> values;
            for (const Row& row : group) values.push_back(row.*field);
            return median(values);
        };
        Row row = group.front();
        for (double Row::*field :
             {&Row::wall_ns, &Row::processor_ns, &Row::p50_ns, &Row::p99_ns, &Row::lock_share})
            row.*field = of(field);
        medians[key] = row;
    }
    return medians;
}

void print_cell(const Medians& medians, const Key& key, double Row::*time) {
    const auto found = medians.find(key);
    if (found == medians.end())
        std::printf(" %8s", "-");
    else
        std::printf(" %8.1f", found->second.*time);
}

// One line a pool: ns a pair and thread; then p50/p99 of single pairs, and the share in locks.
void print_table(const Settings& settings, const std::map<std::string, Medians>& all,
                 double Row::*time) {
    for (const std::size_t bytes : settings.sizes) {
        std::printf(
            "\n%zu bytes, ns a pair   |  lifo: 1        2        4 | random: 1"
            "        2        4 | single p50/p99 | in locks 1/2/4 threads\n",
            bytes);
        for (const Candidate& candidate : candidates) {
            const auto found = all.find(candidate.name);
            if (found == all.end() || found->second.empty()) continue;
            const Medians& medians = found->second;
            std::printf("%-24s", candidate.name);
            for (const char* pattern : {"lifo", "random"}) {
                for (const unsigned threads : settings.threads)
                    print_cell(medians, {pattern, bytes, threads}, time);
            }
            if (const auto single = medians.find({"single", bytes, 1}); single != medians.end())
                std::printf("   %5.0f/%-6.0f", single->second.p50_ns, single->second.p99_ns);
            if (medians.begin()->second.lock_share >= 0) {
                for (const unsigned threads : settings.threads)
                    std::printf(" %5.0f%%", 100 * medians.at({"lifo", bytes, threads}).lock_share);
            }
            std::printf("\n");
        }
    }
}

void write_csv(const char* path, const std::map<std::string, Medians>& all) {
    std::FILE* out = std::fopen(path, "w");
    if (out == nullptr) {
        std::perror(path);
        std::exit(1);
    }
    std::fprintf(out, "pool,pattern,bytes,threads,wall_ns,processor_ns,p50_ns,p99_ns,lock_share\n");
    for (const Candidate& candidate : candidates) {
        const auto found = all.find(candidate.name);
        if (found == all.end()) continue;
        for (const auto& [key, row] : found->second)
            std::fprintf(out, "\"%s\",%s,%zu,%u,%.3f,%.3f,%.0f,%.0f,%.3f\n", candidate.name,
                         row.pattern.c_str(), row.bytes, row.threads, row.wall_ns, row.processor_ns,
                         row.p50_ns, row.p99_ns, std::max(row.lock_share, 0.0));
    }
    std::fclose(out);
}

}  // namespace

int main(int argc, char** argv) {
    const Options options = parse(argc, argv);
    if (options.child != nullptr) return child(options);
    std::map<std::string, std::vector<Row>> rows;
    for (int round = 0; round < options.rounds; ++round) {
        for (const Candidate& candidate : candidates) {
            if (options.only && std::strcmp(options.only, candidate.name) != 0) continue;
            for (const Row& row : run_child(candidate, options.quick))
                rows[candidate.name].push_back(row);
        }
    }
    std::map<std::string, Medians> all;
    for (const auto& [name, measured] : rows) all[name] = medians_of(measured);
    double load = 0;
    if (getloadavg(&load, 1) != 1) load = -1;
    std::printf("%u processors, load %.1f (this program's threads included), medians of %d\n",
                std::thread::hardware_concurrency(), load,
                options.rounds * options.settings.repetitions);
    print_table(options.settings, all, options.processor_time ? &Row::processor_ns : &Row::wall_ns);
    if (options.csv) write_csv(options.csv, all);
    return 0;
}
