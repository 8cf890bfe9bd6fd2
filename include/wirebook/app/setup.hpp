// What replay and run share before and after their loop: the pipeline's options out of the
// configuration, the observer's parts out of the command line, the outputs at the end.
//
// Cold, one thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "wirebook/app/config.hpp"
#include "wirebook/app/observer.hpp"
#include "wirebook/app/options.hpp"
#include "wirebook/app/statistics.hpp"
#include "wirebook/core/result.hpp"
#include "wirebook/feed/channel_map.hpp"

namespace wirebook::app {

enum ExitStatus : int { exit_done = 0, exit_data_fault = 1, exit_usage = 2, exit_host = 3 };

// User and system time of this process so far.
[[nodiscard]] double cpu_seconds();

// Prints "wirebook: TEXT" and returns `status`.
int fail(ExitStatus status, const std::string& text);
// The same for an error; EBUSY, EACCES, ENOMEM and missing devices are the host's (3).
int fail(const Error& error);

// `live`: lines are matched with their port and memory is touched before the start.
[[nodiscard]] feed::PipelineOptions pipeline_options(const Config& config, bool live);

// The configured trading dates, in the order in which pipeline_options() has the channels.
[[nodiscard]] TradingDates trading_dates(const Config& config);

// Opens the dumps, and switches the fingerprint on with --fingerprint and most dumps.
[[nodiscard]] Status open_dumps(const DumpOptions& dumps, bool fingerprint, Observer& observer);

// What the command line says of the segment's file, into the configuration.
void take_access(const SegmentAccess& access, Config& config);

// Creates the segment `name` with the configuration's geometry.
[[nodiscard]] Status open_publisher(const Config& config, const std::string& name,
                                    Observer& observer);

[[nodiscard]] std::vector<const feed::Channel*> channels_of(const AppPipeline& pipeline);

// Closes the segment, and the dumps that are written along the way.
[[nodiscard]] Status close_dumps(Observer& observer);
// Writes and closes every output. `fingerprint_to_stdout`: its digits go there. `channels`, in
// their order: whose books --final gets.
[[nodiscard]] Status write_outputs(bool fingerprint_to_stdout,
                                   std::span<const feed::Channel* const> channels,
                                   Observer& observer, const Statistics& statistics);

// Percentiles of the packets that were stamped, a line each; empty where none was.
[[nodiscard]] std::string latency_text(const Observer& observer);

}  // namespace wirebook::app
