// DpdkSink on DPDK's virtual devices: net_pcap and net_ring. Needs neither hugepages nor
// privileges.
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "dpdk_rig.hpp"
#include "wirebook/io/capture_source.hpp"
#include "wirebook/io/dpdk_sink.hpp"
#include "wirebook/io/dpdk_source.hpp"

namespace {

using wirebook::io::CaptureSource;
using wirebook::io::DpdkSink;
using wirebook::io::DpdkSinkOptions;
using wirebook::io::testing::check_in_child;
using wirebook::io::testing::in_child;
using wirebook::io::testing::scratch_folder;
using wirebook::wire::Packet;
using Buffer = std::vector<std::byte>;

constexpr const char* ring_name = "ETH_RXTX0_net_ring0";  // what net_ring calls the ring of queue 0

// Differs in every byte from its neighbours.
Buffer make_frame(std::size_t number, std::size_t bytes) {
    Buffer frame(bytes);
    for (std::size_t i = 0; i < bytes; ++i) {
        frame[i] = static_cast<std::byte>(number * 31 + (number >> 8) + i * 13);
    }
    return frame;
}

DpdkSinkOptions small_options(const std::string& device) {
    DpdkSinkOptions options;
    options.device = device;
    options.hugepages = false;
    options.descriptors = 128;
    options.stall_limit_ms = 50;
    options.file_prefix = "wirebook-test-" + std::to_string(getpid());
    return options;
}

std::string error_of(const DpdkSinkOptions& options) {
    auto sink = DpdkSink::open(options);
    if (sink) return "it opened";
    return std::to_string(sink.error().code) + " " + sink.error().context;
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::vector<Buffer> read_capture(const std::string& path) {
    std::vector<Buffer> frames;
    wirebook::io::CaptureOptions options;
    options.files = {path};
    auto source = CaptureSource::open(options);
    if (!source) return frames;
    std::array<Packet, 32> some{};
    while (!source.value().finished()) {
        const std::size_t count = source.value().receive(some);
        for (std::size_t i = 0; i < count; ++i) {
            frames.emplace_back(some[i].data, some[i].data + some[i].bytes);
        }
        source.value().release(std::span(some).first(count));
    }
    return frames;
}

}  // namespace

TEST_CASE("dpdk sink: every frame sent to a net_pcap is in its file, in order, byte for byte") {
    const std::string file = (scratch_folder() / "sent.pcap").string();
    check_in_child([&]() -> std::string {
        auto opened = DpdkSink::open(small_options("net_pcap0,tx_pcap=" + file));
        if (!opened) return opened.error().context;
        DpdkSink sink = std::move(opened).value();
        EXPECT(contains(sink.description(), "net_pcap0"));
        std::uint64_t bytes = 0;
        for (std::size_t i = 0; i < 1'000; ++i) {
            const Buffer frame = make_frame(i, 60 + i);
            bytes += frame.size();
            sink.send(frame);
        }
        EXPECT(sink.counters().frames == 1'000 / 32 * 32);
        sink.flush();
        EXPECT(sink.counters().frames == 1'000);
        EXPECT(sink.counters().bytes == bytes);
        EXPECT(sink.counters().lost == 0);
        EXPECT(sink.status().ok());
        sink.send(make_frame(1'000, 100));
        sink.close();  // sends what waits
        sink.close();
        EXPECT(sink.counters().frames == 1'001);
        return "";
    });
    const std::vector<Buffer> frames = read_capture(file);
    REQUIRE(frames.size() == 1'001);
    for (std::size_t i = 0; i < 1'000; ++i) REQUIRE(frames[i] == make_frame(i, 60 + i));
}

TEST_CASE("dpdk sink: a net_ring gets the frames; a full one is waited for, then given up") {
    check_in_child([]() -> std::string {
        auto opened = DpdkSink::open(small_options("net_ring0"));
        if (!opened) return opened.error().context;
        DpdkSink sink = std::move(opened).value();
        rte_ring* ring = rte_ring_lookup(ring_name);
        EXPECT(ring != nullptr);
        const auto take = [&](std::size_t number, std::size_t bytes) {
            void* object = nullptr;
            if (rte_ring_dequeue(ring, &object) != 0) return false;
            auto* mbuf = static_cast<rte_mbuf*>(object);
            const Buffer expected = make_frame(number, bytes);
            const bool same =
                mbuf->pkt_len == bytes && mbuf->nb_segs == 1 &&
                std::memcmp(rte_pktmbuf_mtod(mbuf, void*), expected.data(), bytes) == 0;
            rte_pktmbuf_free(mbuf);
            return same;
        };
        // Many more than the pool has packets: it gets them back.
        for (std::size_t i = 0; i < 5'000; ++i) {
            sink.send(make_frame(i, 100));
            sink.flush();
            EXPECT(take(i, 100));
        }
        EXPECT(sink.counters().frames == 5'000);
        EXPECT(sink.counters().lost == 0);
        for (std::size_t i = 0; i < 2'000; ++i) sink.send(make_frame(i, 100));
        sink.flush();
        EXPECT(sink.counters().lost > 0);
        EXPECT(sink.counters().frames + sink.counters().lost == 7'000);
        EXPECT(sink.counters().retries > 0);
        EXPECT(!sink.status().ok());
        EXPECT(contains(sink.status().error().context, "net_ring0"));
        return "";
    });
}

TEST_CASE("dpdk sink: a frame longer than the data room is not sent, and counted") {
    const std::string file = (scratch_folder() / "long.pcap").string();
    check_in_child([&]() -> std::string {
        auto opened = DpdkSink::open(small_options("net_pcap0,tx_pcap=" + file));
        if (!opened) return opened.error().context;
        DpdkSink sink = std::move(opened).value();
        sink.send(make_frame(1, 2'049));
        sink.send(make_frame(2, 2'048));
        sink.close();
        EXPECT(sink.counters().too_long == 1);
        EXPECT(sink.counters().frames == 1);
        EXPECT(contains(sink.status().error().context, "data_room"));
        return "";
    });
    CHECK(read_capture(file).size() == 1);
}

TEST_CASE("dpdk sink: what is wrong is an error in words") {
    const auto error_in_child = [](const DpdkSinkOptions& options) {
        return in_child([&] { return error_of(options); });
    };
    CHECK(contains(error_in_child(small_options("net null")), "neither a PCI address"));
    const std::string unwritable =
        error_in_child(small_options("net_pcap0,tx_pcap=/nowhere/x.pcap"));
    CHECK(contains(unwritable, "net_pcap0: the device does not start"));
    DpdkSinkOptions burst = small_options("net_ring0");
    burst.burst = 0;
    CHECK(contains(error_in_child(burst), "burst is not 1 to 512"));
}

TEST_CASE("dpdk sink: a process opens one sink or source, once") {
    check_in_child([]() -> std::string {
        auto first = DpdkSink::open(small_options("net_ring0"));
        EXPECT(first.ok());
        first.value().close();
        first.value().send(make_frame(1, 60));
        EXPECT(first.value().counters().lost == 1);
        EXPECT(contains(error_of(small_options("net_ring1")), "only once in a process"));
        wirebook::io::DpdkOptions source;
        source.ports.push_back({"net_null0", 0, 0});
        source.hugepages = false;
        EXPECT(!wirebook::io::DpdkSource::open(source).ok());
        return "";
    });
}
