// Parsing of single values; see config_values.hpp. No input makes any of it read past its end.
#include "config_values.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <vector>

#include "wirebook/app/config.hpp"
#include "wirebook/app/options.hpp"
#include "wirebook/ring/segment.hpp"

namespace wirebook::app {

namespace {

bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}
bool is_lower_or_digit(char c) noexcept {
    return (c >= 'a' && c <= 'z') || is_digit(c);
}
bool is_hex(char c) noexcept {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
// Levenshtein, but a swap of neighbours ("chanenl") counts once.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1);
    std::vector<std::size_t> previous(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        before.swap(previous);
        previous.swap(row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
            row[j] = std::min({previous[j] + 1, row[j - 1] + 1, previous[j - 1] + change});
            const bool swapped =
                i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && change == 1;
            if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
        }
    }
    return row[b.size()];
}

template <class Number>
std::optional<Number> whole_number(std::string_view text, int base = 10) {
    Number number{};
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number, base);
    if (text.empty() || !is_hex(text.front()) || error != std::errc{} || stop != end) return {};
    return number;
}

}  // namespace

std::string_view nearest(std::string_view text, std::span<const std::string_view> candidates) {
    if (text.size() > 64) return {};
    std::string_view best;
    std::size_t best_distance = std::max<std::size_t>(1, std::min<std::size_t>(3, text.size() / 2));
    ++best_distance;
    for (const std::string_view candidate : candidates) {
        const std::size_t distance = edit_distance(text, candidate);
        if (distance < best_distance && distance < candidate.size()) {
            best = candidate;
            best_distance = distance;
        }
    }
    if (!best.empty()) return best;
    // A forgotten unit or prefix: "gap_wait" for gap_wait_us.
    for (const std::string_view candidate : candidates) {
        if (text.size() >= 3 && candidate.find(text) != std::string_view::npos) return candidate;
    }
    return {};
}

std::string did_you_mean(std::string_view text, std::span<const std::string_view> candidates) {
    const std::string_view candidate = nearest(text, candidates);
    return candidate.empty() ? std::string{} : "; did you mean " + in_quotes(candidate) + "?";
}

std::string alternatives(std::span<const std::string_view> candidates) {
    std::string text;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (i > 0) text += i + 1 == candidates.size() ? " or " : ", ";
        text += in_quotes(candidates[i]);
    }
    return text;
}

std::string in_quotes(std::string_view text) {
    constexpr std::size_t longest = 60;
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out = "\"";
    for (const char c : text.substr(0, longest)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f) {
            out += "\\x";
            out += digits[byte >> 4U];
            out += digits[byte & 15U];
        } else {
            out += c;
        }
    }
    out += text.size() > longest ? "...\"" : "\"";
    return out;
}

bool is_date_in_range(const std::chrono::year_month_day& date) noexcept {
    return date.ok() && date.year() >= std::chrono::year{1990} &&
           date.year() <= std::chrono::year{2199};
}

std::optional<std::chrono::year_month_day> parse_date(std::string_view text) {
    if (text.size() != 10 || text[4] != '-' || text[7] != '-') return {};
    const auto year = whole_number<unsigned>(text.substr(0, 4));
    const auto month = whole_number<unsigned>(text.substr(5, 2));
    const auto day = whole_number<unsigned>(text.substr(8, 2));
    if (!year || !month || !day) return {};
    const std::chrono::year_month_day date{std::chrono::year{static_cast<int>(*year)},
                                           std::chrono::month{*month}, std::chrono::day{*day}};
    if (!is_date_in_range(date)) return {};
    return date;
}

bool is_pci_address(std::string_view device) noexcept {
    const std::string_view text = device_name(device);
    constexpr std::string_view shape = "hhhh:hh:hh.o";
    if (text.size() != shape.size() && text.size() != shape.size() - 5) return false;
    const std::string_view expected = shape.substr(shape.size() - text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (expected[i] == 'h' && !is_hex(c)) return false;
        if (expected[i] == 'o' && (c < '0' || c > '7')) return false;
        if ((expected[i] == ':' || expected[i] == '.') && c != expected[i]) return false;
    }
    return true;
}

std::string_view device_name(std::string_view device) noexcept {
    return device.substr(0, device.find(','));
}

bool is_vdev(std::string_view text) noexcept {
    const std::string_view name = device_name(text);
    const bool printable = std::all_of(text.begin(), text.end(), [](char c) {
        return static_cast<unsigned char>(c) > 0x20 && static_cast<unsigned char>(c) != 0x7f;
    });
    return printable && name.size() > 4 && name.size() < 64 && name.starts_with("net_") &&
           std::all_of(name.begin(), name.end(),
                       [](char c) { return is_lower_or_digit(c) || c == '_'; });
}

std::optional<std::uint32_t> parse_permissions(std::string_view text) {
    if (text.size() < 3 || text.size() > 4) return {};
    const auto bits = whole_number<std::uint32_t>(text, 8);
    if (!bits || (*bits & 0600U) != 0600U || (*bits & ~0644U) != 0) return {};
    return bits;
}

// ---- declared in options.hpp and config.hpp

bool is_segment_name(const std::string& name) noexcept {
    // A leading minus would read as an option of whatever command takes the name.
    return ring::name_fault(name) == nullptr && name.front() != '-';
}

std::span<const std::string_view> feed_names() noexcept {
    static constexpr auto names = [] {
        std::array<std::string_view, wire::all_protocols.size()> all{};
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = to_string(wire::all_protocols[i]);
        return all;
    }();
    return names;
}

bool PortConfig::is_pci() const noexcept {
    return is_pci_address(device);
}

std::string GroupAddress::to_string() const {
    const std::string host = wire::to_string(address);
    return (address.is_ipv4() ? host : "[" + host + "]") + ":" + std::to_string(udp_port);
}

std::optional<GroupAddress> parse_group_address(const std::string& text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos || text.find('\0') != std::string::npos) return {};
    std::string host = text.substr(0, colon);
    const auto port = whole_number<std::uint16_t>(std::string_view{text}.substr(colon + 1));
    if (!port || *port == 0) return {};

    const bool ipv6 = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (ipv6) host = host.substr(1, host.size() - 2);
    std::array<std::uint8_t, 16> bytes{};
    if (inet_pton(ipv6 ? AF_INET6 : AF_INET, host.c_str(), bytes.data()) != 1) return {};
    if (bytes == std::array<std::uint8_t, 16>{}) return {};

    GroupAddress group{{}, *port};
    for (std::size_t i = 0; i < 8; ++i) {
        group.address.high = group.address.high << 8U | bytes[i];
        group.address.low = group.address.low << 8U | bytes[i + 8];
    }
    if (!ipv6) {
        group.address =
            wire::Address::from_ipv4(static_cast<std::uint32_t>(group.address.high >> 32U));
    }
    return group;
}

}  // namespace wirebook::app
