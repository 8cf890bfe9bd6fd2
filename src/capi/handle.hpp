// What is behind a wirebook_reader, and how a function of the C interface refuses its arguments.
// For the sources of this folder alone. Thread rules: wirebook.h.
#pragma once

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "wirebook.h"
#include "wirebook/ring/reader.hpp"

namespace wirebook::capi {

inline constexpr std::uint64_t live_mark = 0x5245'4144'4552'0001;  // in every reader that is open

// The text of this thread's last failure, cut to what fits.
void set_last_error(std::string_view text) noexcept;

inline constexpr const char* no_reader = "a null argument, or not a reader";

[[nodiscard]] inline int invalid(const char* why) noexcept {
    set_last_error(why);
    return -EINVAL;
}

}  // namespace wirebook::capi

struct wirebook_reader {  // NOLINT(readability-identifier-naming)
    explicit wirebook_reader(wirebook::ring::Reader&& attached) noexcept
        : ring(std::move(attached)) {}

    std::uint64_t mark = wirebook::capi::live_mark;
    wirebook::ring::Reader ring;
    wirebook::ring::Record record;  // between the ring and a caller's record that is not aligned
};

namespace wirebook::capi {

// By memcpy: std::bit_cast of a pointer makes clang-tidy 14 end itself.
[[nodiscard]] inline bool is_aligned(const void* object, std::size_t alignment) noexcept {
    std::uintptr_t address = 0;
    std::memcpy(&address, &object, sizeof(address));
    return address % alignment == 0;
}

[[nodiscard]] inline bool usable(const wirebook_reader* reader) noexcept {
    return reader != nullptr && is_aligned(reader, alignof(wirebook_reader)) &&
           reader->mark == live_mark;
}

}  // namespace wirebook::capi
