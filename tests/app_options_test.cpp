// The command line: what each option becomes, and that every wrong usage is exit status 2 with one
// line that says what is wrong and one that says where to look.
#include "wirebook/app/options.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <initializer_list>
#include <sstream>

namespace {

using namespace wirebook;
using namespace wirebook::app;
using Catch::Matchers::Contains;

CommandLine parse(const std::vector<std::string>& arguments) {
    std::vector<const char*> argv{"wirebook"};
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    return parse_command_line(static_cast<int>(argv.size()), argv.data());
}
// Split at spaces.
std::vector<std::string> words(const std::string& text) {
    std::istringstream stream{text};
    std::vector<std::string> all;
    for (std::string word; stream >> word;) all.push_back(word);
    return all;
}
Options good(const std::string& text) {
    const CommandLine line = parse(words(text));
    INFO(text << ": " << line.to_stderr);
    REQUIRE(line.options);
    CHECK(line.exit_status == 0);
    CHECK((line.to_stdout + line.to_stderr).empty());
    return *line.options;
}
std::string wrong_words(const std::vector<std::string>& arguments) {
    const CommandLine line = parse(arguments);
    REQUIRE_FALSE(line.options);
    CHECK(line.exit_status == 2);
    CHECK(line.to_stdout.empty());
    CHECK(std::count(line.to_stderr.begin(), line.to_stderr.end(), '\n') == 2);
    CHECK(line.to_stderr.starts_with("wirebook: "));
    CHECK_THAT(line.to_stderr, Contains("see: wirebook"));
    return line.to_stderr.substr(0, line.to_stderr.find('\n'));
}
std::string wrong(const std::string& text) {
    return wrong_words(words(text));
}

}  // namespace

TEST_CASE("options: replay with files alone is all defaults") {
    const Options options = good("replay a.pcap b.pcap");
    CHECK(options.command == Command::replay);
    const ReplayOptions& replay = options.replay;
    CHECK(replay.files == std::vector<std::string>{"a.pcap", "b.pcap"});
    CHECK_FALSE(replay.files_are_lines);
    CHECK_FALSE(replay.feed);
    CHECK(replay.config_file.empty());
    CHECK(replay.speed == 0);
    CHECK_FALSE(replay.gap_wait_us);
    CHECK(replay.publish_name.empty());
    CHECK_FALSE(replay.strict);
    CHECK_FALSE(replay.fingerprint);
    CHECK_FALSE(replay.fingerprint_to_stdout);
    CHECK_FALSE(replay.dumps.any_but_stats());
    CHECK(replay.dumps.stats.empty());
}

TEST_CASE("options: every option of replay reaches its field, before or after the files") {
    const std::string all =
        "--feed itch-jnx -c c.toml --speed 2.5 --gap-wait 0 --publish x.1 --strict --fingerprint "
        "--top t --final f --messages m --events e --stats s";
    for (const std::string& text : {"replay in " + all, "replay " + all + " in"}) {
        const ReplayOptions replay = good(text).replay;
        CHECK(replay.files == std::vector<std::string>{"in"});
        CHECK(replay.feed == wire::Protocol::itch_jnx);
        CHECK(replay.config_file == "c.toml");
        CHECK(replay.speed == 2.5);
        CHECK(replay.gap_wait_us == 0U);
        CHECK(replay.publish_name == "x.1");
        CHECK(replay.strict);
        CHECK(replay.fingerprint);
        CHECK_FALSE(replay.fingerprint_to_stdout);
        CHECK(replay.dumps.top == "t");
        CHECK(replay.dumps.final_books == "f");
        CHECK(replay.dumps.messages == "m");
        CHECK(replay.dumps.events == "e");
        CHECK(replay.dumps.stats == "s");
        CHECK(replay.dumps.any_but_stats());
    }
    CHECK(good("replay --top=t in").replay.dumps.top == "t");
    CHECK(good("replay in --config c").replay.config_file == "c");
    CHECK(good("replay a --strict b").replay.files == std::vector<std::string>{"a", "b"});
    CHECK(good("replay -- -odd.pcap").replay.files == std::vector<std::string>{"-odd.pcap"});
}

