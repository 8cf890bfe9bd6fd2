// gzip (several members) and zstd (several frames, windows up to 128 MiB as of --long=27), or plain
// bytes, as a step function between two buffers.
//
// May depend on core and wire, zlib and libzstd. One thread at a time.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "wirebook/wire/view.hpp"

namespace wirebook::io {

enum class Compression : std::uint8_t { none, gzip, zstd };

// At least this many bytes of the file decide (fewer if the file is shorter).
inline constexpr std::size_t compression_magic_bytes = 4;
[[nodiscard]] Compression compression_of(wire::Bytes front) noexcept;
[[nodiscard]] std::string_view name_of(Compression compression) noexcept;

class Decompressor {
public:
    explicit Decompressor(Compression compression);
    ~Decompressor();
    Decompressor(const Decompressor&) = delete;
    Decompressor& operator=(const Decompressor&) = delete;
    Decompressor(Decompressor&&) = delete;
    Decompressor& operator=(Decompressor&&) = delete;

    // Takes from the front of `in`, writes to the front of `out`, and moves both. Neither moved and
    // no failure: more input or more room is needed. False: the data is broken, see fault().
    [[nodiscard]] bool step(wire::Bytes& in, std::span<std::byte>& out) noexcept;

    // The input may end here: a member or frame is complete.
    [[nodiscard]] bool at_boundary() const noexcept { return boundary_; }
    [[nodiscard]] const std::string& fault() const noexcept { return fault_; }

private:
    struct State;

    bool copy(wire::Bytes& in, std::span<std::byte>& out) noexcept;
    bool gzip(wire::Bytes& in, std::span<std::byte>& out) noexcept;
    bool zstd(wire::Bytes& in, std::span<std::byte>& out) noexcept;
    bool start_member(wire::Bytes& in) noexcept;

    Compression compression_;
    std::unique_ptr<State> state_;
    std::string fault_;
    bool boundary_;
};

}  // namespace wirebook::io
