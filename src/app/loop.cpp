#include "wirebook/app/loop.hpp"

#include <csignal>

namespace wirebook::app {

std::atomic<bool> stop_requested{false};

namespace {
// A second signal ends the process at once: the handler is taken back.
extern "C" void on_stop_signal(int signal) {
    stop_requested.store(true, std::memory_order_relaxed);
    struct sigaction action = {};
    action.sa_handler = SIG_DFL;
    static_cast<void>(sigaction(signal, &action, nullptr));
}
}  // namespace

void catch_stop_signals() {
    struct sigaction action = {};
    action.sa_handler = on_stop_signal;
    static_cast<void>(sigaction(SIGINT, &action, nullptr));
    static_cast<void>(sigaction(SIGTERM, &action, nullptr));
}

}  // namespace wirebook::app