TEST_CASE("options: --lines is a list of files, instead of files") {
    const ReplayOptions replay = good("replay --lines a.pcap,b.pcap --top -").replay;
    CHECK(replay.files == std::vector<std::string>{"a.pcap", "b.pcap"});
    CHECK(replay.files_are_lines);
    CHECK(good("replay --lines a").replay.files_are_lines);
    CHECK_THAT(wrong("replay --lines a,b c"), Contains("FILE and --lines exclude each other"));
    CHECK_THAT(wrong("replay c --lines a,b"), Contains("FILE and --lines exclude each other"));
    CHECK_THAT(wrong("replay --lines a,,b"), Contains("without empty names"));
    CHECK_THAT(wrong("replay --lines a,"), Contains("without empty names"));
    CHECK_THAT(wrong("replay --lines -,-"), Contains("can be read once only"));
}

TEST_CASE("options: a speed is max, 1 or any factor above 0") {
    CHECK(good("replay in --speed max").replay.speed == 0);
    CHECK(good("replay in --speed 1").replay.speed == 1);
    CHECK(good("replay in --speed 0.25").replay.speed == 0.25);
    CHECK(good("replay in --speed 1e3").replay.speed == 1000);
    for (const char* speed : {"0", "-1", "nan", "inf", "fast", "1x", "0x10", ".", "1e999"}) {
        CHECK_THAT(wrong(std::string{"replay in --speed "} + speed),
                   Contains("--speed must be max"));
    }
}

TEST_CASE("options: --gap-wait is whole microseconds") {
    CHECK(good("replay in --gap-wait 500").replay.gap_wait_us == 500U);
    for (const char* wait :
         {"-5", "1.5", "1e3", "0x10", "5us", "99999999999999999999", "3600000001"}) {
        CHECK_THAT(wrong(std::string{"replay in --gap-wait "} + wait),
                   Contains("--gap-wait must be a whole number of 0 to 3600000000"));
    }
}

TEST_CASE("options: stdout belongs to one output") {
    CHECK(good("replay in --top -").replay.dumps.top == "-");
    CHECK(good("replay - --final -").replay.files.front() == "-");
    CHECK(good("replay in --fingerprint").replay.fingerprint_to_stdout);
    CHECK_FALSE(good("replay in --fingerprint --stats -").replay.fingerprint_to_stdout);
    CHECK(good("replay in --fingerprint --top t").replay.fingerprint_to_stdout);
    CHECK(good("replay in --fingerprint --stats s --top -").replay.dumps.top == "-");
    CHECK(good("replay in --top /dev/null --final /dev/null").replay.dumps.top == "/dev/null");
    CHECK_THAT(wrong("replay in --top - --stats -"), Contains("both write to stdout"));
    CHECK_THAT(wrong("replay in --fingerprint --top -"), Contains("--fingerprint without --stats"));
    CHECK_THAT(wrong("run -c c --fingerprint --events -"),
               Contains("--fingerprint without --stats"));
    CHECK_THAT(wrong("run -c c --messages - --events -"), Contains("both write to stdout"));
}

TEST_CASE("options: no output is written over another, nor over an input") {
    CHECK_THAT(wrong("replay in --top x --final ./x"), Contains("--top and --final both write"));
    CHECK_THAT(wrong("replay in --top in"), Contains("--top would overwrite the input \"in\""));
    CHECK_THAT(wrong("replay --lines a,b --stats ./b"), Contains("--stats would overwrite"));
    CHECK_THAT(wrong("replay in -c c --stats c"), Contains("--stats would overwrite"));
    CHECK_THAT(wrong("run -c c --stats c"), Contains("--stats would overwrite"));
}

TEST_CASE("options: wrong usage of replay says what is wrong") {
    CHECK_THAT(wrong("replay"), Contains("replay needs a FILE"));
    CHECK_THAT(wrong("replay in --feed itch"), Contains("did you mean \"itch50\"?"));
    CHECK_THAT(wrong("replay in --feed ITCH50"), Contains("--feed must be \"itch50\""));
    CHECK_THAT(wrong("replay in --publish a/b"), Contains("--publish must be 1 to 63"));
    CHECK_THAT(wrong("replay in --publish " + std::string(64, 'a')), Contains("--publish must be"));
    CHECK_THAT(wrong("replay in --sped 1"),
               Contains("unknown option \"--sped\"; did you mean \"--speed\"?"));
    CHECK_THAT(wrong("replay in --fault x"), Contains("unknown option \"--fault\""));
    CHECK_THAT(wrong("replay in --stop idle=1"), Contains("unknown option \"--stop\""));
    CHECK_THAT(wrong("replay in --top"), Contains("--top needs a value"));
    CHECK_THAT(wrong("replay in --top a --top b"), Contains("--top was given more than once"));
    CHECK_THAT(wrong_words({"replay", "in", "--publish", ""}), Contains("must not be empty"));
    CHECK_THAT(wrong_words({"replay", "in", "--top="}), Contains("--top"));
    CHECK_THAT(wrong_words({"replay", ""}), Contains("must not be empty"));
}

