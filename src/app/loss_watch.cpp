#include "wirebook/app/loss_watch.hpp"

namespace wirebook::app {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;

std::uint64_t grown(std::uint64_t now, const std::atomic<std::uint64_t>& before) noexcept {
    const std::uint64_t then = before.load(relaxed);
    return now > then ? now - then : 0;  // a driver may set its counters back
}

}  // namespace

std::string GapCause::text() const {
    std::string text;
    const auto add = [&](std::string_view name, std::uint64_t count) {
        if (count == 0) return;
        if (!text.empty()) text += ',';
        text += name;
        if (name != "link") text += ":" + std::to_string(count);
    };
    add("missed", missed);
    add("no_mbuf", no_mbuf);
    add("errors", errors);
    add("link", link ? 1 : 0);
    return text.empty() ? "loss" : text;
}

void LossWatch::Sample::copy(const Sample& from) noexcept {
    missed.store(from.missed.load(relaxed), relaxed);
    no_mbuf.store(from.no_mbuf.load(relaxed), relaxed);
    errors.store(from.errors.load(relaxed), relaxed);
    link_down.store(from.link_down.load(relaxed), relaxed);
}

void LossWatch::sample(std::size_t port, const io::DpdkPortStats& now, bool link_up) noexcept {
    Port& of = ports_[port];
    of.before.copy(of.last);
    of.last.missed.store(now.missed, relaxed);
    of.last.no_mbuf.store(now.no_mbuf, relaxed);
    of.last.errors.store(now.errors, relaxed);
    of.last.link_down.store(!link_up, relaxed);
}

GapCause LossWatch::cause(const feed::Channel& channel) const {
    GapCause cause;
    std::vector<bool> looked(ports_.size());
    for (const feed::LineKey& line : channel.options().lines) {
        if (line.input >= ports_.size() || looked[line.input]) continue;
        looked[line.input] = true;
        const Port& port = ports_[line.input];
        cause.link =
            cause.link || port.before.link_down.load(relaxed) || port.last.link_down.load(relaxed);
        const auto now = read_(line.input);
        if (!now) continue;
        cause.missed += grown(now->missed, port.before.missed);
        cause.no_mbuf += grown(now->no_mbuf, port.before.no_mbuf);
        cause.errors += grown(now->errors, port.before.errors);
    }
    return cause;
}

}  // namespace wirebook::app
