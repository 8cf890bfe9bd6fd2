// What `replay --top` has to say of a line, from the engine's own books.
//
// The rule is docs/replay.md's: at the end of each packet one row for each instrument that it
// touched, in the order of first touch; one whose event is open waits, keeping its place, for the
// packet that closes it. Tops are taken from the engine at each message, since a packet may end in
// the middle of what a request caused.
//
// sim may depend on everything but app. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "wirebook/match/engine.hpp"
#include "wirebook/sim/message_sink.hpp"

namespace wirebook::sim {

struct Top {
    match::LevelView bid;  // orders 0: an empty side
    match::LevelView ask;
};

struct TruthRow {
    std::uint64_t packet = 0;    // from 0: packets with messages
    std::uint64_t sequence = 0;  // in the packet's header
    std::int64_t time_ns = 0;    // of the last message that touched the instrument, as on the wire
    std::uint32_t instrument = 0;
    Top top;
};

class Truth {
public:
    Truth(std::uint32_t instruments, std::function<void(const TruthRow&)> row);

    // A message that touches was put into the open packet; `top` is the book after it.
    void touched(std::uint32_t instrument, const TouchInfo& touch, const Top& top);
    // The open packet ends. Packets without messages do not count.
    void packet_closed(std::uint64_t sequence);
    // Open events end without a row, and wait no more: a new session began.
    void new_session();

    [[nodiscard]] std::uint64_t packets() const noexcept { return packets_; }

private:
    struct Instrument {
        Top top;
        std::int64_t time_ns = 0;
        bool listed = false;
        bool event_open = false;
    };

    std::vector<Instrument> instruments_;
    std::vector<std::uint32_t> touched_;  // in the order of first touch
    std::function<void(const TruthRow&)> row_;
    std::uint64_t packets_ = 0;
};

}  // namespace wirebook::sim
