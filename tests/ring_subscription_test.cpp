// Patterns, subscriptions, readers that go over to the next writer by themselves, visitors.
#include <clocale>
#include <string>

#include "ring_fixture.hpp"
#include "wirebook/ring/subscription.hpp"
#include "wirebook/ring/visit.hpp"

using namespace wirebook;
using namespace wirebook::ring;
using wirebook::test::add_instruments;
using wirebook::test::must_attach;
using wirebook::test::must_create;
using wirebook::test::small_segment;
using wirebook::test::TemporaryFolder;

namespace {

Subscription must_make(Wanted wanted) {
    auto made = Subscription::make(std::move(wanted));
    if (!made) FAIL(made.error().context);
    return std::move(made).value();
}
using Indices = std::vector<std::uint32_t>;
Indices indices(const Subscription& subscription) {
    return {subscription.instruments().begin(), subscription.instruments().end()};
}
Record of_instrument(std::uint32_t instrument) {
    Record record;
    record.instrument = instrument;
    return record;
}

}  // namespace

TEST_CASE("ring: patterns match whole symbols as the shell's do", "[ring]") {
    struct Case {
        const char *pattern, *text;
        bool matches;
    };
    const auto c = GENERATE(values<Case>({
        {"AAPL", "AAPL", true},
        {"AAPL", "AAPLX", false},
        {"AAPL", "AAP", false},
        {"*", "", true},
        {"*", "X", true},
        {"?", "", false},
        {"?", "X", true},
        {"BRK*", "BRK", true},
        {"BRK*", "BRK.B", true},
        {"BRK*", "ABRK", false},
        {"*K", "BRK", true},
        {"*K*K", "KAK", true},
        {"*K*K", "AK", false},
        {"a*b*c", "axxbyybzc", true},
        {"a*b*c", "axxbyybz", false},
        {"[A-C]?", "B1", true},
        {"[A-C]?", "D1", false},
        {"[!A-C]?", "D1", true},
        {"[!A-C]?", "B1", false},
        {"[]]", "]", true},
        {"[!]]", "]", false},
        {"[a-]", "-", true},
        {"\\*", "*", true},
        {"\\*", "X", false},
        {"X\\[", "X[", true},
        {"**?", "ab", true},
        {"a?c", "abc", true},
        {"", "", false},
        {"", "X", false},
        {"[A", "A", false},
        {"[A", "[A", true},
        {"A[!", "A[!", true},
        {"A\\", "A", false},
        {"A\\\\", "A\\", true},
        {"[\\]]", "]", true},
        {"[\\]]", "\\]", false},
        {"[^A]", "A", false},
        {"[^A]", "B", true},
        {"[^A]", "^", true},
        {"[A^]", "^", true},
        {"[z-a]", "b", false},
        {"[z-a]", "z", false},
        {"[[:upper:]]?", "AB", true},
        {"[[:upper:]]?", "aB", false},
        {"[[:digit:]X]", "7", true},
        {"[![:digit:]]", "7", false},
        {"[a-z]", "B", false},
        {"*.*", ".A", true},
        {"A/B", "A/B", true},
        {"*", "A/B", true},
        {"7203.*", "7203.DAYX", true},
    }));
    INFO(c.pattern << " and " << c.text);
    CHECK(matches_pattern(c.pattern, Symbol(c.text)) == c.matches);
}

TEST_CASE("ring: patterns do not depend on the program's locale", "[ring]") {
    const char* const before = std::setlocale(LC_ALL, "C.UTF-8");
    const char invalid[] = {'A', '\xFF', 'B', '\0'};  // no UTF-8
    CHECK(matches_pattern("A?B", Symbol(invalid)));
    CHECK(matches_pattern("[A-Z]*", Symbol(invalid)));
    CHECK_FALSE(matches_pattern("[A-Z]*", Symbol("a")));
    if (before != nullptr) CHECK(std::setlocale(LC_ALL, "C") != nullptr);
    CHECK(matches_pattern("????????????????", Symbol("ABCDEFGHIJKLMNOP")));
}

