// The order of several captures: their packets merged by the times of the head records.
//
// A binary heap of inputs, keyed by (time of the head, index of the input): it picks the earliest
// head, the earlier-named on a tie, and keeps taking from that input while its head stays before
// the second best. An input is never sorted within: its next record only becomes a head when the
// one before was taken, even if its time jumped back.
//
// May depend on core and wire. One thread at a time.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <span>
#include <vector>

#include "wirebook/io/capture_input.hpp"
#include "wirebook/io/pacer.hpp"

namespace wirebook::io {

class CaptureMerge {
public:
    explicit CaptureMerge(std::vector<std::unique_ptr<CaptureInput>> inputs);

    // Flat out: up to out.size() packets. 0: finished(), or an input has nothing yet.
    [[nodiscard]] std::size_t take(std::span<wire::Packet> out) noexcept;
    // Only those that are due at `now_tsc`, with the TSC at which they were as receive_tsc.
    [[nodiscard]] std::size_t take_due(std::span<wire::Packet> out, Pacer& pacer,
                                       std::uint64_t now_tsc) noexcept;
    // Appends what is known to come next of every input, from its own next packet on. False: an
    // input shows nothing yet, though it was waited for a little.
    [[nodiscard]] bool look_ahead(std::vector<wire::Packet>& out);
    // The next packet, or null where it is not known yet or nothing is left.
    [[nodiscard]] const wire::Packet* head() const noexcept;

    [[nodiscard]] bool finished() const noexcept { return heap_.empty() && starved_.empty(); }
    [[nodiscard]] const std::vector<std::unique_ptr<CaptureInput>>& inputs() const noexcept {
        return inputs_;
    }

private:
    static constexpr std::size_t ahead_packets = 64;
    // How long take() waits for input that was not read ahead yet, if it has nothing to hand out.
    static constexpr std::chrono::milliseconds patience{10};

    struct Lane {
        CaptureInput* input = nullptr;
        std::size_t first = 0;  // [first, last) of ahead
        std::size_t last = 0;
        std::array<wire::Packet, ahead_packets> ahead;

        [[nodiscard]] bool empty() const noexcept { return first == last; }
        [[nodiscard]] const wire::Packet& head() const noexcept { return ahead[first]; }
    };

    [[nodiscard]] bool before(const Lane* a, const Lane* b) const noexcept;
    [[nodiscard]] bool refill(Lane& lane, std::chrono::milliseconds wait) noexcept;
    [[nodiscard]] bool feed_starved(std::chrono::milliseconds wait) noexcept;
    std::size_t take_alone(std::span<wire::Packet> out, std::chrono::milliseconds wait) noexcept;
    void push(Lane* lane) noexcept;
    void sift_down() noexcept;
    void pop_to_starved() noexcept;
    [[nodiscard]] const Lane* second() const noexcept;
    std::size_t take_run(std::span<wire::Packet> out) noexcept;

    std::vector<std::unique_ptr<CaptureInput>> inputs_;
    std::vector<std::unique_ptr<Lane>> lanes_;
    std::vector<Lane*> heap_;     // every one has a head
    std::vector<Lane*> starved_;  // not ended, but without a head: nothing may be taken meanwhile
};

}  // namespace wirebook::io
