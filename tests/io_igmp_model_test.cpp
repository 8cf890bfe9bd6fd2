// io: the IGMP host against a plain model of who must have been told what by when. The model knows
// nothing of timers: it has a list of what was asked, each with its latest time.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "igmp_rig.hpp"

namespace wirebook::io {

using namespace testing;

namespace {

using Sources = std::set<std::uint32_t>;

struct Wanted {
    bool any_source = false;
    Sources sources;
    unsigned may_repeat = 0;  // reports that no query asked for
    unsigned must_repeat = 0;
    std::int64_t repeat_by_ns = 0;
};

struct Asked {
    std::uint32_t group = 0;
    bool whole = true;
    Sources sources;  // still to be told, where not whole
    std::int64_t from_ns = 0;
    std::int64_t by_ns = 0;
};

class Model {
public:
    Model(const IgmpOptions& options, std::int64_t now_ns)
        : options_(options), now_ns_(now_ns), robustness_(options.robustness) {}

    // False: nothing new.
    bool join(std::uint32_t group, const std::vector<std::uint32_t>& sources) {
        Wanted& wanted = wanted_[group];
        if (wanted.any_source) return false;
        const std::size_t before = wanted.sources.size();
        wanted.sources.insert(sources.begin(), sources.end());
        wanted.any_source = sources.empty();
        if (!wanted.any_source && wanted.sources.size() == before) return false;
        wanted.may_repeat = wanted.must_repeat = options_.robustness;
        wanted.repeat_by_ns = now_ns_;
        return true;
    }

    struct Query {
        unsigned version = 3;
        std::uint32_t group = 0;
        std::vector<std::uint32_t> sources;
        std::int64_t longest_ns = 0;
    };

    void query(const Query& query) {
        const unsigned before = version();
        if (query.version == 3) robustness_ = 2;  // as query_v3() says
        if (options_.version != IgmpVersion::v3 && query.version < 3) {
            std::int64_t present = robustness_ * 125 * second + query.longest_ns;
            if (options_.version == IgmpVersion::v2) present = 400 * second;
            auto& until = query.version == 1 ? v1_until_ns_ : v2_until_ns_;
            until = std::max(until, now_ns_ + present);
        }
        if (version() < before) forget();
        const std::int64_t by_ns = now_ns_ + std::max(query.longest_ns, 100 * ms);
        // The answer to a general query has the groups that were joined meanwhile, too.
        if (query.group == 0) windows_.push_back({0, true, {}, now_ns_, by_ns});
        for (auto& [group, wanted] : wanted_) {
            if (query.group != 0 && query.group != group) continue;
            Asked asked{group, true, {}, now_ns_, by_ns};
            if (version() == 3 && !query.sources.empty()) {
                asked.whole = false;
                for (const std::uint32_t source : query.sources) {
                    if (wanted.any_source || wanted.sources.count(source) != 0) {
                        asked.sources.insert(source);
                    }
                }
                if (asked.sources.empty()) continue;
            }
            asked_.push_back(asked);
            windows_.push_back(asked);
        }
    }

    void other_report(std::uint32_t group) {
        if (version() == 3) return;
        std::erase_if(asked_, [&](const Asked& asked) { return asked.group == group; });
        if (wanted_.count(group) != 0) wanted_[group].must_repeat = 0;
    }

    // What the host sent, at its time: nothing that was not asked for, in the right version.
    void sent(const Sent& one) {
        now_ns_ = one.time_ns;
        const unsigned type = one.frame.type;
        CHECK(type == (version() == 3 ? type_v3 : version() == 2 ? type_v2 : type_v1));
        if (type != type_v3) {
            REQUIRE(wanted_.count(one.frame.group) == 1);
            Wanted& wanted = wanted_[one.frame.group];
            wanted.must_repeat = 0;  // which report repeats cannot be told in version 2
            if (!was_asked(one.frame.group)) use_up(wanted);
            told(one.frame.group, nullptr);
        }
        for (const ReadRecord& record : one.frame.records) sent_record(record);
    }

