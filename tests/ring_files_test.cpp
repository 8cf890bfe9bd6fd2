// Files that are not, or no longer, a usable segment: a clear error at attach, never a signal.
#include <sys/stat.h>

#include <fstream>

#include "ring_fixture.hpp"

using namespace wirebook;
using namespace wirebook::ring;
using wirebook::test::must_attach;
using wirebook::test::must_create;
using wirebook::test::small_segment;
using wirebook::test::TemporaryFolder;

namespace {

Error attach_error(const std::string& directory, bool live_only = true) {
    AttachOptions options;
    options.directory = directory;
    options.live_only = live_only;
    auto attached = Reader::attach("test", options);
    REQUIRE_FALSE(attached.ok());
    INFO(attached.error().context);
    return attached.error();
}
bool says(const Error& error, const std::string& part) {
    INFO(error.context);
    CHECK(error.context.find(part) != std::string::npos);
    return error.context.find(part) != std::string::npos;
}

// A segment that no writer has mapped, so that it may be cut.
std::string left_behind(const std::string& directory) {
    const Writer writer = must_create(small_segment(directory));
    return writer.path();
}
// Overwrites bytes of the file in place.
void poke(const std::string& path, std::streamoff offset, std::uint32_t value) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(offset);
    file.write(static_cast<const char*>(static_cast<const void*>(&value)), sizeof(value));
}

}  // namespace

TEST_CASE("ring: a name without a segment is ENOENT", "[ring][files]") {
    const TemporaryFolder folder;
    CHECK(attach_error(folder.path()).code == ENOENT);
    CHECK(Reader::attach("../test", {}).error().code == EINVAL);
}

TEST_CASE("ring: a cut segment is refused at every length", "[ring][files]") {
    const TemporaryFolder folder;
    const std::string path = left_behind(folder.path());
    const auto whole = std::filesystem::file_size(path);
    for (const std::uintmax_t bytes :
         {whole - 1, whole - 4096, std::uintmax_t{8192}, std::uintmax_t{4096}, std::uintmax_t{4095},
          std::uintmax_t{100}, std::uintmax_t{0}}) {
        std::filesystem::resize_file(path, bytes);
        const Error error = attach_error(folder.path());
        CHECK(error.code == EINVAL);
        CHECK(says(error, "cut"));
    }
}

TEST_CASE("ring: a foreign file, another ABI or byte order, and odd sizes are refused",
          "[ring][files]") {
    const TemporaryFolder folder;
    const std::string path = left_behind(folder.path());
    struct Case {
        std::streamoff offset;
        std::uint32_t value;
        const char* says;
    };
    const auto wrong =
        GENERATE(Case{8, 99, "ABI version 99"}, Case{12, 0x04030201, "byte order"},
                 Case{0, 1, "never completed"}, Case{16, 1, "sizes"}, Case{28, 64, "sizes"},
                 Case{40, 63, "geometry"}, Case{48, 7, "geometry"}, Case{52, 0, "geometry"},
                 Case{56, 1000, "geometry"}, Case{64, 8, "sizes"}, Case{80, 8, "sizes"},
                 Case{132, 0x7FF00000, "TSC"});
    poke(path, wrong.offset, wrong.value);
    const Error error = attach_error(folder.path());
    CHECK(error.code == EINVAL);
    CHECK(says(error, wrong.says));
}