TEST_CASE("ring: a faulty pattern is refused and named", "[ring]") {
    CHECK(pattern_fault("[A-Z]*") == nullptr);
    CHECK(std::string(pattern_fault("")) == "is empty");
    CHECK(pattern_fault("A[") == nullptr);  // itself, as POSIX has it
    CHECK(pattern_fault("A\\\\") == nullptr);
    CHECK(pattern_fault(std::string_view("A\0B", 3)) != nullptr);
    for (const char* pattern : {"", "\\", "A\\", "A\\\\\\"}) {
        const auto made = Subscription::make({.symbols = {"GOOD", pattern}});
        REQUIRE_FALSE(made.ok());
        CHECK(made.error().code == EINVAL);
        CHECK(made.error().context.find('\'' + std::string(pattern) + '\'') != std::string::npos);
    }
}

TEST_CASE("ring: a subscription takes lists, patterns, one venue, one channel, or all", "[ring]") {
    const TemporaryFolder folder;
    Writer writer = must_create(small_segment(folder.path()));
    const auto add = [&](const char* symbol, std::uint32_t venue, std::uint16_t channel) {
        Identity identity;
        identity.symbol = Symbol(symbol);
        identity.venue = venue;
        identity.channel = channel;
        return writer.add_instrument(identity);
    };
    add("AAPL", 1, 0), add("BRK.A", 1, 0), add("AAPL", 2, 1), add("BRK.B", 2, 1);
    const Reader reader = must_attach(folder.path());
    const auto wanted = [&](Wanted what) {
        Subscription subscription = must_make(std::move(what));
        subscription.refresh(reader);
        return indices(subscription);
    };
    CHECK(wanted({}) == Indices{0, 1, 2, 3});
    CHECK(wanted({.symbols = {"AAPL"}}) == Indices{0, 2});
    CHECK(wanted({.symbols = {"AAPL"}, .venue = 2}) == Indices{2});
    CHECK(wanted({.symbols = {"BRK*", "AAPL"}, .channel = 0}) == Indices{0, 1});
    CHECK(wanted({.venue = 3}).empty());
    CHECK(wanted({.symbols = {"MSFT"}}).empty());

    CHECK(find_at_venue(reader, "AAPL", 1) == 0U);
    CHECK(find_at_venue(reader, "AAPL", 2) == 2U);
    CHECK_FALSE(find_at_venue(reader, "AAPL", 3).has_value());
    CHECK_FALSE(find_at_venue(reader, "AAP", 1).has_value());
    CHECK_FALSE(find_at_venue(reader, "a symbol that is too long", 1).has_value());
}

TEST_CASE("ring: a subscription sees rows that come and names that change", "[ring]") {
    const TemporaryFolder folder;
    Writer writer = must_create(small_segment(folder.path()));
    Reader reader = must_attach(folder.path());
    Subscription subscription = must_make({.symbols = {"SYM[1-3]", "LATE"}});
    CHECK_FALSE(subscription.wants(reader, of_instrument(1)));
    add_instruments(writer);
    CHECK(subscription.wants(reader, of_instrument(1)));
    CHECK_FALSE(subscription.wants(reader, of_instrument(4)));
    CHECK(indices(subscription) == Indices{1, 2, 3});
    writer.rename_instrument(4, "LATE", 4);
    writer.rename_instrument(2, "GONE", 4);
    CHECK(subscription.wants(reader, of_instrument(4)));
    CHECK_FALSE(subscription.wants(reader, of_instrument(2)));
    CHECK(indices(subscription) == Indices{1, 3, 4});
    CHECK(subscription.wants(reader, of_instrument(no_instrument)));  // of the whole channel
    CHECK_FALSE(subscription.wants(reader, of_instrument(15)));       // no such row
    CHECK_FALSE(subscription.contains(99));
}

