// IEX TOPS 1.6 and DEEP 1.0 messages -> quote or level updates, and events.
//
// Both feeds share their administrative messages, trades and auctions; TOPS adds the quote, DEEP
// the price levels with the event flag. An instrument is a symbol. May depend on core, wire and
// book. One a channel, owned by its lcore.
#pragma once

#include <cstring>
#include <string_view>
#include <vector>

#include "wirebook/feed/batch_writer.hpp"
#include "wirebook/feed/instrument_map.hpp"
#include "wirebook/feed/symbol_filter.hpp"
#include "wirebook/wire/iex.hpp"
#include "wirebook/wire/iex_decode.hpp"
#include "wirebook/wire/protocol.hpp"

namespace wirebook::feed {

// What TOPS and DEEP have in common.
class IexHandler {
public:
    IexHandler(BatchWriter out, const SymbolFilter& filter, std::uint32_t instruments)
        : out_(out), filter_(filter), map_(instruments), named_(instruments) {}

    [[nodiscard]] const InstrumentMap& instruments() const noexcept { return map_; }
    void new_session() noexcept { named_.assign(named_.size(), false); }

    void on(const wire::iex::SystemEvent& m) noexcept {
        out_.event(book::EventKind::system, 'S', book::no_instrument, m.timestamp_ns.get()).value =
            static_cast<char>(m.event);
    }
    void on(const wire::iex::SecurityDirectory& m) noexcept {
        book::Event& directory = event(m, book::EventKind::directory, 'D');
        directory.quantity = m.round_lot.get();
        directory.price = m.adjusted_poc_price_e4.get();
        directory.value = (m.flags & test_security) != 0 ? 'T' : 'P';
        if (m.luld_tier == 1 || m.luld_tier == 2)
            directory.detail = static_cast<char>('0' + m.luld_tier);
    }
    void on(const wire::iex::TradingStatus& m) noexcept {
        const std::uint32_t instrument = find(m);
        out_.trading(instrument, m.status == 'T');
        set_text(status(m, 'H', m.status), m.reason);
    }
    void on(const wire::iex::RetailLiquidityIndicator& m) noexcept { status(m, 'I', m.indicator); }
    void on(const wire::iex::OperationalHalt& m) noexcept { status(m, 'O', m.status); }
    void on(const wire::iex::ShortSalePriceTest& m) noexcept {
        status(m, 'P', m.status == 0 ? '0' : '1').text[0] = static_cast<char>(m.detail);
    }
    void on(const wire::iex::TradeReport& m) noexcept {
        trade(m, event(m, book::EventKind::trade, 'T'));
    }
    void on(const wire::iex::TradeBreak& m) noexcept {
        trade(m, event(m, book::EventKind::trade_break, 'B'));
    }
    void on(const wire::iex::OfficialPrice& m) noexcept {
        book::Event& auction = event(m, book::EventKind::auction, 'X');
        auction.price = m.price_e4.get();
        auction.text[0] = static_cast<char>(m.price_type);
    }
    void on(const wire::iex::AuctionInformation& m) noexcept {
        book::Event& auction = event(m, book::EventKind::auction, 'A');
        auction.price = m.reference_price_e4.get();
        auction.price2 = m.indicative_clearing_price_e4.get();
        auction.price3 = m.auction_book_clearing_price_e4.get();
        auction.quantity = m.paired_shares.get();
        auction.quantity2 = m.imbalance_shares.get();
        auction.value = static_cast<char>(m.imbalance_side);
        auction.text[0] = static_cast<char>(m.auction_type);
        auction.id = std::uint64_t{m.scheduled_auction_time_s.get()} * 1'000'000'000;
        book::Event& collar = event(m, book::EventKind::collar, 'A');
        collar.price = m.collar_reference_price_e4.get();
        collar.price2 = m.lower_collar_e4.get();
        collar.price3 = m.upper_collar_e4.get();
        collar.quantity = m.extension_number;
        collar.text[0] = static_cast<char>(m.auction_type);
    }

protected:
    // The symbol is in every message: the first one of a session names the instrument.
    template <class M>
    [[nodiscard]] std::uint32_t find(const M& m) noexcept {
        std::uint64_t key = 0;
        std::memcpy(&key, m.symbol.data(), sizeof key);
        const std::uint32_t instrument = map_.find_or_add({0, key}).index;
        if (instrument < named_.size() && !named_[instrument]) {
            named_[instrument] = true;
            std::string_view symbol{m.symbol.data(), m.symbol.size()};
            while (!symbol.empty() && symbol.back() == ' ') symbol.remove_suffix(1);
            out_.name(instrument, symbol, price_places, filter_.follows(symbol));
        }
        return instrument;
    }
    [[nodiscard]] BatchWriter& out() noexcept { return out_; }

private:
    static constexpr std::uint8_t price_places = 4;
    static constexpr unsigned char test_security = 0x80;
    static constexpr unsigned char extended_hours = 0x40, odd_lot = 0x20, single_price_cross = 0x08;

