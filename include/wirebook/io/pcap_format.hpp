// pcap, microseconds and nanoseconds, of either byte order: a file header, then records.
//
// Layout: draft-ietf-opsawg-pcap. A record may say more captured bytes than were on the wire
// (some capture cards count the FCS): it is taken as it is.
// May depend on core and wire. One thread at a time.
#pragma once

#include <string>

#include "wirebook/core/result.hpp"
#include "wirebook/io/capture_format.hpp"

namespace wirebook::io {

struct PcapFileHeader {
    either32 magic;
    either16 version_major;
    either16 version_minor;
    either32 this_zone;  // always 0 in practice; the stamps are UTC
    either32 sigfigs;
    either32 snaplen;
    either32 linktype;  // the low 16 bits; above them FCS length and flags
};
static_assert(sizeof(PcapFileHeader) == 24);

struct PcapRecordHeader {
    either32 ts_sec;
    either32 ts_fraction;  // us or ns
    either32 incl_len;
    either32 orig_len;
};
static_assert(sizeof(PcapRecordHeader) == 16);

inline constexpr std::uint32_t pcap_magic_us = 0xA1B2'C3D4;
inline constexpr std::uint32_t pcap_magic_ns = 0xA1B2'3C4D;

class PcapParser {
public:
    // Takes the file header off the window's front. Fails where it is cut, of an unknown version
    // or of a link type that we do not read (the text has no file name).
    [[nodiscard]] static Result<PcapParser> open(Window& window);

    [[nodiscard]] Step next(Window& window, Record& record) noexcept {
        const auto* header = wire::view_as<PcapRecordHeader>(window.bytes());
        if (header == nullptr) return more(sizeof(PcapRecordHeader));
        const std::uint32_t captured = header->incl_len.get(order_);
        if (captured > max_captured_bytes) return Step::bad;
        if (window.size() - sizeof(PcapRecordHeader) < captured) {
            return more(sizeof(PcapRecordHeader) + captured);
        }
        take(window, *header, captured, record);
        record.cut = false;
        return Step::record;
    }

    [[nodiscard]] Step last(Window& window, Record& record) noexcept;

    [[nodiscard]] std::size_t needed() const noexcept { return needed_; }
    [[nodiscard]] std::string fault(wire::Bytes front) const;
    [[nodiscard]] bool nanoseconds() const noexcept { return fraction_ns_ == 1; }

private:
    PcapParser(Endian order, std::uint32_t fraction_ns, wire::LinkType link) noexcept
        : order_(order), link_(link), fraction_ns_(fraction_ns) {}

    Step more(std::size_t bytes) noexcept {
        needed_ = bytes;
        return Step::more;
    }

    void take(Window& window, const PcapRecordHeader& header, std::uint32_t present,
              Record& record) const noexcept {
        record.data = window.next + sizeof(PcapRecordHeader);
        record.bytes = present;
        record.original_bytes = header.orig_len.get(order_);
        record.time_ns = std::int64_t{header.ts_sec.get(order_)} * 1'000'000'000 +
                         std::int64_t{header.ts_fraction.get(order_)} * fraction_ns_;
        record.link = link_;
        record.time_source = wire::TimeSource::capture;
        window.next = record.data + present;
    }

    Endian order_;
    wire::LinkType link_;
    std::uint32_t fraction_ns_;  // 1 or 1000
    std::size_t needed_ = 0;
};

}  // namespace wirebook::io
