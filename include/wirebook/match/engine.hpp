// The matching engine: price-time priority, continuous trading and crosses, for all instruments of
// a venue. Knows no wire: requests in (request.hpp), reports out (report.hpp). The rules are those
// of docs/matching.md.
//
// A request is checked wholly before the first change: what is rejected leaves no trace. Nothing is
// allocated after create(). Equal requests give equal reports and equal state on any machine: no
// result depends on an address, a hash or a clock.
//
// A sink is any type with on_report(const Report&) noexcept. It may ask the engine anything inside
// it, and finds the displayed books that the reports up to this one describe; it must not call
// apply(). May depend on core and book. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "wirebook/book/hash.hpp"
#include "wirebook/core/arena.hpp"
#include "wirebook/core/result.hpp"
#include "wirebook/match/book_store.hpp"
#include "wirebook/match/cross_price.hpp"
#include "wirebook/match/report.hpp"
#include "wirebook/match/request.hpp"

namespace wirebook::match {

struct InstrumentTerms {
    std::int64_t tick = 1;             // prices are multiples of it
    std::uint32_t lot = 1;             // quantities are multiples of it
    std::int64_t reference_price = 0;  // for crosses until there is a trade; 0 or more
};

struct EngineOptions {
    static constexpr std::int64_t price_limit = std::int64_t{1} << 62U;
    static constexpr std::uint64_t quantity_limit = std::numeric_limits<std::uint32_t>::max();
    static constexpr std::uint32_t instrument_limit = std::uint32_t{1} << 24U;
    static constexpr std::uint32_t pool_limit = std::uint32_t{1} << 28U;

    std::uint32_t instruments = 1;
    std::uint32_t orders = 1'000'000;  // live at a time, of all instruments
    std::uint32_t levels = 250'000;    // prices with orders: of all books, sides and kinds of order
    std::uint64_t largest_quantity = quantity_limit;
    std::int64_t largest_price = price_limit;
    std::uint64_t hash_seed = 0;  // 0: a secret one. Results do not depend on it
};

// A price of the displayed book. orders 0: there is none.
struct LevelView {
    std::int64_t price = 0;
    std::uint64_t quantity = 0;
    std::uint32_t orders = 0;
};

struct OrderView {
    std::uint64_t order_id, reference;
    std::int64_t price;  // 0: market
    std::uint64_t shown, reserve, display;
    std::uint32_t instrument;
    std::uint16_t participant, producer;
    Side side;
    OrderBook book;
    OrderType type;
};

inline constexpr std::size_t reasons = as_index(Reason::cross_over) + 1;

struct EngineCounters {
    std::uint64_t accepted = 0;
    std::array<std::uint64_t, reasons> rejected{};  // by reason
    std::uint64_t executions = 0;                   // reports of them
    std::uint64_t executed_quantity = 0;            // each trade once, a cross too
    std::uint64_t refills = 0;
    std::uint64_t crosses = 0;  // that traded
};

class Engine {
public:
    [[nodiscard]] static std::size_t bytes_needed(const EngineOptions& options) noexcept;
    // `terms`: one an instrument. Fails on values out of range, and when the arena is too small.
    [[nodiscard]] static Result<Engine> create(Arena& arena, const EngineOptions& options,
                                               std::span<const InstrumentTerms> terms);

    Engine(Engine&&) noexcept = default;
    Engine& operator=(Engine&&) noexcept = default;
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;
    ~Engine() = default;

    template <class Sink>
    void apply(const Request& request, Sink& sink) noexcept;
    // The same, with the cache lines of the requests further on asked for meanwhile.
    template <class Sink>
    void apply(std::span<const Request> requests, Sink& sink) noexcept;
    // Asks for the lines that follow from the request alone, some requests before it is applied.
    void prefetch(const Request& request) const noexcept {
        Ahead ahead;  // NOLINT(cppcoreguidelines-pro-type-member-init): written only
        look_far(request, ahead);
    }

