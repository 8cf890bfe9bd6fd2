#include "wirebook/feed/jnx_handler.hpp"

#include <algorithm>
#include <charconv>

namespace wirebook::feed {

JnxSymbol::JnxSymbol(std::uint32_t orderbook_id, const std::array<char, 4>& group) noexcept {
    std::array<char, 4> characters{};
    bool prints = true;
    for (std::size_t i = 0; i < characters.size(); ++i) {
        const auto byte = static_cast<unsigned char>(orderbook_id >> (24 - 8 * i));
        characters[i] = static_cast<char>(byte);
        prints = prints && byte >= 0x20 && byte <= 0x7E;
    }
    char* end = text_.data();
    if (prints) {
        end = std::copy(characters.begin(), characters.end(), end);
    } else {
        end = std::to_chars(end, text_.data() + 10, orderbook_id).ptr;
    }
    *end++ = '.';
    end = std::copy(group.begin(), group.end(), end);
    size_ = static_cast<std::size_t>(end - text_.data());
    while (size_ > 0 && text_[size_ - 1] == ' ') size_ -= 1;
}

}  // namespace wirebook::feed
