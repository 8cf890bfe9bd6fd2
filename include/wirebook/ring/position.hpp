// Where a reader is, for others to see: a small file of the reader's own beside the segment, named
// wirebook.NAME~reader.PID.N (no segment's name holds a '~'), in /dev/shm for segments in
// hugetlbfs. The reader alone maps it and now and then stores its place there with plain stores.
//
// The writer knows nothing of these files. `wirebook dump-segment` and the statistics at the end
// of a run read them with pread, and believe only a regular file of exactly our size with our
// magic and the segment's epoch whose reader lives (it holds the life lock, mapping.hpp). A file
// whose reader has died is removed by the next reader that makes one, or writer that starts.
// Header-only, Linux. Cold but for PositionFile::store, which belongs to the reader's thread.
#pragma once

#include <sys/vfs.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <ctime>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wirebook/core/clock.hpp"
#include "wirebook/ring/mapping.hpp"

namespace wirebook::ring {

inline constexpr std::uint64_t position_magic = 0x3154'4953'4F50'4257;  // "WBPOSIT1" in memory
inline constexpr std::size_t position_file_bytes = 4096;
inline constexpr unsigned max_positions_a_process = 64;
inline constexpr std::size_t max_positions_shown = 256;
inline constexpr const char* position_infix = "~reader.";

// The beginning of the file; the rest is zero.
struct PositionBlock {
    std::uint64_t magic = 0;         // stored last
    std::uint64_t epoch = 0;         // of the segment that is read
    std::uint64_t pid = 0;           // in the reader's pid namespace
    std::int64_t attached_ns = 0;    // UTC
    std::array<char, 32> program{};  // its name, zero-padded
    std::uint64_t next = 0;          // sequence that it reads next
    std::uint64_t lost = 0;          // records lost so far
    std::uint64_t heartbeat = 0;     // its TSC when it stored these
    std::array<std::uint64_t, 5> reserved{};
};
static_assert(sizeof(PositionBlock) == 128 && offsetof(PositionBlock, next) == 64);

[[nodiscard]] inline std::int64_t utc_now_ns() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

namespace detail {

inline constexpr long hugetlbfs_magic = 0x958458F6;

// A page of hugetlbfs would be 2 MiB for a reader.
[[nodiscard]] inline std::string position_folder(const std::string& directory) {
    struct statfs system {};
    const bool hugetlb = ::statfs(directory.c_str(), &system) == 0 &&
                         static_cast<long>(system.f_type) == hugetlbfs_magic;
    return hugetlb ? shared_memory_directory : directory;
}

[[nodiscard]] inline std::string position_prefix(std::string_view name) {
    return std::string(file_prefix).append(name).append(position_infix);
}
// "123.0", the end of such a file's name.
[[nodiscard]] inline bool is_position_suffix(std::string_view text) noexcept {
    const std::size_t dot = text.find('.');
    const auto number = [](std::string_view part) {
        return !part.empty() && part.size() <= 10 &&
               part.find_first_not_of("0123456789") == part.npos;
    };
    return dot != text.npos && number(text.substr(0, dot)) && number(text.substr(dot + 1));
}
// Of any segment.
[[nodiscard]] inline bool is_position_file(std::string_view file) noexcept {
    const std::string_view prefix = file_prefix, infix = position_infix;
    const std::size_t at = file.find('~');
    return at != file.npos && file.starts_with(prefix) && file.substr(at).starts_with(infix) &&
           name_fault(file.substr(prefix.size(), at - prefix.size())) == nullptr &&
           is_position_suffix(file.substr(at + infix.size()));
}

// For reading. Never waits and follows no link; not open: it is no regular file, or not ours.
[[nodiscard]] inline File open_regular(const std::string& path, struct stat& status) {
    File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    if (file.open() && (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)))
        return File();
    return file;
}

// An empty file under a name of ours, whose process has died before it wrote its mark.
[[nodiscard]] inline bool is_old_and_empty(const struct stat& status) noexcept {
    return status.st_size == 0 && utc_now_ns() / 1'000'000'000 - status.st_mtim.tv_sec > 60;
}
// By its content: the magic, or nothing but zeros, where its reader died before it.
[[nodiscard]] inline bool holds_position(int descriptor) noexcept {
    std::array<std::uint64_t, position_file_bytes / 8> words{};
    const auto bytes = static_cast<ssize_t>(position_file_bytes);
    if (::pread(descriptor, words.data(), position_file_bytes, 0) != bytes) return false;
    if (words[0] == position_magic) return true;
    return std::all_of(words.begin(), words.end(), [](std::uint64_t word) { return word == 0; });
}
// A reader takes the lock before the file gets its size: who finds it whole and without a lock
// knows that its reader has died. One that stayed empty is removed when it is a minute old.
inline void remove_dead_position(const std::string& path) {
    struct stat status {};
    const File file = open_regular(path, status);
    if (!file.open()) return;
    const bool whole =
        status.st_size == static_cast<off_t>(position_file_bytes) && holds_position(file.get());
    if (whole || is_old_and_empty(status)) static_cast<void>(remove_if_dead(file.get(), path));
}

inline void remove_dead_positions(const std::string& folder, std::string_view prefix) {
    std::vector<std::string> found;
    for_each_file(folder, [&](std::string_view file) {
        if (file.starts_with(prefix) && is_position_file(file)) found.emplace_back(file);
    });
    for (const std::string& file : found)
        remove_dead_position(std::string(folder).append("/").append(file));
}

}  // namespace detail

