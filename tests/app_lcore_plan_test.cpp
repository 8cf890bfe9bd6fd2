// Channels to lcores, lines to queues: every rule of docs/dpdk.md, "Lcores and queues".
#include <catch2/catch.hpp>
#include <string>

#include "wirebook/app/lcore_plan.hpp"

namespace {

using namespace wirebook;
using namespace wirebook::app;

std::string channel(const std::string& name, const std::string& lines) {
    return "[[channel]]\nname = \"" + name + "\"\nfeed = \"itch50\"\nlines = [ " + lines + " ]\n";
}
// "1 0" is group 1 on port 0.
std::string line(int group, int port, const std::string& more = "") {
    return "{ group = \"233.54.12." + std::to_string(group) +
           ":20001\", port = " + std::to_string(port) + more + " }";
}
std::string port(const std::string& device, const std::string& more = "") {
    return "[[port]]\ndevice = \"" + device + "\"\n" + more;
}

Result<LivePlan> plan(const std::string& text) {
    auto config = parse_config(text, "plan.toml", ConfigUse::run);
    if (!config) FAIL(config.error().context);
    return plan_lcores(config.value());
}
std::string problem(const std::string& text) {
    auto made = plan(text);
    return made ? "it was planned" : made.error().context;
}
bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

const std::string nic = port("0000:3b:00.0");
const std::string two_lcores = "[[lcore]]\ncpu = 2\n[[lcore]]\ncpu = 3\n";

}  // namespace

TEST_CASE("lcores: without any, one has all channels and polls every queue") {
    const auto made = plan(nic + port("net_af_packet0,iface=veth1", "queues = 2\n") +
                           channel("a", line(1, 0) + ", " + line(2, 1)) + channel("b", line(3, 0)));
    REQUIRE(made);
    REQUIRE(made.value().lcores.size() == 1);
    CHECK_FALSE(made.value().lcores[0].cpu);
    CHECK(made.value().lcores[0].channels == std::vector<std::size_t>{0, 1});
    const io::DpdkPortOptions& first = made.value().ports[0];
    CHECK(first.queues == 0);
    CHECK(first.steering == io::Steering::none);
    REQUIRE(first.groups.size() == 2);
    CHECK(first.groups[1].address == wire::Address::from_ipv4(0xE9360C03));
    CHECK(first.groups[1].udp_port == 20001);
    CHECK(made.value().ports[1].queues == 2);
    CHECK(made.value().ports[1].steering == io::Steering::none);
}

TEST_CASE("lcores: several queues of a NIC are filled by rules where one lcore polls them") {
    const auto made = plan(port("0000:3b:00.0", "queues = 2\n") +
                           channel("a", line(1, 0) + ", " + line(2, 0)) + channel("b", line(3, 0)));
    REQUIRE(made);
    const io::DpdkPortOptions& only = made.value().ports[0];
    CHECK(only.steering == io::Steering::wanted);
    CHECK(only.groups[0].queue == 0);
    CHECK(only.groups[1].queue == 1);
    CHECK(only.groups[2].queue == 0);
    CHECK(only.pollers[0] == 0);
    CHECK(only.pollers[1] == 0);
}

TEST_CASE("lcores: channels that nobody names go where the fewest lines are") {
    const auto made =
        plan(nic + two_lcores + channel("a", line(1, 0) + ", " + line(2, 0)) +
             channel("b", line(3, 0)) + channel("c", line(4, 0)) + channel("d", line(5, 0)));
    REQUIRE(made);
    CHECK(made.value().lcores[0].cpu == 2U);
    CHECK(made.value().lcores[0].channels == std::vector<std::size_t>{0, 3});
    CHECK(made.value().lcores[1].channels == std::vector<std::size_t>{1, 2});
}

