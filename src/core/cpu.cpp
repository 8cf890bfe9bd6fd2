// CPUID in words. Compiled for plain x86-64 (src/core/meson.build), so it runs where the rest of
// the program does not; for that reason require_cpu() calls no inline function of the library,
// whose one copy may come from a file with other flags.
#include "wirebook/core/cpu.hpp"

#include <unistd.h>

#include <cerrno>
#include <string>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace wirebook {
namespace {

enum class Register : std::uint8_t { ebx, ecx };

struct Feature {
    const char* name;
    std::uint32_t bit;
    std::uint32_t leaf;
    int position;
    Register where;
};

namespace f = cpu_feature;
constexpr Feature features_by_cpuid[] = {
    {"pni", f::sse3, 1, 0, Register::ecx},
    {"ssse3", f::ssse3, 1, 9, Register::ecx},
    {"fma", f::fma, 1, 12, Register::ecx},
    {"sse4_1", f::sse4_1, 1, 19, Register::ecx},
    {"sse4_2", f::sse4_2, 1, 20, Register::ecx},
    {"movbe", f::movbe, 1, 22, Register::ecx},
    {"popcnt", f::popcnt, 1, 23, Register::ecx},
    {"avx", f::avx, 1, 28, Register::ecx},
    {"f16c", f::f16c, 1, 29, Register::ecx},
    {"bmi1", f::bmi1, 7, 3, Register::ebx},
    {"avx2", f::avx2, 7, 5, Register::ebx},
    {"bmi2", f::bmi2, 7, 8, Register::ebx},
    {"avx512f", f::avx512f, 7, 16, Register::ebx},
    {"avx512dq", f::avx512dq, 7, 17, Register::ebx},
    {"avx512cd", f::avx512cd, 7, 28, Register::ebx},
    {"avx512bw", f::avx512bw, 7, 30, Register::ebx},
    {"avx512vl", f::avx512vl, 7, 31, Register::ebx},
    {"abm", f::lzcnt, 0x8000'0001, 5, Register::ecx},
};

constexpr std::uint32_t ymm_features = f::avx | f::avx2 | f::fma | f::f16c;
constexpr std::uint32_t zmm_features =
    f::avx512f | f::avx512dq | f::avx512cd | f::avx512bw | f::avx512vl;

#if defined(__x86_64__)
// Which register files the operating system saves (XCR0); 0 without OSXSAVE.
std::uint32_t saved_registers() noexcept {
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    constexpr unsigned osxsave = 1U << 27;
    if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & osxsave) == 0) return 0;
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}
#endif

void say(const char* text) noexcept {
    std::size_t length = 0;
    while (text[length] != 0) ++length;
    // A message on the way to _exit: there is nobody to tell that it could not be written.
    if (::write(STDERR_FILENO, text, length) < 0) return;
}

}  // namespace

std::uint32_t cpu_features() noexcept {
#if defined(__x86_64__)
    std::uint32_t found = 0;
    for (const Feature& feature : features_by_cpuid) {
        unsigned eax = 0;
        unsigned ebx = 0;
        unsigned ecx = 0;
        unsigned edx = 0;
        if (__get_cpuid_count(feature.leaf, 0, &eax, &ebx, &ecx, &edx) == 0) continue;
        const unsigned word = feature.where == Register::ebx ? ebx : ecx;
        if (((word >> feature.position) & 1U) != 0) found |= feature.bit;
    }
    constexpr std::uint32_t ymm_saved = 0x06;
    constexpr std::uint32_t zmm_saved = 0xE6;
    const std::uint32_t saved = saved_registers();
    if ((saved & ymm_saved) != ymm_saved) found &= ~ymm_features;
    if ((saved & zmm_saved) != zmm_saved) found &= ~zmm_features;
    return found;
#else
    return ~0U;
#endif
}

const char* cpu_feature_names(std::uint32_t features) noexcept {
    static char names[160];
    std::size_t length = 0;
    for (const Feature& feature : features_by_cpuid) {
        if ((features & feature.bit) == 0) continue;
        if (length != 0) names[length++] = ' ';
        for (const char* from = feature.name; *from != 0; ++from) names[length++] = *from;
    }
    names[length] = 0;
    return names;
}

Status check_cpu(std::uint32_t needed) {
    const std::uint32_t missing = needed & ~cpu_features();
    if (missing == 0) return Ok{};
    return Error{ENOTSUP, std::string("this CPU lacks ") + cpu_feature_names(missing) +
                              ", which this build needs; build again with meson's -Dmarch="
                              "x86-64-v2, x86-64 or native"};
}

void require_cpu(std::uint32_t needed, int exit_status) noexcept {
    const std::uint32_t missing = needed & ~cpu_features();
    if (missing == 0) return;
    say("wirebook: this CPU lacks ");
    say(cpu_feature_names(missing));
    say(", which this build needs; build again with meson's -Dmarch=x86-64-v2, x86-64 or native\n");
    _exit(exit_status);
}

}  // namespace wirebook
