// A strategy that computes a signal: the imbalance of the order book of chosen symbols, and how
// long after a packet's receive stamp the signal was there. It reads with the conflating reader:
// whatever the market does, each book is looked at once a turn, in its newest state.
//
//     g++ -std=c++20 -O2 imbalance.cpp $(pkg-config --cflags wirebook-ring) -o imbalance
//     ./imbalance nasdaq 'AAPL' 'MS*'
//
// The imbalance is (bid - ask) / (bid + ask) over the quantities of the levels that the segment
// has, each weighted by one over its distance from the best: +1 all buyers, -1 all sellers. A line
// is printed when it crosses a threshold; the latencies come at the end, on stdout.
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "wirebook/core/histogram.hpp"
#include "wirebook/ring/conflate.hpp"

namespace ring = wirebook::ring;

namespace {

constexpr const char* usage =
    "usage: imbalance NAME [PATTERN...] [options]\n"
    "  NAME             the segment, as given to --publish\n"
    "  PATTERN          symbols as the shell writes them: AAPL 'BRK*' '[A-C]*'; default: all\n"
    "  --threshold X    say so when the imbalance goes beyond +-X (default 0.5)\n"
    "  --seconds N      end after N seconds         --until-end   end with the writer\n"
    "  --wait N         wait at most N seconds for the segment (default 10)\n"
    "  --quiet          print no signals            --directory DIR  where the segment is\n";

struct Options {
    std::string name, directory;
    std::vector<std::string> symbols;
    double threshold = 0.5;
    double seconds = 0;  // 0: no end
    double wait = 10;
    bool until_end = false, quiet = false;
};

std::atomic<bool> interrupted{false};
void interrupt(int) {
    interrupted.store(true, std::memory_order_relaxed);
}

// -1 to 1; 0 for an empty book.
double imbalance(const ring::Record& book) {
    double bid = 0, ask = 0;
    for (std::size_t level = 0; level < ring::max_depth; ++level) {
        const double weight = 1.0 / static_cast<double>(level + 1);
        bid += weight * static_cast<double>(book.bid(level).quantity);
        ask += weight * static_cast<double>(book.ask(level).quantity);
        if (level + 1 >= book.bid_levels && level + 1 >= book.ask_levels) break;
    }
    return bid + ask > 0 ? (bid - ask) / (bid + ask) : 0;
}

class Imbalance {
public:
    explicit Imbalance(const Options& options) : options_(options) {}