TEST_CASE("options: run takes a configuration, a condition to stop and arguments for EAL") {
    const RunOptions run = good("run -c c.toml --stats s -- -l 1 --no-huge -- x").run;
    CHECK(run.config_file == "c.toml");
    CHECK(run.stop.kind == StopKind::never);
    CHECK(run.dumps.stats == "s");
    CHECK(run.eal_arguments == std::vector<std::string>{"-l", "1", "--no-huge", "--", "x"});
    CHECK(good("run -c c --fingerprint").run.fingerprint_to_stdout);

    const StopCondition idle = good("run -c c --stop idle=0.5").run.stop;
    CHECK(idle.kind == StopKind::idle);
    CHECK(idle.idle_seconds == 0.5);
    const StopCondition packets = good("run -c c --stop packets=1000").run.stop;
    CHECK(packets.kind == StopKind::packets);
    CHECK(packets.packets == 1000);
    CHECK(good("run -c c --stop end-of-session").run.stop.kind == StopKind::end_of_session);

    CHECK_THAT(wrong("run"), Contains("run needs a configuration: -c FILE"));
    CHECK_THAT(wrong("run -- -l 1"), Contains("run needs a configuration"));
    CHECK_THAT(wrong("run -c c in.pcap"), Contains("unexpected argument \"in.pcap\""));
    for (const char* stop : {"", "idle", "idle=", "idle=0", "idle=-1", "idle=x", "packets=0",
                             "packets=1.5", "packets=", "end"}) {
        CHECK_THAT(wrong_words({"run", "-c", "c", "--stop", stop}), Contains("--stop"));
    }
    CHECK_THAT(wrong("run -c c --strict"), Contains("unknown option \"--strict\""));
}

TEST_CASE("options: dump-segment takes a name or a path, symbols and how to print") {
    const DumpSegmentOptions dump =
        good("dump-segment nasdaq AAPL --json MSFT --watch 0.5 --directory /dev/shm").dump_segment;
    CHECK(dump.segment == "nasdaq");
    CHECK_FALSE(dump.is_path());
    CHECK(dump.symbols == std::vector<std::string>{"AAPL", "MSFT"});
    CHECK(dump.json);
    CHECK(dump.watch_s == 0.5);
    CHECK(dump.directory == "/dev/shm");
    CHECK(good("dump-segment ./x").dump_segment.is_path());
    CHECK(good("dump-segment nasdaq --once --json").dump_segment.once);
    CHECK_FALSE(good("dump-segment nasdaq").dump_segment.watch_s);
    CHECK_THAT(wrong("dump-segment"), Contains("needs the NAME of a segment, or its file's PATH"));
    CHECK_THAT(wrong("dump-segment a~b"), Contains("NAME must be 1 to 63"));
    CHECK_THAT(wrong("dump-segment /x/y --directory /x"), Contains("a PATH says it all"));
    CHECK_THAT(wrong("dump-segment x --once --watch 1"), Contains("--once and --watch exclude"));
    for (const char* bad : {"0", "-1", "0.001", "1e9", "x", "nan"})
        CHECK_THAT(wrong(std::string("dump-segment x --watch ") + bad),
                   Contains("--watch must be seconds, 0.01 to 86400"));
}

TEST_CASE("options: owner, group and permissions are of the segment that is published") {
    const SegmentAccess access =
        good("replay a.pcap --publish x --owner feed --group 100 --permissions 0644").replay.access;
    CHECK(access.owner == "feed");
    CHECK(access.group == "100");
    CHECK(access.permissions == 0644U);
    CHECK(good("run -c x.toml --group trading").run.access.group == "trading");
    CHECK_FALSE(good("run -c x.toml").run.access.permissions);
    for (const char* option : {"--owner x", "--group x", "--permissions 0600"})
        CHECK_THAT(wrong(std::string("replay a.pcap ") + option), Contains("they need --publish"));
    for (const char* bad : {"0666", "0440", "7", "06400", "rw"})
        CHECK_THAT(wrong(std::string("run -c x.toml --permissions ") + bad),
                   Contains("--permissions must be octal digits like 0640"));
}

