// A 64-bit hash over what came out of the books, in order: two runs that gave the same snapshots
// and events have the same digits. docs/replay.md, `fingerprint`.
//
// Not cryptographic: multiply and fold of each 64-bit word into the state (as in wyhash). Nothing
// of time or of this machine goes in. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace wirebook::app {

class Fingerprint {
public:
    void add(std::uint64_t word) noexcept {
        __extension__ using Wide = unsigned __int128;
        const auto product =
            static_cast<Wide>(state_ ^ word ^ 0xA076'1D64'78BD'642Fu) * 0xE703'7ED1'A0B4'28DBu;
        state_ = (static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64)) +
                 0x8EBC'6AF0'9C88'C6E3u;
    }
    void add_signed(std::int64_t word) noexcept { add(static_cast<std::uint64_t>(word)); }
    // At most 16 bytes, zero padded: symbols, short texts.
    void add_text(std::string_view text) noexcept {
        std::array<std::uint64_t, 2> words{};
        std::memcpy(words.data(), text.data(), text.size() < 16 ? text.size() : 16);
        add(words[0]);
        add(words[1]);
    }
    [[nodiscard]] std::uint64_t value() const noexcept { return state_; }
    [[nodiscard]] std::string digits() const;  // 16, lower case hexadecimal

private:
    std::uint64_t state_ = 0x5769'7265'626F'6F6Bu;  // "Wirebook"
};

}  // namespace wirebook::app
