// Failover over two real handlers: the same frames through two pipelines and publishers with
// losses of their own, against one that loses nothing.
#include <cstdlib>
#include <list>
#include <optional>
#include <random>

#include "feed_rig.hpp"
#include "ring_fixture.hpp"
#include "wirebook/feed/observer.hpp"
#include "wirebook/publish/publisher.hpp"
#include "wirebook/ring/failover.hpp"

using namespace wirebook;
using namespace wirebook::feed::testing;
using ring::Record;
using ring::RecordKind;

namespace {

// What the handler does with its pipeline's results: everything goes to the ring.
class Forward : public feed::IgnoreAll {
public:
    explicit Forward(ring::Writer writer) : publisher(std::move(writer), publish::Mode::changed) {}
    [[nodiscard]] bool wants_orders() const noexcept { return publisher.wants_orders(); }
    void on_order(const feed::Channel& channel, const book::OrderChange& change,
                  const book::PacketEnd& end) noexcept {
        publisher.order(channel.books(), change, end);
    }
    void on_event(const feed::Channel& channel, const book::Event& event,
                  const book::PacketEnd& end) noexcept {
        publisher.event(channel.books(), event, end);
    }
    void on_execution(const feed::Channel& channel, const book::Execution& execution,
                      const book::PacketEnd& end) noexcept {
        publisher.execution(channel.books(), execution, end);
    }
    void on_touched(const feed::Channel& channel, std::uint32_t instrument,
                    const book::PacketEnd& end) noexcept {
        publisher.touched(channel.books(), instrument, end);
    }
    void on_packet_end(const feed::Channel&, const book::PacketEnd&) noexcept {
        publisher.packet_end();
    }
    void on_session(const feed::Channel& channel, const wire::SessionKey& key,
                    std::uint64_t sequence, bool first, std::uint64_t) noexcept {
        if (!first) publisher.cleared(channel.index(), true);
        publisher.session(channel.index(), key, sequence);
    }
    void on_gap(const feed::Channel& channel, std::uint64_t first, std::uint64_t end,
                std::uint64_t) noexcept {
        publisher.gap(channel.index(), first, end, channel.lines());
    }
    void on_quality(const feed::Channel& channel, std::uint64_t) noexcept {
        publisher.quality(channel.index(), static_cast<ring::Quality>(channel.quality()));
    }
    publish::Publisher publisher;
};

class Handler {
public:
    Handler(const std::string& folder, const std::string& name)
        : observer_(make_writer(folder, name)), pipeline_(small_pipeline(), observer_) {
        REQUIRE(pipeline_.open().ok());
        observer_.publisher.heartbeat(~std::uint64_t{0});
    }
    void send(const Buffer& frame, std::int64_t time_ns) {
        frames_.push_back(frame);
        wire::Packet packet = wire::testing::packet_of(frames_.back());
        packet.receive_time_ns = time_ns;
        static_cast<void>(pipeline_.on_packet(packet));  // frames_ outlive it
        pipeline_.flush();
    }

private:
    static ring::Writer make_writer(const std::string& folder, const std::string& name) {
        ring::SegmentOptions options = test::small_segment(folder);
        options.name = name;
        options.streams = ring::stream_flag::orders;
        options.geometry.slots = 1U << 14U;
        return test::must_create(options);
    }
    Forward observer_;
    feed::Pipeline<Forward> pipeline_;
    std::list<Buffer> frames_;
};

// Frames of one session: instruments are named as they come; orders come, trade and go.
class Exchange {
public:
    explicit Exchange(std::uint64_t seed) : random_(seed) {}
    Buffer next_frame() {
        std::vector<Buffer> messages;
        for (std::uint64_t n = 1 + random_() % 6; n > 0; --n) messages.push_back(message());
        const Buffer frame = frame_to(1, mold({"SESSION1", sequence_}, messages));
        sequence_ += messages.size();
        return frame;
    }

private:
    Buffer message() {
        const auto locate = static_cast<std::uint16_t>(1 + random_() % 6);
        const std::string symbol = "SYM" + std::to_string(locate);
        const std::uint64_t order = order_ - random_() % 20;
        switch (random_() % 8) {
            case 0: return itch::directory(locate, symbol);
            case 1: return itch::execute(locate_of(order), order, 1);
            case 2: return itch::remove(locate_of(order), order);
            case 3: return itch::trade(locate, static_cast<std::uint32_t>(1 + ++trades_), 1000);
            default: break;
        }
        order_ += 1;
        locates_.push_back(locate);
        const bool buys = random_() % 2 == 0;
        const auto price = static_cast<std::uint32_t>((buys ? 900 : 1000) + random_() % 90);
        return itch::add(locate, order_, buys ? 'B' : 'S', 100, price, symbol);
    }
    [[nodiscard]] std::uint16_t locate_of(std::uint64_t order) const {
        return order >= first_order && order - first_order < locates_.size()
                   ? locates_[order - first_order]
                   : std::uint16_t{1};
    }
    static constexpr std::uint64_t first_order = 1001;
    std::mt19937_64 random_;
    std::uint64_t sequence_ = 1, order_ = first_order - 1, trades_ = 0;
    std::vector<std::uint16_t> locates_;
};

// All of a record that is the feed's and not the handler's.
std::string text_of(const Record& record, const std::optional<ring::Identity>& identity) {
    std::string text = std::to_string(static_cast<int>(record.kind)) + " " +
                       std::to_string(record.feed_sequence) + " f" + std::to_string(record.flags) +
                       " " + (identity ? std::string(identity->symbol.view()) : "-");
    if (record.kind != RecordKind::snapshot)
        return text + " " + std::to_string(ring::detail::fingerprint(record, 0));
    for (std::size_t level = 0; level < 5; ++level) {
        for (const ring::Level& side : {record.bid(level), record.ask(level)})
            text += " " + std::to_string(side.price) + "x" + std::to_string(side.quantity) + "(" +
                    std::to_string(side.orders) + ")";
    }
    return text;
}

template <class AnyReader>
void read(AnyReader& reader, std::vector<std::string>& texts) {
    Record record;
    for (int empty = 0; empty < 8;) {
        empty = reader.poll(record) == ring::Poll::record ? 0 : empty + 1;
        if (empty == 0) texts.push_back(text_of(record, reader.identity(record.instrument)));
    }
}

struct Loss {
    std::uint64_t of_a = 0;  // in 32 packets
    bool b_dies = false, a_dies = false;
};

}  // namespace

