#include "sim_outputs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <utility>
#include <vector>

#include "sim_port.hpp"
#include "wirebook/app/loop.hpp"
#include "wirebook/core/clock.hpp"
#include "wirebook/sim/file_sinks.hpp"
#include "wirebook/sim/frame_merger.hpp"
#include "wirebook/sim/paced_sink.hpp"
#include "wirebook/sim/udp_sink.hpp"

namespace wirebook::app {
namespace {

// A capture for each line.
class CaptureOutlet final : public SimOutlet {
public:
    [[nodiscard]] Status add(const std::string& path) {
        auto sink = sim::PcapSink::create(path);
        if (!sink) return sink.error();
        files_.push_back(std::make_unique<File>(std::move(sink).value()));
        return Ok{};
    }

    void connect(sim::ExchangeOutputs& outputs) override {
        outputs.frame = [this](const sim::FrameView& frame) {
            files_[frame.line]->merger.on_frame(frame);
        };
        outputs.no_frame_before = [this](std::int64_t time_ns) {
            for (const auto& file : files_) file->merger.advance(time_ns);
        };
    }
    Status status() override {
        for (const auto& file : files_) {
            if (Status status = file->sink.status(); !status) return status;
        }
        return Ok{};
    }
    Status finish() override {
        Status result = Ok{};
        for (const auto& file : files_) {
            file->merger.finish();
            Status closed = file->sink.close();
            if (result && !closed) result = closed;
        }
        return result;
    }
    std::string summary() const override {
        std::string text;
        for (const auto& file : files_) {
            text += fmt::format("{}{} packets, {} bytes", text.empty() ? "" : "; ",
                                file->sink.records(), file->sink.bytes());
        }
        return text;
    }

private:
    struct File {
        explicit File(sim::PcapSink opened) : sink(std::move(opened)), merger(sink) {}
        sim::PcapSink sink;
        sim::FrameMerger<sim::PcapSink> merger;
    };
    std::vector<std::unique_ptr<File>> files_;
};

class BinaryOutlet final : public SimOutlet {
public:
    explicit BinaryOutlet(sim::BinaryFileSink sink) : sink_(std::move(sink)) {}

    void connect(sim::ExchangeOutputs& outputs) override {
        outputs.message = [this](std::span<const std::byte> message) { sink_.add(message); };
    }
    Status status() override { return sink_.status(); }
    Status finish() override { return sink_.close(); }
    std::string summary() const override {
        return fmt::format("{} messages, {} bytes", sink_.messages(), sink_.bytes());
    }

private:
    sim::BinaryFileSink sink_;
};

// A socket for both lines, or one a line.
struct UdpLines {
    std::vector<sim::UdpSink> sinks;

    void on_frame(const sim::FrameView& frame) {
        sinks[std::min<std::size_t>(frame.line, sinks.size() - 1)].on_frame(frame);
    }
    [[nodiscard]] Status status() const {
        for (const sim::UdpSink& sink : sinks) {
            if (Status status = sink.status(); !status) return status;
        }
        return Ok{};
    }
    [[nodiscard]] sim::UdpCounters counters() const {
        sim::UdpCounters sum;
        for (const sim::UdpSink& sink : sinks) {
            const sim::UdpCounters& counters = sink.counters();
            sum.datagrams += counters.datagrams;
            sum.bytes += counters.bytes;
            sum.retries += counters.retries;
            sum.errors += counters.errors;
            sum.unsendable += counters.unsendable;
        }
        return sum;
    }
};

class UdpOutlet final : public SimOutlet {
public:
    UdpOutlet(UdpLines lines, double speed)
        : lines_(std::move(lines)),
          paced_(lines_, speed, TscClock::calibrate(), &stop_requested),
          merger_(paced_) {}

    void connect(sim::ExchangeOutputs& outputs) override {
        outputs.frame = [this](const sim::FrameView& frame) { merger_.on_frame(frame); };
        outputs.no_frame_before = [this](std::int64_t time_ns) { merger_.advance(time_ns); };
    }
    Status status() override { return lines_.status(); }
    Status finish() override {
        merger_.finish();
        return lines_.status();
    }
    std::string summary() const override {
        const sim::UdpCounters counters = lines_.counters();
        return fmt::format(
            "{} datagrams, {} bytes; retries {}, errors {}, unsendable {}; at most "
            "{} us late",
            counters.datagrams, counters.bytes, counters.retries, counters.errors,
            counters.unsendable, paced_.latest_ns() / 1'000);
    }

private:
    UdpLines lines_;
    sim::PacedSink<UdpLines> paced_;
    sim::FrameMerger<sim::PacedSink<UdpLines>> merger_;
};

// `interfaces`: "eth1", or "eth1,eth2" for lines A and B.
Result<UdpLines> open_udp(const std::string& interfaces) {
    UdpLines lines;
    const std::size_t comma = interfaces.find(',');
    sim::UdpOptions udp;
    udp.interface = interfaces.substr(0, comma);
    for (;;) {
        auto sink = sim::UdpSink::open(udp);
        if (!sink) return sink.error();
        lines.sinks.push_back(std::move(sink).value());
        if (comma == std::string::npos || lines.sinks.size() == 2) return lines;
        udp.interface = interfaces.substr(comma + 1);
    }
}

}  // namespace

Result<std::unique_ptr<SimOutlet>> open_outlet(const SimOptions& options, const Config& config,
                                               const SimSettings& settings) {
    switch (options.output) {
        case SimOutput::pcap:
        case SimOutput::pcap_pair: {
            auto outlet = std::make_unique<CaptureOutlet>();
            const bool pair = options.output == SimOutput::pcap_pair;
            if (auto added = outlet->add(pair ? options.pcap_a : options.pcap); !added) {
                return added.error();
            }
            if (pair) {
                if (auto added = outlet->add(options.pcap_b); !added) return added.error();
            }
            return std::unique_ptr<SimOutlet>(std::move(outlet));
        }
        case SimOutput::binary: {
            auto sink = sim::BinaryFileSink::create(options.binary);
            if (!sink) return sink.error();
            return std::unique_ptr<SimOutlet>(
                std::make_unique<BinaryOutlet>(std::move(sink).value()));
        }
        case SimOutput::udp: {
            auto lines = open_udp(options.udp);
            if (!lines) return lines.error();
            return std::unique_ptr<SimOutlet>(
                std::make_unique<UdpOutlet>(std::move(lines).value(), settings.speed));
        }
        case SimOutput::port: break;
    }
    return open_port_outlet(options, config, settings);
}

}  // namespace wirebook::app
