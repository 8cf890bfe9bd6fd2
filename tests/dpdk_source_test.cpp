// DpdkSource on DPDK's virtual devices: net_pcap, net_null, net_ring, net_af_packet.
// EAL starts once in a process, so each case that opens a source does so in a child of its own and
// reports what it found as text: "" is success. Everything runs without hugepages and without
// privileges, except the cases that say so, which print why they are skipped.
#include <fcntl.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>

#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "dpdk_rig.hpp"
#include "wirebook/io/dpdk_source.hpp"

namespace {

using wirebook::io::DpdkOptions;
using wirebook::io::DpdkSource;
using wirebook::io::testing::check_in_child;
using wirebook::io::testing::in_child;
using wirebook::io::testing::scratch_folder;
using wirebook::io::testing::small_options;
using wirebook::wire::Packet;
using wirebook::wire::TimeSource;

struct Frame {
    std::int64_t time_us = 0;
    std::vector<std::uint8_t> bytes;
};

// Frames that differ in every byte from their neighbours.
std::vector<Frame> make_frames(std::size_t count, std::size_t bytes) {
    std::vector<Frame> frames(count);
    for (std::size_t i = 0; i < count; ++i) {
        frames[i].time_us = 1'700'000'000'000'000 + static_cast<std::int64_t>(i * 7);
        for (std::size_t at = 0; at < bytes; ++at) {
            frames[i].bytes.push_back(static_cast<std::uint8_t>(i * 31 + (i >> 8) + at * 13));
        }
    }
    return frames;
}

// Classic pcap, microseconds, this machine's byte order, Ethernet.
std::string write_pcap(const std::string& name, const std::vector<Frame>& frames) {
    const std::filesystem::path path = scratch_folder() / name;
    std::ofstream out(path, std::ios::binary);
    const auto put = [&](std::uint32_t value) {
        std::array<char, 4> raw{};
        std::memcpy(raw.data(), &value, 4);
        out.write(raw.data(), 4);
    };
    for (const std::uint32_t word : {0xa1b2c3d4u, 0x00040002u, 0u, 0u, 65535u, 1u}) put(word);
    for (const Frame& frame : frames) {
        const auto bytes = static_cast<std::uint32_t>(frame.bytes.size());
        put(static_cast<std::uint32_t>(frame.time_us / 1'000'000));
        put(static_cast<std::uint32_t>(frame.time_us % 1'000'000));
        put(bytes);
        put(bytes);
        for (const std::uint8_t byte : frame.bytes) out.put(static_cast<char>(byte));
    }
    return path.string();
}

bool same_bytes(const Packet& packet, const Frame& frame) {
    return packet.bytes == frame.bytes.size() &&
           std::memcmp(packet.data, frame.bytes.data(), packet.bytes) == 0;
}

// Receives until `count` packets came or nothing came for 10,000 rounds.
std::vector<Packet> receive_some(DpdkSource& source, std::size_t count) {
    std::vector<Packet> all;
    std::array<Packet, 64> some{};
    while (all.size() < count && source.poller(0).empty_rounds() < 10'000) {
        const std::size_t room = std::min(some.size(), count - all.size());
        const std::size_t got = source.poller(0).receive(std::span(some).first(room));
        all.insert(all.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(got));
    }
    return all;
}

std::int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

std::string error_of(const DpdkOptions& options) {
    auto source = DpdkSource::open(options);
    if (source) return "it opened";
    return std::to_string(source.error().code) + " " + source.error().context;
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::size_t free_2m_pages() {
    std::size_t pages = 0;
    std::ifstream("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages") >> pages;
    return pages;
}

// Of this process.
std::size_t own_hugepage_kb() {
    std::ifstream status("/proc/self/status");
    std::size_t kilobytes = 0;
    for (std::string word; status >> word;) {
        if (word == "HugetlbPages:") status >> kilobytes;
    }
    return kilobytes;
}

bool skipped(bool when, const char* why) {
    if (when) WARN("skipped: " << why);
    return when;
}

}  // namespace

TEST_CASE("dpdk: every frame of a capture comes once, in order, with its time and number") {
    const auto frames = make_frames(500, 200);
    const std::string file = write_pcap("order.pcap", frames);
    check_in_child([&]() -> std::string {
        auto opened = DpdkSource::open(small_options({"net_pcap0,rx_pcap=" + file}));
        if (!opened) return opened.error().context;
        DpdkSource source = std::move(opened).value();
        const auto packets = receive_some(source, frames.size() + 1);
        EXPECT(packets.size() == frames.size());
        for (std::size_t i = 0; i < packets.size(); ++i) {
            const Packet& packet = packets[i];
            EXPECT(same_bytes(packet, frames[i]));
            EXPECT(packet.original_bytes == packet.bytes);
            EXPECT(packet.receive_time_ns == frames[i].time_us * 1000);
            EXPECT(packet.time_source == TimeSource::capture);
            EXPECT(packet.record == i);
            EXPECT(packet.input == 0);
            EXPECT(packet.receive_tsc >= packets[0].receive_tsc);
        }
        EXPECT(source.poller(0).last_receive_tsc() == packets.back().receive_tsc);
        EXPECT(source.port_stats(0).packets == frames.size());
        EXPECT(source.pool_in_use() >= frames.size());
        source.poller(0).release(packets);
        EXPECT(source.pool_in_use() == 0);
        EXPECT(!source.poller(0).finished());
        EXPECT(source.link_up(0));
        EXPECT(source.notices().empty());
        EXPECT(contains(source.description(), "net_pcap0: net_pcap, 1 queue of 128"));
        return "";
    });
}

TEST_CASE("dpdk: parked packets keep their bytes while thousands of others pass") {
    const auto frames = make_frames(20'000, 120);
    const std::string file = write_pcap("parked.pcap", frames);
    check_in_child([&]() -> std::string {
        auto opened = DpdkSource::open(small_options({"net_pcap0,rx_pcap=" + file}));
        if (!opened) return opened.error().context;
        DpdkSource source = std::move(opened).value();
        std::vector<Packet> parked;
        std::size_t passed = 0;
        while (passed + parked.size() < frames.size()) {
            const auto some = receive_some(source, 32);
            EXPECT(!some.empty());
            const bool park = parked.size() + some.size() <= 256 && some[0].record % 3 == 0;
            if (park) {
                parked.insert(parked.end(), some.begin(), some.end());
            } else {
                source.poller(0).release(some);
                passed += some.size();
            }
        }
        EXPECT(parked.size() > 200);
        for (const Packet& packet : parked) EXPECT(same_bytes(packet, frames[packet.record]));
        EXPECT(source.port_stats(0).no_mbuf == 0);
        source.poller(0).release(parked);
        EXPECT(source.pool_in_use() == 0);
        return "";
    });
}

TEST_CASE("dpdk: an exhausted pool loses packets, counts them, and recovers") {
    const auto frames = make_frames(6'000, 64);
    const std::string file = write_pcap("exhausted.pcap", frames);
    check_in_child([&]() -> std::string {
        auto opened = DpdkSource::open(small_options({"net_pcap0,rx_pcap=" + file}));
        if (!opened) return opened.error().context;
        DpdkSource source = std::move(opened).value();
        std::array<Packet, 32> some{};
        std::vector<Packet> held;
        while (source.port_stats(0).no_mbuf == 0) {
            const std::size_t got = source.poller(0).receive(some);
            held.insert(held.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(got));
            EXPECT(held.size() <= source.pool_packets());
        }
        EXPECT(held.size() == source.pool_packets());
        for (const Packet& packet : held) EXPECT(same_bytes(packet, frames[packet.record]));
        source.poller(0).release(held);
        const auto rest = receive_some(source, frames.size());
        EXPECT(held.size() + rest.size() + source.port_stats(0).no_mbuf == frames.size());
        source.poller(0).release(rest);
        return "";
    });
}

TEST_CASE("dpdk: a frame in several pieces comes in one; one that is too long comes cut") {
    auto frames = make_frames(4, 9'000);
    frames[1] = make_frames(1, 20'000)[0];
    frames[3] = make_frames(1, 60)[0];
    const std::string file = write_pcap("jumbo.pcap", frames);
    check_in_child([&]() -> std::string {
        auto opened = DpdkSource::open(small_options({"net_pcap0,rx_pcap=" + file}));
        if (!opened) return opened.error().context;
        DpdkSource source = std::move(opened).value();
        const auto packets = receive_some(source, 5);
        EXPECT(packets.size() == 4);
        for (const std::size_t whole : {0u, 2u, 3u}) {
            EXPECT(same_bytes(packets[whole], frames[whole]));
            EXPECT(packets[whole].receive_time_ns == frames[whole].time_us * 1000);
        }
        EXPECT(packets[1].original_bytes == 20'000);
        EXPECT(packets[1].bytes == 2'048);
        EXPECT(source.counters().linearised == 2);
        EXPECT(source.counters().cut == 1);
        source.poller(0).release(packets);
        EXPECT(source.pool_in_use() == 0);
        return "";
    });
}

TEST_CASE("dpdk: two ports are two inputs, two files of one port are two queues") {
    const auto frames = make_frames(100, 100);
    const std::string file = write_pcap("two.pcap", frames);
    check_in_child([&]() -> std::string {
        auto opened = DpdkSource::open(small_options(
            {"net_pcap0,rx_pcap=" + file + ",rx_pcap=" + file, "net_pcap1,rx_pcap=" + file}));
        if (!opened) return opened.error().context;
        DpdkSource source = std::move(opened).value();
        EXPECT(source.ports() == 2);
        const auto packets = receive_some(source, 301);
        std::array<std::size_t, 2> by_input{};
        for (const Packet& packet : packets) {
            EXPECT(packet.record == by_input.at(packet.input)++);
        }
        EXPECT(by_input[0] == 200);
        EXPECT(by_input[1] == 100);
        source.poller(0).release(packets);
        return "";
    });
}

TEST_CASE("dpdk: packets without a driver's stamp get the time of their arrival") {
    check_in_child([]() -> std::string {
        const std::int64_t before = now_ns();
        auto opened = DpdkSource::open(small_options({"net_null0,size=64"}));
        if (!opened) return opened.error().context;
        DpdkSource source = std::move(opened).value();
        std::array<Packet, 48> some{};
        EXPECT(source.poller(0).receive(std::span(some).first(0)) == 0);
        EXPECT(source.poller(0).receive(std::span(some).first(5)) == 5);
        source.poller(0).release(std::span(some).first(5));
        for (int round = 0; round < 1000; ++round) {
            EXPECT(source.poller(0).receive(some) == 32);
            EXPECT(some[0].time_source == TimeSource::software);
            EXPECT(some[0].bytes == 64);
            EXPECT(some[0].receive_tsc == some[31].receive_tsc);
            // Generous: the TSC clock and the wall clock may differ by a little.
            EXPECT(some[0].receive_time_ns > before - 100'000'000);
            EXPECT(some[0].receive_time_ns < now_ns() + 100'000'000);
            source.poller(0).release(std::span(some).first(32));
        }
        return "";
    });
}

TEST_CASE("dpdk: frames put into a net_ring come out of it, also as chained mbufs of others") {
    check_in_child([]() -> std::string {
        auto opened = DpdkSource::open(small_options({"net_ring0"}));
        if (!opened) return opened.error().context;
        DpdkSource source = std::move(opened).value();
        rte_mempool* pool = rte_pktmbuf_pool_create("injected", 255, 0, 0, 512, -1);
        EXPECT(pool != nullptr);
        rte_mbuf* head = rte_pktmbuf_alloc(pool);
        rte_mbuf* tail = rte_pktmbuf_alloc(pool);
        std::memset(rte_pktmbuf_append(head, 100), 'h', 100);
        std::memset(rte_pktmbuf_append(tail, 50), 't', 50);
        EXPECT(rte_pktmbuf_chain(head, tail) == 0);
        EXPECT(rte_eth_tx_burst(0, 0, &head, 1) == 1);
        std::array<Packet, 32> some{};
        EXPECT(source.poller(0).receive(some) == 1);
        EXPECT(some[0].bytes == 150);
        EXPECT(some[0].data[99] == std::byte{'h'});
        EXPECT(some[0].data[100] == std::byte{'t'});
        EXPECT(rte_mempool_in_use_count(pool) == 0);
        source.poller(0).release(std::span(some).first(1));
        EXPECT(source.poller(0).receive(some) == 0);
        EXPECT(source.poller(0).empty_rounds() == 1);
        return "";
    });
}

TEST_CASE("dpdk: wrong options are refused before DPDK is started, so another open may follow") {
    check_in_child([]() -> std::string {
        EXPECT(contains(error_of(small_options({})), "no port"));
        EXPECT(contains(error_of(small_options({"net null"})), "neither a PCI address"));
        EXPECT(contains(error_of(small_options({"net_null0", "net_null0,copy=1"})),
                        "two ports with the device net_null0"));
        DpdkOptions burst = small_options({"net_null0"});
        burst.burst = 0;
        EXPECT(contains(error_of(burst), "burst is not 1 to 512"));
        auto source = DpdkSource::open(small_options({"net_null0"}));
        EXPECT(source.ok());
        return "";
    });
}

TEST_CASE("dpdk: a second source in one process is refused in words, also after close") {
    check_in_child([]() -> std::string {
        auto first = DpdkSource::open(small_options({"net_null0"}));
        EXPECT(first.ok());
        EXPECT(error_of(small_options({"net_null1"})).starts_with(std::to_string(EALREADY)));
        first.value().close();
        first.value().close();
        std::array<Packet, 4> some{};
        EXPECT(first.value().poller(0).receive(some) == 0);
        EXPECT(contains(error_of(small_options({"net_null1"})), "only once in a process"));
        return "";
    });
}

TEST_CASE("dpdk: a device that does not exist or does not start is named, with DPDK's reason") {
    const auto error_in_child = [](const std::string& device) {
        return in_child([&] { return error_of(small_options({device})); });
    };
    const std::string unknown = error_in_child("net_nosuch0");
    CHECK(unknown.starts_with(std::to_string(EINVAL) + " "));
    CHECK(contains(unknown, "net_nosuch0: no driver"));
    const std::string file = error_in_child("net_pcap0,rx_pcap=/nonexistent.pcap");
    CHECK(contains(file, "net_pcap0: cannot read /nonexistent.pcap: No such file"));
    const std::string interface = error_in_child("net_af_packet0,iface=nonexistent");
    CHECK(interface.starts_with(std::to_string(ENODEV) + " "));
    CHECK(contains(interface, "net_af_packet0: the device does not start"));
    const std::string pci = error_in_child("ffff:3b:00.0");
    CHECK(contains(pci, "there is no PCI device ffff:3b:00.0"));
}

TEST_CASE("dpdk: a pool that is too small is refused with the least size") {
    DpdkOptions options = small_options({"net_null0"});
    options.pool_packets = 100;
    const std::string text = in_child([&] { return error_of(options); });
    CHECK(text.starts_with(std::to_string(EINVAL) + " "));
    // 128 descriptors + 2 * 32 of bursts + 2 * 32 of the cache + 256 parked + 256
    CHECK(contains(text, "at least 768"));
}

TEST_CASE("dpdk: memory that is too little is refused with the least size") {
    DpdkOptions options = small_options({"net_null0"});
    options.memory_mb = 32;
    options.parked_packets = 100'000;
    const std::string text = in_child([&] { return error_of(options); });
    CHECK(contains(text, "give memory_mb = 2"));
    CHECK(contains(text, "MiB"));
}

TEST_CASE("dpdk: EAL arguments are appended; a wrong one is an error with DPDK's words") {
    DpdkOptions options = small_options({"net_null0"});
    options.eal_arguments = {"--no-such-option"};
    const std::string wrong = in_child([&] { return error_of(options); });
    CHECK(contains(wrong, "DPDK does not start with"));
    CHECK(contains(wrong, "--no-such-option"));
    options.eal_arguments = {"-l", "0", "--vdev", "net_null7"};
    check_in_child([&]() -> std::string {
        auto source = DpdkSource::open(options);
        if (!source) return source.error().context;
        EXPECT(rte_eth_dev_count_avail() == 2);
        EXPECT(source.value().ports() == 1);
        return "";
    });
}

TEST_CASE("dpdk: nothing goes to stdout and no file is left behind") {
    const std::filesystem::path captured = scratch_folder() / "stdout";
    const DpdkOptions options = small_options({"net_null0"});
    check_in_child([&]() -> std::string {
        const int file = ::open(captured.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
        EXPECT(dup2(file, STDOUT_FILENO) == STDOUT_FILENO);
        auto source = DpdkSource::open(options);
        EXPECT(source.ok());
        return "";
    });
    CHECK(std::filesystem::file_size(captured) == 0);
    for (const char* parent : {"/var/run/dpdk", "/tmp/dpdk"}) {
        CHECK(!std::filesystem::exists(std::filesystem::path(parent) / options.file_prefix));
    }
}

TEST_CASE("dpdk: hugepages hold the pool where they are reserved") {
    if (skipped(free_2m_pages() < 32, "fewer than 32 free hugepages")) return;
    const auto frames = make_frames(3'000, 200);
    const std::string file = write_pcap("huge.pcap", frames);
    DpdkOptions options = small_options({"net_pcap0,rx_pcap=" + file});
    options.hugepages = true;
    check_in_child([&]() -> std::string {
        auto source = DpdkSource::open(options);
        if (!source) return source.error().context;
        EXPECT(own_hugepage_kb() > 2'048);
        std::size_t count = 0;
        while (count < frames.size()) {
            const auto packets = receive_some(source.value(), 32);
            EXPECT(!packets.empty());
            for (const Packet& p : packets) EXPECT(same_bytes(p, frames[count++]));
            source.value().poller(0).release(packets);
        }
        return "";
    });
}

TEST_CASE("dpdk: missing hugepages are an error that says what to type") {
    if (skipped(free_2m_pages() != 0, "there are hugepages")) return;
    DpdkOptions options = small_options({"net_null0"});
    options.hugepages = true;
    const std::string text = in_child([&] { return error_of(options); });
    CHECK(text.starts_with(std::to_string(ENOMEM) + " "));
    CHECK(contains(text, "bash dpdk-config/hugepages.sh reserve"));
    CHECK(contains(text, "hugepages = false"));
}

TEST_CASE("dpdk: net_af_packet receives what a neighbour sends") {
    if (skipped(geteuid() != 0, "needs root for a network namespace")) return;
    const bool can = in_child([]() -> std::string {
                         const bool made = unshare(CLONE_NEWNET) == 0 &&
                                           std::system(
                                               "ip link add veth0 type veth peer name "
                                               "veth1 2>/dev/null") == 0;
                         return made ? "" : "no";
                     }).empty();
    if (skipped(!can, "no network namespace with veth here")) return;
    check_in_child([]() -> std::string {
        EXPECT(unshare(CLONE_NEWNET) == 0);
        EXPECT(std::system("sysctl -qw net.ipv6.conf.default.disable_ipv6=1; "
                           "ip link add veth0 type veth peer name veth1 && "
                           "ip link set veth0 up && ip link set veth1 up") == 0);
        auto opened = DpdkSource::open(small_options({"net_af_packet0,iface=veth1"}));
        if (!opened) return opened.error().context;
        DpdkSource source = std::move(opened).value();
        const int from = socket(AF_PACKET, SOCK_RAW, 0);
        sockaddr_ll to{};
        to.sll_family = AF_PACKET;
        to.sll_ifindex = static_cast<int>(if_nametoindex("veth0"));
        auto frames = make_frames(300, 300);
        for (Frame& frame : frames) {
            frame.bytes[0] = 0x01;   // multicast
            frame.bytes[12] = 0x88;  // the local experimental type
            frame.bytes[13] = 0xb5;
            EXPECT(sendto(from, frame.bytes.data(), frame.bytes.size(), 0,
                          static_cast<const sockaddr*>(static_cast<const void*>(&to)),
                          sizeof to) == static_cast<ssize_t>(frame.bytes.size()));
        }
        std::size_t count = 0;
        for (int round = 0; round < 100'000 && count < frames.size(); ++round) {
            std::array<Packet, 32> some{};
            const std::size_t got = source.poller(0).receive(some);
            for (std::size_t i = 0; i < got; ++i) {
                EXPECT(same_bytes(some[i], frames[count++]));
                EXPECT(some[i].time_source == TimeSource::software);
            }
            source.poller(0).release(std::span(some).first(got));
        }
        EXPECT(count == frames.size());
        return "";
    });
}
