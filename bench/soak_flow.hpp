// A steady flow of orders for match_soak. For benchmarks; one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "wirebook/book/hash.hpp"
#include "wirebook/match/request.hpp"

namespace wirebook::bench {

using match::Request;
using match::Side;

// Orders near the touch of many books: rests, cancels, and one new one in twenty trades at once (so
// that some cancels come too late and are rejected). About `live` orders rest.
class Flow {
public:
    Flow(std::uint32_t instruments, std::uint32_t live) : instruments_(instruments), ids_(live) {}

    Request next() noexcept {
        Request request;
        made_ += 1;
        if (made_ <= instruments_) {
            request.kind = match::RequestKind::set_state;
            request.instrument = static_cast<std::uint32_t>(made_ - 1);
            request.state = match::TradingState::continuous;
            return request;
        }
        const std::uint64_t random = mix_.mix(made_, 0x5EED);
        const std::uint64_t old = ids_[at_ % ids_.size()];
        if (old != 0) {  // one goes for each that comes
            ids_[at_ % ids_.size()] = 0;
            request.kind = match::RequestKind::cancel;
            request.order_id = old;
            request.instrument = static_cast<std::uint32_t>(old % instruments_);
            request.participant = 1;
            return request;
        }
        request.order_id = made_;
        request.instrument = static_cast<std::uint32_t>(made_ % instruments_);
        request.participant = 1;
        request.side = (random & 1U) != 0 ? Side::bid : Side::ask;
        const auto away = static_cast<std::int64_t>(1 + (random >> 1U) % 20);
        const bool trades = (random >> 32U) % 20 == 0;
        const bool up = (request.side == Side::ask) != trades;
        request.price = 10'000 + (up ? away : -away);
        request.quantity = 100;
        if (trades) {
            request.time_in_force = match::TimeInForce::immediate_or_cancel;
        } else {
            ids_[at_++ % ids_.size()] = made_;
        }
        return request;
    }

private:
    book::HashSeed mix_;
    std::uint32_t instruments_;
    std::uint64_t made_ = 0, at_ = 0;
    std::vector<std::uint64_t> ids_;
};

}  // namespace wirebook::bench
