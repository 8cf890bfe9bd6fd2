// zlib and libzstd behind one step function; nothing else includes their headers.
#include "wirebook/io/decompressor.hpp"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "wirebook/core/base.hpp"
#include "wirebook/wire/field.hpp"

namespace wirebook::io {
namespace {

constexpr std::uint32_t zstd_magic = 0xFD2F'B528;
constexpr std::uint32_t zstd_skippable_magic = 0x184D'2A50;  // the low 4 bits are free
constexpr std::byte gzip_magic_0{0x1F};
constexpr std::byte gzip_magic_1{0x8B};
constexpr int gzip_only = 16;  // zlib: added to the window bits
constexpr int zstd_window_log = 27;

}  // namespace

struct Decompressor::State {
    z_stream zlib{};
    ZSTD_DCtx* zstd = nullptr;
};

Compression compression_of(wire::Bytes front) noexcept {
    if (front.size() >= 2 && front[0] == gzip_magic_0 && front[1] == gzip_magic_1) {
        return Compression::gzip;
    }
    if (const auto* magic = wire::view_as<wire::le32>(front)) {
        if (magic->get() == zstd_magic) return Compression::zstd;
        if ((magic->get() & ~std::uint32_t{0xF}) == zstd_skippable_magic) return Compression::zstd;
    }
    return Compression::none;
}

std::string_view name_of(Compression compression) noexcept {
    switch (compression) {
        case Compression::none: return "plain";
        case Compression::gzip: return "gzip";
        case Compression::zstd: return "zstd";
    }
    return "plain";
}

Decompressor::Decompressor(Compression compression)
    : compression_(compression),
      state_(std::make_unique<State>()),
      boundary_(compression == Compression::none) {
    if (compression == Compression::gzip) {
        WIREBOOK_CHECK(::inflateInit2(&state_->zlib, MAX_WBITS + gzip_only) == Z_OK);
    }
    if (compression == Compression::zstd) {
        state_->zstd = ::ZSTD_createDCtx();
        WIREBOOK_CHECK(state_->zstd != nullptr);
        (void)::ZSTD_DCtx_setParameter(state_->zstd, ZSTD_d_windowLogMax, zstd_window_log);
    }
}

Decompressor::~Decompressor() {
    if (compression_ == Compression::gzip) ::inflateEnd(&state_->zlib);
    ::ZSTD_freeDCtx(state_->zstd);  // null is fine
}

bool Decompressor::step(wire::Bytes& in, std::span<std::byte>& out) noexcept {
    switch (compression_) {
        case Compression::none: return copy(in, out);
        case Compression::gzip: return gzip(in, out);
        case Compression::zstd: return zstd(in, out);
    }
    return false;
}

bool Decompressor::copy(wire::Bytes& in, std::span<std::byte>& out) noexcept {
    const std::size_t bytes = std::min(in.size(), out.size());
    if (bytes > 0) std::memcpy(out.data(), in.data(), bytes);
    in = in.subspan(bytes);
    out = out.subspan(bytes);
    return true;
}

bool Decompressor::gzip(wire::Bytes& in, std::span<std::byte>& out) noexcept {
    if (boundary_ && !start_member(in)) return fault_.empty();
    constexpr std::size_t most = std::numeric_limits<uInt>::max();
    z_stream& zlib = state_->zlib;
    const std::size_t in_bytes = std::min(in.size(), most);
    const std::size_t out_bytes = std::min(out.size(), most);
    // zlib's interface is not const-correct; it does not write to its input.
    zlib.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(in.data()));
    zlib.avail_in = static_cast<uInt>(in_bytes);
    zlib.next_out = reinterpret_cast<Bytef*>(out.data());
    zlib.avail_out = static_cast<uInt>(out_bytes);
    const int status = ::inflate(&zlib, Z_NO_FLUSH);
    in = in.subspan(in_bytes - zlib.avail_in);
    out = out.subspan(out_bytes - zlib.avail_out);
    if (status == Z_STREAM_END) {
        boundary_ = true;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
        fault_ = zlib.msg != nullptr ? zlib.msg : ::zError(status);
        return false;
    }
    return true;
}

// Between members: another one may follow, and zeros (tapes and some downloads are padded).
bool Decompressor::start_member(wire::Bytes& in) noexcept {
    while (!in.empty() && in.front() == std::byte{0}) in = in.subspan(1);
    if (in.empty()) return false;
    if (in.front() != gzip_magic_0) {
        fault_ = "bytes that are not gzip follow a member";
        return false;
    }
    WIREBOOK_CHECK(::inflateReset(&state_->zlib) == Z_OK);
    boundary_ = false;
    return true;
}

bool Decompressor::zstd(wire::Bytes& in, std::span<std::byte>& out) noexcept {
    if (boundary_ && in.empty()) return true;
    ZSTD_inBuffer source{in.data(), in.size(), 0};
    ZSTD_outBuffer target{out.data(), out.size(), 0};
    const std::size_t status = ::ZSTD_decompressStream(state_->zstd, &target, &source);
    if (::ZSTD_isError(status) != 0) {
        fault_ = ::ZSTD_getErrorName(status);
        return false;
    }
    if (source.pos > 0 || target.pos > 0) boundary_ = status == 0;
    in = in.subspan(source.pos);
    out = out.subspan(target.pos);
    return true;
}

}  // namespace wirebook::io
