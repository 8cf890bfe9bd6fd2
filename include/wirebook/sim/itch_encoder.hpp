// From the matching engine's tape to NASDAQ TotalView-ITCH 5.0.
//
//   report            displayed                     not displayed
//   added             A; F where the participant    -
//                     has an MPID; a refill too
//   executed          E                             P: side B, reference 0
//   executed in_cross C, printable N, at the        -
//                     cross price
//   reduced           X                             -
//   removed           D                             -
//   replaced          U                             -
//   crossed           Q (also of nothing: 0 shares at 0); it has what C did not print, and what
//                     was not displayed
//   imbalance         I
//   accepted          - (the tracking number moves on, as with every answer but rejected)
//   rejected, state_changed: nothing; a state is told by ItchDay::trading_action, with its reason
//
// The tape describes the displayed books after each report, so the feed does after each message.
// May depend on core, wire and match. One thread.
#pragma once

#include <cstdint>

#include "wirebook/match/report.hpp"
#include "wirebook/sim/itch_context.hpp"
#include "wirebook/sim/message_sink.hpp"
#include "wirebook/wire/itch50_orders.hpp"

namespace wirebook::sim {

// How far the near price is from the reference, as I shows it: L below 1 %, then 1 to 9 %, A from
// 10, B from 20, C from 30; space where one of them is none.
[[nodiscard]] constexpr unsigned char price_variation(std::int64_t near,
                                                      std::int64_t reference) noexcept {
    if (near <= 0 || reference <= 0) return ' ';
    const std::int64_t distance = near > reference ? near - reference : reference - near;
    const std::int64_t percent = distance * 100 / reference;
    if (percent < 1) return 'L';
    if (percent < 10) return static_cast<unsigned char>('0' + percent);
    return percent < 20 ? 'A' : percent < 30 ? 'B' : 'C';
}

[[nodiscard]] constexpr unsigned char itch_cross_type(match::CrossKind cross) noexcept {
    switch (cross) {
        case match::CrossKind::opening: return 'O';
        case match::CrossKind::closing: return 'C';
        case match::CrossKind::halt: break;
    }
    return 'H';
}

template <MessageSink Sink>
class ItchEncoder {
public:
    // Both outlive the encoder.
    ItchEncoder(ItchContext& context, Sink& sink) noexcept : context_(context), sink_(sink) {}

    void on_report(const match::Report& report) {
        const bool displayed = (report.flags & match::report_flag::displayed) != 0;
        if (match::is_acknowledgement(report) && report.kind != match::ReportKind::rejected) {
            context_.next_tracking_number();
        }
        switch (report.kind) {
            case match::ReportKind::accepted:
            case match::ReportKind::rejected: break;
            case match::ReportKind::added:
                if (displayed) add(report);
                break;
            case match::ReportKind::executed: execute(report, displayed); break;
            case match::ReportKind::reduced:
                if (displayed) reduce(report);
                break;
            case match::ReportKind::removed:
                if (displayed) remove(report);
                break;
            case match::ReportKind::replaced:
                if (displayed) replace(report);
                break;
            case match::ReportKind::crossed: cross(report); break;
            case match::ReportKind::imbalance: imbalance(report); break;
            case match::ReportKind::state_changed: break;
        }
    }
    // ITCH tells each report at once.
    void end_of_request() noexcept {}

private:
    template <class M>
    void send(M& message, const match::Report& report, bool touches) {
        context_.send(message, report.instrument, report.time_ns, touches, sink_);
    }

    template <class M>
    void fill_add(M& message, const match::Report& report) {
        message.order_ref.set(report.reference);
        message.side = report.side == match::Side::bid ? 'B' : 'S';
        message.shares.set(ItchContext::shares(report.quantity));
        message.stock = context_.instrument(report.instrument).symbol;
        message.price_e4.set(context_.price_e4(report.instrument, report.price));
        send(message, report, true);
    }
    void add(const match::Report& report) {
        const auto* mpid = context_.mpid(report.participant);
        if (mpid != nullptr) {
            wire::itch50::AddOrderAttributed message{};
            message.attribution_mpid = *mpid;
            fill_add(message, report);
        } else {
            wire::itch50::AddOrder message{};
            fill_add(message, report);
        }
    }
    void execute(const match::Report& report, bool displayed) {
        const bool in_cross = (report.flags & match::report_flag::in_cross) != 0;
        if (displayed && in_cross) {
            wire::itch50::OrderExecutedWithPrice message{};
            message.order_ref.set(report.reference);
            message.executed_shares.set(ItchContext::shares(report.quantity));
            message.match_number.set(report.match_number);
            message.printable = 'N';
            message.execution_price_e4.set(context_.price_e4(report.instrument, report.price));
            send(message, report, true);
        } else if (displayed) {
            wire::itch50::OrderExecuted message{};
            message.order_ref.set(report.reference);
            message.executed_shares.set(ItchContext::shares(report.quantity));
            message.match_number.set(report.match_number);
            send(message, report, true);
        } else if (!in_cross) {
            trade(report);
        }
    }
    void trade(const match::Report& report) {
        wire::itch50::Trade message{};
        message.side = 'B';
        message.shares.set(ItchContext::shares(report.quantity));
        message.stock = context_.instrument(report.instrument).symbol;
        message.price_e4.set(context_.price_e4(report.instrument, report.price));
        message.match_number.set(report.match_number);
        send(message, report, false);
    }
    void reduce(const match::Report& report) {
        wire::itch50::OrderCancel message{};
        message.order_ref.set(report.reference);
        message.cancelled_shares.set(ItchContext::shares(report.quantity));
        send(message, report, true);
    }
    void remove(const match::Report& report) {
        wire::itch50::OrderDelete message{};
        message.order_ref.set(report.reference);
        send(message, report, true);
    }
    void replace(const match::Report& report) {
        wire::itch50::OrderReplace message{};
        message.original_ref.set(report.reference);
        message.new_ref.set(report.new_reference);
        message.shares.set(ItchContext::shares(report.quantity));
        message.price_e4.set(context_.price_e4(report.instrument, report.price));
        send(message, report, true);
    }
    void cross(const match::Report& report) {
        wire::itch50::CrossTrade message{};
        message.shares.set(report.quantity);
        message.stock = context_.instrument(report.instrument).symbol;
        message.cross_price_e4.set(context_.price_e4(report.instrument, report.price));
        message.match_number.set(report.match_number);
        message.cross_type = itch_cross_type(report.cross);
        send(message, report, false);
    }
    void imbalance(const match::Report& report) {
        wire::itch50::ImbalanceIndicator message{};
        message.paired_shares.set(report.quantity);
        message.imbalance_shares.set(report.imbalance);
        message.direction = direction(report);
        message.stock = context_.instrument(report.instrument).symbol;
        message.far_price_e4.set(context_.price_e4(report.instrument, report.far_price));
        message.near_price_e4.set(context_.price_e4(report.instrument, report.near_price));
        message.reference_price_e4.set(context_.price_e4(report.instrument, report.price));
        message.cross_type = itch_cross_type(report.cross);
        message.price_variation = price_variation(report.near_price, report.price);
        send(message, report, false);
    }
    // O: too few orders for a cross, so there is no price.
    static unsigned char direction(const match::Report& report) noexcept {
        if (report.imbalance != 0) return report.side == match::Side::bid ? 'B' : 'S';
        return report.quantity == 0 ? 'O' : 'N';
    }

    ItchContext& context_;
    Sink& sink_;
};

}  // namespace wirebook::sim
