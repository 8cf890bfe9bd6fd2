// What the parsers of the capture formats share: the window they look at, the record they find,
// and how a file is told by its first bytes.
//
// A parser is a pull parser over a window of contiguous bytes; it never reads, allocates or blocks.
// Who owns the window (CaptureInput) gives it more bytes when the parser says how many it needs.
//
//     Step next(Window&, Record&)   record: a record was taken off the window's front
//                                   skip:   something that is no record was taken off
//                                   more:   needed() bytes from the front are needed
//                                   end:    the format says that nothing follows
//                                   bad:    the file is broken at the front; fault() says how
//     Step last(Window&, Record&)   the same at the end of the file, after `more`: record is what
//                                   is there of a cut record, skip that the rest is no record
//
// The window moves on record and skip only. May depend on core and wire. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "wirebook/io/either_endian.hpp"
#include "wirebook/wire/packet.hpp"

namespace wirebook::io {

// libpcap's own limit for a record of every link type that we read.
inline constexpr std::uint32_t max_captured_bytes = 262'144;

struct Window {
    const std::byte* next = nullptr;
    const std::byte* end = nullptr;

    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(end - next); }
    [[nodiscard]] wire::Bytes bytes() const noexcept { return {next, size()}; }
};

struct Record {
    const std::byte* data = nullptr;
    std::uint32_t bytes = 0;           // that are there
    std::uint32_t original_bytes = 0;  // on the wire
    std::int64_t time_ns = 0;  // since the Unix epoch; without a stamp that of the one before
    wire::LinkType link = wire::LinkType::ethernet;
    wire::TimeSource time_source = wire::TimeSource::none;
    bool cut = false;  // fewer bytes are there than the record says, because the file ends
};

enum class Step : std::uint8_t { record, skip, more, end, bad };

enum class FileFormat : std::uint8_t { unknown, pcap, pcapng, binaryfile };

// Shortest length of a message of that type in the protocols that are known, 0 for an unknown type.
// A BinaryFILE has no magic: it is told by its first length and type (see identify).
using MinLength = std::uint32_t (*)(std::uint8_t type) noexcept;

// At least this many bytes of the file decide (fewer if the file is shorter).
inline constexpr std::size_t identify_bytes = 4;

// A BinaryFILE starts with a zero length (it is empty), or with a length not shorter than that of
// the known message type that follows. `min_length` may be null: then only the zero length counts.
[[nodiscard]] FileFormat identify(wire::Bytes front, MinLength min_length) noexcept;

// LINKTYPE_ number (tcpdump.org/linktypes.html) to ours; nothing for one that we do not read.
[[nodiscard]] std::optional<wire::LinkType> link_type(std::uint32_t linktype) noexcept;

[[nodiscard]] std::string_view name_of(FileFormat format) noexcept;

}  // namespace wirebook::io
