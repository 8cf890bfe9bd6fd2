// Fields, layouts and decoders of every protocol: each message whole, longer, and at every prefix.
#include <catch2/catch.hpp>

#include <cstdint>
#include <limits>
#include <string_view>

#include "wire_decode.hpp"
#include "wire_frames.hpp"
#include "wirebook/wire/fields.hpp"

namespace wirebook::wire {

using namespace testing;

namespace {

Buffer message_of(unsigned char type, std::size_t bytes) {
    Buffer message(bytes, std::byte{0x20});
    message.at(0) = static_cast<std::byte>(type);
    return message;
}

template <class M>
Bytes bytes_of(const M& message) {
    return std::as_bytes(std::span{&message, 1});
}

// Collects single messages of the types that the round trips use.
struct Order {
    void on(const itch50::AddOrderAttributed& message) noexcept {
        order_ref = message.order_ref.get();
        price = message.price_e4.get();
        timestamp_ns = message.header.timestamp_ns.get();
        stock_locate = message.header.stock_locate.get();
        attribution = {message.attribution_mpid.data(), message.attribution_mpid.size()};
    }
    template <class M>
    void on(const M&) noexcept {}

    std::uint64_t order_ref = 0;
    std::uint32_t price = 0;
    std::uint64_t timestamp_ns = 0;
    std::uint16_t stock_locate = 0;
    std::string_view attribution;
};

}  // namespace

TEST_CASE("wire: a field holds its integer in the byte order of its type") {
    be48 big{};
    big.set(0x010203040506);
    const auto big_bytes = bytes_of(big);
    for (std::size_t i = 0; i < 6; ++i) CHECK(big_bytes[i] == static_cast<std::byte>(i + 1));
    CHECK(big.get() == 0x010203040506);

    le32 little{};
    little.set(0x04030201);
    const auto little_bytes = bytes_of(little);
    for (std::size_t i = 0; i < 4; ++i) CHECK(little_bytes[i] == static_cast<std::byte>(i + 1));
    CHECK(little.get() == 0x04030201);

    be16 port{};
    port.set(0x0102);
    CHECK(bytes_of(port)[0] == std::byte{1});
    CHECK(port.get() == 0x0102);
    be64 wide{};
    wide.set(0x0102030405060708);
    CHECK(bytes_of(wide)[0] == std::byte{1});
    CHECK(wide.get() == 0x0102030405060708);
}

TEST_CASE("wire: a signed field keeps negative numbers") {
    le64_signed field{};
    for (const std::int64_t value :
         {std::int64_t{-1}, std::int64_t{0}, std::numeric_limits<std::int64_t>::min(),
          std::numeric_limits<std::int64_t>::max(), std::int64_t{-12'345'600}}) {
        field.set(value);
        CHECK(field.get() == value);
    }
}

TEST_CASE("wire: every protocol has a name, and every name its protocol") {
    for (const Protocol protocol : all_protocols) {
        CHECK(protocol_from_name(to_string(protocol)) == protocol);
    }
    CHECK(to_string(Protocol::itch_jnx) == "itch-jnx");
    CHECK_FALSE(protocol_from_name("itch51").has_value());
    CHECK_FALSE(protocol_from_name("").has_value());
}

TEST_CASE("wire: the fields of every message fill it without holes") {
    for (const Protocol protocol : all_protocols) {
        for (const MessageFields& message : message_fields(protocol)) {
            INFO(to_string(protocol) << ' ' << static_cast<char>(message.type));
            std::size_t next = 1;
            for (const Field& field : message.fields) {
                INFO(field.name);
                CHECK(field.offset == next);
                next += field.bytes;
            }
            CHECK(next == message.length);
            CHECK(find_fields(protocol, message.type) == &message);
        }
    }
}

TEST_CASE("wire: every protocol knows the messages of its sheet") {
    const auto types_of = [](Protocol protocol) {
        std::string types;
        for (const MessageFields& message : message_fields(protocol)) {
            types += static_cast<char>(message.type);
        }
        return types;
    };
    CHECK(types_of(Protocol::itch50) == "SRHYLVWKJhAFECXDUPQBINO");
    CHECK(types_of(Protocol::itch_jnx) == "TSLRHYAFEDU");
    CHECK(types_of(Protocol::iex_tops) == "DHIOPTXBASQ");
    CHECK(types_of(Protocol::iex_deep) == "DHIOPTXBASE85");
}

TEST_CASE("wire: decoder and field table agree on types and lengths") {
    for (const Protocol protocol : all_protocols) {
        for (unsigned type = 0; type < 256; ++type) {
            INFO(to_string(protocol) << " type " << type);
            const auto code = static_cast<unsigned char>(type);
            Recorder recorder;
            const DecodeStatus status = decode_as(protocol, message_of(code, 300), recorder);
            const std::uint16_t length = minimum_length(protocol, code);
            if (find_fields(protocol, code) == nullptr) {
                CHECK(status == DecodeStatus::unknown_type);
                CHECK(recorder.calls == 0);
                CHECK(length == 0);
            } else {
                CHECK(status == DecodeStatus::ok);
                CHECK(recorder.calls == 1);
                CHECK(recorder.type == code);
                CHECK(recorder.bytes == length);
            }
        }
    }
}

TEST_CASE("wire: a message of exactly its length is delivered, every shorter one is truncated") {
    for (const Protocol protocol : all_protocols) {
        for (const MessageFields& known : message_fields(protocol)) {
            GuardedBuffer guarded{message_of(known.type, known.length)};
            for (std::size_t bytes = known.length + std::size_t{1}; bytes-- > 0;) {
                INFO(to_string(protocol) << ' ' << static_cast<char>(known.type) << ", " << bytes
                                         << " of " << known.length << " bytes");
                Recorder recorder;
                const DecodeStatus status = decode_as(protocol, guarded.prefix(bytes), recorder);
                const bool whole = bytes == known.length;
                REQUIRE(status == (whole ? DecodeStatus::ok : DecodeStatus::truncated));
                REQUIRE(recorder.calls == (whole ? 1 : 0));
            }
        }
    }
}

TEST_CASE("wire: the tail of a message that is longer than known is ignored") {
    for (const Protocol protocol : all_protocols) {
        for (const MessageFields& known : message_fields(protocol)) {
            Recorder recorder;
            const Buffer longer = message_of(known.type, known.length + std::size_t{7});
            CHECK(decode_as(protocol, longer, recorder) == DecodeStatus::ok);
            CHECK(recorder.bytes == known.length);
        }
    }
}

TEST_CASE("wire: upper and lower case are different types") {
    Recorder recorder;
    CHECK(itch50::decode(message_of('h', 21), recorder) == DecodeStatus::ok);
    CHECK(recorder.bytes == sizeof(itch50::OperationalHalt));
    CHECK(itch50::decode(message_of('H', 21), recorder) == DecodeStatus::truncated);
    CHECK(itch50::decode(message_of('a', 40), recorder) == DecodeStatus::unknown_type);
}

TEST_CASE("wire: what was set in a message is what the handler reads") {
    itch50::AddOrderAttributed message{};
    message.header.type = itch50::AddOrderAttributed::message_type;
    message.header.stock_locate.set(65535);
    message.header.timestamp_ns.set(86'400'000'000'000);
    message.order_ref.set(0xFEDCBA9876543210);
    message.price_e4.set(2'000'000'000);
    message.attribution_mpid = {'V', 'I', 'R', 'T'};
    Order order;
    REQUIRE(itch50::decode(bytes_of(message), order) == DecodeStatus::ok);
    CHECK(order.order_ref == 0xFEDCBA9876543210);
    CHECK(order.price == 2'000'000'000);
    CHECK(order.timestamp_ns == 86'400'000'000'000);
    CHECK(order.stock_locate == 65535);
    CHECK(order.attribution == "VIRT");
}

TEST_CASE("wire: TOPS has no level updates and DEEP has no quotes") {
    Recorder recorder;
    CHECK(iex::decode_tops(message_of('8', 30), recorder) == DecodeStatus::unknown_type);
    CHECK(iex::decode_tops(message_of('E', 18), recorder) == DecodeStatus::unknown_type);
    CHECK(iex::decode_deep(message_of('Q', 42), recorder) == DecodeStatus::unknown_type);
    CHECK(iex::decode_deep(message_of('5', 30), recorder) == DecodeStatus::ok);
}

}  // namespace wirebook::wire
