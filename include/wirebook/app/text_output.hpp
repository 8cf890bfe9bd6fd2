// Files of text lines that a command writes: buffered, checked at the end, "-" is stdout.
//
// Cold enough for fmt, hot enough for a million rows a second. One thread. A write error (disk
// full, closed pipe) is remembered and reported by close().
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "wirebook/core/result.hpp"

namespace wirebook::app {

class TextOutput {
public:
    // An existing file is replaced.
    [[nodiscard]] static Result<TextOutput> open(const std::string& path);

    // Rows are appended here; flush_if_full() between rows hands them to the file.
    [[nodiscard]] std::string& buffer() noexcept { return buffer_; }
    void flush_if_full() {
        if (buffer_.size() >= flush_bytes) flush();
    }
    [[nodiscard]] Status close();

private:
    static constexpr std::size_t flush_bytes = std::size_t{1} << 18;
    struct Closer {
        void operator()(std::FILE* file) const noexcept {
            if (file != stdout) static_cast<void>(std::fclose(file));
        }
    };

    TextOutput(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}
    void flush();

    std::string path_;
    std::unique_ptr<std::FILE, Closer> file_;
    std::string buffer_;
    int error_ = 0;  // errno of the first write that failed
};

// Appends `price` with `places` decimals, the sign before the digits: -0.0100.
void append_price(std::string& out, std::int64_t price, std::uint8_t places);
void append_number(std::string& out, std::uint64_t number);
void append_signed(std::string& out, std::int64_t number);
// Appends wire text as a CSV field: Latin-1 bytes become UTF-8, quoted by RFC 4180 where needed.
void append_csv_text(std::string& out, std::string_view latin1);

}  // namespace wirebook::app
