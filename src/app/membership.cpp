#include "membership.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "wirebook/core/clock.hpp"
#include "wirebook/io/igmp_host.hpp"
#include "wirebook/io/membership_socket.hpp"

namespace wirebook::app {
namespace {

enum class Way : std::uint8_t { none, igmp, kernel };

// The value of `key` in a device string: "iface" of "net_af_packet0,iface=veth1".
std::string argument_of(const std::string& device, const std::string& key) {
    const std::size_t at = device.find("," + key + "=");
    if (at == std::string::npos) return {};
    const std::size_t from = at + key.size() + 2;
    return device.substr(from, device.find(',', from) - from);
}

// The interface that the kernel keeps of a NIC that DPDK uses beside it.
std::string interface_of_pci(const std::string& address) {
    std::error_code failed;
    std::filesystem::directory_iterator names("/sys/bus/pci/devices/" + address + "/net", failed);
    if (failed || names == std::filesystem::directory_iterator{}) return {};
    return names->path().filename().string();
}

std::string interface_of(const PortConfig& config, const std::string& device) {
    if (!config.interface.empty()) return config.interface;
    if (config.is_pci()) return interface_of_pci(device);
    const std::string named = argument_of(config.device, "iface");
    return named.empty() ? argument_of(config.device, "rx_iface") : named;
}

Way way_of(const PortConfig& config, const std::string& interface, bool transmits) {
    switch (config.membership) {
        case Membership::none: return Way::none;
        case Membership::kernel: return Way::kernel;
        case Membership::igmp:
        case Membership::igmp_v2:
        case Membership::igmp_v3: return Way::igmp;
        case Membership::automatic: break;
    }
    // Whoever has the interface answers the switch's queries.
    if (!interface.empty()) return Way::kernel;
    return config.is_pci() && transmits ? Way::igmp : Way::none;
}

io::IgmpVersion version_of(Membership membership) {
    if (membership == Membership::igmp_v2) return io::IgmpVersion::v2;
    if (membership == Membership::igmp_v3) return io::IgmpVersion::v3;
    return io::IgmpVersion::automatic;
}

}  // namespace

struct GroupMembership::Impl {
    struct Port {
        std::vector<LineConfig> lines;
        io::IgmpOptions options;
        std::optional<io::IgmpHost> host;
        std::optional<io::MembershipSockets> sockets;
    };

    explicit Impl(io::DpdkSource& from) : source(&from), clock(TscClock::calibrate()) {}

    [[nodiscard]] std::optional<Error> join(const Config& config, std::size_t index);
    [[nodiscard]] std::optional<Error> join_by_kernel(const PortConfig& config, Port& port,
                                                      const std::string& interface);
    [[nodiscard]] std::optional<Error> join_by_igmp(std::size_t index, Port& port);
    [[nodiscard]] std::int64_t now_ns() const { return clock.to_utc_ns(rdtsc()); }
    [[nodiscard]] io::IgmpHost::Send sender(std::size_t port) const {
        return [this, port](wire::Bytes frame) { return bool(source->send(port, frame)); };
    }

