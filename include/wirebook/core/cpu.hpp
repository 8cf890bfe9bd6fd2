// Does this CPU have what the binary was compiled for? Asked once, first thing in main: without
// it a too old machine shows only "Illegal instruction".
// Layer 0. src/core/cpu.cpp is compiled for the oldest x86-64, whatever the -march of the rest.
#pragma once

#include <cstdint>

#include "wirebook/core/result.hpp"

namespace wirebook {

// One bit an instruction set extension that compilers use on their own.
namespace cpu_feature {
inline constexpr std::uint32_t sse3 = 1U << 0, ssse3 = 1U << 1, sse4_1 = 1U << 2, sse4_2 = 1U << 3,
                               popcnt = 1U << 4, avx = 1U << 5, avx2 = 1U << 6, bmi1 = 1U << 7,
                               bmi2 = 1U << 8, fma = 1U << 9, f16c = 1U << 10, lzcnt = 1U << 11,
                               movbe = 1U << 12, avx512f = 1U << 13, avx512bw = 1U << 14,
                               avx512cd = 1U << 15, avx512dq = 1U << 16, avx512vl = 1U << 17;
}  // namespace cpu_feature

// What the including file was compiled for. `static`, not `inline`: its value differs between
// files with different flags.
static constexpr std::uint32_t compiled_cpu_features = 0
#ifdef __SSE3__
                                                       | cpu_feature::sse3
#endif
#ifdef __SSSE3__
                                                       | cpu_feature::ssse3
#endif
#ifdef __SSE4_1__
                                                       | cpu_feature::sse4_1
#endif
#ifdef __SSE4_2__
                                                       | cpu_feature::sse4_2
#endif
#ifdef __POPCNT__
                                                       | cpu_feature::popcnt
#endif
#ifdef __AVX__
                                                       | cpu_feature::avx
#endif
#ifdef __AVX2__
                                                       | cpu_feature::avx2
#endif
#ifdef __BMI__
                                                       | cpu_feature::bmi1
#endif
#ifdef __BMI2__
                                                       | cpu_feature::bmi2
#endif
#ifdef __FMA__
                                                       | cpu_feature::fma
#endif
#ifdef __F16C__
                                                       | cpu_feature::f16c
#endif
#ifdef __LZCNT__
                                                       | cpu_feature::lzcnt
#endif
#ifdef __MOVBE__
                                                       | cpu_feature::movbe
#endif
#ifdef __AVX512F__
                                                       | cpu_feature::avx512f
#endif
#ifdef __AVX512BW__
                                                       | cpu_feature::avx512bw
#endif
#ifdef __AVX512CD__
                                                       | cpu_feature::avx512cd
#endif
#ifdef __AVX512DQ__
                                                       | cpu_feature::avx512dq
#endif
#ifdef __AVX512VL__
                                                       | cpu_feature::avx512vl
#endif
    ;

// The features of this machine, as far as its operating system lets programs use them.
[[nodiscard]] std::uint32_t cpu_features() noexcept;

// The names of `features`, as /proc/cpuinfo spells them, separated by blanks; a static string.
// Not for two threads at once.
[[nodiscard]] const char* cpu_feature_names(std::uint32_t features) noexcept;

// An error that says in words what this machine lacks, out of `needed`:
// check_cpu(compiled_cpu_features).
[[nodiscard]] Status check_cpu(std::uint32_t needed);

// Prints the same and ends the process with `exit_status` if something is missing. Touches
// nothing but the stack and stderr, so it may run before any other code:
// [[gnu::constructor(101)]] in the program's main file.
void require_cpu(std::uint32_t needed, int exit_status) noexcept;

}  // namespace wirebook
