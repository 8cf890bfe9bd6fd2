// A strategy's first program in C: attaches to a segment by name and prints the top of the book of
// chosen symbols, and their trades. It needs libwirebook and nothing else:
//
//     gcc -std=c11 -O2 reader.c $(pkg-config --cflags --libs wirebook-c) -o reader
//     ./reader nasdaq AAPL MSFT
//
// It waits until the segment is there, says how many records it lost, and goes on with the next
// writer when its own restarts. With --latency it ends with one line of percentiles on stdout.
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wirebook.h>

static const char* const usage =
    "usage: reader NAME [SYMBOL...] [options]\n"
    "  NAME             the segment, as given to --publish; SYMBOL: print these only\n"
    "  --count N        end after N records\n"
    "  --until-end      end when the writer closes the segment\n"
    "  --latency        end with a line of latencies, from the packet's receive stamp on\n"
    "  --quiet          print no books              --directory DIR  where the segment is\n";

struct options {
    const char* name;
    const char* directory;
    char** symbols;
    int symbol_count;
    uint64_t count;  // 0: no end
    bool until_end, latency, quiet;
};

static volatile sig_atomic_t interrupted;
static void interrupt(int signal_number) {
    (void)signal_number;
    interrupted = 1;
}

static void sleep_ms(long ms) {
    const struct timespec time = {0, ms * 1000000};
    nanosleep(&time, NULL);
}

// ---- latencies, log-linear: 64 buckets for each doubling, so 1.6 % resolution

struct percentiles {
    uint64_t buckets[64 * 60];
    uint64_t samples;
};

static void add_sample(struct percentiles* p, int64_t ns) {
    const uint64_t value = ns < 0 ? 0 : (uint64_t)ns;
    const unsigned doublings = 57 - (unsigned)__builtin_clzll(value | 127);
    p->buckets[doublings * 64 + (value >> doublings)] += 1;
    p->samples += 1;
}
// The smallest value that `fraction` of the samples do not exceed; 0 without samples.
static uint64_t percentile(const struct percentiles* p, double fraction) {
    const uint64_t rank = (uint64_t)(fraction * (double)p->samples);
    uint64_t seen = 0;
    for (unsigned bucket = 0; bucket < 64 * 60 && p->samples != 0; ++bucket) {
        seen += p->buckets[bucket];
        if (seen <= rank && seen != p->samples) continue;
        const unsigned doublings = bucket < 128 ? 0 : bucket / 64 - 1;
        return (uint64_t)(bucket - doublings * 64) << doublings;
    }
    return 0;
}
static void print_percentiles(const char* what, const struct percentiles* p) {
    printf(" %s_p50_ns=%" PRIu64 " %s_p99_ns=%" PRIu64 " %s_p999_ns=%" PRIu64, what,
           percentile(p, 0.5), what, percentile(p, 0.99), what, percentile(p, 0.999));
}

// ---- instruments: which of them to print, and how

struct instrument {
    char symbol[17];  // with its zero
    uint8_t places;
    bool wanted;
};
// What is known of them: read again when a symbol changes, one is added, or the writer changes.
struct known {
    struct instrument* rows;
    uint32_t count;
    uint64_t epoch;
    int64_t renames;
};

