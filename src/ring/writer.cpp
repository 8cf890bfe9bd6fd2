// Making a segment: choosing its folder, refusing a name that somebody writes, building the file
// under a temporary name, and giving it its own. Cold; runs once, before the first packet.
//
// Two writers that start at once are told apart by the folder's lock, held while starting.
#include "wirebook/ring/writer.hpp"

#include <sys/file.h>
#include <sys/vfs.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <vector>

#include "clean_up.hpp"
#include "folder_lock.hpp"
#include "wirebook/ring/position.hpp"

namespace wirebook::ring {

namespace {

Error system_error(const std::string& what, int code) {
    return {code, what + ": " + errno_text(code)};
}

// Field 22 of /proc/self/stat: with it a pid names one process for ever. 0 where unreadable.
std::uint64_t process_start_ticks() {
    std::array<char, 1024> text{};
    std::FILE* file = std::fopen("/proc/self/stat", "re");
    if (file == nullptr) return 0;
    const std::size_t bytes = std::fread(text.data(), 1, text.size(), file);
    std::fclose(file);
    const std::string_view stat(text.data(), bytes);
    std::size_t at = stat.rfind(')');  // the command's name may hold anything
    for (int field = 2; field < 22 && at != stat.npos; ++field) at = stat.find(' ', at + 1);
    if (at == stat.npos) return 0;
    std::uint64_t ticks = 0;
    const std::string_view rest = stat.substr(at + 1);
    std::from_chars(rest.data(), rest.data() + rest.size(), ticks);
    return ticks;
}

std::string megabytes(std::uint64_t bytes) {
    return std::to_string((bytes + (1U << 20U) - 1) >> 20U) + " MiB";
}

}  // namespace

// One attempt to make one segment.
class SegmentBuilder {
public:
    explicit SegmentBuilder(const SegmentOptions& options)
        : options_(options), layout_(layout_of(options.geometry)) {}

    Result<Writer> build() {
        for (const std::string& directory : searched_directories())
            if (auto error = lock_folder(directory)) return *error;
        for (const std::string& directory : searched_directories())
            if (auto error = look_at_old(directory)) return *error;
        for (const std::string& directory : locked_)
            for (const std::string& file : remove_stale_files(directory, options_.name))
                removed_ += (removed_.empty() ? "" : ", ") + file;
        std::optional<Error> last;
        for (const std::string& directory : wanted_directories()) {
            last = build_in(directory);
            if (!last) return finish(directory);
            reasons_ += (reasons_.empty() ? "" : "; ") + last->context;
            if (!temporary_.empty()) ::unlink(temporary_.c_str());
        }
        return *last;
    }

private:
    struct OldFile {
        std::string path;
        File file;
    };

    [[nodiscard]] bool chosen_folder() const { return !options_.directory.empty(); }

    [[nodiscard]] std::vector<std::string> wanted_directories() const {
        if (chosen_folder()) return {options_.directory};
        if (!options_.hugetlb) return {shared_memory_directory};
        return default_directories();
    }
    [[nodiscard]] std::vector<std::string> searched_directories() const {
        return chosen_folder() ? wanted_directories() : default_directories();
    }

    // Held until the builder goes. A mount of hugetlbfs that we may not write is left alone.
    std::optional<Error> lock_folder(const std::string& folder) {
        const bool needed = chosen_folder() || folder == shared_memory_directory;
        const File descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (!descriptor.open()) {
            if (!needed) return std::nullopt;
            return system_error("open folder " + folder, errno);
        }
        Result<FolderLock> lock = FolderLock::take(folder);
        if (lock) {
            locks_.push_back(std::move(lock).value());
            locked_.push_back(folder);
            return std::nullopt;
        }
        const int code = lock.error().code;
        if (!needed && (code == EACCES || code == EPERM || code == EROFS)) return std::nullopt;
        return Error{code, "segment '" + options_.name + "': " + lock.error().context};
    }

