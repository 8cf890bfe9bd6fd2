// The capture formats, from files made by hand in exact-size buffers.
#include <catch2/catch.hpp>

#include "io_captures.hpp"
#include "wirebook/io/timestamp.hpp"

using namespace wirebook;
using namespace wirebook::test;

namespace {

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

FileBytes ng_file(bool big = false) {
    return ng_section(big).add(ng_interface(big));
}

// What every prefix of a capture must be: the records of the whole as far as they go, the last one
// perhaps cut, no error unless it cannot be opened, and the same through blocks as in place.
void check_prefixes(const std::vector<std::byte>& whole, std::size_t header_bytes) {
    const ReadResult all = read_memory(whole);
    REQUIRE(all.error.empty());
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
        const std::vector<std::byte> prefix(whole.begin(),
                                            whole.begin() + static_cast<std::ptrdiff_t>(bytes));
        const ReadResult read = read_memory(prefix);
        INFO("prefix of " << bytes << " bytes");
        CHECK(read.open_error.empty() == (bytes >= header_bytes));
        CHECK(read.error.empty());
        REQUIRE(read.records.size() <= all.records.size());
        for (std::size_t i = 0; i < read.records.size(); ++i) {
            const ReadRecord& got = read.records[i];
            const ReadRecord& want = all.records[i];
            if (got.cut) {
                CHECK(i + 1 == read.records.size());
                CHECK(want.data.starts_with(got.data));
                CHECK(read.notices.size() == 1);
            } else {
                CHECK(got == want);
            }
        }
        const ReadResult streamed = read_memory(prefix, true, 64);
        CHECK(streamed.records == read.records);
        CHECK(streamed.open_error == read.open_error);
        CHECK(streamed.notices == read.notices);
    }
}

}  // namespace

