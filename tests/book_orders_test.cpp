// The order stream: what it tells, and that a client who knows nothing else has the same queues as
// the books, and finds each place in the queue that it is told.
#include <map>
#include <random>
#include <tuple>

#include "book_rig.hpp"

namespace {

using namespace wirebook::book;

std::string text_of(const OrderChange& c) {
    static constexpr const char* names[] = {"add", "execute", "reduce", "remove", "replace"};
    std::string text = names[static_cast<int>(c.kind)] + std::string(" #") +
                       std::to_string(c.order_id) + " " + std::to_string(c.quantity) + "@" +
                       std::to_string(c.price) + " left " + std::to_string(c.left) + " behind " +
                       std::to_string(c.position.orders_ahead) + "/" +
                       std::to_string(c.position.quantity_ahead);
    if (c.other_id != 0) text += " other " + std::to_string(c.other_id);
    return text;
}

// A rig whose observer wants the orders, and keeps queues of its own from what it is told.
class OrderRig : public BookRig {
public:
    explicit OrderRig(const BookSetOptions& options = small_options()) : BookRig(options) {}

    struct Wants {
        OrderRig& rig;
        void on_event(const Event&, const PacketEnd&) noexcept {}
        void on_execution(const Execution&, const PacketEnd&) noexcept { ++rig.executions; }
        void on_clear(const PacketEnd&) noexcept { rig.queues.clear(); }
        void on_touched(std::uint32_t, const PacketEnd&) noexcept {}
        void on_packet_end(const PacketEnd&) noexcept {}
        [[nodiscard]] bool wants_orders() const noexcept { return true; }
        void on_order(const OrderChange& change, const PacketEnd&) noexcept { rig.take(change); }
    };
    OrderRig& run() {
        packet_end();
        Wants observer{*this};
        books.apply(batch(), observer);
        batch().clear();
        books.check();
        return *this;
    }

    struct Held {
        std::uint64_t id;
        std::uint32_t quantity;
    };
    using Key = std::tuple<std::uint32_t, Side, std::int64_t>;
    std::map<Key, std::vector<Held>> queues;
    std::map<std::uint64_t, Key> prices;
    std::vector<std::string> told;
    std::uint64_t wrong = 0, executions = 0;

    void take(const OrderChange& c) {
        told.push_back(text_of(c));
        if (c.kind == UpdateKind::add) return join(c, c.order_id);
        const auto found = prices.find(c.order_id);
        if (found == prices.end()) return fail();
        std::vector<Held>& queue = queues[found->second];
        std::uint64_t ahead = 0;
        std::size_t at = 0;
        while (at < queue.size() && queue[at].id != c.order_id) ahead += queue[at++].quantity;
        if (at == queue.size()) return fail();
        if (c.kind != UpdateKind::replace &&
            (c.position.orders_ahead != at || c.position.quantity_ahead != ahead))
            fail();
        if (c.kind != UpdateKind::replace && queue[at].quantity != c.quantity + c.left) fail();
        const auto [instrument, side, price] = found->second;
        if (c.instrument != instrument || c.side != side) fail();
        const bool own_price = c.kind != UpdateKind::execute && c.kind != UpdateKind::replace;
        if (own_price && c.price != price) fail();
        queue[at].quantity = c.left;
        if (c.left != 0 && c.kind != UpdateKind::replace) return;
        queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(at));
        prices.erase(found);
        if (c.kind == UpdateKind::replace) join(c, c.other_id);
    }
    // The queues that were told are those of the books.
    [[nodiscard]] bool agrees() const {
        std::map<Key, std::vector<Held>> expected;
        for (std::uint32_t i = 0; i < small_options().instruments; ++i) {
            for (const Side side : {Side::bid, Side::ask}) {
                books.for_each_order(
                    i, side, [&](std::uint64_t id, std::int64_t price, std::uint32_t quantity) {
                        expected[{i, side, price}].push_back({id, quantity});
                    });
            }
        }
        std::size_t levels = 0;
        for (const auto& [key, queue] : queues) {
            if (queue.empty()) continue;
            ++levels;
            const auto found = expected.find(key);
            if (found == expected.end() || found->second.size() != queue.size()) return false;
            for (std::size_t n = 0; n < queue.size(); ++n) {
                if (queue[n].id != found->second[n].id ||
                    queue[n].quantity != found->second[n].quantity)
                    return false;
            }
        }
        return levels == expected.size() && wrong == 0;
    }

private:
    void fail() { ++wrong; }
    void join(const OrderChange& c, std::uint64_t id) {
        const Key key{c.instrument, c.side, c.price};
        std::vector<Held>& queue = queues[key];
        std::uint64_t ahead = 0;
        for (const Held& held : queue) ahead += held.quantity;
        if (c.position.orders_ahead != queue.size() || c.position.quantity_ahead != ahead) fail();
        if (c.left != c.quantity) fail();
        queue.push_back({id, c.quantity});
        prices[id] = key;
    }
};

}  // namespace

