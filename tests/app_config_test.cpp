// The configuration file: every key, every default, every error with its place; and the page
// docs/configuration.md, which must name the same keys as the parser.
#include "wirebook/app/config.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace {

using namespace wirebook;
using namespace wirebook::app;
using Catch::Matchers::Contains;

Config good(const std::string& text, ConfigUse use = ConfigUse::replay) {
    Result<Config> config = parse_config(text, "t.toml", use);
    if (!config) FAIL(config.error().context);
    return config.value();
}
std::string bad(const std::string& text, ConfigUse use = ConfigUse::replay) {
    const Result<Config> config = parse_config(text, "t.toml", use);
    return config ? "(no error)" : config.error().context;
}
std::size_t lines_in(const std::string& text) {
    return 1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

const std::string full = R"(gap_wait_us = 750
checksum = "count"

[[port]]
device = "0000:3b:00.0"
[[port]]
device = "net_af_packet0,iface=veth1"

[[channel]]
name = "totalview"
feed = "itch50"
lines = [ { group = "233.54.12.111:26477", port = 0 }, { group = "[ff3e::1]:26478", port = 1 } ]
symbols = ["AAPL", "MSFT", "AAPL"]
date = "2026-11-30"
gap_wait_us = 0

[[channel]]
name = "deep"
feed = "iex-deep"
date = 2024-02-29
[[channel.lines]]
group = "10.0.0.7:10378"
port = 1

[publish]
name = "nasdaq"
depth = 20
mode = "touched"
slots = 1024
orders = true
directory = "/dev/shm"
group = "trading"
owner = "feed"
permissions = "0600"

[sizes]
orders = 2048
levels = 4096
instruments = 128
park_packets = 77

[dpdk]
hugepages = false
memory_mb = 256
file_prefix = "second"
burst = 64
descriptors = 2048
)";

}  // namespace

