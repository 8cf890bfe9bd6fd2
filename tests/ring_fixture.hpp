// What the ring's tests share: a folder of their own, and records whose every field follows from
// who wrote them and their number, so that a reader can tell a torn or invented one.
#pragma once

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <random>
#include <string>

#include "wirebook/ring/reader.hpp"
#include "wirebook/ring/writer.hpp"

namespace wirebook::test {

// `tests/run.sh --all`: the numbers that take minutes.
inline bool long_tests() {
    return std::getenv("WIREBOOK_LONG") != nullptr;
}
// In instrumented builds everything is many times slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool instrumented = true;
#elif defined(__has_feature)
inline constexpr bool instrumented =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool instrumented = false;
#endif
// What is random in a test, printed so that it can be had again.
inline std::uint64_t random_seed() {
    const char* given = std::getenv("WIREBOOK_SEED");
    const std::uint64_t chosen =
        given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
    std::cerr << "seed: WIREBOOK_SEED=" << chosen << '\n';
    return chosen;
}

class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string pattern = "/dev/shm/wirebook-test.XXXXXX";
        REQUIRE(::mkdtemp(pattern.data()) != nullptr);
        path_ = pattern;
    }
    ~TemporaryFolder() { std::filesystem::remove_all(path_); }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
};

inline ring::SegmentOptions small_segment(const std::string& directory) {
    ring::SegmentOptions options;
    options.name = "test";
    options.directory = directory;
    options.session_name = "the session";
    options.geometry = {.depth = 5, .slots = 64, .instruments = 16, .channels = 2};
    return options;
}

inline ring::Writer must_create(const ring::SegmentOptions& options) {
    auto created = ring::Writer::create(options);
    if (!created) FAIL(created.error().context);
    return std::move(created).value();
}
inline ring::Reader must_attach(const std::string& directory, ring::AttachOptions options = {}) {
    options.directory = directory;
    auto attached = ring::Reader::attach("test", options);
    if (!attached) FAIL(attached.error().context);
    return std::move(attached).value();
}

// Record n of writer `who`: snapshots of instruments n % 8, every 8th a trade of instrument 7.
inline bool is_trade(std::uint64_t n) {
    return n % 8 == 7;
}
inline void fill(ring::Record& record, std::uint64_t who, std::uint64_t n) {
    const auto at = static_cast<std::int64_t>(who * 1'000'003 + n * 17);
    record.instrument = static_cast<std::uint32_t>(n % 8);
    record.exchange_time_ns = at;
    record.receive_time_ns = at + 1;
    record.feed_sequence = who;
    record.packet = n;
    record.channel = 1;
    if (is_trade(n)) {
        record.set_event(ring::TradeEvent{.price = at, .quantity = n, .match = who});
        return;
    }
    record.bid_levels = static_cast<std::uint8_t>(n % 6);  // depth 5: 0 to 5 levels
    record.ask_levels = static_cast<std::uint8_t>((n / 6) % 6);
    record.bid_price = at - 10;
    record.ask_price = at + 10;
    record.bid_quantity = record.ask_quantity = n;
    record.bid_orders = record.ask_orders = static_cast<std::uint32_t>(n);
    for (int level = 1; level < 5; ++level) {
        auto& row = record.levels[static_cast<std::size_t>(level) - 1];
        row.bid = {at - 10 - level, n + static_cast<std::uint64_t>(level), 1, 0};
        row.ask = {at + 10 + level, n + static_cast<std::uint64_t>(level), 2, 0};
    }
}
// What a reader got is exactly what fill made: record.packet says which it should be.
inline bool is_whole(const ring::Record& record, std::uint64_t who) {
    const std::uint64_t n = record.packet;
    ring::Record wanted;
    fill(wanted, who, n);
    bool same = record.sequence == n && record.instrument == wanted.instrument &&
                record.exchange_time_ns == wanted.exchange_time_ns &&
                record.receive_time_ns == wanted.receive_time_ns && record.feed_sequence == who &&
                record.channel == 1;
    if (is_trade(n)) {
        if (record.kind != ring::RecordKind::trade) return false;
        const auto trade = record.event<ring::TradeEvent>();
        return same && trade.price == wanted.exchange_time_ns && trade.quantity == n &&
               trade.match == who;
    }
    same = same && record.kind == ring::RecordKind::snapshot &&
           record.bid_levels == wanted.bid_levels && record.ask_levels == wanted.ask_levels &&
           record.bid_price == wanted.bid_price && record.ask_orders == wanted.ask_orders;
    for (std::size_t level = 0; level < 5; ++level)
        same = same && record.bid(level) == wanted.bid(level) &&
               record.ask(level) == wanted.ask(level);
    return same;
}
inline void publish(ring::Writer& writer, ring::Record& record, std::uint64_t who) {
    const std::uint64_t n = writer.next_sequence();
    fill(record, who, n);
    if (is_trade(n))
        writer.publish_event(record);
    else
        writer.publish_snapshot(record);
}
inline void add_instruments(ring::Writer& writer) {
    for (int i = 0; i < 8; ++i)
        REQUIRE(writer.add_instrument("SYM" + std::to_string(i), 1, 4) == std::uint32_t(i));
}

}  // namespace wirebook::test
