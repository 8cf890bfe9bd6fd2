// How a port's device string is read: a PCI address or a virtual device, each with driver
// arguments after a comma. No DPDK here; pure functions of their arguments, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wirebook/core/result.hpp"

namespace wirebook::io::dpdk {

struct DeviceName {
    std::string name;       // "0000:3b:00.0", "net_pcap0": what DPDK calls the device
    std::string arguments;  // name and driver arguments, as DPDK's -a and rte_dev_probe take them
    bool pci = false;
    // Receive queues that the string itself creates ("rx_pcap=A,rx_pcap=B": 2); 0: it does not say.
    std::uint16_t queues = 0;
    std::vector<std::string> files;  // that a net_pcap is to read
};

// "3b:00.0" becomes "0000:3b:00.0". A net_af_packet without sizes gets a ring of 16,384 frames:
// the driver's own default of 512 overflows within a millisecond of traffic, silently.
[[nodiscard]] Result<DeviceName> parse_device(std::string_view text);

// Why there is no port at a PCI address, as far as /sys tells: "no such device", "its driver is
// e1000e, ...". `sys` is "/sys", another folder in tests.
[[nodiscard]] std::string explain_missing_pci(const std::string& address, const std::string& sys);

}  // namespace wirebook::io::dpdk
