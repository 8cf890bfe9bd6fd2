// What dead processes left in a folder of segments. Private to src/ring; cold.
#pragma once

#include <string>
#include <vector>

#include "wirebook/ring/segment.hpp"

namespace wirebook::ring {

// Removes, and returns the names of:
//   .wirebook.NAME~PID[.N]       a segment that its writer never finished; of our own user only
//   wirebook.NAME                a segment whose writer died without closing it
//   wirebook.NAME~reader.PID.N   the position of a reader that has died (position.hpp)
// Nothing else, nothing that a living process holds, and not the segment `keep`: of files with such
// names only regular ones with our mark in them (or empty ones, when they are a minute old). What
// the system does not let us remove stays. The caller holds the folder's lock: no writer is
// starting.
std::vector<std::string> remove_stale_files(const std::string& directory, const std::string& keep);

// A file that is being made is known for ours from then on, should its writer die. In hugetlbfs no
// file can be written so: its mapping is marked, as soon as there is one.
void mark_segment(int descriptor);
void mark_segment(SegmentHeader& header);
// Does an open regular file hold a segment of ours, of whatever version, finished or not?
bool holds_segment(int descriptor);

}  // namespace wirebook::ring
