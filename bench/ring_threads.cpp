// The ring between two pinned threads, beside what the machine itself needs for the way.
//
//     build/bench/ring_threads [RECORDS]          # of each measurement, default 2,000,000; 1
//     minute
//
//   hand-over   half a round trip of one cache line that two threads write in turn
//   one way     a record a microsecond; from when it was due to when the reader has it
//   writer      flat out: alone, and with a reader that follows; what that reader lost
//   keeping up  flat out, but never further ahead than half the ring
// Of the protocol itself with records of one line and of two (no table), and of segments of depth
// 1 and 5 (slot and table, the usual Writer and Reader). The jitter of a loop that only reads the
// TSC is the floor of the tails. Writer on core 0, reader on core 1.
#include <sched.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "wirebook/core/arena.hpp"
#include "wirebook/core/histogram.hpp"
#include "wirebook/ring/reader.hpp"
#include "wirebook/ring/writer.hpp"

namespace {

using namespace wirebook;

constexpr int writer_core = 0;
constexpr int reader_core = 1;
constexpr std::uint64_t slots = 65'536;

void pin(int core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(core), &set);
    (void)::sched_setaffinity(0, sizeof(set), &set);
}

template <class T>
T must(Result<T> result) {
    if (!result) {
        std::fprintf(stderr, "ring_threads: %s\n", result.error().context.c_str());
        std::exit(1);
    }
    return std::move(result).value();
}

// A ring of records of `words` words without a table. stamp(n) is its second word.
template <std::size_t record_words>
class Lines {
    struct Format {
        static constexpr std::size_t head_words = record_words;
        [[nodiscard]] static std::size_t words(const std::byte*) noexcept { return head_words; }
        [[nodiscard]] static std::size_t snapshot_of(const std::byte*) noexcept {
            return ~std::size_t{0};
        }
    };
    using Word = ring::HardwareMemory::Word;
    using Bytes = std::array<std::byte, record_words * 8>;

public:
    Lines()
        : arena_(must(Arena::create({.bytes = (slots * record_words + 64) * 8, .prefault = true}))),
          words_(arena_.make_array<Word>(slots * record_words)),
          counter_(arena_.make_array<Word>(16)) {
        WIREBOOK_CHECK(!words_.empty() && !counter_.empty());
    }
    void send(std::uint64_t stamp) noexcept {
        std::memcpy(record_.data() + 8, &stamp, 8);
        ring::publish<ring::HardwareMemory>(
            ring::RingView<Word>{words_.data(), nullptr, counter_.data(), slots, record_words},
            next_++, nullptr, record_.data(), record_words);
    }
    class Follower {
    public:
        explicit Follower(Lines& lines)
            : cursor_({lines.words_.data(), nullptr, lines.counter_.data(), slots, record_words},
                      {}) {
            cursor_.begin_join(false);
        }
        // 0: nothing new.
        std::uint64_t receive() noexcept {
            if (cursor_.poll(bytes_.data(), false) != ring::CursorPoll::record) return 0;
            std::uint64_t stamp = 0;
            std::memcpy(&stamp, bytes_.data() + 8, 8);
            return stamp;
        }
        [[nodiscard]] std::uint64_t lost() const noexcept { return cursor_.lost(); }

    private:
        ring::Cursor<ring::HardwareMemory, Format> cursor_;
        alignas(cache_line_bytes) Bytes bytes_{};
    };

private:
    Arena arena_;
    std::span<Word> words_, counter_;
    std::uint64_t next_ = 0;
    alignas(cache_line_bytes) Bytes record_{};
};

// A segment with 64 instruments that take turns.
template <std::uint32_t depth>
class Segment {
public:
    Segment() : writer_(must(ring::Writer::create(options()))) {
        for (int i = 0; i < 64; ++i) (void)writer_.add_instrument("S" + std::to_string(i), 0, 4);
        record_.bid_levels = record_.ask_levels = depth;
        record_.levels.fill({{1, 2, 3, 0}, {4, 5, 6, 0}});
    }
    ~Segment() { ::unlink(writer_.path().c_str()); }
    Segment(const Segment&) = delete;
    Segment& operator=(const Segment&) = delete;

