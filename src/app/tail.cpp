#include "wirebook/app/tail.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "wirebook/app/loop.hpp"
#include "wirebook/app/record_text.hpp"
#include "wirebook/app/setup.hpp"
#include "wirebook/core/histogram.hpp"
#include "wirebook/ring/reader.hpp"

namespace wirebook::app {

namespace {

class Tail {
public:
    Tail(const TailOptions& options, ring::Reader reader)
        : options_(options), reader_(std::move(reader)) {}

    void run() {
        ring::Record record;
        unsigned idle = 0;
        while (!stop_requested.load(std::memory_order_relaxed) && !done_) {
            const ring::Poll polled = reader_.poll(record);
            idle = polled == ring::Poll::empty ? idle + 1 : 0;
            switch (polled) {
                case ring::Poll::record: take(record, rdtsc()); break;
                case ring::Poll::empty: wait(idle); break;
                case ring::Poll::lapped:
                    fmt::print(stderr, "wirebook: fell behind, {} records lost so far\n",
                               reader_.lost());
                    break;
                case ring::Poll::writer_closed:
                case ring::Poll::writer_dead: next_writer(); break;
                case ring::Poll::reattached: break;  // of AttachOptions::follow
            }
        }
        flush();
        finish();
    }

    // The newest snapshot of every instrument, in the order of the table.
    void print_present() {
        if (!reader_.writer_alive())
            fmt::print(stderr, "wirebook: {}: the writer has gone, these are its last books\n",
                       reader_.path());
        ring::Record record;
        std::uint64_t rows = 0;
        text_ = options_.json ? "[" : "";
        const std::uint32_t instruments = reader_.instruments();
        for (std::uint32_t i = 0; i < instruments && rows != options_.count; ++i) {
            const ring::Identity identity = reader_.identity(i).value_or(ring::Identity{});
            if (!wanted(identity) || reader_.latest(i, record) != ring::Latest::ok) continue;
            if (options_.json) text_ += rows == 0 ? "\n" : ",\n";
            const Standing standing{reader_.statistics(i).value_or(ring::TradeStatistics{}),
                                    reader_.auction(i).value_or(ring::AuctionState{})};
            append(record, identity, &standing);
            if (!options_.json) text_ += "\n";
            rows += 1;
        }
        if (options_.json) text_ += "\n]\n";
        flush();
    }

private:
    [[nodiscard]] bool wanted(const ring::Identity& identity) const {
        const auto is_symbol = [&](const std::string& s) { return identity.symbol.view() == s; };
        return options_.symbols.empty() ||
               std::any_of(options_.symbols.begin(), options_.symbols.end(), is_symbol);
    }
    void append(const ring::Record& record, const ring::Identity& identity,
                const Standing* standing = nullptr) {
        const ShownRecord shown{record, identity, reader_.quality(record), standing};
        if (options_.json)
            append_record_json(text_, shown);
        else
            append_record_line(text_, shown);
    }
    void take(const ring::Record& record, std::uint64_t read_tsc) {
        if (record.receive_tsc != 0 && !record.from_table()) {
            published_.record(reader_.clock().ns_from_ticks(record.published_delta));
            if (read_tsc > record.receive_tsc)
                read_.record(reader_.clock().ns_from_ticks(read_tsc - record.receive_tsc));
        }
        if (record.kind != ring::RecordKind::snapshot && !options_.events) return;
        const bool whole_channel = record.instrument == ring::no_instrument;
        const ring::Identity identity =
            reader_.identity(record.instrument).value_or(ring::Identity{});
        if (!whole_channel && !wanted(identity)) return;
        append(record, identity);
        text_ += "\n";
        shown_ += 1;
        done_ = options_.count && shown_ >= *options_.count;
        if (text_.size() > flush_bytes) flush();
    }
    // Latency is measured by a reader that never sleeps; others leave the core to somebody else.
    void wait(unsigned idle) {
        if (idle == 1) flush();
        if (options_.latency || idle < 1000)
            pause();
        else
            std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
    void next_writer() {
        flush();
        fmt::print(stderr, "wirebook: the writer of {} has gone; waiting for the next one\n",
                   reader_.path());
        while (!stop_requested.load(std::memory_order_relaxed)) {
            const auto again = reader_.reattach();
            if (!again) {
                fmt::print(stderr, "wirebook: {}\n", again.error().context);
                done_ = true;
                return;
            }
            if (again.value()) return;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    }
    void flush() {
        const bool written = std::fwrite(text_.data(), 1, text_.size(), stdout) == text_.size() &&
                             std::fflush(stdout) == 0;
        if (!written) done_ = true;  // whoever read us has gone
        text_.clear();
    }
    void finish() const {
        fmt::print(stderr, "wirebook: {} records shown, {} lost\n", shown_, reader_.lost());
        if (!options_.latency) return;
        const auto line = [](const char* what, const Histogram& h) {
            fmt::print(stderr, "wirebook: packet to {:<9} p50 {} ns, p99 {} ns, p99.9 {} ns\n",
                       what, h.percentile(50), h.percentile(99), h.percentile(99.9));
        };
        if (read_.count() == 0) return fmt::print(stderr, "wirebook: no record was stamped\n");
        line("published", published_);
        line("read", read_);
    }

    static constexpr std::size_t flush_bytes = 16'384;

    const TailOptions& options_;
    ring::Reader reader_;
    std::string text_;
    std::uint64_t shown_ = 0;
    bool done_ = false;
    Histogram published_, read_;
};

}  // namespace

int fail_to_attach(const Error& error) {
    std::string text = error.context;
    if (error.code == ENOENT) text += "; is `wirebook replay --publish` or `wirebook run` running?";
    if (error.code == ESTALE) text += "; --once shows the books that it left";
    if (error.code == EACCES) text += "; its owner sets publish.group and publish.permissions";
    return fail(error.code == EACCES ? exit_host : exit_usage, text);
}

int run_tail(const TailOptions& options) {
    ring::AttachOptions attach;
    attach.directory = options.directory;
    attach.live_only = !options.once;
    attach.show_position = !options.once;
    auto reader = ring::Reader::attach(options.name, attach);
    if (!reader) return fail_to_attach(reader.error());
    catch_stop_signals();
    Tail tail(options, std::move(reader).value());
    if (options.once)
        tail.print_present();
    else
        tail.run();
    return exit_done;
}

}  // namespace wirebook::app
