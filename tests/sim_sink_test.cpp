// sim: what is written to files is read back by the capture source; what is sent by multicast on
// the loopback interface arrives; errors name the file or the interface.
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "wirebook/io/capture_source.hpp"
#include "wirebook/sim/file_sinks.hpp"
#include "wirebook/sim/paced_sink.hpp"
#include "wirebook/sim/udp_sink.hpp"

namespace {

using namespace wirebook;
using namespace wirebook::sim;
using Buffer = std::vector<std::byte>;

class ScratchFolder {
public:
    ScratchFolder() {
        std::string name =
            (std::filesystem::temp_directory_path() / "wirebook-sim-XXXXXX").string();
        path_ = mkdtemp(name.data());
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    ~ScratchFolder() { std::filesystem::remove_all(path_); }
    [[nodiscard]] std::string file(const char* name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

Buffer bytes_of(std::size_t count, unsigned mark) {
    Buffer bytes(count);
    for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(mark + i * 5);
    return bytes;
}

struct Record {
    std::int64_t time_ns;
    Buffer bytes;
    friend bool operator==(const Record&, const Record&) = default;
};

std::uint32_t any_length(std::uint8_t /*type*/) noexcept {
    return 1;
}

std::vector<Record> read_back(const std::string& path) {
    io::CaptureOptions options;
    options.files = {path};
    options.binaryfile_min_length = any_length;
    auto opened = io::CaptureSource::open(options);
    std::vector<Record> records;
    if (!opened) {
        FAIL_CHECK(opened.error().context);
        return records;
    }
    std::array<wire::Packet, 32> burst{};
    while (!opened.value().finished()) {
        const std::size_t count = opened.value().receive(burst);
        for (std::size_t i = 0; i < count; ++i) {
            CHECK(burst[i].bytes == burst[i].original_bytes);
            records.push_back(
                {burst[i].receive_time_ns, {burst[i].data, burst[i].data + burst[i].bytes}});
        }
        opened.value().release({burst.data(), count});
    }
    CHECK_FALSE(opened.value().error().has_value());
    CHECK(opened.value().notices().empty());
    return records;
}

// A socket that hears a group on the loopback interface; -1 where this host has no such thing.
int join(std::uint32_t group, std::uint16_t& port) {
    const int descriptor = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(group);
    auto* any = static_cast<sockaddr*>(static_cast<void*>(&address));
    socklen_t length = sizeof address;
    ip_mreqn request{};
    request.imr_multiaddr.s_addr = htonl(group);
    request.imr_ifindex = static_cast<int>(if_nametoindex("lo"));
    const timeval patience{2, 0};
    const bool joined =
        ::bind(descriptor, any, sizeof address) == 0 &&
        ::getsockname(descriptor, any, &length) == 0 &&
        setsockopt(descriptor, IPPROTO_IP, IP_ADD_MEMBERSHIP, &request, sizeof request) == 0 &&
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0;
    port = ntohs(address.sin_port);
    if (joined) return descriptor;
    ::close(descriptor);
    return -1;
}

constexpr std::uint32_t test_group = 0xEFFF2A07;  // 239.255.42.7

}  // namespace

TEST_CASE("pcap sink: every frame is read back with its nanosecond") {
    const ScratchFolder folder;
    const std::string path = folder.file("frames.pcap");
    auto sink = PcapSink::create(path);
    REQUIRE(sink.ok());
    std::vector<Record> sent;
    std::uint64_t bytes = 24;
    for (unsigned i = 0; i < 3'000; ++i) {
        sent.push_back(
            {1'796'135'400'000'000'000 + i * 999'999'937LL, bytes_of(60 + i % 1'400, i)});
        bytes += 16 + sent.back().bytes.size();
        sink.value().on_frame({sent.back().time_ns, 0, PayloadKind::data, sent.back().bytes});
    }
    CHECK(sink.value().records() == 3'000);
    CHECK(sink.value().bytes() == bytes);
    REQUIRE(sink.value().close().ok());
    REQUIRE(sink.value().close().ok());
    CHECK(std::filesystem::file_size(path) == bytes);
    CHECK(read_back(path) == sent);
}

TEST_CASE("binaryfile sink: every message is read back; a zero length ends the file") {
    const ScratchFolder folder;
    const std::string path = folder.file("messages.bin");
    auto sink = BinaryFileSink::create(path);
    REQUIRE(sink.ok());
    std::vector<Record> sent;
    for (unsigned i = 0; i < 2'000; ++i) {
        sent.push_back({0, bytes_of(1 + i % 50, i)});
        sink.value().add(sent.back().bytes);
    }
    REQUIRE(sink.value().close().ok());
    REQUIRE(sink.value().close().ok());
    CHECK(read_back(path) == sent);
    std::ifstream file(path, std::ios::binary);
    file.seekg(-2, std::ios::end);
    CHECK(file.get() == 0);
    CHECK(file.get() == 0);
}

TEST_CASE("file sinks: a file that cannot be made, a full disk and a closed pipe are named") {
    const ScratchFolder folder;
    auto nowhere = PcapSink::create(folder.file("no/such/folder.pcap"));
    REQUIRE_FALSE(nowhere.ok());
    CHECK(nowhere.error().context ==
          "create " + folder.file("no/such/folder.pcap") + ": No such file or directory");

    auto full = PcapSink::create("/dev/full");
    REQUIRE(full.ok());
    const Buffer frame = bytes_of(1'000, 1);
    for (int i = 0; i < 3'000; ++i) {
        full.value().on_frame({1, 0, PayloadKind::data, frame});
    }
    REQUIRE_FALSE(full.value().status().ok());
    CHECK(full.value().status().error().context == "write /dev/full: No space left on device");
    CHECK_FALSE(full.value().close().ok());

    // Found only when the rest is written.
    auto small = BinaryFileSink::create("/dev/full");
    REQUIRE(small.ok());
    small.value().add(frame);
    CHECK(small.value().status().ok());
    CHECK_FALSE(small.value().close().ok());

    const auto before = signal(SIGPIPE, SIG_IGN);
    std::array<int, 2> ends{};
    REQUIRE(pipe(ends.data()) == 0);
    const std::string path = "/proc/self/fd/" + std::to_string(ends[1]);
    auto closed = PcapSink::create(path);
    REQUIRE(closed.ok());
    ::close(ends[0]);
    const Status status = closed.value().close();
    REQUIRE_FALSE(status.ok());
    CHECK(status.error().context == "write " + path + ": Broken pipe");
    ::close(ends[1]);
    signal(SIGPIPE, before);
}

TEST_CASE("udp sink: datagrams arrive on the loopback interface as they were framed") {
    std::uint16_t port = 0;
    const int receiver = join(test_group, port);
    if (receiver < 0) {
        WARN("skipped: no multicast on lo here");
        return;
    }
    UdpOptions options;
    options.interface = "lo";
    auto sink = UdpSink::open(options);
    REQUIRE(sink.ok());
    FrameBuilder builder({.group = test_group, .port = port});
    for (unsigned i = 0; i < 50; ++i) {
        const Buffer payload = bytes_of(20 + i * 20, i);
        const auto frame = builder.build(payload);
        sink.value().on_frame({0, 0, PayloadKind::data, frame});
        Buffer got(2'000);
        const ssize_t count = ::recv(receiver, got.data(), got.size(), 0);
        REQUIRE(count == static_cast<ssize_t>(payload.size()));
        got.resize(payload.size());
        REQUIRE(got == payload);
    }
    CHECK(sink.value().counters().datagrams == 50);
    CHECK(sink.value().counters().bytes == 50 * 20 + 20 * 49 * 50 / 2);
    CHECK(sink.value().status().ok());

    // A frame that no receiver behind a kernel would get is counted, not sent.
    Buffer wrong;
    const auto frame = builder.build(bytes_of(40, 1));
    wrong.assign(frame.begin(), frame.end());
    wrong.back() ^= std::byte{1};
    sink.value().on_frame({0, 0, PayloadKind::data, wrong});
    sink.value().on_frame({0, 0, PayloadKind::data, std::span(wrong).first(60)});
    CHECK(sink.value().counters().unsendable == 2);
    CHECK(sink.value().counters().datagrams == 50);
    ::close(receiver);
}

TEST_CASE("udp sink: an unknown interface and a datagram that the kernel refuses are told") {
    UdpOptions options;
    options.interface = "nosuch0";
    auto unknown = UdpSink::open(options);
    REQUIRE_FALSE(unknown.ok());
    CHECK(unknown.error().context == "interface nosuch0: No such device");

    options.interface = "lo";
    auto sink = UdpSink::open(options);
    if (!sink.ok()) {
        WARN("skipped: " << sink.error().context);
        return;
    }
    FrameBuilder builder({.group = test_group, .port = 0});  // port 0 is no destination
    sink.value().on_frame({0, 0, PayloadKind::data, builder.build(bytes_of(40, 1))});
    sink.value().on_frame({0, 0, PayloadKind::data, builder.build(bytes_of(40, 1))});
    CHECK(sink.value().counters().errors == 2);
    CHECK(sink.value().counters().datagrams == 0);
    REQUIRE_FALSE(sink.value().status().ok());
    CHECK(sink.value().status().error().context.find("send to 239.255.42.7:0 on lo: ") == 0);
}

TEST_CASE("paced sink: no frame leaves before it is due; flat out nothing is waited for") {
    struct Times {
        std::vector<std::uint64_t> tsc;
        void on_frame(const FrameView& /*frame*/) { tsc.push_back(rdtsc()); }
    };
    const TscClock clock = TscClock::calibrate();
    const auto send = [&](auto& paced) {
        for (std::int64_t i = 0; i < 6; ++i) {
            paced.on_frame({1'000 + i * 2'000'000, 0, PayloadKind::data, {}});
        }
    };
    Times times;
    PacedSink<Times> twice(times, 2.0, clock);
    send(twice);
    for (std::size_t i = 1; i < times.tsc.size(); ++i) {
        const std::int64_t since = clock.ns_from_ticks(times.tsc[i] - times.tsc[0]);
        CHECK(since >= static_cast<std::int64_t>(i) * 1'000'000 - 50'000);
    }
    Times at_once;
    PacedSink<Times> flat_out(at_once, 0, clock);
    send(flat_out);
    CHECK(at_once.tsc.size() == 6);
    CHECK(flat_out.latest_ns() == 0);  // nothing was due
}
