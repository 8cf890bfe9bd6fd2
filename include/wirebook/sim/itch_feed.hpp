// The exchange's feed as ITCH 5.0: engine reports and the day's messages in one stream.
// sim may depend on everything but app. One thread.
#pragma once

#include "wirebook/match/engine.hpp"
#include "wirebook/sim/broadcast.hpp"
#include "wirebook/sim/feed.hpp"
#include "wirebook/sim/itch_context.hpp"
#include "wirebook/sim/itch_day.hpp"
#include "wirebook/sim/itch_encoder.hpp"
#include "wirebook/sim/listing.hpp"

namespace wirebook::sim {

class ItchFeed final : public Feed {
public:
    // `midnight_ns`: of the trading date in New York. All outlive the feed.
    ItchFeed(const match::Engine& engine, const std::vector<Listing>& listings,
             std::int64_t midnight_ns, MessageOut& out);

    void advance(std::int64_t time_ns) override { out_.advance(time_ns); }
    void system(SystemEvent event, std::int64_t time_ns) override;
    void trading_state(std::uint32_t instrument, match::TradingState state,
                       std::int64_t time_ns) override;
    void directory(std::uint32_t instrument, std::int64_t time_ns) override;
    void short_sale(std::uint32_t instrument, std::int64_t time_ns) override;
    void market_maker(std::uint32_t instrument, std::int64_t time_ns) override;
    void decline_levels(std::int64_t time_ns) override;
    void collar(std::uint32_t instrument, std::int64_t reference_e4, std::int64_t lower_e4,
                std::int64_t upper_e4, std::int64_t time_ns) override;
    void broken_trade(const match::Report& trade, std::int64_t time_ns) override;
    void announce_orders(std::uint32_t instrument, std::int64_t time_ns) override;
    void on_report(const match::Report& report) override;
    void end_request() override { encoder_.end_of_request(); }
    [[nodiscard]] std::uint64_t messages() const noexcept override { return out_.messages(); }

private:
    const match::Engine& engine_;
    const std::vector<Listing>& listings_;
    MessageOut& out_;
    ItchContext context_;
    ItchEncoder<MessageOut> encoder_;
    ItchDay<MessageOut> day_;
};

// The engine's instruments as feeds name them, stock locates from 1.
[[nodiscard]] std::vector<FeedInstrument> feed_instruments(const std::vector<Listing>& listings);

}  // namespace wirebook::sim
