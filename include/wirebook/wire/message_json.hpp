// One line of --messages: a wire message as a JSON object. Cold: allocates. Any thread.
#pragma once

#include <cstdint>
#include <string>

#include "wirebook/wire/protocol.hpp"
#include "wirebook/wire/view.hpp"

namespace wirebook::wire {

// Appends {"seq": ..., "type": "A", fields...} and a newline. Integers are raw, text is without
// trailing spaces and read as Latin-1, with quotes, backslashes, controls and everything from
// 0x7F up escaped. A message of an unknown type, or too short for its own, has seq and type only.
// Of an empty message nothing is appended.
void append_message_json(std::string& out, Protocol protocol, std::uint64_t seq, Bytes message);

// Appends text (Latin-1) in quotes, escaped for JSON; trailing spaces stay.
void append_json_text(std::string& out, Bytes text);

}  // namespace wirebook::wire
