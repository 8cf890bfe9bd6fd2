// A regular file in memory, read-only, at its size when it was opened.
//
// Pages come as they are read (MADV_SEQUENTIAL) or all at once with preload(); done_until() gives
// the address space's pages back, so that a file larger than memory is read at constant memory.
// Bytes given back may still be read: they come from the page cache or the disk again. A file that
// somebody shortens while it is mapped kills the process with SIGBUS, as with every mapping.
// May depend on core and wire. done_until() by one thread; bytes() by any.
#pragma once

#include <string>

#include "wirebook/core/result.hpp"
#include "wirebook/wire/view.hpp"

namespace wirebook::io {

class MappedFile {
public:
    MappedFile() = default;
    // Maps the open descriptor, which may be closed afterwards. `bytes` > 0.
    [[nodiscard]] static Result<MappedFile> map(int descriptor, std::size_t bytes,
                                                const std::string& name);

    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    MappedFile(MappedFile&& other) noexcept { swap(other); }
    MappedFile& operator=(MappedFile&& other) noexcept {
        swap(other);
        return *this;
    }
    ~MappedFile();

    [[nodiscard]] wire::Bytes bytes() const noexcept { return {data_, bytes_}; }

    // Reads the whole file in and keeps it mapped: done_until() does nothing from here on.
    void preload() noexcept;

    // Everything before `offset` was read and is not needed soon. Cheap: a system call each 32 MiB.
    void done_until(std::size_t offset) noexcept {
        if (!preloaded_ && offset - released_ >= 2 * release_bytes) release_pages(offset);
    }

private:
    static constexpr std::size_t release_bytes = std::size_t{32} * 1024 * 1024;

    MappedFile(std::byte* data, std::size_t bytes) noexcept : data_(data), bytes_(bytes) {}
    void release_pages(std::size_t offset) noexcept;
    void swap(MappedFile& other) noexcept;

    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
    std::size_t released_ = 0;  // from the front, a multiple of release_bytes
    bool preloaded_ = false;
};

}  // namespace wirebook::io