    // An Error if the file of our name in `directory` has a living writer, or is no segment.
    std::optional<Error> look_at_old(const std::string& directory) {
        const std::string path = segment_path(directory, options_.name);
        struct stat status {};
        if (::lstat(path.c_str(), &status) != 0) {
            if (errno == ENOENT) return std::nullopt;
            return system_error("look at " + path, errno);
        }
        File old = detail::open_regular(path, status);
        const int code = errno;
        if (!old.open() && S_ISREG(status.st_mode)) return system_error("open " + path, code);
        if (!old.open() || !holds_segment(old.get()))
            return Error{EEXIST, "segment '" + options_.name + "': " + path +
                                     " is there and is no segment: look what it is, and move it or "
                                     "choose another name"};
        const bool alive = life_lock_held(old.get());
        std::string who = "another process";
        if (auto mapped = map_segment(path)) {
            const SegmentHeader& header = mapped.value().header();
            who = "process " + std::to_string(header.writer_pid);
            old_epoch_ = std::max(old_epoch_, header.epoch);
        }
        if (alive)
            return Error{EBUSY, "segment '" + options_.name + "' is being written by " + who +
                                    " (" + path + "): stop it or choose another name"};
        old_.push_back({path, std::move(old)});
        return std::nullopt;
    }

    // A file of a name that is not there yet: no segment's name holds a '~'.
    std::optional<Error> make_temporary(const std::string& directory) {
        const std::string stem =
            directory + "/." + file_prefix + options_.name + "~" + std::to_string(::getpid());
        for (int n = 0; n < 100; ++n) {
            const std::string path = n == 0 ? stem : stem + "." + std::to_string(n);
            file_ = File(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
            if (file_.open()) {
                temporary_ = path;
                return std::nullopt;
            }
            if (errno != EEXIST) break;
        }
        return system_error("create " + stem, errno);
    }

    std::optional<Error> set_access(const std::string& path) {
        const auto owner = static_cast<uid_t>(options_.owner.value_or(UINT32_MAX));
        const auto group = static_cast<gid_t>(options_.group.value_or(UINT32_MAX));
        if (options_.owner || options_.group) {
            if (::fchown(file_.get(), owner, group) != 0)
                return system_error("give " + path + " to " + owner_text(), errno);
        }
        if (::fchmod(file_.get(), options_.mode) != 0) return system_error("chmod " + path, errno);
        return std::nullopt;
    }
    [[nodiscard]] std::string owner_text() const {
        std::string text;
        if (options_.owner) text = "user " + std::to_string(*options_.owner);
        if (options_.group)
            text += (text.empty() ? "group " : ", group ") + std::to_string(*options_.group);
        return text;
    }

    std::optional<Error> build_in(const std::string& directory) {
        temporary_.clear();
        if (auto error = make_temporary(directory)) return error;
        const std::string& path = temporary_;
        // Both: readers in other languages ask for the first (docs/ring.md).
        if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0 || !take_life_lock(file_.get()))
            return system_error("lock " + path, errno);
        mark_segment(file_.get());
        if (auto error = allocate(path)) return error;
        fill_header();
        if (auto error = set_access(path)) return error;
        pages_.at<SegmentHeader>(0)->magic.store(segment_magic, std::memory_order_release);
        const std::string final_path = segment_path(directory, options_.name);
        if (!rename_to(final_path))
            return system_error("rename " + path + " to " + final_path, errno);
        return std::nullopt;
    }
    // Replaces the file that was looked at, and no other.
    [[nodiscard]] bool rename_to(const std::string& final_path) const {
        const auto old = std::find_if(old_.begin(), old_.end(), [&](const OldFile& file) {
            return file.path == final_path && is_named(file.file.get(), file.path);
        });
        const bool replaces = old != old_.end() && take_death_lock(old->file.get());
        const char* const from = temporary_.c_str();
        const char* const to = final_path.c_str();
        if (replaces) return ::rename(from, to) == 0;
        if (::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return true;
        // A file system that knows no such rename.
        return errno == EINVAL && ::access(to, F_OK) != 0 && ::rename(from, to) == 0;
    }

    // Every page is allocated, mapped and touched: no fault and no SIGBUS later.
    std::optional<Error> allocate(const std::string& path) {
        struct statfs system {};
        if (::fstatfs(file_.get(), &system) != 0) return system_error("statfs " + path, errno);
        hugetlb_ = static_cast<long>(system.f_type) == detail::hugetlbfs_magic;
        page_bytes_ = hugetlb_ ? static_cast<std::uint64_t>(system.f_bsize) : 4096;
        bytes_ = (layout_.used_bytes + page_bytes_ - 1) / page_bytes_ * page_bytes_;
        const std::string what = megabytes(bytes_) + " for " + path;
        if (page_bytes_ > 4 * layout_.used_bytes)  // a mount of 1 GiB pages
            return Error{ENOSPC,
                         "allocate " + what + ": its pages are far larger than the segment"};
        if (::fallocate(file_.get(), 0, 0, static_cast<off_t>(bytes_)) != 0) {
            if (errno != EOPNOTSUPP) return system_error("allocate " + what, errno);
            if (hugetlb_ && ::ftruncate(file_.get(), static_cast<off_t>(bytes_)) != 0)
                return system_error("allocate " + what, errno);
            if (!hugetlb_) {
                const int code = ::posix_fallocate(file_.get(), 0, static_cast<off_t>(bytes_));
                if (code != 0) return system_error("allocate " + what, code);
            }
        }
        void* base = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                            file_.get(), 0);
        if (base == MAP_FAILED) return system_error("map " + what, errno);
        pages_ = Pages(base, bytes_);
        mark_segment(*pages_.at<SegmentHeader>(0));
        for (std::uint64_t at = 0; at < bytes_; at += page_bytes_)
            pages_.at<Word>(at)->store(0, std::memory_order_relaxed);
        return std::nullopt;
    }

