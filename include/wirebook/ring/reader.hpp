// What a strategy includes: follows a segment by name, from another process, read-only.
//
//     auto attached = wirebook::ring::Reader::attach("nasdaq");
//     if (!attached) { std::fputs(attached.error().context.c_str(), stderr); return 1; }
//     wirebook::ring::Reader reader = std::move(attached).value();
//     wirebook::ring::Record record;
//     for (;;) switch (reader.poll(record)) {
//         case Poll::record: ...            // record.bid_price, reader.quality(record), ...
//         case Poll::empty: break;          // nothing new
//         case Poll::lapped: ...            // reader.lost() grew; poll on
//         case Poll::writer_closed: case Poll::writer_dead: (void)reader.reattach();
//         case Poll::reattached: ...        // AttachOptions::follow has done it: look up indices
//     }
//
// First come the newest snapshots of all instruments (record.from_table()), then everything that
// is published from then on, without a hole between. The reader owes the writer nothing: it can
// neither slow nor corrupt it; who falls a whole ring behind learns how many records he lost and
// goes on as Resume says. Header-only: the standard library and Linux, nothing else.
// Threads: a Reader belongs to one thread; any number of Readers may follow one segment.
#pragma once

#include <chrono>
#include <optional>
#include <thread>

#include "wirebook/core/clock.hpp"
#include "wirebook/ring/attach.hpp"
#include "wirebook/ring/position.hpp"

namespace wirebook::ring {

enum class Poll : std::uint8_t {
    empty,          // nothing new; `out` may hold anything
    record,         // `out` is the next record
    lapped,         // the writer overtook us: lost() grew by 1 or more
    writer_closed,  // everything was read, and the writer closed the segment
    writer_dead,    // everything was read, and no process holds the writer's lock
    reattached,     // AttachOptions::follow: the next writer's table comes, with other indices
};
enum class Latest : std::uint8_t {
    ok,
    none,  // the instrument has no snapshot yet
    busy,  // overwritten again and again, or its writer died while writing it
};

class Reader {
public:
    // Errors: ENOENT no such segment; ESTALE its writer has gone; EINVAL not a usable segment
    // (foreign, cut, another ABI or byte order); EACCES ... The text says which file and why.
    [[nodiscard]] static Result<Reader> attach(std::string_view name,
                                               const AttachOptions& options = {}) {
        if (const char* fault = name_fault(name))
            return Error{EINVAL, "segment name '" + std::string(name) + "' " + fault};
        const auto deadline = std::chrono::steady_clock::now() + options.wait;
        for (;;) {
            Result<Mapping> found = detail::find_segment(name, options);
            if (found) return Reader(std::string(name), options, std::move(found).value());
            const bool may_come = found.error().code == ENOENT || found.error().code == ESTALE;
            if (!may_come || std::chrono::steady_clock::now() >= deadline) return found.error();
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    }

    // The same by the file's path, wherever it lies. reattach() looks for the name it has there.
    [[nodiscard]] static Result<Reader> attach_file(const std::string& path,
                                                    AttachOptions options = {}) {
        const SegmentName name = split_segment_path(path);
        options.directory = name.directory;
        Result<Mapping> mapped = map_segment(path, options.prefault);
        if (!mapped) return mapped.error();
        if (options.live_only && !detail::has_live_writer(mapped.value()))
            return detail::writer_gone(mapped.value());
        return Reader(name.name, std::move(options), std::move(mapped).value());
    }

    // Never blocks and makes no system call, except that while idle it asks every 20 ms or so
    // whether the writer lives. `out` may be written whatever is returned.
    // With `follow` it asks as often for the next writer, after it has returned that this one is
    // gone, and maps that one's segment in here. One that cannot be read: reattach() says why.
    [[nodiscard]] Poll poll(Record& out) noexcept {
        if (++polls_ % position_polls == 0) position_.store(cursor_.next(), lost());
        if (table_next_ < table_end_ && next_of_table(out)) return Poll::record;
        switch (cursor_.poll(bytes_of(out), options_.resume == Resume::oldest)) {
            case CursorPoll::record: return Poll::record;
            case CursorPoll::lapped: return after_lap();
            case CursorPoll::empty: break;
        }
        return idle(out);
    }

    // Records that were published after we joined and that poll will never return.
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_before_ + cursor_.lost(); }
    // Records published and not read yet.
    [[nodiscard]] std::uint64_t lag() const noexcept {
        const std::uint64_t published = header().published.load(std::memory_order_relaxed);
        return published > cursor_.next() ? published - cursor_.next() : 0;
    }
    // Skips to now: the table's snapshots come again. What is skipped counts as lost.
    void rejoin() noexcept {
        cursor_.begin_join(true);
        start_table();
    }
    // The table's snapshots come again, then the ring from where we are, but for snapshots that
    // are not newer than the table's: after `lapped`, for who resumes without the table.
    void read_table() noexcept {
        cursor_.join_here();
        start_table();
    }
    // After writer_closed or writer_dead: looks for a successor under the same name. True: attached
    // to it, its table comes first; instruments may have other indices. False: none yet.
    [[nodiscard]] Result<bool> reattach() {
        if (!detail::other_segment(name_, options_, mapping_.file.get())) return false;
        AttachOptions options = options_;
        options.live_only = true;
        Result<Mapping> found = detail::find_segment(name_, options);
        if (!found) {
            const int code = found.error().code;
            if (code == ENOENT || code == ESTALE) return false;
            return found.error();
        }
        if (found.value().header().epoch == epoch()) return false;
        const std::uint64_t lost_so_far = lost();
        Reader next(name_, options_, std::move(found).value());  // may throw: we are as we were
        *this = std::move(next);
        lost_before_ = lost_so_far;
        return true;
    }

