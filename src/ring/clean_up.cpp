#include "clean_up.hpp"

#include "wirebook/ring/attach.hpp"
#include "wirebook/ring/position.hpp"

namespace wirebook::ring {
namespace {

// ".wirebook.NAME~123" or ".wirebook.NAME~123.4".
bool is_temporary_file(std::string_view file) {
    const std::string prefix = std::string(".") + file_prefix;
    const std::size_t tilde = file.find('~');
    if (!file.starts_with(prefix) || tilde == file.npos || tilde + 1 == file.size()) return false;
    return name_fault(file.substr(prefix.size(), tilde - prefix.size())) == nullptr &&
           file.find_first_not_of("0123456789.", tilde + 1) == file.npos;
}

bool remove_stale_temporary(const std::string& path) {
    struct stat status {};
    const File file = detail::open_regular(path, status);
    if (!file.open() || status.st_uid != ::geteuid()) return false;
    const bool ours = holds_segment(file.get()) || detail::is_old_and_empty(status);
    return ours && remove_if_dead(file.get(), path);
}

// Closed segments stay: their last books are kept until their name is used again.
bool remove_stale_segment(const std::string& path) {
    if (split_segment_path(path).name.empty()) return false;
    const auto mapped = map_segment(path);
    if (!mapped) return false;
    const auto state = mapped.value().header().state.load(std::memory_order_acquire);
    return state == static_cast<std::uint64_t>(SegmentState::running) &&
           remove_if_dead(mapped.value().file.get(), path);
}

}  // namespace

void mark_segment(int descriptor) {
    const std::array<std::uint32_t, 5> words{0, 0, abi_version, endian_mark, sizeof(SegmentHeader)};
    if (::pwrite(descriptor, words.data(), sizeof(words), 0) < 0) return;  // hugetlbfs
}

void mark_segment(SegmentHeader& header) {
    header.abi = abi_version;
    header.endian = endian_mark;
    header.header_bytes = sizeof(SegmentHeader);
}

bool holds_segment(int descriptor) {
    std::array<std::uint32_t, 5> words{};  // as SegmentHeader begins
    const auto bytes = static_cast<ssize_t>(sizeof(words));
    if (::pread(descriptor, words.data(), sizeof(words), 0) != bytes) return false;
    const std::uint64_t magic = std::uint64_t{words[1]} << 32U | words[0];
    return magic == segment_magic ||
           (magic == 0 && words[3] == endian_mark && words[4] == sizeof(SegmentHeader));
}

std::vector<std::string> remove_stale_files(const std::string& directory, const std::string& keep) {
    std::vector<std::string> files, removed;
    for_each_file(directory, [&](std::string_view file) {
        if (file.starts_with(file_prefix) || is_temporary_file(file)) files.emplace_back(file);
    });
    const std::string kept = std::string(file_prefix) + keep;
    for (const std::string& file : files) {
        if (file == kept) continue;
        std::string path = directory;
        path.append("/").append(file);
        if (detail::is_position_file(file)) {
            detail::remove_dead_position(path);
            continue;  // readers come and go: nothing to speak of
        }
        if (is_temporary_file(file) ? remove_stale_temporary(path) : remove_stale_segment(path))
            removed.push_back(file);
    }
    return removed;
}

}  // namespace wirebook::ring