    void fill_header() const {
        SegmentHeader& h = *pages_.at<SegmentHeader>(0);
        h.instrument_bytes = sizeof(InstrumentRow);
        h.record_head = record_head_bytes;
        h.slot_bytes = static_cast<std::uint32_t>(layout_.slot_bytes);
        h.segment_bytes = bytes_;
        h.slots = options_.geometry.slots;
        h.depth = options_.geometry.depth;
        h.instrument_capacity = options_.geometry.instruments;
        h.channels = options_.geometry.channels;
        h.streams = options_.streams;
        h.instruments_offset = layout_.instruments_offset;
        h.table_offset = layout_.table_offset;
        h.ring_offset = layout_.ring_offset;
        h.created_ns = utc_now_ns();
        h.epoch = std::max(static_cast<std::uint64_t>(h.created_ns), old_epoch_ + 1);
        h.writer_pid = static_cast<std::uint64_t>(::getpid());
        h.writer_start = process_start_ticks();
        h.ns_per_tick = options_.clock.ns_per_tick;
        h.base_tsc = options_.clock.base_tsc;
        h.base_utc_ns = options_.clock.base_utc_ns;
        const std::size_t shown =
            std::min(options_.session_name.size(), sizeof(h.session_name) - 1);
        std::copy_n(options_.session_name.begin(), shown, h.session_name.begin());
        h.heartbeat.store(rdtsc(), std::memory_order_relaxed);
    }

    Result<Writer> finish(const std::string& directory) {
        Writer writer;
        writer.path_ = segment_path(directory, options_.name);
        for (const OldFile& old : old_)
            if (old.path != writer.path_)
                static_cast<void>(remove_if_dead(old.file.get(), old.path));
        writer.notice_ = "segment '" + options_.name + "': " + writer.path_ + ", " +
                         megabytes(bytes_) + ", pages of " + std::to_string(page_bytes_ / 1024) +
                         " KiB";
        if (!hugetlb_ && !chosen_folder() && options_.hugetlb)
            writer.notice_ += reasons_.empty() ? " (no hugetlbfs is mounted)"
                                               : " (hugetlbfs has no room: " + reasons_ + ")";
        if (!removed_.empty()) writer.notice_ += "; removed what dead writers left: " + removed_;
        writer.geometry_ = options_.geometry;
        writer.view_.slots = pages_.at<Word>(layout_.ring_offset);
        writer.view_.table = pages_.at<Word>(layout_.table_offset);
        writer.view_.published = &pages_.at<SegmentHeader>(0)->published;
        writer.view_.slot_count = options_.geometry.slots;
        writer.view_.slot_words = layout_.slot_bytes / sizeof(Word);
        writer.rows_ = pages_.at<InstrumentRow>(layout_.instruments_offset);
        writer.file_ = std::move(file_);
        writer.pages_ = std::move(pages_);
        return writer;
    }

