// What faults do to frames; see the header.
#include "wirebook/sim/fault_stage.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "wirebook/wire/frame.hpp"
#include "wirebook/wire/udp_checksum.hpp"

namespace wirebook::sim {

namespace {

// Frames that rules may change inside have to be whole: one truncated before is left alone.
bool has_whole_payload(const FrameView& frame) noexcept {
    wire::Packet packet;
    packet.data = frame.bytes.data();
    packet.bytes = packet.original_bytes = static_cast<std::uint32_t>(frame.bytes.size());
    wire::Datagram datagram;
    return wire::parse_frame(packet, datagram) == wire::DropReason::none &&
           !datagram.payload.empty();
}

bool checksum_looks_right(std::span<const std::byte> frame) noexcept {
    wire::Packet packet;
    packet.data = frame.data();
    packet.bytes = packet.original_bytes = static_cast<std::uint32_t>(frame.size());
    wire::Datagram datagram;
    return wire::parse_frame(packet, datagram) == wire::DropReason::none &&
           datagram.checksum_present && wire::udp_checksum_ok(datagram);
}

template <class Field>
void store(std::span<std::byte> frame, std::size_t at, std::size_t value) noexcept {
    Field field{};
    field.set(static_cast<std::uint16_t>(value));
    std::memcpy(frame.data() + at, &field, sizeof field);
}

}  // namespace

std::string to_string(const FaultCounters& counters) {
    std::string text;
    for (std::size_t i = 0; i < fault_kinds; ++i) {
        if (counters.by_kind[i] == 0) continue;
        text += (text.empty() ? "" : ", ") + std::string(to_string(static_cast<FaultKind>(i))) +
                " " + std::to_string(counters.by_kind[i]);
    }
    return text.empty() ? "none" : text;
}

FaultStage::FaultStage(std::span<const FaultRule> rules, std::uint8_t line, std::uint64_t seed,
                       std::int64_t start_ns, Next next)
    : next_(std::move(next)), start_ns_(start_ns) {
    for (std::size_t i = 0; i < rules.size(); ++i) {
        if (rules[i].is_restart() || !rules[i].applies_to(line)) continue;
        std::uint64_t same_kind = 0;
        for (std::size_t j = 0; j < i; ++j) same_kind += rules[j].kind == rules[i].kind ? 1U : 0U;
        const std::uint64_t which =
            same_kind * fault_kinds + static_cast<std::uint64_t>(rules[i].kind);
        rules_.push_back({rules[i], Random::of_stream(seed, which * most_lines + line).next()});
    }
}

void FaultStage::on_frame(const FrameView& original) {
    const std::uint64_t number = counters_.frames_in++;
    if (rules_.empty()) {
        pass_on(original, original.time_ns);
        return;
    }
    FrameView frame = original;
    fate_.lost = false;
    fate_.delay_ns = 0;
    fate_.hold = 0;
    fate_.copies.clear();
    for (Rule& rule : rules_) {
        if (!rule.rule.range.contains(number, frame.time_ns - start_ns_)) {
            rule.burst_left = 0;
            continue;
        }
        Random random = Random::of_stream(rule.seed, number);
        if (strikes(rule, random) && !fate_.lost) apply(rule, random, frame, fate_);
    }
    last_time_ns_ = std::max(last_time_ns_, original.time_ns);
    if (!fate_.lost) {
        if (fate_.hold != 0) {
            Held held{frame, {frame.bytes.begin(), frame.bytes.end()}, number + fate_.hold};
            held.frame.time_ns += fate_.delay_ns;
            held_.push_back(std::move(held));
        } else {
            pass_on(frame, frame.time_ns + fate_.delay_ns);
        }
        for (const std::int64_t later : fate_.copies) pass_on(frame, frame.time_ns + later);
    }
    release(number, original.time_ns);
}

void FaultStage::finish() {
    const std::uint64_t all = ~std::uint64_t{0};
    release(all, last_time_ns_);
}

bool FaultStage::strikes(Rule& rule, Random& random) {
    switch (rule.rule.kind) {
        case FaultKind::dead: return true;
        case FaultKind::burst:
            if (rule.burst_left != 0) {
                --rule.burst_left;
                return true;
            }
            if (!random.chance(rule.rule.chance)) return false;
            rule.burst_left = random.length(rule.rule.amount) - 1;
            return true;
        default: return random.chance(rule.rule.chance);
    }
}

void FaultStage::apply(const Rule& rule, Random& random, FrameView& frame, Fate& fate) {
    const auto up_to = [&](std::int64_t most_ns) {
        return static_cast<std::int64_t>(random.between(1, static_cast<std::uint64_t>(most_ns)));
    };
    switch (rule.rule.kind) {
        case FaultKind::loss:
        case FaultKind::burst:
        case FaultKind::dead: fate.lost = true; break;
        case FaultKind::duplicate:
            fate.copies.push_back(rule.rule.time_ns == 0 ? 0 : up_to(rule.rule.time_ns));
            break;
        case FaultKind::reorder: fate.hold = random.between(1, rule.rule.amount); break;
        case FaultKind::delay: fate.delay_ns += up_to(rule.rule.time_ns); break;
        case FaultKind::truncate:
        case FaultKind::shorten:
        case FaultKind::flip:
            if (!has_whole_payload(frame)) return;
            if (rule.rule.kind == FaultKind::truncate) truncate(random, frame);
            if (rule.rule.kind == FaultKind::shorten) shorten(random, frame);
            if (rule.rule.kind == FaultKind::flip) flip(random, rule.rule.amount, frame);
            break;
        case FaultKind::sender_restart:
        case FaultKind::session_restart: return;
    }
    ++counters_.by_kind[static_cast<std::size_t>(rule.rule.kind)];
}

// Keeps all headers and less than the whole payload.
void FaultStage::truncate(Random& random, FrameView& frame) {
    const std::size_t payload = frame.bytes.size() - frame_header_bytes;
    frame.bytes = frame.bytes.first(frame_header_bytes + random.below(payload));
}

void FaultStage::shorten(Random& random, FrameView& frame) {
    const bool had_checksum = checksum_looks_right(frame.bytes);
    truncate(random, frame);
    const std::span<std::byte> bytes = own_copy(frame);
    constexpr std::size_t ip_at = sizeof(wire::EthernetHeader);
    constexpr std::size_t udp_at = ip_at + sizeof(wire::Ipv4Header);
    store<wire::be16>(bytes, ip_at + offsetof(wire::Ipv4Header, total_length),
                      bytes.size() - ip_at);
    store<wire::be16>(bytes, udp_at + offsetof(wire::UdpHeader, length), bytes.size() - udp_at);
    set_checksums(bytes, had_checksum);
}

void FaultStage::flip(Random& random, std::uint64_t bits, FrameView& frame) {
    const std::span<std::byte> bytes = own_copy(frame);
    const auto payload = bytes.subspan(frame_header_bytes);
    const auto turn_one = [&] {
        const std::uint64_t bit = random.below(payload.size() * 8);
        payload[bit / 8] ^= std::byte{1} << static_cast<unsigned>(bit % 8);
    };
    for (std::uint64_t i = 0; i < bits; ++i) turn_one();
    // Several bits may add up to the same sum; one more is then seen for certain.
    if (checksum_looks_right(bytes)) turn_one();
}

std::span<std::byte> FaultStage::own_copy(FrameView& frame) {
    if (frame.bytes.data() == scratch_.data()) {
        scratch_.resize(frame.bytes.size());
    } else {
        scratch_.assign(frame.bytes.begin(), frame.bytes.end());
    }
    frame.bytes = scratch_;
    return scratch_;
}

// Held frames whose turn it is after frame `number` was sent, in the order they were held.
void FaultStage::release(std::uint64_t number, std::int64_t time_ns) {
    if (held_.empty()) return;
    const auto due = std::stable_partition(held_.begin(), held_.end(),
                                           [&](const Held& held) { return held.after > number; });
    std::vector<Held> now(std::make_move_iterator(due), std::make_move_iterator(held_.end()));
    held_.erase(due, held_.end());
    std::stable_sort(now.begin(), now.end(),
                     [](const Held& a, const Held& b) { return a.after < b.after; });
    for (Held& held : now) {
        held.frame.bytes = held.bytes;
        pass_on(held.frame, std::max(held.frame.time_ns, time_ns));
    }
}

void FaultStage::pass_on(FrameView frame, std::int64_t time_ns) {
    frame.time_ns = time_ns;
    ++counters_.frames_out;
    next_(frame);
}

}  // namespace wirebook::sim
