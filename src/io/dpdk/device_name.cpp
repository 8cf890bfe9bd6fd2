// Device strings; see device_name.hpp.
#include "device_name.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <system_error>

namespace wirebook::io::dpdk {

namespace {

bool all_hex(std::string_view text) {
    return std::all_of(text.begin(), text.end(),
                       [](unsigned char c) { return std::isxdigit(c) != 0; });
}

// [domain:]bus:device.function, in hexadecimal, as lspci prints it.
std::optional<std::string> full_pci_address(std::string_view text) {
    std::string domain = "0000:";
    if (text.size() == 12 && text[4] == ':' && all_hex(text.substr(0, 4))) {
        domain = text.substr(0, 5);
        text.remove_prefix(5);
    }
    const bool shape = text.size() == 7 && text[2] == ':' && text[5] == '.';
    if (!shape || !all_hex(text.substr(0, 2)) || !all_hex(text.substr(3, 2))) return std::nullopt;
    if (text[6] < '0' || text[6] > '7') return std::nullopt;
    return domain + std::string(text);
}

std::uint16_t count_of(std::string_view text, std::string_view what) {
    std::uint16_t count = 0;
    for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++count;
    return count;
}

std::uint16_t value_of(std::string_view text, std::string_view key) {
    const std::size_t at = text.find(key);
    std::uint16_t value = 0;
    if (at == text.npos) return value;
    text.remove_prefix(at + key.size());
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

std::vector<std::string> files_read(std::string_view arguments) {
    constexpr std::string_view key = ",rx_pcap=";
    std::vector<std::string> files;
    for (std::size_t at = arguments.find(key); at != arguments.npos; at = arguments.find(key, at)) {
        at += key.size();
        const std::size_t end = std::min(arguments.find(',', at), arguments.size());
        files.emplace_back(arguments.substr(at, end - at));
    }
    return files;
}

std::uint16_t queues_created(std::string_view arguments) {
    const bool pcap = arguments.starts_with("net_pcap");
    if (pcap) return static_cast<std::uint16_t>(count_of(arguments, ",rx_"));
    if (arguments.starts_with("net_af_packet")) {
        return std::max<std::uint16_t>(1, value_of(arguments, ",qpairs="));
    }
    if (arguments.starts_with("net_af_xdp")) {
        return std::max<std::uint16_t>(1, value_of(arguments, ",queue_count="));
    }
    return 0;
}

}  // namespace

Result<DeviceName> parse_device(std::string_view text) {
    DeviceName device;
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string head(text.substr(0, comma));
    device.arguments = head + std::string(text.substr(comma));

    std::string lower = head;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (const auto address = full_pci_address(lower)) {
        device.name = *address;
        device.pci = true;
        device.arguments = *address + std::string(text.substr(comma));
        return device;
    }
    const bool plain = std::all_of(head.begin(), head.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
    });
    if (head.empty() || !plain) {
        return Error{EINVAL, "device \"" + std::string(text) +
                                 "\": neither a PCI address (0000:3b:00.0) nor a virtual device "
                                 "(net_af_packet0,iface=eth1)"};
    }
    device.name = head;
    if (head.starts_with("net_af_packet") && text.find("frame") == text.npos &&
        text.find("blocksz") == text.npos) {
        device.arguments += ",blocksz=4096,framesz=2048,framecnt=16384";
    }
    device.queues = queues_created(device.arguments);
    if (head.starts_with("net_pcap")) device.files = files_read(device.arguments);
    return device;
}

std::string explain_missing_pci(const std::string& address, const std::string& sys) {
    const std::filesystem::path folder = sys + "/bus/pci/devices/" + address;
    std::error_code failed;
    if (!std::filesystem::exists(folder, failed)) {
        return "there is no PCI device " + address + " (lspci -D lists them)";
    }
    const auto driver = std::filesystem::read_symlink(folder / "driver", failed);
    if (failed) {
        return address + " has no kernel driver; bind it: wirebook bind " + address;
    }
    const std::string name = driver.filename().string();
    // The last one's NICs stay with the kernel.
    if (name == "vfio-pci" || name == "uio_pci_generic" || name == "igb_uio" ||
        name == "mlx5_core") {
        return address + " is bound to " + name +
               ", but no driver built into this program takes it, or it failed to start";
    }
    return address + " belongs to the kernel driver " + name +
           "; if no traffic of this machine needs it, bind it: wirebook bind " + address;
}

}  // namespace wirebook::io::dpdk
