// The command line: one CLI11 parser a command, then the rules that CLI11 does not know. See
// options.hpp. Every wrong usage is one line, and a second one that says where to look.
#include "wirebook/app/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "config_values.hpp"
#include "options_checks.hpp"

#ifndef WIREBOOK_VERSION
#define WIREBOOK_VERSION "(unversioned build)"
#endif

namespace wirebook::app {

namespace {

constexpr std::array<std::string_view, 9> command_names{
    "replay", "run", "sim", "tail", "dump-segment", "check-config", "doctor", "bind", "unbind"};

constexpr std::string_view overview =
    "wirebook: exchange multicast in, order books out, to every strategy on this machine\n"
    "\n"
    "Usage: wirebook COMMAND [ARGUMENTS...]\n"
    "\n"
    "  replay FILE...         run captures or BinaryFILEs through decoder and books; dumps, "
    "publishing\n"
    "  run -c FILE            receive from NICs or DPDK virtual devices, publish the books\n"
    "  sim --feed F --seed N  a simulated exchange: its feed into captures, UDP or a DPDK port\n"
    "  tail NAME [SYMBOL...]  look at the books in a segment that replay or run publishes\n"
    "  dump-segment NAME      a segment's health, sizes, readers, instruments and books\n"
    "  check-config FILE      say what a configuration means, or what is wrong with it\n"
    "  doctor                 is this host fit to receive? Each finding with what mends it\n"
    "  bind PCI...            hand NICs to DPDK;  unbind PCI...  give them back to the kernel\n"
    "\n"
    "  wirebook COMMAND --help    the options of a command\n"
    "  wirebook --version\n"
    "\n"
    "Exit status: 0 done; 1 --strict found a fault in the data; 2 wrong usage, configuration or\n"
    "unreadable input; 3 this host is not able (hugepages, device, permission).\n";

// ---- dumps, which replay and run share

constexpr std::array<std::string_view, 5> dump_help{
    "CSV: best bid and ask after each packet, where touched",
    "CSV: all levels of all books at the end", "JSON lines: every decoded message",
    "CSV: trades, status, auctions, gaps, sessions, quality", "JSON: counters, rates, fingerprint"};

void add_dumps(CLI::App& app, DumpOptions& dumps) {
    for (std::size_t i = 0; i < dump_names.size(); ++i) {
        app.add_option(std::string{dump_names[i].first}, dumps.*dump_names[i].second,
                       std::string{dump_help[i]})
            ->type_name("FILE")
            ->group("Dumps (FILE may be - for stdout, one of them)");
    }
}

void add_access(CLI::App& app, SegmentAccess& access, RawOptions& raw) {
    app.add_option("--owner", access.owner, "of the segment's file: a user's name or number")
        ->type_name("USER");
    app.add_option("--group", access.group, "of the segment's file, likewise")->type_name("GROUP");
    app.add_option("--permissions", raw.permissions, "of the segment's file, octal; default 0640")
        ->type_name("MODE");
}

// ---- the commands

void define_replay(CLI::App& app, ReplayOptions& replay, RawOptions& raw) {
    app.description(
        "Run captures (pcap, pcapng, plain or gzip or zstd) or BinaryFILEs through decoder and\n"
        "books. Several files are merged by time.");
    app.add_option("FILE", replay.files, "captures; - is stdin")->type_name("");
    app.add_option("--lines", raw.lines, "files that carry the same feed: lines A, B, ...")
        ->type_name("FILE,FILE,...");
    app.add_option("--feed", raw.feed,
                   "itch50, itch-jnx, iex-deep or iex-tops; default: by content")
        ->type_name("NAME");
    app.add_option("-c,--config", replay.config_file, "channels, symbols, sizes, ... (TOML)")
        ->type_name("FILE");
    app.add_option("--speed", raw.speed, "max (default), 1: as captured, N: N times that")
        ->type_name("max|1|N");
    app.add_option("--gap-wait", raw.gap_wait, "microseconds that a hole may last; default 500")
        ->type_name("US");
    app.add_option("--publish", replay.publish_name, "publish the books in the segment NAME")
        ->type_name("NAME");
    app.add_flag("--strict", replay.strict,
                 "exit 1 after a gap, crossed book, unknown order or decode error");
    app.add_flag("--fingerprint", replay.fingerprint,
                 "hash of everything published: printed, or in --stats");
    add_access(app, replay.access, raw);
    add_dumps(app, replay.dumps);
}

void define_run(CLI::App& app, RunOptions& run, RawOptions& raw) {
    app.description(
        "Receive from the configuration's ports, keep the books, publish them until SIGINT, "
        "SIGTERM\n"
        "or --stop. What follows -- goes to DPDK's EAL.");
    app.add_option("-c,--config", run.config_file,
                   "ports, channels, publishing, ... (TOML); required")
        ->type_name("FILE");
    app.add_option("--stop", raw.stop, "idle=SECONDS, packets=N or end-of-session")
        ->type_name("CONDITION");
    app.add_flag("--fingerprint", run.fingerprint,
                 "hash of everything published: printed, or in --stats");
    add_access(app, run.access, raw);
    add_dumps(app, run.dumps);
}

void define_sim(CLI::App& app, SimOptions& sim, RawOptions& raw) {
    app.description(
        "A trading day of a simulated exchange, from a seed. Equal options give equal bytes.");
    app.add_option("--feed", raw.feed, "itch50 or iex-deep")->type_name("NAME");
    app.add_option("--seed", raw.seed, "of everything random")->type_name("N");
    app.add_option("--instruments", raw.instruments, "default 100")->type_name("N");
    app.add_option("--messages", raw.messages, "of the whole day; default 100000")->type_name("N");
    app.add_option("--duration", raw.duration, "length of the day instead")->type_name("S");
    app.add_option("--rate", raw.rate, "messages a second, default 100000")->type_name("N");
    app.add_option("--live", raw.live, "orders in the books")->type_name("N");
    app.add_option("-c,--config", sim.config_file, "section [sim] of it; options go before it")
        ->type_name("FILE");
    app.add_option("--speed", raw.speed,
                   "max, 1 or N times; default 1 for --udp and --port, else max")
        ->type_name("max|1|N");
    app.add_option("--fault", sim.faults, "LINE:KIND=...: see docs/simulator.md")
        ->type_name("RULE")
        ->expected(1)
        ->take_all();
    app.add_option("--truth", sim.truth, "PREFIX.top.csv, PREFIX.final.csv of the engine's books")
        ->type_name("PREFIX");
    constexpr const char* outputs = "Outputs, one of them";
    app.add_option("--pcap", sim.pcap, "capture of line A")->type_name("FILE")->group(outputs);
    app.add_option("--pcap-a", sim.pcap_a, "captures of two lines")
        ->type_name("FILE")
        ->group(outputs);
    app.add_option("--pcap-b", sim.pcap_b, "")->type_name("FILE")->group(outputs);
    app.add_option("--binary", sim.binary, "BinaryFILE (itch50)")
        ->type_name("FILE")
        ->group(outputs);
    app.add_option("--udp", sim.udp,
                   "multicast of both lines on an interface, or IFACE,IFACE: one each")
        ->type_name("IFACE")
        ->group(outputs);
    app.add_option("--port", sim.port,
                   "a DPDK device, by PCI address or as a vdev; EAL... after --")
        ->type_name("NAME")
        ->group(outputs);
}

void define_tail(CLI::App& app, TailOptions& tail, RawOptions& raw) {
    app.description("Print what a running segment publishes, record by record.");
    app.add_option("NAME", tail.name, "the segment, as --publish or [publish] name it")
        ->type_name("");
    app.add_option("SYMBOL", tail.symbols, "only these; default: all")->type_name("");
    app.add_flag("--events", tail.events, "trades, status and the feed's own events too");
    app.add_flag("--json", tail.json, "JSON instead of a table");
    app.add_flag("--once", tail.once, "print the present books and exit");
    app.add_option("--count", raw.count, "exit after N records")->type_name("N");
    app.add_flag("--latency", tail.latency, "at the end: latency packet to read, in percentiles");
    app.add_option("--directory", tail.directory,
                   "where the segment lies; default: hugetlbfs, then /dev/shm")
        ->type_name("DIR");
}

void define_dump_segment(CLI::App& app, DumpSegmentOptions& dump, RawOptions& raw) {
    app.description(
        "Print what a segment says about itself: header, sizes, health, readers, instruments with\n"
        "status and statistics, books. Also of a writer that has died.");
    app.add_option("NAME", dump.segment, "the segment by its name, or by its file's path")
        ->type_name("");
    app.add_option("SYMBOL", dump.symbols, "only these instruments; default: all")->type_name("");
    app.add_flag("--json", dump.json, "one JSON object");
    app.add_flag("--once", dump.once, "print once and exit, as without --watch");
    app.add_option("--watch", raw.watch,
                   "every S seconds: health, rate, readers, and the SYMBOLs given")
        ->type_name("S");
    app.add_option("--directory", dump.directory,
                   "where the segment lies; default: hugetlbfs, then /dev/shm")
        ->type_name("DIR");
}

void define_check_config(CLI::App& app, CheckConfigOptions& check) {
    app.description("Say what a configuration means, or everything that is wrong with it.");
    app.add_option("FILE", check.file, "the configuration (TOML)")->type_name("");
}

void define_doctor(CLI::App& app, DoctorOptions& doctor) {
    app.description(
        "Look at everything of this host that receiving depends on: what is there, why it matters\n"
        "and the command that mends it. Changes nothing. Exit status 3 where a finding is a fail.");
    app.add_option("-c,--config", doctor.config_file,
                   "look at its ports, memory and directories; default: at all NICs")
        ->type_name("FILE");
    app.add_flag("--json", doctor.json, "one JSON object");
    app.add_option("--root", doctor.root,
                   "look at DIR/sys, DIR/proc and DIR/dev: a rescued machine, a test")
        ->type_name("DIR");
}

void define_bind(CLI::App& app, BindOptions& bind, bool unbind) {
    app.description(unbind ? "Give NICs back to the driver that the kernel has for them."
                           : "Hand NICs over to DPDK: vfio-pci instead of the kernel's driver.\n"
                             "Refused: a NIC with a route or with connections.");
    app.add_option("PCI", bind.devices, "0000:3b:00.0 (lspci -D), or the name of an interface")
        ->type_name("");
    app.add_option("-c,--config", bind.config_file, "the PCI ports of a configuration")
        ->type_name("FILE");
    if (!unbind)
        app.add_option("--driver", bind.driver, "vfio-pci (default), uio_pci_generic, igb_uio")
            ->type_name("NAME");
    app.add_flag("--force", bind.force, "although something uses the NIC");
    app.add_flag("--dry-run", bind.dry_run, "print what would be done, as shell commands");
    app.add_option("--root", bind.root, "work on DIR/sys instead: a test")->type_name("DIR");
}

// ---- errors of CLI11 in our words

std::vector<std::string_view> option_names(const CLI::App& app, std::vector<std::string>& storage) {
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) storage.push_back("--" + name);
    }
    return {storage.begin(), storage.end()};
}