TEST_CASE("ring: a quality word that nobody knows is not ready", "[ring][files]") {
    const TemporaryFolder folder;
    const Writer writer = must_create(small_segment(folder.path()));
    const Reader reader = must_attach(folder.path());
    const std::streamoff word = offsetof(SegmentHeader, quality);
    poke(writer.path(), word, 1);
    CHECK(reader.channel_quality(0) == Quality::stale);
    for (const std::uint32_t unknown : {4U, 255U, 256U, 0xFFFF'FF00U}) {
        poke(writer.path(), word, unknown);
        CHECK(reader.channel_quality(0) == Quality::not_ready);
    }
    poke(writer.path(), word, 0);
    poke(writer.path(), word + 4, 1);  // 2^32
    CHECK(reader.channel_quality(0) == Quality::not_ready);
}

TEST_CASE("ring: text, a folder, a link and a FIFO under the name are refused", "[ring][files]") {
    const TemporaryFolder folder;
    const std::string path = segment_path(folder.path(), "test");
    std::ofstream(path) << std::string(10'000, 'x');
    CHECK(says(attach_error(folder.path()), "no magic"));
    std::filesystem::remove(path);
    std::filesystem::create_directory(path);
    CHECK(attach_error(folder.path()).code == EINVAL);
    std::filesystem::remove(path);
    std::filesystem::create_symlink("/dev/zero", path);
    CHECK(says(attach_error(folder.path()), "symbolic link"));
    std::filesystem::remove(path);
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    CHECK(says(attach_error(folder.path()), "regular file"));
}

TEST_CASE("ring: a closed segment is attached to only on request", "[ring][files]") {
    const TemporaryFolder folder;
    Record record;
    {
        Writer writer = must_create(small_segment(folder.path()));
        test::add_instruments(writer);
        for (int n = 0; n < 10; ++n) test::publish(writer, record, 3);
    }
    CHECK(attach_error(folder.path()).code == ESTALE);
    AttachOptions options;
    options.live_only = false;
    Reader reader = must_attach(folder.path(), options);
    CHECK_FALSE(reader.writer_alive());
    unsigned records = 0;
    Poll polled = Poll::empty;
    for (int i = 0; i < 1000 && polled != Poll::writer_closed; ++i) {
        polled = reader.poll(record);
        records += polled == Poll::record ? 1U : 0U;
    }
    CHECK(polled == Poll::writer_closed);
    CHECK(records == 7);
    auto again = reader.reattach();
    REQUIRE(again.ok());
    CHECK_FALSE(again.value());
}

TEST_CASE("ring: a restarted writer is re-attached to, with its own epoch", "[ring][files]") {
    const TemporaryFolder folder;
    std::optional<Writer> writer(must_create(small_segment(folder.path())));
    test::add_instruments(*writer);
    Reader reader = must_attach(folder.path());
    const std::uint64_t epoch = reader.epoch();
    Record record;
    test::publish(*writer, record, 1);
    writer.reset();
    REQUIRE(reader.poll(record) == Poll::record);  // what was published comes first
    CHECK_FALSE(reader.writer_alive());
    writer.emplace(must_create(small_segment(folder.path())));
    test::add_instruments(*writer);
    test::publish(*writer, record, 2);
    auto again = reader.reattach();
    REQUIRE(again.ok());
    CHECK(again.value());
    CHECK(reader.epoch() > epoch);
    REQUIRE(reader.poll(record) == Poll::record);
    CHECK(test::is_whole(record, 2));
    auto twice = reader.reattach();
    CHECK_FALSE(twice.value());
}

TEST_CASE("ring: a second writer of a name is refused with the first one's process id",
          "[ring][files]") {
    const TemporaryFolder folder;
    std::optional<Writer> writer(must_create(small_segment(folder.path())));
    auto second = Writer::create(small_segment(folder.path()));
    REQUIRE_FALSE(second.ok());
    CHECK(second.error().code == EBUSY);
    CHECK(says(second.error(), "process " + std::to_string(::getpid())));
    CHECK(must_attach(folder.path()).writer_alive());
    writer.reset();
    CHECK(Writer::create(small_segment(folder.path())).ok());
}

TEST_CASE("ring: a start leaves one file, for its owner and group", "[ring][files]") {
    const TemporaryFolder folder;
    const Writer writer = must_create(small_segment(folder.path()));
    int files = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path()))
        files += 1;
    CHECK(files == 1);
    struct stat status {};
    REQUIRE(::stat(writer.path().c_str(), &status) == 0);
    CHECK((status.st_mode & 0777U) == 0640);
}

TEST_CASE("ring: bad names, geometries and folders are refused with a reason", "[ring][files]") {
    const TemporaryFolder folder;
    SegmentOptions options = small_segment(folder.path());
    options.name = "../x";
    CHECK(Writer::create(options).error().code == EINVAL);
    options = small_segment(folder.path());
    options.geometry.depth = 7;
    CHECK(says(Writer::create(options).error(), "depth must be"));
    options = small_segment(folder.path());
    options.geometry.slots = 1000;
    CHECK_FALSE(Writer::create(options).ok());
    options = small_segment(folder.path() + "/missing");
    CHECK(Writer::create(options).error().code == ENOENT);
}

TEST_CASE("ring: the notice says where the segment is", "[ring][files]") {
    const TemporaryFolder folder;
    const Writer writer = must_create(small_segment(folder.path()));
    CHECK(writer.notice().find(writer.path()) != std::string::npos);
    const Reader reader = must_attach(folder.path());
    CHECK(std::string_view(reader.header().session_name.data()) == "the session");
    CHECK(reader.header().writer_pid == static_cast<std::uint64_t>(::getpid()));
    CHECK(reader.header().writer_start > 0);
    CHECK(reader.heartbeat() > 0);
}
