// Opening an input (compression, format, parser), and the loop over the parser's steps.
// The window moves on to another block here only; see append() for what becomes of its rest.
#include "wirebook/io/capture_input.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace wirebook::io {
namespace {

// open() waits in steps of it for as long as it takes.
constexpr std::chrono::milliseconds open_wait{100};

std::string hexadecimal(wire::Bytes bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const std::byte byte : bytes) {
        if (!text.empty()) text += ' ';
        text += digits[std::to_integer<std::size_t>(byte >> 4)];
        text += digits[std::to_integer<std::size_t>(byte & std::byte{0xF})];
    }
    return text;
}

}  // namespace

Result<std::unique_ptr<CaptureInput>> CaptureInput::open(const std::string& path,
                                                         const CaptureInputOptions& options,
                                                         BlockPool& pool) {
    const bool is_stdin = path == "-";
    std::unique_ptr<CaptureInput> input(
        new CaptureInput(is_stdin ? "standard input" : path, options, pool));
    const int descriptor =
        is_stdin ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0)
        return Error{errno, "open " + path + ": " + std::system_category().message(errno)};
    struct stat status {};
    if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && !is_stdin) {
        const auto bytes = static_cast<std::size_t>(status.st_size);
        if (bytes > 0) {
            auto mapping = MappedFile::map(descriptor, bytes, path);
            ::close(descriptor);
            if (!mapping) return mapping.error();
            input->mapping_ = std::move(mapping).value();
        } else {
            ::close(descriptor);
        }
        input->raw_ = std::make_unique<RawInput>(input->mapping_.bytes(), &input->mapping_);
    } else {
        input->raw_ = std::make_unique<RawInput>(descriptor);
    }
    if (auto failure = input->start(input->mapping_.bytes().data() != nullptr)) return *failure;
    return input;
}

Result<std::unique_ptr<CaptureInput>> CaptureInput::open_memory(wire::Bytes bytes,
                                                                const CaptureInputOptions& options,
                                                                BlockPool& pool) {
    std::unique_ptr<CaptureInput> input(new CaptureInput("memory", options, pool));
    input->raw_ = std::make_unique<RawInput>(bytes, nullptr);
    if (auto failure = input->start(!options.as_stream)) return *failure;
    return input;
}

// Finds out the compression, and sets the window to the whole file or starts the blocks.
std::optional<Error> CaptureInput::start(bool plain_in_place) {
    while (raw_->available().size() < compression_magic_bytes && raw_->refill()) {
    }
    if (raw_->error_number() != 0) {
        return Error{raw_->error_number(),
                     "read " + name_ + ": " + std::system_category().message(raw_->error_number())};
    }
    if (raw_->available().empty()) {
        return Error{EINVAL, name_ + ": the file is empty, no capture (at byte 0)"};
    }
    compression_ = compression_of(raw_->available());
    if (compression_ == Compression::none && plain_in_place) {
        const wire::Bytes bytes = raw_->available();
        window_ = {bytes.data(), bytes.data() + bytes.size()};
        front_ = window_.next;
        no_more_ = true;
    } else {
        stream_ = std::make_unique<BlockStream>(*raw_, compression_, pool_);
    }
    return start_parser();
}

// Finds out the format and takes the file header.
std::optional<Error> CaptureInput::start_parser() {
    const auto ensure = [this](std::size_t bytes) {
        while (window_.size() < bytes && !no_more_) (void)extend(bytes, open_wait);
    };
    ensure(identify_bytes);
    format_ = identify(window_.bytes(), options_.min_length);
    std::optional<Error> fault;
    if (format_ == FileFormat::pcap) {
        ensure(sizeof(PcapFileHeader));
        auto parser = PcapParser::open(window_);
        if (parser) {
            parser_ = std::move(parser).value();
        } else {
            fault = parser.error();
        }
    } else if (format_ == FileFormat::pcapng) {
        ensure(sizeof(PcapngSection));
        if (const auto* section = wire::view_as<PcapngSection>(window_.bytes())) {
            const bool little = section->order_magic.get(Endian::little) == pcapng_order_magic;
            const Endian order = little ? Endian::little : Endian::big;
            ensure(std::min(section->header.total_length.get(order), max_block_bytes));
        }
        auto parser = PcapngParser::open(window_);
        if (parser) {
            parser_ = std::move(parser).value();
        } else {
            fault = parser.error();
        }
    } else if (format_ == FileFormat::unknown) {
        const wire::Bytes front =
            window_.bytes().first(std::min<std::size_t>(window_.size(), identify_bytes));
        if (front.empty()) {
            fault = Error{EINVAL, "the uncompressed data is empty, no capture (at byte 0)"};
        } else {
            fault =
                Error{EINVAL, "no capture: starts with " + hexadecimal(front) +
                                  " at byte 0, which is neither pcap, pcapng nor a BinaryFILE of "
                                  "known messages"};
        }
    }
    if (!fault) return std::nullopt;
    // What broke the stream is the cause, if it did.
    if (stream_ != nullptr && no_more_ && stream_->failure()) fault = stream_->failure();
    return Error{fault->code, name_ + ": " + fault->context};
}

std::size_t CaptureInput::fill(std::span<wire::Packet> out,
                               std::chrono::milliseconds wait) noexcept {
    if (ended_) return 0;
    std::size_t count = 0;
    switch (format_) {
        case FileFormat::pcap: count = fill_from(std::get<1>(parser_), out, wait); break;
        case FileFormat::pcapng: count = fill_from(std::get<2>(parser_), out, wait); break;
        case FileFormat::binaryfile: count = fill_from(std::get<0>(parser_), out, wait); break;
        case FileFormat::unknown: break;
    }
    if (stream_ == nullptr) mapping_.done_until(static_cast<std::size_t>(offset()));
    return count;
}

