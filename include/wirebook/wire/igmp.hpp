// IGMP: how a host tells the routers and switches of its network which IPv4 groups it wants.
// Versions 1 (RFC 1112), 2 (RFC 2236) and 3 (RFC 3376), as whole Ethernet frames.
//
// The Encoder makes what a host sends: reports and leaves, with time to live 1, the Router Alert
// option (RFC 2113) and right checksums. parse() reads what a host may hear: queries of routers,
// and reports of other hosts. Every byte is bounds-checked before it is read, and both checksums
// have to be right.
// Depends on core and wire. An Encoder is used by one thread; parse() by any.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "wirebook/wire/field.hpp"
#include "wirebook/wire/internet.hpp"
#include "wirebook/wire/view.hpp"

namespace wirebook::wire::igmp {

inline constexpr std::uint32_t all_systems = 0xE0000001;     // 224.0.0.1: where general queries go
inline constexpr std::uint32_t all_routers = 0xE0000002;     // 224.0.0.2: leaves
inline constexpr std::uint32_t all_v3_routers = 0xE0000016;  // 224.0.0.22: reports of version 3

namespace type {
inline constexpr unsigned char query = 0x11;
inline constexpr unsigned char report_v1 = 0x12;
inline constexpr unsigned char report_v2 = 0x16;
inline constexpr unsigned char leave = 0x17;
inline constexpr unsigned char report_v3 = 0x22;
}  // namespace type

struct Header {  // all of versions 1 and 2, and the start of a query of version 3
    unsigned char type;
    unsigned char max_response_code;  // 0 but in queries
    be16 checksum;
    be32 group;
};
static_assert(Message<Header>);
static_assert(sizeof(Header) == 8);

struct QueryTail {        // what version 3 has after the header; then source_count addresses
    unsigned char flags;  // 4 bits reserved, S, QRV 3 bits
    unsigned char interval_code;
    be16 source_count;
};
static_assert(Message<QueryTail>);
static_assert(sizeof(QueryTail) == 4);

struct ReportHeader {  // version 3; then record_count records
    unsigned char type;
    unsigned char reserved;
    be16 checksum;
    be16 reserved_too;
    be16 record_count;
};
static_assert(Message<ReportHeader>);
static_assert(sizeof(ReportHeader) == 8);

struct RecordHeader {  // then source_count addresses, then auxiliary_words words
    unsigned char type;
    unsigned char auxiliary_words;
    be16 source_count;
    be32 group;
};
static_assert(Message<RecordHeader>);
static_assert(sizeof(RecordHeader) == 8);

struct RouterAlert {  // RFC 2113, as the only option of the IPv4 header
    unsigned char type;
    unsigned char bytes;
    be16 value;
};
static_assert(Message<RouterAlert>);
static_assert(sizeof(RouterAlert) == 4);

// Bytes of the IPv4 header of every message that a host sends.
inline constexpr std::size_t ip_bytes = sizeof(Ipv4Header) + sizeof(RouterAlert);

// ---- what a host says

enum class RecordType : std::uint8_t {  // RFC 3376, 4.2.12
    mode_is_include = 1,
    mode_is_exclude = 2,
    change_to_include = 3,
    change_to_exclude = 4,
    allow_new_sources = 5,
    block_old_sources = 6,
};

struct Record {
    RecordType type = RecordType::mode_is_exclude;
    std::uint32_t group = 0;
    std::span<const std::uint32_t> sources;
};

// On whose behalf.
struct Sender {
    std::array<unsigned char, 6> mac{};
    std::uint32_t address = 0;  // 0.0.0.0 where the port has none (RFC 3376, 4.2.13)
    std::uint16_t vlan = 0;     // id of the IEEE 802.1Q tag; 0: no tag
    std::size_t mtu_bytes = 1'500;
};

class Encoder {
public:
    // CHECKs vlan < 4095 and an MTU from 68 (the least that IPv4 allows) to 65,535 bytes.
    explicit Encoder(const Sender& sender);