static void read_instruments(struct known* known, const wirebook_reader* reader,
                             const struct options* options) {
    const uint32_t count = (uint32_t)wirebook_instruments(reader);
    struct instrument* rows = realloc(known->rows, (count + 1) * sizeof(*rows));
    if (rows == NULL) return;
    known->rows = rows;
    known->count = count;
    for (uint32_t i = 0; i < count; ++i) {
        struct wirebook_identity identity;
        memset(&rows[i], 0, sizeof(rows[i]));
        if (wirebook_read_identity(reader, i, &identity) != 0) continue;
        memcpy(rows[i].symbol, identity.symbol, sizeof(identity.symbol));
        rows[i].places = identity.price_places;
        rows[i].wanted = options->symbol_count == 0;
        for (int k = 0; k < options->symbol_count; ++k)
            if (strcmp(rows[i].symbol, options->symbols[k]) == 0) rows[i].wanted = true;
    }
}
static const struct instrument* look_up(struct known* known, const wirebook_reader* reader,
                                        uint64_t epoch, uint32_t instrument,
                                        const struct options* options) {
    const int64_t renames = wirebook_renames(reader);
    if (epoch != known->epoch || renames != known->renames || instrument >= known->count) {
        read_instruments(known, reader, options);
        known->epoch = epoch;
        known->renames = renames;
    }
    return instrument < known->count ? &known->rows[instrument] : NULL;
}
static uint64_t epoch_of(const wirebook_reader* reader) {
    struct wirebook_segment segment = {.size = sizeof(segment)};
    return wirebook_describe(reader, &segment) == 0 ? segment.epoch : 0;
}

// ---- records

// A price in units of 1e-9, with the venue's decimal places; "-" where there is none.
static const char* price_text(int64_t price, unsigned places, char text[static 32]) {
    if (price == WIREBOOK_NO_PRICE) return "-";
    const uint64_t magnitude = price < 0 ? 0 - (uint64_t)price : (uint64_t)price;
    const int bytes = snprintf(text, 32, "%s%" PRIu64 ".%09" PRIu64, price < 0 ? "-" : "",
                               magnitude / 1000000000, magnitude % 1000000000);
    text[bytes - (places == 0 ? 10 : places > 9 ? 0 : 9 - (int)places)] = '\0';
    return text;
}

static void print_record(const wirebook_reader* reader, const struct wirebook_record* record,
                         const struct instrument* instrument) {
    static const char* const quality_texts[] = {"", "  STALE", "  RECOVERING", "  NOT READY"};
    char bid[32], ask[32];
    struct wirebook_trade_event trade;
    if (record->kind == WIREBOOK_KIND_SNAPSHOT) {
        const int quality = wirebook_quality_of(reader, record);
        printf("%-8s %8" PRIu64 " x %s | %s x %" PRIu64 "%s\n", instrument->symbol,
               record->bid_quantity, price_text(record->bid_price, instrument->places, bid),
               price_text(record->ask_price, instrument->places, ask), record->ask_quantity,
               quality < 0 ? "  ?" : quality_texts[quality]);
    } else if (wirebook_event_trade(record, &trade) == 0) {
        printf("%-8s trade %" PRIu64 " @ %s\n", instrument->symbol, trade.quantity,
               price_text(trade.price, instrument->places, bid));
    }
}

struct program {
    const struct options* options;
    struct known known;
    uint64_t epoch, records;
    struct percentiles published, read;
};

static void take(struct program* program, const wirebook_reader* reader,
                 const struct wirebook_record* record, uint64_t read_tsc) {
    program->records += 1;
    if (record->receive_tsc != 0 && (record->flags & WIREBOOK_FROM_TABLE) == 0) {
        add_sample(&program->published, wirebook_ns_from_ticks(reader, record->published_delta));
        if (read_tsc > record->receive_tsc)
            add_sample(&program->read,
                       wirebook_ns_from_ticks(reader, read_tsc - record->receive_tsc));
    }
    if (program->options->quiet || record->instrument == WIREBOOK_NO_INSTRUMENT) return;
    const struct instrument* const instrument =
        look_up(&program->known, reader, program->epoch, record->instrument, program->options);
    if (instrument != NULL && instrument->wanted) print_record(reader, record, instrument);
}

// Waits for a writer that takes the name over. False: interrupted, or the segment is no longer
// good.
static bool next_writer(struct program* program, wirebook_reader* reader) {
    fprintf(stderr, "reader: the writer has gone, waiting for the next one\n");
    while (!interrupted) {
        const int attached = wirebook_reattach(reader);
        if (attached < 0) {
            fprintf(stderr, "reader: %s\n", wirebook_last_error());
            return false;
        }
        if (attached == 1) {
            fprintf(stderr, "reader: attached to the next writer\n");
            program->epoch = epoch_of(reader);
            return true;
        }
        sleep_ms(5);
    }
    return false;
}

