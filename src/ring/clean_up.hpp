// What dead processes left in a folder of segments. Private to src/ring; cold.
#pragma once

#include <string>
#include <vector>

namespace wirebook::ring {

// Removes, and returns the names of:
//   .wirebook.NAME~PID[.N]       a segment that its writer never finished; of our own user only
//   wirebook.NAME                a segment whose writer died without closing it
//   wirebook.NAME~reader.PID.N   the position of a reader that has died (position.hpp)
// Nothing else, nothing that a living process holds, and not the segment `keep`. What the system
// does not let us remove stays. The caller holds the lock on the folder: no writer is starting.
std::vector<std::string> remove_stale_files(const std::string& directory, const std::string& keep);

}  // namespace wirebook::ring
