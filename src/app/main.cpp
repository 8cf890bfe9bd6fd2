// The program: one command a run. Exit statuses are ExitStatus.
#include <cstdio>

#include "wirebook/app/commands.hpp"
#include "wirebook/app/config.hpp"
#include "wirebook/app/dump_segment.hpp"
#include "wirebook/app/options.hpp"
#include "wirebook/app/setup.hpp"
#include "wirebook/app/tail.hpp"
#include "wirebook/core/cpu.hpp"

namespace {
// Before any other code: everything else may use instructions that this machine lacks.
[[gnu::constructor(101)]] void check_this_cpu() {
    wirebook::require_cpu(wirebook::compiled_cpu_features, wirebook::app::exit_host);
}
}  // namespace

namespace wirebook::app {
namespace {

int run_command(const Options& options) {
    switch (options.command) {
        case Command::replay: return run_replay(options.replay);
        case Command::run: return run_live(options.run);
        case Command::sim: return run_sim(options.sim);
        case Command::tail: return run_tail(options.tail);
        case Command::dump_segment: return run_dump_segment(options.dump_segment);
        case Command::check_config: return run_check_config(options.check_config.file);
        case Command::doctor: return run_doctor(options.doctor);
        case Command::bind:
        case Command::unbind: return run_bind(options.bind);
    }
    return exit_usage;
}

int run_program(int argc, char** argv) {
    const CommandLine command_line = parse_command_line(argc, argv);
    std::fputs(command_line.to_stdout.c_str(), stdout);
    std::fputs(command_line.to_stderr.c_str(), stderr);
    const int status =
        command_line.options ? run_command(*command_line.options) : command_line.exit_status;
    if ((std::fflush(stdout) != 0 || std::ferror(stdout) != 0) && status == exit_done) {
        return fail(exit_usage, "write standard output: it does not take what it was given");
    }
    return status;
}

}  // namespace
}  // namespace wirebook::app

int main(int argc, char** argv) {
    return wirebook::app::run_program(argc, argv);
}