TEST_CASE("order stream: every change, with its place in the queue") {
    OrderRig rig;
    rig.add(1, Side::bid, 10, 100, 5).add(1, Side::bid, 11, 100, 7).add(1, Side::bid, 12, 100, 9);
    rig.order(UpdateKind::execute, 10, 2).order(UpdateKind::reduce, 12, 4);
    rig.order(UpdateKind::remove, 11).replace(12, 13, 101, 3);
    rig.run();
    CHECK(rig.told == std::vector<std::string>{
                          "add #10 5@100 left 5 behind 0/0", "add #11 7@100 left 7 behind 1/5",
                          "add #12 9@100 left 9 behind 2/12", "execute #10 2@100 left 3 behind 0/0",
                          "reduce #12 4@100 left 5 behind 2/10",
                          "remove #11 7@100 left 0 behind 1/3",
                          "replace #12 3@101 left 3 behind 0/0 other 13"});
    CHECK(rig.executions == 1);
    CHECK(rig.agrees());
}

TEST_CASE("order stream: what is refused is not told, and half of a replacement is a removal") {
    OrderRig rig;
    rig.add(1, Side::ask, 10, 100, 5).add(1, Side::ask, 11, 101, 5);
    rig.run().told.clear();
    rig.add(1, Side::ask, 10, 102, 5);      // the reference lives
    rig.add(1, Side::ask, 12, 102, 0);      // no quantity
    rig.order(UpdateKind::execute, 99, 1);  // unknown
    rig.order(UpdateKind::reduce, 10, 0);   // takes nothing
    rig.run();
    CHECK(rig.told.empty());
    rig.replace(10, 11, 103, 5);  // 11 lives: 10 goes all the same
    rig.run();
    CHECK(rig.told == std::vector<std::string>{"remove #10 5@100 left 0 behind 0/0"});
    rig.told.clear();
    rig.order(UpdateKind::execute, 11, 50);  // more than there is
    rig.run();
    CHECK(rig.told == std::vector<std::string>{"execute #11 5@101 left 0 behind 0/0"});
    CHECK(rig.agrees());
}

TEST_CASE("order stream: queues built from it alone are those of the books") {
    OrderRig rig;
    std::mt19937_64 random(7);
    const auto below = [&](std::uint64_t limit) { return random() % limit; };
    for (int packet = 0; packet < 4'000; ++packet) {
        for (std::uint64_t n = 1 + below(20); n > 0; --n) {
            const auto id = 1 + below(600);
            const auto price = static_cast<std::int64_t>(100 + below(6));
            const auto quantity = below(40);
            switch (below(6)) {
                case 0:
                case 1:
                    rig.add(static_cast<std::uint32_t>(below(3)), static_cast<Side>(below(2)), id,
                            price, quantity);
                    break;
                case 2: rig.order(UpdateKind::execute, id, quantity); break;
                case 3: rig.order(UpdateKind::reduce, id, quantity); break;
                case 4: rig.order(UpdateKind::remove, id); break;
                default: rig.replace(id, below(8) == 0 ? id : 1 + below(600), price, quantity);
            }
        }
        rig.run();
        if (packet % 16 == 0) REQUIRE(rig.agrees());
    }
    CHECK(rig.agrees());
    CHECK(rig.told.size() > 15'000);
}