std::string explain_extra(const CLI::App& app, const std::string& argument) {
    std::vector<std::string> storage;
    const std::vector<std::string_view> names = option_names(app, storage);
    if (argument.size() > 1 && argument.front() == '-') {
        const std::string name = argument.substr(0, argument.find('='));
        return "unknown option " + in_quotes(name) + did_you_mean(name, names);
    }
    return "unexpected argument " + in_quotes(argument);
}

// CLI11's texts are terse ("--top: 1 required FILE missing"): the usual ones in plain words.
std::string explain(const CLI::App& app, const CLI::ParseError& error) {
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
        const std::vector<std::string> extra = app.remaining();
        if (!extra.empty()) return explain_extra(app, extra.front());
    }
    std::string text = error.what();
    for (char& c : text) {
        if (c == '\n') c = ' ';
    }
    const std::size_t colon = text.find(": ");
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr &&
        colon != std::string::npos) {
        const bool missing = text.ends_with("missing");
        text.erase(colon);
        text += missing ? " needs a value" : " was given more than once";
    }
    return text;
}

std::string help_of(const CLI::App& app, std::string_view usage) {
    std::string text = app.help();
    // CLI11's own usage line cannot say what excludes what.
    const std::size_t begin = text.find("Usage:");
    const std::size_t end = text.find('\n', begin);
    if (begin != std::string::npos && end != std::string::npos) {
        text.replace(begin, end - begin, usage);
        text.insert(begin, "\n");
    }
    for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;)
        text.erase(at, 1);
    return text;
}

