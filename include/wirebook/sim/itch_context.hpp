// What all ITCH 5.0 messages of a simulated day share: the eleven bytes of the header, and numbers
// of the engine as the wire has them. Both encoders of ITCH (itch_encoder.hpp, itch_day.hpp) use
// the same context, so that tracking numbers go on between them.
//
// May depend on core and wire. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "wirebook/core/base.hpp"
#include "wirebook/sim/message_sink.hpp"
#include "wirebook/wire/itch50_header.hpp"

namespace wirebook::sim {

struct ItchOptions {
    std::vector<FeedInstrument> instruments;  // by the engine's index
    std::int64_t midnight_ns = 0;             // of the trading day in New York, since the epoch
    // Participant -> MPID under which its displayed orders are shown (F instead of A). All zero,
    // or beyond the end: none.
    std::vector<std::array<char, 4>> mpids;
};

class ItchContext {
public:
    explicit ItchContext(ItchOptions options) : options_(std::move(options)) {}

    [[nodiscard]] const FeedInstrument& instrument(std::uint32_t index) const noexcept {
        WIREBOOK_CHECK(index < options_.instruments.size());
        return options_.instruments[index];
    }
    // Null: the participant is not shown.
    [[nodiscard]] const std::array<char, 4>* mpid(std::uint16_t participant) const noexcept {
        if (participant >= options_.mpids.size()) return nullptr;
        const std::array<char, 4>& mpid = options_.mpids[participant];
        return mpid[0] == '\0' ? nullptr : &mpid;
    }

    // The messages of one request have the same tracking number; it wraps.
    void next_tracking_number() noexcept { ++tracking_number_; }

    // Fills the header of an M; returns the time as the message has it.
    template <class M>
    std::int64_t stamp(M& message, std::uint32_t index, std::int64_t time_ns) const noexcept {
        const std::int64_t since_midnight = time_ns - options_.midnight_ns;
        WIREBOOK_CHECK(since_midnight >= 0 && since_midnight < std::int64_t{1} << 48);
        wire::itch50::Header& header = message.header;
        header.type = M::message_type;
        header.stock_locate.set(index == no_instrument ? std::uint16_t{0}
                                                       : instrument(index).stock_locate);
        header.tracking_number.set(tracking_number_);
        header.timestamp_ns.set(static_cast<std::uint64_t>(since_midnight));
        return since_midnight;
    }

    // Stamps and hands on.
    template <class M, MessageSink Sink>
    void send(M& message, std::uint32_t index, std::int64_t time_ns, bool touches,
              Sink& sink) const {
        const std::int64_t since_midnight = stamp(message, index, time_ns);
        sink.on_message(std::as_bytes(std::span(&message, 1)), index,
                        TouchInfo{touches, false, since_midnight});
    }

    [[nodiscard]] std::uint32_t price_e4(std::uint32_t index, std::int64_t price) const noexcept {
        const std::int64_t price_e4 = price * instrument(index).price_unit_e4;
        WIREBOOK_CHECK(price >= 0 && price_e4 <= std::numeric_limits<std::uint32_t>::max());
        return static_cast<std::uint32_t>(price_e4);
    }
    // The flow keeps orders far below what 32 bits hold.
    [[nodiscard]] static std::uint32_t shares(std::uint64_t quantity) noexcept {
        WIREBOOK_CHECK(quantity <= std::numeric_limits<std::uint32_t>::max());
        return static_cast<std::uint32_t>(quantity);
    }

private:
    ItchOptions options_;
    std::uint16_t tracking_number_ = 0;
};

}  // namespace wirebook::sim
