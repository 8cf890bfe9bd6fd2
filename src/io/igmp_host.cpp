// The host state machine of IGMP; see the header.
#include "wirebook/io/igmp_host.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <string>

#include "wirebook/core/base.hpp"
#include "wirebook/wire/address.hpp"

namespace wirebook::io {

using wire::igmp::Heard;
using wire::igmp::MessageKind;
using wire::igmp::RecordType;

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t least_response_ns = second_ns / 10;  // the smallest that a query can say
constexpr std::int64_t default_query_interval_ns = 125 * second_ns;  // RFC 3376, 8.2
constexpr std::int64_t v1_router_present_ns = 400 * second_ns;       // RFC 2236, 8.11

bool is_group(std::uint32_t address) noexcept {
    return address >> 28 == 0xE;
}

bool is_host(std::uint32_t address) noexcept {
    return address != 0 && address >> 28 < 0xE;
}

template <class List>
void sort_once(List& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
}

template <class List>
List united(const List& a, const List& b) {
    List out;
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
    return out;
}

template <class List>
List common(const List& a, const List& b) {
    List out;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
    return out;
}

template <class List>
List without(const List& a, const List& b) {
    List out;
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
    return out;
}

Error refused(std::uint32_t address, const char* why) {
    return {EINVAL, wire::to_string(wire::Address::from_ipv4(address)) + why};
}

}  // namespace

IgmpHost::IgmpHost(const IgmpOptions& options, std::uint64_t seed)
    : options_(options),
      encoder_(options.sender),
      random_(seed),
      version_(options.version == IgmpVersion::v2 ? 2 : 3),
      query_interval_ns_(default_query_interval_ns),
      querier_robustness_(options.robustness) {
    WIREBOOK_CHECK(options.robustness >= 1 && options.robustness <= 7);
    WIREBOOK_CHECK(options.unsolicited_report_interval_ns > 0);
}

// ---- what we want

Status IgmpHost::join(std::uint32_t group, std::span<const std::uint32_t> sources) {
    if (!is_group(group)) return refused(group, " is no multicast group");
    for (const std::uint32_t source : sources) {
        if (!is_host(source)) return refused(source, " cannot be the source of a group");
    }
    if (group == wire::igmp::all_systems) return Ok{};  // RFC 3376, 6: never reported
    Group& state = groups_[group];
    if (state.left) {
        state = {};
        state.reported = true;
    }
    if (state.any_source) return Ok{};
    if (sources.empty()) {
        state.any_source = true;
        state.sources.clear();
        announce(state, RecordType::change_to_exclude, {});
        return Ok{};
    }
    Sources wanted(sources.begin(), sources.end());
    sort_once(wanted);
    const Sources added = without(wanted, state.sources);
    if (added.empty()) return Ok{};
    state.sources = united(state.sources, added);
    const Sources unsaid = state.changes_left != 0 ? state.changed : Sources{};
    announce(state, RecordType::allow_new_sources, united(unsaid, added));
    return Ok{};
}

void IgmpHost::rejoin() {
    for (auto& [address, group] : groups_) {
        if (group.left) continue;
        const bool any = group.any_source;
        announce(group, any ? RecordType::change_to_exclude : RecordType::allow_new_sources,
                 group.sources);
    }
}

// With any_source, `sources` is empty, as both of its records have it.
void IgmpHost::announce(Group& group, RecordType change, Sources sources) {
    group.change = change;
    group.changed = std::move(sources);
    group.changes_left = options_.robustness;
    group.change_due_ns = immediately;
    find_next_due();
}

void IgmpHost::leave_all(std::int64_t now_ns, const Send& send) {
    general_due_ns_ = never;
    for (auto& [address, group] : groups_) {
        if (group.left) continue;
        group.left = true;
        group.answer_due_ns = never;
        const bool any = group.any_source;
        announce(group, any ? RecordType::change_to_include : RecordType::block_old_sources,
                 group.sources);
    }
    // What was never said needs no leave.
    std::erase_if(groups_, [](const auto& entry) { return !entry.second.reported; });
    retry_ns_ = immediately;
    find_next_due();
    poll(now_ns, send);
}

// ---- what we hear

