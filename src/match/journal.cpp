// Reading, mending and writing the journal's file. Cold but for write_some(), which the writer's
// thread calls.
#include "wirebook/match/journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <ctime>
#include <utility>
#include <vector>

#include "wirebook/book/hash.hpp"
#include "wirebook/core/clock.hpp"

namespace wirebook::match {
namespace {

class File {
public:
    explicit File(int descriptor) noexcept : descriptor_(descriptor) {}
    ~File() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    File(File&&) = delete;
    File& operator=(File&&) = delete;
    [[nodiscard]] int get() const noexcept { return descriptor_; }
    [[nodiscard]] int release() noexcept { return std::exchange(descriptor_, -1); }

private:
    int descriptor_;
};

// 0, or an errno.
int write_all(int file, std::span<const std::byte> bytes, std::uint64_t offset) noexcept {
    while (!bytes.empty()) {
        const ssize_t done = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return done < 0 ? errno : EIO;
        bytes = bytes.subspan(static_cast<std::size_t>(done));
        offset += static_cast<std::uint64_t>(done);
    }
    return 0;
}

// Fills `bytes` from `offset`, less at the end of the file. The number read, or minus an errno.
ssize_t read_all(int file, std::span<std::byte> bytes, std::uint64_t offset) noexcept {
    std::size_t have = 0;
    while (have < bytes.size()) {
        const ssize_t done = ::pread(file, bytes.data() + have, bytes.size() - have,
                                     static_cast<off_t>(offset + have));
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return -errno;
        if (done == 0) break;
        have += static_cast<std::size_t>(done);
    }
    return static_cast<ssize_t>(have);
}

// Walks over a journal from its first byte.
class Scan {
public:
    Scan(int file, const std::string& path, const Replay& replay)
        : file_(file), path_(path), replay_(replay) {}

    Result<JournalContents> run(std::uint64_t engine_digest) {
        struct stat about {};
        if (::fstat(file_, &about) != 0) return errno_error("size of journal " + path_, errno);
        bytes_ = static_cast<std::uint64_t>(about.st_size);
        const Result<bool> header = read_header(engine_digest);
        if (!header) return header.error();
        if (!header.value()) {
            found_.cut_bytes = bytes_;
            return found_;
        }
        found_.end = sizeof(JournalHeader);
        const Status records = read_records();
        if (!records) return records.error();
        found_.cut_bytes = bytes_ - found_.end;
        return found_;
    }

private:
    [[nodiscard]] Error fault(const std::string& what) const {
        return {EINVAL, "journal " + path_ + ": " + what};
    }

    // `window_` becomes the bytes from `offset` on, as many as fit.
    Status load(std::uint64_t offset) {
        const std::uint64_t left = bytes_ > offset ? bytes_ - offset : 0;
        window_.resize(std::min<std::uint64_t>(window_bytes, left));
        const ssize_t read = read_all(file_, window_, offset);
        if (read < 0)
            return errno_error("read journal " + path_ + " at " + std::to_string(offset),
                               static_cast<int>(-read));
        window_.resize(static_cast<std::size_t>(read));
        return Ok{};
    }

    // False: the file ends within the header, which is right as far as it goes.
    Result<bool> read_header(std::uint64_t engine_digest) {
        if (auto loaded = load(0); !loaded) return loaded.error();
        const JournalHeader expected = make_journal_header(engine_digest);
        const auto wanted = std::as_bytes(std::span(&expected, 1));
        const std::size_t have = std::min(window_.size(), wanted.size());
        if (std::equal(wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(have),
                       window_.begin()))
            return have == wanted.size();
        JournalHeader header;
        std::memcpy(&header, window_.data(), have);
        if (header.magic != journal_magic) return fault("is no journal of this program");
        if (have < wanted.size())
            return fault("ends within a header that is not this engine's; it holds no request");
        if (header.version != journal_version)
            return fault("has version " + std::to_string(header.version) +
                         ", this program reads version " + std::to_string(journal_version));
        if (header.checksum != make_journal_header(header.engine_digest).checksum)
            return fault("the header is damaged");
        return fault("was written by an engine with other options or instruments");
    }

