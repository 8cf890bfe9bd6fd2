// What a journal says about the engine that wrote it: one number of all that decides what an engine
// makes of its requests. The hash seed is left out: nothing depends on it.
// May depend on core and book. A pure function; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "wirebook/match/engine.hpp"
#include "wirebook/match/journal.hpp"

namespace wirebook::match {

[[nodiscard]] inline std::uint64_t engine_digest(const EngineOptions& options,
                                                 std::span<const InstrumentTerms> terms) {
    std::vector<std::uint64_t> words = {options.instruments, options.orders, options.levels,
                                        options.largest_quantity,
                                        static_cast<std::uint64_t>(options.largest_price)};
    for (const InstrumentTerms& one : terms) {
        words.push_back(static_cast<std::uint64_t>(one.tick));
        words.push_back(one.lot);
        words.push_back(static_cast<std::uint64_t>(one.reference_price));
    }
    return journal_digest(words);
}

}  // namespace wirebook::match
