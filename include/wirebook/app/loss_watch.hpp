// Which of this machine's own counters moved when a hole in a feed appeared: the cause that is
// written beside the hole.
//
// The control thread samples the counters of all ports every 100 ms; the lcore that gives a hole up
// compares those of the channel's ports with the sample before the last. A cause is therefore what
// happened within the last 0.2 s, on ports that carry the channel: a strong hint, no proof.
// Threads: sample() on the control thread; cause() on any lcore.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wirebook/feed/channel.hpp"
#include "wirebook/io/dpdk_source.hpp"

namespace wirebook::app {

// Of one hole. Nothing set: lost before this machine, or where the driver does not count.
struct GapCause {
    std::uint64_t missed = 0;   // frames that found no free descriptor
    std::uint64_t no_mbuf = 0;  // frames that found no free packet
    std::uint64_t errors = 0;   // frames that the device refused
    bool link = false;          // a link was down

    // "loss", or what is known: "missed:12,link".
    [[nodiscard]] std::string text() const;
};

// Holes by cause, of one lcore. A hole with two causes counts in both.
struct GapCauses {
    static constexpr std::array<std::string_view, 5> names{"loss", "missed", "no_mbuf", "errors",
                                                           "link"};
    std::array<std::uint64_t, names.size()> count{};

    void add(const GapCause& cause) noexcept {
        const std::array<bool, 4> known{cause.missed != 0, cause.no_mbuf != 0, cause.errors != 0,
                                        cause.link};
        bool any = false;
        for (std::size_t i = 0; i < known.size(); ++i) {
            count[i + 1] += known[i] ? 1U : 0U;
            any = any || known[i];
        }
        count[0] += any ? 0U : 1U;
    }
};

class LossWatch {
public:
    // What the port's counters say now; nothing while they are being read.
    using Read = std::function<std::optional<io::DpdkPortStats>(std::size_t port)>;

    LossWatch(std::size_t ports, Read read) : read_(std::move(read)), ports_(ports) {}

    void sample(std::size_t port, const io::DpdkPortStats& now, bool link_up) noexcept;
    [[nodiscard]] GapCause cause(const feed::Channel& channel) const;

private:
    struct Sample {
        std::atomic<std::uint64_t> missed{0}, no_mbuf{0}, errors{0};
        std::atomic<bool> link_down{false};

        void copy(const Sample& from) noexcept;
    };
    struct Port {
        Sample before, last;
    };

    Read read_;
    std::deque<Port> ports_;
};

}  // namespace wirebook::app
