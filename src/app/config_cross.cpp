// Checks that need more than one key: names and groups that are there twice, ports that are not
// there at all, what `run` cannot do without. Reads places from the TOML tree, values from Config.
#include <map>

#include "config_reader.hpp"
#include "wirebook/ring/segment.hpp"

namespace wirebook::app {

namespace {

using Position = toml::source_position;

std::string indexed(std::string_view key, std::size_t index) {
    return std::string{key} + "[" + std::to_string(index) + "]";
}

std::string line_of(const Position& where) {
    return "(line " + std::to_string(where.line) + ")";
}

// The kernel's interface that a virtual device is a guest on: two guests get every packet twice.
std::string_view interface_of(std::string_view device) {
    constexpr std::string_view key = ",iface=";
    const std::size_t at = device.find(key);
    if (at == std::string_view::npos) return {};
    const std::string_view from = device.substr(at + key.size());
    return from.substr(0, from.find(','));
}

// A device is there once, whatever its arguments; so is an interface.
void check_ports(const toml::table& root, const Config& config, Problems& problems) {
    std::map<std::string, std::pair<std::size_t, Position>> seen;
    for (std::size_t i = 0; i < config.ports.size(); ++i) {
        std::string device{device_name(config.ports[i].device)};
        if (device.empty()) continue;
        if (is_pci_address(device) && device.size() < 12) device.insert(0, "0000:");
        const Position where = root["port"][i]["device"].node()->source().begin;
        const std::string_view interface = interface_of(config.ports[i].device);
        for (std::size_t other = 0; !interface.empty() && other < i; ++other) {
            if (interface_of(config.ports[other].device) != interface) continue;
            problems.add(where, indexed("port", i) + ".device",
                         "the interface " + in_quotes(interface) + " is already that of " +
                             indexed("port", other));
        }
        const auto [first, inserted] = seen.emplace(device, std::pair{i, where});
        if (inserted) continue;
        problems.add(where, indexed("port", i) + ".device",
                     in_quotes(device) + " is already " + indexed("port", first->second.first) +
                         " " + line_of(first->second.second));
    }
}

class ChannelChecks {
public:
    ChannelChecks(const toml::table& root, const Config& config, bool for_run, Problems& problems)
        : root_(root), config_(config), for_run_(for_run), problems_(problems) {}

    void check() {
        for (std::size_t c = 0; c < config_.channels.size(); ++c) {
            const toml::node_view<const toml::node> place = root_["channel"][c];
            if (!place.is_table()) continue;  // reported where it was read
            check_name(c, place);
            check_presence_of_lines(c, place);
            check_symbols(c, place);
            for (std::size_t l = 0; l < config_.channels[c].lines.size(); ++l)
                check_line(c, l, place);
        }
    }

private:
    struct Taken {
        std::size_t channel;
        std::optional<std::uint32_t> port;
        Position where;
    };

    void check_name(std::size_t c, const toml::node_view<const toml::node>& place) {
        const std::string& name = config_.channels[c].name;
        if (name.empty()) return;
        const Position where = place["name"].node()->source().begin;
        const auto [first, inserted] = names_.emplace(name, std::pair{c, where});
        if (inserted) return;
        problems_.add(where, indexed("channel", c) + ".name",
                      in_quotes(name) + " is already the name of " +
                          indexed("channel", first->second.first) + " " +
                          line_of(first->second.second));
    }

    void check_presence_of_lines(std::size_t c, const toml::node_view<const toml::node>& place) {
        if (place["lines"]) return;
        const Position where = place.node()->source().begin;
        const std::string key = indexed("channel", c) + ".lines";
        if (for_run_) {
            problems_.add(where, key, "is missing: run must know which groups to receive");
        } else if (catch_all_) {
            problems_.add(where, key,
                          "is missing, and " + indexed("channel", *catch_all_) +
                              " has none either: only one channel can take what no other names");
        } else {
            catch_all_ = c;
        }
    }