TEST_CASE("ring: a reader that follows goes over to the next writer, its subscription with it",
          "[ring]") {
    const TemporaryFolder folder;
    std::optional<Writer> writer(must_create(small_segment(folder.path())));
    add_instruments(*writer);
    Reader reader = must_attach(folder.path(), {.follow = true});
    Subscription subscription = must_make({.symbols = {"SYM5"}});
    Record in, out;
    for (int n = 0; n < 6; ++n) test::publish(*writer, in, 1);
    for (int n = 0; n < 6; ++n) {
        REQUIRE(reader.poll(out) == Poll::record);
        CHECK(subscription.wants(reader, out) == (n == 5));
    }
    const bool closes = GENERATE(true, false);
    if (closes) writer->close();
    writer.reset();
    Poll polled;
    while ((polled = reader.poll(out)) == Poll::empty) {
    }
    CHECK(polled == Poll::writer_closed);
    // Nobody has taken the name over: it goes on asking.
    for (int i = 0; i < 100'000; ++i) REQUIRE(reader.poll(out) == Poll::writer_closed);

    writer.emplace(must_create(small_segment(folder.path())));
    REQUIRE(writer->add_instrument("SYM5", 1, 4) == 0);
    test::publish(*writer, in, 2);
    while ((polled = reader.poll(out)) == Poll::writer_closed) {
    }
    REQUIRE(polled == Poll::reattached);
    REQUIRE(reader.poll(out) == Poll::record);
    CHECK(out.from_table());
    CHECK(out.feed_sequence == 2);
    CHECK(subscription.wants(reader, out));
    CHECK(indices(subscription) == Indices{0});
    CHECK(reader.poll(out) == Poll::empty);
    CHECK(reader.lost() == 0);
}

TEST_CASE("ring: a record is read again by its sequence while the ring holds it", "[ring]") {
    const TemporaryFolder folder;
    Writer writer = must_create(small_segment(folder.path()));
    add_instruments(writer);
    const Reader reader = must_attach(folder.path());
    Record in, out;
    CHECK_FALSE(reader.at(0, out));
    for (int n = 0; n < 70; ++n) test::publish(writer, in, 1);
    CHECK_FALSE(reader.at(5, out));
    REQUIRE(reader.at(6, out));
    CHECK(test::is_whole(out, 1));
    CHECK(out.sequence == 6);
    REQUIRE(reader.at(69, out));
    CHECK(out.sequence == 69);
    CHECK_FALSE(reader.at(70, out));
}

TEST_CASE("ring: a visitor gets snapshots and events by overload, a limit ends it", "[ring]") {
    const TemporaryFolder folder;
    Writer writer = must_create(small_segment(folder.path()));
    add_instruments(writer);
    Reader reader = must_attach(folder.path());
    Record in;
    CHECK(reader.poll(in) == Poll::empty);
    for (int n = 0; n < 16; ++n) test::publish(writer, in, 1);
    in.set_event(StatusEvent{.status = TradingStatus::halted});
    writer.publish_event(in);
    int snapshots = 0;
    std::vector<std::uint64_t> trades;
    const auto visitor = Overloaded{
        [&](const Record& record) { snapshots += record.kind == RecordKind::snapshot ? 1 : 100; },
        [&](const Record&, const TradeEvent& trade) { trades.push_back(trade.quantity); }};
    CHECK(for_each(reader, 10, visitor) == Poll::record);
    CHECK(snapshots == 9);
    CHECK(for_each(reader, 100, visitor) == Poll::empty);
    CHECK(snapshots == 14);
    CHECK(trades == std::vector<std::uint64_t>{7, 15});
}

namespace {
template <EventBody T>
bool visited_as() {
    Record record;
    record.set_event(T{});
    int calls = 0;
    visit(record, [&](const Record& seen, const auto& body) {
        calls += std::is_same_v<std::decay_t<decltype(body)>, T> && seen.kind == T::kind ? 1 : 100;
    });
    return calls == 1;
}
}  // namespace

TEST_CASE("ring: every kind of event reaches a visitor as its own type", "[ring]") {
    CHECK(visited_as<TradeEvent>());
    CHECK(visited_as<TradeBreakEvent>());
    CHECK(visited_as<StatusEvent>());
    CHECK(visited_as<AuctionEvent>());
    CHECK(visited_as<SystemEvent>());
    CHECK(visited_as<GapEvent>());
    CHECK(visited_as<SessionEvent>());
    CHECK(visited_as<QualityEvent>());
    CHECK(visited_as<DirectoryEvent>());
    CHECK(visited_as<CollarEvent>());
    CHECK(visited_as<IpoEvent>());
    CHECK(visited_as<OrderEvent>());
    Record unknown;
    unknown.kind = static_cast<RecordKind>(200);
    visit(unknown, [](const auto&...) { FAIL("a kind that nobody knows"); });
}
