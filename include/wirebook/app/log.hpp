// The log of `wirebook run`: what happens to ports, groups and the configuration while it runs.
// Cold; lcores never log. Any thread.
#pragma once

#include <string_view>

#include "wirebook/app/config.hpp"
#include "wirebook/core/result.hpp"

namespace wirebook::app {

// Lines go to stderr as "wirebook: TEXT", or to the file with their UTC time and level. Called
// again, the level changes and the file is opened anew (after it was moved away by a log rotation).
// On an error the log stays as it was.
[[nodiscard]] Status open_log(const LogConfig& config);

void log_line(LogLevel level, std::string_view text);

}  // namespace wirebook::app
