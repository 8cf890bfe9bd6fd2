// Merging segments by receive stamp: what waits for whom, and for how long.
#include <cstdlib>
#include <optional>
#include <random>

#include "ring_fixture.hpp"
#include "wirebook/ring/merge.hpp"

using namespace wirebook;
using namespace wirebook::ring;
using wirebook::test::must_create;
using wirebook::test::small_segment;
using wirebook::test::TemporaryFolder;

namespace {

constexpr std::chrono::microseconds never{1'000'000'000'000'000};

// Some segments "a", "b" ... of one instrument each, and their merged reader.
class MergeRig {
public:
    explicit MergeRig(std::size_t segments, MergeOptions options = {.hung = never},
                      bool follow = false) {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < segments; ++i) {
            writers.emplace_back();
            create(i);
            names.push_back(name(i));
        }
        AttachOptions attach;
        attach.directory = folder_.path();
        attach.follow = follow;
        auto merged = MergeReader::attach(names, attach, options);
        if (!merged) FAIL(merged.error().context);
        reader.emplace(std::move(merged).value());
        REQUIRE(numbers().empty());  // the tables are behind us
    }
    void create(std::size_t i) {
        SegmentOptions options = small_segment(folder_.path());
        options.name = name(i);
        options.geometry.slots = 1024;
        writers[i].emplace(must_create(options));
        REQUIRE(writers[i]->add_instrument("ONE", 0, 4) == 0);
        writers[i]->heartbeat(0);
    }
    void publish(std::size_t segment, std::uint64_t receive_tsc, std::uint64_t number) {
        Record record;
        record.instrument = 0;
        record.receive_tsc = receive_tsc;
        record.packet = number;
        writers[segment]->publish_snapshot(record);
    }
    // Numbers of the records that may be read now.
    std::vector<std::uint64_t> numbers() {
        std::vector<std::uint64_t> all;
        Record record;
        while (reader->poll(record) == Poll::record) all.push_back(record.packet);
        return all;
    }

private:
    static std::string name(std::size_t i) { return std::string(1, static_cast<char>('a' + i)); }
    TemporaryFolder folder_;

public:
    std::vector<std::optional<Writer>> writers;
    std::optional<MergeReader> reader;
};
using Numbers = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("merge: records of several segments come in the order of their stamps", "[ring]") {
    MergeRig rig(3);
    rig.publish(0, 100, 1), rig.publish(0, 300, 3), rig.publish(0, 600, 6);
    rig.publish(1, 200, 2), rig.publish(1, 500, 5);
    rig.publish(2, 400, 4);
    // 5 could still be preceded by one of segment 2, received at 400 or later.
    CHECK(rig.numbers() == Numbers{1, 2, 3, 4});
    rig.writers[2]->heartbeat(499);
    CHECK(rig.numbers().empty());
    rig.writers[2]->heartbeat(500);
    CHECK(rig.numbers() == Numbers{5});  // one of segment 2 received at 500 goes behind it
    rig.writers[1]->heartbeat(600);
    CHECK(rig.numbers().empty());
    rig.writers[2]->heartbeat(601);
    CHECK(rig.numbers() == Numbers{6});
    CHECK(rig.reader->late() == 0);
    CHECK(rig.reader->lost() == 0);
}

TEST_CASE("merge: equal stamps go by segment, then by sequence", "[ring]") {
    MergeRig rig(2);
    rig.publish(1, 100, 3), rig.publish(1, 100, 4);
    rig.publish(0, 100, 1), rig.publish(0, 100, 2);
    CHECK(rig.numbers() == Numbers{1, 2});
    rig.writers[0]->heartbeat(101);
    CHECK(rig.numbers() == Numbers{3, 4});
}

TEST_CASE("merge: a quiet segment holds the others up only to its heartbeat", "[ring]") {
    MergeRig rig(2);
    rig.publish(0, 100, 1), rig.publish(0, 200, 2), rig.publish(0, 300, 3);
    CHECK(rig.numbers().empty());
    rig.writers[1]->heartbeat(250);
    CHECK(rig.numbers() == Numbers{1, 2});
    rig.publish(1, 260, 9);
    rig.writers[1]->heartbeat(400);
    CHECK(rig.numbers() == Numbers{9, 3});
}

TEST_CASE("merge: a segment that closed or died holds nobody up, and says so once", "[ring]") {
    MergeRig rig(2);
    rig.publish(0, 100, 1);
    rig.publish(1, 50, 0);
    rig.writers[1].reset();
    Record record;
    CHECK(rig.reader->poll(record) == Poll::record);
    CHECK(record.packet == 0);
    CHECK(rig.reader->segment() == 1);
    Poll polled;
    while ((polled = rig.reader->poll(record)) == Poll::empty) {
    }
    CHECK(polled == Poll::writer_closed);
    CHECK(rig.reader->segment() == 1);
    CHECK(rig.numbers() == Numbers{1});
    CHECK(rig.reader->segment() == 0);
    CHECK(rig.reader->poll(record) == Poll::empty);
    rig.writers[0].reset();
    while ((polled = rig.reader->poll(record)) == Poll::empty) {
    }
    CHECK(polled == Poll::writer_closed);
    CHECK(rig.reader->poll(record) == Poll::writer_closed);  // all have ended
}

TEST_CASE("merge: a writer that hangs holds nobody up, what it brings later is counted", "[ring]") {
    MergeRig rig(2, {.hung = std::chrono::microseconds(0)});
    rig.publish(0, 100, 1);
    // Its heartbeat is long ago, or never was.
    CHECK(rig.numbers() == Numbers{1});
    CHECK(rig.reader->late() == 0);
    rig.publish(1, 50, 9);
    CHECK(rig.numbers() == Numbers{9});
    CHECK(rig.reader->late() == 1);
    // One that is not as old as the limit is waited for.
    MergeRig patient(2, {.hung = never});
    patient.publish(0, rdtsc() + 1'000'000'000, 1);
    patient.writers[1]->heartbeat(rdtsc());
    CHECK(patient.numbers().empty());
}

TEST_CASE("merge: what has no stamp, or an older one, stays behind its segment's last", "[ring]") {
    MergeRig rig(2);
    rig.publish(0, 100, 1), rig.publish(0, 0, 2), rig.publish(0, 90, 3), rig.publish(0, 300, 6);
    rig.publish(1, 150, 4), rig.publish(1, 200, 5), rig.publish(1, 400, 7);
    CHECK(rig.numbers() == Numbers{1, 2, 3, 4, 5, 6});
    CHECK(rig.reader->late() == 0);
}

TEST_CASE("merge: a lap is told with its segment, the table then comes at once", "[ring]") {
    MergeRig rig(2);
    Record record;
    CHECK(rig.reader->poll(record) == Poll::empty);
    for (std::uint64_t n = 0; n < 1100; ++n) rig.publish(1, 5000 + n, n);
    REQUIRE(rig.reader->poll(record) == Poll::lapped);
    CHECK(rig.reader->segment() == 1);
    CHECK(rig.reader->lost() == 1100);
    REQUIRE(rig.reader->poll(record) == Poll::record);
    CHECK(record.from_table());
    CHECK(record.packet == 1099);
    CHECK(rig.reader->poll(record) == Poll::empty);
}

TEST_CASE("merge: a segment's next writer joins the others again", "[ring]") {
    MergeRig rig(2, {.hung = never}, true);
    Record record;
    rig.writers[1].reset();
    Poll polled;
    while ((polled = rig.reader->poll(record)) == Poll::empty) {
    }
    CHECK(polled == Poll::writer_closed);
    rig.create(1);
    while ((polled = rig.reader->poll(record)) == Poll::empty) {
    }
    CHECK(polled == Poll::reattached);
    CHECK(rig.reader->segment() == 1);
    rig.publish(0, 100, 1);
    CHECK(rig.numbers().empty());  // it is waited for again
    rig.publish(1, 110, 2);
    CHECK(rig.numbers() == Numbers{1});
}

TEST_CASE("merge: no segment, or one that is not there, is an error", "[ring]") {
    CHECK(MergeReader::attach({}).error().code == EINVAL);
    const TemporaryFolder folder;
    AttachOptions options;
    options.directory = folder.path();
    const auto merged = MergeReader::attach({"gone"}, options);
    REQUIRE_FALSE(merged.ok());
    CHECK(merged.error().code == ENOENT);
}

// WIREBOOK_SEED=N repeats a run.
TEST_CASE("merge: random streams come out sorted by time, segment, sequence", "[ring]") {
    const char* given = std::getenv("WIREBOOK_SEED");
    const std::uint64_t seed = given ? std::strtoull(given, nullptr, 10) : 20'261'130;
    INFO("WIREBOOK_SEED=" << seed);
    std::mt19937_64 random(seed);
    for (int round = 0; round < 20; ++round) {
        const std::size_t segments = 1 + random() % 4;
        MergeRig rig(segments);
        struct Key {
            std::uint64_t tsc;
            std::size_t segment;
            std::uint64_t number;
            auto operator<=>(const Key&) const = default;
        };
        std::vector<Key> sent, got;
        std::vector<std::uint64_t> received(segments, 1);  // up to where each writer has come
        const auto read = [&] {
            Record record;
            while (rig.reader->poll(record) == Poll::record) {
                got.push_back({record.receive_tsc, rig.reader->segment(), record.packet});
                // Nothing is given that a live writer could still precede.
                for (std::size_t i = 0; i < segments; ++i)
                    REQUIRE(record.receive_tsc <= received[i]);
            }
        };
        for (std::uint64_t number = 0; number < 2000; ++number) {
            const std::size_t segment = random() % segments;
            received[segment] += random() % 4;
            if (random() % 3 == 0) {
                rig.writers[segment]->heartbeat(received[segment]);
            } else {
                rig.publish(segment, received[segment], number);
                sent.push_back({received[segment], segment, number});
            }
            if (random() % 8 == 0 || number % 32 == 0) read();
        }
        for (std::size_t i = 0; i < segments; ++i) {
            received[i] = ~std::uint64_t{0};
            rig.writers[i]->heartbeat(received[i]);
        }
        read();
        std::sort(sent.begin(), sent.end());
        REQUIRE(got.size() == sent.size());
        REQUIRE(std::equal(got.begin(), got.end(), sent.begin()));
        CHECK(rig.reader->late() == 0);
        CHECK(rig.reader->lost() == 0);
    }
}
