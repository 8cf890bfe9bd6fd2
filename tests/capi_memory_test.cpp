// What the C interface promises about memory. The operators below replace those of the whole
// program, and with them the library's. ThreadSanitizer has its own: this file is left out there.
#include <malloc.h>

#include <atomic>
#include <new>

#include "capi_readers.hpp"

using namespace wirebook;
using wirebook::test::Attached;

namespace {

std::atomic<std::uint64_t> allocations{0};
std::atomic<std::int64_t> until_failure{-1};  // allocations that succeed yet; below 0: all

void* allocate(std::size_t bytes) {
    allocations += 1;
    if (until_failure >= 0 && until_failure-- == 0) {
        until_failure = -1;
        return nullptr;
    }
    return std::malloc(bytes);
}

}  // namespace

// Also those of the library: it takes memory from the program's operators.
void* operator new(std::size_t bytes) {
    if (void* memory = allocate(bytes)) return memory;
    throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    return allocate(bytes);
}
void* operator new(std::size_t bytes, std::align_val_t) {
    allocations += 1;
    return std::aligned_alloc(64, (bytes + 63) / 64 * 64);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}

TEST_CASE("capi: memory that runs out at attach is ENOMEM at every allocation", "[capi]") {
    const Attached is;
    int failed = 0;
    for (std::int64_t allowed = 0;; ++allowed) {
        wirebook_reader* reader = nullptr;
        until_failure = allowed;
        const int status = wirebook_attach("test", &is.options, &reader);
        until_failure = -1;
        if (status == 0) {
            wirebook_close(reader);
            break;
        }
        CHECK(status == -ENOMEM);
        CHECK(reader == nullptr);
        failed += 1;
    }
    CHECK(failed > 2);
}

TEST_CASE("capi: polling and asking take no memory", "[capi]") {
    Attached is;
    ring::Record in;
    alignas(64) wirebook_record out{};
    wirebook_trade_event trade{};
    wirebook_identity identity{};
    const std::uint64_t before = allocations;
    const std::size_t used = ::mallinfo2().uordblks;
    std::uint64_t records = 0, lapped = 0, trades = 0;
    for (int round = 0; round < 100; ++round) {
        for (int n = 0; n < (round % 10 == 9 ? 100 : 10); ++n) test::publish(is.writer, in, 1);
        int polled = 0;
        while ((polled = wirebook_poll(is.reader, &out)) != WIREBOOK_POLL_EMPTY) {
            records += polled == WIREBOOK_POLL_RECORD ? 1U : 0U;
            lapped += polled == WIREBOOK_POLL_LAPPED ? 1U : 0U;
            trades += polled == WIREBOOK_POLL_RECORD && out.kind == WIREBOOK_KIND_TRADE &&
                              wirebook_event_trade(&out, &trade) == 0
                          ? 1U
                          : 0U;
        }
        (void)wirebook_find(is.reader, "SYM5");
        (void)wirebook_latest(is.reader, 3, &out);
        (void)wirebook_read_identity(is.reader, 3, &identity);
        (void)wirebook_poll(nullptr, nullptr);
    }
    CHECK(allocations == before);
    CHECK(::mallinfo2().uordblks == used);
    CHECK(records > 500);
    CHECK(lapped == 10);
    CHECK(trades > 50);
}
