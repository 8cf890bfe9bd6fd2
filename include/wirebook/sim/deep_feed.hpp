// The exchange's feed as IEX DEEP 1.0: engine reports and the day's messages in one stream.
// sim may depend on everything but app. One thread.
#pragma once

#include <optional>

#include "wirebook/match/engine.hpp"
#include "wirebook/sim/broadcast.hpp"
#include "wirebook/sim/deep_context.hpp"
#include "wirebook/sim/deep_day.hpp"
#include "wirebook/sim/deep_encoder.hpp"
#include "wirebook/sim/feed.hpp"
#include "wirebook/sim/listing.hpp"

namespace wirebook::sim {

class DeepFeed final : public Feed {
public:
    // All outlive the feed.
    DeepFeed(const match::Engine& engine, const std::vector<Listing>& listings, MessageOut& out);

    void advance(std::int64_t time_ns) override { out_.advance(time_ns); }
    void system(SystemEvent event, std::int64_t time_ns) override;
    void trading_state(std::uint32_t instrument, match::TradingState state,
                       std::int64_t time_ns) override;
    void directory(std::uint32_t instrument, std::int64_t time_ns) override;
    void short_sale(std::uint32_t instrument, std::int64_t time_ns) override;
    void market_maker(std::uint32_t /*instrument*/, std::int64_t /*time_ns*/) override {}
    void decline_levels(std::int64_t /*time_ns*/) override {}
    void collar(std::uint32_t /*instrument*/, std::int64_t /*reference_e4*/,
                std::int64_t /*lower_e4*/, std::int64_t /*upper_e4*/,
                std::int64_t /*time_ns*/) override {}
    void broken_trade(const match::Report& trade, std::int64_t time_ns) override;
    void announce_orders(std::uint32_t instrument, std::int64_t time_ns) override;
    void on_report(const match::Report& report) override;
    void end_request() override;
    [[nodiscard]] std::uint64_t messages() const noexcept override { return out_.messages(); }

private:
    const match::Engine& engine_;
    const std::vector<Listing>& listings_;
    MessageOut& out_;
    DeepContext context_;
    DeepEncoder<MessageOut> encoder_;
    DeepDay<MessageOut> day_;
    std::optional<match::Report> crossed_;  // by the request that goes on
};

}  // namespace wirebook::sim