    const SegmentOptions& options_;
    Layout layout_;
    File file_;
    std::vector<FolderLock> locks_;
    std::vector<std::string> locked_;  // the folders that they are of
    Pages pages_;
    std::string temporary_;
    std::string reasons_, removed_;
    std::vector<OldFile> old_;
    std::uint64_t old_epoch_ = 0, bytes_ = 0, page_bytes_ = 4096;
    bool hugetlb_ = false;
};

Result<Writer> Writer::create(const SegmentOptions& options) {
    if (const char* fault = name_fault(options.name))
        return Error{EINVAL, "segment name '" + options.name + "' " + fault};
    if (!valid_geometry(options.geometry))
        return Error{EINVAL,
                     "segment '" + options.name +
                         "': depth must be 1, 5, 10 or 20; slots a power of two from 2 to " +
                         std::to_string(max_slots) + "; instruments 1 to " +
                         std::to_string(max_instruments) + "; channels 1 to " +
                         std::to_string(max_channels)};
    return SegmentBuilder(options).build();
}

void Writer::close() noexcept {
    if (!pages_.mapped()) return;
    header().state.store(static_cast<std::uint64_t>(SegmentState::closed),
                         std::memory_order_release);
    pages_ = Pages();
    file_ = File();
}

namespace {

// Rows are rewritten by one thread only, so the version that is there says which comes next.
template <class T>
void write_row(Word* block, const T& row) noexcept {
    const std::uint64_t version = block[0].load(std::memory_order_relaxed);
    write_block<HardwareMemory>(block, version / 2,
                                static_cast<const std::byte*>(static_cast<const void*>(&row)),
                                sizeof(T) / sizeof(Word));
}

Identity own_identity(const Word* block) noexcept {
    Identity identity;
    const bool read = copy_block<HardwareMemory, RowFormat<Identity>>(
        block, block_version<HardwareMemory>(block),
        static_cast<std::byte*>(static_cast<void*>(&identity)), sizeof(Identity) / sizeof(Word));
    WIREBOOK_CHECK(read);  // nobody else writes it
    return identity;
}

}  // namespace

std::uint32_t Writer::add_instrument(const Identity& identity) noexcept {
    if (instruments_ == geometry_.instruments) return no_instrument;
    const std::uint32_t index = instruments_;
    instruments_ += 1;
    InstrumentRow& added = row(index);
    write_row(added.identity.data(), identity);
    write_row(added.status.data(), InstrumentStatus{});
    write_row(added.statistics.data(), TradeStatistics{});
    write_row(added.auction.data(), AuctionState{});
    header().instruments.store(instruments_, std::memory_order_release);
    return index;
}

std::uint32_t Writer::add_instrument(std::string_view symbol, std::uint16_t channel,
                                     std::uint8_t price_places) noexcept {
    Identity identity;
    identity.symbol = Symbol(symbol);
    identity.channel = channel;
    identity.price_places = price_places;
    return add_instrument(identity);
}

void Writer::rename_instrument(std::uint32_t index, std::string_view symbol,
                               std::uint8_t price_places) noexcept {
    Word* const block = row(index).identity.data();
    Identity identity = own_identity(block);
    identity.symbol = Symbol(symbol);
    identity.price_places = price_places;
    write_row(block, identity);
    Word& renames = header().renames;
    renames.store(renames.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

void Writer::set_round_lot(std::uint32_t index, std::uint64_t round_lot) noexcept {
    Word* const block = row(index).identity.data();
    Identity identity = own_identity(block);
    identity.round_lot = round_lot;
    write_row(block, identity);
}

void Writer::set_status(std::uint32_t index, const InstrumentStatus& status) noexcept {
    write_row(row(index).status.data(), status);
}

void Writer::set_statistics(std::uint32_t index, const TradeStatistics& statistics) noexcept {
    write_row(row(index).statistics.data(), statistics);
}

void Writer::set_auction(std::uint32_t index, const AuctionState& auction) noexcept {
    write_row(row(index).auction.data(), auction);
}

}  // namespace wirebook::ring
