// What the tests of journal and gateway share: a folder, an engine that remembers every byte it
// was given, streams of requests for the real one, and engines made from a journal.
#pragma once

#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "wirebook/book/hash.hpp"
#include "wirebook/match/engine.hpp"
#include "wirebook/match/engine_digest.hpp"
#include "wirebook/match/gateway.hpp"

namespace wirebook::test {

class JournalFolder {
public:
    JournalFolder() {
        std::string pattern = "/dev/shm/wirebook-match.XXXXXX";
        REQUIRE(::mkdtemp(pattern.data()) != nullptr);
        path_ = pattern;
    }
    ~JournalFolder() { std::filesystem::remove_all(path_); }
    JournalFolder(const JournalFolder&) = delete;
    JournalFolder& operator=(const JournalFolder&) = delete;
    [[nodiscard]] std::string file() const { return path_ + "/journal"; }

private:
    std::string path_;
};

inline std::uint64_t test_seed() {
    const char* given = std::getenv("WIREBOOK_SEED");
    const std::uint64_t chosen =
        given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
    std::cerr << "seed: WIREBOOK_SEED=" << chosen << '\n';
    return chosen;
}

inline Arena must_make_arena(std::size_t bytes) {
    auto made = Arena::create({.bytes = bytes + (std::size_t{2} << 20U), .hugetlb = false});
    if (!made) FAIL(made.error().context);
    return std::move(made).value();
}

// An engine whose state is a hash of all requests so far, byte for byte and in their order. Every
// third request is rejected; the others are added, and every fourth trades with order_id - 1,
// which belongs to the producer that display says.
struct HashEngine {
    template <class Sink>
    void apply(const match::Request& request, Sink& sink) noexcept {
        std::array<std::uint64_t, 8> words;
        std::memcpy(words.data(), &request, sizeof(request));
        for (const std::uint64_t word : words) state = mix.mix(state + word, state ^ word);
        applied += 1;
        match::Report report;
        report.producer = request.producer;
        report.order_id = request.order_id;
        report.time_ns = request.time_ns;
        report.number = ++reports;
        report.kind = applied % 3 == 0 ? match::ReportKind::rejected : match::ReportKind::accepted;
        report.flags = match::report_flag::answer;
        sink.on_report(report);
        report.flags = 0;
        if (applied % 3 == 0) return;
        report.kind = match::ReportKind::added;
        report.number = ++reports;
        sink.on_report(report);
        if (applied % 4 != 0) return;
        report.kind = match::ReportKind::executed;
        report.producer = static_cast<std::uint16_t>(request.display);
        report.contra_order_id = request.order_id;
        report.order_id = request.order_id - 1;
        report.number = ++reports;
        sink.on_report(report);
    }
    [[nodiscard]] std::uint64_t state_hash() const noexcept { return state; }

    static constexpr book::HashSeed mix{};
    std::uint64_t state = 1, applied = 0, reports = 0;
};

// Random requests of all kinds for a real engine of `instruments` instruments: most are valid.
class RequestStream {
public:
    // Order ids are first_id + 1 and up.
    RequestStream(std::uint64_t seed, std::uint32_t instruments, std::uint64_t first_id = 0)
        : random_(seed), instruments_(instruments), first_id_(first_id) {}

    match::Request next() {
        using match::RequestKind;
        match::Request request;
        made_ += 1;
        request.instrument = static_cast<std::uint32_t>(below(instruments_));
        if (made_ <= instruments_) {
            request.kind = RequestKind::set_state;
            request.instrument = static_cast<std::uint32_t>(made_ - 1);
            request.state = match::TradingState::continuous;
            return request;
        }
        const std::uint64_t dice = below(100);
        request.kind = dice < 55   ? RequestKind::enter
                       : dice < 80 ? RequestKind::cancel
                       : dice < 88 ? RequestKind::reduce
                       : dice < 98 ? RequestKind::replace
                                   : RequestKind::indicate;
        request.participant = static_cast<std::uint16_t>(1 + below(4));
        request.side = below(2) == 0 ? match::Side::bid : match::Side::ask;
        request.order_id =
            first_id_ + (request.kind == RequestKind::enter ? ++ids_ : 1 + below(ids_ + 1));
        request.new_order_id = first_id_ + ++ids_;
        request.price = static_cast<std::int64_t>(100 + below(20));
        request.quantity = 1 + below(500);
        request.display = below(8) == 0 ? 1 + below(request.quantity) : 0;
        request.time_ns = static_cast<std::int64_t>(made_ * 1000);
        if (below(10) == 0) request.time_in_force = match::TimeInForce::immediate_or_cancel;
        if (below(30) == 0) request.flags = match::request_flag::hidden, request.display = 0;
        return request;
    }

private:
    std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
    std::mt19937_64 random_;
    std::uint32_t instruments_;
    std::uint64_t first_id_;
    std::uint64_t made_ = 0, ids_ = 0;
};

constexpr std::uint32_t test_instruments = 3;
inline match::EngineOptions small_engine_options() {
    match::EngineOptions options;
    options.instruments = test_instruments;
    options.orders = 4096;
    options.levels = 1024;
    options.hash_seed = 7;
    return options;
}
inline std::vector<match::InstrumentTerms> small_terms() {
    return std::vector<match::InstrumentTerms>(test_instruments);
}

// A real engine in an arena of its own.
class RealEngine {
public:
    RealEngine()
        : arena_(must_make_arena(match::Engine::bytes_needed(small_engine_options()))),
          engine_(make()) {}
    match::Engine& operator*() { return engine_; }
    match::Engine* operator->() { return &engine_; }
    static std::uint64_t digest() {
        return match::engine_digest(small_engine_options(), small_terms());
    }

private:
    match::Engine make() {
        auto made = match::Engine::create(arena_, small_engine_options(), small_terms());
        if (!made) FAIL(made.error().context);
        return std::move(made).value();
    }
    Arena arena_;
    match::Engine engine_;
};

struct NoSink {
    void on_report(const match::Report&) noexcept {}
};

template <class Engine>
void feed(Engine& engine, std::span<const match::Request> requests) {
    NoSink sink;
    for (const match::Request& request : requests) engine.apply(request, sink);
}

inline std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}
inline void write_file(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace wirebook::test
