// The rare paths of pcap: file header, cut record, text of a fault.
#include "wirebook/io/pcap_format.hpp"

#include <algorithm>
#include <cerrno>

namespace wirebook::io {

Result<PcapParser> PcapParser::open(Window& window) {
    const auto* header = wire::view_as<PcapFileHeader>(window.bytes());
    if (header == nullptr) {
        return Error{EINVAL, "the pcap file header is cut: " + std::to_string(window.size()) +
                                 " of " + std::to_string(sizeof(PcapFileHeader)) +
                                 " bytes at byte 0"};
    }
    const std::uint32_t little = header->magic.get(Endian::little);
    const bool is_little = little == pcap_magic_us || little == pcap_magic_ns;
    const Endian order = is_little ? Endian::little : Endian::big;
    const std::uint16_t version = header->version_major.get(order);
    if (version != 2) {
        return Error{EINVAL,
                     "pcap version " + std::to_string(version) + " at byte 4 is not known (2 is)"};
    }
    const std::uint32_t linktype = header->linktype.get(order) & 0xFFFFU;
    const auto link = link_type(linktype);
    if (!link) {
        return Error{EINVAL, "link type " + std::to_string(linktype) +
                                 " at byte 20 is not supported (Ethernet, raw IP, null/loop and "
                                 "Linux cooked are)"};
    }
    const std::uint32_t fraction_ns = header->magic.get(order) == pcap_magic_ns ? 1 : 1000;
    window.next += sizeof(PcapFileHeader);
    return PcapParser(order, fraction_ns, *link);
}

Step PcapParser::last(Window& window, Record& record) noexcept {
    const auto* header = wire::view_as<PcapRecordHeader>(window.bytes());
    if (header == nullptr) {
        window.next = window.end;
        return Step::skip;
    }
    const std::uint32_t captured = header->incl_len.get(order_);
    const std::size_t present = window.size() - sizeof(PcapRecordHeader);
    take(window, *header, static_cast<std::uint32_t>(std::min<std::size_t>(present, captured)),
         record);
    record.cut = true;
    return Step::record;
}

std::string PcapParser::fault(wire::Bytes front) const {
    const auto* header = wire::view_as<PcapRecordHeader>(front);
    const std::uint32_t captured = header == nullptr ? 0 : header->incl_len.get(order_);
    return "impossible record length " + std::to_string(captured) + " (at most " +
           std::to_string(max_captured_bytes) + ")";
}

}  // namespace wirebook::io
