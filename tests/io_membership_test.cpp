// io: groups joined by the kernel, and our own IGMP heard by a switch: Linux's bridge with
// snooping. Each case runs in a child with a network namespace of its own, where such a one can be
// had.
#include "wirebook/io/membership_socket.hpp"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <set>
#include <sstream>

#include "dpdk_rig.hpp"
#include "igmp_messages.hpp"
#include "wirebook/io/igmp_host.hpp"

namespace wirebook::io {

using testing::in_child;
using wire::Address;

namespace {

bool shell(const std::string& command) {
    return std::system((command + " >/dev/null 2>&1").c_str()) == 0;  // NOLINT
}

// A namespace with veth0 and veth1, which are each other's ends.
bool enter_namespace() {
    if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return false;
    return shell(
        "ip link add veth0 type veth peer name veth1 && "
        "ip link set veth0 up && ip link set veth1 up");
}

// Runs `body` in a child with a namespace of its own; it says "" where all is well.
template <class Body>
void check_in_namespace(Body body) {
    const std::string failure =
        in_child([&]() -> std::string { return enter_namespace() ? body() : "no namespace"; });
    if (failure == "no namespace") {
        WARN("skipped: no network namespace with veth here");
        return;
    }
    CHECK(failure == "");
}

Membership any(std::uint32_t group) {
    return {Address::from_ipv4(group), {}};
}

Membership from(std::uint32_t group, std::uint32_t source) {
    return {Address::from_ipv4(group), {Address::from_ipv4(source)}};
}

constexpr std::uint32_t group_a = 0xE9360C6F;
constexpr std::uint32_t group_s = 0xE8010203;
constexpr Address group_6{0xFF3E000000000000, 0x12345};

std::string contents(const char* path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

// IPv4 groups of veth0 that the kernel reports (so not 224.0.0.1).
std::set<std::uint32_t> kernel_groups() {
    std::set<std::uint32_t> groups;
    std::istringstream file(contents("/proc/net/igmp"));
    bool ours = false;
    for (std::string line; std::getline(file, line);) {
        if (line[0] != '\t') ours = line.find("veth0") != std::string::npos;
        if (line[0] != '\t' || !ours) continue;
        const auto swapped = static_cast<std::uint32_t>(std::stoul(line, nullptr, 16));
        const std::uint32_t group = __builtin_bswap32(swapped);
        if (group != 0xE0000001) groups.insert(group);
    }
    return groups;
}

// Of veth0: {group, source} that are included.
std::set<std::pair<std::uint32_t, std::uint32_t>> kernel_sources() {
    std::set<std::pair<std::uint32_t, std::uint32_t>> sources;
    std::istringstream file(contents("/proc/net/mcfilter"));
    std::string line;
    std::getline(file, line);  // names of the columns
    while (std::getline(file, line)) {
        std::istringstream words(line);
        std::string index, device, group, source, included;
        words >> index >> device >> group >> source >> included;
        if (device != "veth0" || included == "0") continue;
        sources.insert({static_cast<std::uint32_t>(std::stoul(group, nullptr, 16)),
                        static_cast<std::uint32_t>(std::stoul(source, nullptr, 16))});
    }
    return sources;
}

// Everything of an interface, as it is on the wire.
class RawSocket {
public:
    explicit RawSocket(const char* interface)
        : descriptor_(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL))) {
        sockaddr_ll address{};
        address.sll_family = AF_PACKET;
        address.sll_protocol = htons(ETH_P_ALL);
        address.sll_ifindex = static_cast<int>(if_nametoindex(interface));
        if (bind(descriptor_, static_cast<const sockaddr*>(static_cast<const void*>(&address)),
                 sizeof address) != 0) {
            std::perror("bind a packet socket");
        }
    }
    RawSocket(const RawSocket&) = delete;
    RawSocket& operator=(const RawSocket&) = delete;
    ~RawSocket() { ::close(descriptor_); }

