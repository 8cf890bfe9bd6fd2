// For the tests of DPDK's users. EAL starts once in a process, so each case that opens a port does
// so in a child of its own and reports what it found as text: "" is success.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <string>

#include "wirebook/io/dpdk_source.hpp"

#define EXPECT(condition)                                                                  \
    do {                                                                                   \
        if (!(condition))                                                                  \
            return std::string(__FILE__ ":") + std::to_string(__LINE__) + ": " #condition; \
    } while (false)

namespace wirebook::io::testing {

// Runs `body` in a child process; returns its text, or how the child died.
template <class Body>
std::string in_child(Body body) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) return "no pipe";
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        const std::string text = body();
        std::fflush(nullptr);
        const ssize_t sent = write(ends[1], text.data(), text.size());
        _exit(sent == static_cast<ssize_t>(text.size()) ? 0 : 1);
    }
    ::close(ends[1]);
    std::string text;
    std::array<char, 4096> some{};
    for (ssize_t n = 0; (n = read(ends[0], some.data(), some.size())) > 0;) {
        text.append(some.data(), static_cast<std::size_t>(n));
    }
    ::close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) text += " (child status " + std::to_string(status) + ")";
    return text;
}

template <class Body>
void check_in_child(Body body) {
    const std::string failure = in_child(body);
    CHECK(failure == "");
}

// A folder that goes away with the process that made it; the children end without destructors.
class ScratchFolder {
public:
    ScratchFolder() {
        std::string name =
            (std::filesystem::temp_directory_path() / "wirebook-dpdk-XXXXXX").string();
        path_ = mkdtemp(name.data());
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    ~ScratchFolder() { std::filesystem::remove_all(path_); }
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
};

// Ports that start fast: ordinary memory, short queues, a small pool.
inline DpdkOptions small_options(std::initializer_list<std::string> devices) {
    DpdkOptions options;
    for (const std::string& device : devices) options.ports.push_back({device, 0, 0});
    options.hugepages = false;
    options.parked_packets = 256;
    options.descriptors = 128;
    options.cache = 32;
    options.file_prefix = "wirebook-test-" + std::to_string(::getpid());
    return options;
}

inline const std::filesystem::path& scratch_folder() {
    static const ScratchFolder folder;
    return folder.path();
}

}  // namespace wirebook::io::testing