// The reader's end: makes the file, stores, and removes the file when it goes. Empty (path() is
// "") where none could be made: monitoring never keeps a reader from reading.
class PositionFile {
public:
    PositionFile() = default;
    PositionFile(const std::string& segment, std::uint64_t epoch, std::uint64_t next) {
        const SegmentName name = split_segment_path(segment);
        if (name.name.empty()) return;
        const std::string folder = detail::position_folder(name.directory);
        const std::string prefix = detail::position_prefix(name.name);
        detail::remove_dead_positions(folder, prefix);
        const std::string stem = folder + "/" + prefix + std::to_string(::getpid()) + ".";
        for (unsigned n = 0; n < max_positions_a_process; ++n) {
            path_ = stem + std::to_string(n);
            file_ = File(::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
            if (file_.open()) break;
            path_.clear();
            if (errno != EEXIST) return;
        }
        if (path_.empty()) return;
        if (!fill(epoch, next)) remove();
    }
    PositionFile(PositionFile&& other) noexcept = default;
    PositionFile& operator=(PositionFile&& other) noexcept {
        std::swap(path_, other.path_);
        std::swap(file_, other.file_);
        std::swap(pages_, other.pages_);
        std::swap(block_, other.block_);
        std::swap(owner_, other.owner_);
        return *this;
    }
    PositionFile(const PositionFile&) = delete;
    PositionFile& operator=(const PositionFile&) = delete;
    ~PositionFile() {
        if (!path_.empty() && ::getpid() == owner_) remove();  // a forked child's copy is not ours
    }

    void store(std::uint64_t next, std::uint64_t lost) noexcept {
        if (block_ == nullptr) return;
        const auto set = [](std::uint64_t& word, std::uint64_t value) {
            std::atomic_ref<std::uint64_t>(word).store(value, std::memory_order_relaxed);
        };
        set(block_->next, next);
        set(block_->lost, lost);
        set(block_->heartbeat, rdtsc());
    }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    [[nodiscard]] bool fill(std::uint64_t epoch, std::uint64_t next) {
        if (!take_life_lock(file_.get())) return false;
        std::array<char, position_file_bytes> zeros{};  // written: no SIGBUS in a full folder
        if (::pwrite(file_.get(), zeros.data(), zeros.size(), 0) !=
            static_cast<ssize_t>(zeros.size()))
            return false;
        void* base = ::mmap(nullptr, position_file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                            file_.get(), 0);
        if (base == MAP_FAILED) return false;
        pages_ = Pages(base, position_file_bytes);
        block_ = pages_.at<PositionBlock>(0);
        block_->epoch = epoch;
        block_->pid = static_cast<std::uint64_t>(::getpid());
        block_->attached_ns = utc_now_ns();
        const std::string_view program = program_invocation_short_name;
        std::copy_n(program.begin(), std::min(program.size(), block_->program.size() - 1),
                    block_->program.begin());
        store(next, 0);
        std::atomic_ref<std::uint64_t>(block_->magic)
            .store(position_magic, std::memory_order_release);
        return true;
    }
    // Only our own file: under its name there may be another one by now.
    void remove() noexcept {
        if (is_named(file_.get(), path_)) ::unlink(path_.c_str());
        path_.clear();
        block_ = nullptr;
    }

    std::string path_;
    File file_;
    Pages pages_;
    PositionBlock* block_ = nullptr;
    pid_t owner_ = ::getpid();
};

// What a living reader has stored. Its numbers are the reader's word: it may say anything.
struct ReaderPosition {
    std::string path;
    std::string program;
    std::uint64_t pid = 0, next = 0, lost = 0, heartbeat = 0;
    std::int64_t attached_ns = 0;
    unsigned uid = 0;  // whose file it is

    // Records published and not read by it yet. None: it claims to be ahead of the writer.
    [[nodiscard]] std::optional<std::uint64_t> lag(std::uint64_t published) const noexcept {
        if (next > published) return std::nullopt;
        return published - next;
    }
};
struct ReaderPositions {
    std::vector<ReaderPosition> readers;  // by path; at most max_positions_shown
    bool more = false;                    // there are more files than were looked at
};

namespace detail {

[[nodiscard]] inline std::optional<ReaderPosition> read_position(const std::string& path,
                                                                 std::uint64_t epoch) {
    struct stat status {};
    const File file = open_regular(path, status);
    if (!file.open() || status.st_size != static_cast<off_t>(position_file_bytes) ||
        !life_lock_held(file.get()))
        return std::nullopt;
    PositionBlock block;
    const auto bytes = std::as_writable_bytes(std::span(&block, 1));
    if (::pread(file.get(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()) ||
        block.magic != position_magic || block.epoch != epoch)
        return std::nullopt;
    ReaderPosition position{
        path,         {}, block.pid, block.next, block.lost, block.heartbeat, block.attached_ns,
        status.st_uid};
    for (const char c : block.program) {
        if (c == '\0') break;
        position.program += c >= ' ' && c <= '~' ? c : '?';
    }
    return position;
}

}  // namespace detail

// The living readers of a segment that show their position. Reads files, allocates.
[[nodiscard]] inline ReaderPositions reader_positions(const std::string& segment,
                                                      std::uint64_t epoch) {
    ReaderPositions found;
    const SegmentName name = split_segment_path(segment);
    if (name.name.empty()) return found;
    const std::string folder = detail::position_folder(name.directory);
    const std::string prefix = detail::position_prefix(name.name);
    std::vector<std::string> files;
    for_each_file(folder, [&](std::string_view file) {
        if (!file.starts_with(prefix) || !detail::is_position_file(file)) return;
        found.more = found.more || files.size() == max_positions_shown;
        if (!found.more) files.push_back(folder + "/" + std::string(file));
    });
    std::sort(files.begin(), files.end());
    for (const std::string& file : files)
        if (auto position = detail::read_position(file, epoch))
            found.readers.push_back(std::move(*position));
    return found;
}

}  // namespace wirebook::ring
