// mmap and its advice.
#include "wirebook/io/mapped_file.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace wirebook::io {

Result<MappedFile> MappedFile::map(int descriptor, std::size_t bytes, const std::string& name) {
    WIREBOOK_CHECK(bytes > 0);
    void* memory = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (memory == MAP_FAILED) {
        return Error{errno, "map " + name + ": " + std::system_category().message(errno)};
    }
    (void)::madvise(memory, bytes, MADV_SEQUENTIAL);  // advice: a refusal changes nothing
    return MappedFile(static_cast<std::byte*>(memory), bytes);
}

MappedFile::~MappedFile() {
    if (data_ != nullptr) ::munmap(data_, bytes_);
}

void MappedFile::preload() noexcept {
    preloaded_ = true;
#ifdef MADV_POPULATE_READ
    if (::madvise(data_, bytes_, MADV_POPULATE_READ) == 0) return;
#endif
    (void)::madvise(data_, bytes_, MADV_WILLNEED);
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    std::byte touched{0};
    for (std::size_t offset = 0; offset < bytes_; offset += page) touched |= data_[offset];
    __asm__ __volatile__("" : : "r"(&touched) : "memory");  // or the loop is optimised away
}

void MappedFile::release_pages(std::size_t offset) noexcept {
    const std::size_t until = (offset - release_bytes) / release_bytes * release_bytes;
    if (until <= released_ || until > bytes_) return;
    // Clean pages of a file: dropping them loses nothing, a later read maps them again.
    (void)::madvise(data_ + released_, until - released_, MADV_DONTNEED);
    released_ = until;
}

void MappedFile::swap(MappedFile& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(released_, other.released_);
    std::swap(preloaded_, other.preloaded_);
}

}  // namespace wirebook::io
