// The instruments of the simulated exchange: symbols, prices and the facts of a stock directory,
// all from a seed.
//
// Activity is Zipf's: the k-th most active instrument has a share in proportion to 1 / (k + 2).
// sim may depend on everything but app. Made once at start; then read by anybody.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "wirebook/core/random.hpp"

namespace wirebook::sim {

struct Listing {
    std::string symbol;          // 1 to 8 characters, unique
    std::int64_t price_e4 = 0;   // yesterday's close: where trading starts
    std::int64_t tick_e4 = 100;  // a cent, below a dollar a hundredth of one
    std::uint32_t round_lot = 100;
    std::uint64_t activity = 1;  // share in the traffic, relative to the others'
    // Directory codes of ITCH 5.0; see its sheet, message R.
    char market_category = 'Q';
    char financial_status = 'N';
    char issue_classification = 'C';
    std::array<char, 2> issue_sub_type{'Z', ' '};
    char authenticity = 'P';
    char luld_tier = '1';
    bool exchange_traded_product = false;
    char market_maker = 'N';  // whether the exchange's market maker is registered in it
};

[[nodiscard]] std::vector<Listing> make_listings(Random random, std::uint32_t count);

// Draws instruments by their activity.
class ActivityTable {
public:
    explicit ActivityTable(const std::vector<Listing>& listings);
    [[nodiscard]] std::uint32_t draw(Random& random) const noexcept;
    // Of all activity, in units of 2^-32.
    [[nodiscard]] std::uint64_t share_q32(std::uint32_t instrument) const noexcept;

private:
    std::vector<std::uint64_t> up_to_;  // sum of the activities up to and with this instrument
};

}  // namespace wirebook::sim
