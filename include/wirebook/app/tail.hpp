// `wirebook tail`: what a segment publishes, for people and scripts. A reader like any other.
//
// Cold, one thread, until SIGINT or SIGTERM, --count, or with --once the present books.
#pragma once

#include "wirebook/app/options.hpp"
#include "wirebook/core/result.hpp"

namespace wirebook::app {

// Exit status 0; 2 where there is no such segment; 3 where we may not read it. Rows go to stdout,
// everything else to stderr.
[[nodiscard]] int run_tail(const TailOptions& options);

// Says why a segment could not be attached to, and what to do; returns the exit status.
int fail_to_attach(const Error& error);

}  // namespace wirebook::app
