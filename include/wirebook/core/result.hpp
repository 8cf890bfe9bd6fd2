// Result<T>: what cold-path functions return instead of throwing.
// A stand-in for std::expected, which -std=c++20 lacks on g++ 12 and clang 14.
#pragma once

#include <string>
#include <system_error>
#include <utility>
#include <variant>

#include "wirebook/core/base.hpp"

namespace wirebook {

struct Error {
    int code = 0;         // errno, or a negative value from a library (DPDK)
    std::string context;  // "open /dev/shm/wirebook.itch: No such file or directory"
};

// "open x: No such file or directory". `code`: an errno.
inline Error errno_error(const std::string& what, int code) {
    return {code, what + ": " + std::generic_category().message(code)};
}

template <class T>
class [[nodiscard]] Result {
public:
    // Implicit, so that functions can `return value;` and `return Error{...};`.
    // NOLINTBEGIN(google-explicit-constructor)
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
    // NOLINTEND(google-explicit-constructor)

    [[nodiscard]] bool ok() const noexcept { return state_.index() == 0; }
    explicit operator bool() const noexcept { return ok(); }

    [[nodiscard]] T& value() & noexcept {
        WIREBOOK_CHECK(ok());
        return *std::get_if<0>(&state_);
    }
    [[nodiscard]] T&& value() && noexcept {
        WIREBOOK_CHECK(ok());
        return std::move(*std::get_if<0>(&state_));
    }
    [[nodiscard]] const T& value() const& noexcept {
        WIREBOOK_CHECK(ok());
        return *std::get_if<0>(&state_);
    }
    [[nodiscard]] const Error& error() const noexcept {
        WIREBOOK_CHECK(!ok());
        return *std::get_if<1>(&state_);
    }

private:
    std::variant<T, Error> state_;
};

// For what succeeds without a value: `return Ok{};`.
struct Ok {};
using Status = Result<Ok>;

}  // namespace wirebook
