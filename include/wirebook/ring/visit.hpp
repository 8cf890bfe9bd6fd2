// Records handed to callbacks: sugar over poll, for strategies that like overloads better than a
// switch over kinds.
//
//     for_each(reader, 64, Overloaded{
//         [&](const Record& book) { ... },                             // a snapshot
//         [&](const Record& record, const TradeEvent& trade) { ... },
//         [&](const Record& record, const StatusEvent& status) { ... }});
//
// A kind that the visitor has no overload for is passed over; (const Record&, const auto&) takes
// every event. All is resolved at compile time. Includes only the standard library and core.
// Threads: as the reader.
#pragma once

#include <cstddef>
#include <utility>

#include "wirebook/ring/reader.hpp"

namespace wirebook::ring {

template <class... Callbacks>
struct Overloaded : Callbacks... {
    using Callbacks::operator()...;
};
template <class... Callbacks>
Overloaded(Callbacks...) -> Overloaded<Callbacks...>;

namespace detail {
template <EventBody T, class Visitor>
void visit_event(const Record& record, Visitor& visitor) {
    if constexpr (std::is_invocable_v<Visitor&, const Record&, const T&>)
        visitor(record, record.event<T>());
}
}  // namespace detail

// Calls visitor(record) for a snapshot, visitor(record, body) for an event, where it can be called
// so. A kind that this release does not know is passed over.
template <class Visitor>
void visit(const Record& record, Visitor&& visitor) {
    switch (record.kind) {
        case RecordKind::none: return;
        case RecordKind::snapshot:
            if constexpr (std::is_invocable_v<Visitor&, const Record&>) visitor(record);
            return;
        case RecordKind::trade: return detail::visit_event<TradeEvent>(record, visitor);
        case RecordKind::trade_break: return detail::visit_event<TradeBreakEvent>(record, visitor);
        case RecordKind::status: return detail::visit_event<StatusEvent>(record, visitor);
        case RecordKind::auction: return detail::visit_event<AuctionEvent>(record, visitor);
        case RecordKind::system: return detail::visit_event<SystemEvent>(record, visitor);
        case RecordKind::gap: return detail::visit_event<GapEvent>(record, visitor);
        case RecordKind::session: return detail::visit_event<SessionEvent>(record, visitor);
        case RecordKind::quality: return detail::visit_event<QualityEvent>(record, visitor);
        case RecordKind::directory: return detail::visit_event<DirectoryEvent>(record, visitor);
        case RecordKind::collar: return detail::visit_event<CollarEvent>(record, visitor);
        case RecordKind::ipo: return detail::visit_event<IpoEvent>(record, visitor);
        case RecordKind::order: return detail::visit_event<OrderEvent>(record, visitor);
    }
}

// Polls up to `limit` records of a Reader, MergeReader or FailoverReader and visits each. Returns
// what ended it: Poll::record after `limit` of them, else what poll said.
template <class AnyReader, class Visitor>
Poll for_each(AnyReader& reader, std::size_t limit, Visitor&& visitor) {
    Record record;
    for (std::size_t i = 0; i < limit; ++i) {
        const Poll polled = reader.poll(record);
        if (polled != Poll::record) return polled;
        visit(record, visitor);
    }
    return Poll::record;
}

}  // namespace wirebook::ring
