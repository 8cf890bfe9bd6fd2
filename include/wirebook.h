// The ring of a Wirebook segment for C, and for every language that calls C: follows a segment by
// name, from another process, read-only. What wirebook/ring/reader.hpp is to C++.
//
//     wirebook_reader *reader;
//     if (wirebook_attach("nasdaq", NULL, &reader) != 0) {
//         fprintf(stderr, "%s\n", wirebook_last_error());
//         return 1;
//     }
//     struct wirebook_record record;
//     for (;;) switch (wirebook_poll(reader, &record)) {
//         case WIREBOOK_POLL_RECORD: ...         // record.bid_price, ...
//         case WIREBOOK_POLL_EMPTY: break;       // nothing new
//         case WIREBOOK_POLL_LAPPED: ...         // wirebook_lost(reader) grew; poll on
//         case WIREBOOK_POLL_WRITER_CLOSED:
//         case WIREBOOK_POLL_WRITER_DEAD: wirebook_reattach(reader);   // until it returns 1
//     }
//
// RETURN VALUES. A negative one is an errno: -EINVAL of a null argument, of a reader that is none,
// of a value out of range; -ENOENT of what is not there. Others stand at their function.
// No exception leaves a function. Only attach, reattach and close take or give back memory
// (and poll, where it follows to the next writer).
// THREADS. A reader belongs to one thread at a time; any number of readers may follow one segment.
// Functions without a reader may be called from any thread.
// C99 or later, C++98 or later, Linux, 64 bits. Link with `pkg-config --cflags --libs wirebook-c`.
#ifndef WIREBOOK_H
#define WIREBOOK_H

#include <stddef.h>
#include <stdint.h>

#include "wirebook/capi/instrument.h"
#include "wirebook/capi/records.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WIREBOOK_API __attribute__((visibility("default")))

// NOLINTBEGIN(readability-identifier-naming,modernize-use-using)

typedef struct wirebook_reader wirebook_reader;

// ---- the library

// "0.1.0". The text is static.
WIREBOOK_API const char* wirebook_version(void);
// The WIREBOOK_ABI that the library was built with: segments of another are refused.
WIREBOOK_API uint32_t wirebook_abi(void);
// What was attempted and why it failed, of this thread's last call that returned -EINVAL or that
// attached or re-attached in vain; "" before. Valid until the thread's next such call.
WIREBOOK_API const char* wirebook_last_error(void);

// ---- attach

enum wirebook_resume {           // where to go on after having been lapped
    WIREBOOK_RESUME_TABLE = 0,   // newest snapshot of every instrument, then the newest record
    WIREBOOK_RESUME_NEWEST = 1,  // the newest record
    WIREBOOK_RESUME_OLDEST = 2   // the oldest record held, with an eighth of the ring as margin
};
// Bits of wirebook_attach_options::flags.
#define WIREBOOK_ATTACH_NO_TABLE 1u     // start with the records published from now on
#define WIREBOOK_ATTACH_LEFT_BEHIND 2u  // also a segment whose writer has closed it or died
#define WIREBOOK_ATTACH_NO_PREFAULT 4u  // map pages when they are first polled, not now
// Poll goes over to the next writer of the name by itself: it maps the new segment, and memory
// that runs out there ends the process. Who cannot have that calls wirebook_reattach.
#define WIREBOOK_ATTACH_FOLLOW 8u
// Keep a small file beside the segment that says where we are, for those who watch readers' lag.
// Where the folder takes no file of ours there is none, and no error.
#define WIREBOOK_ATTACH_SHOW_POSITION 16u

// Zero is the default of every field but `size`. Fields are only ever added at the end: a larger
// struct than the library knows is taken if what it does not know is zero, else -E2BIG.
struct wirebook_attach_options {
    uint32_t size;          // sizeof(struct wirebook_attach_options)
    uint32_t flags;         // WIREBOOK_ATTACH_NO_TABLE ...
    uint32_t resume;        // enum wirebook_resume
    uint32_t wait_ms;       // how long to wait for a live segment of that name
    const char* directory;  // NULL or "": hugetlbfs mounts, then /dev/shm
};

// 0 and *reader; else *reader is NULL. `options` may be NULL. -ENOENT: no such segment; -ESTALE:
// its writer has gone; -EINVAL: not a usable segment (foreign, cut, another ABI or byte order) or
// a bad argument; -EACCES, -ENOMEM ... : what the system said.
WIREBOOK_API int wirebook_attach(const char* name, const struct wirebook_attach_options* options,
                                 wirebook_reader** reader);
