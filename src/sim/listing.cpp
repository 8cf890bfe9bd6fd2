#include "wirebook/sim/listing.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>

namespace wirebook::sim {
namespace {

// Pronounceable, unique by index: the digits of the index in alternating alphabets.
std::string symbol_of(std::uint32_t index) {
    constexpr std::array<std::string_view, 2> alphabets{"BCDFGHKLMNPRSTVW", "AEIOU"};
    std::string symbol;
    std::uint32_t rest = index;
    for (std::size_t place = 0; place < 3 || rest != 0; ++place) {
        const std::string_view alphabet = alphabets[place % 2];
        symbol.push_back(alphabet[rest % alphabet.size()]);
        rest /= static_cast<std::uint32_t>(alphabet.size());
    }
    if (index % 97 == 96) symbol += ".A";  // share classes, units and the like have such symbols
    return symbol;
}

// Most stocks cost between 5 and 200 dollars; a few less than one, a few more than a thousand.
std::int64_t draw_price(Random& random) {
    const std::uint64_t kind = random.below(100);
    if (kind < 3) return static_cast<std::int64_t>(random.between(2'000, 9'999));
    std::uint64_t cents = random.between(500, 20'000);
    if (kind < 15) cents = random.between(100, 499);
    if (kind >= 96) cents = random.between(20'001, 250'000);
    return static_cast<std::int64_t>(cents * 100);
}

}  // namespace

std::vector<Listing> make_listings(Random random, std::uint32_t count) {
    std::vector<Listing> listings(count);
    std::vector<std::uint32_t> rank(count);
    std::iota(rank.begin(), rank.end(), 0U);
    for (std::uint32_t i = count; i > 1; --i) std::swap(rank[i - 1], rank[random.below(i)]);

    constexpr std::string_view categories = "QQQQGGSSNNAPZ";
    for (std::uint32_t i = 0; i < count; ++i) {
        Listing& listing = listings[i];
        listing.symbol = symbol_of(i);
        listing.price_e4 = draw_price(random);
        if (listing.price_e4 < 10'000) listing.tick_e4 = 1;
        listing.activity = 1'000'000'000 / (std::uint64_t{rank[i]} + 3);
        listing.market_category = categories[random.below(categories.size())];
        listing.luld_tier = random.below(4) == 0 ? '1' : '2';
        if (random.below(4) == 0) {
            listing.exchange_traded_product = true;
            listing.issue_classification = 'Q';
            listing.issue_sub_type = {'I', ' '};
        }
        if (random.below(50) == 0) listing.financial_status = 'D';
        if (random.below(3) == 0) listing.market_maker = 'Y';
    }
    if (count >= 50) {  // a test symbol trades beside the others, as on a real feed
        listings.back().symbol = "ZVZZT";
        listings.back().authenticity = 'T';
    }
    return listings;
}

ActivityTable::ActivityTable(const std::vector<Listing>& listings) {
    std::uint64_t sum = 0;
    up_to_.reserve(listings.size());
    for (const Listing& listing : listings) up_to_.push_back(sum += listing.activity);
}

std::uint32_t ActivityTable::draw(Random& random) const noexcept {
    const std::uint64_t drawn = random.below(up_to_.back());
    const auto found = std::upper_bound(up_to_.begin(), up_to_.end(), drawn);
    return static_cast<std::uint32_t>(found - up_to_.begin());
}

std::uint64_t ActivityTable::share_q32(std::uint32_t instrument) const noexcept {
    const std::uint64_t below = instrument == 0 ? 0 : up_to_[instrument - 1];
    return ((up_to_[instrument] - below) << 32U) / up_to_.back();
}

}  // namespace wirebook::sim
