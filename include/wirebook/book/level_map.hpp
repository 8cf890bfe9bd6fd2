// Where the level of a price is: (book side, rank) -> level line, for all books of a set at once.
//
// The bucket's address follows from the update alone, so it can be prefetched while the message is
// still being decoded, and a look-up costs one cache line however far from the touch the price
// lies. A level is looked up by the adds that name its price and when it empties, never for the
// orders that leave it.
//
// Open addressing in buckets of one cache line, seven entries each: a 32-bit tag of the hash and
// the line's index. `passed` counts the entries that went past this bucket because it was full;
// while it is 0 a search ends here, so nothing is left behind by an erased entry.
// May depend on core. One thread.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wirebook/book/hash.hpp"
#include "wirebook/book/lines.hpp"
#include "wirebook/core/base.hpp"

namespace wirebook::book {

class LevelMap {
public:
    static constexpr std::uint32_t bucket_entries = 7;

    struct alignas(cache_line_bytes) Bucket {
        std::array<std::uint32_t, bucket_entries> tag;  // 0: no entry
        std::uint32_t passed;
        std::array<std::uint32_t, bucket_entries> line;
        std::uint32_t unused;
    };
    static_assert(sizeof(Bucket) == 64);

    // How many buckets serve `levels`: a power of two, four entries a bucket at the fullest.
    [[nodiscard]] static constexpr std::size_t buckets_for(std::uint64_t levels) noexcept {
        return std::bit_ceil(static_cast<std::size_t>(levels / 4 + 2));
    }

    void start(std::span<Bucket> buckets, HashSeed seed) noexcept {
        WIREBOOK_CHECK(std::has_single_bit(buckets.size()) && buckets.size() >= 2);
        buckets_ = buckets;
        seed_ = seed;
        shift_ = 64U - static_cast<unsigned>(std::countr_zero(buckets.size()));
    }

    [[nodiscard]] std::uint64_t hash(BookSide book_side, std::int64_t rank) const noexcept {
        const std::uint64_t b = book_side.bits();
        return seed_.mix(static_cast<std::uint64_t>(rank), b << 32U | b);
    }

    void prefetch_bucket(std::uint64_t hash) const noexcept { prefetch(&buckets_[home(hash)]); }

    // The line that is probably meant, for a hint: looks at the first bucket only.
    [[nodiscard]] std::uint32_t guess(std::uint64_t hash) const noexcept {
        const Bucket& bucket = buckets_[home(hash)];
        const std::uint32_t tag = tag_of(hash);
        std::uint32_t line = no_line;
        for (std::uint32_t i = 0; i < bucket_entries; ++i) {
            line = bucket.tag[i] == tag ? bucket.line[i] : line;
        }
        return line;
    }

    // The level's line, or no_line. `hash` is hash(book_side, rank).
    [[nodiscard]] std::uint32_t find(const LinePool& pool, std::uint64_t hash, BookSide book_side,
                                     std::int64_t rank) const noexcept {
        const std::uint32_t tag = tag_of(hash);
        const std::size_t start = home(hash);
        for (std::size_t at = start;;) {
            const Bucket& bucket = buckets_[at];
            std::uint32_t hits = 0;
            for (std::uint32_t i = 0; i < bucket_entries; ++i) {
                hits |= static_cast<std::uint32_t>(bucket.tag[i] == tag) << i;
            }
            for (; hits != 0; hits &= hits - 1) {
                const std::uint32_t line =
                    bucket.line[static_cast<std::uint32_t>(std::countr_zero(hits))];
                const LevelLine& level = pool.level(line);
                if (level.rank == rank && level.book_side == book_side) return line;
            }
            if (bucket.passed == 0) [[likely]]
                return no_line;
            at = next(at);
            if (at == start) return no_line;  // entries went past every bucket at some time
        }
    }

    // There is room: the owner makes no more levels than buckets_for() was asked for.
    void insert(std::uint64_t hash, std::uint32_t line) noexcept {
        for (std::size_t at = home(hash);; at = next(at)) {
            Bucket& bucket = buckets_[at];
            for (std::uint32_t i = 0; i < bucket_entries; ++i) {
                if (bucket.tag[i] != 0) continue;
                bucket.tag[i] = tag_of(hash);
                bucket.line[i] = line;
                return;
            }
            ++bucket.passed;
        }
    }

    // `line` is in the map under `hash`.
    void erase(std::uint64_t hash, std::uint32_t line) noexcept {
        for (std::size_t at = home(hash);; at = next(at)) {
            Bucket& bucket = buckets_[at];
            for (std::uint32_t i = 0; i < bucket_entries; ++i) {
                if (bucket.line[i] != line || bucket.tag[i] == 0) continue;
                bucket.tag[i] = 0;
                bucket.line[i] = no_line;
                return;
            }
            WIREBOOK_CHECK(bucket.passed != 0);
            --bucket.passed;
        }
    }

    [[nodiscard]] std::size_t buckets() const noexcept { return buckets_.size(); }
    void reset() noexcept;

private:
    [[nodiscard]] std::size_t home(std::uint64_t hash) const noexcept { return hash >> shift_; }
    [[nodiscard]] std::size_t next(std::size_t at) const noexcept {
        return (at + 1) & (buckets_.size() - 1);
    }
    [[nodiscard]] static std::uint32_t tag_of(std::uint64_t hash) noexcept {
        return static_cast<std::uint32_t>(hash) | 1U;
    }

    std::span<Bucket> buckets_;
    HashSeed seed_;
    unsigned shift_ = 63;
};

}  // namespace wirebook::book
