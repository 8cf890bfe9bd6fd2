// Names to inputs, preloading, pace and progress; the order of the packets is CaptureMerge's.
#include "wirebook/io/capture_source.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <limits>

#include "wirebook/core/clock.hpp"
#include "wirebook/io/capture_merge.hpp"

namespace wirebook::io {
namespace {

std::optional<Error> expand_folder(const std::string& folder, std::vector<std::string>& files) {
    std::error_code fault;
    std::vector<std::string> found;
    for (std::filesystem::directory_iterator entry(folder, fault), last; !fault && entry != last;
         entry.increment(fault)) {
        std::error_code no_file;
        const bool hidden = entry->path().filename().string().front() == '.';
        if (!hidden && entry->is_regular_file(no_file)) found.push_back(entry->path().string());
    }
    if (fault) return Error{fault.value(), "read folder " + folder + ": " + fault.message()};
    if (found.empty()) return Error{ENOENT, "folder " + folder + " holds no capture files"};
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
    return std::nullopt;
}

Result<std::vector<std::string>> expand(const std::vector<std::string>& named) {
    std::vector<std::string> files;
    for (const std::string& name : named) {
        std::error_code not_there;
        if (name != "-" && std::filesystem::is_directory(name, not_there)) {
            if (auto failure = expand_folder(name, files)) return *failure;
        } else {
            files.push_back(name);
        }
    }
    if (files.empty()) return Error{EINVAL, "no capture files are named"};
    if (std::count(files.begin(), files.end(), "-") > 1) {
        return Error{EINVAL, "standard input (-) is named more than once"};
    }
    if (files.size() > std::numeric_limits<std::uint16_t>::max()) {
        return Error{EINVAL, "more than 65,535 capture files are named"};
    }
    return files;
}

// What can be had without swapping; 0 where the kernel does not say.
std::uint64_t free_memory_bytes() {
    std::ifstream meminfo("/proc/meminfo");
    std::string key;
    std::uint64_t kib = 0;
    std::string unit;
    while (meminfo >> key >> kib) {
        if (key == "MemAvailable:") return kib * 1024;
        std::getline(meminfo, unit);
    }
    return 0;
}

}  // namespace

class CaptureSource::Impl {
public:
    explicit Impl(const CaptureOptions& options) : options_(options), pool_(options.block_bytes) {}

    std::optional<Error> open_files(const std::vector<std::string>& files) {
        std::vector<std::unique_ptr<CaptureInput>> inputs;
        for (const std::string& file : files) {
            CaptureInputOptions options;
            options.index = static_cast<std::uint16_t>(inputs.size());
            options.min_length = options_.binaryfile_min_length;
            auto input = CaptureInput::open(file, options, pool_);
            if (!input) return input.error();
            inputs.push_back(std::move(input).value());
        }
        if (options_.preload) preload(inputs);
        begin(std::move(inputs));
        return std::nullopt;
    }

    std::optional<Error> open_bytes(wire::Bytes bytes, bool as_stream) {
        CaptureInputOptions options;
        options.min_length = options_.binaryfile_min_length;
        options.as_stream = as_stream;
        auto input = CaptureInput::open_memory(bytes, options, pool_);
        if (!input) return input.error();
        std::vector<std::unique_ptr<CaptureInput>> inputs;
        inputs.push_back(std::move(input).value());
        begin(std::move(inputs));
        return std::nullopt;
    }

    std::size_t receive(std::span<wire::Packet> burst) noexcept {
        std::size_t count = 0;
        if (options_.speed > 0) {
            count = merge_->take_due(burst, pacer_, rdtsc());
        } else {
            count = merge_->take(burst);
            if (options_.stamp_tsc) {
                const std::uint64_t now = rdtsc();
                for (wire::Packet& packet : burst.first(count)) packet.receive_tsc = now;
            }
        }
        progress_.packets += count;
        for (const wire::Packet& packet : burst.first(count)) progress_.bytes += packet.bytes;
        if (count == 0 && !finished_ && merge_->finished()) finish();
        return count;
    }

    [[nodiscard]] bool look_ahead(std::vector<wire::Packet>& next) {
        return merge_->look_ahead(next);
    }

    void release(std::span<const wire::Packet> packets) noexcept {
        if (!has_blocks_) return;
        for (const wire::Packet& packet : packets) {
            auto* block = std::bit_cast<Block*>(packet.owner);
            if (block == nullptr) continue;
            WIREBOOK_CHECK(block->references > 0);
            if (--block->references == 0) pool_.give(block);
        }
    }

    [[nodiscard]] bool finished() const noexcept { return finished_; }

    [[nodiscard]] std::uint64_t next_due_tsc() const noexcept {
        const wire::Packet* head = merge_->head();
        if (options_.speed <= 0 || head == nullptr) return 0;
        Pacer pacer = pacer_;  // asking must not start the clock
        return pacer.due(head->receive_time_ns, head->time_source != wire::TimeSource::none, 0);
    }

