// Channels to lcores, lines to queues; see lcore_plan.hpp.
#include "wirebook/app/lcore_plan.hpp"

#include <algorithm>
#include <cerrno>
#include <string>

namespace wirebook::app {
namespace {

Error wrong(const std::string& text) {
    return Error{EINVAL, text};
}
std::string indexed(const char* section, std::size_t index) {
    return std::string(section) + "[" + std::to_string(index) + "]";
}

// A line as its port sees it.
struct PortLine {
    std::size_t channel;
    const LineConfig* line;
    std::size_t lcore;
};

class Planner {
public:
    explicit Planner(const Config& config) : config_(config), owner_(config.channels.size()) {}

    Result<LivePlan> plan() {
        if (auto error = make_lcores()) return *error;
        if (auto error = give_named()) return *error;
        if (auto error = give_others()) return *error;
        for (std::size_t l = 0; l < plan_.lcores.size(); ++l) {
            if (plan_.lcores[l].channels.empty()) {
                return wrong(indexed("lcore", l) + ": there is no channel for it");
            }
        }
        for (std::size_t p = 0; p < config_.ports.size(); ++p) {
            if (auto error = plan_port(p)) return *error;
        }
        return std::move(plan_);
    }

private:
    std::optional<Error> make_lcores() {
        for (std::size_t l = 0; l < config_.lcores.size(); ++l) {
            const LcoreConfig& lcore = config_.lcores[l];
            for (std::size_t other = 0; other < l; ++other) {
                if (config_.lcores[other].cpu != lcore.cpu) continue;
                return wrong(indexed("lcore", l) + ".cpu: " + std::to_string(lcore.cpu) +
                             " is already that of " + indexed("lcore", other));
            }
            plan_.lcores.push_back({lcore.cpu, lcore.fifo_priority, {}});
        }
        if (plan_.lcores.empty()) plan_.lcores.emplace_back();
        lines_.resize(plan_.lcores.size());
        return std::nullopt;
    }

    void give(std::size_t channel, std::size_t lcore) {
        owner_[channel] = lcore;
        plan_.lcores[lcore].channels.push_back(channel);
        lines_[lcore] += config_.channels[channel].lines.size();
    }

    std::optional<Error> give_named() {
        for (std::size_t l = 0; l < config_.lcores.size(); ++l) {
            for (const std::string& name : config_.lcores[l].channels) {
                const auto found = std::find_if(
                    config_.channels.begin(), config_.channels.end(),
                    [&](const ChannelConfig& channel) { return channel.name == name; });
                if (found == config_.channels.end()) {
                    return wrong(indexed("lcore", l) + ".channels: there is no channel \"" + name +
                                 "\"");
                }
                const auto channel = static_cast<std::size_t>(found - config_.channels.begin());
                if (owner_[channel]) {
                    return wrong(indexed("lcore", l) + ".channels: \"" + name +
                                 "\" is already a channel of " +
                                 indexed("lcore", *owner_[channel]));
                }
                give(channel, l);
            }
        }
        return std::nullopt;
    }

    std::optional<Error> give_others() {
        for (std::size_t c = 0; c < config_.channels.size(); ++c) {
            if (owner_[c]) continue;
            std::optional<std::size_t> to;
            for (std::size_t l = 0; l < plan_.lcores.size(); ++l) {
                if (!config_.lcores.empty() && !config_.lcores[l].channels.empty()) continue;
                if (!to || lines_[l] < lines_[*to]) to = l;
            }
            if (!to) {
                return wrong(indexed("channel", c) + ": no [[lcore]] names \"" +
                             config_.channels[c].name + "\", and each has a list of channels");
            }
            give(c, *to);
        }
        for (LcorePlan& lcore : plan_.lcores) {
            std::sort(lcore.channels.begin(), lcore.channels.end());
        }
        return std::nullopt;
    }

    std::optional<Error> plan_port(std::size_t p) {
        const PortConfig& config = config_.ports[p];
        io::DpdkPortOptions port;
        port.device = config.device;
        port.queues = config.queues;
        port.mtu = config.mtu;
        port.reception = config.reception;
        std::vector<PortLine> lines;
        for (std::size_t c = 0; c < config_.channels.size(); ++c) {
            for (const LineConfig& line : config_.channels[c].lines) {
                if (line.port != p) continue;
                lines.push_back({c, &line, *owner_[c]});
                port.groups.push_back({line.group.address, line.group.udp_port, 0});
            }
        }
        const auto named = std::count_if(lines.begin(), lines.end(),
                                         [](const PortLine& l) { return l.line->queue; });
        const bool several = std::any_of(lines.begin(), lines.end(), [&](const PortLine& l) {
            return l.lcore != lines.front().lcore;
        });
        std::optional<Error> error;
        if (named != 0) {
            error = take_named_queues(p, lines, port);
        } else if (several) {
            error = share_out(p, lines, port);
        } else {
            spread(config, lines, port);
        }
        plan_.ports.push_back(std::move(port));
        return error;
    }

