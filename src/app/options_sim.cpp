// The rules of `wirebook sim`'s options; see options_checks.hpp. Throws UsageError.
#include <array>
#include <utility>
#include <vector>

#include "config_values.hpp"
#include "options_checks.hpp"
#include "wirebook/sim/fault_rule.hpp"

namespace wirebook::app {
namespace {

void take_number(std::optional<std::uint64_t>& field, const std::string& option,
                 const std::string& text, std::uint64_t least, std::uint64_t most) {
    if (!text.empty()) field = whole_number(option, text, least, most);
}

// No two outputs in one file, and none over the configuration.
void check_files(const SimOptions& sim) {
    std::vector<std::string> files;
    const auto add = [&](const std::string& file) {
        if (file.empty() || file == "-" || file.starts_with("/dev/")) return;
        for (const std::string& other : files) {
            if (same_path(file, other)) wrong(in_quotes(file) + " would be written twice");
        }
        if (!sim.config_file.empty() && same_path(file, sim.config_file)) {
            wrong("the output would overwrite the configuration " + in_quotes(file));
        }
        files.push_back(file);
    };
    for (const std::string& file : {sim.pcap, sim.pcap_a, sim.pcap_b, sim.binary}) add(file);
    if (sim.truth.empty()) return;
    add(sim.truth + ".top.csv");
    add(sim.truth + ".final.csv");
}

// Exactly one place where the feed goes.
void check_output(SimOptions& sim) {
    if (sim.pcap_a.empty() != sim.pcap_b.empty()) {
        wrong("--pcap-a and --pcap-b belong together; for one line write --pcap");
    }
    struct Output {
        std::string_view name;
        const std::string* value;
        SimOutput output;
    };
    const std::array<Output, 5> outputs{{{"--pcap", &sim.pcap, SimOutput::pcap},
                                         {"--pcap-a", &sim.pcap_a, SimOutput::pcap_pair},
                                         {"--binary", &sim.binary, SimOutput::binary},
                                         {"--udp", &sim.udp, SimOutput::udp},
                                         {"--port", &sim.port, SimOutput::port}}};
    const Output* given = nullptr;
    for (const Output& output : outputs) {
        if (output.value->empty()) continue;
        if (given != nullptr) {
            wrong(std::string{given->name} + " and " + std::string{output.name} +
                  " exclude each other");
        }
        given = &output;
    }
    if (given == nullptr) {
        wrong(
            "sim needs a place for its feed: --pcap, --pcap-a and --pcap-b, --binary, --udp or "
            "--port");
    }
    sim.output = given->output;
    if (sim.output == SimOutput::binary && sim.feed == wire::Protocol::iex_deep) {
        wrong("--binary is for itch50: a BinaryFILE holds ITCH messages");
    }
    check_files(sim);
}

}  // namespace

void check_sim(SimOptions& sim, const RawOptions& raw) {
    if (!raw.feed.empty()) {
        sim.feed = wire::protocol_from_name(raw.feed);
        if (sim.feed != wire::Protocol::itch50 && sim.feed != wire::Protocol::iex_deep) {
            wrong("--feed must be itch50 or iex-deep, is " + in_quotes(raw.feed));
        }
    }
    take_number(sim.seed, "--seed", raw.seed, 0, 999'999'999'999'999'999);
    take_number(sim.instruments, "--instruments", raw.instruments, 1, 60'000);
    take_number(sim.messages, "--messages", raw.messages, 1, 100'000'000'000);
    take_number(sim.rate, "--rate", raw.rate, 1, 100'000'000);
    take_number(sim.live_orders, "--live", raw.live, 1, 50'000'000);
    if (!raw.duration.empty()) {
        sim.duration_s = positive_number(raw.duration);
        if (!(*sim.duration_s > 0 && *sim.duration_s <= 1e6)) {
            wrong("--duration must be seconds above 0, at most 1000000, is " +
                  in_quotes(raw.duration));
        }
    }
    if (sim.messages && sim.duration_s) wrong("--messages and --duration exclude each other");
    if (!raw.speed.empty()) sim.speed = speed_of(raw.speed);
    if (sim.speed.value_or(0) != 0 && sim.udp.empty() && sim.port.empty()) {
        wrong("--speed is for --udp and --port: a file is written as fast as possible");
    }
    if (sim.config_file.empty()) {
        if (!sim.feed) wrong("sim needs --feed itch50 or iex-deep");
        if (!sim.seed) wrong("sim needs --seed N");
    }
    check_output(sim);
    for (const std::string& fault : sim.faults) {
        const auto rule = sim::parse_fault_rule(fault);
        if (!rule) wrong("--fault " + in_quotes(fault) + ": " + rule.error().context);
    }
    if (sim.port.empty() && !sim.eal_arguments.empty()) {
        wrong("what follows -- goes to DPDK's EAL, which only --port uses");
    }
}

}  // namespace wirebook::app
