// The requests that match_bench times, made from a seed by a run of the engine itself, so that
// cancels and replaces are aimed at orders that live.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "wirebook/core/arena.hpp"
#include "wirebook/match/engine.hpp"

namespace match_bench {

using namespace wirebook;
using namespace wirebook::match;

enum class Operation : std::uint8_t { add, cancel, replace, cross };
constexpr std::size_t kinds = 4;
constexpr std::array<const char*, kinds> kind_names = {"add", "cancel", "replace", "cross"};
constexpr std::size_t batch = 64;  // requests in one call of the span version

struct Settings {
    std::uint32_t operations = 2'000'000;
    std::uint32_t repeat = 5;
    std::uint64_t seed = 1;
    std::uint32_t books = 0;  // of --count
    std::string count;        // run one kind once, for instruction counts
};

struct Shape {
    const char* name;
    std::uint32_t books;
    std::uint32_t live;
};
constexpr std::array<Shape, 2> shapes = {
    {{"one book, 100,000 orders", 1, 100'000}, {"8,000 books, 800,000 orders", 8'000, 800'000}}};

inline EngineOptions options_for(const Shape& shape, const Settings& settings) {
    EngineOptions options;
    options.instruments = shape.books;
    options.orders = shape.live + shape.live / 4 + settings.operations / 10;
    options.levels = options.orders / 2;
    options.largest_price = 100'000'000;
    options.hash_seed = settings.seed;
    return options;
}

// Keeps each report whole, as a ring to a feed would, so that no part of it is optimised away.
struct KeepingSink {
    static constexpr std::size_t kept = 512;
    std::array<Report, kept> ring{};
    std::uint64_t reports = 0;
    std::uint64_t sum = 0;
    std::uint64_t executions = 0;
    [[nodiscard]] void* report_place() noexcept { return &ring[reports % kept]; }
    void on_report(const Report& report) noexcept {
        Report& kept_one = ring[reports++ % kept];
        if (&report != &kept_one) kept_one = report;
        sum += report.reference ^ report.quantity ^ static_cast<std::uint64_t>(report.price);
        executions += report.kind == ReportKind::executed ? 1 : 0;
    }
};

class Rig {
public:
    Rig(const Shape& shape, const Settings& settings)
        : arena_(Arena::create({.bytes = Engine::bytes_needed(options_for(shape, settings)),
                                .prefault = true})
                     .value()),
          engine(Engine::create(arena_, options_for(shape, settings),
                                std::vector<InstrumentTerms>(shape.books))
                     .value()) {
        for (std::uint32_t i = 0; i < shape.books; ++i) {
            Request r;
            r.kind = RequestKind::set_state;
            r.instrument = i;
            r.state = TradingState::continuous;
            KeepingSink sink;
            engine.apply(r, sink);
        }
    }

private:
    Arena arena_;

public:
    Engine engine;
};

struct Stream {
    std::vector<Request> warm_up;
    std::vector<Request> mix;
    struct Block {
        Operation kind;
        std::vector<Request> requests;
    };
    std::vector<Block> blocks;
};
constexpr std::uint32_t block_length = 10'000;

class Generator {
public:
    Generator(const Shape& shape, const Settings& settings)
        : shape_(shape), rig_(shape, settings), engine_(settings.seed) {}

    Stream make(std::uint32_t operations) {
        Stream stream;
        while (live_.size() < shape_.live) make(Operation::add, stream.warm_up);
        while (stream.mix.size() < operations) {
            const std::uint64_t dice = below(100);
            make(dice < 47   ? Operation::add
                 : dice < 87 ? Operation::cancel
                 : dice < 95 ? Operation::replace
                             : Operation::cross,
                 stream.mix);
        }
        // A round of blocks ends with cancels that leave the books as full as they were.
        const std::size_t live = live_.size();
        for (std::uint32_t n = 0; n < operations / (5 * block_length); ++n) {
            block(Operation::add, stream, [&](std::size_t i) { return i < 2 * block_length; });
            block(Operation::replace, stream, [&](std::size_t i) { return i < block_length; });
            block(Operation::cross, stream, [&](std::size_t i) { return i < block_length; });
            block(Operation::cancel, stream, [&](std::size_t) { return live_.size() > live; });
        }
        return stream;
    }

    // Keeps the list of live orders.
    void on_report(const Report& r) noexcept {
        if (r.kind == ReportKind::added) {
            enter(r.order_id, r.participant, r.side, r.instrument);
        } else if ((r.kind == ReportKind::executed || r.kind == ReportKind::removed) &&
                   (r.flags & report_flag::last) != 0 && (r.flags & report_flag::displayed) != 0) {
            leave(r.order_id);
        } else if (r.kind == ReportKind::replaced) {
            leave(r.contra_order_id);
            enter(r.order_id, r.participant, r.side, r.instrument);
        }
    }

private:
    struct Live {
        std::uint64_t id;
        std::uint32_t instrument;
        std::uint16_t participant;
        Side side;
    };
    std::uint64_t below(std::uint64_t limit) { return engine_() % limit; }
    double unit() { return static_cast<double>(engine_() >> 11U) * 0x1p-53; }

    void enter(std::uint64_t id, std::uint16_t participant, Side side, std::uint32_t instrument) {
        where_[id] = live_.size();
        live_.push_back({id, instrument, participant, side});
    }
    void leave(std::uint64_t id) {
        const auto found = where_.find(id);
        live_[found->second] = live_.back();
        where_[live_.back().id] = found->second;
        live_.pop_back();
        where_.erase(id);
    }
    // Ticks from the middle: most near the touch, some far.
    std::int64_t away() {
        const std::uint64_t dice = below(1000);
        const double mean = dice < 600 ? 3.5 : 22.0;
        const auto near = static_cast<std::int64_t>(-mean * std::log(1.0 - unit()));
        return dice < 11 ? 1'024 + static_cast<std::int64_t>(below(8'000)) : near;
    }
    std::int64_t passive(Side side) { return middle + (side == Side::bid ? -1 : 1) * (1 + away()); }

    template <class While>
    void block(Operation kind, Stream& stream, While&& goes_on) {
        Stream::Block& block = stream.blocks.emplace_back();
        block.kind = kind;
        while (goes_on(block.requests.size())) make(kind, block.requests);
    }

    void make(Operation kind, std::vector<Request>& to) {
        Request r;
        r.participant = static_cast<std::uint16_t>(1 + below(50));
        r.quantity = 100 * (1 + below(5));
        // Skewed: the first of the books have most.
        r.instrument = static_cast<std::uint32_t>(below(shape_.books) * (1 + below(shape_.books)) /
                                                  shape_.books);
        r.side = static_cast<Side>(below(2));
        if (kind == Operation::add || kind == Operation::cross) {
            // Ids as participants choose them: a prefix of theirs and a count.
            r.order_id = std::uint64_t{r.participant} << 40U | ++ids_;
            r.price = passive(r.side);
            if (kind == Operation::cross) {
                r.price = passive(r.side == Side::bid ? Side::ask : Side::bid) +
                          (r.side == Side::bid ? 2'000'000 : -2'000'000);
                r.time_in_force = TimeInForce::immediate_or_cancel;
            }
        } else {
            const Live order = live_[below(live_.size())];
            r.kind = kind == Operation::cancel ? RequestKind::cancel : RequestKind::replace;
            r.order_id = order.id;
            r.participant = order.participant;
            r.instrument = order.instrument;
            if (kind == Operation::replace) {
                r.new_order_id = std::uint64_t{r.participant} << 40U | ++ids_;
                r.price = passive(order.side);
            }
        }
        to.push_back(r);
        rig_.engine.apply(r, *this);
    }

    static constexpr std::int64_t middle = 10'000'000;
    Shape shape_;
    match_bench::Rig rig_;
    std::mt19937_64 engine_;
    std::vector<Live> live_;
    std::unordered_map<std::uint64_t, std::size_t> where_;
    std::uint64_t ids_ = 0;
};

}  // namespace match_bench
