// BinaryFILE: messages one after the other, each behind its length (2 bytes, big-endian).
//
// A zero length ends it, whatever follows. A cut last message is no record. There is no time.
// May depend on core and wire. One thread at a time.
#pragma once

#include <string>

#include "wirebook/io/capture_format.hpp"
#include "wirebook/wire/field.hpp"

namespace wirebook::io {

class BinaryFileParser {
public:
    [[nodiscard]] Step next(Window& window, Record& record) noexcept {
        const auto* length = wire::view_as<wire::be16>(window.bytes());
        if (length == nullptr) return more(sizeof(wire::be16));
        const std::uint32_t bytes = length->get();
        if (bytes == 0) return Step::end;
        if (window.size() - sizeof(wire::be16) < bytes) return more(sizeof(wire::be16) + bytes);
        record.data = window.next + sizeof(wire::be16);
        record.bytes = bytes;
        record.original_bytes = bytes;
        record.time_ns = 0;
        record.link = wire::LinkType::binaryfile;
        record.time_source = wire::TimeSource::none;
        record.cut = false;
        window.next = record.data + bytes;
        return Step::record;
    }

    [[nodiscard]] Step last(Window& window, Record& /*record*/) noexcept {
        window.next = window.end;
        return Step::skip;
    }

    [[nodiscard]] std::size_t needed() const noexcept { return needed_; }
    // Every length is possible: nothing is ever bad.
    [[nodiscard]] static std::string fault(wire::Bytes /*front*/) { return {}; }

private:
    Step more(std::size_t bytes) noexcept {
        needed_ = bytes;
        return Step::more;
    }

    std::size_t needed_ = 0;
};

}  // namespace wirebook::io
