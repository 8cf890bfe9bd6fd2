// Instruments, arrivals and participants of the simulated exchange.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "wirebook/sim/arrivals.hpp"
#include "wirebook/sim/exchange.hpp"
#include "wirebook/sim/listing.hpp"
#include "wirebook/sim/truth.hpp"

namespace {

using namespace wirebook;
using namespace wirebook::sim;

ExchangeOptions small_day(std::uint64_t seed) {
    ExchangeOptions options;
    options.day.seed = seed;
    options.day.messages = 30'000;
    options.day.live_orders = 2'000;
    options.instruments = 40;
    options.midnight_ns = 1'796'014'800'000'000'000;
    return options;
}

}  // namespace

TEST_CASE("sim: symbols are unique and short, prices on the tick, for as many as there can be") {
    const std::vector<Listing> listings = make_listings(Random(1), 60'000);
    std::set<std::string> symbols;
    for (const Listing& listing : listings) {
        CHECK(symbols.insert(listing.symbol).second);
        CHECK((!listing.symbol.empty() && listing.symbol.size() <= 8));
        CHECK((listing.price_e4 > 0 && listing.price_e4 % listing.tick_e4 == 0));
        CHECK(listing.activity > 0);
    }
    CHECK(make_listings(Random(1), 100)[57].symbol == listings[57].symbol);
}

TEST_CASE("sim: activity follows Zipf's law") {
    const std::vector<Listing> listings = make_listings(Random(3), 1'000);
    const ActivityTable activity(listings);
    Random random(4);
    std::vector<std::uint64_t> drawn(listings.size());
    for (int i = 0; i < 200'000; ++i) ++drawn[activity.draw(random)];
    std::uint64_t share = 0;
    for (std::uint32_t i = 0; i < listings.size(); ++i) share += activity.share_q32(i);
    CHECK(share <= std::uint64_t{1} << 32U);
    std::sort(drawn.rbegin(), drawn.rend());
    // Shares are 1/3, 1/4, 1/5 ... of each other.
    CHECK(static_cast<double>(drawn[0]) / static_cast<double>(drawn[9]) == Approx(4).epsilon(.25));
    CHECK(static_cast<double>(drawn[0]) / static_cast<double>(drawn[97]) ==
          Approx(33.3).epsilon(.3));
}

TEST_CASE("sim: arrivals keep the rate asked for, in order, and cluster") {
    const std::vector<Listing> listings = make_listings(Random(3), 50);
    const ActivityTable activity(listings);
    Arrivals arrivals(Random(5), activity, {});
    arrivals.set_rate(100'000);
    constexpr int count = 200'000;
    constexpr std::int64_t window_ns = 1'000'000;
    std::vector<double> in_window;
    std::int64_t last = 0;
    for (int i = 0; i < count; ++i) {
        const Arrival arrival = arrivals.next();
        REQUIRE(arrival.time_ns >= last);
        last = arrival.time_ns;
        in_window.resize(static_cast<std::size_t>(last / window_ns) + 1);
        ++in_window.back();
    }
    CHECK(static_cast<double>(last) / 1e9 == Approx(count / 100'000.0).epsilon(.2));
    // Variance over mean of counts: 1 for independent arrivals, 1 / (1 - n)^2 and more for these.
    const double mean = count / static_cast<double>(in_window.size());
    double variance = 0;
    for (const double found : in_window) variance += (found - mean) * (found - mean);
    variance /= static_cast<double>(in_window.size());
    CHECK(variance / mean > 3);
}

TEST_CASE("sim: a day has the number of messages asked for, and equal seeds give equal days") {
    for (const FeedKind feed : {FeedKind::itch50, FeedKind::deep}) {
        std::map<std::uint64_t, std::uint64_t> hashes;
        for (const std::uint64_t seed : {1U, 2U, 3U, 1U}) {
            ExchangeOptions options = small_day(seed);
            options.feed = feed;
            std::uint64_t messages = 0;
            std::uint64_t hash = 14'695'981'039'346'656'037U;
            ExchangeOutputs outputs;
            outputs.message = [&](std::span<const std::byte> message) {
                ++messages;
                for (const std::byte byte : message) {
                    hash = (hash ^ static_cast<std::uint64_t>(byte)) * 1'099'511'628'211U;
                }
            };
            auto exchange = Exchange::create(options, std::move(outputs));
            REQUIRE(exchange.ok());
            exchange.value()->run([] { return true; });
            CHECK(messages == 30'000);
            const auto [known, is_new] = hashes.emplace(seed, hash);
            CHECK((is_new || known->second == hash));
            exchange.value()->engine().check();
            const double live = static_cast<double>(exchange.value()->engine().live_orders());
            CHECK(live == Approx(2'000).epsilon(.25));
        }
        CHECK(hashes.size() == 3);
        CHECK(hashes[1] != hashes[2]);
    }
}

TEST_CASE("sim: truth has a row for each touched instrument, and waits for open events") {
    std::vector<TruthRow> rows;
    Truth truth(4, [&](const TruthRow& row) { rows.push_back(row); });
    const Top top{{100, 5, 1}, {}};
    truth.touched(2, {true, false, 10}, top);
    truth.touched(1, {true, true, 11}, top);
    truth.touched(2, {true, false, 12}, top);
    truth.packet_closed(1);
    REQUIRE(rows.size() == 1);
    CHECK((rows[0].instrument == 2 && rows[0].time_ns == 12 && rows[0].sequence == 1));
    truth.touched(3, {true, false, 13}, top);
    truth.touched(1, {true, false, 14}, top);
    truth.packet_closed(4);
    REQUIRE(rows.size() == 3);
    CHECK((rows[1].instrument == 1 && rows[2].instrument == 3 && rows[1].packet == 1));
    truth.touched(0, {true, true, 15}, top);
    truth.new_session();
    truth.packet_closed(1);
    CHECK(rows.size() == 3);
    CHECK(truth.packets() == 3);
}
