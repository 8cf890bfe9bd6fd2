// Messages as JSON lines.
#include <catch2/catch.hpp>

#include <span>
#include <string>

#include "wire_frames.hpp"
#include "wirebook/wire/iex.hpp"
#include "wirebook/wire/itch50.hpp"
#include "wirebook/wire/itch_jnx.hpp"
#include "wirebook/wire/message_json.hpp"

namespace wirebook::wire {

using namespace testing;

namespace {

std::string line_of(Protocol protocol, std::uint64_t seq, Bytes message) {
    std::string line;
    append_message_json(line, protocol, seq, message);
    return line;
}

template <class M>
Bytes bytes_of(const M& message) {
    return std::as_bytes(std::span{&message, 1});
}

itch50::AddOrder add_order(std::array<char, 8> stock) {
    itch50::AddOrder add{};
    add.header.type = 'A';
    add.header.stock_locate.set(6668);
    add.header.tracking_number.set(2);
    add.header.timestamp_ns.set(51'042'870'736'611);
    add.order_ref.set(8'458'774'421'819);
    add.side = 'B';
    add.shares.set(2713);
    add.stock = stock;
    add.price_e4.set(0xFFFFFFFF);
    return add;
}

}  // namespace

TEST_CASE("wire: a message line has seq, type, then the fields in wire order") {
    const auto add = add_order({'K', 'E', 'X', 'Y', ' ', ' ', ' ', ' '});
    CHECK(line_of(Protocol::itch50, 2, bytes_of(add)) ==
          R"({"seq": 2, "type": "A", "stock_locate": 6668, "tracking_number": 2, )"
          R"("timestamp": 51042870736611, "order_ref": 8458774421819, "side": "B", )"
          R"("shares": 2713, "stock": "KEXY", "price": 4294967295})"
          "\n");
}

TEST_CASE("wire: a message line escapes quotes, controls and everything from 0x7F up") {
    const auto add = add_order({'"', '\\', '\n', '\x7F', '\xE9', ' ', 'z', ' '});
    const std::string line = line_of(Protocol::itch50, 1, bytes_of(add));
    CHECK_THAT(line, Catch::Contains(R"("stock": "\"\\\u000a\u007f\u00e9 z")"));
}

TEST_CASE("wire: text of nothing but spaces is empty, and other blanks are kept") {
    const auto spaces = add_order({' ', ' ', ' ', ' ', ' ', ' ', ' ', ' '});
    CHECK_THAT(line_of(Protocol::itch50, 1, bytes_of(spaces)), Catch::Contains(R"("stock": "")"));
    const auto zeros = add_order({'A', '\0', '\0', '\0', '\0', '\0', '\0', '\0'});
    CHECK_THAT(line_of(Protocol::itch50, 1, bytes_of(zeros)),
               Catch::Contains(R"("stock": "A\u0000\u0000)"));
}

TEST_CASE("wire: a line of an unknown or too short message has seq and type only") {
    CHECK(line_of(Protocol::itch50, 18'446'744'073'709'551'615U, to_buffer("z123")) ==
          "{\"seq\": 18446744073709551615, \"type\": \"z\"}\n");
    const auto add = add_order({});
    CHECK(line_of(Protocol::itch50, 0, bytes_of(add).first(35)) ==
          "{\"seq\": 0, \"type\": \"A\"}\n");
    CHECK(line_of(Protocol::itch50, 7, to_buffer("\xFF")) ==
          "{\"seq\": 7, \"type\": \"\\u00ff\"}\n");
    CHECK(line_of(Protocol::itch50, 7, to_buffer("\"")) == "{\"seq\": 7, \"type\": \"\\\"\"}\n");
    CHECK(line_of(Protocol::itch50, 7, {}).empty());
}

TEST_CASE("wire: IEX lines are read little-endian, with signed prices and times") {
    iex::PriceLevelSell level{};
    level.type = '5';
    level.event_flags = 0x81;
    level.timestamp_ns.set(-2);
    level.symbol = {'T', 'L', ' ', ' ', ' ', ' ', ' ', ' '};
    level.size.set(2969);
    level.price_e4.set(-3'245'400);
    CHECK(line_of(Protocol::iex_deep, 2, bytes_of(level)) ==
          R"({"seq": 2, "type": "5", "event_flags": 129, "timestamp": -2, "symbol": "TL", )"
          R"("size": 2969, "price": -3245400})"
          "\n");
    CHECK(line_of(Protocol::iex_tops, 2, bytes_of(level)) == "{\"seq\": 2, \"type\": \"5\"}\n");
}

TEST_CASE("wire: Japannext lines have the names of that dialect") {
    itch_jnx::TradingState state{};
    state.type = 'H';
    state.ns.set(999'999'999);
    state.orderbook_id.set(0x25B8);
    state.group = {'D', 'A', 'Y', ' '};
    state.state = 'T';
    CHECK(line_of(Protocol::itch_jnx, 3, bytes_of(state)) ==
          R"({"seq": 3, "type": "H", "ns": 999999999, "orderbook_id": 9656, "group": "DAY", )"
          R"("state": "T"})"
          "\n");
}

}  // namespace wirebook::wire
