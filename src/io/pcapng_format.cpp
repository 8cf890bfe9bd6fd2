// The blocks of pcapng. Every length is checked against the block before what it measures is read.
#include "wirebook/io/pcapng_format.hpp"

#include <algorithm>
#include <cerrno>

namespace wirebook::io {
namespace {

constexpr std::uint32_t trailer_bytes = 4;
constexpr std::uint32_t shortest_block = sizeof(PcapngBlockHeader) + trailer_bytes;

constexpr std::uint16_t option_end = 0;
constexpr std::uint16_t option_tsresol = 9;
constexpr std::uint16_t option_tsoffset = 14;

struct OptionHeader {
    either16 code;
    either16 length;  // without the padding to 4
};

std::uint32_t interface_of(const PcapngEnhancedPacket& packet, Endian order) noexcept {
    return packet.interface.get(order);
}
std::uint32_t interface_of(const PcapngPacket& packet, Endian order) noexcept {
    return packet.interface.get(order);
}

}  // namespace

Result<PcapngParser> PcapngParser::open(Window& window) {
    PcapngParser parser;
    Record none;
    const Step step = parser.next(window, none);
    if (step == Step::skip) return parser;
    if (step == Step::more) {
        return Error{EINVAL, "the first section header is cut: " + std::to_string(window.size()) +
                                 " of " + std::to_string(parser.needed()) + " bytes at byte 0"};
    }
    return Error{EINVAL, parser.fault(window.bytes()) + " at byte 0"};
}

Step PcapngParser::next(Window& window, Record& record) noexcept {
    const auto* header = wire::view_as<PcapngBlockHeader>(window.bytes());
    if (header == nullptr) return more(sizeof(PcapngBlockHeader));
    const bool is_section = header->type.get(Endian::little) == pcapng_section;
    Endian order = order_;
    if (is_section) {  // its byte order decides how its own length is read
        const auto* section = wire::view_as<PcapngSection>(window.bytes());
        if (section == nullptr) return more(sizeof(PcapngSection));
        const std::uint32_t magic = section->order_magic.get(Endian::little);
        order = magic == pcapng_order_magic ? Endian::little : Endian::big;
        if (section->order_magic.get(order) != pcapng_order_magic) {
            return bad(Fault::byte_order, magic);
        }
    }
    const std::uint32_t total = header->total_length.get(order);
    if (total < shortest_block || total % 4 != 0 || total > max_block_bytes) {
        return bad(Fault::block_length, total);
    }
    if (window.size() < total) return more(total);
    const wire::Bytes block = window.bytes().first(total);
    const auto* trailer = wire::view_as<either32>(block.last(trailer_bytes));
    if (trailer->get(order) != total) return bad(Fault::trailing_length, trailer->get(order));
    Step step = Step::skip;
    if (is_section) {
        step = take_section(block);
    } else {
        switch (header->type.get(order)) {
            case pcapng_enhanced_packet:
                step = take_packet<PcapngEnhancedPacket>(block, total, record);
                break;
            case pcapng_packet: step = take_packet<PcapngPacket>(block, total, record); break;
            case pcapng_simple_packet: step = take_simple_packet(block, total, record); break;
            case pcapng_interface: step = take_interface(block); break;
            default: break;
        }
    }
    if (step != Step::bad) window.next += total;
    return step;
}

// A packet block whose header is there gives the bytes that are there; anything else is left out.
Step PcapngParser::last(Window& window, Record& record) noexcept {
    const wire::Bytes block = window.bytes();
    Step step = Step::skip;
    const auto* header = wire::view_as<PcapngBlockHeader>(block);
    const std::uint32_t type = header == nullptr ? 0 : header->type.get(order_);
    if (type == pcapng_enhanced_packet && block.size() >= sizeof(PcapngEnhancedPacket)) {
        step = take_packet<PcapngEnhancedPacket>(block, header->total_length.get(order_), record);
    } else if (type == pcapng_packet && block.size() >= sizeof(PcapngPacket)) {
        step = take_packet<PcapngPacket>(block, header->total_length.get(order_), record);
    } else if (type == pcapng_simple_packet && block.size() >= sizeof(PcapngSimplePacket)) {
        step = take_simple_packet(block, header->total_length.get(order_), record);
    }
    if (step != Step::bad) window.next = window.end;
    return step;
}

Step PcapngParser::take_section(wire::Bytes block) noexcept {
    const auto* section = wire::view_as<PcapngSection>(block);
    if (section == nullptr || block.size() < sizeof(PcapngSection) + trailer_bytes) {
        return bad(Fault::short_block, block.size());
    }
    const bool is_little = section->order_magic.get(Endian::little) == pcapng_order_magic;
    const Endian order = is_little ? Endian::little : Endian::big;
    const std::uint16_t version = section->version_major.get(order);
    if (version != 1) return bad(Fault::version, version);
    order_ = order;
    interfaces_.clear();
    return Step::skip;
}

Step PcapngParser::take_interface(wire::Bytes block) noexcept {
    const auto* description = wire::view_as<PcapngInterface>(block);
    if (description == nullptr || block.size() < sizeof(PcapngInterface) + trailer_bytes) {
        return bad(Fault::short_block, block.size());
    }
    Interface interface;
    interface.snaplen = description->snaplen.get(order_);
    interface.linktype = description->linktype.get(order_);
    const auto link = link_type(interface.linktype);
    interface.known_link = link.has_value();
    if (link) interface.link = *link;
    const wire::Bytes options = block.subspan(
        sizeof(PcapngInterface), block.size() - sizeof(PcapngInterface) - trailer_bytes);
    const Step step = take_options(options, interface);
    if (step != Step::bad) interfaces_.push_back(interface);
    return step;
}

Step PcapngParser::take_options(wire::Bytes options, Interface& interface) noexcept {
    std::uint8_t resolution = 6;  // microseconds where nothing is said
    std::uint64_t offset_s = 0;   // two's complement
    while (const auto* option = wire::view_as<OptionHeader>(options)) {
        const std::uint16_t code = option->code.get(order_);
        const std::size_t length = option->length.get(order_);
        options = options.subspan(sizeof(OptionHeader));
        if (code == option_end) break;
        const std::size_t padded = (length + 3) & ~std::size_t{3};
        if (padded > options.size()) return bad(Fault::option, code);
        const wire::Bytes value = options.first(length);
        if (code == option_tsresol) {
            if (length != 1) return bad(Fault::option, code);
            resolution = std::to_integer<std::uint8_t>(value[0]);
        } else if (code == option_tsoffset) {
            if (length != sizeof(either64)) return bad(Fault::option, code);
            offset_s = wire::view_as<either64>(value)->get(order_);
        }
        options = options.subspan(padded);
    }
    interface.scale = TimestampScale(resolution, static_cast<std::int64_t>(offset_s));
    return Step::skip;
}

template <class Layout>
Step PcapngParser::take_packet(wire::Bytes block, std::uint32_t total, Record& record) noexcept {
    if (total < sizeof(Layout) + trailer_bytes) return bad(Fault::short_block, total);
    const auto* packet = wire::view_as<Layout>(block);
    const std::uint32_t index = interface_of(*packet, order_);
    if (index >= interfaces_.size()) return bad(Fault::interface, index);
    const Interface& interface = interfaces_[index];
    if (!interface.known_link) return bad(Fault::link_type, interface.linktype);
    const std::uint32_t captured = packet->captured_length.get(order_);
    if (captured > max_captured_bytes || captured > total - sizeof(Layout) - trailer_bytes) {
        return bad(Fault::captured_length, captured);
    }
    const std::uint64_t units =
        std::uint64_t{packet->time_high.get(order_)} << 32U | packet->time_low.get(order_);
    const std::size_t present = std::min<std::size_t>(captured, block.size() - sizeof(Layout));
    record.data = block.data() + sizeof(Layout);
    record.bytes = static_cast<std::uint32_t>(present);
    record.original_bytes = packet->original_length.get(order_);
    record.time_ns = interface.scale.to_ns(units);
    record.link = interface.link;
    record.time_source = wire::TimeSource::capture;
    record.cut = present < captured;
    last_time_ns_ = record.time_ns;
    return Step::record;
}

// It belongs to interface 0 and has no captured length: that of the wire, cut by the interface's
// snap length, as far as the block holds it.
Step PcapngParser::take_simple_packet(wire::Bytes block, std::uint32_t total,
                                      Record& record) noexcept {
    if (total < sizeof(PcapngSimplePacket) + trailer_bytes) return bad(Fault::short_block, total);
    const auto* packet = wire::view_as<PcapngSimplePacket>(block);
    if (interfaces_.empty()) return bad(Fault::interface, 0);
    const Interface& interface = interfaces_[0];
    if (!interface.known_link) return bad(Fault::link_type, interface.linktype);
    const std::uint32_t original = packet->original_length.get(order_);
    const auto room =
        static_cast<std::uint32_t>(total - sizeof(PcapngSimplePacket) - trailer_bytes);
    const std::uint32_t limit = interface.snaplen == 0 ? room : std::min(room, interface.snaplen);
    const std::uint32_t captured = std::min(original, limit);
    if (captured > max_captured_bytes) return bad(Fault::captured_length, captured);
    const std::size_t present =
        std::min<std::size_t>(captured, block.size() - sizeof(PcapngSimplePacket));
    record.data = block.data() + sizeof(PcapngSimplePacket);
    record.bytes = static_cast<std::uint32_t>(present);
    record.original_bytes = original;
    record.time_ns = last_time_ns_;
    record.link = interface.link;
    record.time_source = wire::TimeSource::none;
    record.cut = present < captured;
    return Step::record;
}

std::string PcapngParser::fault(wire::Bytes /*front*/) const {
    const std::string value = std::to_string(value_);
    switch (fault_) {
        case Fault::none: break;
        case Fault::block_length: return "impossible block length " + value;
        case Fault::trailing_length:
            return "the block's trailing length " + value + " is not its leading one";
        case Fault::byte_order: return "the section's byte order magic is wrong";
        case Fault::version: return "pcapng version " + value + " is not known (1 is)";
        case Fault::short_block: return "a block of " + value + " bytes is too short for its type";
        case Fault::option: return "interface option " + value + " has an impossible length";
        case Fault::interface: return "a packet of interface " + value + ", which is not described";
        case Fault::captured_length: return "impossible captured length " + value;
        case Fault::link_type:
            return "a packet of link type " + value +
                   ", which is not supported (Ethernet, raw IP, null/loop and Linux cooked are)";
    }
    return "broken block";
}

}  // namespace wirebook::io
