#include "wirebook/app/loop.hpp"

#include <csignal>

namespace wirebook::app {

std::atomic<bool> stop_requested{false};
std::atomic<bool> reload_requested{false};

namespace {
// A second signal ends the process at once: the handler is taken back.
extern "C" void on_stop_signal(int signal) {
    stop_requested.store(true, std::memory_order_relaxed);
    struct sigaction action = {};
    action.sa_handler = SIG_DFL;
    static_cast<void>(sigaction(signal, &action, nullptr));
}
extern "C" void on_reload_signal(int /*signal*/) {
    reload_requested.store(true, std::memory_order_relaxed);
}
}  // namespace

void catch_reload_signal() {
    struct sigaction action = {};
    action.sa_handler = on_reload_signal;
    action.sa_flags = SA_RESTART;
    static_cast<void>(sigaction(SIGHUP, &action, nullptr));
}

void catch_stop_signals() {
    struct sigaction action = {};
    action.sa_handler = on_stop_signal;
    static_cast<void>(sigaction(SIGINT, &action, nullptr));
    static_cast<void>(sigaction(SIGTERM, &action, nullptr));
}

}  // namespace wirebook::app