// WIREBOOK_SEED=N repeats a run.
TEST_CASE("failover: two handlers together give what one without losses gives, byte for byte") {
    const char* given = std::getenv("WIREBOOK_SEED");
    const std::uint64_t first = given != nullptr ? std::strtoull(given, nullptr, 10) : 1130;
    const Loss loss =
        GENERATE(values<Loss>({{0}, {3}, {0, true}, {0, false, true}, {3, false, true}}));
    for (std::uint64_t seed = first; seed < first + 8; ++seed) {
        INFO("WIREBOOK_SEED=" << seed << ", " << loss.of_a << " of 32 packets are lost");
        const test::TemporaryFolder folder;
        std::optional<Handler> a(std::in_place, folder.path(), "a");
        std::optional<Handler> b(std::in_place, folder.path(), "b");
        Handler whole(folder.path(), "whole");
        ring::AttachOptions options;
        options.directory = folder.path();
        auto attached = ring::FailoverReader::attach({"a", "b"}, options, {std::chrono::hours(1)});
        REQUIRE(attached.ok());
        ring::FailoverReader failover = std::move(attached).value();
        ring::Reader reference = std::move(ring::Reader::attach("whole", options)).value();
        std::vector<std::string> texts, wanted;
        read(reference, wanted), read(failover, texts);
        Exchange exchange(seed);
        std::mt19937_64 random(seed);
        std::vector<Buffer> frames;
        for (int i = 0; i < 300; ++i) frames.push_back(exchange.next_frame());
        std::size_t at_a = 0, at_b = 0;
        const auto time_of = [](std::size_t frame) { return std::int64_t(frame + 1) * 1'000'000; };
        while (at_a < frames.size() || at_b < frames.size()) {
            for (std::size_t n = random() % 6; n > 0 && at_a < frames.size(); --n, ++at_a)
                if (a && (at_a == 0 || random() % 32 >= loss.of_a))
                    a->send(frames[at_a], time_of(at_a));
            for (std::size_t n = random() % 6; n > 0 && at_b < frames.size(); --n, ++at_b)
                if (b) b->send(frames[at_b], time_of(at_b));
            if (loss.a_dies && at_a > 150) a.reset();
            if (loss.b_dies && at_b > 150) b.reset();
            read(failover, texts);
        }
        for (std::size_t i = 0; i < frames.size(); ++i) whole.send(frames[i], time_of(i));
        read(reference, wanted);
        // That a handler has gone is asked for every 20 ms.
        for (int i = 0; i < 1'000'000 && texts.size() < wanted.size(); ++i) read(failover, texts);
        read(failover, texts);
        REQUIRE(wanted.size() > 1000);
        for (std::size_t i = 0; i < std::min(texts.size(), wanted.size()); ++i)
            REQUIRE(texts[i] == wanted[i]);
        CHECK(texts.size() == wanted.size());
        CHECK(failover.lost() == 0);
        CHECK(failover.breaks() == 0);
        CHECK((loss.of_a == 0 || failover.switches() > 0));
    }
}
