// A bounded ring from one thread to one other, whose writer decides when the reader may see what
// it has put there, and whose reader decides when a place may be used again.
//
// Acknowledgements wait in one, staged, until the journal holds what they acknowledge. Requests on
// their way to the journal stay in one until they are written: "consumed" is "in the file".
//
// MEMORY ORDER. Record n lies in slot n % slots. Both counters only grow.
//   Writer                                       Reader
//   S1  consumed.load(acquire): room for n?      R1  published.load(acquire): is n there?
//   S2  slot.put(record n)                       R2  slot.get()
//   S3  published.store(n + 1, release)          R3  consumed.store(n + 1, release)
// E1  S3 -> R1: the reader sees the whole record.
// E2  R3 -> S1: the slot of record n is written again, with n + slots, after it was read.
// Whoever reads consumed with S1 also sees all that the reader did before R3: a file was written.
// Neither side waits, and neither writes what the other writes: one that stops, stops nobody else.
// Each keeps the other's counter as it last saw it and looks again only when that is not enough.
//
// tests/match_queue_model_test.cpp and match_mutants_test.py: as for request_queue.hpp.
// May depend on core.
#pragma once

#include <cstddef>
#include <cstdint>

#include "wirebook/core/base.hpp"
#include "wirebook/match/memory.hpp"

namespace wirebook::match {

// Where a ring lies in somebody's memory, all zero at first. The two words on lines of their own.
template <class Memory, class Record>
struct RingPlace {
    typename Memory::template Cell<Record>* slots = nullptr;
    std::uint64_t slot_count = 1;  // a power of two
    typename Memory::Word* published = nullptr;
    typename Memory::Word* consumed = nullptr;

    [[nodiscard]] auto& slot(std::uint64_t n) const noexcept { return slots[n & (slot_count - 1)]; }
};

template <class Memory, class Record>
class StagedWriter {
public:
    StagedWriter() = default;
    explicit StagedWriter(const RingPlace<Memory, Record>& ring) noexcept : ring_(ring) {}

    // Free slots; exact if the answer would be less than `enough`, else perhaps too few.
    [[nodiscard]] std::uint64_t room(std::uint64_t enough) noexcept {
        if (ring_.slot_count - (staged_ - consumed_) < enough) (void)consumed();
        return ring_.slot_count - (staged_ - consumed_);
    }
    // There is room. The reader does not see the record yet.
    void stage(const Record& record) noexcept {
        ring_.slot(staged_).put(record);  // S2
        staged_ += 1;
    }
    // All records below `end` are for the reader now.
    void publish(std::uint64_t end) noexcept {
        ring_.published->store(end, std::memory_order_release);  // S3
    }
    // How many the reader is done with.
    [[nodiscard]] std::uint64_t consumed() noexcept {
        consumed_ = ring_.consumed->load(std::memory_order_acquire);  // S1
        return consumed_;
    }
    [[nodiscard]] std::uint64_t staged() const noexcept { return staged_; }

private:
    RingPlace<Memory, Record> ring_;
    std::uint64_t staged_ = 0;
    std::uint64_t consumed_ = 0;  // as last seen
};

template <class Memory, class Record>
class StagedReader {
public:
    StagedReader() = default;
    explicit StagedReader(const RingPlace<Memory, Record>& ring) noexcept : ring_(ring) {}

    // Records that can be read; 0 only if there is none, else perhaps too few.
    [[nodiscard]] std::uint64_t available() noexcept {
        if (published_ == read_)
            published_ = ring_.published->load(std::memory_order_acquire);  // R1
        return published_ - read_;
    }
    // The next one; available() was not 0.
    void read(Record& out) noexcept {
        out = ring_.slot(read_).get();  // R2
        read_ += 1;
    }
    // All that was read: its slots are the writer's again.
    void consume() noexcept {
        ring_.consumed->store(read_, std::memory_order_release);  // R3
    }
    [[nodiscard]] std::uint64_t read_count() const noexcept { return read_; }

private:
    RingPlace<Memory, Record> ring_;
    std::uint64_t read_ = 0;
    std::uint64_t published_ = 0;  // as last seen
};

}  // namespace wirebook::match
