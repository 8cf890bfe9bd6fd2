#include "wirebook/sim/truth.hpp"

#include <utility>

namespace wirebook::sim {

Truth::Truth(std::uint32_t instruments, std::function<void(const TruthRow&)> row)
    : instruments_(instruments), row_(std::move(row)) {
}

void Truth::touched(std::uint32_t instrument, const TouchInfo& touch, const Top& top) {
    Instrument& state = instruments_[instrument];
    state.top = top;
    state.time_ns = touch.time_ns;
    state.event_open = touch.event_open;
    if (state.listed) return;
    state.listed = true;
    touched_.push_back(instrument);
}

void Truth::packet_closed(std::uint64_t sequence) {
    std::size_t waiting = 0;
    for (const std::uint32_t instrument : touched_) {
        Instrument& state = instruments_[instrument];
        if (state.event_open) {
            touched_[waiting++] = instrument;
            continue;
        }
        state.listed = false;
        row_({packets_, sequence, state.time_ns, instrument, state.top});
    }
    touched_.resize(waiting);
    ++packets_;
}

void Truth::new_session() {
    for (const std::uint32_t instrument : touched_) {
        instruments_[instrument].listed = false;
        instruments_[instrument].event_open = false;
    }
    touched_.clear();
}

}  // namespace wirebook::sim