TEST_CASE("options: tail takes a name, symbols and how to print") {
    const TailOptions tail =
        good("tail nasdaq AAPL --events MSFT --json --count 10 --latency --directory /dev/shm")
            .tail;
    CHECK(tail.name == "nasdaq");
    CHECK(tail.symbols == std::vector<std::string>{"AAPL", "MSFT"});
    CHECK(tail.events);
    CHECK(tail.json);
    CHECK(tail.latency);
    CHECK(tail.count == 10U);
    CHECK(tail.directory == "/dev/shm");
    CHECK(good("tail nasdaq --once").tail.once);
    CHECK(good("tail nasdaq").tail.symbols.empty());
    CHECK_THAT(wrong("tail"), Contains("tail needs the NAME of a segment"));
    CHECK_THAT(wrong("tail ../x"), Contains("NAME must be 1 to 63"));
    CHECK_THAT(wrong("tail x --count 0"), Contains("--count must be a whole number of 1"));
    CHECK_THAT(wrong("tail x --once --count 1"), Contains("--once and --count exclude"));
    CHECK_THAT(wrong("tail x --once --latency"), Contains("--latency"));
}

TEST_CASE("options: check-config takes one file") {
    const Options options = good("check-config x.toml");
    CHECK(options.command == Command::check_config);
    CHECK(options.check_config.file == "x.toml");
    CHECK_THAT(wrong("check-config"), Contains("check-config needs a FILE"));
    CHECK_THAT(wrong("check-config a b"), Contains("unexpected argument \"b\""));
}

TEST_CASE("options: sim takes what it is told, and one place for its feed") {
    const auto line = parse(
        words("sim --feed iex-deep --seed 7 --instruments 5 --messages 900 --rate 10 --live 40 "
              "--fault A:loss=0.1 --fault *:delay=0.1,1ms --truth t --pcap-a a --pcap-b b"));
    REQUIRE(line.options);
    const SimOptions& sim = line.options->sim;
    CHECK(sim.feed == wire::Protocol::iex_deep);
    CHECK((sim.seed == 7U && sim.instruments == 5U && sim.messages == 900U));
    CHECK((sim.rate == 10U && sim.live_orders == 40U && !sim.speed));
    CHECK(parse(words("sim -c x --udp lo --speed 2")).options->sim.speed == 2.0);
    CHECK(sim.output == SimOutput::pcap_pair);
    CHECK(sim.faults == std::vector<std::string>{"A:loss=0.1", "*:delay=0.1,1ms"});
    CHECK(sim.truth == "t");

    const auto port = parse(words("sim -c x --port net_null0 -- --no-huge -l 1"));
    REQUIRE(port.options);
    CHECK(port.options->sim.output == SimOutput::port);
    CHECK(port.options->sim.eal_arguments == std::vector<std::string>{"--no-huge", "-l", "1"});
    CHECK_FALSE(port.options->sim.feed);

    const std::string start = "sim --feed itch50 --seed 1 ";
    CHECK_THAT(wrong(start), Contains("a place for its feed"));
    CHECK_THAT(wrong(start + "--pcap a --udp lo"), Contains("--pcap and --udp exclude each other"));
    CHECK_THAT(wrong(start + "--pcap-b b"), Contains("belong together"));
    CHECK_THAT(wrong(start + "--pcap-a b --pcap-b ./b"), Contains("written twice"));
    CHECK_THAT(wrong(start + "--pcap t.top.csv --truth t"), Contains("written twice"));
    CHECK_THAT(wrong(start + "--pcap a --speed 1"), Contains("--speed is for"));
    CHECK_THAT(wrong(start + "--pcap a --messages 5 --duration 2"), Contains("exclude"));
    CHECK_THAT(wrong(start + "--pcap a --duration -2"), Contains("--duration"));
    CHECK_THAT(wrong(start + "--pcap a --fault A:loss=2"), Contains("A:loss=2"));
    CHECK_THAT(wrong(start + "--pcap a -- -l 1"), Contains("--port"));
    CHECK_THAT(wrong("sim --feed itch-jnx --seed 1 --pcap a"), Contains("itch50 or iex-deep"));
    CHECK_THAT(wrong("sim --seed 1 --pcap a"), Contains("sim needs --feed"));
    CHECK_THAT(wrong("sim --feed itch50 --pcap a"), Contains("sim needs --seed"));
}

