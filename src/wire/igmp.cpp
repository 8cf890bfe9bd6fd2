// IGMP messages made and read; see the header.
#include "wirebook/wire/igmp.hpp"

#include <algorithm>
#include <cstring>

#include "wirebook/core/base.hpp"
#include "wirebook/wire/udp_checksum.hpp"

namespace wirebook::wire::igmp {

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t tenth_ns = second_ns / 10;
constexpr std::size_t least_frame_bytes = 60;  // of Ethernet, without the frame check sequence

// RFC 1071, over bytes whose checksum field is 0; to be stored big-endian.
std::uint16_t checksum_of(Bytes bytes) noexcept {
    const std::uint16_t sum = detail::fold_to_16(detail::ones_complement_sum(bytes));
    return static_cast<std::uint16_t>(~__builtin_bswap16(sum));
}

bool checksum_ok(Bytes bytes) noexcept {
    return detail::fold_to_16(detail::ones_complement_sum(bytes)) == 0xFFFF;
}

// A router takes each record of these two for the whole state of the group.
bool is_whole_state(RecordType type) noexcept {
    return type == RecordType::mode_is_exclude || type == RecordType::change_to_exclude;
}

ParseStatus parse_query(const Header& header, Bytes message, Heard& heard) noexcept {
    heard.kind = MessageKind::query;
    const unsigned char code = header.max_response_code;
    if (message.size() == sizeof(Header)) {
        heard.version = code == 0 ? 1 : 2;
        heard.max_response_ns = code == 0 ? 10 * second_ns : code * tenth_ns;
        return ParseStatus::ok;
    }
    const Bytes rest = message.subspan(sizeof(Header));
    const auto* tail = view_as<QueryTail>(rest);
    if (tail == nullptr) return ParseStatus::malformed;  // 9 to 11 bytes: RFC 3376, 7.1
    const std::size_t source_bytes = sizeof(be32) * tail->source_count.get();
    if (source_bytes > rest.size() - sizeof(QueryTail)) return ParseStatus::malformed;
    heard.version = 3;
    heard.max_response_ns = decode_time(code) * tenth_ns;
    heard.suppress_routers = (tail->flags & 0x08U) != 0;
    heard.robustness = tail->flags & 0x07U;
    heard.query_interval_ns = decode_time(tail->interval_code) * second_ns;
    heard.sources = SourceList(rest.subspan(sizeof(QueryTail), source_bytes));
    return ParseStatus::ok;
}

ParseStatus parse_message(Bytes message, Heard& heard) noexcept {
    const auto* header = view_as<Header>(message);
    if (header == nullptr || !checksum_ok(message)) return ParseStatus::malformed;
    if (header->type != type::report_v3) heard.group = header->group.get();
    switch (header->type) {
        case type::query: return parse_query(*header, message, heard);
        case type::report_v1: heard.kind = MessageKind::report_v1; break;
        case type::report_v2: heard.kind = MessageKind::report_v2; break;
        case type::report_v3: heard.kind = MessageKind::report_v3; break;
        case type::leave: heard.kind = MessageKind::leave; break;
        default: heard.kind = MessageKind::other; break;
    }
    return ParseStatus::ok;
}

ParseStatus parse_ip(Bytes rest, Heard& heard) noexcept {
    const auto* ip = view_as<Ipv4Header>(rest);
    if (ip == nullptr || ip->version_and_words >> 4 != 4) return ParseStatus::not_igmp;
    if (ip->protocol != ip_protocol::igmp) return ParseStatus::not_igmp;
    const std::size_t header_bytes = std::size_t{4} * (ip->version_and_words & 0xFU);
    const std::size_t total_bytes = ip->total_length.get();
    if (header_bytes < sizeof(Ipv4Header) || total_bytes < header_bytes ||
        total_bytes > rest.size() || !checksum_ok(rest.first(header_bytes)) ||
        (ip->flags_and_offset.get() & Ipv4Header::fragment_bits) != 0) {
        return ParseStatus::malformed;
    }
    heard.source = ip->source.get();
    heard.destination = ip->destination.get();
    return parse_message(rest.subspan(header_bytes, total_bytes - header_bytes), heard);
}

}  // namespace

ParseStatus parse(Bytes frame, Heard& heard) noexcept {
    heard = {};
    const auto* ethernet = view_as<EthernetHeader>(frame);
    if (ethernet == nullptr) return ParseStatus::not_igmp;
    heard.mac = ethernet->source;
    std::uint16_t type = ethernet->type.get();
    Bytes rest = frame.subspan(sizeof(EthernetHeader));
    while (type == ethertype::vlan || type == ethertype::vlan_service ||
           type == ethertype::vlan_old) {
        const auto* tag = view_as<VlanTag>(rest);
        if (tag == nullptr) return ParseStatus::not_igmp;
        if (heard.vlan == 0) heard.vlan = tag->control.get() & VlanTag::id_bits;
        type = tag->type.get();
        rest = rest.subspan(sizeof(VlanTag));
    }
    return type == ethertype::ipv4 ? parse_ip(rest, heard) : ParseStatus::not_igmp;
}