TEST_CASE("config: every key reaches its field") {
    const Config config = good(full, ConfigUse::run);
    CHECK(config.gap_wait_us == 750);
    CHECK(config.checksum == ChecksumPolicy::count);
    REQUIRE(config.ports.size() == 2);
    CHECK(config.ports[0].device == "0000:3b:00.0");
    CHECK(config.ports[0].is_pci());
    CHECK(config.ports[1].device == "net_af_packet0,iface=veth1");
    CHECK_FALSE(config.ports[1].is_pci());

    REQUIRE(config.channels.size() == 2);
    const ChannelConfig& first = config.channels[0];
    CHECK(first.name == "totalview");
    CHECK(first.feed == wire::Protocol::itch50);
    REQUIRE(first.lines.size() == 2);
    CHECK(first.lines[0].group.address == wire::Address::from_ipv4(0xE936'0C6F));
    CHECK(first.lines[0].group.udp_port == 26477);
    CHECK(first.lines[0].port == 0U);
    CHECK(first.lines[1].group.address == wire::Address{0xFF3E'0000'0000'0000, 1});
    CHECK(first.lines[1].port == 1U);
    CHECK(first.symbols == std::vector<std::string>{"AAPL", "MSFT"});
    CHECK(first.date == std::chrono::year{2026} / 11 / 30);
    CHECK(config.gap_wait_us_of(first) == 0);

    const ChannelConfig& second = config.channels[1];
    CHECK(second.feed == wire::Protocol::iex_deep);
    CHECK(second.date == std::chrono::year{2024} / 2 / 29);
    CHECK(config.gap_wait_us_of(second) == 750);
    REQUIRE(second.lines.size() == 1);
    CHECK_FALSE(second.lines[0].group.address.is_multicast());

    CHECK(config.publish.name == "nasdaq");
    CHECK(config.publish.depth == 20);
    CHECK(config.publish.mode == PublishMode::touched);
    CHECK(config.publish.slots == 1024);
    CHECK(config.publish.orders);
    CHECK(config.publish.directory == "/dev/shm");
    CHECK(config.publish.owner == "feed");
    CHECK(config.publish.group == "trading");
    CHECK(config.publish.permissions == 0600);
    CHECK(config.sizes.orders == 2048);
    CHECK(config.sizes.levels == 4096);
    CHECK(config.sizes.instruments == 128);
    CHECK(config.sizes.park_packets == 77);
    CHECK_FALSE(config.dpdk.hugepages);
    CHECK(config.dpdk.memory_mb == 256U);
    CHECK(config.dpdk.file_prefix == "second");
    CHECK(config.dpdk.burst == 64);
    CHECK(config.dpdk.descriptors == 2048);
}

TEST_CASE("config: an empty file is all defaults, and good for replay only") {
    const Config config = good("");
    CHECK(config.gap_wait_us == 500);
    CHECK_FALSE(config.checksum);
    CHECK(config.ports.empty());
    CHECK(config.channels.empty());
    CHECK(config.publish.name.empty());
    CHECK(config.publish.depth == 5);
    CHECK(config.publish.mode == PublishMode::changed);
    CHECK(config.publish.slots == 65536);
    CHECK_FALSE(config.publish.orders);
    CHECK(config.publish.directory.empty());
    CHECK(config.publish.owner.empty());
    CHECK(config.publish.group.empty());
    CHECK(config.publish.permissions == 0640);
    CHECK(config.sizes.orders == 4'194'304);
    CHECK(config.sizes.levels == 1'048'576);
    CHECK(config.sizes.instruments == 65'536);
    CHECK(config.sizes.park_packets == 4'096);
    CHECK(config.dpdk.hugepages);
    CHECK_FALSE(config.dpdk.memory_mb);
    CHECK(config.dpdk.file_prefix == "wirebook");
    CHECK(config.dpdk.burst == 32);
    CHECK(config.dpdk.descriptors == 1024);
    CHECK(good("", ConfigUse::either).ports.empty());
    CHECK(bad("", ConfigUse::run) ==
          "t.toml:1:1: port: is missing: run needs at least one [[port]] to receive from\n"
          "t.toml:1:1: channel: is missing: run needs at least one [[channel]]");
}

TEST_CASE("config: a channel without what may be left out has none of it") {
    const Config config = good("[[channel]]\nname = \"a\"\nfeed = \"itch-jnx\"\n");
    REQUIRE(config.channels.size() == 1);
    CHECK(config.channels[0].feed == wire::Protocol::itch_jnx);
    CHECK(config.channels[0].lines.empty());
    CHECK(config.channels[0].symbols.empty());
    CHECK_FALSE(config.channels[0].date);
    CHECK_FALSE(config.channels[0].gap_wait_us);
}

TEST_CASE("config: a wrong value names file, line, column and key") {
    struct Case {
        std::string text, expected;
    };
    const std::string channel = "[[channel]]\nname = \"a\"\nfeed = \"itch50\"\n";
    const Case cases[] = {
        {"gap_wait_us = -1", "t.toml:1:15: gap_wait_us: must be 0 to 3600000000, is -1"},
        {"gap_wait_us = 3600000001", "must be 0 to 3600000000, is 3600000001"},
        {"gap_wait_us = 1.5", "gap_wait_us: must be an integer, is a number with a fraction"},
        {"gap_wait_us = \"5\"", "must be an integer, is the text \"5\""},
        {"\nchecksum = \"dropp\"",
         "t.toml:2:12: checksum: must be \"off\", \"count\" or \"drop\", is "
         "\"dropp\"; did you mean \"drop\"?"},
        {"checksum = true", "checksum: must be text, is true"},
        {"[[port]]\ndevice = \"eth0\"", "t.toml:2:10: port[0].device: must be a PCI address"},
        {"[[port]]\ndevice = \"0000:3b:00.8\"", "port[0].device: must be a PCI address"},
        {"[[port]]\ndevice = \"net_\"", "port[0].device: must be a PCI address"},
        {"[[port]]\n", "t.toml:1:1: port[0].device: is missing and has no default"},
        {"[port]\ndevice = \"net_null0\"",
         "port: must be a list: write [[port]] in double brackets"},
        {"channel = 5", "channel: must be a list: write [[channel]]"},
        {"channel = [5]", "t.toml:1:12: channel[0]: must be a table, is the integer 5"},
        {"[[channel]]\nfeed = \"itch50\"", "t.toml:1:1: channel[0].name: is missing"},
        {"[[channel]]\nname = \"a\"", "t.toml:1:1: channel[0].feed: is missing"},
        {"[[channel]]\nname = \"a b\"\nfeed = \"itch50\"",
         "t.toml:2:8: channel[0].name: must be 1 to 63"},
        {"[[channel]]\nname = \"\"\nfeed = \"itch50\"",
         "t.toml:2:8: channel[0].name: must be 1 to 63"},
        {"[[channel]]\nname = \"a\"\nfeed = \"itch5\"", "t.toml:3:8: channel[0].feed: must be"},
        {channel + "lines = \"x\"", "t.toml:4:9: channel[0].lines: must be a list of { group"},
        {channel + "lines = []", "t.toml:4:9: channel[0].lines: must not be empty"},
        {channel + "lines = [\"1.2.3.4:5\"]", "t.toml:4:10: channel[0].lines[0]: must be { group"},
        {channel + "lines = [{}]", "channel[0].lines[0].group: is missing"},
        {channel + "lines = [{group = \"1.2.3.4:5\", port = -1}]",
         "channel[0].lines[0].port: must be 0"},
        {channel + "symbols = []", "channel[0].symbols: an empty list would keep nothing"},
        {channel + "symbols = \"AAPL\"", "channel[0].symbols: must be a list of symbols"},
        {channel + "symbols = [\"A\", 5]", "t.toml:4:17: channel[0].symbols[1]: must be text"},
        {channel + "symbols = [\"A \"]", "channel[0].symbols[0]: must be 1 to 16 bytes"},
        {channel + "symbols = [\"A\", \"ABCDEFGHI\"]",
         "t.toml:4:17: channel[0].symbols[1]: \"ABCDEFGHI\" is longer than the 8 characters of"},
        {channel + "date = \"2026-02-29\"", "t.toml:4:8: channel[0].date: must be a day"},
        {channel + "date = \"26-02-20\"", "channel[0].date: must be a day"},
        {channel + "date = 1889-02-20", "channel[0].date: must be a day"},
        {channel + "date = 20260220", "channel[0].date: must be a day"},
        {channel + "gap_wait_us = true", "channel[0].gap_wait_us: must be an integer, is true"},
        {"publish = 1", "publish: must be a table: [publish]"},
        {"[publish]\nname = \"../x\"", "t.toml:2:8: publish.name: must be 1 to 63"},
        {"[publish]\ndepth = 7", "t.toml:2:9: publish.depth: must be 1, 5, 10 or 20, is 7"},
        {"[publish]\nmode = \"all\"",
         "publish.mode: must be \"changed\" or \"touched\", is \"all\""},
        {"[publish]\nslots = 1000",
         "publish.slots: must be a power of two, 64 to 16777216, is 1000"},
        {"[publish]\nslots = 32", "publish.slots: must be a power of two, 64 to 16777216, is 32"},
        {"[publish]\norders = 1", "publish.orders: must be true or false"},
        {"[publish]\ndirectory = \"shm\"", "publish.directory: must be an absolute path"},
        {"[publish]\nowner = 5", "publish.owner: must be text"},
        {"[publish]\nowner = \"a/b\"", "publish.owner: must be 1 to 63"},
        {"[publish]\ngroup = \"a/b\"", "publish.group: must be 1 to 63"},
        {"[publish]\npermissions = 640", "publish.permissions: must be text of octal digits"},
        {"[publish]\npermissions = \"0660\"", "publish.permissions: must be text of octal digits"},
        {"[publish]\npermissions = \"0440\"", "publish.permissions: must be text of octal digits"},
        {"[sizes]\norders = 1023", "sizes.orders: must be 1024 to 268435456, is 1023"},
        {"[sizes]\nlevels = 0", "sizes.levels: must be 1024 to 67108864, is 0"},
        {"[sizes]\ninstruments = 15", "sizes.instruments: must be 16 to 1048576, is 15"},
        {"[sizes]\npark_packets = 0", "sizes.park_packets: must be 1 to 65536, is 0"},
        {"[sizes]\npark_packets = 65537", "sizes.park_packets: must be 1 to 65536, is 65537"},
        {"[dpdk]\nhugepages = 1", "dpdk.hugepages: must be true or false, is the integer 1"},
        {"[dpdk]\nmemory_mb = 1", "dpdk.memory_mb: must be 16 to 1048576, is 1"},
        {"[dpdk]\nfile_prefix = \"\"", "dpdk.file_prefix: must be 1 to 63"},
        {"[dpdk]\nburst = 0", "dpdk.burst: must be 1 to 512, is 0"},
        {"[dpdk]\ndescriptors = 1000", "dpdk.descriptors: must be a power of two, 64 to 32768"},
    };
    for (const Case& one : cases) {
        INFO(one.text);
        const std::string error = bad(one.text);
        CHECK_THAT(error, Contains(one.expected));
        CHECK(lines_in(error) == 1);
    }
}

TEST_CASE("config: a group address is IPv4 or bracketed IPv6 with a port") {
    for (const std::string text : {"233.54.12.111:26477", "10.0.0.1:1", "[ff3e::8000:1]:65535"}) {
        const auto group = parse_group_address(text);
        REQUIRE(group);
        CHECK(group->to_string() == text);
    }
    for (const std::string text :
         {"", ":", "1.2.3.4", "1.2.3.4:", "1.2.3.4:0", "1.2.3.4:65536", "1.2.3.4:-1", "1.2.3.4: 5",
          "1.2.3:5", "1.2.3.4.5:6", "256.1.1.1:5", "0.0.0.0:5", "ff3e::1:5", "[ff3e::1]", "[]:5",
          "[::]:5", "[1.2.3.4]:5", "host:5", "1.2.3.4:5x"}) {
        INFO(text);
        CHECK_FALSE(parse_group_address(text));
        CHECK_THAT(bad("[[channel]]\nname = \"a\"\nfeed = \"itch50\"\nlines = [{group = \"" + text +
                       "\"}]"),
                   Contains("t.toml:4:19: channel[0].lines[0].group: must be \"ADDRESS:PORT\""));
    }
}

TEST_CASE("config: an unknown key is an error everywhere, with a suggestion") {
    CHECK(bad("gap_wait = 5") ==
          "t.toml:1:1: gap_wait: is not a key; did you mean \"gap_wait_us\"?");
    CHECK(bad("[chanel]\n") == "t.toml:1:2: chanel: is not a key; did you mean \"channel\"?");
    CHECK(bad("depth = 5") == "t.toml:1:1: depth: is not a key here; it belongs into [publish]");
    CHECK(bad("device = \"x\"") ==
          "t.toml:1:1: device: is not a key here; it belongs into [[port]]");
    CHECK(bad("[publish]\nchecksum = \"off\"") ==
          "t.toml:2:1: publish.checksum: is not a key here; it stands at the top of the file");
    CHECK(bad("[sizes]\nzzzzzz = 1") ==
          "t.toml:2:1: sizes.zzzzzz: is not a key; known here: orders, levels, instruments, "
          "park_packets");
    CHECK_THAT(bad("[dpdk]\nhuge_pages = true"), Contains("did you mean \"hugepages\"?"));
    CHECK_THAT(bad("[[port]]\ndevice = \"net_null0\"\ndevise = 1"),
               Contains("t.toml:3:1: port[0].devise: is not a key; did you mean \"device\"?"));
    CHECK_THAT(
        bad("[[channel]]\nname=\"a\"\nfeed=\"itch50\"\nlines=[{group=\"1.2.3.4:5\", prot=0}]"),
        Contains("t.toml:4:28: channel[0].lines[0].prot: is not a key; did you mean \"port\"?"));
}

TEST_CASE("config: a syntax error names its line and the key that stands there") {
    CHECK_THAT(bad("[publish]\nname = \"x\"\ndepth =\n"), Contains("t.toml:3:8: depth: "));
    CHECK_THAT(bad("checksum = off"), Contains("t.toml:1:12: checksum: "));
    CHECK_THAT(bad("checksum = off"), Contains("text needs \" \""));
    CHECK_THAT(bad("gap_wait_us = 1\ngap_wait_us = 2"), Contains("t.toml:2:"));
    CHECK_THAT(bad("gap_wait_us = 1\ngap_wait_us = 2"), Contains("gap_wait_us: "));
    CHECK_THAT(bad("[[port\n"), Contains("t.toml:1:7: [[port: "));
    CHECK_THAT(bad("[[\n"), Contains("t.toml:1:3: [[: "));
    CHECK_THAT(bad("checksum = \xc3\xa9"), Contains("t.toml:1:12: checksum: "));
    CHECK_THAT(bad("gap_wait_us = 1 \xc3\xa9"), Contains("t.toml:1:17: gap_wait_us: "));
    CHECK_THAT(bad("\xff\xfe"), Contains("t.toml:1:"));
    CHECK_THAT(bad(std::string(100'000, '[')), Contains("t.toml:1:"));
}

TEST_CASE("config: names, groups and devices that are there twice are errors") {
    const std::string a =
        "[[channel]]\nname = \"a\"\nfeed = \"itch50\"\nlines = [{group = \"233.1.1.1:5\"}]\n";
    const std::string b =
        "[[channel]]\nname = \"b\"\nfeed = \"itch50\"\nlines = [{group = \"233.1.1.1:5\"}]\n";
    CHECK(bad(a + b) ==
          "t.toml:8:19: channel[1].lines[0].group: 233.1.1.1:5 is already a line of channel[0] "
          "(line 4)");
    CHECK_THAT(bad(a + a), Contains("t.toml:6:8: channel[1].name: \"a\" is already the name of "
                                    "channel[0] (line 2)"));
    const std::string head = "[[channel]]\nname = \"a\"\nfeed = \"itch50\"\n";
    CHECK_THAT(bad(head + "lines = [{group = \"233.1.1.1:5\"}, {group = \"233.1.1.1:5\"}]"),
               Contains("channel[0].lines[1].group: 233.1.1.1:5 is already a line of channel[0]"));
    CHECK_THAT(
        bad("[[port]]\ndevice = \"3b:00.0\"\n[[port]]\ndevice = \"0000:3b:00.0\""),
        Contains("t.toml:4:10: port[1].device: \"0000:3b:00.0\" is already port[0] (line 2)"));
    CHECK_THAT(bad("[[port]]\ndevice = \"net_ring0\"\n[[port]]\ndevice = \"net_ring0,a=1\""),
               Contains("port[1].device: \"net_ring0\" is already port[0]"));
    CHECK_THAT(bad("[[port]]\ndevice = \"net_af_packet0,iface=eth1,qpairs=2\"\n[[port]]\ndevice = "
                   "\"net_af_xdp0,iface=eth1\"\n"),
               Contains("port[1].device: the interface \"eth1\" is already that of port[0]"));
    const std::string ports =
        "[[port]]\ndevice = \"net_ring0\"\n[[port]]\ndevice = \"net_ring1\"\n";
    CHECK(good(ports + head +
               "lines = [{group = \"233.1.1.1:5\", port = 0}, "
               "{group = \"233.1.1.1:5\", port = 1}]")
              .channels[0]
              .lines.size() == 2);
}

TEST_CASE("config: run needs ports, lines, and for each line a port that exists") {
    const std::string port = "[[port]]\ndevice = \"net_null0\"\n";
    const std::string head = "[[channel]]\nname = \"a\"\nfeed = \"itch50\"\n";
    const std::string without = port + head + "lines = [{group = \"233.1.1.1:5\"}]";
    CHECK_THAT(bad(without, ConfigUse::run),
               Contains("t.toml:6:10: channel[0].lines[0].port: is missing"));
    CHECK_THAT(bad(without, ConfigUse::either), Contains("channel[0].lines[0].port: is missing"));
    CHECK(good(without, ConfigUse::replay).channels.size() == 1);

    CHECK_THAT(bad(port + head, ConfigUse::run),
               Contains("t.toml:3:1: channel[0].lines: is missing: run"));
    CHECK(good(port + head, ConfigUse::replay).channels.size() == 1);

    const std::string seven = port + head + "lines = [{group = \"233.1.1.1:5\", port = 7}]";
    for (const ConfigUse use : {ConfigUse::run, ConfigUse::replay, ConfigUse::either}) {
        CHECK_THAT(bad(seven, use),
                   Contains("t.toml:6:41: channel[0].lines[0].port: there is no port 7"));
    }
    // The same file without its ports serves replay.
    CHECK(good(head + "lines = [{group = \"233.1.1.1:5\", port = 7}]").channels.size() == 1);
    CHECK_THAT(bad(head + "lines = [{group = \"233.1.1.1:5\", port = 7}]", ConfigUse::run),
               Contains("channel[0].lines[0].port: there is no [[port]] in this file"));
}

TEST_CASE("config: one channel of a replay may take what no other names") {
    const std::string a = "[[channel]]\nname = \"a\"\nfeed = \"itch50\"\n";
    const std::string b = "[[channel]]\nname = \"b\"\nfeed = \"itch50\"\n";
    CHECK(good(a + b + "lines = [{group = \"233.1.1.1:5\"}]").channels.size() == 2);
    CHECK_THAT(bad(a + b),
               Contains("t.toml:4:1: channel[1].lines: is missing, and channel[0] has none"));
}

TEST_CASE("config: all problems are reported together, in the order of the file") {
    const std::string error =
        bad("gap_wait_us = -1\nchecksum = 5\n[publish]\ndepth = 3\nslot = 4\n");
    CHECK(lines_in(error) == 4);
    const std::size_t first = error.find("t.toml:1:"), second = error.find("t.toml:2:");
    const std::size_t third = error.find("t.toml:4:"), fourth = error.find("t.toml:5:");
    CHECK((first < second && second < third && third < fourth && fourth != std::string::npos));
}

TEST_CASE("config: a segment has room for 64 channels") {
    std::string text;
    for (int i = 0; i < 65; ++i) {
        const std::string number = std::to_string(i);
        text += "[[channel]]\nname = \"c" + number +
                "\"\nfeed = \"itch50\"\nlines = [{group = \"233.1.1." + std::to_string(i + 1) +
                ":5\"}]\n";
    }
    CHECK_THAT(bad(text), Contains("65 channels are too many"));
}

TEST_CASE("config: a file that cannot be read is an error with its name") {
    const auto missing = load_config("/nowhere/x.toml");
    REQUIRE_FALSE(missing);
    CHECK(missing.error().context ==
          "cannot read configuration /nowhere/x.toml: No such file or directory");
    const auto folder = load_config("/");
    REQUIRE_FALSE(folder);
    CHECK(folder.error().code == EISDIR);
}

TEST_CASE("config: the summary names what is configured") {
    const std::string text = describe_config(good(full, ConfigUse::run));
    for (const char* part :
         {"0000:3b:00.0 (PCI device)", "(virtual device)", "totalview  itch50", "AAPL MSFT",
          "2026-11-30", "holes wait not at all", "line A  233.54.12.111:26477  on port 0",
          "10.0.0.7:10378 (unicast)", "segment nasdaq, 20 levels a side", "all that was touched",
          "mode 0600, owner feed, group trading", "only counted", "2,048 live orders",
          "(no hugepages)"}) {
        CHECK_THAT(text, Contains(part));
    }
    CHECK_THAT(describe_config(good("")), Contains("serves replay only"));
}

TEST_CASE("config: a good file with bytes changed at random is read or reported, nothing else") {
    const char* given = std::getenv("WIREBOOK_SEED");
    const unsigned seed =
        given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : 20261;
    std::printf("seed %u\n", seed);
    std::srand(seed);
    for (int round = 0; round < 3000; ++round) {
        std::string text = full;
        for (int change = 0; change <= round % 3; ++change) {
            text[static_cast<std::size_t>(std::rand()) % text.size()] =
                static_cast<char>(std::rand());
        }
        const Result<Config> config = parse_config(text, "t.toml", ConfigUse::run);
        if (!config) CHECK(config.error().context.starts_with("t.toml:"));
    }
}
