// For the tests of the IGMP host: a host on a wire that keeps what it sends, and a clock that
// stands still until it is moved.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "igmp_messages.hpp"
#include "wirebook/io/igmp_host.hpp"

namespace wirebook::io::testing {

using wire::testing::ms;
using wire::testing::ReadFrame;
using wire::testing::ReadRecord;
using wire::testing::second;

// Numbers of RFC 3376, 4.2.12.
inline constexpr unsigned is_in = 1;
inline constexpr unsigned is_ex = 2;
inline constexpr unsigned to_in = 3;
inline constexpr unsigned to_ex = 4;
inline constexpr unsigned allow = 5;
inline constexpr unsigned block = 6;

inline constexpr unsigned type_v1 = 0x12;
inline constexpr unsigned type_v2 = 0x16;
inline constexpr unsigned type_leave = 0x17;
inline constexpr unsigned type_v3 = 0x22;

inline constexpr std::uint32_t group_a = 0xE9360C6F;
inline constexpr std::uint32_t group_b = 0xE9360C70;
inline constexpr std::uint32_t group_s = 0xE8010203;  // 232.1.2.3: source specific
inline constexpr std::uint32_t source_1 = 0x0A000011;
inline constexpr std::uint32_t source_2 = 0x0A000012;
inline constexpr std::uint32_t source_3 = 0x0A000013;

inline IgmpOptions host_options(IgmpVersion version = IgmpVersion::automatic) {
    IgmpOptions options;
    options.sender = {.mac = {0x02, 0, 0, 0, 0, 0x01}, .address = 0x0A010203};
    options.version = version;
    return options;
}

struct Sent {
    std::int64_t time_ns = 0;
    ReadFrame frame;
};

class HostRig {
public:
    explicit HostRig(const IgmpOptions& options = host_options(), std::uint64_t seed = 1)
        : host(options, seed) {}

    void join(std::uint32_t group, const std::vector<std::uint32_t>& sources = {}) {
        REQUIRE(host.join(group, sources).ok());
    }
    // Polls at each moment that the host asked for, up to `time_ns`.
    void run_until(std::int64_t time_ns) {
        while (host.next_due_ns() <= time_ns) {
            now = std::max(now, host.next_due_ns());
            host.poll(now, send());
        }
        now = time_ns;
    }
    void run_for(std::int64_t ns) { run_until(now + ns); }
    void hear(const wire::testing::Buffer& frame) { REQUIRE(host.on_frame(frame, now)); }
    void leave() { host.leave_all(now, send()); }

    // Everything sent since the last call.
    std::vector<Sent> take() {
        std::vector<Sent> out;
        out.swap(sent);
        return out;
    }
    // Says the joins with their repetitions, and forgets them.
    void settle() {
        run_for(10 * second);
        sent.clear();
    }

    IgmpHost host;
    std::int64_t now = 1'000 * second;
    bool link = true;
    std::vector<Sent> sent;

private:
    IgmpHost::Send send() {
        return [this](wire::Bytes bytes) {
            if (!link) return false;
            sent.push_back({now, wire::testing::read_host_frame(bytes)});
            CHECK(sent.back().frame.fault == "");
            CHECK(sent.back().frame.source == 0x0A010203);
            return true;
        };
    }
};

// The records of all frames.
inline std::vector<ReadRecord> records_of(const std::vector<Sent>& sent) {
    std::vector<ReadRecord> out;
    for (const Sent& one : sent) {
        out.insert(out.end(), one.frame.records.begin(), one.frame.records.end());
    }
    return out;
}

}  // namespace wirebook::io::testing
