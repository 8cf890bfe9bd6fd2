// The dump files of docs/replay.md that have a row or line for what happens: --top, --final,
// --messages, --events. docs/replay.md describes them for users.
//
// Each class writes one file; one thread; nothing here decides what is written, only how.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "wirebook/app/text_output.hpp"
#include "wirebook/book/book_set.hpp"
#include "wirebook/feed/channel.hpp"
#include "wirebook/wire/view.hpp"

namespace wirebook::app {

class TopDump {
public:
    explicit TopDump(TextOutput output);
    void row(const book::BookSet& books, std::uint32_t instrument, const book::PacketEnd& end);
    [[nodiscard]] Status close() { return output_.close(); }

private:
    TextOutput output_;
};

class MessagesDump {
public:
    explicit MessagesDump(TextOutput output) : output_(std::move(output)) {}
    void line(wire::Protocol protocol, std::uint64_t sequence, wire::Bytes message);
    [[nodiscard]] Status close() { return output_.close(); }

private:
    TextOutput output_;
};

class EventsDump {
public:
    explicit EventsDump(TextOutput output);
    void event(const book::BookSet& books, const book::Event& event, const book::PacketEnd& end);
    void execution(const book::BookSet& books, const book::Execution& execution,
                   const book::PacketEnd& end);
    // The feed's own state. `packet`: number of the packet that comes next.
    void gap(const feed::Channel& channel, std::uint64_t first, std::uint64_t end,
             std::uint64_t packet, std::string_view cause);
    void session(const feed::Channel& channel, const wire::SessionKey& key, std::uint64_t sequence,
                 std::uint64_t packet);
    void quality(const feed::Channel& channel, std::uint64_t packet, std::string_view more = {});
    [[nodiscard]] Status close() { return output_.close(); }

private:
    struct Where {
        std::uint64_t packet, sequence;
        std::int64_t time_ns;
    };
    // packet,seq,ts_ns,symbol,event, and then the detail is appended by the caller.
    std::string& begin(const Where& where, std::string_view symbol, std::string_view event);
    void end_row(std::string_view detail);

    TextOutput output_;
};

// Books at the end, of channels in their order.
[[nodiscard]] Status write_final_dump(TextOutput output,
                                      std::span<const feed::Channel* const> channels);

[[nodiscard]] std::string_view to_string(feed::Quality quality) noexcept;

}  // namespace wirebook::app
