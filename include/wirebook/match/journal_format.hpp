// The bytes of a journal: a header, then one record a request, all little-endian, nothing between
// and nothing after (docs/matching-gateway.md has every offset).
// May depend on core. Pure functions; any thread.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "wirebook/match/crc32c.hpp"
#include "wirebook/match/request.hpp"

namespace wirebook::match {

static_assert(std::endian::native == std::endian::little, "x86-64 and AArch64 only");

inline constexpr std::array<char, 8> journal_magic = {'W', 'B', 'M', 'A', 'T', 'C', 'H', 'J'};
inline constexpr std::uint32_t journal_version = 1;

struct JournalHeader {
    std::array<char, 8> magic = journal_magic;
    std::uint32_t version = journal_version;
    std::uint32_t header_bytes = 64;
    std::uint32_t record_bytes = 80;
    std::uint32_t reserved0 = 0;
    std::uint64_t engine_digest = 0;  // of what else the engine's state depends on
    std::array<char, 28> reserved1{};
    std::uint32_t checksum = 0;  // CRC-32C of all before it
};
static_assert(sizeof(JournalHeader) == 64 && offsetof(JournalHeader, engine_digest) == 24);
static_assert(offsetof(JournalHeader, checksum) == 60);

struct JournalRecord {
    Request request;
    std::uint64_t sequence = 0;  // from 1, one more each
    std::uint32_t reserved = 0;
    std::uint32_t checksum = 0;  // CRC-32C of all before it
};
static_assert(sizeof(JournalRecord) == 80 && offsetof(JournalRecord, sequence) == 64);
static_assert(offsetof(JournalRecord, checksum) == 76);
static_assert(std::has_unique_object_representations_v<JournalRecord>);

// A record holds the request as it lies in memory: its offsets are the format's.
static_assert(offsetof(Request, kind) == 0 && offsetof(Request, side) == 1);
static_assert(offsetof(Request, type) == 2 && offsetof(Request, time_in_force) == 3);
static_assert(offsetof(Request, flags) == 4 && offsetof(Request, self_trade) == 5);
static_assert(offsetof(Request, state) == 6 && offsetof(Request, cross) == 7);
static_assert(offsetof(Request, instrument) == 8 && offsetof(Request, participant) == 12);
static_assert(offsetof(Request, producer) == 14 && offsetof(Request, order_id) == 16);
static_assert(offsetof(Request, new_order_id) == 24 && offsetof(Request, price) == 32);
static_assert(offsetof(Request, quantity) == 40 && offsetof(Request, display) == 48);
static_assert(offsetof(Request, time_ns) == 56);

[[nodiscard]] inline JournalHeader make_journal_header(std::uint64_t engine_digest) noexcept {
    JournalHeader header;
    header.engine_digest = engine_digest;
    const auto bytes = std::as_bytes(std::span(&header, 1));
    header.checksum = crc32c(bytes.first(offsetof(JournalHeader, checksum)));
    return header;
}

[[nodiscard]] inline JournalRecord make_journal_record(const Request& request,
                                                       std::uint64_t sequence) noexcept {
    JournalRecord record{request, sequence, 0, 0};
    const auto bytes = std::as_bytes(std::span(&record, 1));
    record.checksum = crc32c(bytes.first(offsetof(JournalRecord, checksum)));
    return record;
}

// The record at the front of `bytes`, if a whole one with the right checksum is there.
[[nodiscard]] inline std::optional<JournalRecord> read_journal_record(
    std::span<const std::byte> bytes) noexcept {
    if (bytes.size() < sizeof(JournalRecord)) return std::nullopt;
    JournalRecord record;
    std::memcpy(&record, bytes.data(), sizeof(record));
    const auto before = bytes.first(offsetof(JournalRecord, checksum));
    if (record.checksum != crc32c(before) || record.reserved != 0) return std::nullopt;
    return record;
}

}  // namespace wirebook::match
