// The text of fault rules; see the header.
#include "wirebook/sim/fault_rule.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <utility>

namespace wirebook::sim {

namespace {

constexpr std::array<std::string_view, fault_kinds> names{
    "loss",    "burst", "duplicate", "reorder",        "delay",          "truncate",
    "shorten", "flip",  "dead",      "sender_restart", "session_restart"};

using Reason = std::optional<std::string>;  // of a failure

std::string quoted(std::string_view text) {
    return "'" + std::string(text) + "'";
}

// What stands before the first `mark`, which is taken off with it; everything where there is none.
std::string_view take(std::string_view& rest, std::string_view mark) {
    const std::size_t at = rest.find(mark);
    const std::string_view front = rest.substr(0, at);
    rest = at == rest.npos ? std::string_view{} : rest.substr(at + mark.size());
    return front;
}

Reason parse_number(std::string_view text, std::uint64_t most, std::uint64_t& number) {
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || code != std::errc{} || end != text.data() + text.size()) {
        return quoted(text) + " is no whole number";
    }
    if (number > most) return quoted(text) + " is more than " + std::to_string(most);
    return std::nullopt;
}

Reason parse_chance(std::string_view text, Chance& chance) {
    double p = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), p);
    const bool whole = !text.empty() && code == std::errc{} && end == text.data() + text.size();
    if (!whole || !(p > 0 && p <= 1)) {
        return "the chance " + quoted(text) + " is no number above 0 and up to 1";
    }
    chance = Chance::of(p);
    return std::nullopt;
}

// Nanoseconds of "500us"; nothing where there is no unit at the end.
std::optional<std::uint64_t> unit_of(std::string_view& text) {
    constexpr std::array<std::pair<std::string_view, std::uint64_t>, 4> units{
        {{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}}};
    for (const auto& [name, ns] : units) {
        if (!text.ends_with(name)) continue;
        text.remove_suffix(name.size());
        return ns;
    }
    return std::nullopt;
}

Reason parse_time(std::string_view text, std::int64_t& time_ns) {
    std::string_view digits = text;
    const auto unit = unit_of(digits);
    if (!unit) return "the time " + quoted(text) + " has no unit (ns, us, ms, s)";
    std::uint64_t number = 0;
    constexpr std::uint64_t longest_ns = std::uint64_t{1} << 60;  // 36 years
    if (auto reason = parse_number(digits, longest_ns / *unit, number)) return reason;
    time_ns = static_cast<std::int64_t>(number * *unit);
    return std::nullopt;
}

// A packet number, or a time where it has a unit.
Reason parse_point(std::string_view text, bool& by_time, std::uint64_t& point) {
    std::string_view digits = text;
    by_time = unit_of(digits).has_value();
    if (!by_time) return parse_number(text, std::uint64_t{1} << 62, point);
    std::int64_t time_ns = 0;
    if (auto reason = parse_time(text, time_ns)) return reason;
    point = static_cast<std::uint64_t>(time_ns);
    return std::nullopt;
}

Reason parse_range(std::string_view text, FaultRange& range) {
    std::string_view rest = text;
    const std::string_view first = take(rest, "..");
    if (rest.empty()) return "the range " + quoted(text) + " is not FIRST..END";
    bool end_by_time = false;
    if (auto reason = parse_point(first, range.by_time, range.first)) return reason;
    if (auto reason = parse_point(rest, end_by_time, range.end)) return reason;
    if (range.by_time != end_by_time) {
        return "the range " + quoted(text) + " mixes a time and a packet number";
    }
    if (range.first >= range.end) return "the range " + quoted(text) + " is empty";
    return std::nullopt;
}

Reason parse_line(std::string_view text, std::optional<std::uint8_t>& line) {
    if (text == "*") return std::nullopt;
    if (text.size() != 1 || text[0] < 'A' || text[0] >= 'A' + most_lines) {
        return "the line " + quoted(text) + " is neither A to H nor *";
    }
    line = static_cast<std::uint8_t>(text[0] - 'A');
    return std::nullopt;
}

Reason parse_kind(std::string_view text, FaultKind& kind) {
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (text != names[i]) continue;
        kind = static_cast<FaultKind>(i);
        return std::nullopt;
    }
    std::string known;
    for (const std::string_view name : names)
        known += (known.empty() ? "" : ", ") + std::string(name);
    return "the fault " + quoted(text) + " is none of " + known;
}