    [[nodiscard]] CaptureProgress progress() const noexcept {
        CaptureProgress progress = progress_;
        bool known = true;
        for (const auto& input : merge_->inputs()) {
            progress.file_bytes_read += input->file_bytes_read();
            progress.file_bytes_total += input->file_bytes();
            known = known && input->file_bytes() > 0;
        }
        if (!known) progress.file_bytes_total = 0;
        return progress;
    }

    [[nodiscard]] std::string description() const {
        std::string text;
        for (const auto& input : merge_->inputs()) text += input->description() + '\n';
        return text;
    }

    [[nodiscard]] const std::vector<std::string>& notices() const noexcept { return notices_; }
    [[nodiscard]] const std::optional<Error>& error() const noexcept { return error_; }
    [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
    [[nodiscard]] bool preloaded() const noexcept { return preloaded_; }

private:
    void begin(std::vector<std::unique_ptr<CaptureInput>> inputs) {
        for (const auto& input : inputs) {
            names_.push_back(input->name());
            has_blocks_ = has_blocks_ || !input->mapped();
            if (options_.speed > 0 && !input->has_times()) {
                notices_.push_back(input->name() +
                                   ": a BinaryFILE has no capture times, its messages are handed "
                                   "out without a pace");
            }
        }
        if (options_.speed > 0) {
            pacer_ = Pacer(TscClock::calibrate().ns_per_tick, options_.speed);
        }
        merge_.emplace(std::move(inputs));
    }

    void preload(const std::vector<std::unique_ptr<CaptureInput>>& inputs) {
        std::uint64_t total = 0;
        for (const auto& input : inputs) {
            if (!input->mapped()) return;
            total += input->file_bytes();
        }
        if (total >= free_memory_bytes() / 2) return;
        for (const auto& input : inputs) input->preload();
        preloaded_ = true;
    }

    // Takes over what the inputs have to say.
    void finish() noexcept {
        finished_ = true;
        for (const auto& input : merge_->inputs()) {
            for (std::string& notice : input->take_notices()) notices_.push_back(std::move(notice));
            if (!input->failure()) continue;
            if (!error_) {
                error_ = input->failure();
            } else {
                notices_.push_back(input->failure()->context);
            }
        }
    }

    CaptureOptions options_;
    BlockPool pool_;  // before what gives blocks back to it
    std::optional<CaptureMerge> merge_;
    Pacer pacer_;
    CaptureProgress progress_;
    std::vector<std::string> notices_;
    std::vector<std::string> names_;
    std::optional<Error> error_;
    bool has_blocks_ = false;
    bool preloaded_ = false;
    bool finished_ = false;
};

Result<CaptureSource> CaptureSource::open(const CaptureOptions& options) {
    auto files = expand(options.files);
    if (!files) return files.error();
    auto impl = std::make_unique<Impl>(options);
    if (auto failure = impl->open_files(files.value())) return *failure;
    return CaptureSource(std::move(impl));
}

Result<CaptureSource> CaptureSource::open_memory(wire::Bytes bytes, bool as_stream,
                                                 const CaptureOptions& options) {
    auto impl = std::make_unique<Impl>(options);
    if (auto failure = impl->open_bytes(bytes, as_stream)) return *failure;
    return CaptureSource(std::move(impl));
}

CaptureSource::CaptureSource(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {
}
CaptureSource::CaptureSource(CaptureSource&&) noexcept = default;
CaptureSource& CaptureSource::operator=(CaptureSource&&) noexcept = default;
CaptureSource::~CaptureSource() = default;

std::size_t CaptureSource::receive(std::span<wire::Packet> burst) noexcept {
    return impl_->receive(burst);
}
bool CaptureSource::look_ahead(std::vector<wire::Packet>& next) {
    return impl_->look_ahead(next);
}
void CaptureSource::release(std::span<const wire::Packet> packets) noexcept {
    impl_->release(packets);
}
bool CaptureSource::finished() const noexcept {
    return impl_->finished();
}
std::uint64_t CaptureSource::next_due_tsc() const noexcept {
    return impl_->next_due_tsc();
}
const std::vector<std::string>& CaptureSource::notices() const noexcept {
    return impl_->notices();
}
std::optional<Error> CaptureSource::error() const {
    return impl_->error();
}
CaptureProgress CaptureSource::progress() const noexcept {
    return impl_->progress();
}
bool CaptureSource::preloaded() const noexcept {
    return impl_->preloaded();
}
std::string CaptureSource::description() const {
    return impl_->description();
}
const std::vector<std::string>& CaptureSource::input_names() const noexcept {
    return impl_->names();
}

}  // namespace wirebook::io
