// One received frame as every source hands it over: a view, never a copy.
//
// The bytes belong to the source that made the packet. They stay valid, at the same address,
// until the packet is given back with Source::release(), however many bursts later that is:
// a session parks packets behind a hole by keeping the Packet itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "wirebook/wire/view.hpp"

namespace wirebook::wire {

// How the first byte of the frame is to be read. The values are our own, not LINKTYPE_ numbers.
enum class LinkType : std::uint8_t {
    ethernet,
    raw_ip,         // LINKTYPE_RAW, _IPV4, _IPV6: starts with the IP header
    null_loopback,  // LINKTYPE_NULL: 4-byte address family in the byte order of the capturing host
    linux_cooked,   // LINKTYPE_LINUX_SLL, 16-byte header
    linux_cooked2,  // LINKTYPE_LINUX_SLL2, 20-byte header
    binaryfile,     // no frame: one message of a BinaryFILE
};

// Where receive_time_ns comes from.
enum class TimeSource : std::uint8_t {
    none,                // no stamp: receive_time_ns is 0 or the one of the record before
    capture,             // the capture file's record
    software,            // this machine's TSC, converted
    nic,                 // the NIC's clock, read by the driver
    nic_unsynchronised,  // raw NIC stamp: differences are good, the absolute value is not UTC
};

struct Packet {
    const std::byte* data = nullptr;
    std::uint32_t bytes = 0;           // at data
    std::uint32_t original_bytes = 0;  // on the wire; > bytes where the capture cut the frame
    std::int64_t receive_time_ns = 0;  // since the Unix epoch, UTC
    std::uint64_t receive_tsc = 0;     // rdtsc when the source handed it over (or when it was due)
    std::uint64_t owner = 0;           // the source's handle: rte_mbuf*, block of the file, ...
    std::uint64_t record = 0;          // number of the record in its input, from 0
    std::uint16_t input = 0;           // index of the file or port
    LinkType link = LinkType::ethernet;
    TimeSource time_source = TimeSource::none;
    bool cut = false;  // the file ends inside this record

    [[nodiscard]] Bytes frame() const noexcept { return {data, bytes}; }
};

}  // namespace wirebook::wire