constexpr std::array<std::string_view, 9> usages{
    "Usage: wirebook replay (FILE... | --lines FILE,FILE,...) [OPTIONS]",
    "Usage: wirebook run -c FILE [OPTIONS] [-- EAL...]",
    "Usage: wirebook sim --feed itch50|iex-deep --seed N [OPTIONS] OUTPUT [-- EAL...]",
    "Usage: wirebook tail NAME [SYMBOL...] [OPTIONS]",
    "Usage: wirebook dump-segment (NAME | PATH) [SYMBOL...] [OPTIONS]",
    "Usage: wirebook check-config FILE",
    "Usage: wirebook doctor [-c FILE] [--json]",
    "Usage: wirebook bind (PCI... | -c FILE) [OPTIONS]",
    "Usage: wirebook unbind (PCI... | -c FILE) [OPTIONS]"};

void define(CLI::App& app, Options& options, RawOptions& raw) {
    switch (options.command) {
        case Command::replay: return define_replay(app, options.replay, raw);
        case Command::run: return define_run(app, options.run, raw);
        case Command::sim: return define_sim(app, options.sim, raw);
        case Command::tail: return define_tail(app, options.tail, raw);
        case Command::dump_segment: return define_dump_segment(app, options.dump_segment, raw);
        case Command::check_config: return define_check_config(app, options.check_config);
        case Command::doctor: return define_doctor(app, options.doctor);
        case Command::bind: return define_bind(app, options.bind, false);
        case Command::unbind: return define_bind(app, options.bind, true);
    }
}