    void run(ring::ConflatingReader& books) {
        const auto end =
            std::chrono::steady_clock::now() + std::chrono::duration<double>(options_.seconds);
        for (std::uint64_t turn = 1; !interrupted.load(std::memory_order_relaxed); ++turn) {
            const ring::Poll polled = books.poll();
            for (const ring::Record& event : books.events()) take_event(event);
            for (const ring::Record& book : books.snapshots()) take_book(books, book);
            switch (polled) {
                case ring::Poll::record: break;
                case ring::Poll::empty: wirebook::pause(); break;
                case ring::Poll::lapped: say(books, "fell behind"); break;
                case ring::Poll::reattached:
                    said_.clear();  // by index, and those are the next writer's
                    say(books, "attached to the next writer");
                    break;
                case ring::Poll::writer_closed:
                case ring::Poll::writer_dead:
                    if (options_.until_end) return;
                    wirebook::pause();
            }
            if (options_.seconds > 0 && turn % 1024 == 0 && std::chrono::steady_clock::now() >= end)
                return;
        }
    }
    void report(const ring::ConflatingReader& books) const {
        std::printf("signals=%llu trades=%llu crossings=%llu lost=%llu", signals_, trades_,
                    crossings_, static_cast<unsigned long long>(books.reader().lost()));
        std::printf(" p50_ns=%lld p99_ns=%lld p999_ns=%lld max_ns=%lld\n", at(50), at(99), at(99.9),
                    static_cast<long long>(latency_.max()));
    }

private:
    void take_event(const ring::Record& event) {
        if (event.kind == ring::RecordKind::trade) trades_ += 1;
    }
    void take_book(const ring::ConflatingReader& books, const ring::Record& book) {
        // Nothing is done on a book that may be wrong, or that nobody trades on.
        if (books.quality(book) != ring::Quality::good) return;
        const double signal = imbalance(book);
        signals_ += 1;
        if (book.receive_tsc != 0 && !book.from_table()) {
            const std::uint64_t now = wirebook::rdtsc();
            const std::uint64_t ticks = now > book.receive_tsc ? now - book.receive_tsc : 0;
            latency_.record(books.reader().clock().ns_from_ticks(ticks));
        }
        if (book.instrument >= said_.size()) said_.resize(std::size_t{book.instrument} + 1);
        const int side = signal > options_.threshold ? 1 : signal < -options_.threshold ? -1 : 0;
        if (side == said_[book.instrument]) return;
        said_[book.instrument] = side;
        crossings_ += 1;
        if (options_.quiet) return;
        const ring::Symbol symbol = books.reader().symbol(book.instrument);
        std::printf("%-8.*s %+.3f\n", static_cast<int>(symbol.view().size()), symbol.view().data(),
                    signal);
    }
    static void say(const ring::ConflatingReader& books, const char* what) {
        std::fprintf(stderr, "imbalance: %s, %llu records lost so far\n", what,
                     static_cast<unsigned long long>(books.reader().lost()));
    }
    [[nodiscard]] long long at(double percent) const { return latency_.percentile(percent); }

    const Options& options_;
    std::vector<int> said_;  // by instrument: -1, 0, 1
    unsigned long long signals_ = 0, trades_ = 0, crossings_ = 0;
    wirebook::Histogram latency_;  // receive stamp to signal
};

// Empty: the arguments are good. Else what is wrong with them.
std::string parse(int argc, char** argv, Options& options) {
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        const auto value = [&] { return i + 1 < argc ? argv[++i] : ""; };
        if (argument == "--threshold")
            options.threshold = std::strtod(value(), nullptr);
        else if (argument == "--seconds")
            options.seconds = std::strtod(value(), nullptr);
        else if (argument == "--wait")
            options.wait = std::strtod(value(), nullptr);
        else if (argument == "--directory")
            options.directory = value();
        else if (argument == "--until-end")
            options.until_end = true;
        else if (argument == "--quiet")
            options.quiet = true;
        else if (argument.starts_with("--"))
            return "unknown option " + argument;
        else if (options.name.empty())
            options.name = argument;
        else
            options.symbols.push_back(argument);
    }
    return options.name.empty() ? "which segment?" : "";
}

int fail(const std::string& why) {
    std::fprintf(stderr, "imbalance: %s\n", why.c_str());
    return 2;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    if (argc == 2 && std::strcmp(argv[1], "--help") == 0) return std::fputs(usage, stdout) < 0;
    const std::string fault = parse(argc, argv, options);
    if (!fault.empty()) return fail(fault + "\n" + usage);
    struct sigaction action {};
    action.sa_handler = interrupt;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);

    auto wanted = ring::Subscription::make({.symbols = options.symbols});
    if (!wanted) return fail(wanted.error().context);
    ring::AttachOptions attach;
    attach.directory = options.directory;
    attach.wait = std::chrono::milliseconds(static_cast<long long>(options.wait * 1000));
    attach.follow = !options.until_end;
    attach.show_position = true;  // `wirebook dump-segment` shows how far we are behind
    auto attached = ring::Reader::attach(options.name, attach);
    if (!attached) return fail(attached.error().context);
    ring::ConflatingReader books(std::move(attached).value(), std::move(wanted).value());
    std::fprintf(stderr, "imbalance: attached to %s, %zu instruments are wanted so far\n",
                 books.reader().path().c_str(), books.subscription().instruments().size());
    Imbalance strategy(options);
    strategy.run(books);
    strategy.report(books);
    return 0;
}
