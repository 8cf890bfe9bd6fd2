// sim: the text of fault rules, what they do to the frames of a line, and when senders restart.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "wirebook/sim/fault_rule.hpp"
#include "wirebook/sim/fault_stage.hpp"
#include "wirebook/sim/frame.hpp"
#include "wirebook/wire/frame.hpp"
#include "wirebook/wire/udp_checksum.hpp"

namespace {

using namespace wirebook;
using namespace wirebook::sim;
using Buffer = std::vector<std::byte>;

FaultRule rule_of(const std::string& text) {
    auto rule = parse_fault_rule(text);
    INFO(text);
    REQUIRE(rule.ok());
    return rule.value();
}

std::string error_of(const std::string& text) {
    const auto rule = parse_fault_rule(text);
    return rule.ok() ? "fine" : rule.error().context;
}

struct Sent {
    std::int64_t time_ns = 0;
    Buffer bytes;
    // Number of the frame, which its payload starts with.
    [[nodiscard]] std::uint32_t number() const {
        const auto* field = wire::view_as<wire::be32>(std::span(bytes).subspan(frame_header_bytes));
        REQUIRE(field != nullptr);
        return field->get();
    }
};

constexpr std::int64_t start_ns = 1'000'000;
constexpr std::int64_t gap_ns = 1'000;

// `count` frames through a stage, number i at start_ns + i * gap_ns.
struct Run {
    explicit Run(const std::vector<std::string>& rules, std::uint32_t count = 20'000,
                 std::uint64_t seed = 1, std::uint8_t line = 0, bool checksum = true) {
        std::vector<FaultRule> parsed;
        for (const std::string& text : rules) parsed.push_back(rule_of(text));
        FaultStage stage(parsed, line, seed, start_ns, [this](const FrameView& frame) {
            out.push_back({frame.time_ns, {frame.bytes.begin(), frame.bytes.end()}});
        });
        LineAddress address{.group = 0xE9360C6F, .port = 26477};
        address.checksum = checksum;
        FrameBuilder builder(address);
        for (std::uint32_t i = 0; i < count; ++i) {
            Buffer payload(40, static_cast<std::byte>(i));
            wire::be32 number{};
            number.set(i);
            std::memcpy(payload.data(), &number, sizeof number);
            const auto frame = builder.build(payload);
            in.push_back({start_ns + i * gap_ns, {frame.begin(), frame.end()}});
            stage.on_frame({in.back().time_ns, line, PayloadKind::data, in.back().bytes});
        }
        stage.finish();
        counters = stage.counters();
    }

    [[nodiscard]] double share(FaultKind kind) const {
        return static_cast<double>(counters.of(kind)) / static_cast<double>(in.size());
    }
    [[nodiscard]] std::vector<std::uint32_t> missing() const {
        std::vector<bool> seen(in.size());
        for (const Sent& sent : out) seen[sent.number()] = true;
        std::vector<std::uint32_t> numbers;
        for (std::uint32_t i = 0; i < seen.size(); ++i) {
            if (!seen[i]) numbers.push_back(i);
        }
        return numbers;
    }

    std::vector<Sent> in;
    std::vector<Sent> out;
    FaultCounters counters;
};

bool operator==(const Sent& a, const Sent& b) {
    return a.time_ns == b.time_ns && a.bytes == b.bytes;
}

wire::DropReason parse(const Buffer& frame, wire::Datagram& datagram) {
    wire::Packet packet;
    packet.data = frame.data();
    packet.bytes = packet.original_bytes = static_cast<std::uint32_t>(frame.size());
    return wire::parse_frame(packet, datagram);
}

}  // namespace

