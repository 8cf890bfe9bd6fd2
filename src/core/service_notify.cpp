#include "wirebook/core/service_notify.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>

namespace wirebook {
namespace {

std::string_view environment(const char* name) noexcept {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets any
    return value == nullptr ? std::string_view{} : value;
}

std::optional<std::uint64_t> number(std::string_view text) noexcept {
    std::uint64_t value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || fault != std::errc{} || end != text.data() + text.size()) return {};
    return value;
}

}  // namespace

bool notify_service(std::string_view state) noexcept {
    const std::string_view path = environment("NOTIFY_SOCKET");
    if (path.empty()) return true;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) return false;
    std::copy(path.begin(), path.end(), address.sun_path);
    // "@" stands for the zero byte of an abstract name.
    if (path.front() == '@') address.sun_path[0] = '\0';
    const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (socket < 0) return false;
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
    const ssize_t sent =
        ::sendto(socket, state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                 static_cast<const sockaddr*>(static_cast<const void*>(&address)), length);
    ::close(socket);
    return sent == static_cast<ssize_t>(state.size());
}

std::string reloading_state() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    const std::int64_t us = std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1'000;
    return "RELOADING=1\nMONOTONIC_USEC=" + std::to_string(us);
}

std::chrono::microseconds watchdog_interval() noexcept {
    const auto pid = number(environment("WATCHDOG_PID"));
    const auto interval = number(environment("WATCHDOG_USEC"));
    constexpr std::uint64_t longest = 86'400'000'000;  // a day
    if (!interval || (pid && *pid != static_cast<std::uint64_t>(::getpid()))) return {};
    return std::chrono::microseconds(std::min(*interval, longest));
}

}  // namespace wirebook
