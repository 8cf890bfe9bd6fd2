// The configured list of symbols: which instruments have books. Empty means all.
//
// May depend on core. Built at start, read by handlers when an instrument gets its first name.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace wirebook::feed {

class SymbolFilter {
public:
    SymbolFilter() = default;
    explicit SymbolFilter(std::vector<std::string> symbols) : symbols_(std::move(symbols)) {
        std::sort(symbols_.begin(), symbols_.end());
    }
    [[nodiscard]] bool follows_all() const noexcept { return symbols_.empty(); }
    [[nodiscard]] bool follows(std::string_view symbol) const noexcept {
        return symbols_.empty() || std::binary_search(symbols_.begin(), symbols_.end(), symbol);
    }

private:
    std::vector<std::string> symbols_;  // ascending
};

}  // namespace wirebook::feed
