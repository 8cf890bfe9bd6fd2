// The engine's memory, its rare checks, and what readers ask. See the header.
#include "wirebook/match/engine.hpp"

#include <bit>
#include <string>

namespace wirebook::match {

namespace {

BookStore::Sizes sizes_of(const EngineOptions& options) noexcept {
    return {options.instruments, options.orders, options.levels};
}

Status check_options(const EngineOptions& options) {
    const auto check = [](const char* what, std::uint64_t value, std::uint64_t limit) -> Status {
        if (value - 1 < limit) return Ok{};  // 0 wraps
        return Error{.code = 0,
                     .context = std::string("matching engine: ") + what + " must be 1 to " +
                                std::to_string(limit)};
    };
    using Options = EngineOptions;
    if (auto ok = check("instruments", options.instruments, Options::instrument_limit); !ok) {
        return ok;
    }
    if (auto ok = check("orders", options.orders, Options::pool_limit); !ok) return ok;
    if (auto ok = check("levels", options.levels, Options::pool_limit); !ok) return ok;
    if (auto ok = check("largest_quantity", options.largest_quantity, Options::quantity_limit);
        !ok) {
        return ok;
    }
    // A negative price is a huge unsigned number.
    return check("largest_price", static_cast<std::uint64_t>(options.largest_price),
                 static_cast<std::uint64_t>(Options::price_limit));
}

Status check_terms_of(const EngineOptions& options, std::span<const InstrumentTerms> terms) {
    if (terms.size() != options.instruments) {
        return Error{.code = 0,
                     .context = "matching engine: terms of " + std::to_string(terms.size()) +
                                " instruments, not " + std::to_string(options.instruments)};
    }
    for (std::size_t i = 0; i < terms.size(); ++i) {
        if (terms[i].tick >= 1 && terms[i].tick <= options.largest_price && terms[i].lot >= 1 &&
            terms[i].lot <= options.largest_quantity && terms[i].reference_price >= 0 &&
            terms[i].reference_price <= options.largest_price) {
            continue;
        }
        return Error{.code = 0,
                     .context = "matching engine: instrument " + std::to_string(i) +
                                ": tick and lot must be 1 or more, the reference price 0 or "
                                "more, and no_index above the largest price and quantity"};
    }
    return Ok{};
}

}  // namespace

std::size_t Engine::bytes_needed(const EngineOptions& options) noexcept {
    return BookStore::bytes_needed(sizes_of(options));
}

Result<Engine> Engine::create(Arena& arena, const EngineOptions& options,
                              std::span<const InstrumentTerms> terms) {
    if (auto status = check_options(options); !status) return status.error();
    if (auto status = check_terms_of(options, terms); !status) return status.error();
    book::HashSeed seed = book::HashSeed::draw();
    if (options.hash_seed != 0) {
        seed = {};
        seed.a ^= options.hash_seed;
        seed.b ^= std::rotl(options.hash_seed, 32);
    }
    Engine engine;
    engine.options_ = options;
    if (!engine.books_.start(arena, sizes_of(options), seed)) {
        return Error{.code = 0,
                     .context = "matching engine: needs " + std::to_string(bytes_needed(options)) +
                                " bytes of its arena, which has fewer left"};
    }
    for (std::uint32_t i = 0; i < options.instruments; ++i) {
        engine.books_.book(i).tick = terms[i].tick;
        engine.books_.book(i).lot = terms[i].lot;
        engine.books_.waiting(i).reference_price = terms[i].reference_price;
    }
    return engine;
}

bool Engine::is_crossed(std::uint32_t instrument) const noexcept {
    const std::uint32_t bid = best_open(instrument, Side::bid);
    const std::uint32_t ask = best_open(instrument, Side::ask);
    return bid != no_index && ask != no_index &&
           books_.level(bid).rank >= book::price_of(Side::ask, books_.level(ask).rank);
}

Reason Engine::check_cross(const Request& request) const noexcept {
    if (request.cross > CrossKind::halt) return Reason::bad_request;
    return request.instrument < books_.instruments() ? Reason::none : Reason::unknown_instrument;
}

// Walks what the order would trade with, best first: displayed before hidden at a price. With
// prevention that cancels the incoming order, its own participant's first order ends the walk, and
// the reserves of that level come only behind it.
bool Engine::fillable(const Request& request, const Plan& plan) const noexcept {
    const Side side = opposite(plan.side);
    const bool prevents = plan.self_trade != SelfTrade::allow && request.participant != 0;
    std::uint64_t sum = 0;
    bool ended = false;
    const auto add_level = [&](const Level& level) {
        if (!prevents) {
            sum += level.quantity + level.reserve;
            return;
        }
        std::uint64_t reserves = 0;
        for (std::uint32_t i = level.head; i != no_index; i = books_.order(i).next) {
            const Order& order = books_.order(i);
            if (order.participant != request.participant) {
                sum += order.shown;
                reserves += order.reserve;
            } else if (plan.self_trade != SelfTrade::cancel_resting) {
                ended = true;
                return;
            }
        }
        sum += reserves;
    };
    const auto done = [&] { return ended || sum >= request.quantity; };
    // Hidden levels at or above `rank`, from where the last call ended.
    std::int64_t hidden_above = market_rank;
    const auto add_hidden = [&](std::int64_t rank, bool inclusive) {
        books_.for_each_level(plan.instrument, OrderBook::hidden, side, [&](const Level& level) {
            if (level.rank >= hidden_above) return true;
            if (level.rank < rank || (level.rank == rank && !inclusive)) return false;
            if (level.rank < plan.worst_rank) return false;
            hidden_above = level.rank;
            add_level(level);
            return !done();
        });
    };
    books_.for_each_level(plan.instrument, OrderBook::displayed, side, [&](const Level& level) {
        add_hidden(level.rank, false);
        if (done() || level.rank < plan.worst_rank) return false;
        add_level(level);
        return !done();
    });
    if (!done()) add_hidden(no_rank, true);
    return sum >= request.quantity;
}

CrossOutcome Engine::cross_outcome(std::uint32_t instrument, CrossKind cross) const noexcept {
    const Book& book = books_.book(instrument);
    const std::int64_t reference =
        book.last_trade != 0 ? book.last_trade : books_.waiting(instrument).reference_price;
    return find_cross(books_, instrument, cross, {reference, book.tick, options_.largest_price});
}

std::uint32_t Engine::first_in_cross(std::uint32_t instrument, CrossKind cross,
                                     Side side) const noexcept {
    std::uint32_t first = no_index;
    std::int64_t rank = no_rank;
    bool displayed = false;
    for (const OrderBook order_book : books_of(cross)) {
        const std::uint32_t index = books_.best(instrument, order_book, side);
        if (index == no_index) continue;
        const Level& level = books_.level(index);
        const bool ahead = level.rank > rank ||
                           (level.rank == rank && !displayed &&
                            books_.order(level.head).reference < books_.order(first).reference);
        if (!ahead) continue;
        first = level.head;
        rank = level.rank;
        displayed = order_book == OrderBook::displayed;
    }
    return first;
}

OrderView Engine::view_of(const Order& order) noexcept {
    return {.order_id = order.id,
            .reference = order.reference,
            .price = order.price,
            .shown = order.shown,
            .reserve = order.reserve,
            .display = order.display,
            .instrument = order.instrument,
            .participant = order.participant,
            .producer = order.producer,
            .side = order.side,
            .book = order.book,
            .type = order.type};
}

std::uint64_t Engine::live_orders(std::uint32_t instrument) const noexcept {
    std::uint64_t orders = 0;
    for (std::uint32_t which = 0; which < order_books; ++which) {
        for (const Side side : {Side::bid, Side::ask}) {
            books_.for_each_level(instrument, static_cast<OrderBook>(which), side,
                                  [&](const Level& level) {
                                      orders += level.orders;
                                      return true;
                                  });
        }
    }
    return orders;
}

std::uint64_t Engine::state_hash() const noexcept {
    const book::HashSeed fixed;
    std::uint64_t hash = instruments();
    const auto add = [&](std::uint64_t value) { hash = fixed.mix(hash, value); };
    add(references_);
    add(matches_);
    for (std::uint32_t instrument = 0; instrument < instruments(); ++instrument) {
        const Book& book = books_.book(instrument);
        add(as_index(book.state));
        add(static_cast<std::uint64_t>(book.last_trade));
        for (std::uint32_t which = 0; which < order_books; ++which) {
            for (const Side side : {Side::bid, Side::ask}) {
                for_each_order(instrument, static_cast<OrderBook>(which), side,
                               [&](const OrderView& order) {
                                   add(order.order_id);
                                   add(order.reference);
                                   add(static_cast<std::uint64_t>(order.price));
                                   add(order.shown | order.reserve << 32U);
                                   add(order.display | std::uint64_t{order.participant} << 32U |
                                       std::uint64_t{order.producer} << 48U);
                                   add(as_index(order.type) + 1);
                               });
                add(0);
            }
        }
    }
    return hash;
}

void Engine::check() const noexcept {
    books_.check();
    for (std::uint32_t instrument = 0; instrument < instruments(); ++instrument) {
        const Book& book = books_.book(instrument);
        if (book.state == TradingState::continuous) WIREBOOK_CHECK(!is_crossed(instrument));
        for (std::uint32_t which = 0; which < order_books; ++which) {
            for (const Side side : {Side::bid, Side::ask}) {
                for_each_order(
                    instrument, static_cast<OrderBook>(which), side, [&](const OrderView& order) {
                        const bool market = order.type == OrderType::market;
                        WIREBOOK_CHECK(order.reference <= references_);
                        WIREBOOK_CHECK(market ? order.price == 0 : order.price % book.tick == 0);
                        WIREBOOK_CHECK((order.shown + order.reserve) % book.lot == 0);
                        WIREBOOK_CHECK(order.book != OrderBook::market || market);
                    });
            }
        }
    }
}

}  // namespace wirebook::match