    Status read_records() {
        std::vector<Request> batch;
        for (;;) {
            if (auto loaded = load(found_.end); !loaded) return loaded;
            batch.clear();
            std::span<const std::byte> rest = window_;
            while (const auto record = read_journal_record(rest)) {
                if (record->sequence != found_.records + 1) break;
                batch.push_back(record->request);
                found_.records += 1;
                found_.end += sizeof(JournalRecord);
                rest = rest.subspan(sizeof(JournalRecord));
            }
            if (!batch.empty() && replay_) replay_(batch);
            if (rest.size() < sizeof(JournalRecord) && !batch.empty()) continue;
            return found_.end == bytes_ ? Status(Ok{}) : look_behind();
        }
    }

    // The record at found_.end is not whole or not right. Is there a right one behind it, at any
    // offset? Its sequence is looked at first: that alone drops nearly all offsets.
    Status look_behind() {
        const std::uint64_t most =
            found_.records + 1 + (bytes_ - found_.end) / sizeof(JournalRecord);
        for (std::uint64_t at = found_.end + 1; at + sizeof(JournalRecord) <= bytes_;) {
            if (auto loaded = load(at); !loaded) return loaded;
            const std::span<const std::byte> rest = window_;
            if (rest.size() < sizeof(JournalRecord)) break;
            const std::size_t places = rest.size() - sizeof(JournalRecord) + 1;
            for (std::size_t i = 0; i < places; ++i) {
                std::uint64_t sequence = 0;
                std::memcpy(&sequence, rest.data() + i + offsetof(JournalRecord, sequence), 8);
                if (sequence <= found_.records || sequence > most) continue;
                if (read_journal_record(rest.subspan(i)))
                    return fault("damaged at offset " + std::to_string(found_.end) + " (request " +
                                 std::to_string(found_.records + 1) + "): request " +
                                 std::to_string(sequence) + " is whole at offset " +
                                 std::to_string(at + i) + "; restore the file from a copy");
            }
            at += places;
        }
        return Ok{};
    }

    static constexpr std::size_t window_bytes = std::size_t{1} << 20U;

    int file_;
    const std::string& path_;
    const Replay& replay_;
    JournalContents found_;
    std::uint64_t bytes_ = 0;
    std::vector<std::byte> window_;
};

// The name of a new file is on the disk as well.
Status sync_folder(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    const File file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (file.get() < 0 || ::fsync(file.get()) != 0)
        return errno_error("sync folder " + folder + " of the journal", errno);
    return Ok{};
}

}  // namespace

std::uint64_t journal_digest(std::span<const std::uint64_t> words) noexcept {
    constexpr book::HashSeed fixed{};
    std::uint64_t digest = fixed.mix(words.size(), 0);
    for (const std::uint64_t word : words) digest = fixed.mix(digest, word) + word;
    return digest;
}

Result<JournalContents> read_journal(const std::string& path, std::uint64_t engine_digest,
                                     const Replay& replay) {
    const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) return errno_error("open journal " + path, errno);
    return Scan(file.get(), path, replay).run(engine_digest);
}

std::size_t Journal::bytes_needed(const JournalOptions& options) noexcept {
    return std::size_t{options.ring_records} * sizeof(Request) +
           block_records * sizeof(JournalRecord) + 8 * false_sharing_bytes;
}

