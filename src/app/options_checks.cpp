// Values of options and what excludes what; see options_checks.hpp. Throws UsageError, which is
// text for one line.
#include "options_checks.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "config_values.hpp"

namespace wirebook::app {

void wrong(std::string text) {
    throw UsageError{std::move(text)};
}

// CLI11 takes "1e3" and "0x10" for integers, and a minus for a wrap: digits only here.
std::uint64_t whole_number(const std::string& option, const std::string& text, std::uint64_t least,
                           std::uint64_t most) {
    const bool digits = !text.empty() && text.size() <= 19 &&
                        text.find_first_not_of("0123456789") == std::string::npos;
    const std::uint64_t number = digits ? std::stoull(text) : 0;
    if (!digits || number < least || number > most) {
        wrong(option + " must be a whole number of " + std::to_string(least) + " to " +
              std::to_string(most) + ", is " + in_quotes(text));
    }
    return number;
}

// A number > 0 as people write it: "4", "0.5", "2e3".
double positive_number(const std::string& text) {
    if (text.empty() || text.find_first_not_of("0123456789.eE+-") != std::string::npos) return -1;
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    return *end == '\0' && std::isfinite(number) ? number : -1;
}

double speed_of(const std::string& text) {
    if (text == "max") return 0;
    const double speed = positive_number(text);
    if (!(speed > 0 && speed <= 1e9)) {
        wrong("--speed must be max, 1 (as captured) or a factor above 0, is " + in_quotes(text));
    }
    return speed;
}

bool same_path(const std::string& a, const std::string& b) {
    std::error_code none;  // files that are not there are not the same
    return std::filesystem::path{a}.lexically_normal() ==
               std::filesystem::path{b}.lexically_normal() ||
           std::filesystem::equivalent(a, b, none);
}

namespace {

StopCondition stop_of(const std::string& text) {
    StopCondition stop;
    const std::string_view view = text;
    if (view == "end-of-session") {
        stop.kind = StopKind::end_of_session;
    } else if (view.starts_with("packets=")) {
        stop.kind = StopKind::packets;
        stop.packets =
            whole_number("--stop packets=", text.substr(8), 1, 1'000'000'000'000'000'000);
    } else if (view.starts_with("idle=")) {
        stop.kind = StopKind::idle;
        stop.idle_seconds = positive_number(text.substr(5));
        if (!(stop.idle_seconds > 0 && stop.idle_seconds <= 1e6)) {
            wrong("--stop idle= must be seconds above 0, is " + in_quotes(text.substr(5)));
        }
    } else {
        wrong("--stop must be idle=SECONDS, packets=N or end-of-session, is " + in_quotes(text));
    }
    return stop;
}

std::vector<std::string> split_at_commas(const std::string& text) {
    std::vector<std::string> parts{""};
    for (const char c : text) {
        if (c == ',') {
            parts.emplace_back();
        } else {
            parts.back() += c;
        }
    }
    for (const std::string& part : parts) {
        if (part.empty())
            wrong("--lines must be FILE,FILE,... without empty names, is " + in_quotes(text));
    }
    return parts;
}

void check_segment_name(const std::string& name, const std::string& where) {
    if (is_segment_name(name)) return;
    wrong(where + " must be 1 to 63 of A-Z a-z 0-9 . _ -, not starting with . or -, is " +
          in_quotes(name));
}

void check_access(SegmentAccess& access, const RawOptions& raw) {
    if (raw.permissions.empty()) return;
    access.permissions = parse_permissions(raw.permissions);
    if (!access.permissions) {
        wrong(
            "--permissions must be octal digits like 0640 (owner reads and writes, group and "
            "others "
            "at most read), is " +
            in_quotes(raw.permissions));
    }
}

// Two outputs in one place would spoil both; an output over an input would destroy it.
void check_dumps(const DumpOptions& dumps, bool fingerprint_to_stdout,
                 const std::vector<std::string>& inputs) {
    std::string to_stdout = fingerprint_to_stdout ? "--fingerprint" : "";
    std::vector<std::pair<std::string_view, std::string>> written;
    for (const auto& [name, member] : dump_names) {
        const std::string& file = dumps.*member;
        if (file.empty() || file == "/dev/null") continue;
        if (file == "-") {
            if (to_stdout == "--fingerprint") {
                wrong("--fingerprint without --stats prints to stdout, and so does " +
                      std::string{name} + " -; give one of them a file, or add --stats FILE");
            }
            if (!to_stdout.empty()) {
                wrong(to_stdout + " - and " + std::string{name} +
                      " - both write to stdout; give one of them a file");
            }
            to_stdout = name;
            continue;
        }
        for (const auto& [other, path] : written) {
            if (same_path(path, file)) {
                wrong(std::string{other} + " and " + std::string{name} + " both write " +
                      in_quotes(file));
            }
        }
        for (const std::string& input : inputs) {
            if (same_path(input, file)) {
                wrong(std::string{name} + " would overwrite the input " + in_quotes(input));
            }
        }
        written.emplace_back(name, file);
    }
}

void check_replay(ReplayOptions& replay, const RawOptions& raw) {
    if (!raw.lines.empty()) {
        if (!replay.files.empty()) {
            wrong("FILE and --lines exclude each other: " + in_quotes(replay.files.front()) +
                  " was given beside --lines");
        }
        replay.files = split_at_commas(raw.lines);
        replay.files_are_lines = true;
    }
    if (replay.files.empty()) wrong("replay needs a FILE, or --lines FILE,FILE,...");
    std::size_t from_stdin = 0;
    for (const std::string& file : replay.files) {
        if (file.empty()) wrong("a FILE is empty");
        if (file == "-" && ++from_stdin > 1) wrong("- (stdin) can be read once only");
    }
    if (!raw.feed.empty()) {
        replay.feed = wire::protocol_from_name(raw.feed);
        if (!replay.feed) {
            wrong("--feed must be " + alternatives(feed_names()) + ", is " + in_quotes(raw.feed) +
                  did_you_mean(raw.feed, feed_names()));
        }
    }
    if (!raw.speed.empty()) replay.speed = speed_of(raw.speed);
    if (!raw.gap_wait.empty()) {
        replay.gap_wait_us = whole_number("--gap-wait", raw.gap_wait, 0, 3'600'000'000);
    }
    if (!replay.publish_name.empty()) check_segment_name(replay.publish_name, "--publish");
    check_access(replay.access, raw);
    const bool any_access = !replay.access.owner.empty() || !replay.access.group.empty() ||
                            replay.access.permissions.has_value();
    if (any_access && replay.publish_name.empty()) {
        wrong("--owner, --group and --permissions are of a segment: they need --publish NAME");
    }
    replay.fingerprint_to_stdout = replay.fingerprint && replay.dumps.stats.empty();
    std::vector<std::string> inputs = replay.files;
    if (!replay.config_file.empty()) inputs.push_back(replay.config_file);
    check_dumps(replay.dumps, replay.fingerprint_to_stdout, inputs);
}

void check_run(RunOptions& run, const RawOptions& raw) {
    if (run.config_file.empty()) wrong("run needs a configuration: -c FILE");
    if (!raw.stop.empty()) run.stop = stop_of(raw.stop);
    check_access(run.access, raw);
    run.fingerprint_to_stdout = run.fingerprint && run.dumps.stats.empty();
    check_dumps(run.dumps, run.fingerprint_to_stdout, {run.config_file});
}

void check_tail(TailOptions& tail, const RawOptions& raw) {
    if (tail.name.empty()) wrong("tail needs the NAME of a segment");
    check_segment_name(tail.name, "NAME");
    if (!raw.count.empty()) {
        tail.count = whole_number("--count", raw.count, 1, 1'000'000'000'000'000'000);
    }
    if (tail.once && tail.count) wrong("--once and --count exclude each other");
    if (tail.once && tail.latency) {
        wrong("--once reads no new records, so there is no --latency to show");
    }
}

void check_dump_segment(DumpSegmentOptions& dump, const RawOptions& raw) {
    if (dump.segment.empty()) wrong("dump-segment needs the NAME of a segment, or its file's PATH");
    if (dump.is_path()) {
        if (!dump.directory.empty()) wrong("--directory is for a NAME; a PATH says it all");
    } else {
        check_segment_name(dump.segment, "NAME");
    }
    if (raw.watch.empty()) return;
    if (dump.once) wrong("--once and --watch exclude each other");
    dump.watch_s = positive_number(raw.watch);
    if (!(*dump.watch_s >= 0.01 && *dump.watch_s <= 86'400)) {
        wrong("--watch must be seconds, 0.01 to 86400, is " + in_quotes(raw.watch));
    }
}

void check_bind(BindOptions& bind, Command command) {
    bind.unbind = command == Command::unbind;
    if (bind.devices.empty() && bind.config_file.empty())
        wrong(std::string{bind.unbind ? "unbind" : "bind"} +
              " needs a NIC's PCI address or interface, or -c FILE");
    constexpr std::array<std::string_view, 3> drivers{"vfio-pci", "uio_pci_generic", "igb_uio"};
    if (std::find(drivers.begin(), drivers.end(), bind.driver) == drivers.end())
        wrong("--driver must be " + alternatives(drivers) + ", is " + in_quotes(bind.driver) +
              did_you_mean(bind.driver, drivers));
}

}  // namespace

void check_options(Options& options, const RawOptions& raw) {
    switch (options.command) {
        case Command::replay: return check_replay(options.replay, raw);
        case Command::run: return check_run(options.run, raw);
        case Command::sim: return check_sim(options.sim, raw);
        case Command::tail: return check_tail(options.tail, raw);
        case Command::dump_segment: return check_dump_segment(options.dump_segment, raw);
        case Command::check_config:
            if (options.check_config.file.empty()) wrong("check-config needs a FILE");
            return;
        case Command::doctor: return;
        case Command::bind:
        case Command::unbind: return check_bind(options.bind, options.command);
    }
}

}  // namespace wirebook::app
