// A collection of odd and broken captures, with the number of records that a correct reader yields.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include "io_captures.hpp"

using namespace wirebook;
using namespace wirebook::test;

namespace {

std::filesystem::path robustness_folder() {
    if (const char* named = std::getenv("WIREBOOK_CAPTURES")) {
        return std::filesystem::path(named) / "robustness";
    }
    const char* root = std::getenv("WIREBOOK_ROOT");
    return std::filesystem::path(root != nullptr ? root : ".") / "../shared/captures/robustness";
}

// What exit status 2 is for: the file cannot be opened, or breaks while it is read.
const std::set<std::string> refused_at_open = {
    "trunc_filehdr.pcap", "empty_file.pcap", "bad_magic.pcap", "erf_file.erf", "linktype_erf.pcap"};
// File -> records that are whole before the error; their manifest rows allow it.
const std::map<std::string, std::size_t> broken = {
    {"huge_caplen.pcap", 7}, {"ng_badlen_trailer.pcapng", 6}, {"ng_no_idb.pcapng", 0}};
const std::set<std::string> cut = {"trunc_last_body.pcap", "trunc_last_hdr.pcap",
                                   "ng_trunc.pcapng"};

}  // namespace

TEST_CASE("source: odd and broken captures give the records that their list says") {
    const std::filesystem::path folder = robustness_folder();
    std::ifstream manifest(folder / "MANIFEST.tsv");
    if (!manifest) {
        std::cerr << "skipped: no " << (folder / "MANIFEST.tsv").string()
                  << " (set WIREBOOK_CAPTURES)\n";
        return;
    }
    std::string line;
    std::getline(manifest, line);
    std::size_t files = 0;
    while (std::getline(manifest, line)) {
        std::istringstream row(line);
        std::string file;
        std::size_t records = 0;
        row >> file >> records;
        ++files;
        io::CaptureOptions options;
        options.files = {(folder / file).string()};
        const ReadResult read = drain(io::CaptureSource::open(options));
        INFO(file << ": " << read.open_error << read.error);
        CHECK(read.open_error.empty() == !refused_at_open.contains(file));
        if (refused_at_open.contains(file)) continue;
        CHECK(read.notices.size() == cut.count(file));
        if (file == "gz_trunc.pcap.gz") {
            CHECK(read.records.size() < records);
            CHECK_FALSE(read.error.empty());
        } else if (const auto found = broken.find(file); found != broken.end()) {
            CHECK(read.records.size() == found->second);
            CHECK(read.error.find("at byte ") != std::string::npos);
        } else {
            CHECK(read.records.size() == records);
            CHECK(read.error.empty());
        }
    }
    CHECK(files == 63);
}

TEST_CASE("source: the same packets in every container have the same bytes and exact stamps") {
    const std::filesystem::path folder = robustness_folder();
    if (!std::filesystem::exists(folder)) {
        std::cerr << "skipped: no " << folder.string() << " (set WIREBOOK_CAPTURES)\n";
        return;
    }
    const auto read = [&](const std::string& file) {
        io::CaptureOptions options;
        options.files = {(folder / file).string()};
        return drain(io::CaptureSource::open(options)).records;
    };
    const std::vector<ReadRecord> reference = read("le_nano.pcap");
    for (const char* file :
         {"be_nano.pcap", "ng_le_ns.pcapng", "ng_be_ns.pcapng", "ng_unknown_blocks.pcapng",
          "ng_tsoffset.pcapng", "le_nano.pcap.gz", "gz_two_members.pcap.gz", "le_nano.pcap.zst",
          "long_window.pcap.zst", "ng_le_ns.pcapng.zst"}) {
        INFO(file);
        CHECK(read(file) == reference);
    }
    for (const char* file : {"le_micro.pcap", "be_micro.pcap", "ng_le_us.pcapng"}) {
        INFO(file);
        const std::vector<ReadRecord> records = read(file);
        REQUIRE(records.size() == reference.size());
        for (std::size_t i = 0; i < records.size(); ++i) {
            CHECK(records[i].time_ns == reference[i].time_ns / 1000 * 1000);
        }
    }
}