    // The newest snapshot of an instrument, whatever poll has reached.
    [[nodiscard]] Latest latest(std::uint32_t instrument, Record& out) const noexcept {
        if (instrument >= instruments()) return Latest::none;
        const Word* const entry = view_.entry(instrument);
        for (int attempt = 0; attempt < attempts; ++attempt) {
            const std::uint64_t version = block_version<HardwareMemory>(entry);
            if (version == 0) return Latest::none;
            if (block_complete(version) && copy_block<HardwareMemory, RecordFormat>(
                                               entry, version, bytes_of(out), view_.slot_words)) {
                out.flags |= record_flag::from_table;
                return Latest::ok;
            }
            pause();
        }
        return Latest::busy;
    }
    // The record of that sequence. False: not published yet, or no longer in the ring.
    [[nodiscard]] bool at(std::uint64_t sequence, Record& out) const noexcept {
        const Word* const slot = view_.slot(sequence);
        const std::uint64_t version = block_version<HardwareMemory>(slot);
        if (version != 2 * sequence + 2) return false;
        const std::size_t words = view_.slot_words;
        return copy_block<HardwareMemory, RecordFormat>(slot, version, bytes_of(out), words);
    }
    // The worse of the record's own and its channel's now. Ask after poll, not before.
    [[nodiscard]] Quality quality(const Record& record) const noexcept {
        return worse(record.quality, channel_quality(record.channel));
    }
    [[nodiscard]] Quality channel_quality(std::uint16_t channel) const noexcept {
        if (channel >= header().channels) return Quality::not_ready;
        const std::uint64_t word = header().quality[channel].load(std::memory_order_relaxed);  // Q2
        constexpr auto worst = static_cast<std::uint64_t>(Quality::not_ready);
        return word < worst ? static_cast<Quality>(word) : Quality::not_ready;
    }

    // How often a row's symbol has changed.
    [[nodiscard]] std::uint64_t renames() const noexcept {
        return header().renames.load(std::memory_order_acquire);
    }
    [[nodiscard]] std::uint32_t instrument_capacity() const noexcept { return capacity_; }
    // Instruments by index, 0 .. instruments() - 1. They are only ever added.
    [[nodiscard]] std::uint32_t instruments() const noexcept {
        const std::uint64_t count = header().instruments.load(std::memory_order_acquire);
        return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, capacity_));
    }
    // nullopt: no such row, or its writer died while writing it.
    [[nodiscard]] std::optional<Identity> identity(std::uint32_t instrument) const noexcept {
        if (instrument >= instruments()) return std::nullopt;
        return read_row<Identity>(rows_[instrument].identity.data());
    }
    [[nodiscard]] std::optional<InstrumentStatus> status(std::uint32_t instrument) const noexcept {
        if (instrument >= instruments()) return std::nullopt;
        return read_row<InstrumentStatus>(rows_[instrument].status.data());
    }
    // What the session has traded, and the last auction messages: for who joins late.
    [[nodiscard]] std::optional<TradeStatistics> statistics(
        std::uint32_t instrument) const noexcept {
        if (instrument >= instruments()) return std::nullopt;
        return read_row<TradeStatistics>(rows_[instrument].statistics.data());
    }
    [[nodiscard]] std::optional<AuctionState> auction(std::uint32_t instrument) const noexcept {
        if (instrument >= instruments()) return std::nullopt;
        return read_row<AuctionState>(rows_[instrument].auction.data());
    }
    [[nodiscard]] Symbol symbol(std::uint32_t instrument) const noexcept {
        const auto row = identity(instrument);
        return row ? row->symbol : Symbol{};
    }
    // The first instrument of that symbol (and of that channel, where one is given).
    [[nodiscard]] std::optional<std::uint32_t> find(
        std::string_view symbol, std::optional<std::uint16_t> channel = {}) const noexcept {
        if (symbol.size() > sizeof(Symbol)) return std::nullopt;
        const Symbol wanted(symbol);
        for (std::uint32_t i = 0; i < instruments(); ++i) {
            const auto row = identity(i);
            if (row && row->symbol == wanted && (!channel || row->channel == *channel)) return i;
        }
        return std::nullopt;
    }

    // A system call. While it is true the writer process exists; heartbeat() says if it moves.
    [[nodiscard]] bool writer_alive() const noexcept { return detail::has_live_writer(mapping_); }
    // TSC at the writer's last sign of life: all that it received earlier is published.
    [[nodiscard]] std::uint64_t heartbeat() const noexcept {
        return header().heartbeat.load(std::memory_order_acquire);
    }
    [[nodiscard]] const SegmentHeader& header() const noexcept { return mapping_.header(); }
    [[nodiscard]] std::uint64_t epoch() const noexcept { return header().epoch; }
    [[nodiscard]] const std::string& path() const noexcept { return mapping_.path; }
    [[nodiscard]] const TscClock& clock() const noexcept { return clock_; }
    // The file that shows others where we are (AttachOptions::show_position); "": none.
    [[nodiscard]] const std::string& position_path() const noexcept { return position_.path(); }

