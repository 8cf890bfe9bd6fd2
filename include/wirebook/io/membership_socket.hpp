// Groups joined by the kernel on an interface that it has: where a port and the kernel share a NIC
// (bifurcated drivers, af_packet, af_xdp), the kernel's own IGMP and MLD do the reporting.
//
// The sockets are there for their memberships alone. They are never bound to a port, so nothing is
// received and nothing queues up. Closing them leaves the groups: the kernel says so.
// One socket holds 20 groups (net.ipv4.igmp_max_memberships) and 10 sources of a group
// (net.ipv4.igmp_max_msf), whatever the machine's settings are; as many are opened as it takes.
// The version of the reports is the interface's: net.ipv4.conf.IFACE.force_igmp_version.
// Depends on core and wire. Cold; one thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "wirebook/core/result.hpp"
#include "wirebook/wire/address.hpp"

namespace wirebook::io {

struct Membership {
    wire::Address group;                 // IPv4 or IPv6
    std::vector<wire::Address> sources;  // of the same family; none: from any source
};

class MembershipSockets {
public:
    // All of them or none. Several of one group become one, from any source if one of them is. The
    // error names the interface, the group and the source.
    [[nodiscard]] static Result<MembershipSockets> join(const std::string& interface,
                                                        std::span<const Membership> memberships);

    // Of no group.
    MembershipSockets() = default;
    MembershipSockets(MembershipSockets&& other) noexcept { sockets_.swap(other.sockets_); }
    MembershipSockets& operator=(MembershipSockets&& other) noexcept {
        sockets_.swap(other.sockets_);
        return *this;
    }
    MembershipSockets(const MembershipSockets&) = delete;
    MembershipSockets& operator=(const MembershipSockets&) = delete;
    ~MembershipSockets() { leave(); }

    // Leaves all groups.
    void leave() noexcept;

    [[nodiscard]] std::size_t socket_count() const noexcept { return sockets_.size(); }

private:
    std::vector<int> sockets_;
};

}  // namespace wirebook::io
