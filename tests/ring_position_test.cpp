// Readers that show where they are, and files under such names that are something else.
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>

#include "ring_fixture.hpp"

using namespace wirebook;
using namespace wirebook::ring;
using wirebook::test::must_attach;
using wirebook::test::must_create;
using wirebook::test::small_segment;
using wirebook::test::TemporaryFolder;

namespace {

AttachOptions showing() {
    AttachOptions options;
    options.show_position = true;
    return options;
}
void read_all(Reader& reader) {
    Record record;
    for (int i = 0; i < 512; ++i) (void)reader.poll(record);
}
ReaderPositions positions_of(const Writer& writer) {
    return reader_positions(writer.path(), writer.epoch());
}
// What a reader of `pid` would call its file.
std::string position_path(const Writer& writer, const std::string& pid_and_number) {
    return writer.path() + "~reader." + pid_and_number;
}
std::string forged(std::uint64_t epoch, std::uint64_t next) {
    PositionBlock block;
    block.magic = position_magic;
    block.epoch = epoch;
    block.pid = 77;
    block.next = next;
    block.program.fill('\n');  // and no zero at its end
    std::string text(position_file_bytes, '\0');
    std::memcpy(text.data(), &block, sizeof(block));
    return text;
}
void write_file(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

}  // namespace

TEST_CASE("ring: a reader shows its position only when it is asked to", "[ring][position]") {
    const TemporaryFolder folder;
    const Writer writer = must_create(small_segment(folder.path()));
    const Reader silent = must_attach(folder.path());
    CHECK(silent.position_path().empty());
    CHECK(positions_of(writer).readers.empty());
    const Reader reader = must_attach(folder.path(), showing());
    CHECK(reader.position_path() == position_path(writer, std::to_string(::getpid()) + ".0"));
    CHECK(std::filesystem::file_size(reader.position_path()) == position_file_bytes);
    CHECK(positions_of(writer).readers.size() == 1);
}

TEST_CASE("ring: a reader's position says how far it is behind and what it lost",
          "[ring][position]") {
    const TemporaryFolder folder;
    Writer writer = must_create(small_segment(folder.path()));
    test::add_instruments(writer);
    Reader reader = must_attach(folder.path(), showing());
    Record record;
    for (int i = 0; i < 40; ++i) test::publish(writer, record, 1);
    auto shown = positions_of(writer);
    REQUIRE(shown.readers.size() == 1);
    CHECK(shown.readers[0].lag(writer.next_sequence()) == 40U);
    CHECK(shown.readers[0].pid == static_cast<std::uint64_t>(::getpid()));
    CHECK(shown.readers[0].program == program_invocation_short_name);
    CHECK(shown.readers[0].uid == ::geteuid());
    const std::uint64_t before = shown.readers[0].heartbeat;
    read_all(reader);
    shown = positions_of(writer);
    CHECK(shown.readers[0].lag(writer.next_sequence()) == 0U);
    CHECK(shown.readers[0].lost == 0);
    CHECK(shown.readers[0].heartbeat > before);
    for (int i = 0; i < 100; ++i) test::publish(writer, record, 1);  // the ring holds 64
    read_all(reader);
    CHECK(positions_of(writer).readers[0].lost == reader.lost());
    CHECK(reader.lost() > 0);
    CHECK_FALSE(positions_of(writer).readers[0].lag(1));  // ahead of what was published
}

TEST_CASE("ring: a position goes with its reader, and moves with it to the next writer",
          "[ring][position]") {
    const TemporaryFolder folder;
    std::optional<Writer> writer(must_create(small_segment(folder.path())));
    {
        const Reader first = must_attach(folder.path(), showing());
        Reader second = must_attach(folder.path(), showing());
        CHECK(first.position_path() != second.position_path());
        const Reader moved = std::move(second);
        CHECK(positions_of(*writer).readers.size() == 2);
    }
    CHECK(positions_of(*writer).readers.empty());
    Reader reader = must_attach(folder.path(), showing());
    writer.reset();
    writer.emplace(must_create(small_segment(folder.path())));
    CHECK(positions_of(*writer).readers.empty());  // it still reads the one before
    CHECK(std::filesystem::exists(reader.position_path()));
    REQUIRE(reader.reattach().value());
    CHECK(positions_of(*writer).readers.size() == 1);
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path()))
        files += 1;
    CHECK(files == 2);
}

TEST_CASE("ring: the file of a reader that was killed is removed by the next reader or writer",
          "[ring][position]") {
    const bool by_writer = GENERATE(false, true);
    const TemporaryFolder folder;
    std::optional<Writer> writer(must_create(small_segment(folder.path())));
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        const Reader reader = must_attach(folder.path(), showing());
        ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    const std::string left = position_path(*writer, std::to_string(child) + ".0");
    REQUIRE(std::filesystem::exists(left));
    CHECK(positions_of(*writer).readers.empty());
    if (by_writer) {  // of another name in the folder
        SegmentOptions options = small_segment(folder.path());
        options.name = "other";
        CHECK(Writer::create(options).ok());
    } else {
        const Reader reader = must_attach(folder.path(), showing());
        CHECK(positions_of(*writer).readers.size() == 1);
    }
    CHECK_FALSE(std::filesystem::exists(left));
}

