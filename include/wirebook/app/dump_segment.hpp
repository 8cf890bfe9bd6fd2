// `wirebook dump-segment`: everything that a segment says about itself, of living and dead writers.
//
// Cold, one thread. Prints once, or with --watch until SIGINT or SIGTERM.
#pragma once

#include "wirebook/app/options.hpp"

namespace wirebook::app {

// Exit status 0; 2 where there is no such segment or it is not usable; 3 where we may not read it.
[[nodiscard]] int run_dump_segment(const DumpSegmentOptions& options);

}  // namespace wirebook::app
