// Many records through a small ring as fast as the writer can, to readers that cannot keep up: all
// that they get is whole and in order, and what they miss is counted to the record.
#include <sys/wait.h>

#include <thread>

#include "ring_fixture.hpp"

using namespace wirebook;
using namespace wirebook::ring;
using wirebook::test::small_segment;
using wirebook::test::TemporaryFolder;

namespace {

struct Account {
    std::uint64_t read = 0, lost = 0, laps = 0, bad = 0;
};

// To the end of the writer's life.
Account read_all(Reader& reader) {
    Account account;
    Record record;
    std::uint64_t next = 0, lost = 0;
    const auto who = reader.header().writer_pid;
    for (;;) {
        const Poll polled = reader.poll(record);
        if (polled == Poll::writer_closed || polled == Poll::writer_dead) break;
        account.laps += polled == Poll::lapped ? 1U : 0U;
        if (polled != Poll::record) continue;
        const bool in_place = record.sequence == next + (reader.lost() - lost);
        account.bad += in_place && test::is_whole(record, who) ? 0U : 1U;
        next = record.sequence + 1;
        lost = reader.lost();
        account.read += 1;
    }
    account.lost = reader.lost();
    return account;
}

}  // namespace

TEST_CASE("ring: readers of a flood account for every record", "[ring][stress]") {
    const TemporaryFolder folder;
    SegmentOptions options = small_segment(folder.path());
    options.geometry.slots = 1024;
    const std::uint64_t records =
        test::instrumented ? 500'000 : (test::long_tests() ? 100'000'000 : 10'000'000);
    std::array<int, 2> go{};
    REQUIRE(::pipe(go.data()) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        auto created = Writer::create(options);
        if (!created) std::_Exit(3);
        Writer writer = std::move(created).value();
        for (int i = 0; i < 8; ++i) (void)writer.add_instrument("SYM" + std::to_string(i), 1, 4);
        char byte = 0;  // when the readers are there
        if (::read(go[0], &byte, 1) != 1) std::_Exit(4);
        Record record;
        const auto who = static_cast<std::uint64_t>(::getpid());
        while (writer.next_sequence() < records) test::publish(writer, record, who);
        writer.close();
        std::_Exit(0);
    }
    AttachOptions attach;
    attach.wait = std::chrono::seconds(60);
    attach.join_table = false;
    std::array<Resume, 2> resumes{Resume::oldest, Resume::newest};
    std::vector<Reader> readers;
    for (const Resume resume : resumes) {
        attach.resume = resume;
        attach.show_position = resume == Resume::oldest;
        readers.push_back(test::must_attach(folder.path(), attach));
    }
    std::array<Account, 2> accounts;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < readers.size(); ++i)
        threads.emplace_back([&, i] { accounts[i] = read_all(readers[i]); });
    REQUIRE(::write(go[1], "x", 1) == 1);
    for (std::thread& thread : threads) thread.join();
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    for (const int end : go) ::close(end);
    for (const Account& account : accounts) {
        std::cerr << account.read << " read, " << account.lost << " lost in " << account.laps
                  << " laps\n";
        CHECK(account.bad == 0);
        CHECK(account.read > 0);
        CHECK(account.read + account.lost == records);
    }
}
