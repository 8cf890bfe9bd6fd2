// The journal's file: its bytes, what is recovered of every prefix and of every flipped bit, the
// errors, and a process that is killed again and again.
#include <sys/resource.h>

#include <csignal>
#include <memory>
#include <thread>

#include "match_gateway_rig.hpp"

using namespace wirebook;
using namespace wirebook::match;
using namespace wirebook::test;

namespace {

constexpr std::uint64_t digest = 0x1122'3344'5566'7788;

Request request_of(std::uint64_t n) {
    Request request;
    request.instrument = static_cast<std::uint32_t>(n % 7);
    request.order_id = n;
    request.price = -static_cast<std::int64_t>(n * n);
    request.quantity = n << 33U;
    return request;
}

JournalOptions options_of(const std::string& path, std::uint64_t engine_digest = digest) {
    JournalOptions options;
    options.path = path;
    options.engine_digest = engine_digest;
    options.ring_records = 1024;
    return options;
}

// A journal opened over what its file holds, and the requests that were in it.
struct Opened {
    explicit Opened(const JournalOptions& options)
        : arena(must_make_arena(Journal::bytes_needed(options))),
          journal(Journal::open(arena, options, [this](std::span<const Request> requests) {
              replayed.insert(replayed.end(), requests.begin(), requests.end());
          })) {}
    Journal& operator*() { return journal.value(); }
    Journal* operator->() { return &journal.value(); }
    [[nodiscard]] std::string error() const { return journal.ok() ? "" : journal.error().context; }

    std::vector<Request> replayed;
    Arena arena;
    Result<Journal> journal;
};

void write_records(const std::string& path, std::uint64_t first, std::uint64_t count) {
    Opened opened(options_of(path));
    if (!opened.journal) FAIL(opened.error());
    REQUIRE(opened->recovered().records == first);
    for (std::uint64_t n = first; n < first + count; ++n) {
        const Request request = request_of(n);
        REQUIRE(opened->room(1) != 0);
        opened->append({&request, 1});
        if (n % 3 == 0) (void)opened->write_some();
    }
    while (opened->write_some() != 0) {
    }
    CHECK(opened->written() == first + count);
}

bool are_requests(const std::vector<Request>& requests) {
    for (std::uint64_t n = 0; n < requests.size(); ++n) {
        const Request expected = request_of(n);
        if (std::memcmp(&requests[n], &expected, sizeof(expected)) != 0) return false;
    }
    return true;
}

}  // namespace

