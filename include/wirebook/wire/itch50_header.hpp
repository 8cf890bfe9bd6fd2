// The eleven bytes that every NASDAQ TotalView-ITCH 5.0 message starts with.
// Depends on wire only. Plain layouts; any thread.
#pragma once

#include <cstddef>

#include "wirebook/wire/field.hpp"
#include "wirebook/wire/view.hpp"

namespace wirebook::wire::itch50 {

struct Header {
    unsigned char type;  // not an enum: any byte can arrive
    be16 stock_locate;   // 0 where the message is about no security
    be16 tracking_number;
    be48 timestamp_ns;  // since midnight, exchange clock
};
static_assert(Message<Header>);
static_assert(sizeof(Header) == 11);
static_assert(offsetof(Header, stock_locate) == 1);
static_assert(offsetof(Header, tracking_number) == 3);
static_assert(offsetof(Header, timestamp_ns) == 5);

}  // namespace wirebook::wire::itch50
