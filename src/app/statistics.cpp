#include "wirebook/app/statistics.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace wirebook::app {
namespace {

void add_to(feed::FeedCounters& sum, const feed::FeedCounters& part) {
    sum.packets += part.packets;
    sum.bytes += part.bytes;
    sum.bad_checksums += part.bad_checksums;
    sum.messages += part.messages;
    sum.unknown_messages += part.unknown_messages;
    sum.decode_errors += part.decode_errors;
    sum.unsequenced += part.unsequenced;
}

void add_to(feed::SequenceCounters& sum, const feed::SequenceCounters& part) {
    sum.processed_packets += part.processed_packets;
    sum.duplicate_packets += part.duplicate_packets;
    sum.heartbeats += part.heartbeats;
    sum.duplicates += part.duplicates;
    sum.old_session += part.old_session;
    sum.gaps += part.gaps;
    sum.gap_messages += part.gap_messages;
    sum.gaps_filled += part.gaps_filled;
    sum.sessions += part.sessions;
}

void add_to(book::BookCounters& sum, const book::BookCounters& part) {
    sum.unknown_orders += part.unknown_orders;
    sum.duplicate_orders += part.duplicate_orders;
    sum.overfills += part.overfills;
    sum.bad_orders += part.bad_orders;
    sum.unknown_levels += part.unknown_levels;
    sum.crossed += part.crossed;
    sum.no_room_orders += part.no_room_orders;
    sum.no_room_levels += part.no_room_levels;
    sum.no_room_instruments += part.no_room_instruments;
}

// A wire type as a key: its Latin-1 character, in UTF-8 (JSON escapes it).
std::string type_key(std::size_t type) {
    if (type < 0x80) return std::string(1, static_cast<char>(type));
    return {static_cast<char>(0xC0 | (type >> 6)), static_cast<char>(0x80 | (type & 0x3F))};
}

nlohmann::ordered_json ports_json(const std::vector<PortStatistics>& ports) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const PortStatistics& port : ports) {
        nlohmann::ordered_json entry{{"device", port.device},
                                     {"driver", port.driver},
                                     {"packets", port.counters.packets},
                                     {"bytes", port.counters.bytes},
                                     {"missed", port.counters.missed},
                                     {"no_mbuf", port.counters.no_mbuf},
                                     {"errors", port.counters.errors},
                                     {"hides_loss", port.hides_loss},
                                     {"link_changes", port.link_changes},
                                     {"membership", port.membership},
                                     {"igmp_queries", port.queries},
                                     {"igmp_reports", port.reports},
                                     {"igmp_leaves", port.leaves},
                                     {"driver_counters", nlohmann::ordered_json::object()}};
        for (const auto& [name, value] : port.driver_counters) {
            entry["driver_counters"][name] = value;
        }
        list.push_back(std::move(entry));
    }
    return list;
}

}  // namespace

void Statistics::add(const AppPipeline& pipeline, const Observer& observer) {
    const feed::FeedCounters& packets = pipeline.counters();
    feed::SequenceCounters sums;
    for (const auto& channel : pipeline.channels()) {
        add_to(sums, channel->sequencer().counters());
        add_to(books, channel->books().counters());
        instruments += channel->books().instruments_ever();
        books_ever += channel->books().books_ever();
        live_orders += channel->books().live_orders();
        for (std::size_t i = 0; i < by_type.size(); ++i) by_type[i] += channel->by_type()[i];
    }
    sums.heartbeats += packets.unbound_heartbeats;
    std::array<std::uint64_t, wire::drop_reason_count> dropped{};
    for (std::size_t i = 0; i < dropped.size(); ++i) dropped[i] = packets.frame_drops[i];
    const auto drop = [&](wire::DropReason reason) -> std::uint64_t& {
        return dropped[static_cast<std::size_t>(reason)];
    };
    drop(wire::DropReason::no_channel) += packets.no_channel;
    drop(wire::DropReason::malformed) += packets.malformed;
    drop(wire::DropReason::old_session) += sums.old_session;
    std::uint64_t accounted = sums.processed_packets + sums.heartbeats + sums.duplicate_packets;
    for (std::size_t i = 0; i < dropped.size(); ++i) {
        accounted += dropped[i];
        drops[i] += dropped[i];
    }
    WIREBOOK_CHECK(accounted == packets.packets);
    add_to(feed, packets);
    add_to(sequence, sums);
    for (std::size_t i = 0; i < gap_causes.count.size(); ++i) {
        gap_causes.count[i] += observer.gap_causes.count[i];
    }
    if (observer.publisher) {
        const publish::PublisherCounters& published = observer.publisher->counters();
        snapshots += published.snapshots;
        suppressed += published.suppressed;
        published_events += published.events;
        unknown_breaks += published.unknown_breaks;
        unrepresentable += published.unrepresentable;
        unpublished += published.no_instrument;
        unpublished_channels += published.no_channel;
        const ring::Writer& writer = observer.publisher->writer();
        if (!readers) readers.emplace();
        for (ring::ReaderPosition& reader :
             ring::reader_positions(writer.path(), writer.epoch()).readers) {
            const auto lag = reader.lag(writer.next_sequence());
            readers->push_back({std::move(reader), lag});
        }
    }
    if (observer.fingerprint) fingerprint = observer.fingerprint->digits();
}

