// Group membership of the ports of `wirebook run`: IGMP sent from the port, or a socket of the
// kernel's, or nothing; by port, as the configuration says. Control thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "wirebook/app/config.hpp"
#include "wirebook/core/result.hpp"
#include "wirebook/io/dpdk_source.hpp"
#include "wirebook/wire/view.hpp"

namespace wirebook::app {

struct MembershipCounts {
    std::uint64_t queries = 0, reports = 0, leaves = 0;
};

class GroupMembership {
public:
    // Joins every group of every line on its port. Errors name interface or port and group.
    [[nodiscard]] static Result<GroupMembership> open(const Config& config, io::DpdkSource& source);

    GroupMembership(GroupMembership&&) noexcept;
    GroupMembership& operator=(GroupMembership&&) noexcept;
    GroupMembership(const GroupMembership&) = delete;
    GroupMembership& operator=(const GroupMembership&) = delete;
    ~GroupMembership();

    void on_frame(std::size_t port, wire::Bytes frame);
    void tick();                    // sends what is due
    void rejoin(std::size_t port);  // its link came back
    void leave();                   // all groups, at the end
    [[nodiscard]] std::string kind(std::size_t port) const;
    [[nodiscard]] MembershipCounts counts(std::size_t port) const;
    // A sentence for people where a group could not be told of.
    [[nodiscard]] const std::vector<std::string>& notices() const noexcept;

private:
    struct Impl;
    explicit GroupMembership(std::unique_ptr<Impl> impl) noexcept;

    std::unique_ptr<Impl> impl_;
};

}  // namespace wirebook::app
