// Fields of a file whose byte order is known only at run time: pcap and pcapng are written in the
// order of the capturing host, and a pcapng file may change it at each section.
//
// As wire/field.hpp: alignment 1, no padding, a struct of fields is a picture of the file.
// May depend on the standard library. Plain data, no thread rules.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>

namespace wirebook::io {

enum class Endian : std::uint8_t { little, big };

template <std::unsigned_integral T>
class EitherEndian {
public:
    [[nodiscard]] T get(Endian order) const noexcept {
        T value;
        std::memcpy(&value, bytes_, sizeof(T));
        return order == Endian::little ? value : swap(value);
    }
    void set(T value, Endian order) noexcept {
        if (order == Endian::big) value = swap(value);
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

using either16 = EitherEndian<std::uint16_t>;
using either32 = EitherEndian<std::uint32_t>;
using either64 = EitherEndian<std::uint64_t>;

}  // namespace wirebook::io
