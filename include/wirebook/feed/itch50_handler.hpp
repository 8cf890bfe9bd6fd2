// Nasdaq TotalView-ITCH 5.0 messages -> book updates and events. Rules: the sheet's "Book rules"
// and "Stock locate rules"; instruments are stock locates.
//
// May depend on core, wire and book. One a channel, owned by its lcore.
#pragma once

#include <bitset>
#include <string_view>

#include "wirebook/feed/batch_writer.hpp"
#include "wirebook/feed/symbol_filter.hpp"
#include "wirebook/wire/itch50.hpp"
#include "wirebook/wire/protocol.hpp"

namespace wirebook::feed {

class Itch50Handler {
public:
    static constexpr wire::Protocol protocol = wire::Protocol::itch50;
    static constexpr std::uint8_t price_places = 4;
    static constexpr std::uint32_t locates = 65'536;

    Itch50Handler(BatchWriter out, const SymbolFilter& filter) noexcept
        : out_(out), filter_(filter) {}

    [[nodiscard]] wire::DecodeStatus decode(wire::Bytes message) noexcept {
        return wire::itch50::decode(message, *this);
    }
    void new_session() noexcept { named_.reset(); }

    // Order book.
    void on(const wire::itch50::AddOrder& m) noexcept { add(m); }
    void on(const wire::itch50::AddOrderAttributed& m) noexcept { add(m); }
    void on(const wire::itch50::OrderExecuted& m) noexcept {
        out_.execute(locate(m), m.order_ref.get(), m.executed_shares.get(), m.match_number.get(),
                     book::update_flag::printable, 0, time_ns(m));
    }
    void on(const wire::itch50::OrderExecutedWithPrice& m) noexcept {
        const std::uint8_t flags =
            m.printable == 'N' ? book::update_flag::has_price
                               : book::update_flag::has_price | book::update_flag::printable;
        out_.execute(locate(m), m.order_ref.get(), m.executed_shares.get(), m.match_number.get(),
                     flags, m.execution_price_e4.get(), time_ns(m));
    }
    void on(const wire::itch50::OrderCancel& m) noexcept {
        out_.reduce(locate(m), m.order_ref.get(), m.cancelled_shares.get(), time_ns(m));
    }
    void on(const wire::itch50::OrderDelete& m) noexcept {
        out_.remove(locate(m), m.order_ref.get(), time_ns(m));
    }
    void on(const wire::itch50::OrderReplace& m) noexcept {
        out_.replace(locate(m), m.original_ref.get(), m.new_ref.get(), m.price_e4.get(),
                     m.shares.get(), time_ns(m));
    }

    // System and stock related.
    void on(const wire::itch50::SystemEvent& m) noexcept {
        const char code = char_of(m.event_code);
        out_.event(book::EventKind::system, 'S', book::no_instrument, time_ns(m)).value = code;
        if (code == 'Q' || code == 'M') out_.market(0, code == 'Q');
    }
    void on(const wire::itch50::StockDirectory& m) noexcept {
        name(locate(m), m.stock);
        book::Event& event = out_.event(book::EventKind::directory, 'R', locate(m), time_ns(m));
        event.quantity = m.round_lot_size.get();
        event.value = char_of(m.authenticity);
        event.detail = char_of(m.luld_tier);
        event.flags = book::event_flag::listing;
        event.text[0] = char_of(m.market_category);
        event.text[1] = char_of(m.financial_status);
        event.text[2] = char_of(m.etp_flag);
    }
    void on(const wire::itch50::StockTradingAction& m) noexcept {
        out_.trading(locate(m), m.state == 'T');
        set_text(status(m, 'H', char_of(m.state)), m.reason);
    }
    void on(const wire::itch50::RegShoRestriction& m) noexcept {
        status(m, 'Y', char_of(m.action));
    }
    void on(const wire::itch50::OperationalHalt& m) noexcept {
        status(m, 'h', char_of(m.action)).text[0] = char_of(m.market_code);
    }
    void on(const wire::itch50::MwcbStatus& m) noexcept {
        out_.event(book::EventKind::status, 'W', book::no_instrument, time_ns(m)).value =
            char_of(m.breached_level);
    }
    void on(const wire::itch50::RetailInterest& m) noexcept {
        status(m, 'N', char_of(m.interest_flag));
    }
    // Tells nothing of a book, a trade or a state: decoded for --messages only.
    void on(const wire::itch50::MarketParticipantPosition&) noexcept {}
    void on(const wire::itch50::MwcbDeclineLevel&) noexcept {}

