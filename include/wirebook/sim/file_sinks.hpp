// What the simulated exchange sends, as files: captures of frames, and BinaryFILEs of messages.
//
// Errors are kept in the file (output_file.hpp): ask status() now and then, and close().
// May depend on core, wire and io. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "wirebook/core/base.hpp"
#include "wirebook/core/result.hpp"
#include "wirebook/io/pcap_format.hpp"
#include "wirebook/sim/frame.hpp"
#include "wirebook/sim/output_file.hpp"
#include "wirebook/wire/field.hpp"

namespace wirebook::sim {

// pcap with nanosecond stamps, little-endian, Ethernet. A FrameSink; records in the order of the
// calls. Two lines go into one file through a FrameMerger.
class PcapSink {
public:
    [[nodiscard]] static Result<PcapSink> create(const std::string& path) {
        auto file = OutputFile::create(path);
        if (!file) return file.error();
        PcapSink sink(std::move(file).value());
        sink.write_header();
        return sink;
    }

    void on_frame(const FrameView& frame) {
        WIREBOOK_CHECK(frame.time_ns >= 0);
        constexpr std::int64_t second = 1'000'000'000;
        const auto bytes = static_cast<std::uint32_t>(frame.bytes.size());
        io::PcapRecordHeader record{};
        record.ts_sec.set(static_cast<std::uint32_t>(frame.time_ns / second), io::Endian::little);
        record.ts_fraction.set(static_cast<std::uint32_t>(frame.time_ns % second),
                               io::Endian::little);
        record.incl_len.set(bytes, io::Endian::little);
        record.orig_len.set(bytes, io::Endian::little);
        file_.write(std::as_bytes(std::span(&record, 1)));
        file_.write(frame.bytes);
        ++records_;
    }

    [[nodiscard]] Status status() const { return file_.status(); }
    [[nodiscard]] Status close() { return file_.close(); }
    [[nodiscard]] std::uint64_t records() const noexcept { return records_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return file_.bytes(); }

private:
    explicit PcapSink(OutputFile file) noexcept : file_(std::move(file)) {}

    void write_header() {
        constexpr std::uint32_t linktype_ethernet = 1;
        io::PcapFileHeader header{};
        header.magic.set(io::pcap_magic_ns, io::Endian::little);
        header.version_major.set(2, io::Endian::little);
        header.version_minor.set(4, io::Endian::little);
        header.snaplen.set(262'144, io::Endian::little);
        header.linktype.set(linktype_ethernet, io::Endian::little);
        file_.write(std::as_bytes(std::span(&header, 1)));
    }

    OutputFile file_;
    std::uint64_t records_ = 0;
};

// Messages, each after its length; a zero length at the end. Gets messages, not frames.
class BinaryFileSink {
public:
    [[nodiscard]] static Result<BinaryFileSink> create(const std::string& path) {
        auto file = OutputFile::create(path);
        if (!file) return file.error();
        return BinaryFileSink(std::move(file).value());
    }

    // 1 to 65,535 bytes.
    void add(std::span<const std::byte> message) {
        WIREBOOK_CHECK(!message.empty() && message.size() <= 65'535);
        write_length(message.size());
        file_.write(message);
        ++messages_;
    }

    [[nodiscard]] Status status() const { return file_.status(); }
    // Ends the file. Idempotent.
    [[nodiscard]] Status close() {
        if (!std::exchange(ended_, true)) write_length(0);
        return file_.close();
    }
    [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return file_.bytes(); }

private:
    explicit BinaryFileSink(OutputFile file) noexcept : file_(std::move(file)) {}

    void write_length(std::size_t bytes) {
        wire::be16 length{};
        length.set(static_cast<std::uint16_t>(bytes));
        file_.write(std::as_bytes(std::span(&length, 1)));
    }

    OutputFile file_;
    std::uint64_t messages_ = 0;
    bool ended_ = false;
};

}  // namespace wirebook::sim
