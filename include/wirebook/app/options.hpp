// The command line as data: which command, with which options, fully validated.
//
// Nothing is opened, read or printed here: what to print and the exit status come back as values,
// so that every wrong usage can be tested. One thread, at start.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wirebook/wire/protocol.hpp"

namespace wirebook::app {

enum class Command : std::uint8_t {
    replay,
    run,
    sim,
    tail,
    dump_segment,
    check_config,
    doctor,
    bind,
    unbind
};

// Where each dump goes: "" is off, "-" is stdout (one of them at most).
struct DumpOptions {
    std::string top;
    std::string final_books;
    std::string messages;
    std::string events;
    std::string stats;

    // A dump other than --stats: switches the fingerprint on.
    [[nodiscard]] bool any_but_stats() const noexcept {
        return !top.empty() || !final_books.empty() || !messages.empty() || !events.empty();
    }
};

// Whose the segment's file is and who may read it: what is given wins over the configuration.
struct SegmentAccess {
    std::string owner;  // a name or number; "": not given
    std::string group;  // likewise
    std::optional<std::uint32_t> permissions;
};

struct ReplayOptions {
    std::vector<std::string> files;      // in the order given; "-" is stdin
    bool files_are_lines = false;        // given by --lines: lines A, B, ... of the same channels
    std::optional<wire::Protocol> feed;  // none: by what is in the file
    std::string config_file;             // "": none
    double speed = 0;                    // 0: as fast as possible; 1: as captured; N: N times that
    std::optional<std::uint64_t> gap_wait_us;  // overrides the configuration
    std::string publish_name;                  // "": nothing is published
    SegmentAccess access;
    bool strict = false;
    bool fingerprint = false;
    bool fingerprint_to_stdout = false;  // --fingerprint without --stats
    DumpOptions dumps;
};

enum class StopKind : std::uint8_t { never, idle, packets, end_of_session };

struct StopCondition {
    StopKind kind = StopKind::never;  // never: until SIGINT or SIGTERM
    double idle_seconds = 0;          // > 0 with idle: this long without a packet
    std::uint64_t packets = 0;        // > 0 with packets: so many were received
};

struct RunOptions {
    std::string config_file;
    SegmentAccess access;
    bool fingerprint = false;
    bool fingerprint_to_stdout = false;
    DumpOptions dumps;
    StopCondition stop;
    std::vector<std::string> eal_arguments;  // what follows "--"
};

// Where the simulated exchange sends its feed; the one of `output` that is used is not empty.
enum class SimOutput : std::uint8_t { pcap, pcap_pair, binary, udp, port };

// What is left out here is as the configuration says, else as SimConfig (config.hpp) does.
struct SimOptions {
    std::string config_file;             // "": none
    std::optional<wire::Protocol> feed;  // itch50 or iex_deep
    std::optional<std::uint64_t> seed;
    std::optional<std::uint64_t> instruments;
    std::optional<std::uint64_t> messages;
    std::optional<double> duration_s;
    std::optional<std::uint64_t> rate;  // messages a second
    std::optional<std::uint64_t> live_orders;
    std::optional<double> speed;      // 0: as fast as possible
    std::vector<std::string> faults;  // "A:loss=0.01"
    SimOutput output = SimOutput::pcap;
    std::string pcap;    // line A
    std::string pcap_a;  // both lines
    std::string pcap_b;
    std::string binary;
    std::string udp;                         // name of an interface
    std::string port;                        // a DPDK device
    std::string truth;                       // prefix of two files; "": none
    std::vector<std::string> eal_arguments;  // what follows "--"
};

struct TailOptions {
    std::string name;                    // of the segment
    std::vector<std::string> symbols;    // empty: all
    bool events = false;                 // trades, status and feed events too
    bool json = false;                   // JSON lines instead of a table
    bool once = false;                   // the present books, then exit
    std::optional<std::uint64_t> count;  // exit after so many records
    bool latency = false;                // percentiles packet to read, at the end
    std::string directory;               // "": hugetlbfs mounts, then /dev/shm
};

struct DumpSegmentOptions {
    std::string segment;               // a name, or with a slash in it the file's path
    std::vector<std::string> symbols;  // rows of these; empty: all
    bool json = false;                 // one JSON object instead of text
    bool once = false;                 // what is done without --watch too
    std::optional<double> watch_s;     // health again and again, every so many seconds
    std::string directory;             // "": hugetlbfs mounts, then /dev/shm

    [[nodiscard]] bool is_path() const noexcept { return segment.find('/') != segment.npos; }
};

struct CheckConfigOptions {
    std::string file;
};

struct DoctorOptions {
    std::string config_file;  // "": none
    bool json = false;        // one JSON object
    std::string root = "/";   // the folder that holds sys, proc and dev
};

// Of bind and unbind.
struct BindOptions {
    std::vector<std::string> devices;  // PCI addresses or names of interfaces
    std::string config_file;           // its PCI ports too; "": none
    bool unbind = false;               // back to the kernel's driver
    std::string driver = "vfio-pci";   // or uio_pci_generic, igb_uio
    bool force = false;                // although routes or sessions use the NIC
    bool dry_run = false;              // print what would be written
    std::string root = "/";
};

struct Options {
    Command command = Command::replay;
    ReplayOptions replay;  // only the member of `command` is filled in
    RunOptions run;
    SimOptions sim;
    TailOptions tail;
    DumpSegmentOptions dump_segment;
    CheckConfigOptions check_config;
    DoctorOptions doctor;
    BindOptions bind;  // of bind and unbind
};

// Either options (then there is nothing to print), or a text for stdout and exit status 0
// (--help, --version), or a text for stderr and exit status 2 (wrong usage).
struct CommandLine {
    std::optional<Options> options;
    int exit_status = 0;
    std::string to_stdout;  // with newline, or empty
    std::string to_stderr;  // with newline, or empty
};

[[nodiscard]] CommandLine parse_command_line(int argc, const char* const* argv);

// A segment's name becomes a file name: 1 to 63 of A-Z a-z 0-9 . _ -, not starting with . or -.
[[nodiscard]] bool is_segment_name(const std::string& name) noexcept;

}  // namespace wirebook::app
