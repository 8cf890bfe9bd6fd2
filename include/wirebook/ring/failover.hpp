// Failover, hot-hot: two handlers with the same configuration publish the same channels under two
// names; this reader follows both and gives each record once, as long as one of them has it.
//
//     auto attached = FailoverReader::attach({"nasdaq-a", "nasdaq-b"});
//     FailoverReader reader = std::move(attached).value();
//     for (;;) switch (reader.poll(record)) { ... }     // as a Reader that follows
//
// In each channel one handler leads: its records are given, those that the other has and the
// leader has not given yet wait in the other's ring. A record is known by its channel, its session
// and the sequence in its packet's header (feed_sequence). The other takes the lead
//   F1  when a record of it has waited for FailoverOptions::limit, and the leader's ring is empty:
//       the leader hangs, is behind, or never got it. Where the record is of a session that the
//       leader has not come to (a stray packet opens one, too) the leader must besides have
//       published nothing in the channel, or not have beaten, for as long;
//   F2  at once when the leader has closed or died and all of it was read, or has lapped us;
//   F3  at once when the leader gives messages up (its gap event), or goes over to a new session
//       before the other, if the other beats (its heartbeat is younger than the limit) and its
//       channel is no worse than stale: it may have them. The leader's event waits meanwhile, and
//       comes by F1 if the other has nothing. A gap that both have is given once: the one that
//       ends first, from where records were given (which may be inside the last given packet);
//   F4  between packets, when the leader's channel is of worse quality than the other's, and the
//       other beats and has come as far in the same session;
//   F5  when FailoverOptions::session_limit after the stream went over to a new session, and after
//       its first record since then, it still is in the session before: the change was wrong.
//       What it has published meanwhile has waited and is given. (Else it has only been late, and
//       what it still had of the old session is left out.)
// Where the lead goes to a session and not by its event (F5, and F1 or F2 after it) that is told:
// breaks() grows, poll says `lapped`, a session event is made up, and the leader's table comes. So
// while either handler publishes there is no silence for longer than the limits. Which of two
// sessions that both go on is the channel's is not known to us: the older one leads.
// Within a packet of which the old leader gave a part, records are paired one by one: snapshots by
// instrument, events by all that the feed said.
//
// Guaranteed, where both handlers got the channel's messages in the same packets (lines A and B of
// a feed have the same): no record of the feed is given twice; none is lost that one of them had
// read into the ring since we attached; each channel's records are in order. Not guaranteed:
//   * where they got messages in different packets (retransmission), and the lead changes just
//     there, snapshots of those packets may come twice or less often; the book behind is right;
//   * of packets without a sequence (MoldUDP64 sequence 0) only the leader's records are given;
//   * of what comes after a handler has changed the session alone, and back, some may come twice;
//     of handlers that were in different sessions when we attached neither knows it;
//   * quality events are the leader's; where the new leader's quality differs one is made up (its
//     sequence is 0). Stamps, `packet`, `line` and `sequence` are those of the handler that gave
//     the record; its last_of_packet may be missing where the lead changed within the packet;
//   * where both were not good, or the new leader was attached too late to know that nothing is
//     missing, books are made whole from its table: from_table() snapshots come between. In the
//     second case poll says `lapped` first, and breaks() grows.
//
// Instruments have numbers of our own: failover_names.hpp says how the rows are paired. They stay
// as long as this reader lives; `record.instrument` is such a number. Channels are paired by their
// number: the same [[channel]] list in both configurations.
// Includes only the standard library and core. One thread. Allocates when instruments are first
// seen, while records wait, and on attaching.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "wirebook/ring/failover_core.hpp"

