// How a reader attaches: its options, and the search for a segment by name.
//
// Header-only, Linux. Cold.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wirebook/ring/mapping.hpp"

namespace wirebook::ring {

// Where to go on after having been lapped.
enum class Resume : std::uint8_t {
    table,   // newest snapshot of every instrument, then the newest record
    newest,  // the newest record
    oldest,  // the oldest record held, with an eighth of the ring as margin
};

struct AttachOptions {
    std::string directory{};            // empty: hugetlbfs mounts, then /dev/shm
    std::chrono::milliseconds wait{0};  // how long to wait for a live segment of that name
    Resume resume = Resume::table;
    bool join_table = true;  // false: start with the records published from now on
    bool live_only = true;   // false: also the segment that a closed or dead writer left behind
    bool prefault = true;    // map every page now rather than when it is first polled
    bool follow = false;     // poll goes over to the next writer of the name by itself
    // Keep a small file beside the segment that says where we are, for those who watch readers'
    // lag (position.hpp). Where the folder takes no file of ours there is none, and no error.
    bool show_position = false;
};

namespace detail {

[[nodiscard]] inline bool has_live_writer(const Mapping& mapping) noexcept {
    return mapping.header().state.load(std::memory_order_acquire) ==
               static_cast<std::uint64_t>(SegmentState::running) &&
           life_lock_held(mapping.file.get());
}

[[nodiscard]] inline Error writer_gone(const Mapping& mapping) {
    return {ESTALE, "attach " + mapping.path + ": its writer (process " +
                        std::to_string(mapping.header().writer_pid) + ") has gone"};
}

// The segment of that name: a live one, else (unless live_only) the newest that is left behind.
[[nodiscard]] inline Result<Mapping> find_segment(std::string_view name,
                                                  const AttachOptions& options) {
    const auto directories = options.directory.empty()
                                 ? default_directories()
                                 : std::vector<std::string>{options.directory};
    std::optional<Mapping> left_behind;
    std::optional<Error> error;
    for (const std::string& directory : directories) {
        Result<Mapping> mapped = map_segment(segment_path(directory, name), options.prefault);
        if (!mapped) {
            if (!error || error->code == ENOENT) error = mapped.error();
            continue;
        }
        if (has_live_writer(mapped.value())) return mapped;
        if (!left_behind || mapped.value().header().created_ns > left_behind->header().created_ns)
            left_behind = std::move(mapped).value();
    }
    if (!left_behind) return *error;
    if (!options.live_only) return std::move(*left_behind);
    return writer_gone(*left_behind);
}

// Is there a file of that name which is not the open one? Cheap: nothing is mapped.
[[nodiscard]] inline bool other_segment(std::string_view name, const AttachOptions& options,
                                        int descriptor) {
    struct stat ours {};
    if (::fstat(descriptor, &ours) != 0) return true;
    const auto directories = options.directory.empty()
                                 ? default_directories()
                                 : std::vector<std::string>{options.directory};
    for (const std::string& directory : directories) {
        struct stat there {};
        if (::lstat(segment_path(directory, name).c_str(), &there) != 0) continue;
        if (there.st_dev != ours.st_dev || there.st_ino != ours.st_ino) return true;
    }
    return false;
}

}  // namespace detail

}  // namespace wirebook::ring
