// One channel of the failover reader: who leads, and up to where records were given. Part of
// failover.hpp. Includes only the standard library and core. One thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "wirebook/ring/failover_source.hpp"

namespace wirebook::ring::detail {

// What tells a record of a packet from the others of it, whichever handler made it: of a snapshot
// its instrument, of an event all that the feed said. `instrument` in the common numbering.
[[nodiscard]] inline std::uint64_t fingerprint(const Record& record,
                                               std::uint32_t instrument) noexcept {
    HeadWords head{};
    std::memcpy(&head, &record, sizeof(head));
    std::uint64_t hash = instrument * 256ULL + static_cast<std::uint64_t>(record.kind);
    const auto mix = [&](std::uint64_t word) {
        hash = (hash ^ word) * 0x9E37'79B9'7F4A'7C15;
        hash ^= hash >> 29U;
    };
    mix(0);
    if (record.kind == RecordKind::snapshot) return hash;
    mix(static_cast<std::uint64_t>(record.exchange_time_ns));
    for (const std::uint64_t word : head.first) mix(word);
    for (const std::uint64_t word : head.second) mix(word);
    return hash;
}

struct FailoverSession {
    std::array<char, 16> id{};  // zeros where it was not read
    std::uint64_t reached = 0;  // when the stream left it: messages before it were given
};

struct FailoverStream {
    std::size_t leader = 0;
    StreamPlace next;     // messages before it were given, or are known to be lost
    bool open = false;    // of the packet at `next` some records were given, more may follow
    bool follows = true;  // the leader's records come without a filter: they are new, as its own
    bool told_once = false;
    Quality told = Quality::not_ready;  // of the channel: what the last quality event said
    std::vector<std::uint64_t> given;   // fingerprints of what was given of the open packet
    std::vector<FailoverSession> sessions{FailoverSession{}};  // by number
    std::uint64_t entered_tsc = 0;  // the stream is in the session of `next` since then

    [[nodiscard]] bool was_given(StreamPlace place) const noexcept {
        if (place.session >= next.session) return place < next;
        return place.sequence < sessions[place.session].reached;
    }

    // The number of the session that a source's event names.
    [[nodiscard]] std::uint32_t session_number(const FailoverSource::Channel& channel,
                                               const std::array<char, 16>& id) {
        // One that runs goes on: an id that comes again is another session.
        const std::size_t first = channel.seen ? channel.session : 0;
        for (std::size_t i = sessions.size(); i > first; --i)
            if (sessions[i - 1].id == id) return static_cast<std::uint32_t>(i - 1);
        // A handler that starts names the session that is on; else a new one begins.
        if (!channel.seen && sessions[channel.session].id == std::array<char, 16>{}) {
            sessions[channel.session].id = id;
            return channel.session;
        }
        sessions.push_back({id, 0});
        return static_cast<std::uint32_t>(sessions.size() - 1);
    }
    // The stream goes on in that session, from where it was left.
    void enter(std::uint32_t session) {
        std::uint64_t& reached = sessions[next.session].reached;
        reached = std::max(reached, next.sequence);
        next = {session, sessions[session].reached};
        open = false;
        given.clear();
        entered_tsc = rdtsc();
    }
    // The leader's record at `place` is looked at. False: another leader had given it.
    [[nodiscard]] bool is_new(const Record& record, StreamPlace place, std::uint32_t instrument) {
        if (!follows) {
            if (was_given(place)) return false;
            if (!open || place != next) {
                follows = true;
            } else if (take_from_given(record, instrument)) {
                if (record.last_of_packet()) end_packet(place);
                return false;
            }
        }
        advance(record, place, instrument);
        return true;
    }
    void end_packet(StreamPlace place) noexcept {
        open = false;
        given.clear();
        next = std::max(next, StreamPlace{place.session, place.sequence + 1});
    }
    // All before `place` was given.
    void reach(StreamPlace place) noexcept {
        if (place <= next) return;
        open = false;
        given.clear();
        next = place;
    }

private:
    void advance(const Record& record, StreamPlace place, std::uint32_t instrument) {
        if (record.last_of_packet()) return end_packet(place);
        if (!open || place != next) given.clear();
        open = true;
        next = std::max(next, place);
        given.push_back(fingerprint(record, instrument));
    }
    [[nodiscard]] bool take_from_given(const Record& record, std::uint32_t instrument) noexcept {
        const auto found = std::find(given.begin(), given.end(), fingerprint(record, instrument));
        if (found == given.end()) return false;
        *found = given.back();
        given.pop_back();
        return true;
    }
};

}  // namespace wirebook::ring::detail