    template <class M>
    book::Event& event(const M& m, book::EventKind kind, char code) noexcept {
        const std::uint32_t instrument = find(m);  // its name comes before the event
        return out_.event(kind, code, instrument, m.timestamp_ns.get());
    }
    template <class M>
    book::Event& status(const M& m, char code, unsigned char value) noexcept {
        book::Event& status = event(m, book::EventKind::status, code);
        status.value = static_cast<char>(value);
        return status;
    }
    template <class M>
    static void trade(const M& m, book::Event& event) noexcept {
        event.price = m.price_e4.get();
        event.quantity = m.size.get();
        event.id = static_cast<std::uint64_t>(m.trade_id.get());
        event.detail = static_cast<char>(m.sale_flags);
        // Last-sale eligible (sheet: not in extended hours, no odd lot but of a cross).
        const bool eligible =
            (m.sale_flags & extended_hours) == 0 &&
            ((m.sale_flags & odd_lot) == 0 || (m.sale_flags & single_price_cross) != 0);
        event.flags = eligible ? book::update_flag::printable : std::uint8_t{0};
    }

    BatchWriter out_;
    const SymbolFilter& filter_;
    InstrumentMap map_;
    std::vector<bool> named_;  // by instrument, in this session
};

class TopsHandler : public IexHandler {
public:
    static constexpr wire::Protocol protocol = wire::Protocol::iex_tops;

    using IexHandler::IexHandler;
    using IexHandler::on;

    [[nodiscard]] wire::DecodeStatus decode(wire::Bytes message) noexcept {
        return wire::iex::decode_tops(message, *this);
    }
    void on(const wire::iex::QuoteUpdate& m) noexcept {
        const std::uint32_t instrument = find(m);
        out().quote(instrument, {m.bid_price_e4.get(), m.bid_size.get()},
                    {m.ask_price_e4.get(), m.ask_size.get()}, m.timestamp_ns.get());
    }
};

class DeepHandler : public IexHandler {
public:
    static constexpr wire::Protocol protocol = wire::Protocol::iex_deep;

    using IexHandler::IexHandler;
    using IexHandler::on;

    [[nodiscard]] wire::DecodeStatus decode(wire::Bytes message) noexcept {
        return wire::iex::decode_deep(message, *this);
    }
    void on(const wire::iex::PriceLevelBuy& m) noexcept { level(m, book::Side::bid); }
    void on(const wire::iex::PriceLevelSell& m) noexcept { level(m, book::Side::ask); }
    void on(const wire::iex::SecurityEvent& m) noexcept {
        const std::uint32_t instrument = find(m);
        out().event(book::EventKind::status, 'E', instrument, m.timestamp_ns.get()).value =
            static_cast<char>(m.event);
    }

private:
    static constexpr unsigned char event_complete = 1;

    template <class M>
    void level(const M& m, book::Side side) noexcept {
        const std::uint32_t instrument = find(m);
        out().level(instrument, side, m.price_e4.get(), m.size.get(),
                    (m.event_flags & event_complete) == 0, m.timestamp_ns.get());
    }
};

}  // namespace wirebook::feed