TEST_CASE("options: doctor, bind and unbind") {
    const Options doctor = good("doctor -c x.toml --json --root d");
    CHECK(doctor.command == Command::doctor);
    CHECK(doctor.doctor.config_file == "x.toml");
    CHECK(doctor.doctor.json);
    CHECK(doctor.doctor.root == "d");
    CHECK(good("doctor").doctor.root == "/");
    CHECK_THAT(wrong("doctor x"), Contains("unexpected argument \"x\""));

    const Options bind = good("bind 0000:3b:00.0 eth1 --driver uio_pci_generic --force");
    CHECK(bind.command == Command::bind);
    CHECK(bind.bind.devices == std::vector<std::string>{"0000:3b:00.0", "eth1"});
    CHECK(bind.bind.driver == "uio_pci_generic");
    CHECK(bind.bind.force);
    CHECK_FALSE(bind.bind.unbind);
    CHECK(good("bind -c x.toml --dry-run").bind.dry_run);
    CHECK(good("bind eth1").bind.driver == "vfio-pci");
    CHECK(good("unbind eth1").bind.unbind);
    CHECK_THAT(wrong("bind"), Contains("bind needs a NIC's PCI address or interface, or -c FILE"));
    CHECK_THAT(wrong("unbind"), Contains("unbind needs"));
    CHECK_THAT(wrong("bind eth1 --driver vfio-pcy"), Contains("did you mean \"vfio-pci\"?"));
    CHECK_THAT(wrong("unbind eth1 --driver vfio-pci"), Contains("unknown option \"--driver\""));
}

TEST_CASE("options: without a command that exists, the commands are named") {
    CHECK_THAT(wrong(""),
               Contains("no command was given: \"replay\", \"run\", \"sim\", \"tail\", "));
    CHECK_THAT(wrong("rplay x"), Contains("unknown command \"rplay\"; did you mean \"replay\"?"));
    CHECK_THAT(wrong("bin x"), Contains("did you mean \"bind\"?"));
    CHECK_THAT(wrong("--top x"), Contains("unknown option \"--top\"; a command comes first"));
    for (const char* later : {"top", "record"}) {
        CHECK_THAT(wrong(later), Contains("unknown command"));
        CHECK_THAT(parse({"--help"}).to_stdout, !Contains(std::string{"\n  "} + later + " "));
    }
}

TEST_CASE("options: --help and --version go to stdout with exit status 0") {
    for (const char* text :
         {"--help", "-h", "help", "replay --help", "replay -h x --speed 2", "run --help",
          "sim --help", "tail --help", "dump-segment --help", "check-config --help",
          "doctor --help", "bind --help", "unbind --help"}) {
        const CommandLine line = parse(words(text));
        CHECK_FALSE(line.options);
        CHECK(line.exit_status == 0);
        CHECK(line.to_stderr.empty());
        CHECK_THAT(line.to_stdout, Contains("Usage: wirebook"));
    }
    CHECK(parse({"--version"}).to_stdout.starts_with("wirebook "));
    CHECK(parse({"--version"}).exit_status == 0);
}

TEST_CASE("options: each help fits a screen of 30 lines and 100 columns, and names every option") {
    for (const char* text : {"--help", "replay --help", "run --help", "sim --help", "tail --help",
                             "dump-segment --help", "check-config --help", "doctor --help",
                             "bind --help", "unbind --help"}) {
        std::istringstream help{parse(words(text)).to_stdout};
        int lines = 0;
        for (std::string line; std::getline(help, line); ++lines) {
            INFO(line);
            CHECK(line.size() <= 100);
        }
        CHECK(lines <= 30);
    }
    const std::string replay = parse({"replay", "--help"}).to_stdout;
    for (const char* option :
         {"--lines", "--feed", "-c,", "--speed", "--gap-wait", "--publish", "--strict",
          "--fingerprint", "--top", "--final", "--messages", "--events", "--stats"}) {
        CHECK_THAT(replay, Contains(option));
    }
}

TEST_CASE("options: the name of a segment is fit for a file name") {
    CHECK(is_segment_name("nasdaq"));
    CHECK(is_segment_name("A_b-1.2"));
    CHECK(is_segment_name(std::string(63, 'x')));
    for (const char* name : {"", ".", "..", ".x", "-x", "a/b", "a b", "\xc3\xa4"}) {
        CHECK_FALSE(is_segment_name(name));
    }
    CHECK_FALSE(is_segment_name(std::string(64, 'x')));
}
