// The rules of `wirebook sim`'s options; see options_checks.hpp. Throws UsageError.
#include <array>
#include <utility>

#include "config_values.hpp"
#include "options_checks.hpp"
#include "wirebook/sim/fault_rule.hpp"

namespace wirebook::app {
namespace {

void take_number(std::optional<std::uint64_t>& field, const std::string& option,
                 const std::string& text, std::uint64_t least, std::uint64_t most) {
    if (!text.empty()) field = whole_number(option, text, least, most);
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
    if (!sim.pcap_a.empty() && same_path(sim.pcap_a, sim.pcap_b)) {
        wrong("--pcap-a and --pcap-b both write " + in_quotes(sim.pcap_a));
    }
    if (sim.output == SimOutput::binary && sim.feed == wire::Protocol::iex_deep) {
        wrong("--binary is for itch50: a BinaryFILE holds ITCH messages");
    }
    for (const std::string* file : {&sim.pcap, &sim.pcap_a, &sim.pcap_b, &sim.binary}) {
        if (!file->empty() && !sim.config_file.empty() && same_path(*file, sim.config_file)) {
            wrong("the output would overwrite the configuration " + in_quotes(*file));
        }
    }
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
            wrong("--duration must be seconds above 0, is " + in_quotes(raw.duration));
        }
    }
    if (sim.messages && sim.duration_s) wrong("--messages and --duration exclude each other");
    if (!raw.speed.empty()) sim.speed = speed_of(raw.speed);
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
