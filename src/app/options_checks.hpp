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
    std::string speed = "max";
    std::string gap_wait;
    std::string stop;
    std::string count;
};

using NamedDump = std::pair<std::string_view, std::string DumpOptions::*>;
constexpr std::array<NamedDump, 5> dump_names{{{"--top", &DumpOptions::top},
                                               {"--final", &DumpOptions::final_books},
                                               {"--messages", &DumpOptions::messages},
                                               {"--events", &DumpOptions::events},
                                               {"--stats", &DumpOptions::stats}}};
// Fills in what `raw` says and checks the command's options; throws UsageError.
void check_options(Options& options, const RawOptions& raw);

}  // namespace wirebook::app
