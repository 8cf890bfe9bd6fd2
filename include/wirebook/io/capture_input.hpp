// One capture file (or pipe, or buffer) as a row of packets, in the order of the file.
//
// Puts together what the other files of io do: where the bytes come from (mapping or blocks), what
// they are (decompression, format), and the parser's steps over the window.
//
// May depend on core and wire. One thread; a compressed or piped input has a second one inside.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "wirebook/core/result.hpp"
#include "wirebook/io/binaryfile_format.hpp"
#include "wirebook/io/block_stream.hpp"
#include "wirebook/io/mapped_file.hpp"
#include "wirebook/io/pcap_format.hpp"
#include "wirebook/io/pcapng_format.hpp"
#include "wirebook/io/raw_input.hpp"

namespace wirebook::io {

struct CaptureInputOptions {
    std::uint16_t index = 0;         // Packet.input
    MinLength min_length = nullptr;  // how a BinaryFILE is told, see identify()
    bool as_stream = false;          // of open_memory(): through blocks, as a pipe is
};

class CaptureInput {
public:
    // `path` may be "-" for stdin. Waits for the first bytes and says what they are; fails where
    // that is nothing we read. `pool` outlives the input and its packets.
    [[nodiscard]] static Result<std::unique_ptr<CaptureInput>> open(const std::string& path,
                                                                    const CaptureInputOptions&,
                                                                    BlockPool& pool);
    // `bytes` outlive the input and its packets.
    [[nodiscard]] static Result<std::unique_ptr<CaptureInput>> open_memory(
        wire::Bytes bytes, const CaptureInputOptions&, BlockPool& pool);

    // The next packets, at most out.size(). 0: the input has ended (ended()), or nothing was read
    // ahead within `wait`. Each packet of a block holds a reference to it (Packet.owner), of a
    // mapping none (owner 0).
    [[nodiscard]] std::size_t fill(std::span<wire::Packet> out,
                                   std::chrono::milliseconds wait) noexcept;

    [[nodiscard]] bool ended() const noexcept { return ended_; }
    [[nodiscard]] const std::optional<Error>& failure() const noexcept { return failure_; }
    // What the reader should be told and is no failure; emptied by taking them.
    [[nodiscard]] std::vector<std::string> take_notices() noexcept;

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] std::string description() const;
    [[nodiscard]] bool mapped() const noexcept { return stream_ == nullptr; }
    [[nodiscard]] bool has_times() const noexcept { return format_ != FileFormat::binaryfile; }
    // Read of the stored file, and its size (0: not known).
    [[nodiscard]] std::uint64_t file_bytes_read() const noexcept;
    [[nodiscard]] std::uint64_t file_bytes() const noexcept { return raw_->total(); }
    void preload() noexcept { mapping_.preload(); }

private:
    explicit CaptureInput(std::string name, const CaptureInputOptions& options, BlockPool& pool)
        : name_(std::move(name)), options_(options), pool_(pool) {}

    std::optional<Error> start(bool plain_in_place);
    std::optional<Error> start_parser();
    template <class Parser>
    std::size_t fill_from(Parser& parser, std::span<wire::Packet> out,
                          std::chrono::milliseconds wait) noexcept;
    template <class Parser>
    Step at_end(Parser& parser, Record& record) noexcept;
    bool extend(std::size_t needed, std::chrono::milliseconds wait);
    void append(Block* block, std::size_t needed);
    void emit(const Record& record, wire::Packet& packet) noexcept;
    void end(std::optional<Error> failure = std::nullopt) noexcept;
    void leave_block() noexcept;
    // Of the window's front, in the uncompressed data.
    [[nodiscard]] std::uint64_t offset() const noexcept {
        return front_offset_ + static_cast<std::uint64_t>(window_.next - front_);
    }

    std::string name_;
    CaptureInputOptions options_;
    BlockPool& pool_;

    MappedFile mapping_;
    std::unique_ptr<RawInput> raw_;
    std::unique_ptr<BlockStream> stream_;  // null: the window is the whole file
    Compression compression_ = Compression::none;
    FileFormat format_ = FileFormat::unknown;

    Window window_;
    const std::byte* front_ = nullptr;  // of the window's buffer, at file offset front_offset_
    std::uint64_t front_offset_ = 0;
    Block* block_ = nullptr;  // under the window; holds one reference of ours
    bool no_more_ = false;    // the window's end is the file's

    std::variant<BinaryFileParser, PcapParser, PcapngParser> parser_;
    std::uint64_t record_ = 0;
    bool ended_ = false;
    std::optional<Error> failure_;
    std::vector<std::string> notices_;
};

}  // namespace wirebook::io
