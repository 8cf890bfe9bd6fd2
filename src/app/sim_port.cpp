#include "sim_port.hpp"

#include <cerrno>

#ifdef WIREBOOK_DPDK

#include <fmt/format.h>

#include <utility>

#include "wirebook/app/loop.hpp"
#include "wirebook/core/clock.hpp"
#include "wirebook/io/dpdk_sink.hpp"
#include "wirebook/sim/frame_merger.hpp"
#include "wirebook/sim/paced_sink.hpp"

namespace wirebook::app {
namespace {

struct PortFrames {
    io::DpdkSink sink;
    void on_frame(const sim::FrameView& frame) { sink.send(frame.bytes); }
};

class PortOutlet final : public SimOutlet {
public:
    PortOutlet(io::DpdkSink sink, double speed)
        : port_{std::move(sink)},
          paced_(port_, speed, TscClock::calibrate(), &stop_requested),
          merger_(paced_) {}

    void connect(sim::ExchangeOutputs& outputs) override {
        outputs.frame = [this](const sim::FrameView& frame) { merger_.on_frame(frame); };
        outputs.no_frame_before = [this](std::int64_t time_ns) { merger_.advance(time_ns); };
    }
    Status status() override { return port_.sink.status(); }
    Status finish() override {
        merger_.finish();
        port_.sink.close();
        return port_.sink.status();
    }
    std::string summary() const override {
        const io::DpdkSinkCounters counters = port_.sink.counters();
        return fmt::format(
            "{} frames, {} bytes; retries {}, too long {}, lost {}; at most {} us late",
            counters.frames, counters.bytes, counters.retries, counters.too_long, counters.lost,
            paced_.latest_ns() / 1'000);
    }

private:
    PortFrames port_;
    sim::PacedSink<PortFrames> paced_;
    sim::FrameMerger<sim::PacedSink<PortFrames>> merger_;
};

}  // namespace

Result<std::unique_ptr<SimOutlet>> open_port_outlet(const SimOptions& options, const Config& config,
                                                    const SimSettings& settings) {
    io::DpdkSinkOptions dpdk;
    dpdk.device = options.port;
    dpdk.hugepages = config.dpdk.hugepages;
    dpdk.memory_mb = config.dpdk.memory_mb.value_or(0);
    dpdk.descriptors = static_cast<std::uint16_t>(config.dpdk.descriptors);
    // At a pace each frame leaves when it is due, not when a burst is full.
    dpdk.burst = settings.speed > 0 ? std::uint16_t{1} : std::uint16_t{32};
    dpdk.data_room = 9'216;
    // Said to EAL, it is a thing that the sizes depend on.
    for (const std::string& argument : options.eal_arguments) {
        if (argument == "--no-huge") {
            dpdk.hugepages = false;
        } else {
            dpdk.eal_arguments.push_back(argument);
        }
    }
    auto sink = io::DpdkSink::open(dpdk);
    if (!sink) return sink.error();
    for (const std::string& notice : sink.value().notices()) {
        fmt::print(stderr, "wirebook: {}\n", notice);
    }
    fmt::print(stderr, "{}\n", sink.value().description());
    return std::unique_ptr<SimOutlet>(
        std::make_unique<PortOutlet>(std::move(sink).value(), settings.speed));
}

}  // namespace wirebook::app

#else

namespace wirebook::app {

Result<std::unique_ptr<SimOutlet>> open_port_outlet(const SimOptions& /*options*/,
                                                    const Config& /*config*/,
                                                    const SimSettings& /*settings*/) {
    return Error{ENODEV,
                 "this build has no DPDK: install dpdk-dev and libdpdk-dev, then build again with "
                 "meson setup --wipe -Ddpdk=enabled build"};
}

}  // namespace wirebook::app

#endif
