// The keys of the configuration: one row each, with what the documentation says about it and how
// it is read; those of `run` alone are in config_live.cpp, those of [sim] in config_sim.cpp.
// Parser, suggestions and docs/configuration.md all go by these tables.
#include <algorithm>
#include <array>

#include "config_reader.hpp"
#include "wirebook/app/options.hpp"
#include "wirebook/feed/sequencer.hpp"

namespace wirebook::app {

void read_name(const Value& value, std::string& name) {
    const std::string* text = value.text();
    if (text == nullptr) return;
    if (is_segment_name(*text)) {
        name = *text;
    } else {
        value.problem("must be 1 to 63 of A-Z a-z 0-9 . _ -, not starting with . or -, is " +
                      in_quotes(*text));
    }
}

namespace {

constexpr std::array<std::string_view, 3> checksum_choices{"off", "count", "drop"};
constexpr std::array<std::string_view, 2> mode_choices{"changed", "touched"};

constexpr std::uint64_t longest_gap_wait_us = 3'600'000'000;

// ---- channel.lines

void read_group(const Value& value, LineConfig& line) {
    const std::string* text = value.text();
    if (text == nullptr) return;
    if (const auto group = parse_group_address(*text)) {
        line.group = *group;
    } else {
        value.problem(
            "must be \"ADDRESS:PORT\" with an IPv4 address or an IPv6 address in [ ] and "
            "a UDP port of 1 to 65535, is " +
            in_quotes(*text));
    }
}

void read_sources(const Value& value, LineConfig& line) {
    value.each("a list of addresses", [&](const Value& element) {
        const std::string* text = element.text();
        if (text == nullptr) return;
        // Read as a group's address is, with a port that does not count.
        const bool ipv6 = text->find(':') != std::string::npos;
        const auto parsed = parse_group_address((ipv6 ? "[" + *text + "]" : *text) + ":1");
        if (parsed && !parsed->address.is_multicast())
            return line.sources.push_back(parsed->address);
        element.problem("must be the address of a sender, is " + in_quotes(*text));
    });
}

constexpr std::array<KeySpec<LineConfig>, 4> line_keys{{
    {{"channel.lines", "group", "text", "-", "required"}, true, read_group},
    {{"channel.lines", "port", "integer", "index of a [[port]], from 0",
      "none (required by `run`)"},
     false,
     [](const Value& value, LineConfig& line) { assign(line.port, value.integer(0, 1023)); }},
    {{"channel.lines", "queue", "integer", "receive queue of the port, from 0", "chosen"},
     false,
     [](const Value& value, LineConfig& line) { assign(line.queue, value.integer(0, 63)); }},
    {{"channel.lines", "sources", "list of text", "-", "any"}, false, read_sources},
}};

// ---- [[channel]]

void read_feed(const Value& value, ChannelConfig& channel) {
    if (const auto index = value.choice(feed_names())) channel.feed = wire::all_protocols[*index];
}

void read_lines(const Value& value, ChannelConfig& channel) {
    constexpr std::string_view wanted = "a list of { group = \"ADDRESS:PORT\", port = 0 }";
    const std::size_t problems_before = value.problems().count();
    value.each(wanted, [&](const Value& element) {
        read_section<LineConfig>(element, "{ group = \"ADDRESS:PORT\", port = 0 }", line_keys,
                                 channel.lines.emplace_back());
    });
    if (channel.lines.empty() && value.problems().count() == problems_before) {
        value.problem("must not be empty");
    }
}

void read_symbols(const Value& value, ChannelConfig& channel) {
    const toml::array* list = value.node().as_array();
    if (list != nullptr && list->empty()) {
        return value.problem("an empty list would keep nothing; leave the key out to keep all");
    }
    value.each("a list of symbols", [&](const Value& element) {
        const std::string* text = element.text();
        if (text == nullptr) return;
        if (text->empty() || text->size() > 16 || text->front() == ' ' || text->back() == ' ') {
            return element.problem("must be 1 to 16 bytes without spaces around it, is " +
                                   in_quotes(*text));
        }
        auto& symbols = channel.symbols;
        if (std::find(symbols.begin(), symbols.end(), *text) == symbols.end()) {
            symbols.push_back(*text);
        }
    });
}

constexpr std::array<KeySpec<ChannelConfig>, 6> channel_keys{{
    {{"channel", "name", "text", "-", "required"},
     true,
     [](const Value& value, ChannelConfig& channel) { read_name(value, channel.name); }},
    {{"channel", "feed", "text", "-", "required"}, true, read_feed},
    {{"channel", "lines", "list of lines", "-", "none (required by `run`)"}, false, read_lines},
    {{"channel", "symbols", "list of text", "-", "all"}, false, read_symbols},
    {{"channel", "date", "date", "-", "of the first packet"},
     false,
     [](const Value& value, ChannelConfig& channel) { channel.date = value.date(); }},
    {{"channel", "gap_wait_us", "integer", "us", "the top one"},
     false,
     [](const Value& value, ChannelConfig& channel) {
         assign(channel.gap_wait_us, value.integer(0, longest_gap_wait_us));
     }},
}};

// ---- [publish]

void read_depth(const Value& value, PublishConfig& publish) {
    const auto depth = value.integer(1, 20);
    if (!depth) return;
    if (*depth == 1 || *depth == 5 || *depth == 10 || *depth == 20) {
        assign(publish.depth, depth);
    } else {
        value.problem("must be 1, 5, 10 or 20, is " + std::to_string(*depth));
    }
}

void read_directory(const Value& value, PublishConfig& publish) {
    const std::string* text = value.text();
    if (text == nullptr) return;
    if (text->find('\0') == std::string::npos && (text->empty() || text->front() == '/')) {
        publish.directory = *text;
    } else {
        value.problem("must be an absolute path, or \"\" for hugetlbfs or else /dev/shm, is " +
                      in_quotes(*text));
    }
}

void read_permissions(const Value& value, PublishConfig& publish) {
    const auto text = value.node().value_exact<std::string>();
    const auto permissions = text ? parse_permissions(*text) : std::nullopt;
    if (!permissions) {
        return value.wrong_type(
            "text of octal digits like \"0640\" (owner reads and writes, group "
            "and others at most read)");
    }
    publish.permissions = *permissions;
}

constexpr std::array<KeySpec<PublishConfig>, 9> publish_keys{{
    {{"publish", "name", "text", "-", "\"\" (`run` publishes nothing)"},
     false,
     [](const Value& value, PublishConfig& publish) {
         const auto* text = value.node().as_string();
         if (text == nullptr || !text->get().empty()) read_name(value, publish.name);
     }},
    {{"publish", "depth", "integer: 1, 5, 10, 20", "levels a side", "5"}, false, read_depth},
    {{"publish", "mode", "text", "-", "\"changed\""},
     false,
     [](const Value& value, PublishConfig& publish) {
         assign(publish.mode, value.choice(mode_choices));
     }},
    {{"publish", "slots", "integer, a power of two", "records", "65536"},
     false,
     [](const Value& value, PublishConfig& publish) {
         assign(publish.slots, value.integer(64, 1U << 24U, true));
     }},
    {{"publish", "orders", "true or false", "-", "false"},
     false,
     [](const Value& value, PublishConfig& publish) { assign(publish.orders, value.flag()); }},
    {{"publish", "directory", "text", "-", "\"\" (hugetlbfs, else /dev/shm)"},
     false,
     read_directory},
    {{"publish", "owner", "text", "-", "\"\" (of the process)"},
     false,
     [](const Value& value, PublishConfig& publish) {
         const auto* text = value.node().as_string();
         if (text == nullptr || !text->get().empty()) read_name(value, publish.owner);
     }},
    {{"publish", "group", "text", "-", "\"\" (of the process)"},
     false,
     [](const Value& value, PublishConfig& publish) {
         const auto* text = value.node().as_string();
         if (text == nullptr || !text->get().empty()) read_name(value, publish.group);
     }},
    {{"publish", "permissions", "text, octal", "-", "\"0640\""}, false, read_permissions},
}};

// ---- [sizes]

constexpr std::array<KeySpec<SizesConfig>, 4> sizes_keys{{
    {{"sizes", "orders", "integer", "live orders", "4194304"},
     false,
     [](const Value& value, SizesConfig& sizes) {
         assign(sizes.orders, value.integer(1024, 1U << 28U));
     }},
    {{"sizes", "levels", "integer", "price levels", "1048576"},
     false,
     [](const Value& value, SizesConfig& sizes) {
         assign(sizes.levels, value.integer(1024, 1U << 26U));
     }},
    {{"sizes", "instruments", "integer", "instruments", "65536"},
     false,
     [](const Value& value, SizesConfig& sizes) {
         assign(sizes.instruments, value.integer(16, 1U << 20U));
     }},
    {{"sizes", "park_packets", "integer", "packets a channel", "4096"},
     false,
     [](const Value& value, SizesConfig& sizes) {
         assign(sizes.park_packets, value.integer(1, feed::park_packets_limit));
     }},
}};

// ---- the top of the file

// An element that is wrong keeps its place: indices in messages are those of the file.
void read_ports(const Value& value, Config& config) {
    value.each("a list: write [[port]] in double brackets", [&](const Value& element) {
        read_section<PortConfig>(element, "a table", port_keys(), config.ports.emplace_back());
    });
}
void read_lcores(const Value& value, Config& config) {
    value.each("a list: write [[lcore]] in double brackets", [&](const Value& element) {
        read_section<LcoreConfig>(element, "a table", lcore_keys(), config.lcores.emplace_back());
    });
}
void read_channels(const Value& value, Config& config) {
    value.each("a list: write [[channel]] in double brackets", [&](const Value& element) {
        read_section<ChannelConfig>(element, "a table", channel_keys,
                                    config.channels.emplace_back());
    });
}

constexpr std::array<KeySpec<Config>, 10> top_keys{{
    {{"", "gap_wait_us", "integer", "us", "500"},
     false,
     [](const Value& value, Config& config) {
         assign(config.gap_wait_us, value.integer(0, longest_gap_wait_us));
     }},
    {{"", "checksum", "text", "-", "`run` \"drop\", `replay` \"count\""},
     false,
     [](const Value& value, Config& config) {
         if (const auto index = value.choice(checksum_choices)) {
             config.checksum = static_cast<ChecksumPolicy>(*index);
         }
     }},
    {{"", "port", "sections", "-", "none"}, false, read_ports},
    {{"", "lcore", "sections", "-", "none"}, false, read_lcores},
    {{"", "channel", "sections", "-", "none"}, false, read_channels},
    {{"", "publish", "section", "-", ""},
     false,
     [](const Value& value, Config& config) {
         read_section<PublishConfig>(value, "a table: [publish]", publish_keys, config.publish);
     }},
    {{"", "sizes", "section", "-", ""},
     false,
     [](const Value& value, Config& config) {
         read_section<SizesConfig>(value, "a table: [sizes]", sizes_keys, config.sizes);
     }},
    {{"", "dpdk", "section", "-", ""},
     false,
     [](const Value& value, Config& config) {
         read_section<DpdkConfig>(value, "a table: [dpdk]", dpdk_keys(), config.dpdk);
     }},
    {{"", "log", "section", "-", ""},
     false,
     [](const Value& value, Config& config) {
         read_section<LogConfig>(value, "a table: [log]", log_keys(), config.log);
     }},
    {{"", "sim", "section", "-", ""},
     false,
     [](const Value& value, Config& config) {
         read_section<SimConfig>(value, "a table: [sim]", sim_keys(), config.sim);
     }},
}};

template <class Section>
void append(std::vector<ConfigKey>& all, std::span<const KeySpec<Section>> keys) {
    for (const KeySpec<Section>& spec : keys) {
        if (!spec.key.type.starts_with("section")) all.push_back(spec.key);
    }
}

}  // namespace

std::span<const ConfigKey> config_keys() noexcept {
    static const std::vector<ConfigKey> all = [] {
        std::vector<ConfigKey> keys;
        append<Config>(keys, top_keys);
        append<PortConfig>(keys, port_keys());
        append<LcoreConfig>(keys, lcore_keys());
        append<ChannelConfig>(keys, channel_keys);
        append<LineConfig>(keys, line_keys);
        append<PublishConfig>(keys, publish_keys);
        append<SizesConfig>(keys, sizes_keys);
        append<DpdkConfig>(keys, dpdk_keys());
        append<LogConfig>(keys, log_keys());
        append<SimConfig>(keys, sim_keys());
        append<SimLineConfig>(keys, sim_line_keys());
        return keys;
    }();
    return all;
}

void read_config(const toml::table& root, Config& config, Problems& problems) {
    read_section<Config>(Value{root, "", problems}, "a table", top_keys, config);
}

}  // namespace wirebook::app