// The same by the file's path, wherever it lies. A later re-attach looks for the name it has there.
WIREBOOK_API int wirebook_attach_file(const char* path,
                                      const struct wirebook_attach_options* options,
                                      wirebook_reader** reader);
// Unmaps the segment. NULL is allowed.
WIREBOOK_API void wirebook_close(wirebook_reader* reader);
// After writer_closed or writer_dead: 1 attached to a successor of the same name (its table comes
// first; instruments may have other indices), 0 there is none yet, or an error as of attach.
WIREBOOK_API int wirebook_reattach(wirebook_reader* reader);

// ---- records

enum wirebook_polled {
    WIREBOOK_POLL_EMPTY = 0,          // nothing new; `out` may hold anything
    WIREBOOK_POLL_RECORD = 1,         // `out` is the next record
    WIREBOOK_POLL_LAPPED = 2,         // the writer overtook us: wirebook_lost() grew
    WIREBOOK_POLL_WRITER_CLOSED = 3,  // everything was read, and the writer closed the segment
    WIREBOOK_POLL_WRITER_DEAD = 4,    // everything was read, and no process holds its lock
    WIREBOOK_POLL_REATTACHED = 5      // WIREBOOK_ATTACH_FOLLOW: the next writer's table comes, with
                                      // other indices
};
// enum wirebook_polled. First come the newest snapshots of all instruments (WIREBOOK_FROM_TABLE),
// then everything published since, without a hole. Never blocks and makes no system call, except
// that while idle it asks every 20 ms or so whether the writer lives. A record that is aligned to
// 64 bytes is read in place, any other is copied once more.
WIREBOOK_API int wirebook_poll(wirebook_reader* reader, struct wirebook_record* out);
// Skips to now: the table's snapshots come again. What is skipped counts as lost.
WIREBOOK_API int wirebook_rejoin(wirebook_reader* reader);
// Records that were published after we joined and that poll will never return.
WIREBOOK_API int64_t wirebook_lost(const wirebook_reader* reader);
// Records published and not read yet.
WIREBOOK_API int64_t wirebook_lag(const wirebook_reader* reader);
// The newest snapshot of an instrument, whatever poll has reached. -ENOENT: it has none; -EBUSY:
// overwritten again and again, or its writer died while writing it.
WIREBOOK_API int wirebook_latest(const wirebook_reader* reader, uint32_t instrument,
                                 struct wirebook_record* out);
// enum wirebook_quality: the worse of the record's own and its channel's now. Ask after poll, and
// act on a book only if it is WIREBOOK_QUALITY_GOOD.
WIREBOOK_API int wirebook_quality_of(const wirebook_reader* reader,
                                     const struct wirebook_record* record);
// Of a channel that the segment does not have: WIREBOOK_QUALITY_NOT_READY.
WIREBOOK_API int wirebook_channel_quality(const wirebook_reader* reader, uint16_t channel);
// A level of a snapshot, 0 is the best. -ENOENT, and an empty level, from bid_levels (ask_levels)
// on.
WIREBOOK_API int wirebook_bid(const struct wirebook_record* record, uint32_t level,
                              struct wirebook_level* out);
WIREBOOK_API int wirebook_ask(const struct wirebook_record* record, uint32_t level,
                              struct wirebook_level* out);

// The body of an event. -EINVAL: the record is of another kind.
WIREBOOK_API int wirebook_event_trade(const struct wirebook_record* record,
                                      struct wirebook_trade_event* out);
WIREBOOK_API int wirebook_event_break(const struct wirebook_record* record,
                                      struct wirebook_break_event* out);
WIREBOOK_API int wirebook_event_status(const struct wirebook_record* record,
                                       struct wirebook_status_event* out);
WIREBOOK_API int wirebook_event_auction(const struct wirebook_record* record,
                                        struct wirebook_auction_event* out);
WIREBOOK_API int wirebook_event_collar(const struct wirebook_record* record,
                                       struct wirebook_collar_event* out);
WIREBOOK_API int wirebook_event_ipo(const struct wirebook_record* record,
                                    struct wirebook_ipo_event* out);
WIREBOOK_API int wirebook_event_system(const struct wirebook_record* record,
                                       struct wirebook_system_event* out);
WIREBOOK_API int wirebook_event_gap(const struct wirebook_record* record,
                                    struct wirebook_gap_event* out);
