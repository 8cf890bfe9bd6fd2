// The participants of the simulated exchange: which request comes next for an instrument.
//
// Looks at the displayed book as participants do, and keeps each instrument near its share of the
// live orders asked for. Requests are valid by construction but for what real ones meet as well:
// a post-only order that would match, an order refused for want of room.
//
// Where the numbers come from: the mix is near a Nasdaq day's (A 40-47 %, D 38-40, U 8, E 2-3,
// X 1-2, F 1); most orders join within a few ticks of the touch, 40 % of them 8 or more levels
// from it, 1 % very far; of removals two thirds take what came last; the best price changes on a
// few messages in a hundred.
//
// sim may depend on everything but app. One thread: the engine's.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "wirebook/core/random.hpp"
#include "wirebook/match/engine.hpp"
#include "wirebook/match/report.hpp"
#include "wirebook/match/request.hpp"
#include "wirebook/sim/listing.hpp"

namespace wirebook::sim {

enum class FlowMode : std::uint8_t {
    filling,     // before the opening: orders come, few go; some wait for the opening cross
    continuous,  // as in the middle of a day
    closing,     // as continuous, and some wait for the closing cross
    collecting,  // quotation period of a halt: prices may cross, nothing matches
    single,      // each request changes one displayed level, once
};

struct FlowOptions {
    std::uint64_t live_orders = 0;    // wanted, over all instruments
    std::uint32_t order_limit = 0;    // never more at one time
    std::uint16_t participants = 64;  // numbered from 1
    std::uint16_t attributed = 2;     // the first so many show their name with their orders
};

class OrderFlow {
public:
    OrderFlow(const match::Engine& engine, const std::vector<Listing>& listings,
              const ActivityTable& activity, Random random, const FlowOptions& options);

    // Nothing where the mode has nothing to do for the instrument.
    [[nodiscard]] std::optional<match::Request> next(std::uint32_t instrument, std::int64_t time_ns,
                                                     FlowMode mode);
    // Every report of the engine, as it comes.
    void on_report(const match::Report& report);
    // After the engine has dealt with a request of next().
    void settle(const match::Request& request);

    [[nodiscard]] std::uint64_t live_orders() const noexcept { return live_; }
    [[nodiscard]] std::uint64_t live_orders_wanted(std::uint32_t instrument) const noexcept {
        return instruments_[instrument].wanted;
    }

private:
    struct Order {
        std::uint32_t instrument = 0;
        std::uint32_t position = 0;  // in its instrument's list; the next free slot where not live
        std::uint32_t generation = 0;
        std::uint16_t participant = 0;
        bool live = false;
        bool plain = false;  // displayed, without reserve: a cancel of it is one message
    };
    struct Instrument {
        std::vector<std::uint32_t> live;  // slots; those that came last are near the end
        std::uint64_t wanted = 0;
        std::int64_t fair_e4 = 0;  // what participants believe: a random walk
    };
    struct Touch {
        std::int64_t bid = 0;  // 0: that side is empty
        std::int64_t ask = 0;
        std::uint64_t bid_quantity = 0;
        std::uint64_t ask_quantity = 0;
    };
    enum class Action : std::uint8_t { add, cancel, replace, reduce, take };

    [[nodiscard]] Action choose(const Instrument& instrument, FlowMode mode);
    [[nodiscard]] Touch touch(std::uint32_t instrument) const;
    void walk(Instrument& instrument, const Listing& listing, const Touch& touch);
    [[nodiscard]] match::Request add(std::uint32_t index, const Touch& touch, FlowMode mode);
    void decorate(match::Request& request, const Touch& touch, FlowMode mode);
    [[nodiscard]] match::Request take(std::uint32_t index, const Touch& touch);
    [[nodiscard]] std::optional<match::Request> cancel(std::uint32_t index, FlowMode mode);
    [[nodiscard]] std::optional<match::Request> replace(std::uint32_t index, const Touch& touch);
    [[nodiscard]] std::optional<match::Request> reduce(std::uint32_t index);

    [[nodiscard]] std::int64_t passive_price(std::uint32_t index, match::Side side,
                                             const Touch& touch);
    [[nodiscard]] std::int64_t distance_ticks();
    [[nodiscard]] std::uint64_t draw_quantity();
    [[nodiscard]] std::uint32_t pick_live(const Instrument& instrument);
    [[nodiscard]] std::uint64_t new_order(std::uint32_t instrument, std::uint16_t participant,
                                          bool plain);
    void settle_id(std::uint64_t order_id);
    void release(std::uint32_t slot);
    [[nodiscard]] static std::uint32_t slot_of(std::uint64_t order_id) noexcept {
        return static_cast<std::uint32_t>(order_id);
    }
    [[nodiscard]] std::uint64_t id_of(std::uint32_t slot) const noexcept {
        return std::uint64_t{orders_[slot].generation} << 32U | slot;
    }

    const match::Engine& engine_;
    const std::vector<Listing>& listings_;
    Random random_;
    FlowOptions options_;
    std::vector<Instrument> instruments_;
    std::vector<Order> orders_;
    std::uint32_t first_free_ = 0;
    std::uint64_t live_ = 0;
};

}  // namespace wirebook::sim