bool IgmpHost::on_frame(wire::Bytes frame, std::int64_t now_ns) {
    Heard heard;
    switch (wire::igmp::parse(frame, heard)) {
        case wire::igmp::ParseStatus::ok: break;
        case wire::igmp::ParseStatus::not_igmp: return false;
        case wire::igmp::ParseStatus::malformed: ++counters_.malformed; return true;
    }
    if (heard.vlan != options_.sender.vlan) {
        ++counters_.other_vlan;
        return true;
    }
    if (heard.mac == options_.sender.mac) return true;  // sent back to us
    update_version(now_ns);
    switch (heard.kind) {
        case MessageKind::query: on_query(heard, now_ns); break;
        case MessageKind::report_v1:
        case MessageKind::report_v2: on_report(heard); break;
        case MessageKind::report_v3: ++counters_.reports_heard; break;
        case MessageKind::leave:
        case MessageKind::other: break;
    }
    find_next_due();
    return true;
}

void IgmpHost::on_query(const Heard& query, std::int64_t now_ns) {
    ++counters_.queries;
    if (query.version != 3) ++counters_.old_queries;
    note_querier(query, now_ns);
    if (!wants_any()) return;
    const std::int64_t longest_ns = std::max(query.max_response_ns, least_response_ns);
    const auto asked = groups_.find(query.group);
    if (query.group != 0 && asked == groups_.end()) return;
    if (version_ != 3) {
        if (query.group != 0) return on_old_query(asked->second, longest_ns, now_ns);
        for (auto& [address, group] : groups_) on_old_query(group, longest_ns, now_ns);
        return;
    }
    const std::int64_t due_ns = now_ns + random_delay(longest_ns);
    if (general_due_ns_ <= due_ns) return;  // RFC 3376, 5.2, rule 1
    if (query.group != 0) return on_group_query(asked->second, query, due_ns);
    general_due_ns_ = std::max(due_ns, next_general_ns_);  // rule 2
}

bool IgmpHost::wants_any() const noexcept {
    return std::any_of(groups_.begin(), groups_.end(),
                       [](const auto& entry) { return !entry.second.left; });
}

// Rules 3 to 5.
void IgmpHost::on_group_query(Group& group, const Heard& query, std::int64_t due_ns) {
    if (group.left) return;
    Sources asked;
    for (std::size_t i = 0; i < query.sources.size(); ++i) asked.push_back(query.sources[i]);
    sort_once(asked);
    if (!asked.empty() && !group.any_source) {
        asked = common(asked, group.sources);
        if (asked.empty()) return;  // we want none of them: no answer
    }
    const bool waits = group.answer_due_ns != never;
    if (asked.empty() || (waits && group.asked.empty())) {
        group.asked.clear();
    } else {
        group.asked = waits ? united(group.asked, asked) : std::move(asked);
        if (group.asked.size() > most_asked) group.asked.clear();
    }
    due_ns = std::max(due_ns, group.next_answer_ns);
    group.answer_due_ns = std::min(group.answer_due_ns, due_ns);
}

// RFC 2236, 3: a timer that runs is set anew only if the query allows less than it has left.
void IgmpHost::on_old_query(Group& group, std::int64_t longest_ns, std::int64_t now_ns) {
    if (group.left) return;
    group.asked.clear();
    if (group.answer_due_ns <= now_ns + longest_ns) return;
    const std::int64_t due_ns = now_ns + random_delay(longest_ns);
    group.answer_due_ns = std::max(due_ns, group.next_answer_ns);
}

// In version 1 and 2 one member's report is enough for a network.
void IgmpHost::on_report(const Heard& report) {
    ++counters_.reports_heard;
    const auto found = groups_.find(report.group);
    if (version_ == 3 || found == groups_.end() || found->second.left) return;
    Group& group = found->second;
    if (group.answer_due_ns != never) ++counters_.suppressed;
    group.answer_due_ns = never;
    cancel_repetitions(group);
}

// ---- which version

void IgmpHost::note_querier(const Heard& query, std::int64_t now_ns) {
    if (query.version == 3) {
        if (query.robustness != 0) querier_robustness_ = query.robustness;
        if (query.query_interval_ns != 0) query_interval_ns_ = query.query_interval_ns;
        return;
    }
    // RFC 3376, 8.12.
    std::int64_t present_ns = querier_robustness_ * query_interval_ns_ + query.max_response_ns;
    if (options_.version == IgmpVersion::v2) present_ns = v1_router_present_ns;
    auto& until_ns = query.version == 1 ? v1_until_ns_ : v2_until_ns_;
    until_ns = std::max(until_ns, now_ns + present_ns);
    update_version(now_ns);
}

void IgmpHost::update_version(std::int64_t now_ns) {
    unsigned version = 3;
    if (options_.version != IgmpVersion::v3) {
        if (options_.version == IgmpVersion::v2 || now_ns < v2_until_ns_) version = 2;
        if (now_ns < v1_until_ns_) version = 1;
    }
    if (version < version_) cancel_pending();
    version_ = version;
}

