// The lock of a folder of segments, held while a writer starts in it. Private to src/ring; cold.
//
// It is the write lock of a small file in the folder, ".wirebook~lock", which needs the right to
// write that file: who may write the folder has it, who may only read has not. The holder's pid is
// in the file, as an open-file-description lock does not tell it. The file goes with its holder;
// one that a killed process has left is taken over.
#pragma once

#include <optional>
#include <string>

#include "wirebook/ring/mapping.hpp"

namespace wirebook::ring {

inline constexpr const char* lock_file_name = ".wirebook~lock";

class FolderLock {
public:
    FolderLock() = default;
    FolderLock(FolderLock&&) noexcept = default;
    FolderLock& operator=(FolderLock&& other) noexcept;
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;
    ~FolderLock();

    // Waits 2 s at most. Errors: EBUSY another process holds it (the text has its pid, as far as
    // it is known, and what to do); EEXIST the file is none of ours; else what the system said.
    [[nodiscard]] static Result<FolderLock> take(const std::string& folder);

private:
    [[nodiscard]] std::optional<Error> open_file();
    [[nodiscard]] std::optional<Error> make_file();
    [[nodiscard]] Error failed_to(const char* what) const;

    std::string folder_, path_;
    File file_;
};

}  // namespace wirebook::ring
