// The keys of the simulated exchange; see config_reader.hpp.
#include <array>

#include "config_reader.hpp"
#include "wirebook/sim/fault_rule.hpp"

namespace wirebook::app {
namespace {

void read_sim_feed(const Value& value, SimConfig& sim) {
    constexpr std::array<std::string_view, 2> feeds{"itch50", "iex-deep"};
    if (const auto index = value.choice(feeds)) {
        sim.feed = *index == 0 ? wire::Protocol::itch50 : wire::Protocol::iex_deep;
    }
}

void read_sim_group(const Value& value, SimLineConfig& line) {
    const std::string* text = value.text();
    if (text == nullptr) return;
    line.group = parse_group_address(*text);
    if (!line.group || !line.group->address.is_ipv4() || !line.group->address.is_multicast()) {
        value.problem("must be \"ADDRESS:PORT\" with an IPv4 multicast address, is " +
                      in_quotes(*text));
    }
}

void read_sim_faults(const Value& value, SimLineConfig& line) {
    value.each("a list of rules like \"loss=0.01\"", [&](const Value& element) {
        const std::string* text = element.text();
        if (text == nullptr) return;
        // Which line it is of is where it stands.
        const auto rule = sim::parse_fault_rule("*:" + *text);
        if (!rule) element.problem(rule.error().context);
        line.faults.push_back(*text);
    });
}

constexpr std::array<KeySpec<SimLineConfig>, 4> line_keys{{
    {{"sim.line", "group", "text", "-", "a group of our own"}, false, read_sim_group},
    {{"sim.line", "payload_bytes", "integer", "bytes", "A 1400, B 1000"},
     false,
     [](const Value& value, SimLineConfig& line) {
         assign(line.payload_bytes, value.integer(200, 9'000));
     }},
    {{"sim.line", "flush_delay_us", "integer", "us", "A 5, B 20"},
     false,
     [](const Value& value, SimLineConfig& line) {
         assign(line.flush_delay_us, value.integer(0, 1'000'000));
     }},
    {{"sim.line", "faults", "list of text", "-", "none"}, false, read_sim_faults},
}};

constexpr std::array<KeySpec<SimConfig>, 10> keys{{
    {{"sim", "feed", "text", "-", "required, here or as `--feed`"}, false, read_sim_feed},
    {{"sim", "seed", "integer", "-", "required, here or as `--seed`"},
     false,
     [](const Value& value, SimConfig& sim) {
         assign(sim.seed, value.integer(0, 999'999'999'999'999'999));
     }},
    {{"sim", "instruments", "integer", "instruments", "100"},
     false,
     [](const Value& value, SimConfig& sim) { assign(sim.instruments, value.integer(1, 60'000)); }},
    {{"sim", "messages", "integer", "messages", "100000"},
     false,
     [](const Value& value, SimConfig& sim) {
         assign(sim.messages, value.integer(1, 100'000'000'000));
     }},
    {{"sim", "duration_s", "integer", "s", "by `messages`"},
     false,
     [](const Value& value, SimConfig& sim) {
         assign(sim.duration_s, value.integer(1, 1'000'000));
     }},
    {{"sim", "rate", "integer", "messages/s", "100000"},
     false,
     [](const Value& value, SimConfig& sim) { assign(sim.rate, value.integer(1, 100'000'000)); }},
    {{"sim", "live_orders", "integer", "orders", "a twentieth of the messages"},
     false,
     [](const Value& value, SimConfig& sim) {
         assign(sim.live_orders, value.integer(1, 50'000'000));
     }},
    {{"sim", "date", "date", "-", "2026-11-30"},
     false,
     [](const Value& value, SimConfig& sim) { sim.date = value.date(); }},
    {{"sim", "checksum", "true or false", "-", "true"},
     false,
     [](const Value& value, SimConfig& sim) { sim.checksum = value.flag().value_or(true); }},
    {{"sim", "line", "sections", "-", "two lines"},
     false,
     [](const Value& value, SimConfig& sim) {
         value.each("a list: write [[sim.line]] in double brackets", [&](const Value& element) {
             read_section<SimLineConfig>(element, "a table", line_keys, sim.lines.emplace_back());
         });
         if (sim.lines.size() > 2) value.problem("has more than two lines: A and B");
     }},
}};

}  // namespace

std::span<const KeySpec<SimConfig>> sim_keys() noexcept {
    return keys;
}
std::span<const KeySpec<SimLineConfig>> sim_line_keys() noexcept {
    return line_keys;
}

}  // namespace wirebook::app