    // Each frame is good until the next call.
    [[nodiscard]] Bytes report_v1(std::uint32_t group) {
        return small(type::report_v1, group, group);
    }
    [[nodiscard]] Bytes report_v2(std::uint32_t group) {
        return small(type::report_v2, group, group);
    }
    [[nodiscard]] Bytes leave(std::uint32_t group) {
        return small(type::leave, group, all_routers);
    }

    // How far the records have been said.
    struct Place {
        std::size_t record = 0;
        std::size_t source = 0;
    };
    // The next report of version 3, as full as the MTU allows; empty when all records were said.
    // A record that does not fit one report goes on in the next, but for the two of exclude mode:
    // a router would take the second for another state, so their last sources are left out
    // (RFC 3376, 4.2.16).
    [[nodiscard]] Bytes next_report(std::span<const Record> records, Place& place);

private:
    [[nodiscard]] Bytes small(unsigned char type, std::uint32_t group, std::uint32_t destination);
    void put_record(const Record& record, std::span<const std::uint32_t> sources);
    // The frame around the message from message_at_ to end_.
    [[nodiscard]] Bytes finish(std::uint32_t destination);
    void put_ethernet(std::uint32_t destination) noexcept;
    template <Message M>
    void put(std::size_t at, const M& message) noexcept;

    Sender sender_;
    std::size_t ip_at_;
    std::size_t message_at_;
    std::size_t end_ = 0;
    std::vector<std::byte> buffer_;
};

// ---- what a host hears

enum class ParseStatus : std::uint8_t {
    ok,
    not_igmp,   // another protocol
    malformed,  // IGMP, but cut, a fragment, with a wrong checksum, or a length that no version has
};

enum class MessageKind : std::uint8_t { query, report_v1, report_v2, report_v3, leave, other };

// The addresses of a query of version 3, in the frame.
class SourceList {
public:
    SourceList() = default;
    explicit SourceList(Bytes bytes) noexcept : bytes_(bytes) {}
    [[nodiscard]] std::size_t size() const noexcept { return bytes_.size() / sizeof(be32); }
    [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }
    [[nodiscard]] Bytes bytes() const noexcept { return bytes_; }
    // `index` < size()
    [[nodiscard]] std::uint32_t operator[](std::size_t index) const noexcept {
        return view_as<be32>(bytes_.subspan(index * sizeof(be32)))->get();
    }

private:
    Bytes bytes_;
};

struct Heard {
    MessageKind kind = MessageKind::other;
    std::array<unsigned char, 6> mac{};  // the sender's
    std::uint32_t source = 0;            // 0.0.0.0 is allowed
    std::uint32_t destination = 0;
    std::uint16_t vlan = 0;  // the outermost tag's id; 0: no tag, or one with a priority only

    // Of queries, of reports of version 1 and 2, and of leaves. 0: a general query.
    std::uint32_t group = 0;

    // Of queries alone.
    std::uint8_t version = 0;            // 1, 2 or 3
    std::int64_t max_response_ns = 0;    // of version 1: 10 s
    bool suppress_routers = false;       // S: not for hosts
    std::uint8_t robustness = 0;         // QRV; 0: not said
    std::int64_t query_interval_ns = 0;  // QQIC; 0: not said
    SourceList sources;                  // empty but in a group-and-source query
};

// An Ethernet frame, with any number of VLAN tags. not_igmp and malformed: `heard` is unspecified.
// What comes after a message (later versions, padding) is not looked at.
[[nodiscard]] ParseStatus parse(Bytes frame, Heard& heard) noexcept;

// Max Resp Code and QQIC of version 3: below 128 a number, else a mantissa of 4 bits and an
// exponent of 3 (RFC 3376, 4.1.1). At most 31,744.
[[nodiscard]] constexpr std::uint32_t decode_time(unsigned char code) noexcept {
    if (code < 128) return code;
    return ((code & 0x0FU) | 0x10U) << (((code >> 4) & 0x07U) + 3);
}

}  // namespace wirebook::wire::igmp
