// Where DPDK's log lines go: stderr, and nowhere else (its own default is stdout and syslog, and
// stdout carries our dumps). While something is being started the lines are gathered instead, so
// that a failure can be told in one sentence with DPDK's own words in it.
//
// One log in a process, like DPDK's. Any thread; DPDK logs from threads of its own.
#pragma once

#include <string>

namespace wirebook::io::dpdk {

// From here on DPDK logs into us. Call it before EAL starts; again: no effect.
void redirect_log();

// Gathers from now on. Lines that say that the process is about to end are printed at once.
void begin_gathering();
// What was gathered, in one line, cut to a readable length; gathering goes on, from empty.
[[nodiscard]] std::string take_gathered();
// Prints what was gathered to stderr and stops gathering.
void end_gathering();

}  // namespace wirebook::io::dpdk
