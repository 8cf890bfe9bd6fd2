// The control thread's parts that need no port: causes of holes, mail to an lcore, the log.
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "feed_rig.hpp"
#include "wirebook/app/lcore_mail.hpp"
#include "wirebook/app/log.hpp"
#include "wirebook/app/loss_watch.hpp"

namespace {

using namespace wirebook;
using namespace wirebook::app;
namespace itch = wirebook::feed::testing::itch;
using wirebook::feed::testing::mold;
using wirebook::feed::testing::Rig;

// A channel with lines on ports 0 and 2.
std::unique_ptr<feed::Channel> channel_on_ports(book::UpdateBatch& batch) {
    feed::ChannelOptions options;
    options.books = {.instruments = 64, .live_orders = 4096, .levels = 1024, .order_pages = 1};
    for (const std::uint16_t port : std::array<std::uint16_t, 2>{0, 2}) {
        feed::LineKey key;
        key.address = wire::Address::from_ipv4(0xE9360C01);
        key.udp_port = 20001;
        key.input = port;
        options.lines.push_back(key);
    }
    auto made = feed::Channel::create(0, std::move(options), batch);
    REQUIRE(made);
    return std::move(made).value();
}

}  // namespace

TEST_CASE("live: a hole's cause is what moved since the sample before the last, on its ports") {
    const auto batch = std::make_unique<book::UpdateBatch>();
    const auto channel = channel_on_ports(*batch);
    std::array<std::optional<io::DpdkPortStats>, 3> now;
    now.fill(io::DpdkPortStats{});
    LossWatch watch(3, [&](std::size_t port) { return now[port]; });
    const auto sample = [&](bool port0_up = true) {
        for (std::size_t port = 0; port < 3; ++port)
            watch.sample(port, now[port].value_or(io::DpdkPortStats{}), port != 0 || port0_up);
    };
    now[2]->missed = 5;  // long ago
    sample();
    sample();
    CHECK(watch.cause(*channel).text() == "loss");
    now[1]->missed = 100;  // a port of others
    CHECK(watch.cause(*channel).text() == "loss");
    now[2]->missed = 12;
    now[0]->no_mbuf = 3;
    CHECK(watch.cause(*channel).text() == "missed:7,no_mbuf:3");
    sample();  // the last one has it, the one before does not
    CHECK(watch.cause(*channel).text() == "missed:7,no_mbuf:3");
    sample();
    CHECK(watch.cause(*channel).text() == "loss");
    now[0]->errors = 1;
    now[2] = std::nullopt;  // just being read by the control thread
    CHECK(watch.cause(*channel).text() == "errors:1");
    now[0] = io::DpdkPortStats{};  // a driver that sets its counters back
    CHECK(watch.cause(*channel).text() == "loss");
    sample(false);
    CHECK(watch.cause(*channel).text() == "link");
    sample();
    CHECK(watch.cause(*channel).text() == "link");
    sample();
    CHECK(watch.cause(*channel).text() == "loss");
}

TEST_CASE("live: holes are summed by cause, one with two causes in both") {
    GapCauses causes;
    causes.add({});
    causes.add({.missed = 3, .link = true});
    causes.add({.errors = 1});
    CHECK(causes.count == std::array<std::uint64_t, 5>{1, 1, 0, 1, 1});
}

