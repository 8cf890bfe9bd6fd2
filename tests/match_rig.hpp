// A small engine with its arena, a tape beside it, requests and reports in one line, for the match
// tests.
#pragma once

#include <catch2/catch.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "match_tape.hpp"
#include "wirebook/core/arena.hpp"
#include "wirebook/match/engine.hpp"

namespace match_rig {

using namespace wirebook;
using namespace wirebook::match;

inline EngineOptions small_options() {
    return {.instruments = 2,
            .orders = 1'000,
            .levels = 200,
            .largest_quantity = 1'000'000,
            .largest_price = 100'000,
            .hash_seed = 1};
}

inline const char* name_of(Reason reason) {
    constexpr std::array names = {"none",         "unknown_instrument", "unknown_order",
                                  "duplicate_id", "bad_quantity",       "bad_price",
                                  "bad_display",  "bad_combination",    "not_open",
                                  "would_match",  "not_fillable",       "no_room",
                                  "book_crossed", "bad_request",        "cancelled",
                                  "not_matched",  "self_trade",         "cross_over"};
    static_assert(names.size() == reasons);
    return names[as_index(reason)];
}

inline std::string change_text(const Report& r) {
    const std::string id = " #" + std::to_string(r.order_id) + " ";
    const std::string quantity = std::to_string(r.quantity);
    const std::string price = quantity + "@" + std::to_string(r.price);
    const std::string left = " left " + std::to_string(r.left);
    switch (r.kind) {
        case ReportKind::added: return "added" + id + price;
        case ReportKind::executed: return "executed" + id + price + left;
        case ReportKind::reduced: return "reduced" + id + quantity + left;
        case ReportKind::removed: return "removed" + id + quantity + " " + name_of(r.reason);
        default: return "replaced #" + std::to_string(r.contra_order_id) + id + price;
    }
}

// "executed #7 10@100 left 5", "added #8 20@101 unseen" and the like.
inline std::string text_of(const Report& r) {
    const std::string price = std::to_string(r.quantity) + "@" + std::to_string(r.price);
    switch (r.kind) {
        case ReportKind::accepted: return "accepted";
        case ReportKind::rejected: return std::string("rejected ") + name_of(r.reason);
        case ReportKind::crossed: return "crossed " + price;
        case ReportKind::state_changed: return "state " + std::to_string(as_index(r.state));
        case ReportKind::imbalance: {
            const char* const side = r.side == Side::bid ? " bid" : " ask";
            return "paired " + price + " near " + std::to_string(r.near_price) + " far " +
                   std::to_string(r.far_price) + " imbalance " + std::to_string(r.imbalance) +
                   (r.imbalance == 0 ? "" : side);
        }
        default: break;
    }
    std::string text = change_text(r);
    if ((r.flags & report_flag::displayed) == 0) text += " unseen";
    if ((r.flags & report_flag::in_cross) != 0) text += " in_cross";
    if ((r.flags & report_flag::refill) != 0) text += " refill";
    if ((r.flags & report_flag::last) != 0) text += " last";
    return text;
}

class Rig {
public:
    explicit Rig(const EngineOptions& options = small_options(), InstrumentTerms terms = {})
        : Rig(options, std::vector<InstrumentTerms>(options.instruments, terms)) {}
    Rig(const EngineOptions& options, const std::vector<InstrumentTerms>& terms)
        : arena_(
              Arena::create(
                  {.bytes = Engine::bytes_needed(options), .hugetlb = false, .transparent = false})
                  .value()),
          engine(Engine::create(arena_, options, terms).value()),
          sink(engine) {}

private:
    Arena arena_;

public:
    Engine engine;
    match_tape::TapeSink sink;

    // Applies one request; returns its reports. The tape and the structures were right after it.
    std::vector<Report> apply(const Request& request) {
        sink.reports.clear();
        engine.apply(request, sink);
        engine.check();
        CHECK(sink.good());
        return sink.reports;
    }
    // What a request told after its acceptance: texts joined by "; ".
    std::string told(const Request& request) {
        const std::vector<Report> reports = apply(request);
        std::string text;
        for (std::size_t i = 0; i < reports.size(); ++i) {
            if (i == 0 && reports[0].kind == ReportKind::accepted) continue;
            text += (text.empty() ? "" : "; ") + text_of(reports[i]);
        }
        return text;
    }
    // A request that must be rejected: it changes nothing and tells one thing. Returns the reason.
    std::string refused(const Request& request) {
        const std::uint64_t before = engine.state_hash();
        const std::vector<Report> reports = apply(request);
        CHECK(engine.state_hash() == before);
        REQUIRE(reports.size() == 1);
        REQUIRE(reports[0].kind == ReportKind::rejected);
        CHECK(reports[0].order_id == request.order_id);
        return name_of(reports[0].reason);
    }
};

// Orders of participant 1; the tests set what else they need.
inline Request order(std::uint64_t id, Side side, std::int64_t price, std::uint64_t quantity) {
    Request r;
    r.side = side;
    r.participant = 1;
    r.order_id = id;
    r.price = price;
    r.quantity = quantity;
    r.time_ns = static_cast<std::int64_t>(id) * 1000;
    return r;
}
inline Request bid(std::uint64_t id, std::int64_t price, std::uint64_t quantity) {
    return order(id, Side::bid, price, quantity);
}
inline Request ask(std::uint64_t id, std::int64_t price, std::uint64_t quantity) {
    return order(id, Side::ask, price, quantity);
}
inline Request market(Request r) {
    r.type = OrderType::market;
    r.price = 0;
    return r;
}
inline Request timed(Request r, TimeInForce time_in_force) {
    r.time_in_force = time_in_force;
    return r;
}
inline Request flagged(Request r, std::uint8_t flags) {
    r.flags = flags;
    return r;
}
inline Request hidden(Request r) {
    return flagged(r, request_flag::hidden);
}
inline Request showing(Request r, std::uint64_t display) {
    r.display = display;
    return r;
}
inline Request by(Request r, std::uint16_t participant, SelfTrade self_trade = SelfTrade::allow) {
    r.participant = participant;
    r.self_trade = self_trade;
    return r;
}
inline Request change(RequestKind kind, std::uint64_t id, std::uint64_t quantity = 0) {
    Request r;
    r.kind = kind;
    r.participant = 1;
    r.order_id = id;
    r.quantity = quantity;
    return r;
}
inline Request replacing(std::uint64_t id, std::uint64_t new_id, std::int64_t price,
                         std::uint64_t quantity) {
    Request r = change(RequestKind::replace, id, quantity);
    r.new_order_id = new_id;
    r.price = price;
    return r;
}

inline Request to_state(TradingState state, std::uint32_t instrument = 0) {
    Request r;
    r.kind = RequestKind::set_state;
    r.instrument = instrument;
    r.state = state;
    return r;
}
inline Request crossing(CrossKind kind, RequestKind what = RequestKind::cross) {
    Request r;
    r.kind = what;
    r.cross = kind;
    return r;
}
inline Request indicating(CrossKind kind) {
    return crossing(kind, RequestKind::indicate);
}

// An engine in which instrument 0 trades continuously, or is in another state.
struct OpenRig : Rig {
    explicit OpenRig(const EngineOptions& options = small_options(), InstrumentTerms terms = {},
                     TradingState state = TradingState::continuous)
        : Rig(options, terms) {
        CHECK(told(to_state(state)) == "state " + std::to_string(as_index(state)));
    }
};

}  // namespace match_rig
