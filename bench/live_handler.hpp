// The handler of the live latency bench: a process of its own, since DPDK starts once in one, with
// an lcore as `wirebook run` has it (app::Lcore: Loop, pipeline, books, publisher) over one of the
// ways of receiving. What it says goes to a file; the sender reads there why it did not start.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include "app/live_lcore.hpp"
#include "live_link.hpp"
#include "socket_sources.hpp"
#include "wirebook/app/loop.hpp"
#include "wirebook/io/dpdk_source.hpp"

#ifdef WIREBOOK_LIBURING
#include "uring_source.hpp"
#endif

namespace wirebook::bench {

enum class Kind : std::uint8_t { socket, uring, dpdk };

struct Way {
    const char* name;
    const char* what;
    Kind kind;
    SocketWay socket = SocketWay::blocking;
    bool waits = false;            // uring
    bool napi = false;             // the link is to have it
    const char* device = nullptr;  // dpdk
};

inline constexpr std::array<Way, 9> ways{{
    {"blocking", "UDP, recv waits", Kind::socket, SocketWay::blocking},
    {"epoll", "UDP, epoll_wait, then recv", Kind::socket, SocketWay::epoll},
    {"busy_poll", "UDP, recv with SO_BUSY_POLL", Kind::socket, SocketWay::busy_poll},
    {"busy_poll_napi", "the same, veth with NAPI", Kind::socket, SocketWay::busy_poll, false, true},
    {"io_uring", "UDP, waits for completions", Kind::uring, SocketWay::blocking, true},
    {"spinning", "UDP, recv never waits", Kind::socket, SocketWay::spinning},
    {"io_uring_spin", "UDP, spins over completions", Kind::uring, SocketWay::spinning, false},
    {"af_packet", "DPDK, net_af_packet", Kind::dpdk, {}, false, false, "net_af_packet0,iface=a1"},
    {"af_xdp",
     "DPDK, net_af_xdp",
     Kind::dpdk,
     {},
     false,
     false,
     "net_af_xdp0,iface=a1,busy_budget=0"},
}};

struct HandlerSettings {
    std::string directory;  // of the segment and of what the handler says
    std::uint32_t cpu = 1;
    std::uint32_t fifo_priority = 0;
    bool hugepages = false;
};
inline constexpr const char* segment_name = "latency";

// What `wirebook run` would have read from its file.
inline app::Config handler_config(const HandlerSettings& settings) {
    app::Config config;
    app::ChannelConfig channel;
    channel.name = "bench";
    app::LineConfig line;
    line.group = {wire::Address::from_ipv4(listen_to.group), listen_to.udp_port};
    line.port = 0;
    channel.lines.push_back(line);
    config.channels.push_back(channel);
    config.sizes = {.orders = 65'536, .levels = 65'536, .instruments = 1'024, .park_packets = 256};
    config.publish.name = segment_name;
    config.publish.directory = settings.directory;
    return config;
}

// Everything of a handler but the source. Ends the process where something cannot be had.
class HandlerProcess {
public:
    HandlerProcess(const Way& way, const HandlerSettings& settings, int ready)
        : way_(way), settings_(settings), ready_(ready) {}

    int run() {
        app::LcorePlan plan;
        plan.cpu = settings_.cpu;
        plan.fifo_priority = settings_.fifo_priority;
        plan.channels = {0};
        auto lcore = app::Lcore::create(handler_config(settings_), {}, plan, 0, 1);
        if (!lcore) return refuse(lcore.error());
        lcore_ = std::move(lcore).value();
        if (way_.kind == Kind::dpdk) return run_port();
        if (way_.kind == Kind::uring) return run_uring();
        auto source = SocketSource::open(listen_to, way_.socket);
        if (!source) return refuse(source.error());
        const int status = serve(source.value());
        if (way_.socket == SocketWay::busy_poll && !source.value().has_napi())
            say("there is no NAPI to poll: recv waits as without SO_BUSY_POLL");
        return status;
    }

private:
    int run_port() {
        io::DpdkOptions options;
        io::DpdkPortOptions port;
        port.device = way_.device;
        port.groups.push_back({wire::Address::from_ipv4(listen_to.group), listen_to.udp_port, 0});
        options.ports.push_back(port);
        options.hugepages = settings_.hugepages;
        options.file_prefix = "wirebook_latency_" + std::to_string(::getpid());
        auto source = io::DpdkSource::open(options);
        if (!source) return refuse(source.error());
        const int status = serve(source.value().poller(0));
        source.value().close();
        return status;
    }
    int run_uring() {
#ifdef WIREBOOK_LIBURING
        auto source = UringSource::open(listen_to, way_.waits);
        if (!source) return refuse(source.error());
        const int status = serve(source.value());
        if (!source.value().multishot()) say("no multishot: each receive is asked for anew");
        return status;
#else
        return refuse({ENOSYS, "this build has no liburing (liburing-dev)"});
#endif
    }

    // Until SIGTERM.
    template <class Source>
    int serve(Source& source) {
        app::catch_stop_signals();
        app::LoopOptions options;  // as in `wirebook run`
        options.clock_runs = true;
        options.offers = true;
        app::Gate begun, ended;
        lcore_->start(source, options, begun, ended);
        while (!begun.wait(1, std::chrono::minutes(1))) {
        }
        if (!lcore_->problem()) {
            const char byte = 'r';
            if (::write(ready_, &byte, 1) != 1) app::stop_requested = true;
            while (!ended.wait(1, std::chrono::minutes(1))) {
            }
        }
        lcore_->join();
        lcore_->observer().publisher->close();
        return lcore_->problem() ? refuse(*lcore_->problem()) : 0;
    }
    static void say(const char* text) {
        std::fprintf(stderr, "note: %s\n", text);
    }
    static int refuse(const Error& error) {
        std::fprintf(stderr, "note: %s\n", error.context.c_str());
        return 3;
    }

    const Way& way_;
    const HandlerSettings& settings_;
    int ready_;
    std::unique_ptr<app::Lcore> lcore_;
};

// The sender's hold on a handler.
class Handler {
public:
    Handler(const Way& way, const HandlerSettings& settings)
        : log_(settings.directory + "/handler.log") {
        std::array<int, 2> pipe{-1, -1};
        if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return;
        ready_ = FileDescriptor(pipe[0]);
        const FileDescriptor other(pipe[1]);
        std::fflush(stdout);
        const pid_t parent = ::getpid();
        process_ = ::fork();
        if (process_ != 0) return;
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent) ::_exit(1);
        const int log = ::open(log_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (log >= 0) ::dup2(log, STDERR_FILENO);
        const int status = HandlerProcess(way, settings, other.get()).run();
        std::fflush(stderr);
        ::_exit(status);
    }
    Handler(const Handler&) = delete;
    Handler& operator=(const Handler&) = delete;
    Handler(Handler&&) = delete;
    Handler& operator=(Handler&&) = delete;
    ~Handler() { stop(); }

    // False: it has ended, or does not come up.
    [[nodiscard]] bool wait_until_ready() const {
        pollfd wanted{ready_.get(), POLLIN, 0};
        char byte = 0;
        return process_ > 0 && ::poll(&wanted, 1, 30'000) == 1 &&
               ::read(ready_.get(), &byte, 1) == 1;
    }
    void stop() {
        if (process_ <= 0) return;
        ::kill(process_, SIGTERM);
        for (int tenth_ms = 0; tenth_ms < 50'000; ++tenth_ms) {
            if (::waitpid(process_, nullptr, WNOHANG) != 0) {
                process_ = -1;
                return;
            }
            ::usleep(100);
        }
        ::kill(process_, SIGKILL);
        ::waitpid(process_, nullptr, 0);
        process_ = -1;
    }
    // What it noted last, "" where nothing. After stop().
    [[nodiscard]] std::string note() const {
        constexpr std::string_view mark = "note: ";
        std::ifstream file(log_);
        std::string found;
        for (std::string line; std::getline(file, line);) {
            if (line.starts_with(mark)) found = line.substr(mark.size());
        }
        return found;
    }

private:
    std::string log_;
    FileDescriptor ready_;
    pid_t process_ = -1;
};

}  // namespace wirebook::bench