void IgmpHost::cancel_pending() {
    general_due_ns_ = never;
    for (auto& [address, group] : groups_) {
        group.answer_due_ns = never;
        cancel_repetitions(group);
    }
    std::erase_if(groups_, [](const auto& entry) {
        return entry.second.left && entry.second.changes_left == 0;
    });
}

// A change that was said at least once.
void IgmpHost::cancel_repetitions(Group& group) const noexcept {
    if (group.changes_left == options_.robustness) return;
    group.changes_left = 0;
    group.change_due_ns = never;
}

// ---- what we say

void IgmpHost::poll(std::int64_t now_ns, const Send& send) {
    if (now_ns < next_due_ns_) return;
    update_version(now_ns);
    if (!say(now_ns, send)) retry_ns_ = now_ns + least_response_ns;
    std::erase_if(groups_, [](const auto& entry) {
        return entry.second.left && entry.second.changes_left == 0;
    });
    find_next_due();
}

bool IgmpHost::say(std::int64_t now_ns, const Send& send) {
    if (version_ != 3) {
        bool all_sent = true;
        for (auto& entry : groups_) all_sent = say_old(entry, now_ns, send) && all_sent;
        return all_sent;
    }
    collect(now_ns);
    std::vector<wire::igmp::Record> records;
    for (const Said& said : said_) records.push_back({said.type, said.group, said.sources});
    wire::igmp::Encoder::Place place;
    for (wire::Bytes frame; !(frame = encoder_.next_report(records, place)).empty();) {
        if (!sent(frame, send)) return false;  // all of it again: a router does not mind
        ++counters_.reports;
    }
    const bool all = general_due_ns_ <= now_ns;
    for (auto& [address, group] : groups_) done_saying(group, all, now_ns);
    if (all) {
        general_due_ns_ = never;
        next_general_ns_ = now_ns + least_response_ns;
    }
    return true;
}

// Version 3: the records that are due.
void IgmpHost::collect(std::int64_t now_ns) {
    said_.clear();
    const bool all = general_due_ns_ <= now_ns;
    for (const auto& [address, group] : groups_) {
        if (group.change_due_ns <= now_ns) said_.push_back({group.change, address, group.changed});
        if (group.left || (!all && group.answer_due_ns > now_ns)) continue;
        if (all || group.asked.empty()) {
            const auto mode =
                group.any_source ? RecordType::mode_is_exclude : RecordType::mode_is_include;
            said_.push_back({mode, address, group.sources});
        } else {
            said_.push_back({RecordType::mode_is_include, address, group.asked});
        }
    }
}

// Version 1 or 2: a frame a group, where one is due.
bool IgmpHost::say_old(Groups::value_type& entry, std::int64_t now_ns, const Send& send) {
    auto& [address, group] = entry;
    if (group.change_due_ns > now_ns && group.answer_due_ns > now_ns) return true;
    if (!group.left) {
        const wire::Bytes frame =
            version_ == 1 ? encoder_.report_v1(address) : encoder_.report_v2(address);
        if (!sent(frame, send)) return false;
        ++counters_.reports;
    } else if (version_ == 2) {
        if (!sent(encoder_.leave(address), send)) return false;
    }
    if (group.left) group.changes_left = 1;  // it is said once, and in version 1 never
    done_saying(group, false, now_ns);
    return true;
}

// `all`: as the answer to a general query.
void IgmpHost::done_saying(Group& group, bool all, std::int64_t now_ns) {
    if (group.change_due_ns <= now_ns) {
        if (group.left && version_ != 1) ++counters_.leaves;
        group.reported = true;
        --group.changes_left;
        group.change_due_ns = never;
        if (group.changes_left != 0) {
            group.change_due_ns = now_ns + random_delay(options_.unsolicited_report_interval_ns);
        }
    }
    if (group.answer_due_ns > now_ns && !all) return;
    group.reported = true;
    if (group.answer_due_ns <= now_ns) {
        group.answer_due_ns = never;
        group.next_answer_ns = now_ns + least_response_ns;
    }
}

bool IgmpHost::sent(wire::Bytes frame, const Send& send) {
    const bool was_sent = send(frame);
    if (!was_sent) ++counters_.send_failures;
    return was_sent;
}

std::int64_t IgmpHost::random_delay(std::int64_t longest_ns) {
    return 1 + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(longest_ns)));
}

void IgmpHost::find_next_due() {
    std::int64_t due_ns = general_due_ns_;
    for (const auto& [address, group] : groups_) {
        due_ns = std::min({due_ns, group.change_due_ns, group.answer_due_ns});
    }
    next_due_ns_ = std::max(due_ns, retry_ns_);
}

}  // namespace wirebook::io
