// `wirebook sim`: a trading day of the simulated exchange (docs/simulator.md).
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>
#include <utility>
#include <vector>

#include "sim_outputs.hpp"
#include "sim_settings.hpp"
#include "sim_truth.hpp"
#include "wirebook/app/commands.hpp"
#include "wirebook/app/loop.hpp"
#include "wirebook/app/progress.hpp"
#include "wirebook/app/setup.hpp"

namespace wirebook::app {
namespace {

std::string types_text(const sim::MessageOut& out) {
    std::vector<std::pair<std::uint64_t, char>> types;
    for (std::size_t type = 0; type < 256; ++type) {
        const std::uint64_t count = out.messages_by_type()[type];
        if (count != 0) types.emplace_back(count, static_cast<char>(type));
    }
    std::sort(types.rbegin(), types.rend());
    std::string text;
    for (const auto& [count, type] : types) {
        text +=
            fmt::format(" {} {} ({:.1f} %)", type, count,
                        100.0 * static_cast<double>(count) / static_cast<double>(out.messages()));
    }
    return text;
}

std::string summary(const sim::Exchange& exchange, double wall_seconds, bool with_faults) {
    const sim::MarketDay& day = exchange.day();
    const sim::DayCounters& counters = day.counters();
    const match::Engine& engine = exchange.engine();
    const std::uint64_t messages = exchange.out().messages();
    const double simulated = static_cast<double>(day.now_ns() - day.start_ns()) / 1e9;
    std::string text = fmt::format(
        "messages {}:{}\n"
        "simulated {:.3f} s, {:.0f} messages/s; took {:.2f} s, {:.0f} ns a message\n"
        "requests {}, rejected {}, trades {}, crosses {}, halts {}, broken trades {}\n"
        "live orders {}, levels {}\n"
        "state hash {:016x}\n",
        messages, types_text(exchange.out()), simulated,
        static_cast<double>(messages) / std::max(simulated, 1e-9), wall_seconds,
        wall_seconds * 1e9 / static_cast<double>(std::max<std::uint64_t>(messages, 1)),
        counters.requests, counters.rejected, counters.trades, counters.crosses, counters.halts,
        counters.broken_trades, engine.live_orders(), engine.live_levels(), engine.state_hash());
    for (std::size_t line = 0; line < exchange.lines(); ++line) {
        const sim::FaultCounters& faults = exchange.faults(line);
        if (!with_faults) continue;
        text += fmt::format("faults of line {}: {}; {} packets in, {} out\n",
                            static_cast<char>('A' + line), sim::to_string(faults), faults.frames_in,
                            faults.frames_out);
    }
    if (with_faults) {
        text += fmt::format("session restarts {}, sender restarts {}\n", counters.session_restarts,
                            exchange.sender_restarts());
    }
    return text;
}

}  // namespace

int run_sim(const SimOptions& options) {
    Config config;
    if (!options.config_file.empty()) {
        auto loaded = load_config(options.config_file, ConfigUse::sim);
        if (!loaded) return fail(exit_usage, loaded.error().context);
        config = std::move(loaded).value();
    }
    if (auto zones = check_time_zones(); !zones) return fail(zones.error());
    const auto settings = sim_settings(options, config);
    if (!settings) return fail(exit_usage, settings.error().context);
    std::signal(SIGPIPE, SIG_IGN);  // NOLINT(cert-err33-c): a closed pipe is a write error then

    auto outlet = open_outlet(options, config, settings.value());
    if (!outlet) {
        const bool file = options.udp.empty() && options.port.empty();
        return file ? fail(exit_usage, outlet.error().context) : fail(outlet.error());
    }
    sim::ExchangeOutputs outputs;
    outlet.value()->connect(outputs);
    std::optional<TruthFiles> truth;
    std::unique_ptr<sim::Exchange> exchange;
    if (!options.truth.empty()) {
        auto files = TruthFiles::open(options.truth, settings.value().exchange.feed);
        if (!files) return fail(exit_usage, files.error().context);
        truth.emplace(std::move(files).value());
        outputs.top = [&](const sim::TruthRow& row) { truth->row(row, exchange->listings()); };
    }
    auto created = sim::Exchange::create(settings.value().exchange, std::move(outputs));
    if (!created) return fail(exit_host, created.error().context);
    exchange = std::move(created).value();

    catch_stop_signals();
    const auto began = std::chrono::steady_clock::now();
    Progress progress(settings.value().exchange.day.messages, Progress::Of::messages);
    exchange->run([&] {
        progress.at(exchange->out().messages());
        return !stop_requested.load(std::memory_order_relaxed) && outlet.value()->status().ok();
    });
    const Status finished = outlet.value()->finish();
    const Status truth_written = truth ? truth->finish(*exchange) : Status{Ok{}};
    progress.stop();
    const double wall =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    if (stop_requested.load(std::memory_order_relaxed)) {
        fmt::print(stderr, "wirebook: stopped by a signal; the day was cut short, in order\n");
    }
    fmt::print(stderr, "{}sent {}\n",
               summary(*exchange, wall, !settings.value().exchange.faults.empty()),
               outlet.value()->summary());
    if (!finished) return fail(exit_usage, finished.error().context);
    if (!truth_written) return fail(exit_usage, truth_written.error().context);
    return exit_done;
}

}  // namespace wirebook::app
