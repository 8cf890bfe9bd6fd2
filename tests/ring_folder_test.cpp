// The folder that segments share: whose files are whose, what a start removes and what it must not
// touch, whom a segment is given to, and that no name leads out of it.
#include <sys/file.h>
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

SegmentOptions named(const std::string& folder, const std::string& name) {
    SegmentOptions options = small_segment(folder);
    options.name = name;
    return options;
}
// A child that holds a segment of that name until it is killed. Returns when it has it.
pid_t start_holder(const std::string& folder, const std::string& name) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        const auto writer = Writer::create(named(folder, name));
        if (!writer) std::_Exit(3);
        for (;;) ::pause();
    }
    AttachOptions options;
    options.directory = folder;
    options.wait = std::chrono::seconds(20);
    const auto reader = Reader::attach(name, options);
    REQUIRE(reader.ok());
    return child;
}
void kill_and_wait(pid_t child) {
    ::kill(child, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
}
// What a writer that dies early leaves: the mark of a segment that is being made.
void half_a_segment(const std::string& path) {
    const std::array<std::uint32_t, 5> words{0, 0, abi_version, endian_mark, sizeof(SegmentHeader)};
    std::ofstream file(path, std::ios::binary);
    file.write(static_cast<const char*>(static_cast<const void*>(words.data())), sizeof(words));
}
// As if the file were written so long ago.
void make_old(const std::string& path, int seconds) {
    const auto when = std::filesystem::file_time_type::clock::now() - std::chrono::seconds(seconds);
    std::filesystem::last_write_time(path, when);
}
bool exists(const std::string& path) {
    return std::filesystem::exists(std::filesystem::symlink_status(path));
}
struct stat status_of(const std::string& path) {
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    return status;
}

}  // namespace

TEST_CASE("ring: a start removes what died in the folder and nothing else", "[ring][folder]") {
    const TemporaryFolder folder;
    const std::string at = folder.path() + "/";
    kill_and_wait(start_holder(folder.path(), "killed"));
    { const Writer closed = must_create(named(folder.path(), "closed")); }
    const pid_t living = start_holder(folder.path(), "living");
    const std::vector<std::string> kept{
        "wirebook.closed", "wirebook.living",       "wirebook.foreign", ".wirebook.other~held",
        ".wirebook.x~12a", "wirebook.killed.txt~1", ".wirebook.~1",     "something",
        "wirebook.",       ".wirebook.x~1",         ".wirebook.x~2.1",  ".wirebook.young~1"};
    for (const std::string& name : kept)
        if (!exists(at + name)) std::ofstream(at + name) << "not a segment";
    std::filesystem::resize_file(at + ".wirebook.young~1", 0);
    for (const char* pipe : {".wirebook.pipe~1", "wirebook.pipe", "wirebook.x~reader.1.0"})
        REQUIRE(::mkfifo((at + pipe).c_str(), 0600) == 0);
    half_a_segment(at + "half");
    for (const char* link : {".wirebook.link~1", "wirebook.link"})
        std::filesystem::create_symlink(at + "half", at + link);
    // Of the size of a position, and of no reader's content.
    std::ofstream(at + "wirebook.x~reader.2.0") << std::string(position_file_bytes, 'x');
    // A temporary file that somebody is filling.
    const std::string filling = at + ".wirebook.filling~1";
    const File held(::open(filling.c_str(), O_RDWR | O_CREAT, 0600));
    REQUIRE(take_life_lock(held.get()));
    // The starts after its death have removed the first one: once more, and last.
    CHECK_FALSE(exists(at + "wirebook.killed"));
    kill_and_wait(start_holder(folder.path(), "killed"));
    REQUIRE(exists(at + "wirebook.killed"));
    for (const char* stale : {".wirebook.test~999999", ".wirebook.other~999999.7"})
        half_a_segment(at + stale);
    std::ofstream(at + ".wirebook.empty~1");
    make_old(at + ".wirebook.empty~1", 100);

    const Writer writer = must_create(small_segment(folder.path()));
    CHECK(writer.notice().find("removed what dead writers left: ") != std::string::npos);
    CHECK(writer.notice().find("wirebook.killed") != std::string::npos);
    CHECK_FALSE(exists(at + "wirebook.killed"));
    CHECK_FALSE(exists(at + ".wirebook.test~999999"));
    CHECK_FALSE(exists(at + ".wirebook.other~999999.7"));
    CHECK_FALSE(exists(at + ".wirebook.empty~1"));
    for (const char* foreign :
         {".wirebook.pipe~1", "wirebook.pipe", "wirebook.x~reader.1.0", "half", ".wirebook.link~1",
          "wirebook.link", "wirebook.x~reader.2.0"})
        CHECK(exists(at + foreign));
    CHECK_FALSE(exists(at + ".wirebook~lock"));
    CHECK(exists(filling));
    for (const std::string& name : kept) CHECK(exists(at + name));
    AttachOptions options;
    options.directory = folder.path();
    CHECK(Reader::attach("living", options).ok());
    options.live_only = false;
    CHECK(Reader::attach("closed", options).ok());  // itself, and no other file of its name
    kill_and_wait(living);
}

