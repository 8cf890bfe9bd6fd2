// pcapng: sections of blocks; the interfaces of a section say link type and time resolution.
//
// Read: section header, interface description, enhanced, simple and (obsolete) packet blocks;
// every other block is skipped. Layout: draft-ietf-opsawg-pcapng. A link type that we do not read
// is a fault only when a packet of that interface comes. Lengths at both ends of a block must
// agree. May depend on core and wire. Allocates per interface, never per record. One thread at a
// time.
#pragma once

#include <string>
#include <vector>

#include "wirebook/core/result.hpp"
#include "wirebook/io/capture_format.hpp"
#include "wirebook/io/timestamp.hpp"

namespace wirebook::io {

inline constexpr std::uint32_t pcapng_section = 0x0A0D'0D0A;  // the same in both byte orders
inline constexpr std::uint32_t pcapng_interface = 1;
inline constexpr std::uint32_t pcapng_packet = 2;
inline constexpr std::uint32_t pcapng_simple_packet = 3;
inline constexpr std::uint32_t pcapng_enhanced_packet = 6;
inline constexpr std::uint32_t pcapng_order_magic = 0x1A2B'3C4D;

// A longer block is an impossible length (libpcap's limit too): it bounds what we buffer.
inline constexpr std::uint32_t max_block_bytes = 16 * 1024 * 1024;

struct PcapngBlockHeader {
    either32 type;
    either32 total_length;  // header, body, trailing length; a multiple of 4
};
static_assert(sizeof(PcapngBlockHeader) == 8);

struct PcapngSection {
    PcapngBlockHeader header;
    either32 order_magic;
    either16 version_major;
    either16 version_minor;
    either64 section_length;
};
static_assert(sizeof(PcapngSection) == 24);

struct PcapngInterface {
    PcapngBlockHeader header;
    either16 linktype;
    either16 reserved;
    either32 snaplen;
};
static_assert(sizeof(PcapngInterface) == 16);

struct PcapngEnhancedPacket {
    PcapngBlockHeader header;
    either32 interface;
    either32 time_high;
    either32 time_low;
    either32 captured_length;
    either32 original_length;
};
static_assert(sizeof(PcapngEnhancedPacket) == 28);

// As the enhanced one, but for two 16-bit fields in place of the interface.
struct PcapngPacket {
    PcapngBlockHeader header;
    either16 interface;
    either16 drops;
    either32 time_high;
    either32 time_low;
    either32 captured_length;
    either32 original_length;
};
static_assert(sizeof(PcapngPacket) == 28);

struct PcapngSimplePacket {
    PcapngBlockHeader header;
    either32 original_length;
};
static_assert(sizeof(PcapngSimplePacket) == 12);

class PcapngParser {
public:
    // The window starts with a section header; fails where it is cut or broken.
    [[nodiscard]] static Result<PcapngParser> open(Window& window);

    [[nodiscard]] Step next(Window& window, Record& record) noexcept;
    [[nodiscard]] Step last(Window& window, Record& record) noexcept;

    [[nodiscard]] std::size_t needed() const noexcept { return needed_; }
    [[nodiscard]] std::string fault(wire::Bytes front) const;

private:
    enum class Fault : std::uint8_t {
        none,
        block_length,
        trailing_length,
        byte_order,
        version,
        short_block,
        option,
        interface,
        captured_length,
        link_type
    };

    struct Interface {
        TimestampScale scale;
        std::uint32_t snaplen = 0;  // 0: no limit
        std::uint16_t linktype = 0;
        wire::LinkType link = wire::LinkType::ethernet;
        bool known_link = false;
    };

    PcapngParser() = default;

    Step bad(Fault fault, std::uint64_t value) noexcept {
        fault_ = fault;
        value_ = value;
        return Step::bad;
    }
    Step more(std::size_t bytes) noexcept {
        needed_ = bytes;
        return Step::more;
    }

    // `block` is what is there of a block of `total` bytes; fewer than that only in last().
    Step take_section(wire::Bytes block) noexcept;
    Step take_interface(wire::Bytes block) noexcept;
    Step take_options(wire::Bytes options, Interface& interface) noexcept;
    template <class Layout>
    Step take_packet(wire::Bytes block, std::uint32_t total, Record& record) noexcept;
    Step take_simple_packet(wire::Bytes block, std::uint32_t total, Record& record) noexcept;

    std::vector<Interface> interfaces_;  // of the current section
    std::int64_t last_time_ns_ = 0;      // what a record without time is given
    std::size_t needed_ = 0;
    std::uint64_t value_ = 0;  // what the fault is about
    Endian order_ = Endian::little;
    Fault fault_ = Fault::none;
};

}  // namespace wirebook::io
