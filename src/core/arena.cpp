// The arena's dealings with the kernel: mapping, page sizes, pre-faulting. Cold.
#include "wirebook/core/arena.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

namespace wirebook {
namespace {

constexpr int huge_2m = 21 << MAP_HUGE_SHIFT;

Error failed(const std::string& what, std::size_t bytes, int code) {
    return errno_error(what + " " + std::to_string(bytes >> 20) + " MiB", code);
}

struct FileCloser {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, FileCloser>;

bool transparent_pages_allowed() noexcept {
    const File file(std::fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re"));
    char line[64] = {};
    if (file == nullptr || std::fgets(line, sizeof(line), file.get()) == nullptr) return false;
    return std::strstr(line, "[never]") == nullptr;
}

// Without MAP_NORESERVE: too few pages fail here, and not as SIGBUS at the first touch.
void* map_hugetlb(std::size_t bytes) noexcept {
    return mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | huge_2m, -1, 0);
}

// On a 2 MiB boundary, so that every page of it can be a huge one: maps one page more than asked
// for and gives the ends back.
void* map_aligned(std::size_t bytes) noexcept {
    constexpr std::size_t page = Arena::huge_page_bytes;
    void* mapped = mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return MAP_FAILED;
    auto* start = static_cast<std::byte*>(mapped);
    const std::size_t head = -reinterpret_cast<std::uintptr_t>(start) % page;
    if (head != 0) munmap(start, head);
    munmap(start + head + bytes, page - head);
    return start + head;
}

// 0 or an errno. Kernels before 5.14 lack MADV_POPULATE_WRITE: a write a page does the same.
int prefault(void* memory, std::size_t bytes) noexcept {
#ifdef MADV_POPULATE_WRITE
    if (madvise(memory, bytes, MADV_POPULATE_WRITE) == 0) return 0;
    if (errno != EINVAL) return errno;
#endif
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    auto* bytes_of = static_cast<std::byte*>(memory);
    for (std::size_t offset = 0; offset < bytes; offset += page) {
        __atomic_store_n(reinterpret_cast<char*>(bytes_of + offset), char{0}, __ATOMIC_RELAXED);
    }
    return 0;
}

}  // namespace

std::size_t memory_available() noexcept {
    const File file(std::fopen("/proc/meminfo", "re"));
    char line[128] = {};
    while (file != nullptr && std::fgets(line, sizeof(line), file.get()) != nullptr) {
        constexpr char key[] = "MemAvailable:";
        if (std::strncmp(line, key, sizeof(key) - 1) != 0) continue;
        return std::strtoull(line + sizeof(key) - 1, nullptr, 10) * 1024;
    }
    return std::numeric_limits<std::size_t>::max();
}

Result<Arena> Arena::create(const ArenaOptions& options) {
    constexpr std::size_t page = huge_page_bytes;
    if (options.bytes == 0 || options.bytes > std::numeric_limits<std::size_t>::max() / 2) {
        return Error{EINVAL, "an arena of " + std::to_string(options.bytes) + " bytes"};
    }
    Arena arena;
    arena.bytes_ = (options.bytes + page - 1) / page * page;
    void* memory = MAP_FAILED;
    if (options.hugetlb) {
        memory = map_hugetlb(arena.bytes_);
        arena.backing_ = Backing::hugetlb;
    }
    if (memory == MAP_FAILED) {
        if (options.prefault && arena.bytes_ > memory_available()) {
            return failed("not enough free memory for", arena.bytes_, ENOMEM);
        }
        memory = map_aligned(arena.bytes_);
        if (memory == MAP_FAILED) return failed("map", arena.bytes_, errno);
        const bool huge = options.transparent && transparent_pages_allowed() &&
                          madvise(memory, arena.bytes_, MADV_HUGEPAGE) == 0;
        arena.backing_ = huge ? Backing::transparent : Backing::small_pages;
    }
    arena.memory_ = static_cast<std::byte*>(memory);
    if (options.prefault) {
        if (const int code = prefault(memory, arena.bytes_); code != 0) {
            return failed("pre-fault", arena.bytes_, code);
        }
    }
    return arena;
}

Arena::~Arena() {
    if (memory_ != nullptr) munmap(memory_, bytes_);
}

std::byte* Arena::allocate(std::size_t bytes, std::size_t alignment) noexcept {
    WIREBOOK_CHECK(std::has_single_bit(alignment) && alignment <= huge_page_bytes);
    const std::size_t start = (used_ + alignment - 1) & ~(alignment - 1);
    if (start > bytes_ || bytes > bytes_ - start) return nullptr;
    used_ = start + bytes;
    return memory_ + start;
}

const char* to_string(Arena::Backing backing) noexcept {
    switch (backing) {
        case Arena::Backing::hugetlb: return "2 MiB pages (hugetlb)";
        case Arena::Backing::transparent: return "transparent huge pages";
        case Arena::Backing::small_pages: return "4 KiB pages";
    }
    return "?";
}

}  // namespace wirebook
