// The host's side of IGMP on one port that no kernel has: which groups it wants is said when it
// starts, when a router or switch asks, and when it ends. RFC 3376, section 5; RFC 2236 and
// RFC 1112 where the router speaks an older version (RFC 3376, 7.2.1).
//
// It has no socket, no thread and no clock. Whoever has the port hands in the frames that are not
// UDP and the time, and sends what it is given:
//     if (now >= host.next_due_ns()) host.poll(now, send);
//
// Reports of a join come at the first poll, and again until they were sent `robustness` times.
// Answers come after a random delay within the time that the query allows, so that not all hosts
// of a network speak at once; the delays follow from the seed and the calls alone.
//
// Where the RFCs leave a choice, or this differs from them:
// * Several joins of one group become one: from any source (EXCLUDE {}) if one of them names no
//   sources, else from all the sources named (INCLUDE). Versions 1 and 2 cannot say sources.
// * A change to an older version cancels what waits to be said, but not what was never said yet.
//   A change back to a newer one, which only time brings, cancels nothing: it would leave a query
//   unanswered.
// * A leave is always said in version 2, not only by the last host that reported.
// * A flood of queries gets at most ten answers a second for a group, without any being late: no
//   query allows less than 0.1 s (one that allows nothing is taken for 0.1 s).
// * A group-and-source query that names more than most_asked sources gets the whole state of the
//   group as its answer, so that what a query makes us keep is bounded.
// * What could not be sent is tried again 0.1 s later.
// * Frames of another VLAN than `vlan` are not looked at; the receiver must leave the tag in.
// Depends on core and wire. One thread; cold: it allocates.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "wirebook/core/random.hpp"
#include "wirebook/core/result.hpp"
#include "wirebook/wire/igmp.hpp"

namespace wirebook::io {

enum class IgmpVersion : std::uint8_t {
    automatic,  // 3, and older while an older querier is there
    v2,         // 2, and 1 while a querier of version 1 is there
    v3,         // 3, whoever asks
};

struct IgmpOptions {
    wire::igmp::Sender sender;
    IgmpVersion version = IgmpVersion::automatic;
    unsigned robustness = 2;  // 1 to 7: how many times a change is said
    // A change is said again after a random time up to this. RFC 2236 has 10 s, RFC 3376 1 s.
    std::int64_t unsolicited_report_interval_ns = 1'000'000'000;
};

struct IgmpCounters {
    std::uint64_t queries = 0;        // heard, of any version
    std::uint64_t old_queries = 0;    // of them, of version 1 and 2
    std::uint64_t reports_heard = 0;  // of other hosts
    std::uint64_t suppressed = 0;     // answers not sent because another host gave them
    std::uint64_t reports = 0;        // frames sent; of version 3 those that leave, too
    std::uint64_t leaves = 0;         // groups left, each time it was said
    std::uint64_t send_failures = 0;  // frames that could not be sent, each try
    std::uint64_t malformed = 0;      // frames heard
    std::uint64_t other_vlan = 0;     // frames heard
};

class IgmpHost {
public:
    // Sends the frame, which is good during the call; false: it could not.
    using Send = std::function<bool(wire::Bytes frame)>;

    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
    static constexpr std::size_t most_asked = 64;

    // CHECKs the options.
    IgmpHost(const IgmpOptions& options, std::uint64_t seed);

    // Addresses as numbers: 233.54.12.111 is 0xE9360C6F. No sources: from any. An error where
    // `group` is no group or one of the sources is no host. 224.0.0.1 is never reported.
    [[nodiscard]] Status join(std::uint32_t group, std::span<const std::uint32_t> sources = {});

    // Says all groups again as if they had just been joined: the link was down, and whoever is at
    // its other end now may never have heard of them.
    void rejoin();

    // A received Ethernet frame. False: it is not IGMP, and nothing was done. Times are of any
    // clock that does not go back.
    bool on_frame(wire::Bytes frame, std::int64_t now_ns);

    // When poll() has something to say; the past: at once; `never` where nothing waits.
    [[nodiscard]] std::int64_t next_due_ns() const noexcept { return next_due_ns_; }
    void poll(std::int64_t now_ns, const Send& send);

    // Leaves every group, and says so. The state is gone at once; repetitions of version 3 follow
    // by poll() until next_due_ns() is `never`, if there is still time for them.
    void leave_all(std::int64_t now_ns, const Send& send);

    // What reports are made of now: 1, 2 or 3.
    [[nodiscard]] unsigned version() const noexcept { return version_; }
    [[nodiscard]] const IgmpCounters& counters() const noexcept { return counters_; }

private:
    using Sources = std::vector<std::uint32_t>;  // sorted, each once

    struct Group {
        bool any_source = false;  // EXCLUDE {}; else INCLUDE `sources`
        bool left = false;        // there is only a change left to say
        bool reported = false;    // was said at least once: a leave is called for
        Sources sources;

        // A change of state (RFC 3376, 5.1).
        wire::igmp::RecordType change = wire::igmp::RecordType::allow_new_sources;
        Sources changed;
        unsigned changes_left = 0;  // how many times it is to be said still
        std::int64_t change_due_ns = never;

        // The answer to a query (5.2).
        std::int64_t answer_due_ns = never;
        Sources asked;                              // none: the whole state
        std::int64_t next_answer_ns = immediately;  // not before
    };
    using Groups = std::map<std::uint32_t, Group>;

    // A record whose sources are its own.
    struct Said {
        wire::igmp::RecordType type;
        std::uint32_t group;
        Sources sources;
    };

    static constexpr std::int64_t immediately = std::numeric_limits<std::int64_t>::min();

    void announce(Group& group, wire::igmp::RecordType change, Sources sources);
    void on_query(const wire::igmp::Heard& query, std::int64_t now_ns);
    void on_group_query(Group& group, const wire::igmp::Heard& query, std::int64_t due_ns);
    void on_old_query(Group& group, std::int64_t longest_ns, std::int64_t now_ns);
    void on_report(const wire::igmp::Heard& report);
    void note_querier(const wire::igmp::Heard& query, std::int64_t now_ns);
    void update_version(std::int64_t now_ns);
    void cancel_pending();
    void cancel_repetitions(Group& group) const noexcept;

    [[nodiscard]] bool say(std::int64_t now_ns, const Send& send);
    [[nodiscard]] bool say_old(Groups::value_type& entry, std::int64_t now_ns, const Send& send);
    void collect(std::int64_t now_ns);
    void done_saying(Group& group, bool all, std::int64_t now_ns);
    [[nodiscard]] bool sent(wire::Bytes frame, const Send& send);
    [[nodiscard]] std::int64_t random_delay(std::int64_t longest_ns);
    [[nodiscard]] bool wants_any() const noexcept;
    void find_next_due();

    IgmpOptions options_;
    wire::igmp::Encoder encoder_;
    Random random_;
    Groups groups_;
    std::vector<Said> said_;
    IgmpCounters counters_;

    std::int64_t general_due_ns_ = never;  // of the answer to a general query of version 3
    std::int64_t next_general_ns_ = immediately;
    std::int64_t retry_ns_ = immediately;  // nothing is said before: the last try failed
    std::int64_t next_due_ns_ = never;

    unsigned version_;
    std::int64_t v1_until_ns_ = immediately;  // querier present timers (RFC 3376, 7.2.1)
    std::int64_t v2_until_ns_ = immediately;
    std::int64_t query_interval_ns_;  // of the querier, as it said
    unsigned querier_robustness_;
};

}  // namespace wirebook::io
