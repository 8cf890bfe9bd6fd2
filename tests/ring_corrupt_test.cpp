// Segments with bytes changed at random, or cut: attaching is refused, or whatever is read is odd
// and never a fault.
#include <fstream>
#include <iterator>

#include "ring_fixture.hpp"

using namespace wirebook;
using namespace wirebook::ring;
using wirebook::test::must_create;
using wirebook::test::small_segment;
using wirebook::test::TemporaryFolder;

namespace {

// Bytes of a segment in which every part is in use.
std::string sample_bytes(const std::string& directory) {
    std::string path;
    {
        Writer writer = must_create(small_segment(directory));
        test::add_instruments(writer);
        Record record;
        for (int n = 0; n < 100; ++n) test::publish(writer, record, 5);
        path = writer.path();
    }
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Everything that a reader offers, a bounded number of times.
std::uint64_t use(Reader& reader) {
    std::uint64_t seen = reader.lost() + reader.lag() + reader.epoch();
    Record record;
    for (int i = 0; i < 200; ++i) {
        if (i == 150) reader.rejoin();
        if (reader.poll(record) != Poll::record) continue;
        for (std::size_t level = 0; level < 300; ++level)
            seen += record.bid(level).quantity + record.ask(level).quantity;
        seen += static_cast<std::uint64_t>(reader.quality(record));
        seen += reader.identity(record.instrument) ? 1U : 0U;
    }
    for (std::uint32_t i = 0; i < reader.instruments() + 2; ++i) {
        seen += reader.symbol(i).view().size();
        seen += reader.status(i) && reader.statistics(i) && reader.auction(i) ? 1U : 0U;
        seen += reader.latest(i, record) == Latest::ok ? 1U : 0U;
    }
    seen += reader.find("SYM3").value_or(0) + (reader.writer_alive() ? 1U : 0U);
    return seen;
}

}  // namespace

TEST_CASE("ring: a segment with random faults is refused or read without harm", "[ring][corrupt]") {
    const TemporaryFolder folder;
    const std::string whole = sample_bytes(folder.path());
    const std::string path = segment_path(folder.path(), "test");
    std::mt19937_64 random(test::random_seed());
    const int files = test::long_tests() ? 50'000 : (test::instrumented ? 1'000 : 3'000);
    std::uint64_t attached = 0, seen = 0;
    for (int n = 0; n < files; ++n) {
        std::string bytes = whole;
        const std::uint64_t faults = 1 + random() % 16;
        for (std::uint64_t fault = 0; fault < faults; ++fault) {
            // Every other file is hit where it hurts most.
            const std::size_t range = n % 2 == 0 ? bytes.size() : 1024;
            const std::size_t at = random() % range / 8 * 8;
            // A byte, or a word of all ones, small, or anything.
            std::uint64_t word = ~std::uint64_t{0};
            if (random() % 2 == 0) word = random() >> (random() % 64);
            if (random() % 3 == 0)
                bytes[at + random() % 8] = static_cast<char>(random());
            else
                std::memcpy(bytes.data() + at, &word, 8);
        }
        if (n % 10 == 9) bytes.resize(random() % (bytes.size() + 5000));
        // A new file each time: no mapping of the one before is cut.
        std::filesystem::remove(path);
        std::ofstream(path, std::ios::binary) << bytes;
        AttachOptions options;
        options.directory = folder.path();
        options.live_only = false;
        options.resume = static_cast<Resume>(n % 3);
        // Half of them have somebody who looks like a living writer.
        const File writer(n % 4 < 2 ? ::open(path.c_str(), O_RDWR) : -1);
        if (writer.open()) REQUIRE(take_life_lock(writer.get()));
        auto reader = Reader::attach("test", options);
        if (!reader) {
            CHECK(reader.error().code == EINVAL);
            continue;
        }
        attached += 1;
        seen += use(reader.value());
    }
    INFO(seen);
    CHECK(attached > static_cast<std::uint64_t>(files) / 10);
    CHECK(attached < static_cast<std::uint64_t>(files));
}