CommandLine usage_error(const std::string& text, std::string_view see) {
    CommandLine result;
    result.exit_status = 2;
    result.to_stderr = "wirebook: " + text + "\n" + std::string{see} + "\n";
    return result;
}

CommandLine parse_command(Command command, std::vector<std::string> arguments,
                          std::vector<std::string> eal) {
    const auto index = static_cast<std::size_t>(command);
    const std::string see = std::string{usages[index]} + "; see: wirebook " +
                            std::string{command_names[index]} + " --help";
    CommandLine result;
    Options options;
    options.command = command;
    (command == Command::sim ? options.sim.eal_arguments : options.run.eal_arguments) =
        std::move(eal);
    RawOptions raw;
    CLI::App app{"", ""};
    try {
        app.set_help_flag("-h,--help", "this text");
        app.get_formatter()->column_width(34);
        define(app, options, raw);
        // Empty values would read as "left out" below.
        for (CLI::Option* option : app.get_options()) {
            if (option->get_items_expected_max() > 0) {
                option->check([](const std::string& value) {
                    return value.empty() ? std::string{"must not be empty"} : std::string{};
                });
            }
        }
        app.parse(std::vector<std::string>{arguments.rbegin(), arguments.rend()});
        check_options(options, raw);
    } catch (const CLI::CallForHelp&) {
        result.to_stdout = help_of(app, usages[index]);
        return result;
    } catch (const CLI::ParseError& error) {
        return usage_error(explain(app, error), see);
    } catch (const UsageError& error) {
        return usage_error(error.text, see);
    }
    result.options = std::move(options);
    return result;
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv) {
    std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    constexpr std::string_view see = "see: wirebook --help";
    if (arguments.empty()) {
        return usage_error("no command was given: " + alternatives(command_names), see);
    }
    const std::string first = arguments.front();
    CommandLine result;
    if (first == "--help" || first == "-h" || first == "help") {
        result.to_stdout = overview;
        return result;
    }
    if (first == "--version" || first == "-V") {
        result.to_stdout = "wirebook " WIREBOOK_VERSION "\n";
        return result;
    }
    for (std::size_t i = 0; i < command_names.size(); ++i) {
        if (first != command_names[i]) continue;
        const auto command = static_cast<Command>(i);
        arguments.erase(arguments.begin());
        std::vector<std::string> eal;
        if (command == Command::run || command == Command::sim) {
            const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
            if (dashes != arguments.end()) eal.assign(dashes + 1, arguments.end());
            arguments.erase(dashes, arguments.end());
        }
        result = parse_command(command, std::move(arguments), std::move(eal));
        return result;
    }
    if (first.starts_with("-")) {
        return usage_error("unknown option " + in_quotes(first) + "; a command comes first", see);
    }
    return usage_error("unknown command " + in_quotes(first) + did_you_mean(first, command_names),
                       see);
}

}  // namespace wirebook::app
