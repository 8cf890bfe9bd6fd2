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
// apply(). A sink that keeps reports may also have report_place() noexcept: a void* to where the
// next one shall be built, which on_report then gets a reference to; it spares the copy.
// May depend on core and book. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "wirebook/book/hash.hpp"
#include "wirebook/core/arena.hpp"
#include "wirebook/core/result.hpp"
#include "wirebook/match/book_store.hpp"
#include "wirebook/match/cross_price.hpp"
#include "wirebook/match/engine_types.hpp"
#include "wirebook/match/report.hpp"
#include "wirebook/match/request.hpp"

namespace wirebook::match {

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
    void prefetch(const Request& request) const noexcept { (void)look_far(request); }

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
        bool matches;  // meets the other side now
    };
    // Hashes of what a request names: of order_id, and of the displayed level of an order that
    // enters.
    struct Hashes {
        std::uint64_t id, price;
    };
    // Where a report is built that the sink has no place for. Left as it is: all is written.
    union ReportRoom {
        ReportRoom() noexcept {}  // NOLINT(modernize-use-equals-default): that would clear it
        Report report;
    };

    Engine() = default;

    template <class Sink>
    void apply_hashed(const Request& request, const Hashes& hashes, Sink& sink) noexcept;

    // engine_checks.hpp
    [[nodiscard]] bool is_quantity(std::uint64_t quantity, std::uint32_t lot) const noexcept;
    [[nodiscard]] bool is_price(std::int64_t price, std::int64_t tick) const noexcept;
    [[nodiscard]] Reason check_terms(const Request& request, const Plan& plan) const noexcept;
    [[nodiscard]] Reason check_room(const Request& request, const Plan& plan,
                                    std::uint32_t original) const noexcept;
    [[nodiscard]] bool rests_plainly(const Request& request, std::uint64_t id_hash,
                                     std::size_t& id_gap) const noexcept;
    [[nodiscard]] Reason check_enter(const Request& request, std::uint64_t id_hash,
                                     Plan& plan) const noexcept;
    [[nodiscard]] Reason check_replace(const Request& request, std::uint32_t original,
                                       Plan& plan) const noexcept;
    [[nodiscard]] bool would_match(const Plan& plan) const noexcept;
    [[nodiscard]] bool fillable(const Request& request, const Plan& plan) const noexcept;
    [[nodiscard]] bool is_crossed(std::uint32_t instrument) const noexcept;
    [[nodiscard]] std::uint32_t best_open(std::uint32_t instrument, Side side) const noexcept;
    [[nodiscard]] BookStore::Found owned_by(const Request& request,
                                            std::uint64_t id_hash) const noexcept;
    [[nodiscard]] Reason check_cross(const Request& request) const noexcept;

    // engine_verbs.hpp
    template <class Sink>
    void enter(const Request& request, const Hashes& hashes, Sink& sink) noexcept;
    template <class Sink>
    void enter_by_plan(const Request& request, std::uint64_t id_hash, Sink& sink) noexcept;
    template <class Sink>
    void cancel(const Request& request, std::uint64_t id_hash, Sink& sink) noexcept;
    template <class Sink>
    void reduce(const Request& request, std::uint64_t id_hash, Sink& sink) noexcept;
    template <class Sink>
    void replace(const Request& request, std::uint64_t id_hash, Sink& sink) noexcept;
    template <class Sink>
    void move(const Request& request, const Plan& plan, const BookStore::Found& original,
              Sink& sink) noexcept;
    template <class Sink>
    void set_state(const Request& request, Sink& sink) noexcept;
    template <class Sink>
    void reject(const Request& request, Reason reason, Sink& sink) noexcept;
    template <class Sink>
    void accept(const Request& request, const Order& order, std::uint64_t quantity,
                Sink& sink) noexcept;
    template <class Sink>
    void accept(const Request& request, Sink& sink) noexcept;

    // engine_report.hpp
    template <class Sink>
    [[nodiscard]] static Report& begin(const Request& request, ReportKind kind, ReportRoom& room,
                                       Sink& sink) noexcept;
    template <class Sink>
    [[nodiscard]] static Report& begin(const Request& request, ReportKind kind, const Order& order,
                                       ReportRoom& room, Sink& sink) noexcept;
    template <class Sink>
    void emit(Report& report, Sink& sink) noexcept {
        report.number = ++reports_;
        sink.on_report(static_cast<const Report&>(report));
    }

    // engine_match.hpp
    [[nodiscard]] std::uint32_t make_order(const Request& request, const Plan& plan,
                                           std::uint64_t id) noexcept;
    template <class Sink>
    void rest_plain(const Request& request, const Hashes& hashes, std::size_t id_gap,
                    Sink& sink) noexcept;
    template <class Sink>
    void rest(const Request& request, const Plan& plan, std::uint32_t index, std::uint8_t flags,
              Sink& sink) noexcept;
    template <class Sink>
    void run(const Request& request, const Plan& plan, std::uint32_t index, Sink& sink) noexcept;
    template <class Sink>
    void match(const Request& request, const Plan& plan, Order& incoming, Sink& sink) noexcept;
    template <class Sink>
    void remove(const Request& request, std::uint32_t index, Reason reason, Sink& sink) noexcept;
    template <class Sink>
    void remove_answering(const Request& request, const BookStore::Found& found,
                          Sink& sink) noexcept;
    template <class Sink>
    void remove_incoming(const Request& request, Order& incoming, Reason reason,
                         Sink& sink) noexcept;
    template <class Sink>
    void execute(const Request& request, std::uint32_t index, std::uint32_t quantity,
                 Report& report, Sink& sink) noexcept;
    template <class Sink>
    void refill(const Request& request, std::uint32_t index, std::uint8_t in_cross,
                Sink& sink) noexcept;
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
        Hashes hashes;
        std::uint32_t index;  // of the order that it is about, or of the level that it will join
        std::uint32_t meets;  // level of the other side that it will trade with
    };
    [[nodiscard]] Hashes look_far(const Request& request) const noexcept;
    void look_nearer(const Request& request, Ahead& ahead) const noexcept;
    void look_near(const Request& request, const Ahead& ahead) const noexcept;

    [[nodiscard]] static LevelView view_of(const Level& level) noexcept {
        return {book::price_of(level.key.side(), level.rank), level.quantity, level.orders};
    }
    [[nodiscard]] static OrderView view_of(const Order& order) noexcept;

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
#include "wirebook/match/engine_report.hpp"
#include "wirebook/match/engine_verbs.hpp"
#include "wirebook/match/look_ahead.hpp"
