// Texts of the configuration and of the command line that mean something: addresses, devices,
// dates, names; and the suggestion for one that is mistyped. Standard library only.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace wirebook::app {

// The candidate that `text` was probably meant to be; "" if none is near.
[[nodiscard]] std::string_view nearest(std::string_view text,
                                       std::span<const std::string_view> candidates);
// `; did you mean "NAME"?`, or "" if none is near. Appended to an error's text.
[[nodiscard]] std::string did_you_mean(std::string_view text,
                                       std::span<const std::string_view> candidates);
// `"a", "b" or "c"`.
[[nodiscard]] std::string alternatives(std::span<const std::string_view> candidates);

// The text in double quotes, controls escaped and cut to 60 bytes: fit for one line of a message.
[[nodiscard]] std::string in_quotes(std::string_view text);

// The names of wire::all_protocols, in that order.
[[nodiscard]] std::span<const std::string_view> feed_names() noexcept;

// "2026-11-30", a day that exists, of 1990 to 2199.
[[nodiscard]] std::optional<std::chrono::year_month_day> parse_date(std::string_view text);
[[nodiscard]] bool is_date_in_range(const std::chrono::year_month_day& date) noexcept;

// "0000:3b:00.0" or "3b:00.0"; driver arguments may follow a comma.
[[nodiscard]] bool is_pci_address(std::string_view device) noexcept;
[[nodiscard]] bool is_vdev(std::string_view text) noexcept;  // "net_ring0,arg=..."
[[nodiscard]] std::string_view device_name(std::string_view device) noexcept;  // up to the comma

// "0640": owner reads and writes; group and others may at most read. Nothing for any other text.
[[nodiscard]] std::optional<std::uint32_t> parse_permissions(std::string_view text);

}  // namespace wirebook::app