    // All that should have been told by now was.
    void check_until(std::int64_t now_ns) {
        now_ns_ = now_ns;
        for (const Asked& asked : asked_) REQUIRE(asked.by_ns > now_ns);
        for (auto& [group, wanted] : wanted_) {
            if (version() != 3) wanted.must_repeat = 0;
            REQUIRE((wanted.must_repeat == 0 || wanted.repeat_by_ns > now_ns));
        }
        std::erase_if(windows_, [&](const Asked& asked) { return asked.by_ns < now_ns; });
    }

    [[nodiscard]] unsigned version() const {
        if (options_.version == IgmpVersion::v3) return 3;
        if (now_ns_ < v1_until_ns_) return 1;
        return options_.version == IgmpVersion::v2 || now_ns_ < v2_until_ns_ ? 2 : 3;
    }

private:
    void forget() {
        asked_.clear();
        for (auto& [group, wanted] : wanted_) wanted.must_repeat = 0;
    }

    bool was_asked(std::uint32_t group) const {
        return std::any_of(windows_.begin(), windows_.end(), [&](const Asked& asked) {
            return (asked.group == 0 || asked.group == group) && asked.from_ns < now_ns_ &&
                   now_ns_ <= asked.by_ns;
        });
    }

    static void use_up(Wanted& wanted) {
        REQUIRE(wanted.may_repeat > 0);
        --wanted.may_repeat;
    }

    void sent_record(const ReadRecord& record) {
        REQUIRE(wanted_.count(record.group) == 1);
        Wanted& wanted = wanted_[record.group];
        const Sources sources(record.sources.begin(), record.sources.end());
        if (record.type == to_ex || record.type == allow) {
            CHECK(wanted.any_source == (record.type == to_ex));
            CHECK(sources.empty() == wanted.any_source);
            use_up(wanted);
            if (wanted.must_repeat != 0) --wanted.must_repeat;
            wanted.repeat_by_ns = now_ns_ + options_.unsolicited_report_interval_ns;
            return;
        }
        CHECK(was_asked(record.group));
        if (record.type == is_ex) {
            CHECK(wanted.any_source);
            CHECK(sources.empty());
            return told(record.group, nullptr);
        }
        REQUIRE(record.type == is_in);
        REQUIRE(!sources.empty());
        if (wanted.any_source) return told(record.group, &sources);
        for (const std::uint32_t source : sources) CHECK(wanted.sources.count(source) == 1);
        told(record.group, sources == wanted.sources ? nullptr : &sources);
    }

    // Of these sources; null: all there is.
    void told(std::uint32_t group, const Sources* sources) {
        for (Asked& asked : asked_) {
            if (asked.group != group || asked.from_ns >= now_ns_) continue;
            if (sources == nullptr) asked.by_ns = -1;
            if (asked.whole || sources == nullptr) continue;
            for (const std::uint32_t source : *sources) asked.sources.erase(source);
            if (asked.sources.empty()) asked.by_ns = -1;
        }
        std::erase_if(asked_, [](const Asked& asked) { return asked.by_ns == -1; });
    }

    IgmpOptions options_;
    std::int64_t now_ns_;
    std::int64_t robustness_;  // the querier's
    std::map<std::uint32_t, Wanted> wanted_;
    std::vector<Asked> asked_;    // not yet answered
    std::vector<Asked> windows_;  // in which an answer may come, also a second one
    std::int64_t v1_until_ns_ = 0;
    std::int64_t v2_until_ns_ = 0;
};

class Game {
public:
    Game(const IgmpOptions& options, std::uint64_t seed)
        : rig_(options, seed), model_(options, rig_.now), random_(seed) {}

