// For the tests of io: capture files made by hand, and a reader that copies everything out.
#pragma once

#include <zlib.h>
#include <zstd.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wirebook/io/capture_source.hpp"

namespace wirebook::test {

// Bytes appended one field after the other, in the byte order of the file.
class FileBytes {
public:
    explicit FileBytes(bool big = false) : big_(big) {}

    FileBytes& u8(std::uint8_t value) { return number(value, 1); }
    FileBytes& u16(std::uint16_t value) { return number(value, 2); }
    FileBytes& u32(std::uint32_t value) { return number(value, 4); }
    FileBytes& u64(std::uint64_t value) { return number(value, 8); }
    FileBytes& text(std::string_view value) {
        for (const char c : value) bytes_.push_back(static_cast<std::byte>(c));
        return *this;
    }
    FileBytes& pad() {
        while (bytes_.size() % 4 != 0) bytes_.push_back(std::byte{0});
        return *this;
    }
    FileBytes& add(const FileBytes& other) {
        bytes_.insert(bytes_.end(), other.bytes_.begin(), other.bytes_.end());
        return *this;
    }
    [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }
    [[nodiscard]] std::size_t size() const { return bytes_.size(); }
    [[nodiscard]] bool big() const { return big_; }

private:
    FileBytes& number(std::uint64_t value, unsigned width) {
        for (unsigned i = 0; i < width; ++i) {
            const unsigned shift = 8 * (big_ ? width - 1 - i : i);
            bytes_.push_back(static_cast<std::byte>(value >> shift & 0xFF));
        }
        return *this;
    }
    std::vector<std::byte> bytes_;
    bool big_;
};

inline constexpr std::uint32_t magic_us = 0xA1B2C3D4;
inline constexpr std::uint32_t magic_ns = 0xA1B23C4D;

inline FileBytes pcap_header(bool big = false, std::uint32_t magic = magic_ns,
                             std::uint32_t linktype = 1) {
    FileBytes file(big);
    return file.u32(magic).u16(2).u16(4).u32(0).u32(0).u32(65535).u32(linktype);
}
inline FileBytes pcap_record(std::uint32_t seconds, std::uint32_t fraction, std::string_view data,
                             bool big = false, std::optional<std::uint32_t> original = {}) {
    const auto bytes = static_cast<std::uint32_t>(data.size());
    FileBytes file(big);
    return file.u32(seconds).u32(fraction).u32(bytes).u32(original.value_or(bytes)).text(data);
}

// A pcapng block around a body, with both lengths.
inline FileBytes ng_block(std::uint32_t type, FileBytes body) {
    body.pad();
    const auto total = static_cast<std::uint32_t>(body.size() + 12);
    FileBytes block(body.big());
    return block.u32(type).u32(total).add(body).u32(total);
}
inline FileBytes ng_section(bool big = false) {
    FileBytes body(big);
    return ng_block(0x0A0D0D0A, body.u32(0x1A2B3C4D).u16(1).u16(0).u64(~std::uint64_t{0}));
}
inline FileBytes ng_interface(bool big = false, std::uint16_t linktype = 1,
                              std::optional<std::uint8_t> resolution = {},
                              std::optional<std::int64_t> offset_s = {},
                              std::uint32_t snaplen = 0) {
    FileBytes body(big);
    body.u16(linktype).u16(0).u32(snaplen);
    if (resolution) body.u16(9).u16(1).u8(*resolution).pad();
    if (offset_s) body.u16(14).u16(8).u64(static_cast<std::uint64_t>(*offset_s));
    body.u16(2).u16(3).text("if0").pad();  // a name, which is skipped
    body.u16(0).u16(0);
    return ng_block(1, body);
}
inline FileBytes ng_packet(std::uint32_t interface, std::uint64_t units, std::string_view data,
                           bool big = false, std::optional<std::uint32_t> original = {}) {
    const auto bytes = static_cast<std::uint32_t>(data.size());
    FileBytes body(big);
    body.u32(interface).u32(static_cast<std::uint32_t>(units >> 32));
    body.u32(static_cast<std::uint32_t>(units)).u32(bytes).u32(original.value_or(bytes));
    return ng_block(6, body.text(data));
}
inline FileBytes ng_simple_packet(std::uint32_t original, std::string_view data) {
    FileBytes body;
    return ng_block(3, body.u32(original).text(data));
}

inline FileBytes binaryfile_message(std::string_view message) {
    FileBytes file(true);
    return file.u16(static_cast<std::uint16_t>(message.size())).text(message);
}
// A protocol with two messages: A of 4 bytes, B of 2.
inline std::uint32_t two_messages(std::uint8_t type) noexcept {
    return type == 'A' ? 4 : type == 'B' ? 2 : 0;
}

inline std::vector<std::byte> gzip(const std::vector<std::byte>& plain) {
    std::vector<std::byte> packed(plain.size() + plain.size() / 100 + 128);
    z_stream zlib{};
    if (deflateInit2(&zlib, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) return {};
    zlib.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(plain.data()));
    zlib.avail_in = static_cast<uInt>(plain.size());
    zlib.next_out = reinterpret_cast<Bytef*>(packed.data());
    zlib.avail_out = static_cast<uInt>(packed.size());
    (void)deflate(&zlib, Z_FINISH);
    packed.resize(zlib.total_out);
    deflateEnd(&zlib);
    return packed;
}
inline std::vector<std::byte> zstd(const std::vector<std::byte>& plain) {
    std::vector<std::byte> packed(ZSTD_compressBound(plain.size()));
    packed.resize(ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 3));
    return packed;
}

