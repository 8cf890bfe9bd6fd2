// Writes a capture with a frame of each kind that our IGMP host can send, for igmp_tshark_test.py.
// usage: igmp_frames FILE
#include <cstdio>
#include <fstream>
#include <vector>

#include "wirebook/wire/igmp.hpp"

namespace {

using namespace wirebook::wire;

struct Capture {
    std::ofstream file;

    void number(std::uint32_t value) {
        le32 field{};
        field.set(value);
        file.write(static_cast<const char*>(static_cast<const void*>(&field)), sizeof field);
    }
    void start() {
        for (const std::uint32_t value : {0xA1B2C3D4U, 0x00040002U, 0U, 0U, 65'535U, 1U}) {
            number(value);
        }
    }
    void add(Bytes frame) {
        number(0);
        number(0);
        number(static_cast<std::uint32_t>(frame.size()));
        number(static_cast<std::uint32_t>(frame.size()));
        file.write(static_cast<const char*>(static_cast<const void*>(frame.data())),
                   static_cast<std::streamsize>(frame.size()));
    }
};

void add_all(Capture& capture, std::uint16_t vlan) {
    constexpr std::uint32_t group = 0xE9360C6F;
    igmp::Encoder encoder({.mac = {0x02, 0, 0, 0, 0, 1}, .address = 0x0A010203, .vlan = vlan});
    capture.add(encoder.report_v1(group));
    capture.add(encoder.report_v2(group));
    capture.add(encoder.leave(group));
    const std::vector<std::uint32_t> few{0x0A000001, 0x0A000002};
    std::vector<std::uint32_t> many;
    for (std::uint32_t i = 0; i < 800; ++i) many.push_back(0x0A000001 + i);
    using enum igmp::RecordType;
    const std::vector<igmp::Record> records{
        {mode_is_include, group, few},       {mode_is_exclude, group + 1, {}},
        {change_to_include, group + 2, {}},  {change_to_exclude, group + 3, few},
        {allow_new_sources, group + 4, few}, {block_old_sources, group + 5, many}};
    igmp::Encoder::Place place;
    for (Bytes frame; !(frame = encoder.next_report(records, place)).empty();) capture.add(frame);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: igmp_frames FILE\n");
        return 2;
    }
    Capture capture{std::ofstream(argv[1], std::ios::binary)};
    capture.start();
    add_all(capture, 0);
    add_all(capture, 100);
    return capture.file.flush() ? 0 : 1;
}