    // The displayed book. `instrument` is below instruments().
    [[nodiscard]] std::uint32_t instruments() const noexcept { return books_.instruments(); }
    [[nodiscard]] LevelView best(std::uint32_t instrument, Side side) const noexcept {
        const std::uint32_t level = books_.best(instrument, OrderBook::displayed, side);
        return level == no_index ? LevelView{} : view_of(books_.level(level));
    }
    // Fills `levels`, best first; returns how many there were.
    std::size_t depth(std::uint32_t instrument, Side side,
                      std::span<LevelView> levels) const noexcept {
        std::size_t count = 0;
        for_each_level(instrument, side, [&](const LevelView& level) {
            if (count == levels.size()) return false;
            levels[count++] = level;
            return true;
        });
        return count;
    }
    // f(LevelView), best first, until it returns false.
    template <class F>
    void for_each_level(std::uint32_t instrument, Side side, F&& f) const noexcept {
        books_.for_each_level(instrument, OrderBook::displayed, side,
                              [&](const Level& level) { return f(view_of(level)); });
    }
    // f(OrderView) for the orders of one of an instrument's books, best first, then in time.
    template <class F>
    void for_each_order(std::uint32_t instrument, OrderBook order_book, Side side,
                        F&& f) const noexcept {
        books_.for_each_level(instrument, order_book, side, [&](const Level& level) {
            for (std::uint32_t i = level.head; i != no_index; i = books_.order(i).next) {
                f(view_of(books_.order(i)));
            }
            return true;
        });
    }

    [[nodiscard]] std::optional<OrderView> find(std::uint64_t order_id) const noexcept {
        const std::uint32_t index = books_.find(order_id);
        if (index == no_index) return std::nullopt;
        return view_of(books_.order(index));
    }
    [[nodiscard]] TradingState state(std::uint32_t instrument) const noexcept {
        return books_.book(instrument).state;
    }
    [[nodiscard]] std::int64_t last_trade_price(std::uint32_t instrument) const noexcept {
        return books_.book(instrument).last_trade;  // 0: none yet
    }
    // What a cross made now would do. reference: the last trade, else that of the terms.
    [[nodiscard]] CrossOutcome cross_outcome(std::uint32_t instrument,
                                             CrossKind cross) const noexcept;
    [[nodiscard]] std::uint64_t live_orders() const noexcept { return books_.live_orders(); }
    [[nodiscard]] std::uint64_t live_orders(std::uint32_t instrument) const noexcept;  // counts
    [[nodiscard]] std::uint64_t live_levels() const noexcept { return books_.live_levels(); }
    [[nodiscard]] const EngineCounters& counters() const noexcept { return counters_; }
    [[nodiscard]] std::uint64_t reports() const noexcept { return reports_; }

    // Of everything that later reports depend on, but for their numbers: states, last trades, every
    // order in its place, the next reference and match. The same on any machine. Walks it all.
    [[nodiscard]] std::uint64_t state_hash() const noexcept;
    // For tests: aborts when the structures disagree or a rule is broken.
    void check() const noexcept;

private:
    // How an order goes in, once it is checked.
    struct Plan {
        std::uint64_t id_hash;
        std::int64_t worst_rank;  // of the other side, that it trades with
        std::uint32_t instrument;
        Side side;
        OrderBook book;
        OrderType type;
        SelfTrade self_trade;
        bool rests;    // what is not matched stays
        bool matches;  // now
    };

    Engine() = default;

    // engine_checks.hpp
    [[nodiscard]] bool is_quantity(std::uint64_t quantity, std::uint32_t lot) const noexcept;
    [[nodiscard]] bool is_price(std::int64_t price, std::int64_t tick) const noexcept;
    [[nodiscard]] Reason check_terms(const Request& request, const Plan& plan) const noexcept;
    [[nodiscard]] Reason check_room(const Request& request, const Plan& plan,
                                    std::uint32_t original) const noexcept;
    [[nodiscard]] bool is_plain(const Request& request, Plan& plan) const noexcept;
    [[nodiscard]] Reason check_enter(const Request& request, Plan& plan) const noexcept;
    [[nodiscard]] Reason check_replace(const Request& request, std::uint32_t original,
                                       Plan& plan) const noexcept;
    [[nodiscard]] bool would_match(const Plan& plan) const noexcept;
    [[nodiscard]] bool fillable(const Request& request, const Plan& plan) const noexcept;
    [[nodiscard]] bool is_crossed(std::uint32_t instrument) const noexcept;
    [[nodiscard]] std::uint32_t best_open(std::uint32_t instrument, Side side) const noexcept;
    [[nodiscard]] std::uint32_t owned_by(const Request& request) const noexcept;
    [[nodiscard]] Reason check_cross(const Request& request) const noexcept;

