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

bool is_stale_temporary(const std::string& path) {
    struct stat status {};
    const File file = detail::open_regular(path, status);
    return file.open() && status.st_uid == ::geteuid() && !life_lock_held(file.get());
}

// Closed segments stay: their last books are kept until their name is used again.
bool is_stale_segment(const std::string& path) {
    if (split_segment_path(path).name.empty()) return false;
    const auto mapped = map_segment(path);
    if (!mapped || detail::has_live_writer(mapped.value())) return false;
    return mapped.value().header().state.load(std::memory_order_acquire) ==
           static_cast<std::uint64_t>(SegmentState::running);
}

}  // namespace

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
        const bool stale =
            is_temporary_file(file) ? is_stale_temporary(path) : is_stale_segment(path);
        if (stale && ::unlink(path.c_str()) == 0) removed.push_back(file);
    }
    return removed;
}

}  // namespace wirebook::ring