    // The configuration says which queue each line comes to.
    std::optional<Error> take_named_queues(std::size_t p, const std::vector<PortLine>& lines,
                                           io::DpdkPortOptions& port) const {
        std::vector<const PortLine*> first;  // of each queue
        for (std::size_t i = 0; i < lines.size(); ++i) {
            const PortLine& line = lines[i];
            if (!line.line->queue) {
                return wrong(indexed("port", p) + ": a line of channel \"" + name(line) +
                             "\" has no queue, while others of this port do");
            }
            const std::uint16_t queue = *line.line->queue;
            if (port.queues != 0 && queue >= port.queues) {
                return wrong(indexed("port", p) + ".queues: " + std::to_string(port.queues) +
                             ", but a line of channel \"" + name(line) + "\" is on queue " +
                             std::to_string(queue));
            }
            if (first.size() <= queue) first.resize(queue + std::size_t{1});
            if (first[queue] == nullptr) first[queue] = &line;
            if (first[queue]->lcore != line.lcore) {
                return wrong(indexed("port", p) + ": queue " + std::to_string(queue) +
                             " would carry channels of two lcores: \"" + name(*first[queue]) +
                             "\" and \"" + name(line) + "\"");
            }
            port.groups[i].queue = queue;
        }
        port.queues = std::max(port.queues, static_cast<std::uint16_t>(first.size()));
        for (const PortLine* line : first) {
            port.pollers.push_back(
                static_cast<std::uint16_t>(line != nullptr ? line->lcore : lines.front().lcore));
        }
        port.pollers.resize(port.queues, port.pollers.front());
        const PortConfig& config = config_.ports[p];
        if (config.is_pci() && config.steering) port.steering = io::Steering::required;
        return std::nullopt;
    }

    // Lines of several lcores: a queue an lcore, and rules that fill them.
    std::optional<Error> share_out(std::size_t p, const std::vector<PortLine>& lines,
                                   io::DpdkPortOptions& port) const {
        const PortConfig& config = config_.ports[p];
        const auto other = std::find_if(lines.begin(), lines.end(), [&](const PortLine& line) {
            return line.lcore != lines.front().lcore;
        });
        if (!config.is_pci() || !config.steering) {
            return wrong(
                indexed("port", p) + ": channels \"" + name(lines.front()) + "\" (" +
                indexed("lcore", lines.front().lcore) + ") and \"" + name(*other) + "\" (" +
                indexed("lcore", other->lcore) + ") would share a queue: " +
                (config.is_pci() ? "steering is off" : "a virtual device cannot steer groups") +
                "; give both to one lcore, a port to each, or a queue to each line");
        }
        std::vector<std::size_t> lcores;  // by queue
        for (std::size_t i = 0; i < lines.size(); ++i) {
            auto at = std::find(lcores.begin(), lcores.end(), lines[i].lcore);
            if (at == lcores.end()) at = lcores.insert(lcores.end(), lines[i].lcore);
            port.groups[i].queue = static_cast<std::uint16_t>(at - lcores.begin());
        }
        if (port.queues != 0 && port.queues < lcores.size()) {
            return wrong(indexed("port", p) + ".queues: " + std::to_string(port.queues) +
                         " are too few for channels of " + std::to_string(lcores.size()) +
                         " lcores");
        }
        port.queues = std::max(port.queues, static_cast<std::uint16_t>(lcores.size()));
        for (const std::size_t lcore : lcores) {
            port.pollers.push_back(static_cast<std::uint16_t>(lcore));
        }
        port.pollers.resize(port.queues, port.pollers.front());
        port.steering = io::Steering::required;
        return std::nullopt;
    }

    // One lcore polls all queues of the port. More than one by choice: lines in turn.
    static void spread(const PortConfig& config, const std::vector<PortLine>& lines,
                       io::DpdkPortOptions& port) {
        const auto lcore = static_cast<std::uint16_t>(lines.empty() ? 0 : lines.front().lcore);
        constexpr std::size_t most_queues = 64;  // that a device string may create
        port.pollers.assign(std::max<std::size_t>(port.queues, most_queues), lcore);
        if (port.queues < 2 || !config.is_pci() || !config.steering) return;
        port.steering = io::Steering::wanted;
        for (std::size_t i = 0; i < port.groups.size(); ++i) {
            port.groups[i].queue = static_cast<std::uint16_t>(i % port.queues);
        }
    }

    [[nodiscard]] const std::string& name(const PortLine& line) const {
        return config_.channels[line.channel].name;
    }

    const Config& config_;
    LivePlan plan_;
    std::vector<std::optional<std::size_t>> owner_;  // lcore, by channel
    std::vector<std::size_t> lines_;                 // by lcore
};

}  // namespace

Result<LivePlan> plan_lcores(const Config& config) {
    return Planner(config).plan();
}

}  // namespace wirebook::app