private:
    static constexpr auto running = static_cast<std::uint64_t>(SegmentState::running);
    static constexpr std::uint64_t position_polls = 256;  // a cache line of our own, now and then

    Reader(std::string name, AttachOptions options, Mapping mapping)
        : name_(std::move(name)), options_(std::move(options)), mapping_(std::move(mapping)) {
        const SegmentHeader& h = header();
        capacity_ = h.instrument_capacity;
        rows_ = mapping_.pages.at<const InstrumentRow>(h.instruments_offset);
        view_.slots = mapping_.pages.at<const Word>(h.ring_offset);
        view_.table = mapping_.pages.at<const Word>(h.table_offset);
        view_.published = &h.published;
        view_.slot_count = h.slots;
        view_.slot_words = h.slot_bytes / sizeof(Word);
        clock_ = TscClock{h.ns_per_tick, h.base_tsc, h.base_utc_ns};
        check_ticks_ = clock_.ticks_from_ns(20'000'000);
        shown_.resize(capacity_);
        cursor_ = Cursor<HardwareMemory, RecordFormat>(view_, shown_);
        cursor_.begin_join(false);
        if (options_.join_table) start_table();
        if (options_.show_position)
            position_ = PositionFile(mapping_.path, h.epoch, cursor_.next());
    }

    static std::byte* bytes_of(Record& record) noexcept {
        return static_cast<std::byte*>(static_cast<void*>(&record));
    }
    void start_table() noexcept {
        table_next_ = 0;
        table_end_ = instruments();  // acquire, after the join began: none is missing
    }
    [[nodiscard]] bool next_of_table(Record& out) noexcept {
        while (table_next_ < table_end_) {
            if (!cursor_.read_entry(table_next_++, bytes_of(out))) continue;
            out.flags |= record_flag::from_table;
            return true;
        }
        return false;
    }
    [[nodiscard]] Poll after_lap() noexcept {
        if (options_.resume == Resume::table) read_table();
        return Poll::lapped;
    }
    [[nodiscard]] Poll idle(Record& out) noexcept {
        if (gone_ != Poll::empty && !options_.follow) return gone_;
        idle_polls_ += 1;
        if (idle_polls_ % 64 != 0) return gone_;
        const std::uint64_t now = rdtsc();
        if (now - checked_tsc_ < check_ticks_) return gone_;
        checked_tsc_ = now;
        position_.store(cursor_.next(), lost());
        if (gone_ != Poll::empty) {
            const Result<bool> again = reattach();
            return again && again.value() ? Poll::reattached : gone_;
        }
        if (writer_alive()) return Poll::empty;
        gone_ = header().state.load(std::memory_order_acquire) == running ? Poll::writer_dead
                                                                          : Poll::writer_closed;
        return poll(out);  // what it published between our poll and its end comes first
    }

    std::string name_;
    AttachOptions options_;
    Mapping mapping_;
    std::vector<std::uint64_t> shown_;  // cursor_ points into its heap block, which moves along
    RingView<const Word> view_;
    Cursor<HardwareMemory, RecordFormat> cursor_;
    const InstrumentRow* rows_ = nullptr;
    TscClock clock_;
    std::uint32_t capacity_ = 0;
    std::uint32_t table_next_ = 0, table_end_ = 0;
    std::uint64_t lost_before_ = 0;  // with the writers before this one
    std::uint64_t check_ticks_ = 0, checked_tsc_ = 0, idle_polls_ = 0;
    Poll gone_ = Poll::empty;
    std::uint64_t polls_ = 0;
    PositionFile position_;
};

}  // namespace wirebook::ring