TEST_CASE("ring: a segment under a reader's eyes can be removed and stays readable",
          "[ring][folder]") {
    const TemporaryFolder folder;
    const pid_t child = start_holder(folder.path(), "test");
    Reader reader = must_attach(folder.path());
    kill_and_wait(child);
    const Writer other = must_create(named(folder.path(), "other"));
    CHECK_FALSE(exists(folder.path() + "/wirebook.test"));
    Record record;
    Poll polled = Poll::empty;
    while (polled != Poll::writer_dead) polled = reader.poll(record);
    auto again = reader.reattach();
    REQUIRE(again.ok());
    CHECK_FALSE(again.value());
    const Writer next = must_create(small_segment(folder.path()));
    CHECK(reader.reattach().value());
}

TEST_CASE("ring: starts at the same time clean up once and spare each other", "[ring][folder]") {
    const TemporaryFolder folder;
    for (int round = 0; round < 20; ++round) {
        for (const char* name : {"a", "b"}) kill_and_wait(start_holder(folder.path(), name));
        half_a_segment(folder.path() + "/.wirebook.c~999999");
        std::array<pid_t, 3> children{};
        for (std::size_t i = 0; i < children.size(); ++i) {
            children[i] = ::fork();
            REQUIRE(children[i] >= 0);
            if (children[i] != 0) continue;
            auto writer = Writer::create(named(folder.path(), "new" + std::to_string(i)));
            if (!writer) std::_Exit(3);
            for (;;) ::pause();
        }
        for (std::size_t i = 0; i < children.size(); ++i) {
            AttachOptions options;
            options.directory = folder.path();
            options.wait = std::chrono::seconds(20);
            const auto reader = Reader::attach("new" + std::to_string(i), options);
            REQUIRE(reader.ok());
            CHECK(reader.value().writer_alive());
        }
        CHECK_FALSE(exists(folder.path() + "/wirebook.a"));
        CHECK_FALSE(exists(folder.path() + "/wirebook.b"));
        CHECK_FALSE(exists(folder.path() + "/.wirebook.c~999999"));
        for (const pid_t child : children) kill_and_wait(child);
    }
}

TEST_CASE("ring: a temporary name that is taken does not keep a writer from starting",
          "[ring][folder]") {
    const TemporaryFolder folder;
    const std::string taken = folder.path() + "/.wirebook.test~" + std::to_string(::getpid());
    std::filesystem::create_symlink("/nowhere", taken);
    const Writer writer = must_create(small_segment(folder.path()));
    CHECK(exists(taken));
    CHECK(must_attach(folder.path()).writer_alive());
}

TEST_CASE("ring: what is no segment under a segment's name is an error, and stays",
          "[ring][folder]") {
    const TemporaryFolder folder;
    const std::string path = segment_path(folder.path(), "test");
    const std::string victim = folder.path() + "/victim";
    { const Writer closed = must_create(named(folder.path(), "victim")); }
    std::filesystem::rename(segment_path(folder.path(), "victim"), victim);
    const auto refused = [&] {
        const auto writer = Writer::create(small_segment(folder.path()));
        REQUIRE_FALSE(writer.ok());
        CHECK(writer.error().code == EEXIST);
        CHECK(writer.error().context.find(path) != std::string::npos);
        CHECK(exists(path));
        CHECK_FALSE(exists(folder.path() + "/.wirebook.test~" + std::to_string(::getpid())));
        std::filesystem::remove(path);
    };
    std::filesystem::create_symlink(victim, path);  // even of a segment
    refused();
    CHECK(exists(victim));
    std::filesystem::create_symlink("/nowhere", path);
    refused();
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    refused();
    std::filesystem::create_directory(path);
    refused();
    std::ofstream(path) << "precious, and longer than the beginning of a header";
    refused();
    std::ofstream(path) << "";
    refused();
    // A segment of another release, and one that was cut, are ours.
    std::filesystem::rename(victim, path);
    std::filesystem::resize_file(path, 100);
    const Writer writer = must_create(small_segment(folder.path()));
    CHECK(must_attach(folder.path()).writer_alive());
}

