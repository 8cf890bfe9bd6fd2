// The journal: every request that the engine takes, in its order, in a file, before anybody hears
// what came of it. With it an engine that died at any moment is made again: same requests, same
// state.
//
// The engine's thread only copies requests into a ring; a writer's thread makes records of them
// and writes them, as many at a time as have come meanwhile (and with `durable` waits for the disk
// once for all of those). written() says how far it is.
//
// What is at the end of the file when it is opened: the rest of a record that was being written is
// cut off, and counted. A record that is wrong with right ones behind it was not left by a process
// that died: that is an error, and the file stays as it is.
//
// May depend on core. Two threads: the engine's (append and what stands with it) and the writer's
// (write_some, run); they share nothing but the ring.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "wirebook/core/arena.hpp"
#include "wirebook/core/base.hpp"
#include "wirebook/core/result.hpp"
#include "wirebook/match/journal_format.hpp"
#include "wirebook/match/staged_ring.hpp"

namespace wirebook::match {

struct JournalOptions {
    std::string path;
    std::uint64_t engine_digest = 0;  // journal_digest() of what the engine was made with
    bool durable = false;             // written() means: on the disk (fdatasync), not: in the file
    std::uint32_t ring_records = 65'536;  // a power of two: what may wait to be written
};

// What a journal held.
struct JournalContents {
    std::uint64_t records = 0;    // whole ones, all handed to the caller
    std::uint64_t end = 0;        // offset behind the last of them; 0: not even a whole header
    std::uint64_t cut_bytes = 0;  // behind it: the rest of a record, or nothing
};

// Gets the requests in their order, some at a time.
using Replay = std::function<void(std::span<const Request>)>;

// One number for all that decides what an engine makes of its requests: options, terms ... in
// words. The same on any machine.
[[nodiscard]] std::uint64_t journal_digest(std::span<const std::uint64_t> words) noexcept;

// Reads only. Errors: no such file, no journal, another version, another engine's digest, damage.
// After an error some requests may have been handed over already: throw that engine away.
[[nodiscard]] Result<JournalContents> read_journal(const std::string& path,
                                                   std::uint64_t engine_digest,
                                                   const Replay& replay);

class Journal {
public:
    // Reads what is there (as read_journal), cuts off an unfinished record, and goes on behind it;
    // makes the file if there is none. Holds a lock on it: a second writer gets an error. The
    // arena gives `bytes_needed` and outlives this.
    [[nodiscard]] static Result<Journal> open(Arena& arena, const JournalOptions& options,
                                              const Replay& replay);
    [[nodiscard]] static std::size_t bytes_needed(const JournalOptions& options) noexcept;

    Journal(Journal&& other) noexcept { swap(other); }
    Journal& operator=(Journal&& other) noexcept {
        swap(other);
        return *this;
    }
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;
    // Writes nothing: what was appended since the writer's last look is lost, as at a crash.
    ~Journal();

    [[nodiscard]] const JournalContents& recovered() const noexcept { return recovered_; }

    // The engine's thread. No system call, no waiting.

    // How many requests can be appended now; exact if less than `enough`. 0 once writing failed.
    [[nodiscard]] std::uint64_t room(std::uint64_t enough) noexcept {
        return failed() ? 0 : writer_.room(enough);
    }
    // There is room.
    void append(std::span<const Request> requests) noexcept {
        for (const Request& request : requests) writer_.stage(request);
        writer_.publish(writer_.staged());
    }
    // Sequence of the newest request that was appended, and of the newest that is written.
    [[nodiscard]] std::uint64_t appended() const noexcept {
        return recovered_.records + writer_.staged();
    }
    [[nodiscard]] std::uint64_t written() noexcept {
        return recovered_.records + writer_.consumed();
    }

    // Any thread: an errno of the writer's, for ever; 0: all is well.
    [[nodiscard]] int failure() const noexcept {
        return static_cast<int>(failure_->load(std::memory_order_relaxed));
    }
    [[nodiscard]] bool failed() const noexcept { return failure() != 0; }

    // The writer's thread.

    // Writes what has been appended, at most a block. Returns how many requests; 0: none, or
    // writing has failed.
    std::size_t write_some() noexcept;
    // Writes until `stop`, then the rest. Sleeps that long (0: spins) when there is nothing.
    void run(const std::atomic<bool>& stop, std::uint32_t idle_us) noexcept;

private:
    static constexpr std::size_t block_records = 512;  // 40 KiB a system call

    Journal() = default;
    [[nodiscard]] Status take_up(const JournalOptions& options, const Replay& replay);
    void swap(Journal& other) noexcept;

    JournalContents recovered_;
    StagedWriter<HardwareMemory, Request> writer_;
    HardwareMemory::Word* failure_ = nullptr;

    // The writer's thread alone.
    alignas(false_sharing_bytes) StagedReader<HardwareMemory, Request> reader_;
    std::span<JournalRecord> block_;
    std::uint64_t end_ = 0;  // of the file
    int file_ = -1;
    bool durable_ = false;
};

}  // namespace wirebook::match