static void follow(struct program* program, wirebook_reader* reader) {
    _Alignas(64) struct wirebook_record record;  // so that poll reads in place
    program->epoch = epoch_of(reader);
    while (!interrupted &&
           (program->options->count == 0 || program->records < program->options->count)) {
        switch (wirebook_poll(reader, &record)) {
            case WIREBOOK_POLL_RECORD: take(program, reader, &record, wirebook_tsc()); break;
            case WIREBOOK_POLL_EMPTY: break;
            case WIREBOOK_POLL_LAPPED:
                fprintf(stderr, "reader: fell behind, %" PRId64 " records lost so far\n",
                        wirebook_lost(reader));
                break;
            default:  // closed, or dead
                if (program->options->until_end || !next_writer(program, reader)) return;
        }
    }
}

static void report(const struct program* program, const wirebook_reader* reader) {
    const int64_t lost = wirebook_lost(reader);
    fprintf(stderr, "reader: %" PRIu64 " records read, %" PRId64 " lost\n", program->records, lost);
    if (!program->options->latency) return;
    printf("records=%" PRIu64 " lost=%" PRId64, program->records, lost);
    print_percentiles("published", &program->published);
    print_percentiles("read", &program->read);
    printf("\n");
}

// ---- start

// NULL: the arguments are good. Else what is wrong with them.
static const char* parse(int argc, char** argv, struct options* options) {
    options->symbols = argv;  // overwritten from the front: no more symbols than were read
    for (int i = 1; i < argc; ++i) {
        const char* const value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--count") == 0) {
            options->count = strtoull(value, NULL, 10), ++i;
        } else if (strcmp(argv[i], "--directory") == 0) {
            options->directory = value, ++i;
        } else if (strcmp(argv[i], "--until-end") == 0) {
            options->until_end = true;
        } else if (strcmp(argv[i], "--latency") == 0) {
            options->latency = true;
        } else if (strcmp(argv[i], "--quiet") == 0) {
            options->quiet = true;
        } else if (argv[i][0] == '-') {
            return "unknown option";
        } else if (options->name == NULL) {
            options->name = argv[i];
        } else {
            options->symbols[options->symbol_count++] = argv[i];
        }
    }
    return options->name == NULL ? "which segment?" : NULL;
}

// Until the segment is there, or never will be usable. 0 or a negative errno.
static int attach(const struct options* options, wirebook_reader** reader) {
    const struct wirebook_attach_options how = {.size = sizeof(how),
                                                .flags = WIREBOOK_ATTACH_SHOW_POSITION,
                                                .wait_ms = 100,
                                                .directory = options->directory};
    for (bool said = false;; said = true) {
        const int status = wirebook_attach(options->name, &how, reader);
        if ((status != -ENOENT && status != -ESTALE) || interrupted) return status;
        if (!said) fprintf(stderr, "reader: waiting for the segment '%s'\n", options->name);
    }
}

int main(int argc, char** argv) {
    static struct options options;
    static struct program program = {.options = &options};
    if (argc == 2 && strcmp(argv[1], "--help") == 0) return fputs(usage, stdout) < 0;
    const char* const fault = parse(argc, argv, &options);
    if (fault != NULL) {
        fprintf(stderr, "reader: %s\n%s", fault, usage);
        return 2;
    }
    struct sigaction action = {.sa_handler = interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    setvbuf(stdout, NULL, _IOLBF, 1 << 16);

    wirebook_reader* reader = NULL;
    if (attach(&options, &reader) != 0) {
        fprintf(stderr, "reader: %s\n", wirebook_last_error());
        return interrupted ? 0 : 2;
    }
    fprintf(stderr, "reader: attached to %s\n", wirebook_path(reader));
    follow(&program, reader);
    report(&program, reader);
    wirebook_close(reader);
    free(program.known.rows);
    return 0;
}
