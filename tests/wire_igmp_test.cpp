// wire: IGMP messages, byte for byte as the RFCs have them, and hostile ones.
#include "wirebook/wire/igmp.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <random>

#include "igmp_messages.hpp"
#include "wire_exercise.hpp"

namespace wirebook::wire {

using namespace testing;
using igmp::decode_time;
using igmp::Encoder;
using igmp::Heard;
using igmp::MessageKind;
using igmp::ParseStatus;
using igmp::Record;
using igmp::RecordType;
using igmp::Sender;

namespace {

constexpr std::uint32_t group = 0xE9360C6F;  // 233.54.12.111
const Sender sender{.mac = {0x02, 0, 0, 0, 0, 0x01}, .address = 0x0A010203};

Buffer copy(Bytes bytes) {
    return {bytes.begin(), bytes.end()};
}

std::vector<ReadFrame> all_reports(Encoder& encoder, const std::vector<Record>& records) {
    std::vector<ReadFrame> out;
    Encoder::Place place;
    for (Bytes frame; !(frame = encoder.next_report(records, place)).empty();) {
        out.push_back(read_host_frame(frame));
        REQUIRE(out.back().fault == "");
        REQUIRE(out.back().destination == igmp::all_v3_routers);
        REQUIRE(out.size() < 10'000);
    }
    return out;
}

std::vector<std::uint32_t> numbered(std::size_t count) {
    std::vector<std::uint32_t> sources;
    for (std::size_t i = 0; i < count; ++i) {
        sources.push_back(0x0A000000 + static_cast<std::uint32_t>(i));
    }
    return sources;
}

// ok, and what was heard. The sources are in the frame.
Heard heard_in(const Buffer& frame) {
    Heard heard;
    REQUIRE(igmp::parse(frame, heard) == ParseStatus::ok);
    return heard;
}

ParseStatus status_of(const Buffer& frame) {
    Heard heard;
    return igmp::parse(frame, heard);
}

}  // namespace

TEST_CASE("igmp: reports and leaves of version 1 and 2 are those of the RFCs, byte for byte") {
    Encoder encoder(sender);
    const std::string to_group =
        "01 00 5e 36 0c 6f 02 00 00 00 00 01 08 00"  // Ethernet
        "46 c0 00 20 00 00 40 00 01 02 e2 6e 0a 01 02 03 e9 36 0c 6f"
        "94 04 00 00";  // Router Alert
    const std::string padding = "00 00 00 00 00 00 00 00 00 00 00 00 00 00";
    CHECK(copy(encoder.report_v1(group)) ==
          from_hex(to_group + "12 00 f8 59 e9 36 0c 6f" + padding));
    CHECK(copy(encoder.report_v2(group)) ==
          from_hex(to_group + "16 00 f4 59 e9 36 0c 6f" + padding));
    CHECK(copy(encoder.leave(group)) ==
          from_hex("01 00 5e 00 00 02 02 00 00 00 00 01 08 00"
                   "46 c0 00 20 00 00 40 00 01 02 f8 11 0a 01 02 03 e0 00 00 02 94 04 00 00"
                   "17 00 f3 59 e9 36 0c 6f" +
                   padding));
}

TEST_CASE("igmp: a report of version 3 with a VLAN tag is that of RFC 3376, byte for byte") {
    Sender with_tag = sender;
    with_tag.vlan = 100;
    Encoder encoder(with_tag);
    const std::vector<std::uint32_t> sources{0x0A000001, 0x0A000002};
    const std::vector<Record> records{{RecordType::change_to_exclude, group, {}},
                                      {RecordType::allow_new_sources, 0xE8010203, sources}};
    Encoder::Place place;
    CHECK(copy(encoder.next_report(records, place)) ==
          from_hex("01 00 5e 00 00 16 02 00 00 00 00 01 81 00 00 64 08 00"
                   "46 c0 00 38 00 00 40 00 01 02 f7 e5 0a 01 02 03 e0 00 00 16 94 04 00 00"
                   "22 00 e1 4d 00 00 00 02"
                   "04 00 00 00 e9 36 0c 6f"
                   "05 00 00 02 e8 01 02 03 0a 00 00 01 0a 00 00 02"));
    CHECK(encoder.next_report(records, place).empty());
    CHECK(encoder.report_v2(group).size() == 64);  // 60 when the tag is gone
}

TEST_CASE("igmp: many records go into as few reports as the MTU allows, in order") {
    for (const std::size_t mtu : {68UL, 576UL, 1'500UL, 9'000UL}) {
        Sender narrow = sender;
        narrow.mtu_bytes = mtu;
        Encoder encoder(narrow);
        std::vector<Record> records;
        for (std::uint32_t i = 0; i < 1'000; ++i) {
            records.push_back({RecordType::mode_is_exclude, group + i, {}});
        }
        const auto frames = all_reports(encoder, records);
        const std::size_t a_report = (mtu - 32) / 8;
        CHECK(frames.size() == (1'000 + a_report - 1) / a_report);
        std::uint32_t next = group;
        for (const ReadFrame& frame : frames) {
            CHECK(frame.ip_bytes <= mtu);
            for (const ReadRecord& record : frame.records) CHECK(record.group == next++);
        }
        CHECK(next == group + 1'000);
    }
}

TEST_CASE("igmp: a record too long for a report goes on in the next; in exclude mode it is cut") {
    Encoder encoder(sender);
    const auto sources = numbered(1'000);
    for (const RecordType type : {RecordType::mode_is_include, RecordType::mode_is_exclude,
                                  RecordType::change_to_include, RecordType::change_to_exclude,
                                  RecordType::allow_new_sources, RecordType::block_old_sources}) {
        const bool cut =
            type == RecordType::mode_is_exclude || type == RecordType::change_to_exclude;
        const std::vector<Record> records{{RecordType::mode_is_include, 0xE0000105, {}},
                                          {type, group, sources},
                                          {RecordType::mode_is_include, 0xE0000106, {}}};
        std::vector<std::uint32_t> said;
        bool last = false;
        for (const ReadFrame& frame : all_reports(encoder, records)) {
            CHECK(frame.ip_bytes <= 1'500);
            for (const ReadRecord& record : frame.records) {
                last = record.group == 0xE0000106;
                if (record.group != group) continue;
                CHECK(record.type == static_cast<unsigned>(type));
                said.insert(said.end(), record.sources.begin(), record.sources.end());
            }
        }
        CHECK(last);
        const std::size_t expected = cut ? (1'500 - 32 - 8) / 4 : sources.size();
        CHECK(said == numbered(expected));
    }
}

TEST_CASE("igmp: every number of sources at the edge of the MTU is said once") {
    Sender narrow = sender;
    narrow.mtu_bytes = 80;  // 10 sources fit
    Encoder encoder(narrow);
    for (std::size_t count = 0; count < 25; ++count) {
        for (std::size_t other_count = 0; other_count < 25; ++other_count) {
            const auto some = numbered(count);
            const auto others = numbered(other_count);
            const std::vector<Record> records{{RecordType::allow_new_sources, group, some},
                                              {RecordType::allow_new_sources, group + 1, others}};
            std::vector<std::uint32_t> said[2];
            for (const ReadFrame& frame : all_reports(encoder, records)) {
                CHECK(frame.ip_bytes <= 80);
                for (const ReadRecord& record : frame.records) {
                    auto& of_group = said[record.group - group];
                    of_group.insert(of_group.end(), record.sources.begin(), record.sources.end());
                }
            }
            REQUIRE(said[0] == some);
            REQUIRE(said[1] == others);
        }
    }
}

TEST_CASE("igmp: what an encoder makes is heard as what it is") {
    Encoder encoder(sender);
    Heard heard = heard_in(copy(encoder.report_v2(group)));
    CHECK(heard.kind == MessageKind::report_v2);
    CHECK(heard.group == group);
    CHECK(heard.mac == sender.mac);
    CHECK(heard.source == sender.address);
    CHECK(heard_in(copy(encoder.report_v1(group))).kind == MessageKind::report_v1);
    heard = heard_in(copy(encoder.leave(group)));
    CHECK(heard.kind == MessageKind::leave);
    CHECK(heard.destination == igmp::all_routers);
    const std::vector<Record> records{{RecordType::mode_is_exclude, group, {}}};
    Encoder::Place place;
    CHECK(heard_in(copy(encoder.next_report(records, place))).kind == MessageKind::report_v3);
}

TEST_CASE("igmp: the version of a query is told by its length and its code") {
    Heard heard = heard_in(query_v1());
    CHECK(heard.kind == MessageKind::query);
    CHECK(heard.version == 1);
    CHECK(heard.group == 0);
    CHECK(heard.max_response_ns == 10 * second);

    heard = heard_in(query_v2(250, group));
    CHECK(heard.version == 2);
    CHECK(heard.group == group);
    CHECK(heard.max_response_ns == 25 * second);  // no exponent in version 2
    CHECK(heard.sources.empty());

    const Buffer frame = query_v3(0x8A, group, {0x0A000001, 0x0A000002}, 0x0A, 0x8F);
    heard = heard_in(frame);
    CHECK(heard.version == 3);
    CHECK(heard.max_response_ns == 20'800 * ms);  // (16 + 10) << 3 tenths
    CHECK(heard.suppress_routers);
    CHECK(heard.robustness == 2);
    CHECK(heard.query_interval_ns == 248 * second);
    REQUIRE(heard.sources.size() == 2);
    CHECK(heard.sources[0] == 0x0A000001);
    CHECK(heard.sources[1] == 0x0A000002);
    CHECK(heard.source == router);

    CHECK_FALSE(heard_in(query_v3(1, 0, {}, 0xF7)).suppress_routers);  // reserved bits say nothing
    CHECK(heard_in(query_v3(1, 0, {}, 0xF7)).robustness == 7);
}

TEST_CASE("igmp: a query's bytes are read where RFC 3376 has them") {
    const Buffer frame = from_hex(
        "01 00 5e 36 0c 6f 02 00 00 00 00 99 08 00"
        "46 c0 00 2c 00 00 00 00 01 02 24 66 0a 00 00 01 e9 36 0c 6f 94 04 00 00"
        "11 8a da 3b e9 36 0c 6f 0a 8f 00 02 0a 00 00 01 0a 00 00 02");
    CHECK(query_v3(0x8A, group, {0x0A000001, 0x0A000002}, 0x0A, 0x8F) == frame);
    CHECK(heard_in(frame).sources.size() == 2);
}

TEST_CASE("igmp: codes of time from 128 on are floating point") {
    CHECK(decode_time(0) == 0);
    CHECK(decode_time(127) == 127);
    CHECK(decode_time(128) == 128);
    CHECK(decode_time(129) == 136);
    CHECK(decode_time(0x8F) == 248);
    CHECK(decode_time(0x90) == 256);
    CHECK(decode_time(255) == 31'744);
    for (unsigned code = 1; code < 256; ++code) {
        CHECK(decode_time(static_cast<unsigned char>(code)) >
              decode_time(static_cast<unsigned char>(code - 1)));
    }
}

TEST_CASE("igmp: tags are skipped, and the outermost id is told") {
    CHECK(heard_in(query_v2(100)).vlan == 0);
    CHECK(heard_in(tagged(query_v2(100), 0x2064)).vlan == 100);
    CHECK(heard_in(tagged(tagged(query_v2(100), 7), 100)).vlan == 100);
    CHECK(heard_in(tagged(query_v2(100), 0xE000)).vlan == 0);  // a priority alone
}

TEST_CASE("igmp: other protocols are none of it") {
    const Buffer payload = to_buffer("0123456789abcdef");
    CHECK(status_of({}) == ParseStatus::not_igmp);
    CHECK(status_of(ethernet(0x0806, payload)) == ParseStatus::not_igmp);
    CHECK(status_of(ethernet(ethertype::ipv4, ipv4(udp(payload)))) == ParseStatus::not_igmp);
    CHECK(status_of(ethernet(ethertype::ipv6, ipv6(payload, 2))) == ParseStatus::not_igmp);
}

TEST_CASE("igmp: a header that is none of IPv4 is refused, however well it adds up") {
    Buffer version_5 = query_v2(100);
    version_5[14] = std::byte{0x56};
    set_checksum(std::span(version_5).subspan(14, 24), 10);
    CHECK(status_of(version_5) == ParseStatus::not_igmp);

    Buffer four_words = query_v2(100);  // the message would start within the header
    four_words.erase(four_words.begin() + 14 + 16, four_words.begin() + 14 + 24);
    four_words[14] = std::byte{0x44};
    four_words[14 + 3] = std::byte{24};
    set_checksum(std::span(four_words).subspan(14, 16), 10);
    CHECK(status_of(four_words) == ParseStatus::malformed);
}

TEST_CASE("igmp: each prefix of a valid query is refused, and none is read beyond its end") {
    const std::vector<Buffer> frames{query_v1(), query_v2(100), query_v3(100, group, numbered(9)),
                                     tagged(query_v3(100), 100), report_of_other(0x16, group)};
    for (const Buffer& frame : frames) {
        GuardedBuffer guarded{frame};
        Heard heard;
        CHECK(igmp::parse(guarded.prefix(frame.size()), heard) == ParseStatus::ok);
        for (std::size_t bytes = frame.size(); bytes-- > 0;) {
            REQUIRE(igmp::parse(guarded.prefix(bytes), heard) != ParseStatus::ok);
        }
    }
}

TEST_CASE("igmp: each flipped bit of a packet is found") {
    const Buffer frame = query_v3(100, group, numbered(3));
    for (std::size_t bit = 14 * 8; bit < frame.size() * 8; ++bit) {
        Buffer mutant = frame;
        mutant[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
        INFO("bit " << bit);
        REQUIRE(status_of(mutant) != ParseStatus::ok);
    }
}

TEST_CASE("igmp: lengths that no version has are malformed; what comes after a message is not") {
    const Buffer whole = query_v3(100, group, numbered(3));
    const Buffer message(whole.begin() + 38, whole.end());
    for (std::size_t bytes = 0; bytes <= message.size() + 8; ++bytes) {
        Buffer part = message;
        part.resize(bytes);
        const ParseStatus status = status_of(igmp_frame(part, group));
        INFO(bytes << " bytes");
        // 8 bytes are a query of version 2; the sources end at 24.
        CHECK((status == ParseStatus::ok) == (bytes == 8 || bytes >= message.size()));
    }
    Buffer padded = query_v2(100);
    padded.resize(60);
    CHECK(heard_in(padded).version == 2);
}

TEST_CASE("igmp: a fragment is malformed, and an unknown type is another message") {
    Buffer frame = query_v2(100);
    frame[14 + 6] = std::byte{0x20};
    set_checksum(std::span(frame).subspan(14, 24), 10);
    CHECK(status_of(frame) == ParseStatus::malformed);
    CHECK(heard_in(igmp_frame(old_message(0x13, 0, group), group)).kind == MessageKind::other);
}

TEST_CASE("igmp: frames with any bytes changed are read within their bounds") {
    const char* text = std::getenv("WIREBOOK_SEED");  // NOLINT(concurrency-mt-unsafe)
    const std::uint64_t seed = text == nullptr ? 3376 : std::strtoull(text, nullptr, 10);
    INFO("WIREBOOK_SEED=" << seed);
    std::mt19937_64 random{seed};
    const std::vector<Buffer> frames{query_v1(), query_v2(100), query_v3(100, group, numbered(9)),
                                     tagged(query_v3(100), 100), report_of_other(0x16, group)};
    for (int round = 0; round < 20'000; ++round) {
        Buffer mutant = frames[random() % frames.size()];
        for (std::size_t left = 1 + random() % 4; left != 0; --left) {
            mutant[random() % mutant.size()] = static_cast<std::byte>(random());
        }
        if (random() % 4 == 0) mutant.resize(random() % mutant.size());
        mutant.shrink_to_fit();
        exercise_igmp(mutant);
    }
}

}  // namespace wirebook::wire