Statistics Statistics::collect(const AppPipeline& pipeline, const Observer& observer,
                               const RunTimes& times) {
    Statistics s;
    s.times = times;
    s.add(pipeline, observer);
    return s;
}

std::string Statistics::to_json() const {
    nlohmann::ordered_json json;
    json["packets"] = feed.packets;
    json["bytes"] = feed.bytes;
    json["bad_checksums"] = feed.bad_checksums;
    json["messages"] = feed.messages;
    json["messages_by_type"] = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < by_type.size(); ++i) {
        if (by_type[i] != 0) json["messages_by_type"][type_key(i)] = by_type[i];
    }
    json["unknown_messages"] = feed.unknown_messages;
    json["decode_errors"] = feed.decode_errors;
    json["drops"] = nlohmann::ordered_json::object();
    for (std::size_t i = 1; i < drops.size(); ++i) {
        json["drops"][std::string(to_string(static_cast<wire::DropReason>(i)))] = drops[i];
    }
    json["heartbeats"] = sequence.heartbeats;
    json["duplicates"] = sequence.duplicates;
    json["duplicate_packets"] = sequence.duplicate_packets;
    json["unsequenced"] = feed.unsequenced;
    json["old_session"] = sequence.old_session;
    json["gaps"] = sequence.gaps;
    json["gap_messages"] = sequence.gap_messages;
    json["gaps_filled"] = sequence.gaps_filled;
    json["gap_causes"] = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < GapCauses::names.size(); ++i) {
        if (gap_causes.count[i] != 0)
            json["gap_causes"][std::string(GapCauses::names[i])] = gap_causes.count[i];
    }
    json["sessions"] = sequence.sessions;
    json["unknown_orders"] = books.unknown_orders;
    json["duplicate_orders"] = books.duplicate_orders;
    json["overfills"] = books.overfills;
    json["bad_orders"] = books.bad_orders;
    json["unknown_levels"] = books.unknown_levels;
    json["no_room_orders"] = books.no_room_orders;
    json["no_room_levels"] = books.no_room_levels;
    json["no_room_instruments"] = books.no_room_instruments;
    json["crossed"] = books.crossed;
    json["instruments"] = instruments;
    json["books"] = books_ever;
    json["live_orders"] = live_orders;
    json["snapshots"] = snapshots;
    json["suppressed"] = suppressed;
    json["published_events"] = published_events;
    json["unpublished"] = unpublished + unpublished_channels;
    json["unknown_breaks"] = unknown_breaks;
    json["unrepresentable"] = unrepresentable;
    if (readers) json["readers"] = nlohmann::ordered_json::array();
    for (const auto& [reader, lag] : readers.value_or(std::vector<ReaderLag>{})) {
        nlohmann::ordered_json entry{
            {"pid", reader.pid}, {"program", reader.program}, {"lag", nullptr}};
        if (lag) entry["lag"] = *lag;
        entry["lost"] = reader.lost;
        json["readers"].push_back(std::move(entry));
    }
    if (!ports.empty()) json["ports"] = ports_json(ports);
    json["wall_seconds"] = times.wall_seconds;
    json["cpu_seconds"] = times.cpu_seconds;
    json["ns_per_message"] = nullptr;
    if (times.pure && feed.messages > 0) {
        json["ns_per_message"] = times.wall_seconds * 1e9 / static_cast<double>(feed.messages);
    }
    json["fingerprint"] = nullptr;
    if (fingerprint && lcores == 1) json["fingerprint"] = *fingerprint;
    return json.dump(1, ' ', true) + "\n";
}

