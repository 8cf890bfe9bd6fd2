// libFuzzer target: any bytes as a configuration give a Config within its ranges or a report that
// names the place; a Config can always be described.
//
//   clang++ -fsanitize=fuzzer,address,undefined ... && ./config_fuzz CORPUS   (dpdk-config/samples)
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include "wirebook/app/config.hpp"
#include "wirebook/core/base.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    using namespace wirebook::app;
    std::string text(bytes, '\0');
    for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(data[i]);
    for (const ConfigUse use : {ConfigUse::replay, ConfigUse::run, ConfigUse::either}) {
        const wirebook::Result<Config> parsed = parse_config(text, "fuzz.toml", use);
        if (!parsed) {
            WIREBOOK_CHECK(parsed.error().context.starts_with("fuzz.toml:"));
            continue;
        }
        wirebook::Result<Config> copy = parsed;
        const Config& config = copy.value();
        WIREBOOK_CHECK(std::has_single_bit(config.publish.slots) && config.publish.depth <= 20);
        WIREBOOK_CHECK(config.dpdk.burst >= 1 && config.sizes.park_packets >= 1);
        for (const ChannelConfig& channel : config.channels) {
            WIREBOOK_CHECK(!channel.name.empty());
            for (const LineConfig& line : channel.lines) {
                WIREBOOK_CHECK(line.group.udp_port != 0);
                WIREBOOK_CHECK(use != ConfigUse::run || *line.port < config.ports.size());
            }
        }
        WIREBOOK_CHECK(!describe_config(config).empty());
    }
    return 0;
}