TEST_CASE("ring: no name leads out of the folder", "[ring][folder]") {
    const TemporaryFolder folder;
    AttachOptions attach;
    attach.directory = folder.path();
    const auto refused = [&](const std::string& name) {
        return Writer::create(named(folder.path(), name)).error().code == EINVAL &&
               Reader::attach(name, attach).error().code == EINVAL;
    };
    for (const char* name : {"", ".", "..", "../x", "/x", "a/b", "a/../../x", ".hidden", "a~1"})
        CHECK(refused(name));
    CHECK(refused(std::string(64, 'a')));
    for (int byte = 0; byte < 256; ++byte) {
        const char c = static_cast<char>(byte);
        const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
        const std::string name = std::string("a") + c + "b";
        INFO("byte " << byte);
        CHECK((name_fault(name) == nullptr) == good);
        if (!good) CHECK(refused(name));
    }
    CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("ring: the segment has the mode, owner and group that were asked for", "[ring][folder]") {
    const TemporaryFolder folder;
    SegmentOptions options = small_segment(folder.path());
    options.mode = 0600;
    {
        const Writer writer = must_create(options);
        CHECK((status_of(writer.path()).st_mode & 07777U) == 0600);
        CHECK(status_of(writer.path()).st_uid == ::geteuid());
    }
    if (::geteuid() != 0) {
        WARN("the rest is skipped: needs root to give a file away");
        return;
    }
    options.owner = 12345;
    options.group = 23456;
    options.mode = 0640;
    const Writer writer = must_create(options);
    CHECK(status_of(writer.path()).st_uid == 12345);
    CHECK(status_of(writer.path()).st_gid == 23456);
    CHECK((status_of(writer.path()).st_mode & 07777U) == 0640);
    CHECK(must_attach(folder.path()).writer_alive());
}

TEST_CASE("ring: an owner that cannot be given is an error, and the segment before it stays",
          "[ring][folder]") {
    if (::geteuid() != 0) {
        WARN("skipped: needs root, to give it up");
        return;
    }
    const TemporaryFolder folder;
    std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        if (::setgid(54321) != 0 || ::setuid(54321) != 0) std::_Exit(9);
        { const auto before = Writer::create(small_segment(folder.path())); }
        SegmentOptions options = small_segment(folder.path());
        options.group = 0;
        const auto writer = Writer::create(options);
        std::_Exit(writer ? 8 : writer.error().code);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == EPERM);
    AttachOptions options;
    options.live_only = false;
    CHECK(must_attach(folder.path(), options).header().published.load() == 0);
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path()))
        files += 1;
    CHECK(files == 1);  // nothing temporary
}

TEST_CASE("ring: a reader cannot pass for a writer", "[ring][folder]") {
    const TemporaryFolder folder;
    kill_and_wait(start_holder(folder.path(), "test"));
    // All that who may only read the file can lock.
    const File reader(::open(segment_path(folder.path(), "test").c_str(), O_RDONLY));
    CHECK_FALSE(take_life_lock(reader.get()));
    struct flock shared {};
    shared.l_type = F_RDLCK;
    shared.l_whence = SEEK_SET;
    REQUIRE(::fcntl(reader.get(), F_OFD_SETLK, &shared) == 0);
    AttachOptions options;
    options.live_only = false;
    CHECK_FALSE(must_attach(folder.path(), options).writer_alive());
    CHECK(Writer::create(small_segment(folder.path())).ok());
}

