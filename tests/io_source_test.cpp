// The capture source: compression, blocks, merging, folders, pipes, pace.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <deque>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "io_captures.hpp"
#include "wirebook/core/clock.hpp"
#include "wirebook/io/pacer.hpp"

using namespace wirebook;
using namespace wirebook::test;

namespace {

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// A folder of its own, gone with the test.
class Folder {
public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "io_test_XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() { std::filesystem::remove_all(path_); }

    std::string write(const std::string& name, const std::vector<std::byte>& bytes) const {
        const std::string file_path = path(name);
        std::ofstream file(file_path, std::ios::binary);
        file.write(reinterpret_cast<const char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
        return file_path;
    }
    [[nodiscard]] std::string path(const std::string& name) const { return path_ / name; }

private:
    std::filesystem::path path_;
};

std::uint64_t seed() {
    const char* text = std::getenv("WIREBOOK_SEED");
    const std::uint64_t value = text != nullptr ? std::stoull(text) : std::random_device{}();
    UNSCOPED_INFO("WIREBOOK_SEED=" << value);
    return value;
}

FileBytes pcap_of(const std::vector<std::pair<std::uint32_t, std::string>>& records) {
    FileBytes file = pcap_header();
    for (const auto& [time_ns, data] : records) file.add(pcap_record(0, time_ns, data));
    return file;
}

FileBytes long_pcap(std::size_t records, std::uint64_t random_seed) {
    std::mt19937_64 random(random_seed);
    FileBytes file = pcap_header();
    for (std::size_t i = 0; i < records; ++i) {
        const std::size_t bytes = random() % 16 == 0 ? random() % 5000 : random() % 200;
        std::string data(bytes, static_cast<char>('a' + random() % 26));
        file.add(pcap_record(static_cast<std::uint32_t>(i), 0, data));
    }
    return file;
}

ReadResult read_files(const std::vector<std::string>& files, std::size_t burst = 32) {
    io::CaptureOptions options;
    options.files = files;
    options.binaryfile_min_length = two_messages;
    return drain(io::CaptureSource::open(options), burst);
}

}  // namespace

TEST_CASE("source: gzip, zstd, members and frames give the same records as plain") {
    const FileBytes file = long_pcap(3000, seed());
    const auto middle = file.bytes().begin() + 1000;
    const std::vector<std::byte> front(file.bytes().begin(), middle);
    const std::vector<std::byte> back(middle, file.bytes().end());
    const ReadResult plain = read_memory(file.bytes());
    REQUIRE(plain.records.size() == 3000);
    for (const auto pack : {gzip, zstd}) {
        CHECK(read_memory(pack(file.bytes())).records == plain.records);
        std::vector<std::byte> parts = pack(front);
        const std::vector<std::byte> second = pack(back);
        parts.insert(parts.end(), second.begin(), second.end());
        for (const std::size_t block : {std::size_t{64}, std::size_t{4096}, std::size_t{1} << 18}) {
            const ReadResult read = read_memory(parts, true, block);
            CHECK(read.records == plain.records);
            CHECK(read.error.empty());
            CHECK(read.notices.empty());
        }
    }
    std::vector<std::byte> padded = gzip(file.bytes());
    padded.resize(padded.size() + 512);
    CHECK(read_memory(padded).records == plain.records);
    CHECK(read_memory(padded).error.empty());
}

TEST_CASE("source: a cut or broken compressed stream is an error after the whole records") {
    const FileBytes file = long_pcap(3000, seed());
    const ReadResult plain = read_memory(file.bytes());
    for (const auto pack : {gzip, zstd}) {
        std::vector<std::byte> cut = pack(file.bytes());
        cut.resize(cut.size() - 9);
        ReadResult read = read_memory(cut);
        CHECK(contains(read.error, "data is cut at byte " + std::to_string(cut.size())));
        REQUIRE(read.records.size() <= plain.records.size());
        for (std::size_t i = 0; i < read.records.size(); ++i) {
            REQUIRE(read.records[i] == plain.records[i]);
        }
        std::vector<std::byte> rubbish = pack(file.bytes());
        for (int i = 0; i < 8; ++i) rubbish.push_back(std::byte{0x55});
        read = read_memory(rubbish);
        CHECK(read.records == plain.records);
        CHECK(contains(read.error, "broken"));
        cut.resize(6);
        CHECK(contains(read_memory(cut).open_error, "data is cut at byte 6"));
    }
    std::vector<std::byte> no_content = gzip({});
    CHECK(contains(read_memory(no_content).open_error, "empty"));
}

TEST_CASE("source: packets held while reading goes on keep their bytes") {
    const FileBytes file = long_pcap(2000, seed());
    const ReadResult plain = read_memory(file.bytes());
    io::CaptureOptions options;
    options.block_bytes = 256;
    auto opened = io::CaptureSource::open_memory(file.bytes(), true, options);
    REQUIRE(opened.ok());
    io::CaptureSource& source = opened.value();
    std::mt19937_64 random(seed());
    std::vector<wire::Packet> held;
    std::vector<wire::Packet> burst(16);
    std::size_t seen = 0;
    while (!source.finished()) {
        const std::size_t count = source.receive(burst);
        held.insert(held.end(), burst.begin(), burst.begin() + static_cast<std::ptrdiff_t>(count));
        seen += count;
        while (held.size() > 700) {  // released in any order
            std::swap(held[random() % held.size()], held.back());
            REQUIRE(copy_of(held.back()) == plain.records[held.back().record]);
            source.release({&held.back(), 1});
            held.pop_back();
        }
    }
    for (const wire::Packet& packet : held) {
        REQUIRE(copy_of(packet) == plain.records[packet.record]);
    }
    CHECK(seen == plain.records.size());
    source.release(held);
}

TEST_CASE("source: every packet may be held to the end") {
    const FileBytes file = long_pcap(500, seed());
    io::CaptureOptions options;
    options.block_bytes = 128;
    auto source = io::CaptureSource::open_memory(file.bytes(), true, options);
    REQUIRE(source.ok());
    std::vector<wire::Packet> held(1000);
    std::size_t count = 0;
    while (!source.value().finished()) {
        count += source.value().receive(std::span(held).subspan(count));
    }
    CHECK(count == 500);
    source.value().release(std::span(held).first(count));
}

TEST_CASE("source: files are merged by their heads, never sorted within, ties to the earlier") {
    const Folder folder;
    const std::string a =
        folder.write("a", pcap_of({{10, "a10"}, {30, "a30"}, {5, "a5"}, {40, "a40"}}).bytes());
    const std::string b =
        folder.write("b", gzip(pcap_of({{10, "b10"}, {20, "b20"}, {40, "b40"}}).bytes()));
    const std::string c = folder.write("c", pcap_of({{40, "c40"}, {7, "c7"}}).bytes());
    for (const std::size_t burst : {1U, 2U, 3U, 32U}) {
        const ReadResult read = read_files({a, b, c}, burst);
        CHECK(read.data() == "a10|b10|b20|a30|a5|a40|b40|c40|c7|");
        CHECK(read.records[1].input == 1);
        CHECK(read.records[2].record == 1);
        CHECK(read.records[8].input == 2);
    }
    CHECK(read_files({b, a}).data() == "b10|a10|b20|a30|a5|b40|a40|");
}

TEST_CASE("source: merging many files is the obvious merge") {
    const Folder folder;
    std::mt19937_64 random(seed());
    std::vector<std::string> files;
    std::vector<std::deque<std::pair<std::uint32_t, std::string>>> rest;
    for (int f = 0; f < 9; ++f) {
        std::vector<std::pair<std::uint32_t, std::string>> records;
        std::uint32_t time = 0;
        for (std::size_t i = random() % 400; i > 0; --i) {
            time = random() % 20 == 0 ? time / 2 : time + static_cast<std::uint32_t>(random() % 4);
            records.emplace_back(time, std::to_string(f) + "-" + std::to_string(records.size()));
        }
        files.push_back(folder.write("f" + std::to_string(f), pcap_of(records).bytes()));
        rest.emplace_back(records.begin(), records.end());
    }
    std::string expected;
    for (;;) {
        std::deque<std::pair<std::uint32_t, std::string>>* best = nullptr;
        for (auto& file : rest) {
            if (file.empty()) continue;
            if (best == nullptr || file.front().first < best->front().first) best = &file;
        }
        if (best == nullptr) break;
        expected += best->front().second + '|';
        best->pop_front();
    }
    CHECK(read_files(files, 7).data() == expected);
    CHECK(read_files(files, 256).data() == expected);
}

TEST_CASE("source: a broken input ends with an error, the others are read on") {
    const Folder folder;
    FileBytes broken = pcap_of({{1, "a1"}});
    broken.u32(0).u32(2).u32(0x7FFFFFFF).u32(0);
    const std::string a = folder.write("a", broken.bytes());
    const std::string b = folder.write("b", pcap_of({{2, "b2"}, {3, "b3"}}).bytes());
    const ReadResult read = read_files({a, b});
    CHECK(read.data() == "a1|b2|b3|");
    CHECK(contains(read.error, a + ": impossible record length"));
    CHECK(read.notices.empty());
}

TEST_CASE("source: a folder is its files in the order of their names") {
    const Folder folder;
    folder.write("day.pcap2", pcap_of({{30, "3"}}).bytes());
    folder.write("day.pcap1", gzip(pcap_of({{20, "2"}}).bytes()));
    folder.write("day.pcap0", pcap_of({{30, "1"}}).bytes());
    folder.write(".hidden", pcap_of({{0, "no"}}).bytes());
    std::filesystem::create_directory(folder.path("sub"));
    CHECK(read_files({folder.path("")}).data() == "2|1|3|");
    const std::string empty = folder.path("sub");
    CHECK(contains(read_files({empty}).open_error, "holds no capture files"));
}

TEST_CASE("source: what cannot be opened is said by name") {
    CHECK(contains(read_files({"/nonexistent/x.pcap"}).open_error, "open /nonexistent/x.pcap: No"));
    CHECK(contains(read_files({}).open_error, "no capture files"));
    CHECK(contains(read_files({"-", "-"}).open_error, "more than once"));
    const Folder folder;
    const std::string empty = folder.write("empty", {});
    CHECK(contains(read_files({empty}).open_error, empty + ": the file is empty"));
}

TEST_CASE("source: a pipe is read as it comes, record by record") {
    const Folder folder;
    const std::string path = folder.path("pipe");
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    const FileBytes file = pcap_of({{1, "first"}, {2, "second"}});
    std::thread writer([&] {
        const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
        for (const std::byte byte : file.bytes()) {
            if (::write(descriptor, &byte, 1) != 1) break;
        }
        ::close(descriptor);
    });
    const ReadResult read = read_files({path});
    writer.join();
    CHECK(read.data() == "first|second|");
    CHECK(read.notices.empty());
}

TEST_CASE("source: a pipe that has nothing yet does not hold the caller, nor its end") {
    const Folder folder;
    const std::string path = folder.path("pipe");
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    const int keep = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    const FileBytes file = pcap_of({{1, "first"}});
    REQUIRE(::write(keep, file.bytes().data(), file.size()) == static_cast<ssize_t>(file.size()));
    io::CaptureOptions options;
    options.files = {path};
    {
        auto source = io::CaptureSource::open(options);
        REQUIRE(source.ok());
        std::vector<wire::Packet> burst(8);
        CHECK(source.value().receive(burst) == 1);
        CHECK(source.value().receive(std::span(burst).subspan(1)) == 0);
        CHECK_FALSE(source.value().finished());
        CHECK(copy_of(burst[0]).data == "first");
    }
    ::close(keep);
}

TEST_CASE("source: preloading is done for plain files only, and says so") {
    const Folder folder;
    const FileBytes file = pcap_of({{1, "x"}});
    io::CaptureOptions options;
    options.preload = true;
    options.files = {folder.write("plain", file.bytes())};
    auto plain = io::CaptureSource::open(options);
    REQUIRE(plain.ok());
    CHECK(plain.value().preloaded());
    CHECK(contains(plain.value().description(), "plain: pcap (ns), mapped"));
    options.files.push_back(folder.write("packed", gzip(file.bytes())));
    auto packed = io::CaptureSource::open(options);
    REQUIRE(packed.ok());
    CHECK_FALSE(packed.value().preloaded());
    CHECK(contains(packed.value().description(), "gzip, decompressed in a second thread"));
    CHECK(packed.value().input_names() == options.files);
}

TEST_CASE("source: progress counts packets, bytes and what was read of the files") {
    const Folder folder;
    const FileBytes file = pcap_of({{1, "abc"}, {2, "de"}});
    io::CaptureOptions options;
    options.files = {folder.write("a", file.bytes())};
    auto source = io::CaptureSource::open(options);
    REQUIRE(source.ok());
    std::vector<wire::Packet> burst(1);
    REQUIRE(source.value().receive(burst) == 1);
    CHECK(source.value().progress().packets == 1);
    CHECK(source.value().progress().bytes == 3);
    CHECK(source.value().progress().file_bytes_total == file.size());
    REQUIRE(source.value().receive(burst) == 1);
    CHECK(source.value().progress().file_bytes_read == file.size());
    CHECK(burst[0].receive_tsc == 0);
}

TEST_CASE("source: a file larger than the pages kept is read whole") {
    // Sparse: the records of zeros are 16 zero bytes each, in a file of 200 MiB.
    const Folder folder;
    const std::string path = folder.write("large", pcap_header().bytes());
    const std::uint64_t records = std::uint64_t{200} * 1024 * 1024 / 16;
    std::filesystem::resize_file(path, 24 + records * 16);
    io::CaptureOptions options;
    options.files = {path};
    auto source = io::CaptureSource::open(options);
    REQUIRE(source.ok());
    std::vector<wire::Packet> burst(256);
    while (!source.value().finished()) {
        const std::size_t count = source.value().receive(burst);
        source.value().release({burst.data(), count});
    }
    CHECK(source.value().progress().packets == records);
    CHECK_FALSE(source.value().error());
}

TEST_CASE("pacer: packets are due by scaled capture time, and a jump back does not wait") {
    io::Pacer pacer(0.5, 2.0);  // 2 ticks a ns, twice as fast: 1 tick a ns
    CHECK(pacer.due(0, false, 900) == 900);
    CHECK(pacer.due(5'000, true, 1000) == 1000);
    CHECK(pacer.due(5'250, true, 1000) == 1250);
    CHECK(pacer.due(4'000, true, 1000) == 1250);
    CHECK(pacer.due(5'300, true, 1000) == 1300);
    CHECK(pacer.due(0, false, 1000) == 1300);
    CHECK(pacer.due(std::numeric_limits<std::int64_t>::max(), true, 1000) > 1'000'000'000'000);
}

TEST_CASE("source: at a pace a packet comes no sooner than it is due, and with that stamp") {
    const Folder folder;
    io::CaptureOptions options;
    options.files = {folder.write("a", pcap_of({{0, "a"}, {4'000'000, "b"}}).bytes())};
    options.speed = 2;
    auto opened = io::CaptureSource::open(options);
    REQUIRE(opened.ok());
    io::CaptureSource& source = opened.value();
    std::vector<wire::Packet> burst(8);
    const TscClock clock = TscClock::calibrate();
    std::vector<wire::Packet> next;
    REQUIRE(source.look_ahead(next));  // starts no clock and takes nothing
    REQUIRE(next.size() == 2);
    CHECK(next[1].receive_time_ns - next[0].receive_time_ns == 4'000'000);
    const std::uint64_t start = rdtsc();
    REQUIRE(source.receive(burst) >= 1);
    const std::uint64_t first = burst[0].receive_tsc;
    CHECK(first >= start);
    const std::uint64_t due = source.next_due_tsc();
    std::size_t count = 0;
    while (count == 0) count = source.receive(burst);
    CHECK(rdtsc() >= due);
    CHECK(burst[0].receive_tsc == due);
    CHECK(clock.ns_from_ticks(due - first) == Approx(2'000'000).margin(1'000));
    CHECK_FALSE(source.finished());
    CHECK(source.receive(burst) == 0);
    CHECK(source.finished());
}