TEST_CASE("live: a channel without a link is stale until a packet shows what was missed") {
    Rig rig;
    const feed::Channel& channel = [&]() -> const feed::Channel& {
        rig.send(1, mold({"ONE", 1}, {itch::add(1, 1, 'B', 100, 1000)}));
        return *rig.pipeline->channels()[0];
    }();
    LcoreMail mail;
    CHECK_FALSE(mail.waiting());
    mail.set_offline({true});
    REQUIRE(mail.waiting());
    mail.deliver(*rig.pipeline);
    CHECK(channel.quality() == feed::Quality::stale);
    CHECK(channel.feed_quality() == feed::Quality::good);
    mail.set_offline({false});
    mail.deliver(*rig.pipeline);
    CHECK(channel.quality() == feed::Quality::stale);  // nothing has come yet
    rig.send(1, mold({"ONE", 2}, {itch::add(1, 2, 'B', 100, 1000)}));
    mail.deliver(*rig.pipeline);
    CHECK(channel.quality() == feed::Quality::good);
    CHECK_FALSE(mail.waiting());

    // What was missed keeps it stale, also when the links are up again.
    mail.set_offline({true});
    mail.deliver(*rig.pipeline);
    mail.set_offline({false});
    mail.deliver(*rig.pipeline);
    rig.send(1, mold({"ONE", 5}, {itch::add(1, 5, 'B', 100, 1000)}), 10);
    mail.deliver(*rig.pipeline);
    CHECK(channel.quality() == feed::Quality::stale);
    rig.pipeline->advance_clock(1'000'000);
    mail.deliver(*rig.pipeline);
    CHECK(channel.feed_quality() == feed::Quality::stale);
    CHECK(channel.quality() == feed::Quality::stale);
}

TEST_CASE("live: symbols that come and go by mail; one that comes late lacks its orders") {
    auto options = feed::testing::small_pipeline();
    options.unknown.filter = feed::SymbolFilter({"OLD"});
    Rig rig(std::move(options));
    rig.send(1, mold({"ONE", 1}, {itch::add(1, 1, 'B', 100, 1000, "OLD"),
                                  itch::add(2, 2, 'B', 100, 1000, "LATE"),
                                  itch::add(3, 3, 'B', 100, 1000, "NONE")}));
    rig.pipeline->flush();
    const book::BookSet& books = rig.pipeline->channels()[0]->books();
    LcoreMail mail;
    std::vector<feed::SymbolFilter> filters;
    filters.emplace_back(std::vector<std::string>{"LATE", "FRESH"});
    mail.change_symbols(std::move(filters));
    mail.deliver(*rig.pipeline);
    rig.send(1, mold({"ONE", 4}, {itch::add(2, 4, 'B', 50, 2000, "LATE"),
                                  itch::add(4, 5, 'S', 50, 2000, "FRESH"),
                                  itch::add(1, 6, 'S', 50, 2000, "OLD"), itch::remove(2, 2)}));
    CHECK(rig.take({"touched"}) == std::vector<std::string>{"touched 0 OLD 100@1000(1) -",
                                                            "touched 0 LATE 50@2000(1) -",
                                                            "touched 0 FRESH - 50@2000(1)"});
    const auto incomplete = [&](std::string_view symbol) {
        for (std::uint32_t i = 0; i < books.instruments_end(); ++i) {
            if (books.symbol(i) == symbol) return books.incomplete(i);
        }
        return false;
    };
    CHECK(incomplete("LATE"));
    CHECK_FALSE(incomplete("FRESH"));
    CHECK_FALSE(incomplete("OLD"));  // not followed: it shows nowhere
    rig.send(1, mold({"TWO", 1}, {itch::add(2, 1, 'B', 100, 1000, "LATE")}));
    CHECK(rig.take({"touched"}) == std::vector<std::string>{"touched 0 LATE 100@1000(1) -"});
    CHECK_FALSE(incomplete("LATE"));
}

TEST_CASE("live: a log file that cannot be is refused, and the log stays as it was") {
    const auto folder =
        std::filesystem::temp_directory_path() / ("wirebook-log-" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder);
    const auto file = (folder / "live.log").string();
    REQUIRE(open_log({LogLevel::info, file}));
    CHECK_FALSE(open_log({LogLevel::info, (folder / "no/such/live.log").string()}));
    CHECK_FALSE(std::filesystem::exists(folder / "no"));
    CHECK_FALSE(open_log({LogLevel::info, folder.string()}));
    log_line(LogLevel::warning, "still here");
    log_line(LogLevel::debug, "too fine");
    std::ifstream log(file);
    std::string text((std::istreambuf_iterator<char>(log)), {});
    CHECK(text.find("warning still here") != text.npos);
    CHECK(text.find("too fine") == text.npos);
    REQUIRE(open_log({}));
    std::filesystem::remove_all(folder);
}
