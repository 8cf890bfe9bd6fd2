// DPDK's log stream; see eal_log.hpp.
#include "eal_log.hpp"

#include <rte_log.h>
#include <sys/types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>

namespace wirebook::io::dpdk {

namespace {

constexpr std::size_t gathered_limit = 16'384;  // bytes; a start-up says a few hundred
constexpr std::size_t sentence_limit = 600;

struct Log {
    std::mutex mutex;
    std::FILE* stream = nullptr;
    bool gathering = false;
    std::string gathered;
};

// Never destroyed: DPDK's threads may log while the process ends.
Log& log() {
    alignas(Log) static std::byte storage[sizeof(Log)];
    static Log* const one = std::construct_at(reinterpret_cast<Log*>(storage));
    return *one;
}

ssize_t write_line(void* /*cookie*/, const char* text, std::size_t bytes) {
    Log& l = log();
    const std::lock_guard lock(l.mutex);
    // A critical line (rte_panic) is the last one before abort().
    const bool last_words = static_cast<std::uint32_t>(rte_log_cur_msg_loglevel()) <= RTE_LOG_CRIT;
    if (l.gathering && !last_words) {
        l.gathered.append(text, std::min(bytes, gathered_limit - l.gathered.size()));
    } else {
        std::fwrite(text, 1, bytes, stderr);
    }
    return static_cast<ssize_t>(bytes);
}

}  // namespace

void redirect_log() {
    Log& l = log();
    if (l.stream != nullptr) return;
    cookie_io_functions_t functions{};
    functions.write = write_line;
    l.stream = fopencookie(nullptr, "w", functions);
    if (l.stream == nullptr) return;  // DPDK's default stays
    setvbuf(l.stream, nullptr, _IOLBF, 1024);
    rte_openlog_stream(l.stream);
}

void begin_gathering() {
    Log& l = log();
    const std::lock_guard lock(l.mutex);
    l.gathering = true;
    l.gathered.clear();
}

std::string take_gathered() {
    Log& l = log();
    const std::lock_guard lock(l.mutex);
    std::string sentence;
    for (const char c : l.gathered) {
        if (c != '\n') {
            sentence += c;
        } else if (!sentence.ends_with("; ")) {
            sentence += "; ";
        }
    }
    l.gathered.clear();
    if (sentence.ends_with("; ")) sentence.resize(sentence.size() - 2);
    if (sentence.size() > sentence_limit) sentence = sentence.substr(0, sentence_limit) + " ...";
    return sentence;
}

void end_gathering() {
    Log& l = log();
    const std::lock_guard lock(l.mutex);
    std::fwrite(l.gathered.data(), 1, l.gathered.size(), stderr);
    l.gathered.clear();
    l.gathering = false;
}

}  // namespace wirebook::io::dpdk