std::string Statistics::summary() const {
    std::string text =
        fmt::format("{} packets, {} messages, {} instruments, {} live orders; {:.3f} s",
                    feed.packets, feed.messages, instruments, live_orders, times.wall_seconds);
    if (times.pure && feed.messages > 0) {
        text += fmt::format(", {:.1f} ns a message",
                            times.wall_seconds * 1e9 / static_cast<double>(feed.messages));
    }
    text += fmt::format("\ngaps {} ({} messages), filled {}, duplicates {}, heartbeats {}\n",
                        sequence.gaps, sequence.gap_messages, sequence.gaps_filled,
                        sequence.duplicates, sequence.heartbeats);
    for (const auto& [reader, lag] : readers.value_or(std::vector<ReaderLag>{})) {
        text += fmt::format("reader {} ({}): {} records behind, {} lost\n", reader.pid,
                            reader.program, lag ? std::to_string(*lag) : "?", reader.lost);
    }
    std::string faults;
    const auto fault = [&](std::string_view name, std::uint64_t count) {
        if (count != 0) faults += fmt::format("  {} {}", name, count);
    };
    fault("decode errors", feed.decode_errors);
    fault("unknown messages", feed.unknown_messages);
    fault("unknown orders", books.unknown_orders);
    fault("duplicate orders", books.duplicate_orders);
    fault("overfills", books.overfills);
    fault("bad orders", books.bad_orders);
    fault("unknown levels", books.unknown_levels);
    fault("crossed", books.crossed);
    fault("bad checksums", feed.bad_checksums);
    fault("breaks of unknown trades", unknown_breaks);
    fault("prices beyond the ring's range", unrepresentable);
    for (std::size_t i = 1; i < drops.size(); ++i) {
        fault(fmt::format("dropped {}", to_string(static_cast<wire::DropReason>(i))), drops[i]);
    }
    if (!faults.empty()) text += "counted:" + faults + "\n";
    if (books.no_room_orders != 0) text += "orders were refused: raise sizes.orders\n";
    if (books.no_room_levels != 0) text += "levels were refused: raise sizes.levels\n";
    if (books.no_room_instruments != 0)
        text += "instruments were refused: raise sizes.instruments\n";
    if (unpublished != 0) {
        text += fmt::format(
            "{} records were not published: the segment's tables are full; raise "
            "sizes.instruments\n",
            unpublished);
    }
    if (unpublished_channels != 0) {
        text += fmt::format("{} records were not published: a segment has room for {} channels\n",
                            unpublished_channels, ring::max_channels);
    }
    return text;
}

std::string Statistics::ports_summary() const {
    std::string text;
    for (std::size_t i = 0; i < ports.size(); ++i) {
        const PortStatistics& port = ports[i];
        text += fmt::format("port {}: {} packets, {} bytes, missed {}, no mbuf {}, errors {}", i,
                            port.counters.packets, port.counters.bytes, port.counters.missed,
                            port.counters.no_mbuf, port.counters.errors);
        if (port.link_changes != 0) text += fmt::format(", link changes {}", port.link_changes);
        if (port.hides_loss) text += "; the driver does not count what the kernel dropped";
        text += "\n";
    }
    if (frames.linearised + frames.cut != 0) {
        text += fmt::format("frames in several pieces: {} copied into one, {} cut\n",
                            frames.linearised, frames.cut);
    }
    return text;
}

}  // namespace wirebook::app
