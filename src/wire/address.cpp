// Addresses as text.
#include "wirebook/wire/address.hpp"

#include <arpa/inet.h>

#include <array>
#include <cstring>

#include "wirebook/wire/field.hpp"

namespace wirebook::wire {

std::string to_string(const Address& address) {
    struct {
        be64 high;
        be64 low;
    } bytes{};
    bytes.high.set(address.high);
    bytes.low.set(address.low);
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (address.is_ipv4()) {
        be32 ipv4{};
        ipv4.set(address.ipv4());
        inet_ntop(AF_INET, &ipv4, text.data(), text.size());
    } else {
        inet_ntop(AF_INET6, &bytes, text.data(), text.size());
    }
    return text.data();
}

}  // namespace wirebook::wire
