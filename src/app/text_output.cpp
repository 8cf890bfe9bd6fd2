#include "wirebook/app/text_output.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "wirebook/app/fingerprint.hpp"

namespace wirebook::app {

std::string Fingerprint::digits() const {
    std::array<char, 17> text{};
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(state_));
    return text.data();
}

Result<TextOutput> TextOutput::open(const std::string& path) {
    if (path == "-") return TextOutput("standard output", stdout);
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) {
        return errno_error("write " + path, errno);
    }
    return TextOutput(path, file);
}

void TextOutput::flush() {
    if (error_ == 0 &&
        std::fwrite(buffer_.data(), 1, buffer_.size(), file_.get()) != buffer_.size()) {
        error_ = errno;
    }
    buffer_.clear();
}

Status TextOutput::close() {
    flush();
    if (error_ == 0 && std::fflush(file_.get()) != 0) error_ = errno;
    std::FILE* file = file_.release();
    if (file != stdout && std::fclose(file) != 0 && error_ == 0) error_ = errno;
    if (error_ != 0) return errno_error("write " + path_, error_);
    return Ok{};
}

void append_number(std::string& out, std::uint64_t number) {
    std::array<char, 20> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    out.append(digits.data(), end);
}

void append_signed(std::string& out, std::int64_t number) {
    std::array<char, 20> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    out.append(digits.data(), end);
}

void append_price(std::string& out, std::int64_t price, std::uint8_t places) {
    const bool negative = price < 0;
    std::uint64_t magnitude = static_cast<std::uint64_t>(price);
    if (negative) magnitude = ~magnitude + 1;
    std::array<char, 20> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), magnitude).ptr;
    const auto count = static_cast<std::size_t>(end - digits.data());
    if (negative) out.push_back('-');
    if (places == 0) {
        out.append(digits.data(), count);
        return;
    }
    if (count > places) {
        out.append(digits.data(), count - places);
        out.push_back('.');
        out.append(digits.data() + (count - places), places);
    } else {
        out.append("0.");
        out.append(places - count, '0');
        out.append(digits.data(), count);
    }
}

void append_csv_text(std::string& out, std::string_view latin1) {
    const bool quote = latin1.find_first_of(",\"\r\n") != std::string_view::npos;
    if (quote) out.push_back('"');
    for (const char c : latin1) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x80) {
            out.push_back(static_cast<char>(0xC0 | (byte >> 6)));
            out.push_back(static_cast<char>(0x80 | (byte & 0x3F)));
        } else {
            if (c == '"') out.push_back('"');
            out.push_back(c);
        }
    }
    if (quote) out.push_back('"');
}

}  // namespace wirebook::app
