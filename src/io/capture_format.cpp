// Magic numbers and LINKTYPE_ numbers, as tcpdump.org/linktypes.html and the two drafts have them.
#include "wirebook/io/capture_format.hpp"

#include "wirebook/io/pcap_format.hpp"
#include "wirebook/io/pcapng_format.hpp"
#include "wirebook/wire/field.hpp"

namespace wirebook::io {
namespace {

bool is_pcap(std::uint32_t magic) noexcept {
    return magic == pcap_magic_us || magic == pcap_magic_ns;
}

}  // namespace

FileFormat identify(wire::Bytes front, MinLength min_length) noexcept {
    if (const auto* magic = wire::view_as<either32>(front)) {
        const std::uint32_t little = magic->get(Endian::little);
        if (is_pcap(little) || is_pcap(magic->get(Endian::big))) return FileFormat::pcap;
        if (little == pcapng_section) return FileFormat::pcapng;
    }
    const auto* length = wire::view_as<wire::be16>(front);
    if (length == nullptr) return FileFormat::unknown;
    if (length->get() == 0) return FileFormat::binaryfile;
    if (front.size() < 3 || min_length == nullptr) return FileFormat::unknown;
    const std::uint32_t known = min_length(std::to_integer<std::uint8_t>(front[2]));
    return known != 0 && length->get() >= known ? FileFormat::binaryfile : FileFormat::unknown;
}

std::optional<wire::LinkType> link_type(std::uint32_t linktype) noexcept {
    switch (linktype) {
        case 0:    // NULL
        case 108:  // LOOP, the family in network order
            return wire::LinkType::null_loopback;
        case 1: return wire::LinkType::ethernet;
        case 12:   // DLT_RAW, which some tools write as it is
        case 14:   // the same on OpenBSD
        case 101:  // RAW
        case 228:  // IPV4
        case 229:  // IPV6
            return wire::LinkType::raw_ip;
        case 113: return wire::LinkType::linux_cooked;
        case 276: return wire::LinkType::linux_cooked2;
        default: return std::nullopt;
    }
}

std::string_view name_of(FileFormat format) noexcept {
    switch (format) {
        case FileFormat::pcap: return "pcap";
        case FileFormat::pcapng: return "pcapng";
        case FileFormat::binaryfile: return "BinaryFILE";
        case FileFormat::unknown: break;
    }
    return "unknown";
}

}  // namespace wirebook::io
