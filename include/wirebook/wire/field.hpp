// Wire fields: byte arrays that read as integers, the byte order in the type.
//
// A field has alignment 1 and no padding, so a struct of fields is a picture of the
// packet: sizeof and offsetof are the protocol's, and reading one at any address is
// well-defined (no misaligned load, no host byte order, no packed attribute).
// Depends on the standard library only. Plain data, no thread rules.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>

namespace wirebook::wire {

static_assert(std::endian::native == std::endian::little, "x86-64 and AArch64 only");

template <std::unsigned_integral T>
class BigEndian {
public:
    // memcpy and bswap, not a loop over bytes: g++ 12 leaves the loop a loop.
    [[nodiscard]] T get() const noexcept {
        T value;
        std::memcpy(&value, bytes_, sizeof(T));
        return swap(value);
    }
    void set(T value) noexcept {
        value = swap(value);
        std::memcpy(bytes_, &value, sizeof(T));
    }

private:
    static T swap(T value) noexcept {
        if constexpr (sizeof(T) == 2) return __builtin_bswap16(value);
        if constexpr (sizeof(T) == 4) return __builtin_bswap32(value);
        if constexpr (sizeof(T) == 8) return __builtin_bswap64(value);
    }

    unsigned char bytes_[sizeof(T)];
};

template <std::integral T>
class LittleEndian {
public:
    [[nodiscard]] T get() const noexcept {
        T value;
        std::memcpy(&value, bytes_, sizeof(T));
        return value;
    }
    void set(T value) noexcept { std::memcpy(bytes_, &value, sizeof(T)); }

private:
    unsigned char bytes_[sizeof(T)];
};

using be16 = BigEndian<std::uint16_t>;
using be32 = BigEndian<std::uint32_t>;
using be64 = BigEndian<std::uint64_t>;

using le16 = LittleEndian<std::uint16_t>;
using le32 = LittleEndian<std::uint32_t>;
using le64 = LittleEndian<std::uint64_t>;
using le64_signed = LittleEndian<std::int64_t>;  // IEX prices and times

class be48 {  // ITCH timestamps
public:
    [[nodiscard]] std::uint64_t get() const noexcept {
        return (std::uint64_t{high_.get()} << 32) | low_.get();
    }
    void set(std::uint64_t value) noexcept {
        high_.set(static_cast<std::uint16_t>(value >> 32));
        low_.set(static_cast<std::uint32_t>(value));
    }

private:
    be16 high_;
    be32 low_;
};

static_assert(sizeof(be16) == 2 && alignof(be16) == 1);
static_assert(sizeof(be32) == 4 && alignof(be32) == 1);
static_assert(sizeof(be48) == 6 && alignof(be48) == 1);
static_assert(sizeof(be64) == 8 && alignof(be64) == 1);
static_assert(sizeof(le16) == 2 && alignof(le16) == 1);
static_assert(sizeof(le32) == 4 && alignof(le32) == 1);
static_assert(sizeof(le64) == 8 && alignof(le64) == 1);
static_assert(sizeof(le64_signed) == 8 && alignof(le64_signed) == 1);

}  // namespace wirebook::wire
