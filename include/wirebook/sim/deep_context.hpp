// What all IEX DEEP 1.0 messages of a simulated day share: symbols, numbers of the engine as the
// wire has them, and whether regular trading hours last (trades outside of them are marked).
//
// May depend on core and wire. One thread.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "wirebook/core/base.hpp"
#include "wirebook/sim/message_sink.hpp"
#include "wirebook/wire/iex.hpp"

namespace wirebook::sim {

class DeepContext {
public:
    // By the engine's index.
    explicit DeepContext(std::vector<FeedInstrument> instruments)
        : instruments_(std::move(instruments)) {}

    [[nodiscard]] const FeedInstrument& instrument(std::uint32_t index) const noexcept {
        WIREBOOK_CHECK(index < instruments_.size());
        return instruments_[index];
    }
    [[nodiscard]] bool regular_hours() const noexcept { return regular_hours_; }
    void set_regular_hours(bool regular) noexcept { regular_hours_ = regular; }

    template <class M, MessageSink Sink>
    void send(M& message, std::uint32_t index, const TouchInfo& touch, Sink& sink) const {
        message.type = M::message_type;
        message.timestamp_ns.set(touch.time_ns);
        if constexpr (requires { message.symbol; }) message.symbol = instrument(index).symbol;
        sink.on_message(std::as_bytes(std::span(&message, 1)), index, touch);
    }

    [[nodiscard]] std::int64_t price_e4(std::uint32_t index, std::int64_t price) const noexcept {
        return price * instrument(index).price_unit_e4;
    }
    // The flow keeps orders, levels and crosses far below what 32 bits hold.
    [[nodiscard]] static std::uint32_t shares(std::uint64_t quantity) noexcept {
        WIREBOOK_CHECK(quantity <= std::numeric_limits<std::uint32_t>::max());
        return static_cast<std::uint32_t>(quantity);
    }

private:
    std::vector<FeedInstrument> instruments_;
    bool regular_hours_ = false;
};

}  // namespace wirebook::sim