template <class Parser>
std::size_t CaptureInput::fill_from(Parser& parser, std::span<wire::Packet> out,
                                    std::chrono::milliseconds wait) noexcept {
    std::size_t count = 0;
    Window window = window_;  // a local copy stays in registers
    Record record;
    while (count < out.size()) {
        Step step = parser.next(window, record);
        if (step == Step::record) [[likely]] {
            emit(record, out[count++]);
            continue;
        }
        if (step == Step::skip) continue;
        window_ = window;
        if (step == Step::more) {
            const std::size_t needed = parser.needed();
            if (!no_more_ && !extend(needed, count == 0 ? wait : wait.zero())) break;
            if (no_more_ && window_.size() < needed) {
                step = at_end(parser, record);
                if (step == Step::record) emit(record, out[count++]);
            }
        } else if (step == Step::end) {
            end();
        }
        if (step == Step::bad) {
            end(Error{EBADMSG, name_ + ": " + parser.fault(window_.bytes()) + " at byte " +
                                   std::to_string(offset())});
        }
        if (ended_) break;
        window = window_;
    }
    if (!ended_) window_ = window;
    return count;
}

// Nothing follows the window, and it does not hold what the parser wants. A record cut by a broken
// compressed stream is not delivered: only what is whole before the fault is.
template <class Parser>
Step CaptureInput::at_end(Parser& parser, Record& record) noexcept {
    if (stream_ != nullptr && stream_->failure()) {
        end(Error{stream_->failure()->code, name_ + ": " + stream_->failure()->context});
        return Step::end;
    }
    if (window_.size() == 0) {
        end();
        return Step::end;
    }
    const std::string at = std::to_string(offset());
    const std::size_t left = window_.size();
    const std::size_t needed = parser.needed();
    const Step step = parser.last(window_, record);
    if (step == Step::bad) return step;
    notices_.push_back(name_ + ": the file ends inside the record at byte " + at + " (" +
                       std::to_string(left) + " of at least " + std::to_string(needed) +
                       " bytes are there); " +
                       (step == Step::record ? "it is read as far as it goes" : "it is left out"));
    // A packet of the block still refers to it; the record is emitted after this.
    if (step == Step::skip) end();
    return step;
}

void CaptureInput::emit(const Record& record, wire::Packet& packet) noexcept {
    packet.data = record.data;
    packet.bytes = record.bytes;
    packet.original_bytes = record.original_bytes;
    packet.receive_time_ns = record.time_ns;
    packet.receive_tsc = 0;
    packet.owner = std::bit_cast<std::uint64_t>(block_);
    packet.record = record_++;
    packet.input = options_.index;
    packet.link = record.link;
    packet.time_source = record.time_source;
    packet.cut = record.cut;
    if (block_ != nullptr) ++block_->references;
}

// Makes the window longer by a block. False: there is none yet, or the input has ended (no_more_).
bool CaptureInput::extend(std::size_t needed, std::chrono::milliseconds wait) {
    const BlockStream::Taken taken = stream_->next(wait);
    if (taken.next == BlockStream::Next::not_yet) return false;
    if (taken.next == BlockStream::Next::end) {
        no_more_ = true;
        return true;
    }
    append(taken.block, needed);
    return true;
}

// The window goes on with the data of `block`. Where the block under the window has room behind its
// data (a slow pipe hands over little at a time), it is copied there, so that few blocks are pinned
// by held packets. Else what is left of the old block is copied before the new data, or, where that
// is more than the headroom, both go to a large block. Packets of the old block keep it.
void CaptureInput::append(Block* block, std::size_t needed) {
    const std::size_t left = window_.size();
    const std::uint64_t at = offset();
    const std::size_t fresh = block->end - block->begin;
    if (block_ != nullptr && block_->capacity - block_->end >= fresh) {
        std::memcpy(block_->memory.get() + block_->end, block->memory.get() + block->begin, fresh);
        block_->end += fresh;
        window_.end = block_->memory.get() + block_->end;
        pool_.give(block);
        return;
    }
    Block* target = block;
    if (left > block->begin) {
        target = pool_.take_large(std::max(needed, left) + 2 * block->capacity);
        std::memcpy(target->memory.get(), window_.next, left);
        std::memcpy(target->memory.get() + left, block->memory.get() + block->begin, fresh);
        target->end = left + fresh;
        pool_.give(block);
    } else if (left > 0) {
        block->begin -= left;
        std::memcpy(block->memory.get() + block->begin, window_.next, left);
    }
    leave_block();
    block_ = target;
    block_->references = 1;
    window_ = block_->window();
    front_ = window_.next;
    front_offset_ = at;
}

void CaptureInput::leave_block() noexcept {
    if (block_ != nullptr && --block_->references == 0) pool_.give(block_);
    block_ = nullptr;
}

void CaptureInput::end(std::optional<Error> failure) noexcept {
    ended_ = true;
    failure_ = std::move(failure);
    if (stream_ != nullptr) leave_block();
}

std::vector<std::string> CaptureInput::take_notices() noexcept {
    return std::exchange(notices_, {});
}

std::uint64_t CaptureInput::file_bytes_read() const noexcept {
    return stream_ != nullptr ? raw_->position() : offset();
}

std::string CaptureInput::description() const {
    std::string text = name_ + ": " + std::string(name_of(format_));
    if (format_ == FileFormat::pcap) {
        text += std::get<1>(parser_).nanoseconds() ? " (ns)" : " (us)";
    }
    if (stream_ == nullptr) return text + ", mapped";
    if (compression_ == Compression::none) return text + ", read ahead in a second thread";
    return text + ", " + std::string(name_of(compression_)) + ", decompressed in a second thread";
}

}  // namespace wirebook::io