    [[nodiscard]] bool send(wire::Bytes frame) const {
        return ::send(descriptor_, frame.data(), frame.size(), 0) ==
               static_cast<ssize_t>(frame.size());
    }
    // The next frame that came in; empty: none within 10 ms.
    [[nodiscard]] wire::testing::Buffer receive() const {
        pollfd ready{descriptor_, POLLIN, 0};
        if (::poll(&ready, 1, 10) <= 0) return {};
        wire::testing::Buffer frame(2'048);
        sockaddr_ll sender{};
        socklen_t bytes = sizeof sender;
        const ssize_t got = recvfrom(descriptor_, frame.data(), frame.size(), 0,
                                     static_cast<sockaddr*>(static_cast<void*>(&sender)), &bytes);
        if (got < 0 || sender.sll_pkttype == PACKET_OUTGOING) return {};
        frame.resize(static_cast<std::size_t>(got));
        return frame;
    }

private:
    int descriptor_;
};

std::int64_t clock_ns() {
    return std::chrono::steady_clock::now().time_since_epoch().count();
}

}  // namespace

TEST_CASE("membership: groups of both families are joined, and left when the sockets close") {
    check_in_namespace([]() -> std::string {
        auto joined = MembershipSockets::join(
            "veth0", std::vector<Membership>{any(group_a), any(group_a + 1), {group_6, {}}});
        if (!joined) return joined.error().context;
        MembershipSockets sockets = std::move(joined).value();
        EXPECT((kernel_groups() == std::set<std::uint32_t>{group_a, group_a + 1}));
        const std::string in_text = "ff3e0000000000000000000000012345";
        EXPECT(contents("/proc/net/igmp6").find(in_text) != std::string::npos);
        EXPECT(sockets.socket_count() == 2);
        MembershipSockets moved = std::move(sockets);
        EXPECT(kernel_groups().size() == 2);
        moved.leave();
        EXPECT(kernel_groups().empty());
        EXPECT(contents("/proc/net/igmp6").find(in_text) == std::string::npos);
        {
            auto again = MembershipSockets::join("veth0", std::vector<Membership>{any(group_a)});
            EXPECT(again.ok());
            EXPECT(kernel_groups().size() == 1);
        }
        EXPECT(kernel_groups().empty());
        return "";
    });
}

TEST_CASE("membership: as many sockets are opened as the limit of groups asks for") {
    check_in_namespace([]() -> std::string {
        std::size_t limit = 0;
        std::istringstream(contents("/proc/sys/net/ipv4/igmp_max_memberships")) >> limit;
        EXPECT(limit > 0);
        std::vector<Membership> memberships;
        std::set<std::uint32_t> groups;
        for (std::uint32_t i = 0; i < 205; ++i) {
            memberships.push_back(any(group_a + i));
            groups.insert(group_a + i);
        }
        auto joined = MembershipSockets::join("veth0", memberships);
        if (!joined) return joined.error().context;
        EXPECT(kernel_groups() == groups);
        EXPECT(joined.value().socket_count() == (205 + limit - 1) / limit);
        return "";
    });
}

TEST_CASE("membership: sources of one group may be more than a socket holds") {
    check_in_namespace([]() -> std::string {
        std::vector<Membership> memberships{from(group_s + 1, 0x0A000001)};
        std::set<std::pair<std::uint32_t, std::uint32_t>> wanted{{group_s + 1, 0x0A000001}};
        for (std::uint32_t i = 0; i < 25; ++i) {
            memberships.push_back(from(group_s, 0x0A000001 + i));
            memberships.push_back(from(group_s, 0x0A000001 + i));  // said twice
            wanted.insert({group_s, 0x0A000001 + i});
        }
        auto joined = MembershipSockets::join("veth0", memberships);
        if (!joined) return joined.error().context;
        EXPECT(kernel_sources() == wanted);
        EXPECT(joined.value().socket_count() > 1);
        return "";
    });
}

TEST_CASE("membership: from any source wins over from some") {
    check_in_namespace([]() -> std::string {
        auto joined = MembershipSockets::join(
            "veth0", std::vector<Membership>{from(group_s, 0x0A000001), any(group_s),
                                             from(group_s, 0x0A000002)});
        if (!joined) return joined.error().context;
        EXPECT(kernel_groups() == std::set<std::uint32_t>{group_s});
        EXPECT(kernel_sources().empty());
        return "";
    });
}

TEST_CASE("membership: nothing is received, so nothing queues up") {
    check_in_namespace([]() -> std::string {
        auto joined = MembershipSockets::join("veth0", std::vector<Membership>{any(group_a)});
        if (!joined) return joined.error().context;
        std::istringstream sockets(contents("/proc/net/udp"));  // those with a port
        std::size_t lines = 0;
        for (std::string line; std::getline(sockets, line);) ++lines;
        EXPECT(lines == 1);
        return "";
    });
}

TEST_CASE("membership: errors name the interface, the group and the source") {
    const auto error_of = [](const std::string& interface, const Membership& membership) {
        auto joined = MembershipSockets::join(interface, std::vector<Membership>{membership});
        return joined ? std::string("none") : joined.error().context;
    };
    CHECK(error_of("nosuch0", any(group_a)) == "interface nosuch0: No such device");
    CHECK(error_of("lo", any(0x0A000001)) == "10.0.0.1 is no multicast group");
    CHECK(error_of("lo", {group_6, {Address::from_ipv4(0x0A000001)}}) ==
          "10.0.0.1 cannot be a source of group ff3e::1:2345");
    CHECK(error_of("lo", from(group_s, group_a)) ==
          "233.54.12.111 cannot be a source of group 232.1.2.3");
    check_in_namespace([&]() -> std::string {
        EXPECT(shell("ip link set lo mtu 60"));  // too small for IPv4: the kernel takes it away
        const std::string error = error_of("lo", from(group_s, 0x0A000001));
        EXPECT(error == "join 232.1.2.3 from 10.0.0.1 on interface lo: No such device");
        return "";
    });
}

TEST_CASE("membership: what the kernel reports is what our own host would") {
    check_in_namespace([]() -> std::string {
        const RawSocket peer("veth1");
        auto joined = MembershipSockets::join("veth0", std::vector<Membership>{any(group_a)});
        if (!joined) return joined.error().context;
        wire::igmp::Encoder encoder({});
        const std::vector<wire::igmp::Record> records{
            {wire::igmp::RecordType::change_to_exclude, group_a, {}}};
        wire::igmp::Encoder::Place place;
        const wire::Bytes ours = encoder.next_report(records, place).subspan(38, 16);
        for (int i = 0; i < 500; ++i) {
            const auto frame = peer.receive();
            wire::igmp::Heard heard;
            if (wire::igmp::parse(frame, heard) != wire::igmp::ParseStatus::ok) continue;
            if (heard.kind != wire::igmp::MessageKind::report_v3) continue;
            EXPECT(frame.size() >= 54);
            EXPECT(heard.destination == wire::igmp::all_v3_routers);
            const wire::Bytes message = wire::Bytes(frame).subspan(38, 16);
            EXPECT(std::equal(message.begin(), message.end(), ours.begin()));
            return "";
        }
        return "the kernel reported nothing";
    });
}

// veth0 is our port, veth1 the switch's.
TEST_CASE("igmp host: a switch that snoops learns our groups, asks for them, and forgets them") {
    const bool bridges = in_child([]() -> std::string {
                             const bool made =
                                 enter_namespace() && shell(
                                                          "ip link add br0 type bridge && "
                                                          "command -v bridge");
                             return made ? "" : "no";
                         }).empty();
    if (!bridges) {
        WARN("skipped: no network namespace with a bridge here");
        return;
    }
    for (const int version : {2, 3}) {
        check_in_namespace([version]() -> std::string {
            // Asked each second, an answer is due within 0.3 s; without, groups go after 2.5 s.
            EXPECT(
                shell("ip link add br0 type bridge mcast_snooping 1 "
                      "mcast_querier 1 mcast_igmp_version " +
                      std::to_string(version) +
                      " mcast_startup_query_interval 100 mcast_query_interval 100 "
                      "mcast_query_response_interval 30 mcast_membership_interval 250 "
                      "mcast_last_member_interval 20 && "
                      "ip link set veth1 master br0 && ip link set br0 up"));
            const RawSocket port("veth0");
            IgmpOptions options;
            options.sender = {.mac = {0x02, 0, 0, 0, 0, 0x01}, .address = 0x0A010203};
            IgmpHost host(options, 1);
            const std::vector<std::uint32_t> sources{0x0A000011, 0x0A000012};
            EXPECT(host.join(group_a).ok());
            EXPECT(host.join(group_s, sources).ok());
            const IgmpHost::Send send = [&](wire::Bytes frame) { return port.send(frame); };
            const auto knows = [](const char* text) {
                return shell(std::string("bridge -d mdb show dev br0 | grep -q '") + text + "'");
            };
            const auto run = [&](std::int64_t ns, const auto& until) {
                for (const std::int64_t end = clock_ns() + ns; clock_ns() < end;) {
                    const auto frame = port.receive();
                    if (!frame.empty()) host.on_frame(frame, clock_ns());
                    host.poll(clock_ns(), send);
                    if (until()) return true;
                }
                return false;
            };
            constexpr std::int64_t second = wire::testing::second;
            // On a busy machine an answer may be late, and a group be gone until the next one.
            const auto both_known = [&] { return knows("233.54.12.111") && knows("232.1.2.3"); };
            EXPECT(run(60 * second, [&] { return host.counters().queries >= 2; }));
            EXPECT(run(60 * second, both_known));
            EXPECT(host.version() == static_cast<unsigned>(version));
            EXPECT(host.counters().malformed == 0);
            if (version == 3) EXPECT(run(60 * second, [&] { return knows("10.0.0.18"); }));
            // Nothing that it had from the joins is still alive: the answers keep it.
            EXPECT(run(60 * second, [&] { return host.counters().queries >= 6; }));
            EXPECT(run(60 * second, both_known));
            host.leave_all(clock_ns(), send);
            EXPECT(run(60 * second, [&] { return !knows("233.54.12.111"); }));
            return "";
        });
    }
}

}  // namespace wirebook::io
