// Capture files as a Source: bursts of packets in capture order, flat out or at a pace.
//
// Reads pcap, pcapng and BinaryFILE, plain, gzip or zstd, told by content; files, folders of
// rotated captures, pipes and "-". Several inputs are merged by comparing the times of their head
// records, never sorted within an input; on a tie the earlier-named goes first.
//
// Lifetime: a packet's bytes stay where they are until it is given to release(), however long that
// takes and whatever is received meanwhile, or until the source is destroyed. Plain regular files
// are mapped and the packets are views into the mapping. All other input goes through blocks that
// a second thread fills (and decompresses into) ahead of the reader: memory is bounded by the
// blocks that held packets pin (see block_pool.hpp), not by the file.
//
// May depend on core and wire. All functions by one thread, that of the loop.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wirebook/core/result.hpp"
#include "wirebook/io/capture_format.hpp"
#include "wirebook/wire/packet.hpp"

namespace wirebook::io {

struct CaptureOptions {
    // In the order of their names on the command line. A folder stands for its regular files in
    // the order of their names (not those that start with a dot). "-" is stdin, at most once.
    std::vector<std::string> files;
    // 0: as fast as they are taken. N: N times as fast as captured; receive() hands out what is
    // due.
    double speed = 0;
    // Read everything in before open() returns, if every input is an uncompressed regular file and
    // together they are smaller than half of the free memory; preloaded() says whether it was done.
    bool preload = false;
    // At speed 0 receive_tsc is 0 unless this is set: then it is the TSC when it was handed out
    // (one reading a burst). At another speed it is the TSC at which the packet was due.
    bool stamp_tsc = false;
    // How a BinaryFILE is told: known message lengths by type, see identify(). Null: only an
    // empty BinaryFILE is recognised.
    MinLength binaryfile_min_length = nullptr;
    // Of a block of input that is not mapped. Smaller ones are for tests.
    std::size_t block_bytes = std::size_t{256} * 1024;
};

struct CaptureProgress {
    std::uint64_t packets = 0;  // handed out
    std::uint64_t bytes = 0;    // captured bytes of them
    // Of the files as stored (compressed ones: compressed). The total is 0 where it is not known
    // (a pipe is among them).
    std::uint64_t file_bytes_read = 0;
    std::uint64_t file_bytes_total = 0;
};

class CaptureSource {
public:
    // Opens every input and finds out what it is (for a pipe: waits for its first bytes). Fails,
    // naming file and byte, where one cannot be opened, is empty, of no known kind, or has a cut or
    // unsupported file header.
    [[nodiscard]] static Result<CaptureSource> open(const CaptureOptions& options);

    // One input from memory, for tests and fuzzing; `as_stream` takes it through blocks and the
    // second thread as a pipe is. options.files is not used. `bytes` outlive the source.
    [[nodiscard]] static Result<CaptureSource> open_memory(wire::Bytes bytes, bool as_stream,
                                                           const CaptureOptions& options);

    CaptureSource(CaptureSource&&) noexcept;
    CaptureSource& operator=(CaptureSource&&) noexcept;
    CaptureSource(const CaptureSource&) = delete;
    CaptureSource& operator=(const CaptureSource&) = delete;
    ~CaptureSource();

    // Up to burst.size() packets in order. 0: finished(), nothing is due yet, or a pipe has nothing
    // (after a wait of at most 10 ms, so that the caller sees its signals). Never sleeps otherwise.
    [[nodiscard]] std::size_t receive(std::span<wire::Packet> burst) noexcept;

    // Appends copies of packets that come next, some of each input, input by input. They stay the
    // source's: receive() hands them out yet, and starts the pace. False: not every input shows
    // what it has, after a wait of at most 10 ms; to be asked again.
    [[nodiscard]] bool look_ahead(std::vector<wire::Packet>& next);

    // Gives packets back, in any order, each once.
    void release(std::span<const wire::Packet> packets) noexcept;

    // Every packet of every input was handed out: known after a receive() that returned 0.
    [[nodiscard]] bool finished() const noexcept;

    // TSC at which the next packet is due; 0: at once, or it is not known yet. Only at a pace.
    [[nodiscard]] std::uint64_t next_due_tsc() const noexcept;

    // Sentences for a human, such as that a file ends inside a record; complete when finished().
    [[nodiscard]] const std::vector<std::string>& notices() const noexcept;

    // The first-named input that turned out to be broken (its file and byte offset in the text),
    // once finished(): everything whole before that place was handed out, and the other inputs were
    // read to their ends. What else is broken is among the notices.
    [[nodiscard]] std::optional<Error> error() const;

    [[nodiscard]] CaptureProgress progress() const noexcept;
    [[nodiscard]] bool preloaded() const noexcept;

    // One line for each input: its name, format and how it is read.
    [[nodiscard]] std::string description() const;
    // By Packet.input.
    [[nodiscard]] const std::vector<std::string>& input_names() const noexcept;

private:
    class Impl;
    explicit CaptureSource(std::unique_ptr<Impl> impl) noexcept;
    std::unique_ptr<Impl> impl_;
};

}  // namespace wirebook::io