WIREBOOK_API int wirebook_event_session(const struct wirebook_record* record,
                                        struct wirebook_session_event* out);
WIREBOOK_API int wirebook_event_quality(const struct wirebook_record* record,
                                        struct wirebook_quality_event* out);
WIREBOOK_API int wirebook_event_directory(const struct wirebook_record* record,
                                          struct wirebook_directory_event* out);
WIREBOOK_API int wirebook_event_order(const struct wirebook_record* record,
                                      struct wirebook_order_event* out);

// ---- instruments, by index: 0 .. wirebook_instruments() - 1. They are only ever added

WIREBOOK_API int64_t wirebook_instruments(const wirebook_reader* reader);
// How often a symbol changed: look symbols up again when it moves.
WIREBOOK_API int64_t wirebook_renames(const wirebook_reader* reader);
// Index of the first instrument of that symbol; -ENOENT. Walks the rows: keep what it returns.
WIREBOOK_API int64_t wirebook_find(const wirebook_reader* reader, const char* symbol);
WIREBOOK_API int64_t wirebook_find_on_channel(const wirebook_reader* reader, const char* symbol,
                                              uint16_t channel);
WIREBOOK_API int64_t wirebook_find_at_venue(const wirebook_reader* reader, const char* symbol,
                                            uint32_t venue);
// A row's parts. -ENOENT: no such row; -EBUSY: its writer died while writing it.
WIREBOOK_API int wirebook_read_identity(const wirebook_reader* reader, uint32_t instrument,
                                        struct wirebook_identity* out);
WIREBOOK_API int wirebook_read_status(const wirebook_reader* reader, uint32_t instrument,
                                      struct wirebook_instrument_status* out);
WIREBOOK_API int wirebook_read_statistics(const wirebook_reader* reader, uint32_t instrument,
                                          struct wirebook_trade_statistics* out);
WIREBOOK_API int wirebook_read_auction(const wirebook_reader* reader, uint32_t instrument,
                                       struct wirebook_auction_state* out);

// ---- the segment, its writer, its clock

// Constant while attached; another after a re-attach. Fields are only ever added at the end.
struct wirebook_segment {
    uint32_t size;  // in: sizeof(struct wirebook_segment); no more than that is written
    uint32_t abi;
    uint32_t depth;  // levels of a snapshot: 1, 5, 10, 20
    uint32_t instrument_capacity;
    uint32_t channels;
    uint32_t streams;  // WIREBOOK_STREAM_ORDERS
    uint64_t slots;    // of the ring
    uint64_t slot_bytes;
    uint64_t segment_bytes;
    uint64_t epoch;         // differs between any two writers of a name, grows
    uint64_t writer_pid;    // in the writer's pid namespace
    uint64_t writer_start;  // clock ticks after boot, /proc/PID/stat field 22; 0 unknown
    int64_t created_ns;     // UTC
    double ns_per_tick;     // of the TSC
    uint64_t base_tsc;      // this TSC value ...
    int64_t base_utc_ns;    // ... was this time
    char session_name[64];  // zero-padded
};
WIREBOOK_API int wirebook_describe(const wirebook_reader* reader, struct wirebook_segment* out);
// The segment's file; NULL of a reader that is none. Valid until re-attach or close.
WIREBOOK_API const char* wirebook_path(const wirebook_reader* reader);
// The file that shows others where we are (WIREBOOK_ATTACH_SHOW_POSITION); "": none.
WIREBOOK_API const char* wirebook_position_path(const wirebook_reader* reader);
// A system call. 1 while the writer process exists, else 0; the heartbeat says whether it moves.
WIREBOOK_API int wirebook_writer_alive(const wirebook_reader* reader);
// TSC at the writer's last sign of life: all that it received earlier is published.
WIREBOOK_API int wirebook_heartbeat(const wirebook_reader* reader, uint64_t* tsc);
// The CPU's time stamp counter, as records have it.
WIREBOOK_API uint64_t wirebook_tsc(void);
// A duration. -ERANGE: not in 63 bits.
WIREBOOK_API int64_t wirebook_ns_from_ticks(const wirebook_reader* reader, uint64_t ticks);
// A moment, ns since 1970. Exact to 1 ns within 50 days of the writer's start. -ERANGE likewise.
WIREBOOK_API int wirebook_utc_from_tsc(const wirebook_reader* reader, uint64_t tsc,
                                       int64_t* utc_ns);

// NOLINTEND(readability-identifier-naming,modernize-use-using)

#ifdef __cplusplus
}
#endif

#endif