    // A symbol that the feed cannot have would quietly keep nothing.
    void check_symbols(std::size_t c, const toml::node_view<const toml::node>& place) {
        const auto feed = wire::protocol_from_name(place["feed"].value_or(std::string_view{}));
        const toml::array* symbols = place["symbols"].as_array();
        if (!feed || symbols == nullptr) return;
        const std::size_t limit = wire::row_of(*feed).symbol_bytes;
        for (std::size_t i = 0; i < symbols->size(); ++i) {
            const auto* text = symbols->get(i)->as_string();
            if (text == nullptr || text->get().size() <= limit || text->get().size() > 16) continue;
            problems_.add(text->source().begin, indexed(indexed("channel", c) + ".symbols", i),
                          in_quotes(text->get()) + " is longer than the " + std::to_string(limit) +
                              " characters of a symbol of " + std::string(wire::to_string(*feed)));
        }
    }

    void check_line(std::size_t c, std::size_t l, const toml::node_view<const toml::node>& place) {
        const LineConfig& line = config_.channels[c].lines[l];
        const toml::node_view<const toml::node> line_place = place["lines"][l];
        if (!line_place.is_table()) return;
        const std::string key = indexed(indexed("channel", c) + ".lines", l);
        const std::size_t ports = config_.ports.size();
        if (for_run_ && !line_place["port"]) {
            problems_.add(line_place.node()->source().begin, key + ".port",
                          "is missing: run must know which [[port]] receives the line (0 is the "
                          "first)");
        }
        if (line.port && *line.port >= ports && (for_run_ || ports > 0)) {
            problems_.add(line_place["port"].node()->source().begin, key + ".port",
                          ports == 0 ? "there is no [[port]] in this file"
                                     : "there is no port " + std::to_string(*line.port) +
                                           ": this file has " + std::to_string(ports) +
                                           " [[port]], counted from 0");
        }
        check_sources(line, line_place, key + ".sources");
        if (line.group.udp_port != 0) check_group(c, line, line_place, key + ".group");
    }

    void check_sources(const LineConfig& line, const toml::node_view<const toml::node>& line_place,
                       const std::string& key) {
        for (std::size_t i = 0; i < line.sources.size(); ++i) {
            if (line.sources[i].is_ipv4() == line.group.address.is_ipv4()) continue;
            problems_.add(line_place["sources"].node()->source().begin, indexed(key, i),
                          wire::to_string(line.sources[i]) + " is not of the family of " +
                              line.group.to_string());
        }
    }

    // The same group may come in twice for one channel, on two ports (lines A and B of a venue
    // that does not number them apart); for two channels it could not be told whose a packet is.
    void check_group(std::size_t c, const LineConfig& line,
                     const toml::node_view<const toml::node>& line_place, std::string key) {
        const std::string text = line.group.to_string();
        const Position where = line_place["group"].node()->source().begin;
        for (auto [taken, end] = groups_.equal_range(text); taken != end; ++taken) {
            const Taken& other = taken->second;
            if (other.channel == c && other.port != line.port) continue;
            problems_.add(where, std::move(key),
                          text + " is already a line of " + indexed("channel", other.channel) +
                              " " + line_of(other.where));
            return;
        }
        groups_.emplace(text, Taken{c, line.port, where});
    }

    const toml::table& root_;
    const Config& config_;
    bool for_run_;
    Problems& problems_;
    std::optional<std::size_t> catch_all_;
    std::map<std::string, std::pair<std::size_t, Position>> names_;
    std::multimap<std::string, Taken> groups_;
};

}  // namespace

void check_across(const toml::table& root, const Config& config, ConfigUse use,
                  Problems& problems) {
    const bool for_run =
        use == ConfigUse::run || (use == ConfigUse::either && root.contains("port"));
    if (for_run && !root.contains("port")) {
        problems.add({1, 1}, "port", "is missing: run needs at least one [[port]] to receive from");
    }
    if (for_run && !root.contains("channel")) {
        problems.add({1, 1}, "channel", "is missing: run needs at least one [[channel]]");
    }
    if (config.channels.size() > ring::max_channels) {
        problems.add({1, 1}, "channel",
                     std::to_string(config.channels.size()) +
                         " channels are too many: a segment has "
                         "room for " +
                         std::to_string(ring::max_channels));
    }
    check_ports(root, config, problems);
    ChannelChecks{root, config, for_run, problems}.check();
}

}  // namespace wirebook::app
