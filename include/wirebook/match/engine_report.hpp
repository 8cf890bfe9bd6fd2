// Engine's reports: built where the sink wants them, field by field, without a copy. Part of
// engine.hpp; one thread.
#pragma once

#include <cstdint>
#include <new>

#include "wirebook/match/engine.hpp"

namespace wirebook::match {

template <class Sink>
[[nodiscard, gnu::always_inline]] inline void* report_place(void* room, Sink& sink) noexcept {
    if constexpr (requires { sink.report_place(); }) {
        return sink.report_place();
    } else {
        return room;
    }
}

// About a request.
template <class Sink>
[[gnu::always_inline]] inline Report& Engine::begin(const Request& request, ReportKind kind,
                                                    ReportRoom& room, Sink& sink) noexcept {
    return *::new (report_place(&room, sink)) Report{.kind = kind,
                                                     .participant = request.participant,
                                                     .instrument = request.instrument,
                                                     .producer = request.producer,
                                                     .request = request.kind,
                                                     .order_id = request.order_id,
                                                     .time_ns = request.time_ns};
}

// About an order, which the request changes.
template <class Sink>
[[gnu::always_inline]] inline Report& Engine::begin(const Request& request, ReportKind kind,
                                                    const Order& order, ReportRoom& room,
                                                    Sink& sink) noexcept {
    const bool displayed = order.book == OrderBook::displayed;
    return *::new (report_place(&room, sink))
        Report{.kind = kind,
               .side = order.side,
               .flags = displayed ? report_flag::displayed : std::uint8_t{0},
               .participant = order.participant,
               .instrument = order.instrument,
               .producer = order.producer,
               .request = request.kind,
               .order_id = order.id,
               .reference = order.reference,
               .price = order.price,
               .time_ns = request.time_ns};
}

}  // namespace wirebook::match