Encoder::Encoder(const Sender& sender)
    : sender_(sender),
      ip_at_(sizeof(EthernetHeader) + (sender.vlan == 0 ? 0 : sizeof(VlanTag))),
      message_at_(ip_at_ + ip_bytes),
      buffer_(std::max(ip_at_ + sender.mtu_bytes, least_frame_bytes + sizeof(VlanTag))) {
    WIREBOOK_CHECK(sender.vlan < VlanTag::id_bits);
    WIREBOOK_CHECK(sender.mtu_bytes >= 68 && sender.mtu_bytes <= 65'535);
}

template <Message M>
void Encoder::put(std::size_t at, const M& message) noexcept {
    std::memcpy(buffer_.data() + at, &message, sizeof message);
}

Bytes Encoder::small(unsigned char type, std::uint32_t group, std::uint32_t destination) {
    Header header{};
    header.type = type;
    header.group.set(group);
    put(message_at_, header);
    end_ = message_at_ + sizeof header;
    return finish(destination);
}

Bytes Encoder::next_report(std::span<const Record> records, Place& place) {
    const std::size_t limit = ip_at_ + sender_.mtu_bytes;
    ReportHeader header{};
    header.type = type::report_v3;
    end_ = message_at_ + sizeof header;
    std::uint16_t count = 0;
    while (place.record < records.size()) {
        const Record& record = records[place.record];
        const auto unsaid = record.sources.subspan(place.source);
        const std::size_t whole_bytes = sizeof(RecordHeader) + unsaid.size() * sizeof(be32);
        if (count != 0 && whole_bytes > limit - end_) break;
        const std::size_t room = (limit - end_ - sizeof(RecordHeader)) / sizeof(be32);
        const auto said = unsaid.first(std::min(unsaid.size(), room));
        put_record(record, said);
        ++count;
        if (said.size() < unsaid.size() && !is_whole_state(record.type)) {
            place.source += said.size();
            break;
        }
        place = {place.record + 1, 0};
    }
    if (count == 0) return {};
    header.record_count.set(count);
    put(message_at_, header);
    return finish(all_v3_routers);
}

void Encoder::put_record(const Record& record, std::span<const std::uint32_t> sources) {
    RecordHeader header{};
    header.type = static_cast<unsigned char>(record.type);
    header.source_count.set(static_cast<std::uint16_t>(sources.size()));
    header.group.set(record.group);
    put(end_, header);
    end_ += sizeof header;
    for (const std::uint32_t source : sources) {
        be32 field{};
        field.set(source);
        put(end_, field);
        end_ += sizeof field;
    }
}

Bytes Encoder::finish(std::uint32_t destination) {
    put_ethernet(destination);
    Ipv4Header ip{};
    ip.version_and_words = 0x40 | ip_bytes / 4;
    ip.service = 0xC0;  // internetwork control: RFC 3376, 4
    ip.total_length.set(static_cast<std::uint16_t>(end_ - ip_at_));
    ip.flags_and_offset.set(Ipv4Header::dont_fragment);
    ip.time_to_live = 1;
    ip.protocol = ip_protocol::igmp;
    ip.source.set(sender_.address);
    ip.destination.set(destination);
    RouterAlert alert{};
    alert.type = 0x94;
    alert.bytes = sizeof alert;
    put(ip_at_, ip);
    put(ip_at_ + sizeof ip, alert);
    const Bytes frame(buffer_);
    ip.checksum.set(checksum_of(frame.subspan(ip_at_, ip_bytes)));
    put(ip_at_, ip);

    be16 checksum{};  // its place is the same in every message; it holds 0
    checksum.set(checksum_of(frame.subspan(message_at_, end_ - message_at_)));
    put(message_at_ + offsetof(Header, checksum), checksum);

    // A switch that takes the tag away leaves a frame that is long enough, too.
    const std::size_t least = ip_at_ - sizeof(EthernetHeader) + least_frame_bytes;
    while (end_ < least) buffer_[end_++] = std::byte{0};
    return frame.first(end_);
}

void Encoder::put_ethernet(std::uint32_t destination) noexcept {
    EthernetHeader ethernet{};
    ethernet.destination = multicast_mac(destination);
    ethernet.source = sender_.mac;
    ethernet.type.set(sender_.vlan == 0 ? ethertype::ipv4 : ethertype::vlan);
    put(0, ethernet);
    if (sender_.vlan == 0) return;
    VlanTag tag{};
    tag.control.set(sender_.vlan);
    tag.type.set(ethertype::ipv4);
    put(sizeof ethernet, tag);
}

}  // namespace wirebook::wire::igmp
