#include "folder_lock.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <ctime>
#include <utility>

namespace wirebook::ring {
namespace {

constexpr int attempts_to_lock = 200;
constexpr timespec between_attempts{0, 10'000'000};
constexpr off_t most_bytes = 32;  // of a pid and a line's end

// In the holder's pid namespace. 0: not known, for one that is just taking the lock, and in
// hugetlbfs, whose files cannot be written so. Nothing: that is no lock file's text.
std::optional<std::uint64_t> holder_of(int descriptor) {
    std::array<char, most_bytes> text{};
    const ssize_t bytes = ::pread(descriptor, text.data(), text.size(), 0);
    std::uint64_t pid = 0;
    if (bytes <= 0) return pid;
    const char* const end = text.data() + bytes;
    const auto parsed = std::from_chars(text.data(), end, pid);
    if (parsed.ec != std::errc() || parsed.ptr + 1 != end || *parsed.ptr != '\n')
        return std::nullopt;
    return pid;
}

void write_pid(int descriptor) {
    const std::string text = std::to_string(::getpid()) + '\n';
    if (::ftruncate(descriptor, 0) != 0) return;
    static_cast<void>(::pwrite(descriptor, text.data(), text.size(), 0));
}

Error busy(const std::string& path, int descriptor) {
    const std::uint64_t holder = holder_of(descriptor).value_or(0);
    const std::string pid = std::to_string(holder);
    const std::string who = holder == 0 ? "another process" : "process " + pid;
    return {EBUSY, who + " has held the lock " + path + " for 2 s, as a writer does that starts: " +
                       (holder == 0 ? "`fuser " + path + "` names it"
                                    : "if it hangs or is stopped, `kill -9 " + pid + "`")};
}

}  // namespace

Result<FolderLock> FolderLock::take(const std::string& folder) {
    FolderLock lock;
    lock.folder_ = folder;
    const std::string path = folder + "/" + lock_file_name;
    for (int attempt = 0; attempt < attempts_to_lock; ++attempt) {
        if (attempt > 0) ::nanosleep(&between_attempts, nullptr);
        lock.path_ = path;
        if (auto error = lock.open_file()) {
            lock.path_.clear();
            // Another has just made it, and perhaps not given it its mode yet.
            if (error->code == EAGAIN || (error->code == EACCES && attempt < 3)) continue;
            return *error;
        }
        const bool locked = take_life_lock(lock.file_.get());
        if (locked && is_named(lock.file_.get(), path)) {
            write_pid(lock.file_.get());
            return lock;
        }
        lock.path_.clear();
    }
    return busy(path, lock.file_.get());  // of the file tried last
}

std::optional<Error> FolderLock::open_file() {
    // Never with O_CREAT where it is there: in a sticky folder the kernel may refuse that.
    file_ = File(::open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!file_.open() && errno == ENOENT) return make_file();
    const bool opened = file_.open();
    if (!opened && errno != ELOOP && errno != ENXIO && errno != EISDIR) return failed_to("open");
    struct stat status {};
    if (opened && ::fstat(file_.get(), &status) != 0) return failed_to("fstat");
    const bool ours = opened && S_ISREG(status.st_mode) && status.st_size <= most_bytes &&
                      holder_of(file_.get()).has_value();
    if (ours) return std::nullopt;
    file_ = File();
    return Error{EEXIST,
                 "lock file " + path_ + " is not one of ours: look what it is, and move it"};
}

// The file is as open to others as its folder: who may make segments there may take the lock.
std::optional<Error> FolderLock::make_file() {
    struct stat folder {};
    file_ = File(::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file_.open()) {
        Error error = failed_to("create");
        if (error.code == EEXIST) error.code = EAGAIN;
        return error;
    }
    if (::stat(folder_.c_str(), &folder) != 0) return std::nullopt;
    const auto same_user = static_cast<uid_t>(UINT32_MAX);
    const bool group =
        (folder.st_mode & 0020U) != 0 && ::fchown(file_.get(), same_user, folder.st_gid) == 0;
    const bool others = (folder.st_mode & 0002U) != 0;
    const mode_t mode = 0600U | (group ? 0060U : 0U) | (others ? 0006U : 0U);
    if (::fchmod(file_.get(), mode) != 0) return failed_to("chmod");
    return std::nullopt;
}

Error FolderLock::failed_to(const char* what) const {
    return {errno, std::string(what) + " lock file " + path_ + ": " + errno_text(errno)};
}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
    std::swap(folder_, other.folder_);
    std::swap(path_, other.path_);
    std::swap(file_, other.file_);
    return *this;
}

// Removed while it is locked: who waits for it finds that it has no name any more.
FolderLock::~FolderLock() {
    if (file_.open() && !path_.empty() && is_named(file_.get(), path_)) ::unlink(path_.c_str());
}

}  // namespace wirebook::ring
