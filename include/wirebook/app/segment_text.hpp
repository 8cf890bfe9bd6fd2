// A segment as text for people or as one JSON object: header, geometry, sizes, health, readers,
// instruments with their books. Whatever the file holds, the text is well formed: a corrupt one
// shows odd numbers and null. Cold: allocates. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wirebook/ring/position.hpp"
#include "wirebook/ring/reader.hpp"

namespace wirebook::app {

// What is shown of a segment, and when.
struct SegmentView {
    const ring::Reader& reader;
    ring::ReaderPositions positions;
    std::vector<std::string> symbols;  // rows of these only; empty: all
    bool rows = true;                  // false: no instruments
    std::optional<double> rate;        // records a second, where it was measured
    std::uint64_t now_tsc = 0;
    std::int64_t now_ns = 0;  // UTC
};

enum class WriterState : std::uint8_t { running, closed, dead };

struct SegmentHealth {
    WriterState writer = WriterState::dead;
    // Since the writer's last sign of life. None: the stamp is not of this machine's time.
    std::optional<std::int64_t> heartbeat_age_ns;
    std::uint64_t published = 0;
    std::uint64_t held = 0;  // of them in the ring
    // The writer's process lives, but has given no sign for a second.
    [[nodiscard]] bool hangs() const noexcept {
        return writer == WriterState::running && heartbeat_age_ns.value_or(0) > 1'000'000'000;
    }
};
[[nodiscard]] SegmentHealth health_of(const SegmentView& view);

// Lines with newlines.
void append_segment_text(std::string& out, const SegmentView& view);
// One object without newline at the end; `one_line`: without any.
void append_segment_json(std::string& out, const SegmentView& view, bool one_line);

}  // namespace wirebook::app
