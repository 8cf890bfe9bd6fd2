// io: the host's side of IGMP, by the scenarios of RFC 3376 and RFC 2236.
#include "wirebook/io/igmp_host.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "igmp_rig.hpp"

namespace wirebook::io {

using namespace testing;
using wire::testing::query_v1;
using wire::testing::query_v2;
using wire::testing::query_v3;
using wire::testing::report_of_other;
using Records = std::vector<ReadRecord>;
using List = std::vector<std::uint32_t>;

TEST_CASE("igmp host: a join is said at once, and again within the interval, then no more") {
    HostRig rig;
    CHECK(rig.host.next_due_ns() == IgmpHost::never);
    rig.join(group_a);
    rig.run_for(0);
    auto sent = rig.take();
    REQUIRE(sent.size() == 1);
    CHECK(sent[0].frame.destination == 0xE0000016);
    CHECK(records_of(sent) == Records{{to_ex, group_a, {}}});
    rig.run_for(second);
    sent = rig.take();
    CHECK(records_of(sent) == Records{{to_ex, group_a, {}}});
    rig.run_for(1'000 * second);
    CHECK(rig.take().empty());
    CHECK(rig.host.next_due_ns() == IgmpHost::never);
    CHECK(rig.host.counters().reports == 2);
}

TEST_CASE("igmp host: robustness is how many times a change is said") {
    for (unsigned robustness = 1; robustness <= 7; ++robustness) {
        IgmpOptions options = host_options();
        options.robustness = robustness;
        HostRig rig(options);
        rig.join(group_a);
        rig.run_for((robustness - 1) * second);
        CHECK(rig.take().size() == robustness);
        rig.run_for(1'000 * second);
        CHECK(rig.take().empty());
    }
}

TEST_CASE("igmp host: several joins before the first poll are one report") {
    HostRig rig;
    rig.join(group_s, {source_2, source_1, source_2});
    rig.join(group_a);
    rig.join(group_s, {source_1, source_3});
    rig.join(group_a);
    rig.join(group_b, {source_1});
    rig.join(group_b);  // from any source wins
    rig.join(group_b, {source_2});
    rig.run_for(0);
    const auto sent = rig.take();
    REQUIRE(sent.size() == 1);
    CHECK(records_of(sent) == Records{{allow, group_s, {source_1, source_2, source_3}},
                                      {to_ex, group_a, {}},
                                      {to_ex, group_b, {}}});
}

TEST_CASE("igmp host: later joins say what they add") {
    HostRig rig;
    rig.join(group_s, {source_1});
    rig.settle();
    rig.join(group_s, {source_1});
    rig.run_for(second);
    CHECK(rig.take().empty());
    rig.join(group_s, {source_1, source_2});
    rig.run_for(0);
    CHECK(records_of(rig.take()) == Records{{allow, group_s, {source_2}}});
    rig.join(group_s, {source_3});  // the one before is not yet repeated: both are said
    rig.run_for(0);
    CHECK(records_of(rig.take()) == Records{{allow, group_s, {source_2, source_3}}});
    rig.join(group_s);
    rig.run_for(0);
    CHECK(records_of(rig.take()) == Records{{to_ex, group_s, {}}});
}

TEST_CASE("igmp host: what is no group and what is no host is refused; 224.0.0.1 is not reported") {
    HostRig rig;
    CHECK(rig.host.join(0x0A000001).error().context == "10.0.0.1 is no multicast group");
    CHECK_FALSE(rig.host.join(0xF0000001).ok());
    const List no_host{source_1, 0xE0000005};
    CHECK(rig.host.join(group_a, no_host).error().context ==
          "224.0.0.5 cannot be the source of a group");
    CHECK_FALSE(rig.host.join(group_a, List{0}).ok());
    rig.join(0xE0000001);
    rig.hear(query_v3(10));
    rig.run_for(100 * second);
    CHECK(rig.take().empty());
}

TEST_CASE("igmp host: a general query of version 3 is answered by one report in time") {
    std::set<std::int64_t> times;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        HostRig rig(host_options(), seed);
        rig.join(group_a);
        rig.join(group_s, {source_1, source_2});
        rig.settle();
        const std::int64_t asked = rig.now;
        rig.hear(query_v3(20));
        CHECK(rig.take().empty());
        rig.run_for(2 * second);
        const auto sent = rig.take();
        REQUIRE(sent.size() == 1);
        CHECK(sent[0].time_ns > asked);
        CHECK(records_of(sent) ==
              Records{{is_in, group_s, {source_1, source_2}}, {is_ex, group_a, {}}});
        times.insert(sent[0].time_ns - asked);
        rig.run_for(1'000 * second);
        CHECK(rig.take().empty());
    }
    CHECK(times.size() == 200);  // all of them random
    CHECK(*times.begin() < 200 * ms);
    CHECK(*times.rbegin() > 1'800 * ms);
}

TEST_CASE("igmp host: the same seed gives the same delays") {
    const auto answer_time = [](std::uint64_t seed) {
        HostRig rig(host_options(), seed);
        rig.join(group_a);
        rig.settle();
        rig.hear(query_v3(100));
        return rig.host.next_due_ns();
    };
    CHECK(answer_time(5) == answer_time(5));
    CHECK(answer_time(5) != answer_time(6));
}

TEST_CASE("igmp host: a second general query while an answer waits is answered by the same one") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        HostRig rig(host_options(), seed);
        rig.join(group_a);
        rig.settle();
        rig.hear(query_v3(100));
        const std::int64_t first = rig.host.next_due_ns();
        rig.hear(query_v3(10));  // asks for an earlier answer
        CHECK(rig.host.next_due_ns() <= std::min(first, rig.now + second));
        rig.hear(query_v3(255));
        CHECK(rig.host.next_due_ns() <= std::min(first, rig.now + second));
        rig.run_for(5'000 * second);
        CHECK(rig.take().size() == 1);
        CHECK(rig.host.counters().queries == 3);
    }
}

TEST_CASE("igmp host: a group query is answered for that group alone") {
    HostRig rig;
    rig.join(group_a);
    rig.join(group_b);
    rig.join(group_s, {source_1});
    rig.settle();
    rig.hear(query_v3(10, group_b));
    rig.hear(query_v3(10, 0xE0010101));  // not ours
    rig.run_for(second);
    CHECK(records_of(rig.take()) == Records{{is_ex, group_b, {}}});
    rig.hear(query_v3(10, group_s));
    rig.run_for(second);
    CHECK(records_of(rig.take()) == Records{{is_in, group_s, {source_1}}});
}

TEST_CASE("igmp host: a group-and-source query is answered with what we want of the sources") {
    HostRig rig;
    rig.join(group_a);
    rig.join(group_s, {source_1, source_2});
    rig.settle();
    rig.hear(query_v3(10, group_s, {source_3, source_2}));
    rig.hear(query_v3(10, group_a, {source_3, source_1}));
    rig.run_for(second);
    auto records = records_of(rig.take());
    std::sort(records.begin(), records.end(),
              [](const auto& a, const auto& b) { return a.group < b.group; });
    CHECK(records == Records{{is_in, group_s, {source_2}}, {is_in, group_a, {source_1, source_3}}});
    rig.hear(query_v3(10, group_s, {source_3}));
    rig.run_for(100 * second);
    CHECK(rig.take().empty());  // none of them: no answer
}

TEST_CASE("igmp host: group-and-source queries add up while the answer waits") {
    HostRig rig;
    rig.join(group_s, {source_1, source_2, source_3});
    rig.settle();
    rig.hear(query_v3(10, group_s, {source_1}));
    rig.hear(query_v3(10, group_s, {source_3}));
    rig.run_for(second);
    CHECK(records_of(rig.take()) == Records{{is_in, group_s, {source_1, source_3}}});

    rig.hear(query_v3(10, group_s, {source_1}));
    rig.hear(query_v3(10, group_s));  // the whole group: more than the sources
    rig.hear(query_v3(10, group_s, {source_2}));
    rig.run_for(second);
    CHECK(records_of(rig.take()) == Records{{is_in, group_s, {source_1, source_2, source_3}}});
}

TEST_CASE("igmp host: a query of very many sources gets the whole state, and is not kept") {
    HostRig rig;
    rig.join(group_a);
    rig.settle();
    List many;
    for (std::uint32_t i = 0; i <= IgmpHost::most_asked; ++i) many.push_back(source_1 + i);
    rig.hear(query_v3(10, group_a, many));
    rig.run_for(second);
    CHECK(records_of(rig.take()) == Records{{is_ex, group_a, {}}});
    many.pop_back();
    rig.hear(query_v3(10, group_a, many));
    rig.run_for(second);
    CHECK(records_of(rig.take()) == Records{{is_in, group_a, many}});
}

TEST_CASE("igmp host: a flood of queries gets ten answers a second, each in time") {
    for (const bool general : {true, false}) {
        HostRig rig;
        rig.join(group_a);
        rig.settle();
        const std::int64_t start = rig.now;
        std::int64_t last_answer = start;
        for (int i = 0; i < 50'000; ++i) {
            rig.hear(query_v3(i % 2 == 0 ? 0 : 1, general ? 0 : group_a));
            rig.run_for(100'000);
            for (const Sent& one : rig.take()) last_answer = one.time_ns;
            REQUIRE(rig.now - last_answer <= 100 * ms + 100'000);
        }
        CHECK(rig.host.counters().reports <= 2 + 51);
    }
}

TEST_CASE("igmp host: leaving says so twice, answers no query any more, and ends") {
    HostRig rig;
    rig.join(group_a);
    rig.join(group_s, {source_1, source_2});
    rig.settle();
    rig.hear(query_v3(10));
    rig.leave();
    const Records gone{{block, group_s, {source_1, source_2}}, {to_in, group_a, {}}};
    CHECK(records_of(rig.take()) == gone);
    rig.hear(query_v3(255));
    rig.hear(query_v3(255, group_a));
    rig.run_for(second);
    auto again = records_of(rig.take());
    std::sort(again.begin(), again.end(),
              [](const auto& a, const auto& b) { return a.group < b.group; });
    CHECK(again == gone);
    CHECK(rig.host.next_due_ns() == IgmpHost::never);
    CHECK(rig.host.counters().leaves == 4);
    rig.leave();
    CHECK(rig.take().empty());
}

TEST_CASE("igmp host: a group that was never said needs no leave, and can be joined again") {
    HostRig rig;
    rig.join(group_a);
    rig.leave();
    CHECK(rig.take().empty());
    CHECK(rig.host.next_due_ns() == IgmpHost::never);
    rig.join(group_b);
    rig.settle();
    rig.leave();
    rig.join(group_b);
    rig.run_for(0);
    CHECK(records_of(rig.take()) == Records{{to_in, group_b, {}}, {to_ex, group_b, {}}});
    rig.settle();
    rig.join(group_a);
    rig.settle();
    rig.leave();
    rig.join(group_b);
    rig.hear(query_v3(1));  // while the leaves are being repeated
    rig.run_for(second);
    for (const ReadRecord& record : records_of(rig.take())) {
        CHECK((record.group == group_b || record.type == to_in));
    }
    rig.leave();
    rig.join(group_b);
    rig.take();
    rig.leave();  // others may have heard of the group, though this join was never said
    CHECK(records_of(rig.take()) == Records{{to_in, group_b, {}}});
}

TEST_CASE("igmp host: version 2 reports each group on its own, and leaves once") {
    HostRig rig(host_options(IgmpVersion::v2));
    rig.join(group_a);
    rig.join(group_s, {source_1});  // a source cannot be said
    rig.run_for(0);
    auto sent = rig.take();
    REQUIRE(sent.size() == 2);
    CHECK(sent[0].frame.type == type_v2);
    CHECK(sent[0].frame.group == group_s);
    CHECK(sent[0].frame.destination == group_s);
    rig.settle();
    rig.hear(query_v2(100));
    rig.run_for(10 * second);
    sent = rig.take();
    REQUIRE(sent.size() == 2);
    CHECK(sent[0].time_ns != sent[1].time_ns);
    rig.hear(query_v2(10, group_a));
    rig.run_for(second);
    sent = rig.take();
    REQUIRE(sent.size() == 1);
    CHECK(sent[0].frame.group == group_a);
    rig.leave();
    sent = rig.take();
    REQUIRE(sent.size() == 2);
    CHECK(sent[1].frame.type == type_leave);
    CHECK(sent[1].frame.group == group_a);
    CHECK(sent[1].frame.destination == 0xE0000002);
    CHECK(rig.host.next_due_ns() == IgmpHost::never);
    CHECK(rig.host.counters().leaves == 2);
}

TEST_CASE("igmp host: in version 2 another host's report is as good as ours") {
    HostRig rig(host_options(IgmpVersion::v2));
    rig.join(group_a);
    rig.join(group_b);
    rig.settle();
    rig.hear(query_v2(100));
    rig.hear(report_of_other(type_v2, group_a));
    rig.run_for(10 * second);
    const auto sent = rig.take();
    REQUIRE(sent.size() == 1);
    CHECK(sent[0].frame.group == group_b);
    CHECK(rig.host.counters().suppressed == 1);
    CHECK(rig.host.counters().reports_heard == 1);
}

TEST_CASE("igmp host: our first report is said whoever else reports, its repetition is not") {
    HostRig rig(host_options(IgmpVersion::v2));
    rig.join(group_a);
    rig.hear(report_of_other(type_v2, group_a));
    rig.run_for(0);
    CHECK(rig.take().size() == 1);
    rig.hear(report_of_other(type_v2, group_a));
    rig.run_for(100 * second);
    CHECK(rig.take().empty());
}

TEST_CASE("igmp host: in version 3 another host's report changes nothing") {
    HostRig rig;
    rig.join(group_a);
    rig.settle();
    rig.hear(query_v3(10));
    rig.hear(report_of_other(type_v2, group_a));
    rig.run_for(second);
    CHECK(rig.take().size() == 1);
    CHECK(rig.host.counters().suppressed == 0);
}

TEST_CASE("igmp host: in version 2 a timer that runs is set anew only for an earlier answer") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        HostRig rig(host_options(IgmpVersion::v2), seed);
        rig.join(group_a);
        rig.settle();
        rig.hear(query_v2(20));
        const std::int64_t first = rig.host.next_due_ns();
        rig.hear(query_v2(200));
        CHECK(rig.host.next_due_ns() == first);
        rig.hear(query_v2(1));
        CHECK(rig.host.next_due_ns() <= rig.now + 100 * ms);
        rig.run_for(100 * second);
        CHECK(rig.take().size() == 1);
    }
}

TEST_CASE("igmp host: an older querier is spoken to in its version, until it is gone") {
    HostRig rig;
    rig.join(group_a);
    rig.settle();
    rig.hear(query_v3(10, 0, {}, 3, 60));  // robustness 3, interval 60 s
    rig.run_for(second);
    rig.take();
    rig.hear(query_v2(100));
    CHECK(rig.host.version() == 2);
    const std::int64_t gone = rig.now + 3 * 60 * second + 10 * second;
    rig.run_for(10 * second);
    auto sent = rig.take();
    REQUIRE(sent.size() == 1);
    CHECK(sent[0].frame.type == type_v2);
    rig.hear(query_v3(10));  // still version 2: the other may be there
    rig.run_for(second);
    sent = rig.take();
    REQUIRE(sent.size() == 1);
    CHECK(sent[0].frame.type == type_v2);

    rig.run_until(gone - 1);
    rig.hear(query_v3(10));
    CHECK(rig.host.version() == 2);
    rig.run_for(second);  // the answer that waits is said, in version 3 now
    CHECK(records_of(rig.take()) == Records{{is_ex, group_a, {}}});
    CHECK(rig.host.version() == 3);
    rig.hear(query_v3(10));
    rig.run_for(second);
    CHECK(records_of(rig.take()) == Records{{is_ex, group_a, {}}});

    rig.hear(query_v2(10));
    rig.run_for((2 * 125 + 1) * second);  // to the nanosecond
    rig.hear(query_v3(10));
    CHECK(rig.host.version() == 3);
}

TEST_CASE("igmp host: a querier of version 1 gets its reports, and no leave") {
    for (const IgmpVersion version : {IgmpVersion::automatic, IgmpVersion::v2}) {
        HostRig rig(host_options(version));
        rig.join(group_a);
        rig.settle();
        rig.hear(query_v2(10));
        rig.hear(query_v1());
        CHECK(rig.host.version() == 1);
        const std::int64_t asked = rig.now;
        rig.run_for(10 * second);
        const auto sent = rig.take();
        REQUIRE(sent.size() == 1);
        CHECK(sent[0].frame.type == type_v1);
        CHECK(sent[0].frame.destination == group_a);
        const std::int64_t present =
            version == IgmpVersion::v2 ? 400 * second : (2 * 125 + 10) * second;
        rig.run_until(asked + present - 1);
        rig.hear(query_v3(1, group_b));
        CHECK(rig.host.version() == 1);
        rig.run_for(1);
        rig.hear(query_v3(1, group_b));
        CHECK(rig.host.version() == (version == IgmpVersion::v2 ? 2 : 3));
    }
    HostRig rig;
    rig.join(group_a);
    rig.settle();
    rig.hear(query_v1());
    rig.leave();
    CHECK(rig.take().empty());
    CHECK(rig.host.next_due_ns() == IgmpHost::never);
    CHECK(rig.host.counters().leaves == 0);
}

TEST_CASE("igmp host: a change to an older version cancels what waits, but no first report") {
    HostRig rig;
    rig.join(group_a);
    rig.settle();
    rig.join(group_s, {source_1});
    rig.run_for(0);
    rig.take();
    rig.hear(query_v3(100));
    rig.join(group_b);
    rig.hear(query_v2(10, 0xE0010101));  // of a group that is not ours
    rig.run_for(100 * second);
    const auto sent = rig.take();
    REQUIRE(sent.size() == 2);
    for (const Sent& one : sent) {
        CHECK(one.frame.type == type_v2);
        CHECK(one.frame.group == group_b);
    }
}

TEST_CASE("igmp host: a rejoin says all groups again, in the querier's version") {
    HostRig rig;
    rig.join(group_a);
    rig.join(group_s, {source_1, source_2});
    rig.settle();
    rig.host.rejoin();
    rig.run_for(0);
    CHECK(records_of(rig.take()) ==
          Records{{allow, group_s, {source_1, source_2}}, {to_ex, group_a, {}}});
    rig.run_for(second);
    CHECK(records_of(rig.take()).size() == 2);
    rig.hear(query_v2(1));
    rig.run_for(second);
    rig.take();
    rig.host.rejoin();
    rig.run_for(0);
    const auto sent = rig.take();
    REQUIRE(sent.size() == 2);
    CHECK(sent[0].frame.type == type_v2);
}

TEST_CASE("igmp host: forced to version 3, it answers older queriers with version 3") {
    HostRig rig(host_options(IgmpVersion::v3));
    rig.join(group_a);
    rig.settle();
    rig.hear(query_v1());
    rig.run_for(10 * second);
    CHECK(records_of(rig.take()) == Records{{is_ex, group_a, {}}});
    rig.hear(query_v2(10, group_a));
    rig.run_for(second);
    CHECK(records_of(rig.take()) == Records{{is_ex, group_a, {}}});
    CHECK(rig.host.version() == 3);
    CHECK(rig.host.counters().old_queries == 2);
}

TEST_CASE("igmp host: what could not be sent is sent when it can") {
    for (const IgmpVersion version : {IgmpVersion::v2, IgmpVersion::v3}) {
        HostRig rig(host_options(version));
        rig.link = false;
        rig.join(group_a);
        rig.run_for(second);
        CHECK(rig.host.counters().send_failures == 11);
        CHECK(rig.host.counters().reports == 0);
        rig.link = true;
        rig.run_for(100 * ms);
        CHECK(rig.take().size() >= 1);
        rig.run_for(second);
        CHECK(rig.host.counters().reports == 2);
        rig.take();
        rig.link = false;
        rig.leave();
        rig.link = true;
        rig.run_for(100 * ms);
        CHECK(rig.take().size() >= 1);

        rig.settle();
        rig.join(group_b);
        rig.settle();
        rig.link = false;
        rig.host.rejoin();
        rig.run_for(0);
        rig.link = true;
        rig.leave();  // does not wait for the next try
        CHECK(rig.take().size() == 1);
    }
}

TEST_CASE("igmp host: frames of other networks, our own and broken ones are counted, not obeyed") {
    IgmpOptions options = host_options();
    options.sender.vlan = 100;
    HostRig rig(options);
    rig.join(group_a);
    rig.run_for(0);
    CHECK(rig.take()[0].frame.vlan == 100);
    rig.settle();
    rig.hear(query_v3(10));
    rig.hear(wire::testing::tagged(query_v3(10), 7));
    CHECK(rig.host.counters().other_vlan == 2);
    auto broken = wire::testing::tagged(query_v3(10), 100);
    broken.back() ^= std::byte{1};
    rig.hear(broken);
    CHECK(rig.host.counters().malformed == 1);
    auto ours = wire::testing::tagged(query_v3(10), 100);
    for (std::size_t i = 0; i < 6; ++i) ours[6 + i] = std::byte{options.sender.mac[i]};
    rig.hear(ours);
    CHECK_FALSE(rig.host.on_frame(
        wire::testing::ethernet(0x0806, wire::testing::to_buffer("an ARP request")), rig.now));
    rig.run_for(100 * second);
    CHECK(rig.take().empty());
    CHECK(rig.host.counters().queries == 0);
    rig.hear(wire::testing::tagged(query_v3(10), 100));
    rig.run_for(second);
    CHECK(rig.take().size() == 1);
}

TEST_CASE("igmp host: a thousand groups are reported in frames of the MTU") {
    HostRig rig;
    for (std::uint32_t i = 0; i < 1'000; ++i) rig.join(0xEF000000 + i);
    rig.run_for(0);
    const auto sent = rig.take();
    CHECK(sent.size() == 6);  // 183 records each
    CHECK(records_of(sent).size() == 1'000);
}

}  // namespace wirebook::io
