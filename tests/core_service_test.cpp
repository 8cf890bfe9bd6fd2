// The datagrams to systemd, against a socket of our own.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <string>

#include "wirebook/core/service_notify.hpp"

namespace {

using namespace wirebook;

// Bound to a path, or with '@' in front to an abstract name.
class Listener {
public:
    explicit Listener(const std::string& name) {
        socket_ = ::socket(AF_UNIX, SOCK_DGRAM, 0);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path, name.data(), name.size());
        if (name[0] == '@') address.sun_path[0] = '\0';
        const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
        bound_ = ::bind(socket_, static_cast<const sockaddr*>(static_cast<const void*>(&address)),
                        length) == 0;
        ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
    }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    ~Listener() {
        ::close(socket_);
        ::unsetenv("NOTIFY_SOCKET");
    }
    [[nodiscard]] bool bound() const { return bound_; }
    [[nodiscard]] std::string next() const {
        std::array<char, 512> text{};
        const ssize_t size = ::recv(socket_, text.data(), text.size(), MSG_DONTWAIT);
        return size < 0 ? "(nothing)" : std::string(text.data(), static_cast<std::size_t>(size));
    }

private:
    int socket_ = -1;
    bool bound_ = false;
};

}  // namespace

TEST_CASE("service: states arrive at a path and at an abstract name") {
    const std::string path = "/tmp/wirebook-notify-" + std::to_string(::getpid());
    for (const std::string& name : {path, "@" + path.substr(1)}) {
        const Listener listener(name);
        REQUIRE(listener.bound());
        CHECK(notify_service("READY=1\nSTATUS=polling"));
        CHECK(listener.next() == "READY=1\nSTATUS=polling");
        CHECK(listener.next() == "(nothing)");
    }
    ::unlink(path.c_str());
}

TEST_CASE("service: without a socket nothing is sent; one that is gone is said") {
    ::unsetenv("NOTIFY_SOCKET");
    CHECK(notify_service("READY=1"));
    ::setenv("NOTIFY_SOCKET", "/tmp/wirebook-no-such-socket", 1);
    CHECK_FALSE(notify_service("READY=1"));
    ::setenv("NOTIFY_SOCKET", std::string(300, 'x').c_str(), 1);
    CHECK_FALSE(notify_service("READY=1"));
    ::unsetenv("NOTIFY_SOCKET");
}

TEST_CASE("service: the watchdog is ours, somebody else's, or nonsense") {
    using std::chrono::microseconds;
    ::unsetenv("WATCHDOG_PID");
    ::unsetenv("WATCHDOG_USEC");
    CHECK(watchdog_interval() == microseconds(0));
    ::setenv("WATCHDOG_USEC", "5000000", 1);
    CHECK(watchdog_interval() == microseconds(5'000'000));
    ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
    CHECK(watchdog_interval() == microseconds(5'000'000));
    ::setenv("WATCHDOG_PID", "1", 1);
    CHECK(watchdog_interval() == microseconds(0));
    ::unsetenv("WATCHDOG_PID");
    for (const char* wrong : {"", "x", "12x", "-5", "99999999999999999999999"}) {
        ::setenv("WATCHDOG_USEC", wrong, 1);
        CHECK(watchdog_interval() == microseconds(0));
    }
    ::unsetenv("WATCHDOG_USEC");
    CHECK(reloading_state().starts_with("RELOADING=1\nMONOTONIC_USEC="));
}
