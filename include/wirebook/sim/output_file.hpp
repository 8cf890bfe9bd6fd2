// A file that is written from front to end, in large pieces.
//
// The first failure (disk full, closed pipe, ...) is kept: everything later is dropped, status()
// and close() tell it with the file's name. A closed pipe is an error only where SIGPIPE is
// ignored. May depend on core. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "wirebook/core/result.hpp"

namespace wirebook::sim {

class OutputFile {
public:
    // Made anew, or emptied; a pipe or a device is taken as it is; "-" is stdout.
    [[nodiscard]] static Result<OutputFile> create(const std::string& path);

    OutputFile(OutputFile&& other) noexcept { swap(other); }
    OutputFile& operator=(OutputFile&& other) noexcept {
        swap(other);
        return *this;
    }
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;
    // Writes what is left; whoever wants to know whether that went well calls close() before.
    ~OutputFile();

    void write(std::span<const std::byte> bytes) {
        if (bytes.size() > buffer_bytes - buffer_.size()) flush();
        if (bytes.size() >= buffer_bytes) {
            write_through(bytes);
        } else {
            buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
        }
    }
    void flush();
    // Idempotent.
    [[nodiscard]] Status close();

    [[nodiscard]] bool failed() const noexcept { return error_.has_value(); }
    [[nodiscard]] Status status() const;
    [[nodiscard]] std::uint64_t bytes() const noexcept { return written_ + buffer_.size(); }

private:
    static constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

    OutputFile() = default;
    void swap(OutputFile& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        std::swap(path_, other.path_);
        std::swap(buffer_, other.buffer_);
        std::swap(error_, other.error_);
        std::swap(written_, other.written_);
    }
    void write_through(std::span<const std::byte> bytes);

    int descriptor_ = -1;
    std::string path_;
    std::vector<std::byte> buffer_;
    std::optional<Error> error_;
    std::uint64_t written_ = 0;
};

}  // namespace wirebook::sim
