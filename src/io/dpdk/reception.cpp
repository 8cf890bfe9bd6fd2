// Multicast filters through rte_ethdev, flow rules through rte_flow; see reception.hpp.
#include "reception.hpp"

#include <rte_ethdev.h>
#include <rte_flow.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "eal_log.hpp"

namespace wirebook::io::dpdk {

namespace {

// RFC 1112, 6.4 and RFC 2464, 7.
MacAddress mac_of(const wire::Address& group) {
    const auto byte = [&](unsigned shift) {
        return static_cast<std::uint8_t>(group.low >> shift & 0xFFU);
    };
    if (group.is_ipv4()) {
        return {0x01, 0x00, 0x5E, static_cast<std::uint8_t>(byte(16) & 0x7FU), byte(8), byte(0)};
    }
    return {0x33, 0x33, byte(24), byte(16), byte(8), byte(0)};
}

int set_mac_list(const Port& port, const std::vector<DpdkGroup>& groups) {
    std::vector<rte_ether_addr> list;
    for (const MacAddress& mac : mac_list(groups)) {
        rte_ether_addr& entry = list.emplace_back();
        std::memcpy(entry.addr_bytes, mac.data(), mac.size());
    }
    return rte_eth_dev_set_mc_addr_list(port.id, list.data(),
                                        static_cast<std::uint32_t>(list.size()));
}

struct Way {
    Reception reception;
    const char* words;
};
constexpr std::array<Way, 3> ways{{{Reception::mac_list, "list of multicast addresses"},
                                   {Reception::all_multicast, "all-multicast"},
                                   {Reception::promiscuous, "promiscuous"}}};

int take_way(const Port& port, Reception way, const std::vector<DpdkGroup>& groups) {
    if (way == Reception::mac_list) return set_mac_list(port, groups);
    if (way == Reception::all_multicast) return rte_eth_allmulticast_enable(port.id);
    return rte_eth_promiscuous_enable(port.id);
}

// The driver does not have it, or the list is longer than its table.
bool is_refusal(int code, Reception way) {
    return code == -ENOTSUP || code == -ENOSYS ||
           (way == Reception::mac_list && (code == -ENOSPC || code == -EINVAL));
}

// ---- flow rules

struct Rule {
    rte_flow_item_ipv4 ipv4{}, ipv4_mask{};
    rte_flow_item_ipv6 ipv6{}, ipv6_mask{};
    rte_flow_item_udp udp{}, udp_mask{};
    rte_flow_action_queue queue{};
    std::array<rte_flow_item, 4> pattern{};
    std::array<rte_flow_action, 2> actions{};
};

void put_big_endian(std::uint8_t* to, std::uint64_t value) {
    for (unsigned i = 0; i < 8; ++i) to[i] = static_cast<std::uint8_t>(value >> (56 - 8 * i));
}

void describe_rule(const DpdkGroup& group, Rule& rule) {
    rule.pattern[0].type = RTE_FLOW_ITEM_TYPE_ETH;
    rte_flow_item& ip = rule.pattern[1];
    if (group.address.is_ipv4()) {
        rule.ipv4.hdr.dst_addr = rte_cpu_to_be_32(group.address.ipv4());
        rule.ipv4_mask.hdr.dst_addr = 0xFFFF'FFFF;
        ip = {RTE_FLOW_ITEM_TYPE_IPV4, &rule.ipv4, nullptr, &rule.ipv4_mask};
    } else {
        put_big_endian(rule.ipv6.hdr.dst_addr, group.address.high);
        put_big_endian(rule.ipv6.hdr.dst_addr + 8, group.address.low);
        std::memset(rule.ipv6_mask.hdr.dst_addr, 0xFF, sizeof rule.ipv6_mask.hdr.dst_addr);
        ip = {RTE_FLOW_ITEM_TYPE_IPV6, &rule.ipv6, nullptr, &rule.ipv6_mask};
    }
    rule.udp.hdr.dst_port = rte_cpu_to_be_16(group.udp_port);
    rule.udp_mask.hdr.dst_port = 0xFFFF;
    rule.pattern[2] = {RTE_FLOW_ITEM_TYPE_UDP, &rule.udp, nullptr, &rule.udp_mask};
    rule.pattern[3].type = RTE_FLOW_ITEM_TYPE_END;
    rule.queue.index = group.queue;
    rule.actions[0] = {RTE_FLOW_ACTION_TYPE_QUEUE, &rule.queue};
    rule.actions[1].type = RTE_FLOW_ACTION_TYPE_END;
}

// "": made; else why not.
std::string make_rule(const Port& port, const DpdkGroup& group) {
    Rule rule;
    describe_rule(group, rule);
    rte_flow_attr attributes{};
    attributes.ingress = 1;
    rte_flow_error error{};
    const int code =
        rte_flow_validate(port.id, &attributes, rule.pattern.data(), rule.actions.data(), &error);
    const bool made = code == 0 && rte_flow_create(port.id, &attributes, rule.pattern.data(),
                                                   rule.actions.data(), &error) != nullptr;
    if (made) return {};
    const std::string why = error.message != nullptr ? error.message : "no reason given";
    return "no rule for " + wire::to_string(group.address) + ":" + std::to_string(group.udp_port) +
           " (" + why + ")";
}

std::string make_rules(const Port& port, const std::vector<DpdkGroup>& groups) {
    for (const DpdkGroup& group : groups) {
        std::string why = make_rule(port, group);
        if (why.empty()) continue;
        rte_flow_error error{};
        static_cast<void>(rte_flow_flush(port.id, &error));
        return why;
    }
    return {};
}

}  // namespace

std::vector<MacAddress> mac_list(const std::vector<DpdkGroup>& groups) {
    std::vector<MacAddress> list;
    const auto add = [&](const MacAddress& mac) {
        if (std::find(list.begin(), list.end(), mac) == list.end()) list.push_back(mac);
    };
    for (const DpdkGroup& group : groups) {
        if (!group.address.is_multicast()) continue;
        if (list.empty()) add({0x01, 0x00, 0x5E, 0x00, 0x00, 0x01});  // all hosts: queries
        add(mac_of(group.address));
    }
    return list;
}

std::optional<Error> accept_multicast(Port& port, const DpdkPortOptions& wanted,
                                      std::vector<std::string>& notices) {
    const bool automatic = wanted.reception == Reception::automatic;
    for (const Way& way : ways) {
        if (!automatic && wanted.reception != way.reception) continue;
        // A list of nothing would be taken, and let nothing in.
        if (automatic && way.reception == Reception::mac_list && mac_list(wanted.groups).empty())
            continue;
        const int code = take_way(port, way.reception, wanted.groups);
        if (code == 0) {
            port.reception = way.words;
            return std::nullopt;
        }
        if (!is_refusal(code, way.reception) || !automatic) {
            return port_error(port, std::string("switch on: ") + way.words, code);
        }
    }
    static_cast<void>(take_gathered());
    port.reception = "what the driver delivers";
    notices.push_back(
        port.device.name +
        ": the driver has neither a list of multicast addresses nor all-multicast nor "
        "promiscuous mode; it delivers what it delivers");
    return std::nullopt;
}

std::optional<Error> steer_groups(Port& port, const DpdkPortOptions& wanted,
                                  std::vector<std::string>& notices) {
    if (port.queues < 2) return std::nullopt;
    port.steering = port.can_hash ? "queues by hash" : "queues as the driver has it";
    if (wanted.steering == Steering::none) return std::nullopt;
    const std::string why = make_rules(port, wanted.groups);
    if (why.empty()) {
        port.steering = "queues by rules";
        return std::nullopt;
    }
    if (wanted.steering == Steering::required) {
        return Error{ENOTSUP, port.device.name +
                                  ": the NIC cannot send groups to chosen queues, "
                                  "which channels of different lcores need: " +
                                  why + "; give these channels one lcore, or a port each"};
    }
    notices.push_back(port.device.name + ": " + why + "; " +
                      (port.can_hash ? "queues are chosen by hash (RSS)"
                                     : "all packets come to the first queue"));
    return std::nullopt;
}

}  // namespace wirebook::io::dpdk
