// Memberships held by sockets; see the header.
#include "wirebook/io/membership_socket.hpp"

#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "wirebook/wire/field.hpp"

namespace wirebook::io {

namespace {

using Key = std::pair<std::uint64_t, std::uint64_t>;  // an Address, in order

struct Interface {
    const std::string& name;
    std::uint32_t index;
};

Key key_of(const wire::Address& address) noexcept {
    return {address.high, address.low};
}

int family_of(const wire::Address& address) noexcept {
    return address.is_ipv4() ? AF_INET : AF_INET6;
}

sockaddr_storage socket_address(const wire::Address& address) noexcept {
    sockaddr_storage storage{};
    if (address.is_ipv4()) {
        sockaddr_in ipv4{};
        ipv4.sin_family = AF_INET;
        ipv4.sin_addr.s_addr = htonl(address.ipv4());
        std::memcpy(&storage, &ipv4, sizeof ipv4);
        return storage;
    }
    struct {
        wire::be64 high;
        wire::be64 low;
    } bytes{};
    bytes.high.set(address.high);
    bytes.low.set(address.low);
    sockaddr_in6 ipv6{};
    ipv6.sin6_family = AF_INET6;
    std::memcpy(&ipv6.sin6_addr, &bytes, sizeof bytes);
    std::memcpy(&storage, &ipv6, sizeof ipv6);
    return storage;
}

// One group from one source, or from any. 0, or an errno.
int try_to_join(int descriptor, std::uint32_t interface, const wire::Address& group,
                const wire::Address* source) noexcept {
    const int level = group.is_ipv4() ? IPPROTO_IP : IPPROTO_IPV6;
    int result = 0;
    if (source == nullptr) {
        group_req request{};
        request.gr_interface = interface;
        request.gr_group = socket_address(group);
        result = setsockopt(descriptor, level, MCAST_JOIN_GROUP, &request, sizeof request);
    } else {
        group_source_req request{};
        request.gsr_interface = interface;
        request.gsr_group = socket_address(group);
        request.gsr_source = socket_address(*source);
        result = setsockopt(descriptor, level, MCAST_JOIN_SOURCE_GROUP, &request, sizeof request);
    }
    return result == 0 ? 0 : errno;
}

// A socket has its limits of groups, of sources and of memory for both.
bool is_full(int code) noexcept {
    return code == ENOBUFS || code == ENOMEM;
}

// Joins with the newest socket of the group's family, or with another one where that is full.
class Joiner {
public:
    Joiner(Interface interface, std::vector<int>& sockets)
        : interface_(interface), sockets_(sockets) {}

    std::optional<Error> join(const wire::Address& group, const wire::Address* source) {
        std::string what = "join " + wire::to_string(group);
        if (source != nullptr) what += " from " + wire::to_string(*source);
        what += " on interface " + interface_.name;
        int& newest = group.is_ipv4() ? ipv4_ : ipv6_;
        int code = ENOBUFS;
        if (newest >= 0) code = try_to_join(newest, interface_.index, group, source);
        if (is_full(code)) {
            newest = ::socket(family_of(group), SOCK_DGRAM | SOCK_CLOEXEC, 0);
            if (newest < 0) return errno_error(what + ": open a UDP socket", errno);
            sockets_.push_back(newest);
            code = try_to_join(newest, interface_.index, group, source);
        }
        if (code == 0) return std::nullopt;
        return errno_error(what, code);
    }

private:
    Interface interface_;
    std::vector<int>& sockets_;
    int ipv4_ = -1;
    int ipv6_ = -1;
};

struct Wanted {
    bool any_source = false;
    std::set<Key> sources;
};

std::optional<Error> check(const Membership& membership) {
    const std::string name = wire::to_string(membership.group);
    if (!membership.group.is_multicast()) return Error{EINVAL, name + " is no multicast group"};
    for (const wire::Address& source : membership.sources) {
        if (source.is_ipv4() != membership.group.is_ipv4() || source.is_multicast()) {
            return Error{EINVAL, wire::to_string(source) + " cannot be a source of group " + name};
        }
    }
    return std::nullopt;
}

}  // namespace

Result<MembershipSockets> MembershipSockets::join(const std::string& interface,
                                                  std::span<const Membership> memberships) {
    std::map<Key, Wanted> wanted;
    for (const Membership& membership : memberships) {
        if (auto error = check(membership)) return *error;
        Wanted& group = wanted[key_of(membership.group)];
        if (membership.sources.empty()) group.any_source = true;
        for (const wire::Address& source : membership.sources) group.sources.insert(key_of(source));
    }
    const std::uint32_t index = if_nametoindex(interface.c_str());
    if (index == 0) return errno_error("interface " + interface, errno);
    MembershipSockets sockets;
    Joiner joiner({interface, index}, sockets.sockets_);
    for (const auto& [key, group] : wanted) {
        const wire::Address address{key.first, key.second};
        if (group.any_source) {
            if (auto error = joiner.join(address, nullptr)) return *error;
            continue;
        }
        for (const Key& from : group.sources) {
            const wire::Address source{from.first, from.second};
            if (auto error = joiner.join(address, &source)) return *error;
        }
    }
    return sockets;
}

void MembershipSockets::leave() noexcept {
    for (const int descriptor : sockets_) ::close(descriptor);
    sockets_.clear();
}

}  // namespace wirebook::io