namespace {

// A child that holds the folder's lock as a start does, until it is killed.
pid_t start_lock_holder(const std::string& folder) {
    const std::string path = folder + "/.wirebook~lock";
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        const File file(::open(path.c_str(), O_RDWR | O_CREAT, 0600));
        if (!take_life_lock(file.get())) std::_Exit(3);
        const std::string text = std::to_string(::getpid()) + "\n";
        if (::write(file.get(), text.data(), text.size()) < 0) std::_Exit(4);
        for (;;) ::pause();
    }
    const auto held = [&] {
        const File file(::open(path.c_str(), O_RDONLY));
        return file.open() && life_lock_held(file.get()) && std::filesystem::file_size(path) > 0;
    };
    while (!held()) ::usleep(1000);
    return child;
}

}  // namespace

TEST_CASE("ring: a start that finds the folder locked ends with the holder's pid",
          "[ring][folder]") {
    const TemporaryFolder folder;
    const pid_t child = start_lock_holder(folder.path());
    ::kill(child, SIGSTOP);
    const auto writer = Writer::create(small_segment(folder.path()));
    REQUIRE_FALSE(writer.ok());
    CHECK(writer.error().code == EBUSY);
    INFO(writer.error().context);
    CHECK(writer.error().context.find("process " + std::to_string(child) + " ") !=
          std::string::npos);
    CHECK(writer.error().context.find(folder.path() + "/.wirebook~lock") != std::string::npos);
    kill_and_wait(child);
    // What it left is taken over, and goes.
    CHECK(exists(folder.path() + "/.wirebook~lock"));
    CHECK(Writer::create(small_segment(folder.path())).ok());
    CHECK_FALSE(exists(folder.path() + "/.wirebook~lock"));
}

TEST_CASE("ring: who may only read the folder cannot keep a writer from starting",
          "[ring][folder]") {
    const TemporaryFolder folder;
    const File directory(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY));
    REQUIRE(::flock(directory.get(), LOCK_EX | LOCK_NB) == 0);
    CHECK(Writer::create(small_segment(folder.path())).ok());
    // Nor by a read lock on a lock file that was left.
    const std::string path = folder.path() + "/.wirebook~lock";
    std::ofstream(path) << "12345\n";
    const File reader(::open(path.c_str(), O_RDONLY));
    CHECK_FALSE(take_life_lock(reader.get()));
    CHECK(Writer::create(small_segment(folder.path())).ok());
}

TEST_CASE("ring: a lock file that is none of ours is an error, and stays", "[ring][folder]") {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/.wirebook~lock";
    const auto refused = [&] {
        const auto writer = Writer::create(small_segment(folder.path()));
        REQUIRE_FALSE(writer.ok());
        INFO(writer.error().context);
        CHECK(writer.error().code == EEXIST);
        CHECK(writer.error().context.find(path) != std::string::npos);
        CHECK(exists(path));
        std::filesystem::remove(path);
    };
    for (const char* text :
         {"no pid\n", "12", "1 2\n", "123\n123\n", "99999999999999999999999\n"}) {
        std::ofstream(path) << text;
        refused();
    }
    std::ofstream(path) << std::string(100, '1') << '\n';
    refused();
    std::filesystem::create_symlink(folder.path() + "/nothing", path);
    refused();
    CHECK_FALSE(exists(folder.path() + "/nothing"));
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    refused();
    std::filesystem::create_directory(path);
    refused();
}

TEST_CASE("ring: the folder's lock is for all who may write the folder", "[ring][folder]") {
    if (::geteuid() != 0) {
        WARN("skipped: needs root, to give it up");
        return;
    }
    const TemporaryFolder folder;
    REQUIRE(::chmod(folder.path().c_str(), 01777) == 0);
    std::array<pid_t, 4> children{};
    for (std::size_t i = 0; i < children.size(); ++i) {
        children[i] = ::fork();
        REQUIRE(children[i] >= 0);
        if (children[i] != 0) continue;
        const auto user = static_cast<uid_t>(50'000 + i % 2);
        if (::setgid(user) != 0 || ::setuid(user) != 0) std::_Exit(9);
        for (int round = 0; round < 30; ++round) {
            const auto writer = Writer::create(named(folder.path(), "w" + std::to_string(i)));
            if (!writer) std::_Exit(writer.error().code);
        }
        std::_Exit(0);
    }
    for (const pid_t child : children) {
        int status = 0;
        REQUIRE(::waitpid(child, &status, 0) == child);
        REQUIRE(WIFEXITED(status));
        CHECK(WEXITSTATUS(status) == 0);
    }
    CHECK_FALSE(exists(folder.path() + "/.wirebook~lock"));
}
