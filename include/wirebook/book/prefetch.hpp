// Cache hints. A hint never changes what the code computes: whatever was looked at for one is read
// again when the update is applied. May depend on nothing. Any thread.
#pragma once

namespace wirebook::book {

inline void prefetch(const void* address) noexcept {
    __builtin_prefetch(address, 0, 3);
    // Without this g++ 12 takes a function that does nothing but prefetch for one without effect,
    // and drops the calls to it: the whole look-ahead goes, and only a profile shows it.
    asm("");
}

}  // namespace wirebook::book