    // engine_verbs.hpp
    template <class Sink>
    void enter(const Request& request, Sink& sink) noexcept;
    template <class Sink>
    void cancel(const Request& request, Sink& sink) noexcept;
    template <class Sink>
    void reduce(const Request& request, Sink& sink) noexcept;
    template <class Sink>
    void replace(const Request& request, Sink& sink) noexcept;
    template <class Sink>
    void set_state(const Request& request, Sink& sink) noexcept;
    template <class Sink>
    void reject(const Request& request, Reason reason, Sink& sink) noexcept;
    template <class Sink>
    Report accept(const Request& request, const Order& order, std::uint64_t quantity,
                  Sink& sink) noexcept;
    template <class Sink>
    void accept(const Request& request, Sink& sink) noexcept;

    // engine_match.hpp
    [[nodiscard]] std::uint32_t make_order(const Request& request, const Plan& plan,
                                           std::uint64_t id) noexcept;
    template <class Sink>
    void run(const Request& request, const Plan& plan, std::uint32_t index, Report& report,
             Sink& sink) noexcept;
    template <class Sink>
    void match(const Request& request, const Plan& plan, Order& incoming, Sink& sink) noexcept;
    template <class Sink>
    void remove(const Request& request, std::uint32_t index, Reason reason, Sink& sink) noexcept;
    template <class Sink>
    void remove_incoming(const Request& request, Order& incoming, Reason reason,
                         Sink& sink) noexcept;
    template <class Sink>
    void execute(std::uint32_t index, std::uint32_t quantity, Report& report, Sink& sink) noexcept;
    template <class Sink>
    void refill(std::uint32_t index, const Report& like, Sink& sink) noexcept;
    template <class Sink>
    void emit(Report& report, Sink& sink) noexcept {
        report.number = ++reports_;
        sink.on_report(static_cast<const Report&>(report));
    }
    static void split_reserve(Order& order) noexcept;
    void release(std::uint32_t index) noexcept {
        books_.leave_id(index);
        books_.give_back_order(index);
    }

    // engine_cross.hpp
    template <class Sink>
    void indicate(const Request& request, Sink& sink) noexcept;
    template <class Sink>
    void cross(const Request& request, Sink& sink) noexcept;
    template <class Sink>
    void sweep(const Request& request, const CrossOutcome& outcome, Side side, Sink& sink) noexcept;
    template <class Sink>
    void clear_book(const Request& request, OrderBook order_book, Side side, Sink& sink) noexcept;
    // The order that trades next in a cross, or none.
    [[nodiscard]] std::uint32_t first_in_cross(std::uint32_t instrument, CrossKind cross,
                                               Side side) const noexcept;

    // look_ahead.hpp
    struct Ahead {
        std::uint64_t id_hash, price_hash;
        std::uint32_t index;  // the order's, or that of the level it will join
    };
    void look_far(const Request& request, Ahead& ahead) const noexcept;
    void look_nearer(const Request& request, Ahead& ahead) const noexcept;
    void look_near(const Request& request, const Ahead& ahead) const noexcept;

    [[nodiscard]] static LevelView view_of(const Level& level) noexcept {
        return {book::price_of(level.key.side(), level.rank), level.quantity, level.orders};
    }
    [[nodiscard]] static OrderView view_of(const Order& order) noexcept;
    [[nodiscard]] static Report report_of(const Request& request, ReportKind kind) noexcept;
    [[nodiscard]] static Report report_of(const Request& request, ReportKind kind,
                                          const Order& order) noexcept;

    BookStore books_;
    EngineOptions options_;
    std::uint64_t references_ = 0;  // the last ones given
    std::uint64_t matches_ = 0;
    std::uint64_t reports_ = 0;
    EngineCounters counters_;
};

}  // namespace wirebook::match

#include "wirebook/match/engine_checks.hpp"
#include "wirebook/match/engine_cross.hpp"
#include "wirebook/match/engine_match.hpp"
#include "wirebook/match/engine_verbs.hpp"
#include "wirebook/match/look_ahead.hpp"
