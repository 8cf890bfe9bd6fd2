// What a segment says of itself, its writer's signs of life, and its clock.
#include <algorithm>
#include <limits>

#include "handle.hpp"

namespace capi = wirebook::capi;
namespace ring = wirebook::ring;
using capi::no_reader;

namespace {

constexpr std::uint32_t first_size = 168;  // of the interface's first version
constexpr std::uint32_t most_size = 4096;
static_assert(sizeof(wirebook_segment) >= first_size);

// A duration that does not fit becomes -1: no double above is an int64.
std::int64_t duration(const wirebook::TscClock& clock, std::uint64_t ticks) noexcept {
    constexpr double beyond = 9.2e18;
    return static_cast<double>(ticks) * clock.ns_per_tick < beyond ? clock.ns_from_ticks(ticks)
                                                                   : -1;
}

}  // namespace

int wirebook_describe(const wirebook_reader* reader, wirebook_segment* out) {
    if (!capi::usable(reader) || out == nullptr) return capi::invalid(no_reader);
    const std::uint32_t size = out->size;
    if (size < first_size || size > most_size)
        return capi::invalid("describe: size is not sizeof(struct wirebook_segment)");
    const ring::SegmentHeader& h = reader->ring.header();
    wirebook_segment segment{};
    segment.size = size;
    segment.abi = h.abi;
    segment.depth = h.depth;
    segment.instrument_capacity = h.instrument_capacity;
    segment.channels = h.channels;
    segment.streams = h.streams;
    segment.slots = h.slots;
    segment.slot_bytes = h.slot_bytes;
    segment.segment_bytes = h.segment_bytes;
    segment.epoch = h.epoch;
    segment.writer_pid = h.writer_pid;
    segment.writer_start = h.writer_start;
    segment.created_ns = h.created_ns;
    segment.ns_per_tick = h.ns_per_tick;
    segment.base_tsc = h.base_tsc;
    segment.base_utc_ns = h.base_utc_ns;
    static_assert(sizeof(segment.session_name) == sizeof(h.session_name));
    std::copy(h.session_name.begin(), h.session_name.end(), segment.session_name);
    std::memset(out, 0, size);
    std::memcpy(out, &segment, std::min<std::size_t>(size, sizeof(segment)));
    return 0;
}
const char* wirebook_path(const wirebook_reader* reader) {
    if (capi::usable(reader)) return reader->ring.path().c_str();
    (void)capi::invalid(no_reader);
    return nullptr;
}
const char* wirebook_position_path(const wirebook_reader* reader) {
    if (capi::usable(reader)) return reader->ring.position_path().c_str();
    (void)capi::invalid(no_reader);
    return nullptr;
}

int wirebook_writer_alive(const wirebook_reader* reader) {
    if (!capi::usable(reader)) return capi::invalid(no_reader);
    return reader->ring.writer_alive() ? 1 : 0;
}
int wirebook_heartbeat(const wirebook_reader* reader, uint64_t* tsc) {
    if (!capi::usable(reader) || tsc == nullptr) return capi::invalid(no_reader);
    *tsc = reader->ring.heartbeat();
    return 0;
}

uint64_t wirebook_tsc() {
    return wirebook::rdtsc();
}
int64_t wirebook_ns_from_ticks(const wirebook_reader* reader, uint64_t ticks) {
    if (!capi::usable(reader)) return capi::invalid(no_reader);
    const std::int64_t ns = duration(reader->ring.clock(), ticks);
    return ns < 0 ? -ERANGE : ns;
}
int wirebook_utc_from_tsc(const wirebook_reader* reader, uint64_t tsc, int64_t* utc_ns) {
    if (!capi::usable(reader) || utc_ns == nullptr) return capi::invalid(no_reader);
    const wirebook::TscClock& clock = reader->ring.clock();
    const bool after = tsc >= clock.base_tsc;
    const std::int64_t ns = duration(clock, after ? tsc - clock.base_tsc : clock.base_tsc - tsc);
    std::int64_t moment = 0;
    if (ns < 0 || __builtin_add_overflow(clock.base_utc_ns, after ? ns : -ns, &moment))
        return -ERANGE;
    *utc_ns = moment;
    return 0;
}