TEST_CASE("lcores: a NIC with channels of two gets a queue each, and must be able to steer") {
    const auto made = plan(nic + "[[lcore]]\ncpu = 2\nchannels = [\"b\"]\n[[lcore]]\ncpu = 3\n" +
                           channel("a", line(1, 0)) + channel("b", line(2, 0)));
    REQUIRE(made);
    const io::DpdkPortOptions& only = made.value().ports[0];
    CHECK(only.queues == 2);
    CHECK(only.steering == io::Steering::required);
    CHECK(only.groups[0].queue == 0);
    CHECK(only.groups[1].queue == 1);
    CHECK(only.pollers == std::vector<std::uint16_t>{1, 0});  // channel a is lcore 1's
}

TEST_CASE("lcores: a queue with channels of two lcores is refused, naming both") {
    const std::string channels = channel("left", line(1, 0)) + channel("right", line(2, 0));
    for (const std::string& one :
         {port("net_af_packet0,iface=veth1"), port("0000:3b:00.0", "steering = false\n")}) {
        const std::string text = problem(one + two_lcores + channels);
        CHECK(contains(text, "\"left\""));
        CHECK(contains(text, "\"right\""));
        CHECK(contains(text, "port[0]"));
    }
    const std::string text = problem(port("net_pcap0,rx_pcap=a,rx_pcap=b") + two_lcores +
                                     channel("left", line(1, 0, ", queue = 1")) +
                                     channel("right", line(2, 0, ", queue = 1")));
    CHECK(contains(text, "queue 1"));
    CHECK(contains(text, "\"left\""));
    CHECK(contains(text, "\"right\""));
}

TEST_CASE("lcores: queues that lines name are taken as they stand") {
    const auto made =
        plan(port("net_pcap0,rx_pcap=a,rx_pcap=b,rx_pcap=c") + two_lcores +
             channel("a", line(1, 0, ", queue = 2")) + channel("b", line(2, 0, ", queue = 0")));
    REQUIRE(made);
    const io::DpdkPortOptions& only = made.value().ports[0];
    CHECK(only.queues == 3);
    CHECK(only.pollers == std::vector<std::uint16_t>{1, 0, 0});
    CHECK(only.steering == io::Steering::none);
    const auto of_nic = plan(nic + channel("a", line(1, 0, ", queue = 1")));
    REQUIRE(of_nic);
    CHECK(of_nic.value().ports[0].steering == io::Steering::required);
    CHECK(of_nic.value().ports[0].queues == 2);
}

TEST_CASE("lcores: what cannot be is said with its key") {
    const std::string a = channel("a", line(1, 0));
    const std::string b = channel("b", line(2, 0));
    CHECK(contains(problem(nic + two_lcores + a), "lcore[1]: there is no channel"));
    CHECK(contains(problem(nic + "[[lcore]]\ncpu = 2\nchannels = [\"x\"]\n" + a),
                   "lcore[0].channels: there is no channel \"x\""));
    CHECK(contains(problem(nic + "[[lcore]]\ncpu = 2\nchannels = [\"a\"]\n" + a + b),
                   "no [[lcore]] names \"b\""));
    CHECK(contains(problem(nic +
                           "[[lcore]]\ncpu = 2\nchannels = [\"a\"]\n[[lcore]]\ncpu = 3\n"
                           "channels = [\"b\", \"a\"]\n" +
                           a + b),
                   "already a channel of lcore[0]"));
    CHECK(contains(problem(nic + "[[lcore]]\ncpu = 2\n[[lcore]]\ncpu = 2\n" + a + b),
                   "lcore[1].cpu: 2 is already that of lcore[0]"));
    CHECK(contains(problem(port("0000:3b:00.0", "queues = 1\n") + two_lcores + a + b),
                   "too few for channels of 2 lcores"));
    CHECK(contains(problem(nic + channel("a", line(1, 0, ", queue = 0") + ", " + line(2, 0))),
                   "has no queue"));
    CHECK(contains(
        problem(port("0000:3b:00.0", "queues = 2\n") + channel("a", line(1, 0, ", queue = 2"))),
        "is on queue 2"));
}