    void send(std::uint64_t stamp) noexcept {
        record_.receive_tsc = stamp;
        record_.instrument = static_cast<std::uint32_t>(writer_.next_sequence() & 63U);
        writer_.publish_snapshot(record_);
    }
    class Follower {
    public:
        explicit Follower(Segment&) : reader_(must(ring::Reader::attach(name(), attach()))) {
            while (reader_.poll(record_) == ring::Poll::record) {
            }
        }
        std::uint64_t receive() noexcept {
            return reader_.poll(record_) == ring::Poll::record ? record_.receive_tsc : 0;
        }
        [[nodiscard]] std::uint64_t lost() const noexcept { return reader_.lost(); }

    private:
        static ring::AttachOptions attach() {
            ring::AttachOptions options;
            options.directory = "/dev/shm";
            options.join_table = false;
            return options;
        }
        ring::Reader reader_;
        ring::Record record_;
    };

private:
    static std::string name() { return "threads." + std::to_string(::getpid()); }
    static ring::SegmentOptions options() {
        ring::SegmentOptions options;
        options.name = name();
        options.directory = "/dev/shm";
        options.geometry = {.depth = depth, .slots = slots, .instruments = 64, .channels = 1};
        options.clock = TscClock::calibrate();
        return options;
    }
    ring::Writer writer_;
    ring::Record record_;
};

// The reader's thread: receives until told that `sent` records went out and it has met them all.
template <class Ring>
class Reading {
public:
    Reading(Ring& ring, const TscClock& clock, bool timed) {
        thread_ = std::thread([this, &ring, &clock, timed] {
            pin(reader_core);
            typename Ring::Follower follower(ring);
            ready_.store(true, std::memory_order_release);
            std::uint64_t seen = 0;
            while (seen + follower.lost() < sent_.load(std::memory_order_relaxed)) {
                const std::uint64_t stamp = follower.receive();
                if (stamp == 0) continue;
                if (timed) {
                    const std::uint64_t now = rdtsc();
                    one_way->record(now > stamp ? clock.ns_from_ticks(now - stamp) : 0);
                }
                if ((++seen & 1023U) == 0)
                    reached_.store(seen + follower.lost(), std::memory_order_relaxed);
            }
            lost = follower.lost();
        });
        while (!ready_.load(std::memory_order_acquire)) wirebook::pause();
    }
    [[nodiscard]] std::uint64_t reached() const noexcept {
        return reached_.load(std::memory_order_relaxed);
    }
    void join(std::uint64_t sent) {
        sent_.store(sent, std::memory_order_relaxed);
        thread_.join();
    }
    std::unique_ptr<Histogram> one_way = std::make_unique<Histogram>();
    std::uint64_t lost = 0;

private:
    std::thread thread_;
    std::atomic<bool> ready_{false};
    alignas(false_sharing_bytes) std::atomic<std::uint64_t> sent_{~std::uint64_t{0}};
    alignas(false_sharing_bytes) std::atomic<std::uint64_t> reached_{0};
};

double hand_over_ns(const TscClock& clock) {
    constexpr std::uint64_t rounds = 1'000'000;
    struct alignas(false_sharing_bytes) Line {
        std::atomic<std::uint64_t> turn{0};
    } line;
    std::thread other([&] {
        pin(reader_core);
        for (std::uint64_t n = 1; n < 2 * rounds; n += 2) {
            while (line.turn.load(std::memory_order_acquire) != n) {
            }
            line.turn.store(n + 1, std::memory_order_release);
        }
    });
    Histogram trips;
    for (std::uint64_t n = 0; n < 2 * rounds; n += 2) {
        const std::uint64_t start = rdtsc();
        line.turn.store(n + 1, std::memory_order_release);
        while (line.turn.load(std::memory_order_acquire) != n + 2) {
        }
        trips.record(clock.ns_from_ticks(rdtsc() - start));
    }
    other.join();
    return static_cast<double>(trips.percentile(50)) / 2;
}

