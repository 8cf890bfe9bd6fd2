// What a service tells systemd: the datagrams of sd_notify(3), without its library.
//
// Without NOTIFY_SOCKET in the environment nothing is sent. Control thread.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace wirebook {

// "READY=1", "STOPPING=1", "WATCHDOG=1", "STATUS=..."; several, a line each. False: there is a
// socket, and it did not take them.
bool notify_service(std::string_view state) noexcept;

// "RELOADING=1" with the monotonic time that systemd wants beside it.
[[nodiscard]] std::string reloading_state();

// How long systemd waits for a "WATCHDOG=1" before it takes the service for dead. 0: it does not
// watch, or watches another process.
[[nodiscard]] std::chrono::microseconds watchdog_interval() noexcept;

}  // namespace wirebook
