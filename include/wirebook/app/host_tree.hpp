// The files of /sys, /proc and /dev of a host, under a root folder: this machine's, a rescued
// machine's that is mounted somewhere, or a made-up one of the tests.
//
// Everything that `doctor` and `bind` know of a host comes through here. Files that are missing
// are an answer ("this kernel has none of that"), not an error. Cold, one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wirebook/core/result.hpp"

namespace wirebook::app {

class HostTree {
public:
    explicit HostTree(std::string root = "/");

    // This machine, as it runs: what no file says may be asked of its kernel.
    [[nodiscard]] bool live() const noexcept { return root_.empty(); }
    // "/sys/bus" below the root.
    [[nodiscard]] std::string path(std::string_view name) const;

    [[nodiscard]] bool exists(std::string_view name) const;
    // The first MiB of a file without white space at its end; nothing where it cannot be read.
    [[nodiscard]] std::optional<std::string> read(std::string_view name) const;
    [[nodiscard]] std::string text(std::string_view name) const;  // "" where it cannot be read
    [[nodiscard]] std::vector<std::string> lines(std::string_view name) const;
    [[nodiscard]] std::optional<std::int64_t> number(std::string_view name) const;
    // Names in a folder, sorted; none where there is no folder.
    [[nodiscard]] std::vector<std::string> list(std::string_view name) const;
    // What a symbolic link points to; "" where there is none.
    [[nodiscard]] std::string link_target(std::string_view name) const;
    // The last part of that: a device's driver, say.
    [[nodiscard]] std::string link_name(std::string_view name) const;

    // One write(2) into a file that is there, as sysfs wants it.
    [[nodiscard]] Status write(std::string_view name, std::string_view text) const;

private:
    std::string root_;  // "" for "/"
};

// Words of a text that white space separates.
[[nodiscard]] std::vector<std::string> split_words(std::string_view text);
// A decimal or, with base 16, hexadecimal number that is the whole text.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text, int base = 10);

}  // namespace wirebook::app
