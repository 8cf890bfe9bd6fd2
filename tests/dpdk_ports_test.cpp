// Several pollers, sending, offered frames, reception, steering, stamps of NICs: what DpdkSource
// does beyond one queue of one port. Cases that start EAL do so in a child of their own.
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <thread>
#include <vector>

#include "dpdk_rig.hpp"
#include "io/dpdk/poller.hpp"
#include "io/dpdk/reception.hpp"
#include "wirebook/io/dpdk_source.hpp"

namespace {

using namespace wirebook;
using namespace wirebook::io;
using wire::Packet;
using wire::TimeSource;
using wirebook::io::testing::check_in_child;
using wirebook::io::testing::in_child;
using wirebook::io::testing::small_options;

DpdkGroup group(std::uint32_t address, std::uint16_t queue = 0) {
    return {wire::Address::from_ipv4(address), 26477, queue};
}
std::string problem(const DpdkOptions& options) {
    return in_child([&]() -> std::string {
        auto source = DpdkSource::open(options);
        return source ? "it opened" : source.error().context;
    });
}
bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("ports: a group's Ethernet address is there once, with that of all hosts") {
    using Mac = dpdk::MacAddress;
    CHECK(dpdk::mac_list({}).empty());
    CHECK(dpdk::mac_list({group(0x0A090102)}).empty());  // unicast
    const auto list = dpdk::mac_list({group(0xE9B60C6F),
                                      group(0xE9360C6F),
                                      {{0xFF3E'0000'0000'0000, 0x0000'0000'8000'0001}, 1, 0}});
    REQUIRE(list.size() == 3);
    CHECK(list[0] == Mac{1, 0, 0x5E, 0, 0, 1});
    CHECK(list[1] == Mac{1, 0, 0x5E, 0x36, 0x0C, 0x6F});  // of both IPv4 groups
    CHECK(list[2] == Mac{0x33, 0x33, 0x80, 0, 0, 1});
}

TEST_CASE(
    "ports: what is sent on a net_ring comes back, and can be offered to the control thread") {
    check_in_child([]() -> std::string {
        auto opened = DpdkSource::open(small_options({"net_ring0"}));
        if (!opened) return opened.error().context;
        DpdkSource& source = opened.value();
        DpdkPoller& poller = source.poller(0);
        EXPECT(source.transmits(0));
        std::vector<std::byte> frame(64, std::byte{7});
        for (int round = 0; round < 1'000; ++round) {
            EXPECT(source.send(0, {frame.data(), frame.size()}));
            std::array<Packet, 32> some{};
            EXPECT(poller.receive(some) == 1);
            EXPECT(some[0].bytes == 64);
            poller.offer(some[0]);
            poller.release(std::span(some).first(1));
            int taken = 0;
            source.take_offered([&](std::size_t port, wire::Bytes bytes) {
                taken += port == 0 && bytes.size() == 64 && bytes[63] == std::byte{7} ? 1 : 0;
            });
            EXPECT(taken == 1);
        }
        // More than the queue holds: counted, and none leaks.
        for (int i = 0; i < 400; ++i) {
            EXPECT(source.send(0, {frame.data(), frame.size()}));
            std::array<Packet, 32> some{};
            EXPECT(poller.receive(some) == 1);
            poller.offer(some[0]);
            poller.release(std::span(some).first(1));
        }
        const std::uint64_t refused = source.counters().unoffered;
        std::uint64_t taken = 0;
        source.take_offered([&](std::size_t, wire::Bytes) { taken += 1; });
        EXPECT(refused > 0);
        EXPECT(refused + taken == 400);
        return "";
    });
}

TEST_CASE("ports: frames that cannot be sent are refused with the reason") {
    check_in_child([]() -> std::string {
        auto opened = DpdkSource::open(small_options({"net_ring0"}));
        if (!opened) return opened.error().context;
        std::vector<std::byte> frame(70'000);
        const Status too_long = opened.value().send(0, {frame.data(), frame.size()});
        EXPECT(!too_long && too_long.error().code == EMSGSIZE);
        return "";
    });
}

TEST_CASE("ports: two pollers in threads of their own share the packets of two queues") {
    check_in_child([]() -> std::string {
        DpdkOptions options = small_options({"net_null0,size=64"});
        options.ports[0].queues = 2;
        options.ports[0].pollers = {0, 1};
        options.pollers = 2;
        auto opened = DpdkSource::open(options);
        if (!opened) return opened.error().context;
        std::array<std::uint64_t, 2> received{};
        std::array<bool, 2> entered{};
        std::vector<std::thread> threads;
        for (std::size_t i = 0; i < 2; ++i) {
            threads.emplace_back([&, i] {
                DpdkPoller& poller = opened.value().poller(i);
                entered[i] = bool(poller.enter());
                std::array<Packet, 32> some{};
                for (int round = 0; round < 10'000; ++round) {
                    const std::size_t count = poller.receive(some);
                    received[i] += count;
                    poller.release(std::span(some).first(count));
                }
                poller.leave();
            });
        }
        for (std::thread& thread : threads) thread.join();
        EXPECT(entered[0] && entered[1]);
        EXPECT(received[0] == 320'000 && received[1] == 320'000);
        EXPECT(opened.value().pool_in_use() <= opened.value().pool_packets());
        return "";
    });
}

TEST_CASE("ports: reception and steering that a driver does not have") {
    DpdkOptions options = small_options({"net_null0"});
    options.ports[0].groups = {group(0xEFC00001)};
    options.ports[0].reception = Reception::mac_list;
    CHECK(contains(problem(options), "list of multicast addresses"));
    options.ports[0].reception = Reception::automatic;
    options.ports[0].queues = 2;
    options.ports[0].steering = Steering::wanted;
    check_in_child([&]() -> std::string {
        auto opened = DpdkSource::open(options);
        if (!opened) return opened.error().context;
        EXPECT(contains(opened.value().description(), "all-multicast"));
        EXPECT(opened.value().notices().size() == 1);
        EXPECT(contains(opened.value().notices()[0], "no rule for 239.192.0.1:26477"));
        return "";
    });
    options.ports[0].steering = Steering::required;
    CHECK(contains(problem(options), "cannot send groups to chosen queues"));
    options.ports[0].pollers = {0, 1};
    CHECK(contains(problem(options), "poller"));
}

TEST_CASE("ports: a NIC's stamps are UTC, or turned into it, or called unsynchronised") {
    constexpr std::int64_t now_ns = 1'790'000'000'000'000'000;
    dpdk::PollerState poll;
    // DPDK aligns fields; the room for them begins in the middle of a word.
    constexpr std::size_t word = offsetof(rte_mbuf, dynfield1) % 8 == 0 ? 0 : 1;
    poll.stamp_place = {offsetof(rte_mbuf, dynfield1) + 4 * word, 1U << 5U};
    rte_mbuf mbuf{};
    mbuf.ol_flags = poll.stamp_place.flag;
    const auto stamp = [&](std::uint64_t raw, dpdk::PollerInput& input) {
        std::memcpy(&mbuf.dynfield1[word], &raw, sizeof raw);
        return poll.stamp_of(&mbuf, input, {now_ns, TimeSource::software});
    };
    dpdk::PollerInput utc{dpdk::Stamps::nic_unchecked, nullptr, 0};
    CHECK(stamp(now_ns - 700, utc).time_ns == now_ns - 700);
    CHECK(stamp(now_ns - 700, utc).source == TimeSource::nic);
    CHECK(utc.stamps == dpdk::Stamps::nic_utc_ns);

    dpdk::PollerInput raw{dpdk::Stamps::nic_unchecked, nullptr, 0};
    CHECK(stamp(12'345, raw).time_ns == 12'345);
    CHECK(stamp(12'345, raw).source == TimeSource::nic_unsynchronised);

    dpdk::NicClock clock;
    dpdk::PollerInput readable{dpdk::Stamps::nic_unchecked, &clock, 0};
    // No rate yet: the TSC's time.
    CHECK(stamp(1'000, readable).source == TimeSource::software);
    clock.sample(0, now_ns - 1'000'000);
    clock.sample(500'000, now_ns);  // 2 ns a tick
    CHECK(stamp(499'950, readable).time_ns == now_ns - 100);
    CHECK(stamp(499'950, readable).source == TimeSource::nic);

    mbuf.ol_flags = 0;  // this packet was not stamped
    CHECK(stamp(499'950, readable).time_ns == now_ns);
    CHECK(stamp(499'950, readable).source == TimeSource::software);
}
