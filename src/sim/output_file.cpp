// Writing files; see the header.
#include "wirebook/sim/output_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace wirebook::sim {

Result<OutputFile> OutputFile::create(const std::string& path) {
    OutputFile file;
    file.path_ = path;
    file.descriptor_ = path == "-"
                           ? ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                           : ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file.descriptor_ < 0) return errno_error("create " + path, errno);
    file.buffer_.reserve(buffer_bytes);
    return file;
}

OutputFile::~OutputFile() {
    if (descriptor_ < 0) return;
    flush();
    ::close(descriptor_);
}

void OutputFile::flush() {
    write_through(buffer_);
    buffer_.clear();
}

void OutputFile::write_through(std::span<const std::byte> bytes) {
    while (!bytes.empty() && !error_) {
        const ssize_t done = ::write(descriptor_, bytes.data(), bytes.size());
        if (done < 0) {
            if (errno == EINTR) continue;
            error_ = errno_error("write " + path_, errno);
            return;
        }
        written_ += static_cast<std::uint64_t>(done);
        bytes = bytes.subspan(static_cast<std::size_t>(done));
    }
}

Status OutputFile::status() const {
    if (error_) return *error_;
    return Ok{};
}

Status OutputFile::close() {
    if (descriptor_ >= 0) {
        flush();
        // Some file systems tell only here that there was no room.
        if (::close(descriptor_) != 0 && !error_) error_ = errno_error("close " + path_, errno);
        descriptor_ = -1;
    }
    return status();
}

}  // namespace wirebook::sim
