#include "wirebook/app/host_tree.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <sstream>

namespace wirebook::app {

namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 20;

// read(2) until the end: files of /proc have no size.
std::optional<std::string> read_file(const std::string& path) {
    // A FIFO in a strange tree would wait for its writer for ever.
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return std::nullopt;
    std::string all;
    std::array<char, 4096> part{};
    ::ssize_t got = 0;
    while (all.size() < most_bytes && (got = ::read(file, part.data(), part.size())) > 0)
        all.append(part.data(), static_cast<std::size_t>(got));
    ::close(file);
    if (got < 0) return std::nullopt;
    return all;
}

}  // namespace

HostTree::HostTree(std::string root) : root_(std::move(root)) {
    while (!root_.empty() && root_.back() == '/') root_.pop_back();
}

std::string HostTree::path(std::string_view name) const {
    return root_ + std::string{name};
}

bool HostTree::exists(std::string_view name) const {
    return ::access(path(name).c_str(), F_OK) == 0;
}

std::optional<std::string> HostTree::read(std::string_view name) const {
    std::optional<std::string> all = read_file(path(name));
    if (all) {
        constexpr std::string_view blank{" \t\r\n\0", 5};
        const std::size_t last = all->find_last_not_of(blank);
        all->resize(last == all->npos ? 0 : last + 1);
    }
    return all;
}

std::string HostTree::text(std::string_view name) const {
    return read(name).value_or("");
}

std::vector<std::string> HostTree::lines(std::string_view name) const {
    std::istringstream stream{text(name)};
    std::vector<std::string> all;
    for (std::string line; std::getline(stream, line);) all.push_back(line);
    return all;
}

std::optional<std::int64_t> HostTree::number(std::string_view name) const {
    return parse_integer(text(name));
}

std::vector<std::string> HostTree::list(std::string_view name) const {
    std::vector<std::string> names;
    std::error_code failed;
    std::filesystem::directory_iterator entry(path(name), failed);
    while (!failed && entry != std::filesystem::directory_iterator{}) {
        names.push_back(entry->path().filename().string());
        entry.increment(failed);
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::string HostTree::link_target(std::string_view name) const {
    std::error_code failed;
    return std::filesystem::read_symlink(path(name), failed).string();
}

std::string HostTree::link_name(std::string_view name) const {
    const std::string target = link_target(name);
    return target.substr(target.rfind('/') + 1);
}

Status HostTree::write(std::string_view name, std::string_view text) const {
    const std::string file_name = path(name);
    const int file = ::open(file_name.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (file < 0) return errno_error("write " + file_name, errno);
    const ::ssize_t written = ::write(file, text.data(), text.size());
    const int code = written < 0 ? errno : EIO;
    ::close(file);
    if (written != static_cast<::ssize_t>(text.size()))
        return errno_error("write " + file_name, code);
    return Ok{};
}

std::vector<std::string> split_words(std::string_view text) {
    std::istringstream stream{std::string{text}};
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

std::optional<std::int64_t> parse_integer(std::string_view text, int base) {
    std::int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [last, fault] = std::from_chars(text.data(), end, number, base);
    if (fault != std::errc{} || last != end) return std::nullopt;
    return number;
}

}  // namespace wirebook::app