    io::DpdkSource* source;
    TscClock clock;
    std::vector<Port> ports;
    std::vector<std::string> notices;
};

std::optional<Error> GroupMembership::Impl::join(const Config& config, std::size_t index) {
    const PortConfig& of = config.ports[index];
    Port& port = ports[index];
    for (const ChannelConfig& channel : config.channels) {
        for (const LineConfig& line : channel.lines) {
            if (line.port == index && line.group.address.is_multicast()) port.lines.push_back(line);
        }
    }
    const std::string interface = interface_of(of, source->device(index));
    const Way way = way_of(of, interface, source->transmits(index));
    if (port.lines.empty() || way == Way::none) return std::nullopt;
    if (way == Way::kernel) return join_by_kernel(of, port, interface);
    if (!source->transmits(index)) {
        return Error{EINVAL, of.device + ": membership by IGMP wants a port that can send"};
    }
    const std::array<std::uint8_t, 6> mac = source->mac(index);
    std::copy(mac.begin(), mac.end(), port.options.sender.mac.begin());
    if (of.source_address) port.options.sender.address = of.source_address->ipv4();
    port.options.sender.vlan = of.vlan;
    port.options.version = version_of(of.membership);
    return join_by_igmp(index, port);
}

std::optional<Error> GroupMembership::Impl::join_by_kernel(const PortConfig& config, Port& port,
                                                           const std::string& interface) {
    if (interface.empty()) {
        return Error{EINVAL, config.device +
                                 ": membership by the kernel wants an interface of the kernel's: "
                                 "interface = \"eth1\""};
    }
    std::vector<io::Membership> wanted;
    for (const LineConfig& line : port.lines) wanted.push_back({line.group.address, line.sources});
    auto joined = io::MembershipSockets::join(interface, wanted);
    if (!joined) return joined.error();
    port.sockets.emplace(std::move(joined).value());
    return std::nullopt;
}

std::optional<Error> GroupMembership::Impl::join_by_igmp(std::size_t index, Port& port) {
    port.host.emplace(port.options, rdtsc());
    for (const LineConfig& line : port.lines) {
        if (!line.group.address.is_ipv4()) {
            notices.push_back(source->device(index) + ": " + line.group.to_string() +
                              " is not joined: IGMP is for IPv4 groups; membership = \"kernel\", "
                              "or a static route of the switch");
            continue;
        }
        std::vector<std::uint32_t> sources;
        for (const wire::Address& sender : line.sources) sources.push_back(sender.ipv4());
        if (auto joined = port.host->join(line.group.address.ipv4(), sources); !joined) {
            return Error{EINVAL, source->device(index) + ": " + joined.error().context};
        }
    }
    return std::nullopt;
}

GroupMembership::GroupMembership(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {
}
GroupMembership::GroupMembership(GroupMembership&&) noexcept = default;
GroupMembership& GroupMembership::operator=(GroupMembership&&) noexcept = default;
GroupMembership::~GroupMembership() = default;

Result<GroupMembership> GroupMembership::open(const Config& config, io::DpdkSource& source) {
    auto impl = std::make_unique<Impl>(source);
    impl->ports.resize(source.ports());
    for (std::size_t port = 0; port < source.ports(); ++port) {
        if (auto error = impl->join(config, port)) return *error;
    }
    GroupMembership membership(std::move(impl));
    membership.tick();
    return membership;
}

void GroupMembership::on_frame(std::size_t port, wire::Bytes frame) {
    if (port >= impl_->ports.size() || !impl_->ports[port].host) return;
    static_cast<void>(impl_->ports[port].host->on_frame(frame, impl_->now_ns()));
}

void GroupMembership::tick() {
    const std::int64_t now = impl_->now_ns();
    for (std::size_t port = 0; port < impl_->ports.size(); ++port) {
        auto& host = impl_->ports[port].host;
        if (host && host->next_due_ns() <= now) host->poll(now, impl_->sender(port));
    }
}

void GroupMembership::rejoin(std::size_t index) {
    Impl::Port& port = impl_->ports[index];
    if (port.host) port.host->rejoin();  // the kernel does so by itself
}

void GroupMembership::leave() {
    for (std::size_t index = 0; index < impl_->ports.size(); ++index) {
        Impl::Port& port = impl_->ports[index];
        if (port.host) port.host->leave_all(impl_->now_ns(), impl_->sender(index));
        if (port.sockets) port.sockets->leave();
    }
}

std::string GroupMembership::kind(std::size_t index) const {
    const Impl::Port& port = impl_->ports[index];
    if (port.host) return "igmp";
    return port.sockets ? "kernel" : "none";
}

MembershipCounts GroupMembership::counts(std::size_t index) const {
    const Impl::Port& port = impl_->ports[index];
    if (!port.host) return {};
    const io::IgmpCounters& counted = port.host->counters();
    return {counted.queries, counted.reports, counted.leaves};
}

const std::vector<std::string>& GroupMembership::notices() const noexcept {
    return impl_->notices;
}

}  // namespace wirebook::app