struct ReadRecord {
    std::string data;
    std::uint32_t original_bytes = 0;
    std::int64_t time_ns = 0;
    std::uint64_t record = 0;
    std::uint16_t input = 0;
    wire::LinkType link = wire::LinkType::ethernet;
    wire::TimeSource time_source = wire::TimeSource::none;
    bool cut = false;

    friend bool operator==(const ReadRecord&, const ReadRecord&) = default;
};

struct ReadResult {
    std::vector<ReadRecord> records;
    std::string open_error;  // empty: it could be opened
    std::string error;       // empty: none
    std::vector<std::string> notices;

    [[nodiscard]] std::string data() const {  // of all records, each followed by a stroke
        std::string all;
        for (const ReadRecord& record : records) all += record.data + '|';
        return all;
    }
};

inline ReadRecord copy_of(const wire::Packet& packet) {
    return {{reinterpret_cast<const char*>(packet.data), packet.bytes},
            packet.original_bytes,
            packet.receive_time_ns,
            packet.record,
            packet.input,
            packet.link,
            packet.time_source,
            packet.cut};
}

inline ReadResult drain(Result<io::CaptureSource> opened, std::size_t burst_packets = 32) {
    ReadResult result;
    if (!opened) {
        result.open_error = opened.error().context;
        return result;
    }
    io::CaptureSource& source = opened.value();
    std::vector<wire::Packet> burst(burst_packets);
    while (!source.finished()) {
        const std::size_t count = source.receive(burst);
        for (std::size_t i = 0; i < count; ++i) result.records.push_back(copy_of(burst[i]));
        source.release({burst.data(), count});
    }
    if (source.error()) result.error = source.error()->context;
    result.notices = source.notices();
    return result;
}

// From a heap buffer of exactly that size, so that AddressSanitizer sees a read past the end.
inline ReadResult read_memory(const std::vector<std::byte>& bytes, bool as_stream = false,
                              std::size_t block_bytes = 256 * 1024) {
    const auto exact = std::make_unique<std::byte[]>(bytes.size());
    if (!bytes.empty()) std::memcpy(exact.get(), bytes.data(), bytes.size());
    io::CaptureOptions options;
    options.binaryfile_min_length = two_messages;
    options.block_bytes = block_bytes;
    return drain(io::CaptureSource::open_memory({exact.get(), bytes.size()}, as_stream, options));
}
inline ReadResult read_memory(const FileBytes& file) {
    return read_memory(file.bytes());
}

}  // namespace wirebook::test