TEST_CASE("pcap: both byte orders and both resolutions give the same nanoseconds") {
    for (const bool big : {false, true}) {
        FileBytes ns = pcap_header(big, magic_ns);
        ns.add(pcap_record(1'700'000'000, 123'456'789, "abc", big));
        FileBytes us = pcap_header(big, magic_us);
        us.add(pcap_record(1'700'000'000, 123'456, "abc", big));
        const ReadResult a = read_memory(ns);
        const ReadResult b = read_memory(us);
        REQUIRE(a.records.size() == 1);
        REQUIRE(b.records.size() == 1);
        CHECK(a.records[0].time_ns == 1'700'000'000'123'456'789);
        CHECK(b.records[0].time_ns == 1'700'000'000'123'456'000);
        CHECK(a.records[0].data == "abc");
        CHECK(a.records[0].time_source == wire::TimeSource::capture);
    }
}

TEST_CASE("pcap: seconds are unsigned, up to 2106") {
    FileBytes file = pcap_header();
    file.add(pcap_record(0xFFFFFFFF, 999'999'999, "x"));
    CHECK(read_memory(file).records[0].time_ns == 4'294'967'295'999'999'999);
}

TEST_CASE("pcap: captured and original lengths are taken as they are") {
    FileBytes file = pcap_header();
    file.add(pcap_record(1, 0, "abcd", false, 100)).add(pcap_record(2, 0, "abcd", false, 2));
    file.add(pcap_record(3, 0, ""));
    const ReadResult read = read_memory(file);
    REQUIRE(read.records.size() == 3);
    CHECK(read.records[0].original_bytes == 100);
    CHECK(read.records[1].original_bytes == 2);
    CHECK(read.records[1].data == "abcd");
    CHECK(read.records[2].data.empty());
    CHECK(read.records[2].record == 2);
    CHECK(read.notices.empty());
}

TEST_CASE("pcap: link types become ours, others are refused when the file is opened") {
    const std::vector<std::pair<std::uint32_t, wire::LinkType>> known = {
        {0, wire::LinkType::null_loopback},  {1, wire::LinkType::ethernet},
        {12, wire::LinkType::raw_ip},        {14, wire::LinkType::raw_ip},
        {101, wire::LinkType::raw_ip},       {108, wire::LinkType::null_loopback},
        {113, wire::LinkType::linux_cooked}, {228, wire::LinkType::raw_ip},
        {229, wire::LinkType::raw_ip},       {276, wire::LinkType::linux_cooked2}};
    for (const auto& [number, link] : known) {
        FileBytes file = pcap_header(false, magic_ns, number | 0xF400'0000);  // FCS bits above
        file.add(pcap_record(1, 0, "x"));
        REQUIRE(read_memory(file).records.size() == 1);
        CHECK(read_memory(file).records[0].link == link);
    }
    const ReadResult erf = read_memory(pcap_header(false, magic_ns, 197));
    CHECK(contains(erf.open_error, "link type 197 at byte 20 is not supported"));
}

TEST_CASE("pcap: an impossible record length stops with the byte, after what was whole") {
    FileBytes file = pcap_header();
    file.add(pcap_record(1, 0, "whole")).u32(2).u32(0).u32(0x7FFFFFFF).u32(0x7FFFFFFF).text("rest");
    const ReadResult read = read_memory(file);
    CHECK(read.data() == "whole|");
    CHECK(contains(read.error, "impossible record length 2147483647"));
    CHECK(contains(read.error, "at byte 45"));
}

TEST_CASE("pcap: a record that the file cuts is given as far as it goes, stray bytes are not") {
    FileBytes file = pcap_header();
    file.add(pcap_record(1, 0, "whole")).u32(2).u32(0).u32(10).u32(10).text("part");
    const ReadResult cut = read_memory(file);
    CHECK(cut.data() == "whole|part|");
    CHECK(cut.records[1].cut);
    CHECK(cut.error.empty());
    REQUIRE(cut.notices.size() == 1);
    CHECK(contains(cut.notices[0], "at byte 45"));

    FileBytes stray = pcap_header();
    stray.add(pcap_record(1, 0, "whole")).u32(2).u32(0);
    const ReadResult read = read_memory(stray);
    CHECK(read.data() == "whole|");
    CHECK(read.error.empty());
    REQUIRE(read.notices.size() == 1);
    CHECK(contains(read.notices[0], "left out"));
}

TEST_CASE("pcap: every prefix is read as far as it goes") {
    for (const bool big : {false, true}) {
        FileBytes file = pcap_header(big);
        file.add(pcap_record(1, 1, "first", big)).add(pcap_record(2, 2, "", big));
        file.add(pcap_record(3, 3, std::string(100, 'x'), big));
        check_prefixes(file.bytes(), 24);
    }
}

TEST_CASE("pcapng: every prefix is read as far as it goes") {
    for (const bool big : {false, true}) {
        FileBytes file = ng_file(big);
        file.add(ng_packet(0, 1, "first", big)).add(ng_block(0x0BAD, FileBytes(big).u32(7)));
        file.add(ng_section(!big)).add(ng_interface(!big, 113, std::uint8_t{9}));
        file.add(ng_packet(0, 3, std::string(70, 'x'), !big));
        check_prefixes(file.bytes(), 28);
    }
}

TEST_CASE("pcapng: stamps are exact for every resolution and offset") {
    struct Row {
        std::optional<std::uint8_t> resolution;
        std::optional<std::int64_t> offset_s;
        std::uint64_t units;
        std::int64_t time_ns;
    };
    const std::vector<Row> rows = {
        {{}, {}, 1'700'000'000'123'456, 1'700'000'000'123'456'000},
        {std::uint8_t{9}, {}, 1'700'000'000'123'456'789, 1'700'000'000'123'456'789},
        {std::uint8_t{3}, {}, 1'700'000'000'123, 1'700'000'000'123'000'000},
        {std::uint8_t{0}, {}, 1'700'000'000, 1'700'000'000'000'000'000},
        {std::uint8_t{12}, {}, 1'234'567'891'234'567'999, 1'234'567'891'234'567},
        {std::uint8_t{9}, 1'600'000'000, 5, 1'600'000'000'000'000'005},
        {std::uint8_t{9}, -1, 5, -999'999'995},
        // 2^-30: 1.5 s and one unit, which is 0.93 ns and rounds down
        {std::uint8_t{0x80 | 30}, {}, (3ULL << 29) + 1, 1'500'000'000},
        {std::uint8_t{0x80 | 30}, {}, (3ULL << 29) + 2, 1'500'000'001},
        {std::uint8_t{0x80 | 32},
         {},
         1'700'000'000ULL << 32 | 0x8000'0000,
         1'700'000'000'500'000'000},
        {std::uint8_t{0x80 | 63}, {}, 1ULL << 63, 1'000'000'000},
        {std::uint8_t{30}, {}, ~0ULL, 0},
        {std::uint8_t{0}, {}, ~0ULL, std::numeric_limits<std::int64_t>::max()},
    };
    for (const Row& row : rows) {
        FileBytes file = ng_section();
        file.add(ng_interface(false, 1, row.resolution, row.offset_s));
        file.add(ng_packet(0, row.units, "x"));
        const ReadResult read = read_memory(file);
        REQUIRE(read.records.size() == 1);
        CHECK(read.records[0].time_ns == row.time_ns);
    }
    CHECK(io::TimestampScale(0xFF, 0).to_ns(~0ULL) == 0);  // 2^-127
    CHECK(io::TimestampScale(9, std::numeric_limits<std::int64_t>::min()).to_ns(0) ==
          std::numeric_limits<std::int64_t>::min());
}

TEST_CASE("pcapng: interfaces have their own link type and resolution, and end with the section") {
    FileBytes file = ng_section();
    file.add(ng_interface(false, 1, std::uint8_t{9})).add(ng_interface(false, 113));
    file.add(ng_packet(0, 7, "a")).add(ng_packet(1, 7, "b"));
    file.add(ng_section(true)).add(ng_interface(true, 276));
    file.add(ng_packet(0, 8, "c", true)).add(ng_packet(1, 8, "d", true));
    const ReadResult read = read_memory(file);
    CHECK(read.data() == "a|b|c|");
    CHECK(read.records[0].time_ns == 7);
    CHECK(read.records[1].time_ns == 7000);
    CHECK(read.records[1].link == wire::LinkType::linux_cooked);
    CHECK(read.records[2].link == wire::LinkType::linux_cooked2);
    CHECK(contains(read.error, "a packet of interface 1, which is not described at byte "));
}

TEST_CASE("pcapng: simple packets take the time before them and the interface's snap length") {
    FileBytes file = ng_section();
    file.add(ng_interface(false, 1, std::uint8_t{9}, {}, 3));
    file.add(ng_simple_packet(2, "ab")).add(ng_packet(0, 42, "timed"));
    file.add(ng_simple_packet(9, "abc"));
    const ReadResult read = read_memory(file);
    CHECK(read.data() == "ab|timed|abc|");
    CHECK(read.records[0].time_ns == 0);
    CHECK(read.records[0].time_source == wire::TimeSource::none);
    CHECK(read.records[2].time_ns == 42);
    CHECK(read.records[2].time_source == wire::TimeSource::none);
    CHECK(read.records[2].original_bytes == 9);
    const FileBytes alone = ng_section().add(ng_simple_packet(2, "ab"));
    CHECK(contains(read_memory(alone).error, "interface 0, which is not described at byte 28"));
}

TEST_CASE("pcapng: the obsolete packet block is read, unknown blocks are skipped") {
    FileBytes body;
    body.u16(0).u16(77).u32(0).u32(5).u32(3).u32(3).text("old");
    FileBytes file = ng_file();
    file.add(ng_block(0x0BAD, FileBytes().u32(1))).add(ng_block(5, FileBytes()));
    file.add(ng_block(2, body));
    const ReadResult read = read_memory(file);
    CHECK(read.data() == "old|");
    CHECK(read.records[0].time_ns == 5000);
    CHECK(read.error.empty());
}

TEST_CASE("pcapng: an unsupported link type is an error only when a packet of it comes") {
    FileBytes file = ng_file();
    file.add(ng_interface(false, 197)).add(ng_packet(0, 1, "good"));
    CHECK(read_memory(file).error.empty());
    file.add(ng_packet(1, 1, "erf"));
    const ReadResult read = read_memory(file);
    CHECK(read.data() == "good|");
    CHECK(contains(read.error, "link type 197"));
}

TEST_CASE("pcapng: broken blocks are errors with their byte, after what was whole") {
    const std::string at = "at byte " + std::to_string(ng_file().add(ng_packet(0, 1, "ok")).size());
    const auto read_after = [&](const FileBytes& broken) {
        FileBytes file = ng_file();
        file.add(ng_packet(0, 1, "ok")).add(broken);
        const ReadResult read = read_memory(file);
        CHECK(read.data() == "ok|");
        CHECK(contains(read.error, at));
        return read.error;
    };
    CHECK(contains(read_after(FileBytes().u32(6).u32(8).u32(8)), "impossible block length 8"));
    CHECK(contains(read_after(FileBytes().u32(6).u32(33).u32(8)), "impossible block length 33"));
    CHECK(contains(read_after(FileBytes().u32(9).u32(0xFFFFFFF0)), "impossible block length"));
    CHECK(contains(read_after(FileBytes().u32(9).u32(12).u32(16)), "trailing length 16"));
    CHECK(contains(read_after(ng_block(6, FileBytes().u32(0))), "too short for its type"));
    CHECK(contains(read_after(ng_block(1, FileBytes().u32(1))), "too short for its type"));
    FileBytes long_capture;
    long_capture.u32(0).u32(0).u32(0).u32(9).u32(9).text("12345678");
    CHECK(contains(read_after(ng_block(6, long_capture)), "impossible captured length 9"));
    FileBytes option;
    option.u16(1).u16(0).u32(0).u16(9).u16(2).u32(0);
    CHECK(contains(read_after(ng_block(1, option)), "interface option 9"));
    FileBytes overrun;
    overrun.u16(1).u16(0).u32(0).u16(2).u16(200).u32(0);
    CHECK(contains(read_after(ng_block(1, overrun)), "interface option 2"));
    FileBytes section;
    section.u32(0x1A2B3C4D).u16(2).u16(0).u64(0);
    CHECK(contains(read_after(ng_block(0x0A0D0D0A, section)), "version 2"));
    FileBytes no_order;
    no_order.u32(0x12345678).u16(1).u16(0).u64(0);
    CHECK(contains(read_after(ng_block(0x0A0D0D0A, no_order)), "byte order"));
}

TEST_CASE("BinaryFILE: messages are records without time, numbered, to the zero length") {
    FileBytes file(true);
    file.add(binaryfile_message("A123")).add(binaryfile_message("zz"));
    file.u16(0).text("not read");
    const ReadResult read = read_memory(file);
    CHECK(read.data() == "A123|zz|");
    CHECK(read.records[1].record == 1);
    CHECK(read.records[1].time_ns == 0);
    CHECK(read.records[1].link == wire::LinkType::binaryfile);
    CHECK(read.records[1].time_source == wire::TimeSource::none);
    CHECK(read.error.empty());
}

TEST_CASE("BinaryFILE: a cut last message is left out and said") {
    FileBytes file(true);
    file.add(binaryfile_message("A123")).u16(5).text("B12");
    const ReadResult read = read_memory(file);
    CHECK(read.data() == "A123|");
    CHECK(read.error.empty());
    REQUIRE(read.notices.size() == 1);
    CHECK(contains(read.notices[0], "left out"));
    const ReadResult length_cut = read_memory(binaryfile_message("A123").u8(0));
    CHECK(length_cut.data() == "A123|");
    CHECK(length_cut.notices.size() == 1);
}

TEST_CASE("BinaryFILE: it is told by a zero length or a length that fits the type") {
    CHECK(read_memory(FileBytes(true).u16(0)).open_error.empty());
    CHECK(read_memory(binaryfile_message("A1234")).data() == "A1234|");
    CHECK(read_memory(FileBytes(true).u16(9).text("A")).open_error.empty());
    CHECK(contains(read_memory(binaryfile_message("A12")).open_error, "no capture"));
    CHECK(contains(read_memory(binaryfile_message("Z12345")).open_error, "no capture"));
    CHECK(contains(read_memory(FileBytes(true).u16(9)).open_error, "no capture"));
    CHECK(contains(read_memory(FileBytes().u8(0)).open_error, "starts with 00"));
}

TEST_CASE("capture: an empty file and a cut file header cannot be opened") {
    CHECK(contains(read_memory(FileBytes()).open_error, "empty"));
    const std::vector<std::byte> whole = pcap_header().bytes();
    const std::vector<std::byte> cut(whole.begin(), whole.begin() + 20);
    CHECK(contains(read_memory(cut).open_error, "20 of 24 bytes"));
    CHECK(contains(read_memory(pcap_header(false, 0xDEADBEEF)).open_error, "ef be ad de"));
}
