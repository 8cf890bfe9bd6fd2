// Who uses an interface: routes, sessions, connections, interfaces that stand on it; see host.hpp.
// All from /proc/net, so that it works in another tree too. IPv4 addresses of an interface are
// known by its connected routes, IPv6 addresses by if_inet6.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdio>

#include "wirebook/app/host.hpp"

namespace wirebook::app {

namespace {

struct Route {
    std::string interface;
    std::uint32_t network = 0;  // as the first byte of the address comes first
    std::uint32_t mask = 0;
    bool gateway = false;
};

// "0100A8C0": the address as this machine reads its four bytes, 192.168.0.1 on x86.
std::uint32_t address_of(std::string_view hex) {
    const auto number = static_cast<std::uint32_t>(parse_integer(hex, 16).value_or(0));
    return std::endian::native == std::endian::little ? __builtin_bswap32(number) : number;
}

std::string dotted(std::uint32_t address) {
    return fmt::format("{}.{}.{}.{}", address >> 24U, address >> 16U & 255U, address >> 8U & 255U,
                       address & 255U);
}

std::vector<Route> ipv4_routes(const HostTree& tree) {
    std::vector<Route> routes;
    for (const std::string& line : tree.lines("/proc/net/route")) {
        const std::vector<std::string> words = split_words(line);
        if (words.size() < 8 || words[0] == "Iface") continue;
        routes.push_back(
            {words[0], address_of(words[1]), address_of(words[7]), address_of(words[2]) != 0});
    }
    return routes;
}

// "fe80:0:..." of 32 hexadecimal digits, not shortened.
std::string ipv6_text(std::string_view hex) {
    std::string text;
    for (std::size_t i = 0; i + 4 <= hex.size(); i += 4) {
        text += fmt::format("{}{:x}", i == 0 ? "" : ":",
                            parse_integer(hex.substr(i, 4), 16).value_or(0));
    }
    return text;
}

void add_routes(const HostTree& tree, const std::string& interface,
                std::vector<std::string>& uses) {
    for (const Route& route : ipv4_routes(tree)) {
        if (route.interface != interface) continue;
        uses.push_back(route.mask == 0 ? "the default route"
                                       : "the route " + dotted(route.network) + "/" +
                                             std::to_string(std::popcount(route.mask)));
    }
    constexpr std::int64_t local = 0x80000000, reject = 0x200;  // RTF_LOCAL, RTF_REJECT
    for (const std::string& line : tree.lines("/proc/net/ipv6_route")) {
        const std::vector<std::string> words = split_words(line);
        if (words.size() < 10 || words[9] != interface) continue;
        const std::int64_t flags = parse_integer(words[8], 16).value_or(0);
        // Every interface has its own addresses, a link-local and a multicast network.
        if ((flags & (local | reject)) != 0 || words[0].starts_with("fe80") ||
            words[0].starts_with("ff"))
            continue;
        const std::int64_t bits = parse_integer(words[1], 16).value_or(0);
        uses.push_back(bits == 0 ? "the default route of IPv6"
                                 : "the route " + ipv6_text(words[0]) + "/" + std::to_string(bits));
    }
}

// IPv4 networks and IPv6 addresses of one interface.
class Addresses {
public:
    Addresses(const HostTree& tree, const std::string& interface) {
        for (const Route& route : ipv4_routes(tree)) {
            if (route.interface == interface && !route.gateway && route.mask != 0)
                networks_.push_back(route);
        }
        for (const std::string& line : tree.lines("/proc/net/if_inet6")) {
            const std::vector<std::string> words = split_words(line);
            if (words.size() == 6 && words[5] == interface) ipv6_.push_back(words[0]);
        }
    }
    [[nodiscard]] bool has(std::uint32_t address) const {
        return std::any_of(networks_.begin(), networks_.end(), [&](const Route& route) {
            return (address & route.mask) == route.network;
        });
    }
    [[nodiscard]] bool has_ipv6(std::string hex) const {
        for (char& c : hex) c = static_cast<char>(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);
        return std::find(ipv6_.begin(), ipv6_.end(), hex) != ipv6_.end();
    }

private:
    std::vector<Route> networks_;
    std::vector<std::string> ipv6_;
};

// The digits of an address in /proc/net/tcp6: four words, each as this machine reads it.
std::string ipv6_digits(const std::string& words) {
    std::string digits;
    for (std::size_t i = 0; i + 8 <= words.size(); i += 8)
        digits += fmt::format("{:08x}", address_of(words.substr(i, 8)));
    return digits;
}

bool is_local(const Addresses& addresses, const std::string& hex) {
    if (hex.size() == 8) return addresses.has(address_of(hex));
    const std::string digits = ipv6_digits(hex);
    // IPv4 through a socket of IPv6: ::ffff:a.b.c.d
    if (digits.starts_with("00000000000000000000ffff"))
        return addresses.has(
            static_cast<std::uint32_t>(parse_integer(digits.substr(24), 16).value_or(0)));
    return addresses.has_ipv6(digits);
}

std::size_t open_connections(const HostTree& tree, const Addresses& addresses) {
    std::size_t count = 0;
    for (const char* file : {"/proc/net/tcp", "/proc/net/tcp6"}) {
        for (const std::string& line : tree.lines(file)) {
            const std::vector<std::string> words = split_words(line);
            if (words.size() < 4 || words[3] != "01") continue;  // 01: established
            count += is_local(addresses, words[1].substr(0, words[1].find(':'))) ? 1U : 0U;
        }
    }
    return count;
}

// "10.1.0.9 50312 10.1.0.2 22": client and server.
void add_session(const Addresses& addresses, std::string_view ssh_connection,
                 std::vector<std::string>& uses) {
    const std::vector<std::string> words = split_words(ssh_connection);
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (words.size() != 4 ||
        // NOLINTNEXTLINE(cert-err34-c): a text that is no address is no IPv4 session
        std::sscanf(words[2].c_str(), "%3u.%3u.%3u.%3u", &a, &b, &c, &d) != 4)
        return;
    if (addresses.has(a << 24U | b << 16U | c << 8U | d))
        uses.push_back("the ssh session from " + words[0]);
}

std::vector<std::string> uses_at(const HostTree& tree, const std::string& interface,
                                 std::string_view ssh_connection, unsigned depth) {
    std::vector<std::string> uses;
    add_routes(tree, interface, uses);
    const Addresses addresses{tree, interface};
    add_session(addresses, ssh_connection, uses);
    if (const std::size_t open = open_connections(tree, addresses); open > 0)
        uses.push_back(std::to_string(open) + " open TCP connection" + (open == 1 ? "" : "s"));
    constexpr unsigned deepest = 8;  // of the kernel's own limit
    if (depth == deepest) return uses;
    for (const std::string& name : tree.list("/sys/class/net/" + interface)) {
        if (!name.starts_with("upper_")) continue;
        const std::string upper = name.substr(6);
        const std::vector<std::string> above = uses_at(tree, upper, ssh_connection, depth + 1);
        if (above.empty()) uses.push_back("the interface " + upper);
        for (const std::string& use : above) uses.push_back(fmt::format("{} (by {})", use, upper));
    }
    return uses;
}

}  // namespace

std::vector<std::string> uses_of(const HostTree& tree, const std::string& interface,
                                 std::string_view ssh_connection) {
    return uses_at(tree, interface, ssh_connection, 1);
}

std::string multicast_interface(const HostTree& tree) {
    std::string interface;
    std::uint32_t longest = 0;
    for (const Route& route : ipv4_routes(tree)) {
        const bool covers = route.mask <= 0xF0000000 && (0xE0000000 & route.mask) == route.network;
        if (covers && (interface.empty() || route.mask > longest)) {
            interface = route.interface;
            longest = route.mask;
        }
    }
    return interface;
}

}  // namespace wirebook::app
