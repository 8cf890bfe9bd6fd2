// From finished messages to the datagrams of all lines, and to the truth beside them.
//
// Line 0 is A: its packets are the ones that the truth goes by. Without lines each message is a
// packet, as in a BinaryFILE.
// sim may depend on everything but app. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "wirebook/sim/message_sink.hpp"
#include "wirebook/sim/packer.hpp"
#include "wirebook/sim/truth.hpp"

namespace wirebook::sim {

// What a receiver in a new session knows of an instrument while it is told of it again.
struct Announced {
    match::Side side;
    std::int64_t price;
    std::uint64_t quantity;
    std::uint32_t orders;
};

// What encoders hand their messages to.
class MessageOut {
public:
    MessageOut() = default;
    MessageOut(const MessageOut&) = delete;
    MessageOut& operator=(const MessageOut&) = delete;
    MessageOut(MessageOut&&) = delete;
    MessageOut& operator=(MessageOut&&) = delete;
    virtual ~MessageOut() = default;

    virtual void on_message(std::span<const std::byte> message, std::uint32_t instrument,
                            const TouchInfo& touch) = 0;

    // The clock of the messages to come; what is due before leaves. Never goes back.
    virtual void advance(std::int64_t time_ns) = 0;
    // After the last message.
    virtual void finish() = 0;

    // The line is silent until then, and sends what waited.
    virtual void silence_until(std::size_t /*line*/, std::int64_t /*end_ns*/) {}
    // On every line; the caller announces everything again.
    virtual void restart_session() {}
    // Sent so far, by line, heartbeats too.
    [[nodiscard]] virtual std::vector<std::uint64_t> packets() const { return {}; }

    // The next message tells of this again, best prices first; until announced() the truth is what
    // was told, not what the engine has.
    void announcing(const Announced& what) noexcept {
        match::LevelView& best = what.side == match::Side::bid ? told_.bid : told_.ask;
        if (best.orders == 0) best.price = what.price;
        if (best.price == what.price) {
            best.quantity += what.quantity;
            best.orders += what.orders;
        }
        announcing_ = true;
    }
    void announced() noexcept { announcing_ = false, told_ = {}; }

    [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }
    [[nodiscard]] const std::array<std::uint64_t, 256>& messages_by_type() const noexcept {
        return by_type_;
    }

protected:
    void count(std::span<const std::byte> message) noexcept {
        ++messages_;
        ++by_type_[static_cast<unsigned char>(message[0])];
    }
    // Null: the engine's.
    [[nodiscard]] const Top* told() const noexcept { return announcing_ ? &told_ : nullptr; }

private:
    std::uint64_t messages_ = 0;
    std::array<std::uint64_t, 256> by_type_{};
    Top told_;
    bool announcing_ = false;
};

// Truth is optional, and so is asking the books for it.
struct TruthKeeper {
    Truth* truth = nullptr;
    std::function<Top(std::uint32_t instrument)> top;

    void touched(std::uint32_t instrument, const TouchInfo& touch, const Top* told) const {
        if (truth == nullptr || !touch.touches) return;
        truth->touched(instrument, touch, told != nullptr ? *told : top(instrument));
    }
    void packet_closed(std::uint64_t sequence) const {
        if (truth != nullptr) truth->packet_closed(sequence);
    }
};

// Each message by itself.
class MessageStream final : public MessageOut {
public:
    using Write = std::function<void(std::span<const std::byte>)>;
    MessageStream(Write write, TruthKeeper truth)
        : write_(std::move(write)), truth_(std::move(truth)) {}

    void on_message(std::span<const std::byte> message, std::uint32_t instrument,
                    const TouchInfo& touch) override {
        count(message);
        write_(message);
        truth_.touched(instrument, touch, told());
        truth_.packet_closed(messages());
    }
    void advance(std::int64_t /*time_ns*/) override {}
    void finish() override {}

private:
    Write write_;
    TruthKeeper truth_;
};

// A packet of a line is ready.
using LineSink = std::function<void(std::size_t line, const PayloadInfo& info,
                                    std::span<const std::byte> payload)>;

// Of a session that is restarted: the same name with the next number at its end.
[[nodiscard]] MoldFraming::Session next_session(const MoldFraming::Session& session) noexcept;
[[nodiscard]] IexSession next_session(const IexSession& session) noexcept;

template <class Framing>
class Broadcast final : public MessageOut {
public:
    Broadcast(std::span<const PackerOptions> lines, const typename Framing::Session& session,
              std::int64_t start_ns, LineSink sink, TruthKeeper truth)
        : sink_(std::move(sink)), truth_(std::move(truth)), session_(session), now_ns_(start_ns) {
        for (std::size_t i = 0; i < lines.size(); ++i) {
            lines_.push_back(std::make_unique<Line>(*this, i, lines[i], session, start_ns));
        }
    }

    void on_message(std::span<const std::byte> message, std::uint32_t instrument,
                    const TouchInfo& touch) override {
        count(message);
        for (const auto& line : lines_) line->packer.add(now_ns_, message);
        truth_.touched(instrument, touch, told());
    }
    void advance(std::int64_t time_ns) override {
        now_ns_ = time_ns;
        for (const auto& line : lines_) line->packer.advance(time_ns);
    }
    void finish() override {
        for (const auto& line : lines_) line->packer.finish(now_ns_);
    }

    void silence_until(std::size_t line, std::int64_t end_ns) override {
        lines_[line]->packer.silence_until(end_ns);
    }
    void restart_session() override {
        session_ = next_session(session_);
        for (const auto& line : lines_) line->packer.new_session(now_ns_, session_);
        if (truth_.truth != nullptr) truth_.truth->new_session();
    }
    [[nodiscard]] std::vector<std::uint64_t> packets() const override {
        std::vector<std::uint64_t> all;
        for (const auto& line : lines_) all.push_back(line->owner.packets);
        return all;
    }

private:
    struct LineOwner {
        void on_payload(const PayloadInfo& info, std::span<const std::byte> payload) {
            if (index == 0 && info.kind == PayloadKind::data) {
                broadcast.truth_.packet_closed(info.first_sequence);
            }
            ++packets;
            broadcast.sink_(index, info, payload);
        }

        Broadcast& broadcast;
        std::size_t index = 0;
        std::uint64_t packets = 0;
    };
    struct Line {
        Line(Broadcast& broadcast, std::size_t index, const PackerOptions& options,
             const typename Framing::Session& session, std::int64_t start_ns)
            : owner{broadcast, index}, packer(options, session, start_ns, owner) {}

        LineOwner owner;
        Packer<Framing, LineOwner> packer;
    };

    LineSink sink_;
    TruthKeeper truth_;
    typename Framing::Session session_;
    std::vector<std::unique_ptr<Line>> lines_;
    std::int64_t now_ns_ = 0;
};

}  // namespace wirebook::sim