Result<Journal> Journal::open(Arena& arena, const JournalOptions& options, const Replay& replay) {
    if (!std::has_single_bit(options.ring_records))
        return Error{EINVAL, "journal " + options.path + ": ring_records must be a power of two"};
    Journal journal;
    RingPlace<HardwareMemory, Request> ring;
    constexpr std::size_t stride = false_sharing_bytes / sizeof(HardwareMemory::Word);
    const auto words = arena.make_array<HardwareMemory::Word>(3 * stride);
    const auto slots = arena.make_array<HardwareMemory::Cell<Request>>(options.ring_records);
    journal.block_ = arena.make_array<JournalRecord>(block_records);
    if (words.empty() || slots.empty() || journal.block_.empty())
        return Error{ENOMEM, "journal " + options.path + ": the arena has no room for its ring"};
    ring.slots = slots.data();
    ring.slot_count = options.ring_records;
    ring.published = &words[0];
    ring.consumed = &words[stride];
    journal.failure_ = &words[2 * stride];
    journal.writer_ = StagedWriter<HardwareMemory, Request>(ring);
    journal.reader_ = StagedReader<HardwareMemory, Request>(ring);
    journal.durable_ = options.durable;
    if (auto taken = journal.take_up(options, replay); !taken) return taken.error();
    return journal;
}

Status Journal::take_up(const JournalOptions& options, const Replay& replay) {
    const std::string& path = options.path;
    File file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    if (file.get() < 0) return errno_error("open journal " + path, errno);
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0)
        return errno_error("lock journal " + path + " (does another engine write it?)", errno);
    auto scanned = Scan(file.get(), path, replay).run(options.engine_digest);
    if (!scanned) return scanned.error();
    recovered_ = scanned.value();
    end_ = recovered_.end;
    if (::ftruncate(file.get(), static_cast<off_t>(end_)) != 0)
        return errno_error("cut journal " + path + " at " + std::to_string(end_), errno);
    if (end_ == 0) {
        const JournalHeader header = make_journal_header(options.engine_digest);
        const int code = write_all(file.get(), std::as_bytes(std::span(&header, 1)), 0);
        if (code != 0) return errno_error("write header of journal " + path, code);
        end_ = sizeof(header);
    }
    if (::fdatasync(file.get()) != 0) return errno_error("sync journal " + path, errno);
    if (auto synced = sync_folder(path); !synced) return synced;
    file_ = file.release();
    return Ok{};
}

Journal::~Journal() {
    if (file_ >= 0) ::close(file_);
}

void Journal::swap(Journal& other) noexcept {
    std::swap(recovered_, other.recovered_);
    std::swap(writer_, other.writer_);
    std::swap(failure_, other.failure_);
    std::swap(reader_, other.reader_);
    std::swap(block_, other.block_);
    std::swap(end_, other.end_);
    std::swap(file_, other.file_);
    std::swap(durable_, other.durable_);
}

std::size_t Journal::write_some() noexcept {
    const std::size_t count = std::min<std::uint64_t>(reader_.available(), block_records);
    if (count == 0 || failed()) return 0;
    const auto block = block_.first(count);
    Request request;
    for (JournalRecord& record : block) {
        reader_.read(request);
        record = make_journal_record(request, recovered_.records + reader_.read_count());
    }
    int code = write_all(file_, std::as_bytes(block), end_);
    if (code == 0 && durable_ && ::fdatasync(file_) != 0) code = errno;
    if (code != 0) {
        failure_->store(static_cast<std::uint64_t>(code), std::memory_order_relaxed);
        return 0;
    }
    end_ += block.size_bytes();
    reader_.consume();
    return count;
}

void Journal::run(const std::atomic<bool>& stop, std::uint32_t idle_us) noexcept {
    const timespec idle{0, static_cast<long>(idle_us) * 1000};
    for (;;) {
        // Asked first: what was appended before the stop is seen by the look after it.
        const bool last = stop.load(std::memory_order_acquire);
        if (write_some() != 0) continue;
        if (last) return;
        if (idle_us == 0) {
            pause();
        } else {
            ::nanosleep(&idle, nullptr);
        }
    }
}

}  // namespace wirebook::match
