// A strategy's first program: attaches to a segment by name and prints the top of the book of
// chosen symbols. It needs the headers of `pkg-config wirebook-ring` and nothing else:
//
//     g++ -std=c++20 -O2 top_of_book.cpp $(pkg-config --cflags wirebook-ring) -o top_of_book
//     ./top_of_book nasdaq AAPL MSFT
//
// It waits until the segment is there, says how many records it lost, and goes on with the next
// writer when its own restarts. With --latency it ends with one line of percentiles on stdout.
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "wirebook/ring/reader.hpp"

namespace ring = wirebook::ring;

namespace {

constexpr const char* usage =
    "usage: top_of_book NAME [SYMBOL...] [options]\n"
    "  NAME             the segment, as given to --publish; SYMBOL: print these only\n"
    "  --seconds N      end after N seconds         --count N     end after N records\n"
    "  --until-end      end when the writer closes the segment\n"
    "  --wait N         wait at most N seconds for the segment (default: for ever)\n"
    "  --latency        end with a line of latencies, from the packet's receive stamp on\n"
    "  --quiet          print no books              --directory DIR  where the segment is\n";

struct Options {
    std::string name;
    std::vector<std::string> symbols;
    std::string directory;
    double seconds = 0;  // 0: no end
    double wait = -1;    // below 0: for ever
    unsigned long long count = 0;
    bool until_end = false, latency = false, quiet = false;
};

std::atomic<bool> interrupted{false};
void interrupt(int) {
    interrupted.store(true, std::memory_order_relaxed);
}

// Log-linear: 64 buckets for each doubling, so 1.6 % resolution, for any number of samples.
class Percentiles {
public:
    void add(std::int64_t ns) {
        const auto value = static_cast<std::uint64_t>(ns < 0 ? 0 : ns);
        const auto doublings = std::bit_width(value | 127U) - 7;
        const auto bucket = static_cast<std::size_t>(doublings) * 64 + (value >> doublings);
        buckets_[bucket] += 1;
        samples_ += 1;
    }
    // The smallest value that `fraction` of the samples do not exceed; 0 without samples.
    [[nodiscard]] unsigned long long at(double fraction) const {
        const auto rank = static_cast<std::uint64_t>(fraction * static_cast<double>(samples_));
        std::uint64_t seen = 0;
        for (std::size_t bucket = 0; bucket < buckets_.size() && samples_ != 0; ++bucket) {
            seen += buckets_[bucket];
            if (seen <= rank && seen != samples_) continue;
            const std::size_t doublings = bucket < 128 ? 0 : bucket / 64 - 1;
            return (bucket - doublings * 64) << doublings;
        }
        return 0;
    }

private:
    std::array<std::uint64_t, 64 * 60> buckets_{};
    std::uint64_t samples_ = 0;
};

// A price in units of 1e-9, with the venue's decimal places. "-" where there is none.
std::string price_text(std::int64_t price, unsigned places) {
    if (price == ring::no_price) return "-";
    places = places > 9 ? 9 : places;
    const auto magnitude =
        price < 0 ? 0 - static_cast<std::uint64_t>(price) : static_cast<std::uint64_t>(price);
    std::array<char, 48> text{};
    const int bytes = std::snprintf(text.data(), text.size(), "%s%llu.%09llu", price < 0 ? "-" : "",
                                    static_cast<unsigned long long>(magnitude / 1'000'000'000),
                                    static_cast<unsigned long long>(magnitude % 1'000'000'000));
    return {text.data(), static_cast<std::size_t>(bytes) - (places == 0 ? 10 : 9 - places)};
}

// Which instruments to print, and how. Symbols can come, or change, while the writer runs.
class Chosen {
public:
    explicit Chosen(const std::vector<std::string>& symbols) : symbols_(symbols) {}

    struct Instrument {
        ring::Symbol symbol;
        std::uint8_t places = 0;
        bool wanted = false;
    };
    const Instrument& look_up(const ring::Reader& reader, std::uint32_t instrument) {
        const std::uint64_t renames = reader.header().renames.load(std::memory_order_relaxed);
        if (reader.epoch() != epoch_ || renames != renames_ || instrument >= known_.size())
            read_all(reader, renames);
        return instrument < known_.size() ? known_[instrument] : none_;
    }

private:
    void read_all(const ring::Reader& reader, std::uint64_t renames) {
        epoch_ = reader.epoch();
        renames_ = renames;
        known_.clear();
        for (std::uint32_t i = 0; i < reader.instruments(); ++i) {
            const auto identity = reader.identity(i).value_or(ring::Identity{});
            bool wanted = symbols_.empty();
            for (const auto& symbol : symbols_) wanted |= identity.symbol.view() == symbol;
            known_.push_back({identity.symbol, identity.price_places, wanted});
        }
    }

    const std::vector<std::string>& symbols_;
    std::vector<Instrument> known_;
    Instrument none_;
    std::uint64_t epoch_ = 0, renames_ = 0;
};

const char* quality_text(ring::Quality quality) {
    switch (quality) {
        case ring::Quality::good: return "";
        case ring::Quality::stale: return "  STALE";
        case ring::Quality::recovering: return "  RECOVERING";
        case ring::Quality::not_ready: return "  NOT READY";
    }
    return "  ?";
}

class TopOfBook {
public:
    explicit TopOfBook(const Options& options) : options_(options), chosen_(options.symbols) {}

    void run(ring::Reader& reader) {
        ring::Record record;
        const auto end =
            std::chrono::steady_clock::now() + std::chrono::duration<double>(options_.seconds);
        for (std::uint64_t turn = 1; !interrupted.load(std::memory_order_relaxed); ++turn) {
            switch (reader.poll(record)) {
                case ring::Poll::record: take(reader, record, wirebook::rdtsc()); break;
                case ring::Poll::empty: wirebook::pause(); break;
                case ring::Poll::lapped:
                    std::fprintf(stderr, "top_of_book: fell behind, %llu records lost so far\n",
                                 static_cast<unsigned long long>(reader.lost()));
                    break;
                case ring::Poll::writer_closed:
                case ring::Poll::writer_dead:
                    if (options_.until_end || !next_writer(reader)) return;
                    break;
                case ring::Poll::reattached: break;  // of AttachOptions::follow
            }
            if (options_.count != 0 && records_ >= options_.count) return;
            if (options_.seconds > 0 && turn % 1024 == 0 && std::chrono::steady_clock::now() >= end)
                return;
        }
    }
    void report(const ring::Reader& reader) const {
        const auto lost = static_cast<unsigned long long>(reader.lost());
        std::fprintf(stderr, "top_of_book: %llu records read, %llu lost\n", records_, lost);
        if (!options_.latency) return;
        std::printf("records=%llu lost=%llu", records_, lost);
        print("published", published_);
        print("read", read_);
        std::printf("\n");
    }

private:
    void take(const ring::Reader& reader, const ring::Record& record, std::uint64_t read_tsc) {
        records_ += 1;
        if (record.receive_tsc != 0 && !record.from_table()) {
            const wirebook::TscClock& clock = reader.clock();
            published_.add(clock.ns_from_ticks(record.published_delta));
            if (read_tsc > record.receive_tsc)
                read_.add(clock.ns_from_ticks(read_tsc - record.receive_tsc));
        }
        if (options_.quiet || record.kind != ring::RecordKind::snapshot) return;
        const Chosen::Instrument& instrument = chosen_.look_up(reader, record.instrument);
        if (!instrument.wanted) return;
        const std::string_view symbol = instrument.symbol.view();
        std::printf("%-8.*s %8llu x %s | %s x %llu%s\n", static_cast<int>(symbol.size()),
                    symbol.data(), static_cast<unsigned long long>(record.bid_quantity),
                    price_text(record.bid_price, instrument.places).c_str(),
                    price_text(record.ask_price, instrument.places).c_str(),
                    static_cast<unsigned long long>(record.ask_quantity),
                    quality_text(reader.quality(record)));
    }
    // Waits for a writer that takes the name over. False: interrupted, or nothing came in time.
    bool next_writer(ring::Reader& reader) const {
        std::fprintf(stderr, "top_of_book: the writer has gone, waiting for the next one\n");
        const auto begin = std::chrono::steady_clock::now();
        const double patience = options_.seconds > 0 ? options_.seconds : options_.wait;
        while (!interrupted.load(std::memory_order_relaxed)) {
            const auto again = reader.reattach();
            if (!again) {
                std::fprintf(stderr, "top_of_book: %s\n", again.error().context.c_str());
                return false;
            }
            if (again.value()) {
                std::fprintf(stderr, "top_of_book: attached to the next writer\n");
                return true;
            }
            const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
            if (patience >= 0 && waited.count() >= patience) return false;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        return false;
    }
    static void print(const char* what, const Percentiles& p) {
        std::printf(" %s_p50_ns=%llu %s_p99_ns=%llu %s_p999_ns=%llu", what, p.at(0.5), what,
                    p.at(0.99), what, p.at(0.999));
    }

    const Options& options_;
    Chosen chosen_;
    unsigned long long records_ = 0;
    Percentiles published_, read_;
};

// Empty: the arguments are good. Else what is wrong with them.
std::string parse(int argc, char** argv, Options& options) {
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        const auto value = [&] { return i + 1 < argc ? argv[++i] : ""; };
        if (argument == "--seconds")
            options.seconds = std::strtod(value(), nullptr);
        else if (argument == "--count")
            options.count = std::strtoull(value(), nullptr, 10);
        else if (argument == "--wait")
            options.wait = std::strtod(value(), nullptr);
        else if (argument == "--directory")
            options.directory = value();
        else if (argument == "--until-end")
            options.until_end = true;
        else if (argument == "--latency")
            options.latency = true;
        else if (argument == "--quiet")
            options.quiet = true;
        else if (argument.starts_with("-"))
            return "unknown option " + argument;
        else if (options.name.empty())
            options.name = argument;
        else
            options.symbols.push_back(argument);
    }
    return options.name.empty() ? "which segment?" : "";
}

wirebook::Result<ring::Reader> attach(const Options& options) {
    ring::AttachOptions attach_options;
    attach_options.directory = options.directory;
    attach_options.wait = std::chrono::milliseconds(100);  // and look for signals between
    attach_options.show_position = true;  // `wirebook dump-segment` shows how far we are behind
    const auto begin = std::chrono::steady_clock::now();
    for (bool said = false;; said = true) {
        auto attached = ring::Reader::attach(options.name, attach_options);
        if (attached) return attached;
        const int code = attached.error().code;
        const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
        if ((code != ENOENT && code != ESTALE) || interrupted.load(std::memory_order_relaxed) ||
            (options.wait >= 0 && waited.count() >= options.wait))
            return attached;
        if (!said)
            std::fprintf(stderr, "top_of_book: waiting for the segment '%s'\n",
                         options.name.c_str());
    }
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    if (argc == 2 && std::strcmp(argv[1], "--help") == 0) return std::fputs(usage, stdout) < 0;
    const std::string fault = parse(argc, argv, options);
    if (!fault.empty()) {
        std::fprintf(stderr, "top_of_book: %s\n%s", fault.c_str(), usage);
        return 2;
    }
    struct sigaction action {};
    action.sa_handler = interrupt;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);

    auto attached = attach(options);
    if (!attached) {
        std::fprintf(stderr, "top_of_book: %s\n", attached.error().context.c_str());
        return interrupted.load(std::memory_order_relaxed) ? 0 : 2;
    }
    ring::Reader reader = std::move(attached).value();
    std::fprintf(stderr, "top_of_book: attached to %s\n", reader.path().c_str());
    TopOfBook program(options);
    program.run(reader);
    program.report(reader);
    return 0;
}
