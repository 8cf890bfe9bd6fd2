// From a file or a text to a Config: TOML, then key by key, then across keys. See config.hpp.
#include "wirebook/app/config.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "config_reader.hpp"

namespace wirebook::app {

namespace {

constexpr std::size_t largest_file_bytes = 16U
                                           << 20U;  // a slip (a capture given as -c), not a need

// The line's own beginning up to "=", or its [section]: the key that a syntax error is about.
std::string key_near(std::string_view text, std::uint32_t line) {
    for (std::uint32_t i = 1; i < line; ++i) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos) return {};
        text.remove_prefix(end + 1);
    }
    text = text.substr(0, text.find('\n'));
    constexpr std::string_view allowed =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.[]";
    const std::size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    text.remove_prefix(begin);
    return std::string{text.substr(0, std::min<std::size_t>(64, text.find_first_not_of(allowed)))};
}

Error failed(int code, const std::string& path) {
    return Error{
        code, "cannot read configuration " + path + ": " + std::generic_category().message(code)};
}

Result<std::string> read_file(const std::string& path) {
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return failed(errno, path);
    std::string text;
    std::array<char, 65536> chunk{};
    ssize_t got = 0;
    while ((got = read(descriptor, chunk.data(), chunk.size())) > 0) {
        text.append(chunk.data(), static_cast<std::size_t>(got));
        if (text.size() > largest_file_bytes) break;
    }
    const int code = got < 0 ? errno : 0;
    close(descriptor);
    if (code != 0) return failed(code, path);
    if (text.size() > largest_file_bytes) return failed(EFBIG, path);
    return text;
}

}  // namespace

Result<Config> parse_config(std::string_view text, std::string_view name, ConfigUse use) {
    Problems problems;
    // No path is given to toml++: the report adds the name itself.
    const toml::parse_result parsed = toml::parse(text);
    if (!parsed) {
        const toml::parse_error& error = parsed.error();
        const toml::source_position where = error.source().begin;
        std::string what{error.description()};
        if (what.find("determine value type") != std::string::npos) what += "; text needs \" \"";
        problems.add(where, key_near(text, where.line), std::move(what));
        return Error{EINVAL, problems.report(name)};
    }
    Config config;
    read_config(parsed.table(), config, problems);
    check_across(parsed.table(), config, use, problems);
    if (!problems.none()) return Error{EINVAL, problems.report(name)};
    return config;
}

Result<Config> load_config(const std::string& path, ConfigUse use) {
    Result<std::string> text = read_file(path);
    if (!text) return text.error();
    return parse_config(text.value(), path, use);
}

}  // namespace wirebook::app
