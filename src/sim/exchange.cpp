#include "wirebook/sim/exchange.hpp"

#include <algorithm>
#include <utility>

#include "wirebook/sim/deep_feed.hpp"
#include "wirebook/sim/itch_feed.hpp"

namespace wirebook::sim {
namespace {

// Stream of random numbers of the listings; the day has its own (market_day.cpp).
constexpr std::uint64_t stream_listings = 100;
constexpr std::uint64_t stream_faults = 101;

std::vector<Listing> listings_of(const ExchangeOptions& options) {
    return make_listings(Random::of_stream(options.day.seed, stream_listings), options.instruments);
}

// Books breathe around what is wanted of them; thin ones are never below a few orders.
std::uint32_t order_limit(const ExchangeOptions& options) {
    const std::uint64_t room =
        options.day.live_orders * 3 / 2 + std::uint64_t{options.instruments} * 64 + 4'096;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(room, std::uint64_t{1} << 27U));
}

match::EngineOptions engine_options(const ExchangeOptions& options) {
    match::EngineOptions engine;
    engine.instruments = options.instruments;
    engine.orders = order_limit(options) + 64;
    engine.levels = engine.orders + 64;
    engine.largest_quantity = 10'000'000;
    engine.largest_price = 2'000'000'000;
    engine.hash_seed = 1;  // its participants are ours: nobody attacks the table
    return engine;
}

MoldFraming::Session mold_session(std::uint64_t seed) {
    const std::string digits = std::to_string(10'000'000 + seed % 10'000'000);
    return padded<10>("SIM" + digits.substr(1));
}

IexSession iex_session(std::uint64_t seed) {
    IexSession session;
    session.session = static_cast<std::uint32_t>(1'000'000 + seed % 1'000'000'000);
    return session;
}

}  // namespace

Result<std::unique_ptr<Exchange>> Exchange::create(const ExchangeOptions& options,
                                                   ExchangeOutputs outputs) {
    const match::EngineOptions sizes = engine_options(options);
    ArenaOptions memory;
    memory.bytes = match::Engine::bytes_needed(sizes);
    memory.hugetlb = false;  // those pages are for the handler beside it
    auto arena = Arena::create(memory);
    if (!arena) return arena.error();
    std::vector<match::InstrumentTerms> terms;
    for (const Listing& listing : listings_of(options)) {
        terms.push_back({listing.tick_e4, 1, listing.price_e4});
    }
    auto engine = match::Engine::create(arena.value(), sizes, terms);
    if (!engine) return engine.error();
    return std::unique_ptr<Exchange>(new Exchange(  // NOLINT: its constructor is private
        std::move(arena).value(), std::move(engine).value(), options, std::move(outputs)));
}

Exchange::Exchange(Arena arena, match::Engine engine, const ExchangeOptions& options,
                   ExchangeOutputs outputs)
    : arena_(std::move(arena)),
      engine_(std::move(engine)),
      outputs_(std::move(outputs)),
      listings_(listings_of(options)),
      activity_(listings_) {
    constexpr std::int64_t half_past_nine_ns = 34'200'000'000'000;
    DayOptions day = options.day;
    day.open_ns = options.midnight_ns + half_past_nine_ns;
    day.order_limit = order_limit(options);
    const std::int64_t start_ns = MarketDay::start_of(day, listings_.size());
    if (outputs_.top) truth_ = std::make_unique<Truth>(options.instruments, outputs_.top);
    for (std::size_t i = 0; i < options.lines.size(); ++i) {
        const auto line = static_cast<std::uint8_t>(i);
        stages_.push_back(std::make_unique<FaultStage>(options.faults, line,
                                                       day.seed ^ stream_faults, start_ns,
                                                       [this](const FrameView& frame) {
                                                           if (outputs_.frame)
                                                               outputs_.frame(frame);
                                                       }));
        to_stages_.push_back(std::make_unique<ToStage>(ToStage{stages_.back().get()}));
        framers_.emplace_back(line, options.lines[i].address, *to_stages_.back(),
                              options.lines[i].skew_ns);
    }

    std::vector<PackerOptions> packing;
    for (const LineOptions& line : options.lines) packing.push_back(line.packing);
    const LineSink to_framer = [this](std::size_t line, const PayloadInfo& info,
                                      std::span<const std::byte> payload) {
        framers_[line].on_payload(info, payload);
    };
    if (options.lines.empty()) {
        out_ = std::make_unique<MessageStream>(outputs_.message, truth_keeper());
    } else if (options.feed == FeedKind::itch50) {
        out_ = std::make_unique<Broadcast<MoldFraming>>(packing, mold_session(day.seed), start_ns,
                                                        to_framer, truth_keeper());
    } else {
        out_ = std::make_unique<Broadcast<IexFraming>>(packing, iex_session(day.seed), start_ns,
                                                       to_framer, truth_keeper());
    }
    if (options.feed == FeedKind::itch50) {
        feed_ = std::make_unique<ItchFeed>(engine_, listings_, options.midnight_ns, *out_);
    } else {
        feed_ = std::make_unique<DeepFeed>(engine_, listings_, *out_);
    }
    day_ = std::make_unique<MarketDay>(engine_, listings_, activity_, *feed_, day);
    restarts_ = std::make_unique<RestartPlan>(
        options.faults, static_cast<std::uint8_t>(options.lines.size()), start_ns);
    day_->on_time([this](std::int64_t time_ns, bool may_restart) {
        if (outputs_.no_frame_before) outputs_.no_frame_before(time_ns);
        return may_restart && !restarts_->empty() && session_restarted(time_ns);
    });
}

TruthKeeper Exchange::truth_keeper() {
    TruthKeeper keeper;
    keeper.truth = truth_.get();
    keeper.top = [this](std::uint32_t instrument) {
        return Top{engine_.best(instrument, match::Side::bid),
                   engine_.best(instrument, match::Side::ask)};
    };
    return keeper;
}

bool Exchange::session_restarted(std::int64_t time_ns) {
    bool restarted = false;
    for (const RestartPlan::Restart& restart : restarts_->due(time_ns, out_->packets())) {
        if (restart.kind == FaultKind::session_restart) {
            out_->restart_session();
            restarted = true;
        } else {
            out_->silence_until(restart.line, time_ns + restart.silence_ns);
            ++sender_restarts_;
        }
    }
    return restarted;
}

void Exchange::run(const std::function<bool()>& keep_going) {
    day_->run(keep_going);
    out_->finish();
    for (const auto& stage : stages_) stage->finish();
}

}  // namespace wirebook::sim
