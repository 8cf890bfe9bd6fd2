// Japannext PTS ITCH 1.6/1.7 messages -> book updates and events.
//
// An instrument is an order book id in a group; each group is a market with hours of its own.
// Messages carry nanoseconds within the second that the last T told; before the first T that is
// second 0. May depend on core, wire and book. One a channel, owned by its lcore.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "wirebook/feed/batch_writer.hpp"
#include "wirebook/feed/instrument_map.hpp"
#include "wirebook/feed/symbol_filter.hpp"
#include "wirebook/wire/itch_jnx.hpp"
#include "wirebook/wire/itch_jnx_decode.hpp"
#include "wirebook/wire/protocol.hpp"

namespace wirebook::feed {

// "6798.DAY": the id as its ASCII characters where all four bytes print, else as a number.
class JnxSymbol {
public:
    JnxSymbol(std::uint32_t orderbook_id, const std::array<char, 4>& group) noexcept;
    [[nodiscard]] std::string_view view() const noexcept { return {text_.data(), size_}; }

private:
    std::array<char, 16> text_{};  // 10 digits, a dot, 4 characters at most
    std::size_t size_ = 0;
};

class JnxHandler {
public:
    static constexpr wire::Protocol protocol = wire::Protocol::itch_jnx;

    JnxHandler(BatchWriter out, const SymbolFilter& filter, std::uint32_t instruments)
        : out_(out), filter_(filter), map_(instruments), known_(instruments) {}

    [[nodiscard]] wire::DecodeStatus decode(wire::Bytes message) noexcept {
        return wire::itch_jnx::decode(message, *this);
    }
    [[nodiscard]] const InstrumentMap& instruments() const noexcept { return map_; }
    void new_session() noexcept {
        seconds_ = 0;
        known_.assign(known_.size(), Known{});
    }

    void on(const wire::itch_jnx::Seconds& m) noexcept { seconds_ = m.seconds.get(); }
    void on(const wire::itch_jnx::AddOrder& m) noexcept { add(m); }
    void on(const wire::itch_jnx::AddOrderAttributed& m) noexcept { add(m); }
    // E, D and U name no order book: the order tells.
    void on(const wire::itch_jnx::OrderExecuted& m) noexcept {
        out_.execute(book::no_instrument, m.order_number.get(), m.executed_qty.get(),
                     m.match_number.get(), book::update_flag::printable, 0, time_ns(m));
    }
    void on(const wire::itch_jnx::OrderDelete& m) noexcept {
        out_.remove(book::no_instrument, m.order_number.get(), time_ns(m));
    }
    void on(const wire::itch_jnx::OrderReplace& m) noexcept {
        out_.replace(book::no_instrument, m.original_number.get(), m.new_number.get(),
                     m.price.get(), m.qty.get(), time_ns(m));
    }
    void on(const wire::itch_jnx::SystemEvent& m) noexcept {
        const char code = static_cast<char>(m.event);
        book::Event& event =
            out_.event(book::EventKind::system, 'S', book::no_instrument, time_ns(m));
        event.value = code;
        set_text(event, m.group);
        if (code == 'Q' || code == 'M') out_.market(group_index(m.group), code == 'Q');
    }
    void on(const wire::itch_jnx::OrderbookDirectory& m) noexcept {
        const std::uint32_t decimals = m.price_decimals.get();
        const auto places =
            static_cast<std::uint8_t>(decimals > max_places ? max_places : decimals);
        const std::uint32_t instrument = find(m);
        if (instrument < known_.size()) name(m, instrument, places);
        book::Event& event = out_.event(book::EventKind::directory, 'R', instrument, time_ns(m));
        event.quantity = m.round_lot.get();
        event.price2 = m.lower_limit.get();
        event.price3 = m.upper_limit.get();
        set_text(event, m.code);
    }
    void on(const wire::itch_jnx::TradingState& m) noexcept {
        const std::uint32_t instrument = find(m);
        out_.trading(instrument, m.state == 'T');
        out_.event(book::EventKind::status, 'H', instrument, time_ns(m)).value =
            static_cast<char>(m.state);
    }
    void on(const wire::itch_jnx::ShortSellingRestriction& m) noexcept {
        out_.event(book::EventKind::status, 'Y', find(m), time_ns(m)).value =
            static_cast<char>(m.state);
    }
    void on(const wire::itch_jnx::PriceTickSize&) noexcept {}

private:
    static constexpr std::uint32_t max_places = 255;  // a price has ten digits
    static constexpr std::uint32_t max_groups = 64;
    struct Known {
        bool grouped = false, named = false;  // in this session
    };

    template <class M>
    [[nodiscard]] std::int64_t time_ns(const M& m) const noexcept {
        return std::int64_t{seconds_} * 1'000'000'000 + m.ns.get();
    }
    static std::uint32_t bits_of(const std::array<char, 4>& group) noexcept {
        std::uint32_t bits = 0;
        std::memcpy(&bits, group.data(), sizeof bits);
        return bits;
    }

    // Index of the order book, which the first message of a session puts into its group.
    template <class M>
    [[nodiscard]] std::uint32_t find(const M& m) noexcept {
        const std::uint32_t instrument =
            map_.find_or_add({m.orderbook_id.get(), bits_of(m.group)}).index;
        if (instrument < known_.size() && !known_[instrument].grouped) {
            known_[instrument].grouped = true;
            out_.group(instrument, group_index(m.group));
        }
        return instrument;
    }
    template <class M>
    void add(const M& m) noexcept {
        const std::uint32_t instrument = find(m);
        if (instrument < known_.size() && !known_[instrument].named) name(m, instrument, 0);
        out_.add(instrument, m.order_number.get(), static_cast<char>(m.side), m.price.get(),
                 m.qty.get(), time_ns(m));
    }
    template <class M>
    void name(const M& m, std::uint32_t instrument, std::uint8_t places) noexcept {
        const JnxSymbol symbol(m.orderbook_id.get(), m.group);
        known_[instrument].named = true;
        out_.name(instrument, symbol.view(), places, filter_.follows(symbol.view()));
    }
    // Groups beyond the last share its hours; the venue has four.
    [[nodiscard]] std::uint32_t group_index(const std::array<char, 4>& group) noexcept {
        const std::uint32_t bits = bits_of(group);
        for (std::uint32_t i = 0; i < groups_; ++i) {
            if (group_bits_[i] == bits) return i;
        }
        if (groups_ == max_groups) return max_groups - 1;
        group_bits_[groups_] = bits;
        groups_ += 1;
        return groups_ - 1;
    }

    BatchWriter out_;
    const SymbolFilter& filter_;
    InstrumentMap map_;
    std::vector<Known> known_;  // by instrument
    std::uint32_t seconds_ = 0;
    std::array<std::uint32_t, max_groups> group_bits_{};
    std::uint32_t groups_ = 0;
};

}  // namespace wirebook::feed