template <class Ring>
void measure(const char* what, const TscClock& clock, std::uint64_t records, double hand_over) {
    const auto per_record = [&](std::uint64_t start) {
        return static_cast<double>(clock.ns_from_ticks(rdtsc() - start)) /
               static_cast<double>(records);
    };
    Ring ring;
    for (std::uint64_t n = 0; n < slots; ++n) ring.send(1);  // the pages are there
    std::uint64_t start = rdtsc();
    for (std::uint64_t n = 0; n < records; ++n) ring.send(1);
    const double alone = per_record(start);
    double followed = 0, lost_percent = 0, keeping_up = 0;
    {
        Reading reading(ring, clock, false);
        start = rdtsc();
        for (std::uint64_t n = 0; n < records; ++n) ring.send(1);
        followed = per_record(start);
        reading.join(records);
        lost_percent = 100.0 * static_cast<double>(reading.lost) / static_cast<double>(records);
    }
    {
        Reading reading(ring, clock, false);
        start = rdtsc();
        for (std::uint64_t n = 0; n < records; ++n) {
            while (n - reading.reached() > slots / 2) wirebook::pause();
            ring.send(1);
        }
        reading.join(records);
        keeping_up = per_record(start);
        WIREBOOK_CHECK(reading.lost == 0);
    }
    const std::uint64_t timed = records / 4;
    Reading reading(ring, clock, true);
    const std::uint64_t gap = clock.ticks_from_ns(1000);
    std::uint64_t due = rdtsc() + gap;
    for (std::uint64_t n = 0; n < timed; ++n, due += gap) {
        while (rdtsc() < due) {
        }
        ring.send(due);
    }
    reading.join(timed);
    const Histogram& h = *reading.one_way;
    std::printf("%-24s %6ld %6ld %7ld %9ld  %5.2f | %6.1f %8.1f %5.1f %% | %6.1f %6.1f\n", what,
                static_cast<long>(h.percentile(50)), static_cast<long>(h.percentile(99)),
                static_cast<long>(h.percentile(99.9)), static_cast<long>(h.max()),
                static_cast<double>(h.percentile(50)) / hand_over, alone, followed, lost_percent,
                keeping_up, 1000 / keeping_up);
}

void print_jitter(const TscClock& clock) {
    Histogram pauses;
    const std::uint64_t end = rdtsc() + clock.ticks_from_ns(2'000'000'000);
    for (std::uint64_t last = rdtsc(); last < end;) {
        const std::uint64_t now = rdtsc();
        const std::int64_t pause_ns = clock.ns_from_ticks(now - last);
        pauses.record(pause_ns, static_cast<std::uint64_t>(pause_ns));
        last = now;
    }
    std::printf("jitter of one core, by instant: p50 %ld p99 %ld p99.9 %ld max %ld ns\n",
                static_cast<long>(pauses.percentile(50)), static_cast<long>(pauses.percentile(99)),
                static_cast<long>(pauses.percentile(99.9)), static_cast<long>(pauses.max()));
}

}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t records = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2'000'000;
    if (records < 4 * slots || records > 1'000'000'000 || argc > 2) {
        std::fprintf(stderr, "usage: ring_threads [RECORDS], 262,144 to 1,000,000,000\n");
        return 2;
    }
    pin(writer_core);
    const TscClock clock = TscClock::calibrate();
    print_jitter(clock);
    const double hand_over = hand_over_ns(clock);
    std::printf("hand-over of a cache line between the cores: %.0f ns\n\n", hand_over);
    std::printf("%-24s %31s %6s | %s\n", "", "one way, ns, 1 record a us", "p50/",
                "writer flat out, ns a record   | keeping up");
    std::printf("%-24s %6s %6s %7s %9s  %5s | %6s %8s %7s | %6s %6s\n", "", "p50", "p99", "p99.9",
                "max", "hand", "alone", "followed", "lost", "ns", "M/s");
    measure<Lines<8>>("one line, 64 B", clock, records, hand_over);
    measure<Lines<16>>("two lines, 128 B", clock, records, hand_over);
    measure<Segment<1>>("segment, depth 1", clock, records, hand_over);
    measure<Segment<5>>("segment, depth 5", clock, records, hand_over);
    return 0;
}