TEST_CASE("crc32c: the instruction and the table agree with the published values", "[match]") {
    const std::string check = "123456789";
    CHECK(crc32c(std::as_bytes(std::span(check))) == 0xE306'9283);
    const std::array<std::byte, 32> zeros{};
    CHECK(crc32c(zeros) == 0x8A91'36AA);  // RFC 3720 B.4
    std::mt19937_64 random(5);
    std::vector<std::byte> bytes(100);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
        const std::span<const std::byte> part = std::span(bytes).first(size);
        CHECK(crc32c(part) == ~detail::crc32c_by_table(0xFFFF'FFFF, part));
    }
}

TEST_CASE("journal: its bytes are those of the format, on any machine", "[match]") {
    const JournalFolder folder;
    write_records(folder.file(), 0, 2);
    const std::string bytes = read_file(folder.file());
    REQUIRE(bytes.size() == 64 + 2 * 80);
    CHECK(bytes.substr(0, 8) == "WBMATCHJ");
    const auto at = [&](std::size_t offset) -> std::uint32_t {
        return static_cast<unsigned char>(bytes[offset]);
    };
    CHECK(at(8) == 1);
    CHECK(at(12) == 64);
    CHECK(at(16) == 80);
    CHECK(at(24) == 0x88);
    CHECK(at(31) == 0x11);
    const std::size_t second = 64 + 80;
    CHECK(at(second + 8) == 1);       // instrument
    CHECK(at(second + 16) == 1);      // order_id
    CHECK(at(second + 32) == 0xFF);   // price: -1
    CHECK(at(second + 40 + 4) == 2);  // quantity: 1 << 33
    CHECK(at(second + 64) == 2);      // sequence
    const auto word = [&](std::size_t offset) {
        return at(offset) | at(offset + 1) << 8U | at(offset + 2) << 16U | at(offset + 3) << 24U;
    };
    // Of another program's CRC-32C over bytes written down from the format's table.
    CHECK(word(60) == 0xEF94'5161);
    CHECK(word(140) == 0xFD47'5055);
    CHECK(word(220) == 0x8D4E'8772);
}

TEST_CASE("journal: every prefix of it gives exactly the whole records in it", "[match][big]") {
    const JournalFolder folder;
    constexpr std::uint64_t records = 6;
    write_records(folder.file(), 0, records);
    const std::string whole = read_file(folder.file());
    for (std::size_t size = 0; size <= whole.size(); ++size) {
        INFO("prefix of " << size << " bytes");
        const std::uint64_t expected = size < 64 ? 0 : (size - 64) / 80;
        write_file(folder.file(), whole.substr(0, size));
        {
            Opened opened(options_of(folder.file()));
            REQUIRE(opened.error().empty());
            REQUIRE(opened->recovered().records == expected);
            REQUIRE(opened->recovered().cut_bytes == (size < 64 ? size : (size - 64) % 80));
            REQUIRE(opened.replayed.size() == expected);
            REQUIRE(are_requests(opened.replayed));
        }
        REQUIRE(read_file(folder.file()) == whole.substr(0, 64 + expected * 80));
        if (size % 40 == 0) {  // and it goes on from there
            write_records(folder.file(), expected, records - expected);
            REQUIRE(read_file(folder.file()) == whole);
        }
    }
}

TEST_CASE("journal: a flipped bit is an error that names the offset, but for the last record's",
          "[match][big]") {
    const JournalFolder folder;
    write_records(folder.file(), 0, 4);
    const std::string whole = read_file(folder.file());
    for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
        INFO("bit " << bit % 8 << " of byte " << bit / 8);
        std::string bytes = whole;
        const std::size_t at = bit / 8;
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << (bit % 8)));
        write_file(folder.file(), bytes);
        const auto read = read_journal(folder.file(), digest, nullptr);
        if (at < 64 + 3 * 80) {
            REQUIRE_FALSE(read.ok());
            const std::size_t record = (at - 64) / 80;
            const std::string where = "damaged at offset " + std::to_string(64 + record * 80);
            if (at >= 64) REQUIRE(read.error().context.find(where) != std::string::npos);
        } else {
            REQUIRE(read.ok());
            REQUIRE(read.value().records == 3);
            REQUIRE(read.value().cut_bytes == 80);
        }
        if (bit % 97 != 0) continue;
        Opened opened(options_of(folder.file()));
        REQUIRE(opened.journal.ok() == read.ok());
        if (!read) REQUIRE(read_file(folder.file()) == bytes);  // it stays as it is
    }
}

TEST_CASE("journal: missing and doubled bytes in its middle are errors, not an early end",
          "[match]") {
    const JournalFolder folder;
    write_records(folder.file(), 0, 6);
    const std::string whole = read_file(folder.file());
    for (std::size_t size : {1U, 7U, 80U, 81U, 160U}) {
        for (std::size_t at : {64U, 100U, 144U, 200U}) {
            write_file(folder.file(), whole.substr(0, at) + whole.substr(at + size));
            CHECK_FALSE(read_journal(folder.file(), digest, nullptr).ok());
            write_file(folder.file(), whole.substr(0, at + size) + whole.substr(at));
            CHECK_FALSE(read_journal(folder.file(), digest, nullptr).ok());
        }
    }
}

TEST_CASE("journal: a long one is read in pieces, and damage far from its end is found",
          "[match]") {
    const JournalFolder folder;
    write_records(folder.file(), 0, 40'000);  // three windows
    const auto read = read_journal(folder.file(), digest, nullptr);
    REQUIRE(read.ok());
    CHECK(read.value().records == 40'000);
    std::string bytes = read_file(folder.file());
    bytes[64 + 80 * 5 + 3] ^= 1;
    for (std::size_t i = 64 + 80 * 6; i < bytes.size() - 80; ++i) bytes[i] = 0;
    write_file(folder.file(), bytes);
    const auto damaged = read_journal(folder.file(), digest, nullptr);
    REQUIRE_FALSE(damaged.ok());
    CHECK(damaged.error().context.find("offset 464 (request 6)") != std::string::npos);
    bytes.resize(bytes.size() - 80);
    write_file(folder.file(), bytes);  // nothing right is left behind the damage
    CHECK(read_journal(folder.file(), digest, nullptr).value().records == 5);
}

TEST_CASE("journal: a file that is none, of another version or engine, or in use is refused",
          "[match]") {
    const JournalFolder folder;
    const auto fault = [&](const std::string& bytes, std::uint64_t engine) {
        write_file(folder.file(), bytes);
        Opened opened(options_of(folder.file(), engine));
        CHECK(read_file(folder.file()) == bytes);
        return opened.error();
    };
    const auto says = [](const std::string& text, const char* what) {
        INFO(text);
        return text.find(what) != std::string::npos;
    };
    write_records(folder.file(), 0, 1);
    const std::string good = read_file(folder.file());
    CHECK(says(fault("a text of somebody's", digest), "is no journal"));
    CHECK(says(fault("WBMATCHX", digest), "is no journal"));
    CHECK(says(fault(good, digest + 1), "other options or instruments"));
    CHECK(says(fault(good.substr(0, 40), digest + 1), "ends within a header"));
    std::string version = good;
    version[8] = 2;
    CHECK(says(fault(version, digest), "has version 2, this program reads version 1"));
    std::string damaged = good;
    damaged[30] = 1;
    CHECK(says(fault(damaged, digest), "the header is damaged"));
    CHECK(fault(good, digest).empty());

    Opened first(options_of(folder.file()));
    CHECK(says(Opened(options_of(folder.file())).error(), "does another engine write it?"));
    CHECK(says(Opened(options_of("/dev/shm/no/such/folder/x")).error(), "No such file"));
    CHECK_FALSE(read_journal("/dev/shm/no/such/folder/x", digest, nullptr).ok());
}

TEST_CASE("journal: a file that cannot be written fails for ever and says why", "[match]") {
    JournalOptions options = options_of("/dev/full");
    const JournalFolder folder;
    options.path = folder.file();
    Opened opened(options);
    REQUIRE(opened.journal.ok());
    // A limit on the file's size stands in for a full disk.
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    REQUIRE(::sigaction(SIGXFSZ, &ignore, nullptr) == 0);
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
    rlimit small = before;
    small.rlim_cur = 64 + 80 + 30;
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    for (std::uint64_t n = 0; n < 3; ++n) {
        const Request request = request_of(n);
        opened->append({&request, 1});
    }
    CHECK(opened->write_some() == 0);
    CHECK(opened->failure() == EFBIG);
    CHECK(opened->room(1) == 0);
    CHECK(opened->written() == 0);
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK(opened->write_some() == 0);
    // What did get into the file is whole: more than was called written, never less.
    CHECK(read_journal(folder.file(), digest, nullptr).value().records == 1);
}

TEST_CASE("journal: its ring is full when the writer does not get on, and nothing is lost",
          "[match]") {
    const JournalFolder folder;
    JournalOptions options = options_of(folder.file());
    options.ring_records = 8;
    Opened opened(options);
    std::uint64_t appended = 0;
    while (opened->room(1) != 0) {
        const Request request = request_of(appended++);
        opened->append({&request, 1});
    }
    CHECK(appended == 8);
    CHECK(opened->written() == 0);
    CHECK(opened->write_some() == 8);
    CHECK(opened->written() == 8);
    CHECK(opened->room(8) == 8);
}

TEST_CASE("journal: thread beside thread, all that is called written is in the file", "[match]") {
    const JournalFolder folder;
    JournalOptions options = options_of(folder.file());
    options.durable = true;
    constexpr std::uint64_t records = 20'000;
    Opened opened(options);
    std::atomic<bool> stop{false};
    std::thread writer([&] { opened->run(stop, 0); });
    std::uint64_t appended = 0;
    while (appended < records) {
        if (opened->room(1) == 0) {
            std::this_thread::yield();
            continue;
        }
        const Request request = request_of(appended++);
        opened->append({&request, 1});
        if (appended % 4096 != 0) continue;
        const std::uint64_t written = opened->written();
        const auto file = read_journal(folder.file(), digest, nullptr);
        REQUIRE(file.ok());
        CHECK(file.value().records >= written);
    }
    stop.store(true, std::memory_order_release);
    writer.join();
    CHECK(opened->written() == records);
    std::vector<Request> read;
    const auto file = read_journal(folder.file(), digest, [&](std::span<const Request> requests) {
        read.insert(read.end(), requests.begin(), requests.end());
    });
    REQUIRE(file.ok());
    CHECK(read.size() == records);
    CHECK(are_requests(read));
}
