// The rules of the command line that CLI11 does not know. Private to src/app; used by options.cpp.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "wirebook/app/options.hpp"

namespace wirebook::app {

// A wrong usage on its way out of a check; caught in parse_command_line.
struct UsageError {
    std::string text;
};

// Options as CLI11 hands them over, until they are checked. "": not given.
struct RawOptions {
    std::string lines;
    std::string feed;
    std::string speed;
    std::string gap_wait;
    std::string stop;
    std::string count;
    std::string watch;
    std::string permissions;
    std::string seed;
    std::string instruments;
    std::string messages;
    std::string duration;
    std::string rate;
    std::string live;
};

using NamedDump = std::pair<std::string_view, std::string DumpOptions::*>;
constexpr std::array<NamedDump, 5> dump_names{{{"--top", &DumpOptions::top},
                                               {"--final", &DumpOptions::final_books},
                                               {"--messages", &DumpOptions::messages},
                                               {"--events", &DumpOptions::events},
                                               {"--stats", &DumpOptions::stats}}};
// Helpers of the checks; `option` names what is checked.
[[noreturn]] void wrong(std::string text);
[[nodiscard]] std::uint64_t whole_number(const std::string& option, const std::string& text,
                                         std::uint64_t least, std::uint64_t most);
// A number above 0 as people write it ("4", "0.5", "2e3"), or one below 0 if it is none.
[[nodiscard]] double positive_number(const std::string& text);
[[nodiscard]] double speed_of(const std::string& text);
[[nodiscard]] bool same_path(const std::string& a, const std::string& b);

void check_sim(SimOptions& sim, const RawOptions& raw);  // options_sim.cpp

// Fills in what `raw` says and checks the command's options; throws UsageError.
void check_options(Options& options, const RawOptions& raw);

}  // namespace wirebook::app