    // Trades, crosses and auctions.
    void on(const wire::itch50::Trade& m) noexcept {
        book::Event& event = out_.event(book::EventKind::trade, 'P', locate(m), time_ns(m));
        event.flags = book::update_flag::printable;
        event.price = m.price_e4.get();
        event.quantity = m.shares.get();
        event.id = m.match_number.get();
    }
    void on(const wire::itch50::CrossTrade& m) noexcept {
        book::Event& event = out_.event(book::EventKind::trade, 'Q', locate(m), time_ns(m));
        event.flags = book::update_flag::printable;
        event.price = m.cross_price_e4.get();
        event.quantity = m.shares.get();
        event.id = m.match_number.get();
        event.text[0] = char_of(m.cross_type);
    }
    void on(const wire::itch50::BrokenTrade& m) noexcept {
        out_.event(book::EventKind::trade_break, 'B', locate(m), time_ns(m)).id =
            m.match_number.get();
    }
    void on(const wire::itch50::ImbalanceIndicator& m) noexcept {
        book::Event& event = out_.event(book::EventKind::auction, 'I', locate(m), time_ns(m));
        event.price = m.reference_price_e4.get();
        event.price2 = m.near_price_e4.get();
        event.price3 = m.far_price_e4.get();
        event.quantity = m.paired_shares.get();
        event.quantity2 = m.imbalance_shares.get();
        event.value = char_of(m.direction);
        event.text[0] = char_of(m.cross_type);
        event.detail = char_of(m.price_variation);
    }
    void on(const wire::itch50::IpoQuotingPeriod& m) noexcept {
        book::Event& event = out_.event(book::EventKind::ipo, 'K', locate(m), time_ns(m));
        event.price = m.ipo_price_e4.get();
        event.value = char_of(m.qualifier);
        event.id = std::uint64_t{m.release_time_s.get()} * 1'000'000'000;
    }
    void on(const wire::itch50::LuldAuctionCollar& m) noexcept {
        book::Event& event = out_.event(book::EventKind::collar, 'J', locate(m), time_ns(m));
        event.price = m.collar_reference_price_e4.get();
        event.price2 = m.lower_collar_e4.get();
        event.price3 = m.upper_collar_e4.get();
        event.quantity = m.extension_number.get();
    }
    // Its reference and far price are the lowest and highest at which the auction may open.
    void on(const wire::itch50::PriceDiscovery& m) noexcept {
        book::Event& event = out_.event(book::EventKind::auction, 'O', locate(m), time_ns(m));
        event.price = m.min_allowable_price_e4.get();
        event.price2 = m.near_execution_price_e4.get();
        event.price3 = m.max_allowable_price_e4.get();
        event.value = char_of(m.open_eligibility);
        event.id = m.near_execution_time_ns.get();
        book::Event& collar = out_.event(book::EventKind::collar, 'O', locate(m), time_ns(m));
        collar.price2 = m.lower_collar_e4.get();
        collar.price3 = m.upper_collar_e4.get();
    }

private:
    template <class M>
    static std::uint32_t locate(const M& m) noexcept {
        return m.header.stock_locate.get();
    }
    template <class M>
    static std::int64_t time_ns(const M& m) noexcept {
        return static_cast<std::int64_t>(m.header.timestamp_ns.get());
    }
    static char char_of(unsigned char byte) noexcept { return static_cast<char>(byte); }

    template <class M>
    book::Event& status(const M& m, char code, char value) noexcept {
        book::Event& event = out_.event(book::EventKind::status, code, locate(m), time_ns(m));
        event.value = value;
        return event;
    }
    template <class M>
    void add(const M& m) noexcept {
        // Without R an instrument is named by its first add; later adds do not rename it.
        if (!named_[locate(m)]) name(locate(m), m.stock);
        out_.add(locate(m), m.order_ref.get(), char_of(m.side), m.price_e4.get(), m.shares.get(),
                 time_ns(m));
    }
    void name(std::uint32_t locate, const std::array<char, 8>& stock) noexcept {
        std::string_view symbol{stock.data(), stock.size()};
        while (!symbol.empty() && symbol.back() == ' ') symbol.remove_suffix(1);
        named_.set(locate);
        out_.name(locate, symbol, price_places, filter_.follows(symbol));
    }

    BatchWriter out_;
    const SymbolFilter& filter_;
    std::bitset<locates> named_;  // in this session
};

}  // namespace wirebook::feed