namespace wirebook::ring {

struct FailoverOptions {
    std::chrono::microseconds limit{10'000};          // F1, F3
    std::chrono::microseconds session_limit{10'000};  // F5
};

class FailoverReader {
public:
    static constexpr std::size_t sources = 2;
    using Names = std::array<std::string, sources>;

    // Attaches to those that are there, and later to the other. Of `attach` counts: directory,
    // wait (for the first of them), prefault. Errors: as Reader's, where neither can be attached.
    [[nodiscard]] static Result<FailoverReader> attach(const Names& names,
                                                       const AttachOptions& attach = {},
                                                       FailoverOptions options = {}) {
        FailoverReader reader(names, attach, options);
        const auto deadline = std::chrono::steady_clock::now() + attach.wait;
        for (;;) {
            std::optional<Error> error;
            for (std::size_t s = 0; s < sources; ++s) {
                const Status attached = reader.try_attach(s);
                if (attached) continue;
                if (!error || error->code == ENOENT) error = attached.error();
            }
            if (reader.reader(0) != nullptr || reader.reader(1) != nullptr) {
                reader.core_.start();
                return reader;
            }
            const bool may_come = error->code == ENOENT || error->code == ESTALE;
            if (!may_come || std::chrono::steady_clock::now() >= deadline) return *error;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    }

    // As Reader::poll of one that follows. writer_closed, writer_dead: both have gone. reattached:
    // one came back after both had gone; books begin anew. lapped: lost() or breaks() grew.
    [[nodiscard]] Poll poll(Record& out) {
        std::size_t quiet = 0;  // sources in a row that had nothing
        for (int reads = 0; reads < most_reads; ++reads) {
            if (core_.is_due()) {
                const Poll served = core_.serve(out);
                if (served != Poll::empty) return served;
            }
            if (quiet == sources) return idle();
            const std::size_t s = turn_;
            turn_ = 1 - turn_;
            switch (read(s, out)) {
                case Read::given: return Poll::record;
                case Read::lapped: return Poll::lapped;
                case Read::begun: return Poll::reattached;
                case Read::taken: quiet = 0; break;
                case Read::nothing: quiet += 1; break;
            }
        }
        return Poll::empty;
    }

    // Records that the leading ring overwrote before they were read, and the other did not have;
    // where that is not known, all that the ring overwrote. Also what waited for the lead to change
    // and was overwritten before it did.
    [[nodiscard]] std::uint64_t lost() const noexcept { return core_.lost; }
    // How often a handler took the lead that was attached too late to know that nothing is missing,
    // or was in another session (F5).
    [[nodiscard]] std::uint64_t breaks() const noexcept { return core_.breaks; }
    // How often the lead changed, over all channels.
    [[nodiscard]] std::uint64_t switches() const noexcept { return core_.switches; }

    // Which of the two names leads the channel: 0 or 1.
    [[nodiscard]] std::size_t leader(std::uint16_t channel) const noexcept {
        return channel < max_channels ? core_.streams[channel].leader : 0;
    }
    // nullptr: it was never there. Its instruments have other numbers: row().
    [[nodiscard]] const Reader* reader(std::size_t source) const noexcept {
        const auto& reader = core_.sources[source].reader;
        return reader ? &*reader : nullptr;
    }
    // The row of an instrument in that segment. nullopt: it was not seen there.
    [[nodiscard]] std::optional<std::uint32_t> row(std::size_t source,
                                                   std::uint32_t instrument) const noexcept {
        return core_.names.row(source, instrument);
    }
    // The worse of the record's own and its channel's, of the leader, now.
    [[nodiscard]] Quality quality(const Record& record) const noexcept {
        const Reader* const leads = reader(leader(record.channel));
        return leads == nullptr ? Quality::not_ready : leads->quality(record);
    }
    // Instruments that were seen, in our numbers: 0 .. instruments() - 1.
    [[nodiscard]] std::uint32_t instruments() const noexcept { return core_.names.size(); }
    // For Subscription, which takes a FailoverReader as well as a Reader.
    [[nodiscard]] std::uint64_t renames() const noexcept { return core_.names.renames(); }
    [[nodiscard]] std::uint32_t instrument_capacity() const noexcept {
        return std::bit_ceil(std::max<std::uint32_t>(instruments(), 64));
    }
    [[nodiscard]] std::uint64_t epoch() const noexcept { return 1; }  // our numbers never change
    [[nodiscard]] std::optional<Identity> identity(std::uint32_t instrument) const noexcept {
        return core_.names.identity(instrument);
    }
    // The first that was seen of that symbol (and of that channel, where one is given).
    [[nodiscard]] std::optional<std::uint32_t> find(
        std::string_view symbol, std::optional<std::uint16_t> channel = {}) const noexcept {
        for (std::uint32_t i = 0; i < instruments(); ++i) {
            const auto known = identity(i);
            if (known->symbol.view() == symbol && (!channel || known->channel == *channel))
                return i;
        }
        return std::nullopt;
    }

private:
    // What reading of one ring came to. taken: a record that is not given (now).
    enum class Read : std::uint8_t { nothing, taken, given, lapped, begun };
    static constexpr int most_reads = 256;  // of one poll, where none of them is given

    FailoverReader(Names names, AttachOptions attach, FailoverOptions options)
        : names_(std::move(names)), attach_(std::move(attach)), options_(options) {
        attach_.wait = {};
        attach_.follow = true;
        attach_.live_only = true;
        attach_.join_table = false;  // tables are given by channel, when they are needed
        attach_.resume = Resume::newest;
    }
    [[nodiscard]] Status try_attach(std::size_t s) {
        auto attached = Reader::attach(names_[s], attach_);
        if (!attached) return attached.error();
        auto& source = core_.sources[s];
        source.reader.emplace(std::move(attached).value());
        source.begin();
        const TscClock& clock = source.reader->clock();
        core_.limit_ticks = clock.ticks_from_ns(options_.limit.count() * 1000);
        core_.session_limit_ticks = clock.ticks_from_ns(options_.session_limit.count() * 1000);
        look_ticks_ = clock.ticks_from_ns(100'000'000);
        return Ok{};
    }
    [[nodiscard]] Read read(std::size_t s, Record& out) {
        auto& source = core_.sources[s];
        if (!source.reader) return Read::nothing;
        const Poll polled = source.reader->poll(out);
        switch (polled) {
            case Poll::empty: break;
            case Poll::record: return core_.take(s, out) ? Read::given : Read::taken;
            case Poll::lapped: return core_.lapped(s) ? Read::lapped : Read::taken;
            case Poll::reattached: return core_.attached(s) ? Read::begun : Read::taken;
            case Poll::writer_closed:
            case Poll::writer_dead: core_.ended(s, polled); break;
        }
        return Read::nothing;
    }
    // Both rings are empty.
    [[nodiscard]] Poll idle() {
        core_.look_at_limits();
        if (core_.is_due()) return Poll::empty;
        for (std::size_t s = 0; s < sources; ++s) {
            if (core_.sources[s].reader || rdtsc() - looked_tsc_ < look_ticks_) continue;
            looked_tsc_ = rdtsc();
            if (try_attach(s) && core_.attached(s)) return Poll::reattached;
        }
        if (!core_.sources[0].gone || !core_.sources[1].gone) return Poll::empty;
        return core_.sources[0].reader ? core_.sources[0].end : core_.sources[1].end;
    }

    Names names_;
    AttachOptions attach_;
    FailoverOptions options_;
    detail::FailoverCore core_;
    std::size_t turn_ = 0;
    std::uint64_t look_ticks_ = 0, looked_tsc_ = 0;  // for one that was never there
};

}  // namespace wirebook::ring