TEST_CASE("ring: what is no position file is neither believed nor removed", "[ring][position]") {
    const TemporaryFolder folder;
    std::optional<Writer> writer(must_create(small_segment(folder.path())));
    const std::string whole = forged(writer->epoch(), 0);
    const std::string outside = folder.path() + "/outside";
    write_file(outside, whole);
    write_file(position_path(*writer, "1.0"), whole.substr(1));
    write_file(position_path(*writer, "2.0"), whole + "x");
    write_file(position_path(*writer, "3.0"), "");  // a reader that just starts
    REQUIRE(::mkfifo(position_path(*writer, "4.0").c_str(), 0600) == 0);
    std::filesystem::create_symlink(outside, position_path(*writer, "5.0"));
    std::filesystem::create_directory(position_path(*writer, "6.0"));
    for (const char* odd : {"x.0", "7", "7.", ".7", "7.0.0", "12345678901.0", "-1.0"})
        write_file(position_path(*writer, odd), whole);
    const auto entries = [&] {
        std::size_t count = 0;
        for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(folder.path()))
            count += 1;
        return count;
    };
    const std::size_t before = entries();
    {
        const Reader reader = must_attach(folder.path(), showing());
        const auto shown = positions_of(*writer);
        REQUIRE(shown.readers.size() == 1);
        CHECK(shown.readers[0].path == reader.position_path());
    }
    writer.reset();
    writer.emplace(must_create(small_segment(folder.path())));
    CHECK(entries() == before);
}

TEST_CASE("ring: a hostile position file is at most one more line", "[ring][position]") {
    const TemporaryFolder folder;
    Writer writer = must_create(small_segment(folder.path()));
    struct Case {
        std::string text;
        std::size_t shown;
    };
    const std::uint64_t epoch = writer.epoch();
    const std::string other_magic(position_file_bytes, 'x');
    const auto hostile =
        GENERATE_COPY(Case{forged(epoch, UINT64_MAX), 1}, Case{forged(epoch + 1, 0), 0},
                      Case{std::string(position_file_bytes, '\0'), 0}, Case{other_magic, 0});
    const std::string path = position_path(writer, "77.0");
    write_file(path, hostile.text);
    const File held(::open(path.c_str(), O_RDWR));
    REQUIRE(take_life_lock(held.get()));
    const auto shown = positions_of(writer);
    REQUIRE(shown.readers.size() == hostile.shown);
    if (hostile.shown == 1) {
        CHECK(shown.readers[0].program == std::string(32, '?'));
        CHECK_FALSE(shown.readers[0].lag(writer.next_sequence()));
    }
    // Cut under our eyes, as only its owner can: there is nothing left to map.
    std::filesystem::resize_file(path, 0);
    CHECK(positions_of(writer).readers.empty());
    Record record;
    test::add_instruments(writer);
    test::publish(writer, record, 1);
    CHECK(writer.next_sequence() == 1);
}

TEST_CASE("ring: position files of other users are read like ours", "[ring][position]") {
    if (::geteuid() != 0) {
        WARN("skipped: needs root to give a file away");
        return;
    }
    const TemporaryFolder folder;
    const Writer writer = must_create(small_segment(folder.path()));
    const std::string path = position_path(writer, "77.0");
    write_file(path, forged(writer.epoch(), 0));
    REQUIRE(::chown(path.c_str(), 12345, 12345) == 0);
    CHECK(positions_of(writer).readers.empty());  // nobody holds it
    const File held(::open(path.c_str(), O_RDWR));
    REQUIRE(take_life_lock(held.get()));
    const auto shown = positions_of(writer);
    REQUIRE(shown.readers.size() == 1);
    CHECK(shown.readers[0].uid == 12345);
}

TEST_CASE("ring: positions are bounded in number, and none is no error", "[ring][position]") {
    const TemporaryFolder folder;
    const Writer writer = must_create(small_segment(folder.path()));
    for (std::size_t i = 0; i < max_positions_shown; ++i)
        write_file(position_path(writer, std::to_string(i) + ".99"), "");
    CHECK_FALSE(positions_of(writer).more);
    write_file(position_path(writer, "9999.99"), "");
    CHECK(positions_of(writer).more);
    for (unsigned n = 0; n < max_positions_a_process; ++n)
        write_file(position_path(writer, std::to_string(::getpid()) + "." + std::to_string(n)), "");
    Reader reader = must_attach(folder.path(), showing());
    CHECK(reader.position_path().empty());
    read_all(reader);
    CHECK(reader_positions("/no/such/folder/wirebook.x", 1).readers.empty());
    CHECK(reader_positions(folder.path() + "/other", 1).readers.empty());
}

TEST_CASE("ring: a path is taken apart into folder and name", "[ring][position]") {
    const auto name = [](const std::string& path) { return split_segment_path(path).name; };
    CHECK(split_segment_path("/dev/shm/wirebook.a.b").directory == "/dev/shm");
    CHECK(name("/dev/shm/wirebook.a.b") == "a.b");
    CHECK(split_segment_path("/wirebook.a").directory == "/");
    CHECK(split_segment_path("wirebook.a").directory == ".");
    for (const char* other : {"", "/", "wirebook.", "/dev/shm/x", "/dev/shm/wirebook..x",
                              "/dev/shm/wirebook.x~reader.1.0", "/wirebook.a/"})
        CHECK(name(other).empty());
}
