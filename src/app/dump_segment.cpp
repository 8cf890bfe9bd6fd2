#include "wirebook/app/dump_segment.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <thread>

#include "wirebook/app/loop.hpp"
#include "wirebook/app/segment_text.hpp"
#include "wirebook/app/setup.hpp"
#include "wirebook/app/tail.hpp"

namespace wirebook::app {
namespace {

class SegmentDump {
public:
    SegmentDump(const DumpSegmentOptions& options, ring::Reader reader)
        : options_(options), reader_(std::move(reader)) {}

    bool print(bool rows) {
        SegmentView view{.reader = reader_,
                         .positions = ring::reader_positions(reader_.path(), reader_.epoch()),
                         .symbols = options_.symbols,
                         .rows = rows,
                         .rate = rate(),
                         .now_tsc = rdtsc(),
                         .now_ns = ring::utc_now_ns()};
        std::string text;
        if (options_.json) {
            append_segment_json(text, view, options_.watch_s.has_value());
            text += "\n";
        } else {
            append_segment_text(text, view);
            if (options_.watch_s) text += "\n";
        }
        return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
               std::fflush(stdout) == 0;
    }

    // Until a signal, or until whoever reads us has gone. Follows the name to its next writer.
    void watch() {
        while (print(!options_.symbols.empty()) && wait()) {
            if (reader_.writer_alive()) continue;
            const auto again = reader_.reattach();
            if (!again) {
                fmt::print(stderr, "wirebook: {}\n", again.error().context);
                return;
            }
        }
    }

    void say_unknown_symbols() const {
        for (const std::string& symbol : options_.symbols)
            if (!reader_.find(symbol))
                fmt::print(stderr, "wirebook: {} has no instrument {}\n", reader_.path(), symbol);
    }

private:
    // Of the writer that was seen the last time; none the first time.
    std::optional<double> rate() {
        const std::uint64_t published = reader_.header().published.load(std::memory_order_acquire);
        const auto now = std::chrono::steady_clock::now();
        std::optional<double> rate;
        if (epoch_ == reader_.epoch() && published >= published_)
            rate = static_cast<double>(published - published_) /
                   std::chrono::duration<double>(now - at_).count();
        epoch_ = reader_.epoch();
        published_ = published;
        at_ = now;
        return rate;
    }
    // In steps, so that a signal ends it soon. False: it came.
    [[nodiscard]] bool wait() const {
        const auto end = std::chrono::steady_clock::now() +
                         std::chrono::duration<double>(options_.watch_s.value_or(0));
        while (!stop_requested.load(std::memory_order_relaxed)) {
            const auto left = end - std::chrono::steady_clock::now();
            if (left.count() <= 0) return true;
            std::this_thread::sleep_for(
                std::min<std::chrono::duration<double>>(left, std::chrono::milliseconds(50)));
        }
        return false;
    }

    const DumpSegmentOptions& options_;
    ring::Reader reader_;
    std::uint64_t epoch_ = 0, published_ = 0;
    std::chrono::steady_clock::time_point at_;
};

}  // namespace

int run_dump_segment(const DumpSegmentOptions& options) {
    ring::AttachOptions attach;
    attach.directory = options.directory;
    attach.live_only = false;
    attach.join_table = false;
    attach.prefault = false;
    auto reader = options.is_path() ? ring::Reader::attach_file(options.segment, attach)
                                    : ring::Reader::attach(options.segment, attach);
    if (!reader) return fail_to_attach(reader.error());
    SegmentDump dump(options, std::move(reader).value());
    dump.say_unknown_symbols();
    catch_stop_signals();
    if (options.watch_s)
        dump.watch();
    else
        static_cast<void>(dump.print(true));
    return exit_done;
}

}  // namespace wirebook::app
