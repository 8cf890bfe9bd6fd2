// How device strings of ports are read, and what is said about a PCI address without a port. No
// DPDK is started.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "io/dpdk/device_name.hpp"

using wirebook::io::dpdk::DeviceName;
using wirebook::io::dpdk::explain_missing_pci;
using wirebook::io::dpdk::parse_device;

namespace {

DeviceName parsed(const std::string& text) {
    auto device = parse_device(text);
    REQUIRE(device.ok());
    return device.value();
}

}  // namespace

TEST_CASE("dpdk device: a PCI address is completed and keeps its driver arguments") {
    for (const char* text : {"0000:3b:00.1", "3b:00.1", "3B:00.1"}) {
        CHECK(parsed(text).pci);
        CHECK(parsed(text).name == "0000:3b:00.1");
        CHECK(parsed(text).arguments == "0000:3b:00.1");
        CHECK(parsed(text).queues == 0);
    }
    CHECK(parsed("5e3f:3b:00.0,safe-mode-support=1").arguments ==
          "5e3f:3b:00.0,safe-mode-support=1");
}

TEST_CASE("dpdk device: a virtual device says how many queues it creates") {
    CHECK(parsed("net_pcap0,rx_pcap=a").queues == 1);
    CHECK(parsed("net_pcap0,rx_pcap=a,rx_pcap=b").queues == 2);
    CHECK(parsed("net_pcap0,rx_iface=eth0").queues == 1);
    CHECK(parsed("net_af_packet0,iface=eth0").queues == 1);
    CHECK(parsed("net_af_packet0,iface=eth0,qpairs=4").queues == 4);
    CHECK(parsed("net_af_xdp1,iface=eth0,queue_count=3").queues == 3);
    CHECK(parsed("net_null0").queues == 0);
    CHECK(!parsed("net_null0").pci);
    CHECK(parsed("net_null0,copy=1").name == "net_null0");
}

TEST_CASE("dpdk device: the files of a net_pcap are known before it starts") {
    CHECK(parsed("net_pcap0,rx_pcap=a b,tx_drop=1,rx_pcap=c").files ==
          std::vector<std::string>{"a b", "c"});
    CHECK(parsed("net_pcap0,rx_iface=eth0").files.empty());
}

TEST_CASE("dpdk device: net_af_packet gets a long ring unless its sizes are given") {
    CHECK(parsed("net_af_packet0,iface=e").arguments ==
          "net_af_packet0,iface=e,blocksz=4096,framesz=2048,framecnt=16384");
    CHECK(parsed("net_af_packet0,iface=e,framecnt=512").arguments ==
          "net_af_packet0,iface=e,framecnt=512");
    CHECK(parsed("net_af_packet0,iface=e,blocksz=8192").arguments ==
          "net_af_packet0,iface=e,blocksz=8192");
}

TEST_CASE("dpdk device: what is neither an address nor a device name is refused") {
    for (const char* text : {"", ",iface=eth0", "net null0", "3b:00.8", "00003b:00.0", "3b:0g.0",
                             "0000:3b:00.0 ", "zzzz:3b:00.0", "../eth0"}) {
        INFO(text);
        CHECK(!parse_device(text).ok());
    }
}

TEST_CASE("dpdk device: a PCI address without a port is explained by what holds the card") {
    std::string name = (std::filesystem::temp_directory_path() / "wirebook-sys-XXXXXX").string();
    const std::filesystem::path sys = mkdtemp(name.data());
    const auto card = [&](const std::string& address) {
        const std::filesystem::path folder = sys / "bus/pci/devices" / address;
        std::filesystem::create_directories(folder);
        return folder;
    };
    card("0000:01:00.0");
    std::filesystem::create_symlink("../../drivers/e1000e", card("0000:02:00.0") / "driver");
    std::filesystem::create_symlink("../../drivers/vfio-pci", card("0000:03:00.0") / "driver");

    const auto says = [&](const std::string& address, const std::string& part) {
        const std::string text = explain_missing_pci(address, sys.string());
        INFO(text);
        CHECK(text.find(address) != std::string::npos);
        CHECK(text.find(part) != std::string::npos);
    };
    says("0000:01:00.0", "has no kernel driver");
    says("0000:02:00.0", "belongs to the kernel driver e1000e");
    says("0000:03:00.0", "is bound to vfio-pci");
    says("0000:04:00.0", "there is no PCI device");
    std::filesystem::remove_all(sys);
}
