// Messages of all types of a feed with small random values, so that references, symbols and prices
// meet again: what a hostile sender would use against books. The same seed gives the same bytes.
#pragma once

#include <random>
#include <vector>

#include "feed_rig.hpp"
#include "wirebook/wire/fields.hpp"

namespace wirebook::feed::testing {

class MessageMaker {
public:
    MessageMaker(wire::Protocol protocol, std::uint64_t seed) : protocol_(protocol), random_(seed) {
        for (unsigned type = 0; type < 256; ++type) {
            if (wire::minimum_length(protocol, static_cast<unsigned char>(type)) != 0) {
                types_.push_back(static_cast<unsigned char>(type));
            }
        }
    }
    [[nodiscard]] const std::vector<unsigned char>& types() const { return types_; }
    [[nodiscard]] bool over_iex_tp() const {
        return protocol_ == wire::Protocol::iex_tops || protocol_ == wire::Protocol::iex_deep;
    }
    // Below `limit`.
    std::uint64_t number(std::uint64_t limit) { return random_() % limit; }

    Buffer make(unsigned char type) {
        Buffer m(wire::minimum_length(protocol_, type));
        for (std::byte& byte : m) byte = std::byte(number(6) == 0 ? number(3) : 0);
        m[0] = std::byte{type};
        switch (protocol_) {
            case wire::Protocol::itch50: itch50(type, m); break;
            case wire::Protocol::itch_jnx: jnx(type, m); break;
            case wire::Protocol::iex_tops:
            case wire::Protocol::iex_deep: iex_message(type, m); break;
        }
        return m;
    }
    // Every second one changes a book.
    Buffer make() {
        static constexpr std::array<std::string_view, 4> book_types{"AAFFEEDUUX", "AAFFEEDU", "Q",
                                                                    "85"};
        const std::string_view book = book_types[static_cast<std::size_t>(protocol_)];
        if (number(2) == 0) return make(types_[number(types_.size())]);
        return make(static_cast<unsigned char>(book[number(book.size())]));
    }
    Buffer payload(std::uint64_t sequence, const std::vector<Buffer>& messages,
                   std::uint32_t session = 1) const {
        if (!over_iex_tp()) return mold({std::to_string(session), sequence}, messages);
        return iex(
            {.protocol = protocol_ == wire::Protocol::iex_tops ? wire::iex_tp::protocol_tops_1_6
                                                               : wire::iex_tp::protocol_deep_1_0,
             .session = session,
             .sequence = sequence},
            messages);
    }

private:
    void set(Buffer& m, std::size_t at, std::uint64_t value) { m[at] = std::byte(value); }
    void side(Buffer& m, std::size_t at) {
        set(m, at, static_cast<std::uint64_t>(number(20) == 0 ? 'X' : number(2) == 0 ? 'B' : 'S'));
    }
    void itch50(unsigned char type, Buffer& m) {
        if (type == 'A' || type == 'F') {
            side(m, 19);
            set(m, 23, number(10));
            set(m, 35, number(100));
        }
        if (type == 'E' || type == 'C' || type == 'X') set(m, 22, number(5));
        if (type == 'U') set(m, 30, number(10)), set(m, 34, number(100));
        if (type == 'S') set(m, 11, static_cast<std::uint64_t>("OSQMEC"[number(6)]));
        if (type == 'H') set(m, 19, static_cast<std::uint64_t>("HPQT"[number(4)]));
    }
    void jnx(unsigned char type, Buffer& m) {
        if (type == 'A' || type == 'F') {
            side(m, 13);
            set(m, 17, number(10));
            set(m, 29, number(100));
        }
        if (type == 'E') set(m, 16, number(5));
        if (type == 'U') set(m, 24, number(10)), set(m, 28, number(100));
        if (type == 'S') set(m, 9, static_cast<std::uint64_t>("OSQMEC"[number(6)]));
        if (type == 'H') set(m, 13, static_cast<std::uint64_t>("TV"[number(2)]));
    }
    void iex_message(unsigned char type, Buffer& m) {
        if (m.size() >= 18) {
            for (std::size_t i = 10; i < 18; ++i) m[i] = std::byte{' '};
            set(m, 10, 'A' + number(3));
        }
        if (type == 'H') set(m, 1, static_cast<std::uint64_t>("HOPT"[number(4)]));
        if (type == '8' || type == '5') {
            set(m, 1, number(2));
            set(m, 18, number(4));
            set(m, 22, number(20));
        }
        if (type == 'Q') set(m, 18, number(3)), set(m, 38, number(3));
    }

    wire::Protocol protocol_;
    std::mt19937_64 random_;
    std::vector<unsigned char> types_;
};

inline PipelineOptions small_pipeline_of(wire::Protocol protocol) {
    PipelineOptions options = small_pipeline();
    options.feed = protocol;
    return options;
}

}  // namespace wirebook::feed::testing