    void step() {
        const std::uint64_t what = random_() % 100;
        if (what < 5) return join();
        if (what < 35) return query_v3();
        if (what < 42) return query_old();
        if (what < 50) return other_report();
        if (what < 51) return run_for(400 * second);
        // Mostly short, so that queries meet answers that wait.
        run_for(static_cast<std::int64_t>(random_() %
                                          static_cast<std::uint64_t>(1 + (1L << random_() % 34))));
    }
    void end() { run_for(5'000 * second); }

private:
    std::uint32_t some_group() { return group_a + static_cast<std::uint32_t>(random_() % 6); }
    std::vector<std::uint32_t> some_sources() {
        std::vector<std::uint32_t> out;
        for (std::uint64_t left = random_() % 4; left != 0; --left) {
            out.push_back(source_1 + static_cast<std::uint32_t>(random_() % 5));
        }
        return out;
    }

    void run_for(std::int64_t ns) {
        rig_.run_for(ns);
        for (const Sent& one : rig_.take()) model_.sent(one);
        model_.check_until(rig_.now);
    }

    void join() {
        const std::uint32_t group = some_group();
        const auto sources = random_() % 4 == 0 ? std::vector<std::uint32_t>{} : some_sources();
        model_.join(group, sources);
        rig_.join(group, sources);
        run_for(0);
    }

    void query_v3() {
        Model::Query query;
        if (random_() % 2 == 0) query.group = some_group();
        if (query.group != 0 && random_() % 2 == 0) query.sources = some_sources();
        const auto code = static_cast<unsigned char>(random_() % (random_() % 8 == 0 ? 256 : 128));
        query.longest_ns = wire::igmp::decode_time(code) * 100 * ms;
        rig_.hear(wire::testing::query_v3(code, query.group, query.sources));
        model_.query(query);
    }

    void query_old() {
        Model::Query query;
        if (random_() % 4 == 0) {
            query.version = 1;
            query.longest_ns = 10 * second;
            rig_.hear(wire::testing::query_v1());
        } else {
            query.version = 2;
            if (random_() % 2 == 0) query.group = some_group();
            const auto code = static_cast<unsigned char>(1 + random_() % 255);
            query.longest_ns = code * 100 * ms;
            rig_.hear(wire::testing::query_v2(code, query.group));
        }
        model_.query(query);
    }

    void other_report() {
        const std::uint32_t group = some_group();
        rig_.hear(wire::testing::report_of_other(random_() % 4 == 0 ? 0x12 : 0x16, group));
        model_.other_report(group);
    }

    HostRig rig_;
    Model model_;
    std::mt19937_64 random_;
};

std::uint64_t start_seed() {
    const char* text = std::getenv("WIREBOOK_SEED");  // NOLINT(concurrency-mt-unsafe)
    return text == nullptr ? 2'236 : std::strtoull(text, nullptr, 10);
}

}  // namespace

TEST_CASE("igmp host: whatever happens, each query is answered in time, and nothing else is said") {
    for (const IgmpVersion version : {IgmpVersion::automatic, IgmpVersion::v2, IgmpVersion::v3}) {
        for (std::uint64_t round = 0; round < 20; ++round) {
            const std::uint64_t seed = start_seed() + round;
            INFO("WIREBOOK_SEED=" << seed << " version " << static_cast<int>(version));
            IgmpOptions options = host_options(version);
            options.robustness = 1 + static_cast<unsigned>(round % 3);
            Game game(options, seed);
            for (int step = 0; step < 1'000; ++step) game.step();
            game.end();
        }
    }
}

TEST_CASE("igmp host: frames with any bytes changed are no harm") {
    const std::uint64_t seed = start_seed();
    INFO("WIREBOOK_SEED=" << seed);
    std::mt19937_64 random{seed};
    HostRig rig;
    for (std::uint32_t i = 0; i < 20; ++i) rig.join(group_a + i);
    rig.join(group_s, {source_1, source_2});
    const std::vector<wire::testing::Buffer> frames{
        wire::testing::query_v1(), wire::testing::query_v2(100, group_a),
        wire::testing::query_v3(100, group_s, {source_1, source_3}),
        wire::testing::report_of_other(0x16, group_a)};
    for (int round = 0; round < 20'000; ++round) {
        auto mutant = frames[random() % frames.size()];
        for (std::uint64_t left = random() % 4; left != 0; --left) {
            mutant[14 + random() % (mutant.size() - 14)] = static_cast<std::byte>(random());
        }
        std::span<std::byte> ip = std::span(mutant).subspan(14);
        if (random() % 2 == 0) wire::testing::set_checksum(ip.first(24), 10);
        if (random() % 2 == 0) wire::testing::set_checksum(ip.subspan(24), 2);
        rig.host.on_frame(mutant, rig.now);
        rig.run_for(static_cast<std::int64_t>(random() % 1'000'000'000));
        rig.take();
    }
    CHECK(rig.host.counters().malformed > 1'000);
    CHECK(rig.host.counters().queries > 1'000);
    rig.leave();
    rig.run_for(10 * second);
    CHECK(rig.host.next_due_ns() == IgmpHost::never);
}

}  // namespace wirebook::io
