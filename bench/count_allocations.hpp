// Counts every allocation of the process, then lets the C library make it. For one source file of a
// program: it defines malloc and its like. For benchmarks; any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

static std::atomic<std::uint64_t> allocations{0};
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void* malloc(std::size_t bytes) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    return __libc_calloc(count, bytes);
}
void* realloc(void* memory, std::size_t bytes) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    return __libc_realloc(memory, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    return __libc_memalign(alignment, bytes);
}
}