Reason parse_restart(std::string_view rest, FaultRule& rule) {
    const std::string_view at = take(rest, ",");
    if (auto reason = parse_point(at, rule.range.by_time, rule.range.first)) return reason;
    if (rule.kind == FaultKind::sender_restart) return parse_time(rest, rule.time_ns);
    if (!rest.empty()) return std::string("session_restart has one argument");
    if (rule.line) return std::string("a session restarts on every line: *:session_restart=...");
    return std::nullopt;
}

// What stands behind the chance: obligatory, optional, or none.
Reason parse_second(std::string_view second, FaultRule& rule) {
    switch (rule.kind) {
        case FaultKind::burst:
            if (auto reason = parse_number(second, 1'000'000'000, rule.amount)) return reason;
            if (rule.amount == 0) return "a burst has a mean length of 1 or more";
            return std::nullopt;
        case FaultKind::reorder:
            if (auto reason = parse_number(second, 100'000, rule.amount)) return reason;
            if (rule.amount == 0) return std::string("reorder by 0 packets does nothing");
            return std::nullopt;
        case FaultKind::delay:
            if (auto reason = parse_time(second, rule.time_ns)) return reason;
            if (rule.time_ns == 0) return std::string("a delay of 0 does nothing");
            return std::nullopt;
        case FaultKind::duplicate:
            return second.empty() ? std::nullopt : parse_time(second, rule.time_ns);
        case FaultKind::flip:
            rule.amount = 1;
            if (second.empty()) return std::nullopt;
            if (auto reason = parse_number(second, 64, rule.amount)) return reason;
            if (rule.amount == 0) return std::string("0 bits flipped do nothing");
            return std::nullopt;
        default: break;
    }
    if (second.empty()) return std::nullopt;
    return quoted(second) + ": " + std::string(to_string(rule.kind)) + " has one argument";
}

Reason parse_rule(std::string_view text, FaultRule& rule) {
    std::string_view rest = text;
    if (text.find(':') == text.npos || text.find('=') == text.npos) {
        return std::string("it is not LINE:KIND=ARGUMENTS");
    }
    if (auto reason = parse_line(take(rest, ":"), rule.line)) return reason;
    if (auto reason = parse_kind(take(rest, "="), rule.kind)) return reason;
    if (rule.kind == FaultKind::dead) return parse_range(rest, rule.range);
    if (rule.is_restart()) return parse_restart(rest, rule);
    const bool ranged = rest.find('@') != rest.npos;
    std::string_view arguments = take(rest, "@");
    if (ranged) {
        if (auto reason = parse_range(rest, rule.range)) return reason;
    }
    if (auto reason = parse_chance(take(arguments, ","), rule.chance)) return reason;
    return parse_second(arguments, rule);
}

}  // namespace

std::string_view to_string(FaultKind kind) noexcept {
    return names[static_cast<std::size_t>(kind)];
}

Result<FaultRule> parse_fault_rule(std::string_view text) {
    FaultRule rule;
    if (auto reason = parse_rule(text, rule)) {
        return Error{EINVAL, "fault " + quoted(text) + ": " + *reason};
    }
    return rule;
}

RestartPlan::RestartPlan(std::span<const FaultRule> rules, std::uint8_t lines,
                         std::int64_t start_ns)
    : start_ns_(start_ns) {
    for (const FaultRule& rule : rules) {
        if (rule.kind == FaultKind::session_restart) {
            planned_.push_back({{rule.kind, 0, 0}, rule.range});
        }
        if (rule.kind != FaultKind::sender_restart) continue;
        for (std::uint8_t line = 0; line < lines; ++line) {
            if (!rule.applies_to(line)) continue;
            planned_.push_back({{rule.kind, line, rule.time_ns}, rule.range});
        }
    }
}

std::vector<RestartPlan::Restart> RestartPlan::due(std::int64_t time_ns,
                                                   std::span<const std::uint64_t> packets) {
    std::vector<Restart> now;
    std::erase_if(planned_, [&](const Planned& planned) {
        const bool is_due = planned.at.contains(packets[planned.restart.line], time_ns - start_ns_);
        if (is_due) now.push_back(planned.restart);
        return is_due;
    });
    return now;
}

}  // namespace wirebook::sim
