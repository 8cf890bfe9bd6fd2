// A segment file opened and mapped read-only, after everything in it that can be wrong was looked
// at: a foreign, cut or differently built file is an Error here and never a SIGBUS later.
//
// (The writer never shrinks a file. Whoever truncates a mapped segment by hand kills its readers.)
// Header-only, Linux. Cold: attach, the search for a segment, and the test whether a writer lives.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "wirebook/ring/segment.hpp"

namespace wirebook::ring {

inline std::string errno_text(int code) {
    return std::generic_category().message(code);
}

// Owns a file descriptor.
class File {
public:
    File() = default;
    explicit File(int descriptor) noexcept : descriptor_(descriptor) {}
    File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    File& operator=(File&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    [[nodiscard]] int get() const noexcept { return descriptor_; }
    [[nodiscard]] bool open() const noexcept { return descriptor_ >= 0; }

private:
    int descriptor_ = -1;
};

// Owns a mapping.
class Pages {
public:
    Pages() = default;
    Pages(void* base, std::size_t bytes) noexcept : base_(base), bytes_(bytes) {}
    Pages(Pages&& other) noexcept
        : base_(std::exchange(other.base_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Pages& operator=(Pages&& other) noexcept {
        std::swap(base_, other.base_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;
    ~Pages() {
        if (base_ != nullptr) ::munmap(base_, bytes_);
    }
    [[nodiscard]] bool mapped() const noexcept { return base_ != nullptr; }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    // What lies `offset` bytes into the mapping. The caller has checked that it fits.
    template <class T>
    [[nodiscard]] T* at(std::uint64_t offset) const noexcept {
        return static_cast<T*>(static_cast<void*>(static_cast<std::byte*>(base_) + offset));
    }

private:
    void* base_ = nullptr;
    std::size_t bytes_ = 0;
};

// The lock that says "I live": a write lock of the open file, as fcntl(F_OFD_SETLK) takes it. Only
// who may write the file can hold one, so that no reader can pass for a writer; the kernel drops
// it with the last descriptor of the open file, however its process ends.
[[nodiscard]] inline bool take_life_lock(int descriptor) noexcept {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    return ::fcntl(descriptor, F_OFD_SETLK, &lock) == 0;
}
// Does another open file hold it? Takes no lock itself.
[[nodiscard]] inline bool life_lock_held(int descriptor) noexcept {
    struct flock lock {};
    lock.l_type = F_RDLCK;
    lock.l_whence = SEEK_SET;
    return ::fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

// A lock that anybody who may read the file can take. True: nobody holds the life lock, and nobody
// can take it as long as the descriptor is open. life_lock_held does not see it.
[[nodiscard]] inline bool take_death_lock(int descriptor) noexcept {
    struct flock lock {};
    lock.l_type = F_RDLCK;
    lock.l_whence = SEEK_SET;
    return ::fcntl(descriptor, F_OFD_SETLK, &lock) == 0;
}
// Is it the open file that has that name?
[[nodiscard]] inline bool is_named(int descriptor, const std::string& path) noexcept {
    struct stat open {
    }, named{};
    return ::fstat(descriptor, &open) == 0 && ::lstat(path.c_str(), &named) == 0 &&
           open.st_ino == named.st_ino && open.st_dev == named.st_dev;
}
// Removes the file of that name if it is the open one and nobody lives in it. True: it is gone.
inline bool remove_if_dead(int descriptor, const std::string& path) noexcept {
    return take_death_lock(descriptor) && is_named(descriptor, path) && ::unlink(path.c_str()) == 0;
}

// "/dev/shm/wirebook.nasdaq" in its parts. The name of a file that is not called so is "".
struct SegmentName {
    std::string directory;
    std::string name;
};
[[nodiscard]] inline SegmentName split_segment_path(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    SegmentName parts{slash == path.npos ? "." : path.substr(0, slash), ""};
    if (slash == 0) parts.directory = "/";
    const std::string_view file = std::string_view(path).substr(slash == path.npos ? 0 : slash + 1);
    const std::string_view prefix = file_prefix;
    if (file.starts_with(prefix) && name_fault(file.substr(prefix.size())) == nullptr)
        parts.name = file.substr(prefix.size());
    return parts;
}

// Calls visit(std::string_view name) for each entry of the folder. False: it cannot be read.
template <class Visit>
inline bool for_each_file(const std::string& directory, Visit visit) {
    DIR* const folder = ::opendir(directory.c_str());
    if (folder == nullptr) return false;
    while (const dirent* entry = ::readdir(folder)) {  // NOLINT(concurrency-mt-unsafe): ours
        const std::string name(static_cast<const char*>(entry->d_name));
        visit(std::string_view(name));
    }
    ::closedir(folder);
    return true;
}

// Where segments without a directory of their own may be: the hugetlbfs mounts that we may enter,
// then /dev/shm.
[[nodiscard]] inline std::vector<std::string> default_directories() {
    std::vector<std::string> directories;
    if (std::FILE* mounts = std::fopen("/proc/self/mounts", "re")) {
        std::array<char, 1024> line{};
        while (std::fgets(line.data(), static_cast<int>(line.size()), mounts) != nullptr) {
            const std::string_view text(line.data());
            const auto first = text.find(' ');
            const auto second = text.find(' ', first + 1);
            if (first == text.npos || second == text.npos) continue;
            if (text.substr(second + 1, 10) != "hugetlbfs ") continue;
            std::string directory(text.substr(first + 1, second - first - 1));
            if (::access(directory.c_str(), X_OK) == 0) directories.push_back(std::move(directory));
        }
        std::fclose(mounts);
    }
    directories.emplace_back(shared_memory_directory);
    return directories;
}

struct Mapping {
    File file;
    Pages pages;
    std::string path;

    [[nodiscard]] const SegmentHeader& header() const noexcept {
        return *pages.at<const SegmentHeader>(0);
    }
};

namespace detail {

inline Error not_a_segment(const std::string& path, const std::string& why) {
    return {EINVAL, "attach " + path + ": " + why};
}

// Empty: the header is ours and everything it says fits the file.
inline std::string header_fault(const SegmentHeader& h, std::uint64_t file_bytes) {
    if (h.magic.load(std::memory_order_acquire) != segment_magic)
        return h.abi == abi_version ? "was never completed by its writer"
                                    : "is not a wirebook segment (no magic)";
    if (h.endian != endian_mark) return "was made on a machine of the other byte order";
    if (h.abi != abi_version)
        return "has ABI version " + std::to_string(h.abi) + ", this reader knows " +
               std::to_string(abi_version) + ": build writer and reader from the same release";
    const Geometry geometry{h.depth, h.slots, h.instrument_capacity, h.channels};
    if (!valid_geometry(geometry)) return "has an impossible geometry";
    const Layout layout = layout_of(geometry);
    if (h.header_bytes != sizeof(SegmentHeader) || h.instrument_bytes != sizeof(InstrumentRow) ||
        h.record_head != record_head_bytes || h.slot_bytes != layout.slot_bytes ||
        h.instruments_offset != layout.instruments_offset ||
        h.table_offset != layout.table_offset || h.ring_offset != layout.ring_offset ||
        h.segment_bytes < layout.used_bytes)
        return "has sizes that do not follow from its geometry";
    if (file_bytes != h.segment_bytes)
        return "is " + std::to_string(file_bytes) + " bytes long and should be " +
               std::to_string(h.segment_bytes) + ": it was cut";
    if (!(h.ns_per_tick > 1e-3 && h.ns_per_tick < 1e6)) return "has an impossible TSC frequency";
    return {};
}

}  // namespace detail

[[nodiscard]] inline Result<Mapping> map_segment(const std::string& path, bool prefault = false) {
    Mapping mapping;
    mapping.path = path;
    // O_NOFOLLOW: a link could lead out of the folder. O_NONBLOCK: never hang on a FIFO.
    mapping.file = File(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!mapping.file.open()) {
        const int code = errno;
        return Error{code, "attach " + path + ": " +
                               (code == ELOOP ? "is a symbolic link" : errno_text(code))};
    }
    struct stat status {};
    if (::fstat(mapping.file.get(), &status) != 0)
        return Error{errno, "fstat " + path + ": " + errno_text(errno)};
    if (!S_ISREG(status.st_mode)) return detail::not_a_segment(path, "is not a regular file");
    const auto bytes = static_cast<std::uint64_t>(status.st_size);
    if (bytes < sizeof(SegmentHeader))
        return detail::not_a_segment(path, "is too short for a header: it was cut or is not ours");
    void* base = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED | (prefault ? MAP_POPULATE : 0),
                        mapping.file.get(), 0);
    if (base == MAP_FAILED) return Error{errno, "mmap " + path + ": " + errno_text(errno)};
    mapping.pages = Pages(base, bytes);
    const std::string fault = detail::header_fault(mapping.header(), bytes);
    if (!fault.empty()) return detail::not_a_segment(path, fault);
    return mapping;
}

}  // namespace wirebook::ring