TEST_CASE("fault rule: every kind parses to what it says") {
    FaultRule rule = rule_of("A:loss=0.25");
    CHECK(rule.kind == FaultKind::loss);
    CHECK(rule.line == std::uint8_t{0});
    CHECK(rule.chance.q64 == std::uint64_t{1} << 62);
    CHECK(rule.range.contains(0, 0));
    rule = rule_of("B:burst=0.001,20@100..200");
    CHECK(rule.line == std::uint8_t{1});
    CHECK(rule.amount == 20);
    CHECK_FALSE(rule.range.contains(99, 0));
    CHECK(rule.range.contains(199, 0));
    CHECK_FALSE(rule.range.contains(200, 0));
    rule = rule_of("*:duplicate=1,50us@1s..2500ms");
    CHECK_FALSE(rule.line.has_value());
    CHECK(rule.time_ns == 50'000);
    CHECK(rule.range.by_time);
    CHECK(rule.range.first == 1'000'000'000);
    CHECK(rule.range.end == 2'500'000'000);
    CHECK(rule_of("A:duplicate=0.5").time_ns == 0);
    CHECK(rule_of("H:reorder=0.01,4").amount == 4);
    CHECK(rule_of("A:delay=0.01,2ms").time_ns == 2'000'000);
    CHECK(rule_of("A:truncate=1e-3").kind == FaultKind::truncate);
    CHECK(rule_of("A:shorten=0.001").kind == FaultKind::shorten);
    CHECK(rule_of("A:flip=0.001").amount == 1);
    CHECK(rule_of("A:flip=0.001,3").amount == 3);
    CHECK(rule_of("A:dead=35000..36000").range.first == 35'000);
    rule = rule_of("A:sender_restart=10s,250ns");
    CHECK(rule.range.by_time);
    CHECK(rule.range.first == 10'000'000'000);
    CHECK(rule.time_ns == 250);
    CHECK(rule_of("*:session_restart=35000").is_restart());
}

TEST_CASE("fault rule: what is wrong is named") {
    const auto says = [](const std::string& text, const std::string& part) {
        const std::string error = error_of(text);
        INFO(error);
        CHECK(error.find("fault '" + text + "': ") == 0);
        CHECK(error.find(part) != std::string::npos);
    };
    says("", "not LINE:KIND=ARGUMENTS");
    says("loss=0.1", "not LINE:KIND=ARGUMENTS");
    says("A:loss", "not LINE:KIND=ARGUMENTS");
    says("I:loss=0.1", "the line 'I' is neither A to H nor *");
    says("AB:loss=0.1", "the line 'AB'");
    says(":loss=0.1", "the line ''");
    says("A:lost=0.1", "the fault 'lost' is none of loss, burst");
    says("A:loss=", "the chance ''");
    says("A:loss=1.5", "the chance '1.5' is no number above 0 and up to 1");
    says("A:loss=0", "the chance '0'");
    says("A:loss=nan", "the chance 'nan'");
    says("A:loss=0.1x", "the chance '0.1x'");
    says("A:loss=0.1,2", "loss has one argument");
    says("A:burst=0.1", "'' is no whole number");
    says("A:burst=0.1,x", "'x' is no whole number");
    says("A:reorder=0.1,0", "does nothing");
    says("A:reorder=0.1,100001", "is more than 100000");
    says("A:delay=0.1,5", "the time '5' has no unit");
    says("A:delay=0.1,0ns", "does nothing");
    says("A:flip=0.1,65", "is more than 64");
    says("A:dead=5", "the range '5' is not FIRST..END");
    says("A:dead=5..5", "is empty");
    says("A:dead=5s..6", "mixes a time and a packet number");
    says("A:dead=-1..6", "'-1' is no whole number");
    says("A:loss=0.1@", "the range ''");
    says("A:dead=1s..99999999999s", "is more than");
    says("A:session_restart=5", "on every line");
    says("*:session_restart=5,6", "one argument");
    says("A:sender_restart=5", "the time ''");
    CHECK(error_of("A:loss=1") == "fine");
}

TEST_CASE("fault: without rules, and with rules of other lines, every frame passes untouched") {
    const Run none({}, 500);
    CHECK(none.out == none.in);
    const Run others({"B:loss=0.5", "B:flip=1", "*:session_restart=3", "A:sender_restart=3,1s"},
                     500);
    CHECK(others.out == others.in);
    CHECK(to_string(others.counters) == "none");
    const Run later({"A:loss=1@500..600"}, 500);
    CHECK(later.out == later.in);
}

TEST_CASE("fault: the same seed gives the same faults, another seed or line others") {
    const std::vector<std::string> rules{"*:loss=0.1", "*:flip=0.05,2", "*:reorder=0.1,5",
                                         "*:duplicate=0.1,9us", "*:delay=0.1,30us"};
    const Run one(rules, 5'000);
    CHECK(one.out == Run(rules, 5'000).out);
    CHECK_FALSE(one.out == Run(rules, 5'000, 2).out);
    CHECK_FALSE(one.out == Run(rules, 5'000, 1, 1).out);
    // A rule does not change what another one does.
    const Run loss({"A:loss=0.1"});
    const Run both({"A:loss=0.1", "A:duplicate=0.3"});
    CHECK(loss.missing() == both.missing());
}

TEST_CASE("fault: losses come at their rate; bursts as often and as long as asked") {
    const Run loss({"A:loss=0.1"});
    CHECK(loss.share(FaultKind::loss) == Approx(0.1).margin(0.01));
    CHECK(loss.missing().size() == loss.counters.of(FaultKind::loss));
    CHECK(loss.out.size() + loss.missing().size() == loss.in.size());

    const Run burst({"A:burst=0.002,20"}, 200'000);
    const auto missing = burst.missing();
    std::size_t bursts = missing.empty() ? 0 : 1;
    for (std::size_t i = 1; i < missing.size(); ++i) {
        bursts += static_cast<std::size_t>(missing[i] != missing[i - 1] + 1);
    }
    CHECK(static_cast<double>(missing.size()) / static_cast<double>(bursts) ==
          Approx(20).epsilon(0.15));
    CHECK(bursts == Approx(200'000 * 0.002 / 1.04).epsilon(0.15));
    // Bursts of length 1 are losses.
    CHECK(Run({"A:burst=0.05,1"}).share(FaultKind::burst) == Approx(0.05).margin(0.006));
}

TEST_CASE("fault: a line is dead for exactly the packets, or the time, that were said") {
    std::vector<std::uint32_t> expected(10);
    for (std::uint32_t i = 0; i < 10; ++i) expected[i] = 100 + i;
    CHECK(Run({"A:dead=100..110"}, 300).missing() == expected);
    CHECK(Run({"A:dead=100us..110us"}, 300).missing() == expected);
    CHECK(Run({"A:loss=1@100..110"}, 300).missing() == expected);
    CHECK(Run({"A:burst=1,1000000@100..110"}, 300).missing() == expected);
}

TEST_CASE("fault: a duplicate is the same frame again, at once or a little later") {
    const Run at_once({"A:duplicate=0.1"}, 5'000);
    CHECK(at_once.share(FaultKind::duplicate) == Approx(0.1).margin(0.02));
    CHECK(at_once.out.size() == at_once.in.size() + at_once.counters.of(FaultKind::duplicate));
    for (std::size_t i = 1; i < at_once.out.size(); ++i) {
        if (at_once.out[i].number() == at_once.out[i - 1].number()) {
            CHECK(at_once.out[i] == at_once.out[i - 1]);
        }
    }
    const Run later({"A:duplicate=1,7us"}, 1'000);
    REQUIRE(later.out.size() == 2'000);
    std::int64_t most = 0;
    for (std::size_t i = 0; i < 2'000; i += 2) {
        const std::int64_t wait = later.out[i + 1].time_ns - later.out[i].time_ns;
        CHECK(wait >= 1);
        most = std::max(most, wait);
    }
    CHECK(most <= 7'000);
    CHECK(most > 6'000);
}

TEST_CASE("fault: a reordered frame comes after 1 to N later ones, and the times still rise") {
    const Run run({"A:reorder=0.05,4"}, 20'000);
    REQUIRE(run.out.size() == run.in.size());
    CHECK(run.missing().empty());
    std::vector<std::uint64_t> overtaken_by(5);
    for (std::size_t i = 0; i < run.out.size(); ++i) {
        if (i != 0) REQUIRE(run.out[i].time_ns >= run.out[i - 1].time_ns);
        const std::uint32_t number = run.out[i].number();
        std::size_t later = 0;
        for (std::size_t j = i >= 20 ? i - 20 : 0; j < i; ++j) {
            later += static_cast<std::size_t>(run.out[j].number() > number);
        }
        REQUIRE(later <= 4);
        ++overtaken_by[later];
    }
    for (std::size_t n = 1; n <= 4; ++n) CHECK(overtaken_by[n] > 100);
    // What is held at the end is not lost.
    CHECK(Run({"A:reorder=1,100000"}, 10).out.size() == 10);
}

TEST_CASE("fault: a delayed frame is later by at most what was said") {
    const Run run({"A:delay=0.2,5us"}, 5'000);
    CHECK(run.share(FaultKind::delay) == Approx(0.2).margin(0.02));
    std::uint64_t late = 0;
    for (const Sent& sent : run.out) {
        const std::int64_t delay = sent.time_ns - run.in[sent.number()].time_ns;
        REQUIRE(delay >= 0);
        REQUIRE(delay <= 5'000);
        late += static_cast<std::uint64_t>(delay > 0);
    }
    CHECK(late == run.counters.of(FaultKind::delay));
}

TEST_CASE("fault: a truncated frame lacks bytes that its headers promise; a shortened one agrees") {
    const Run cut({"A:truncate=1"}, 500);
    for (const Sent& sent : cut.out) {
        wire::Datagram datagram;
        REQUIRE(parse(sent.bytes, datagram) == wire::DropReason::bad_length);
        REQUIRE(sent.bytes.size() >= frame_header_bytes);
    }
    for (const bool checksum : {true, false}) {
        const Run shorter({"A:shorten=1"}, 500, 1, 0, checksum);
        for (const Sent& sent : shorter.out) {
            wire::Datagram datagram;
            REQUIRE(parse(sent.bytes, datagram) == wire::DropReason::none);
            REQUIRE(datagram.payload.size() < 40);
            REQUIRE(datagram.checksum_present == checksum);
            REQUIRE(wire::udp_checksum_ok(datagram));
        }
    }
    CHECK(cut.counters.of(FaultKind::truncate) == 500);
    CHECK(to_string(cut.counters) == "truncate 500");
    CHECK(Run({"A:truncate=1", "A:shorten=1", "A:flip=1"}, 5).counters.of(FaultKind::flip) == 0);
}

TEST_CASE("fault: flipped bits are in the payload, and the checksum is wrong") {
    for (const char* text : {"A:flip=1", "A:flip=1,2", "A:flip=1,64"}) {
        const Run run({text}, 3'000);
        for (std::size_t i = 0; i < run.out.size(); ++i) {
            const Buffer& before = run.in[i].bytes;
            const Buffer& after = run.out[i].bytes;
            REQUIRE(after.size() == before.size());
            REQUIRE(std::equal(before.begin(), before.begin() + frame_header_bytes, after.begin()));
            REQUIRE(after != before);
            wire::Datagram datagram;
            REQUIRE(parse(after, datagram) == wire::DropReason::none);
            REQUIRE_FALSE(wire::udp_checksum_ok(datagram));
        }
    }
    // Flipped, then shortened: the checksum is made anew, as by a sender of nonsense.
    CHECK(Run({"A:flip=1", "A:shorten=1"}, 5).counters.of(FaultKind::shorten) == 5);
}

TEST_CASE("restart plan: each restart is due once, by time or by the packets of its line") {
    const std::vector<FaultRule> rules{rule_of("*:sender_restart=100,2ms"),
                                       rule_of("*:session_restart=1s"), rule_of("A:loss=0.5"),
                                       rule_of("B:sender_restart=3s,1us")};
    RestartPlan plan(rules, 2, start_ns);
    const auto due = [&](std::int64_t since_start_ns, std::uint64_t a, std::uint64_t b) {
        const std::array<std::uint64_t, 2> packets{a, b};
        std::string text;
        for (const auto& restart : plan.due(start_ns + since_start_ns, packets)) {
            text += std::string(to_string(restart.kind)) + " " +
                    std::string(1, static_cast<char>('A' + restart.line)) + " " +
                    std::to_string(restart.silence_ns) + ";";
        }
        return text;
    };
    CHECK(due(0, 99, 99).empty());
    CHECK(due(1, 100, 99) == "sender_restart A 2000000;");
    CHECK(due(2, 101, 100) == "sender_restart B 2000000;");
    CHECK(due(999'999'999, 200, 200).empty());
    CHECK(due(1'500'000'000, 300, 300) == "session_restart A 0;");
    CHECK_FALSE(plan.empty());
    CHECK(due(3'000'000'000, 400, 400) == "sender_restart B 1000;");
    CHECK(plan.empty());
}
