#!/usr/bin/env python3
"""Replays real captures and compares statistics, --top, --final and the trades that stand in the
segment with books that real_runs_books.py builds from an independent decode of the same packets.

    real_runs_test.py WIREBOOK

Captures are read below $WIREBOOK_CAPTURES, by default ../shared/captures beside the repository;
exit status 77 where none is there.
"""
import gzip
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from real_runs_books import Iex, Itch50, Jnx

SKIPPED = 77
COUNTED = ('unknown_orders', 'duplicate_orders', 'overfills', 'bad_orders', 'unknown_levels',
           'crossed')
# file, feed's books, options, what is known of the capture beside what the books tell
RUNS = [
    ('iex-deep/20231002-deep10.pcap.gz', Iex, [],
     {'packets': 5000, 'messages': 48325, 'gaps': 0, 'books': 207, 'crossed': 0,
      'messages_by_type': {'8': 1526, '5': 1226, 'T': 37}}),
    ('iex-tops/20170710-tops16.pcap.gz', Iex, [],
     {'messages': 57674, 'gaps': 0, 'crossed': 0,
      'messages_by_type': {'Q': 27217, 'T': 6390, 'B': 3}}),
    ('jnx-itch/jnx17-2000-messages.pcap', Jnx, ['--feed', 'itch-jnx'],
     {'messages': 2000, 'gaps': 0, 'unknown_orders': 0,
      'messages_by_type': {'A': 1165, 'E': 757}}),
    ('nasdaq-itch50/synthetic-3symbols.pcap', Itch50, [],
     {'messages': 12012, 'gaps': 0, 'messages_by_type': {'A': 4997, 'P': 5000, 'U': 12}}),
    # Two packets with real headers, 4,244,620 messages lost between them.
    ('nasdaq-itch50/5.0-Multiple.Packets.pcap', Itch50, [],
     {'messages': 39, 'gaps': 1, 'gap_messages': 19009117 - 14764497, 'unknown_orders': 1}),
]


def golden_frames(path):
    """The messages of each packet that has some, with the sequence of its header."""
    with gzip.open(path, 'rt', encoding='utf-8') as lines:
        for _, messages in itertools.groupby(map(json.loads, lines), lambda one: one['frame']):
            messages = [one for one in messages if one['type'] not in (None, '<not dissected>')]
            if not messages:
                continue
            header = messages[0]['hdr']
            names = ('sequence_number', 'udp_sequence_number', 'first_message_sequence_number')
            yield messages, int(next(header[name] for name in names if name in header))


def differences(name, expected, found):
    if expected == found:
        return
    for at, (ours, theirs) in enumerate(itertools.zip_longest(found, expected)):
        if ours != theirs:
            yield f'{name}: line {at + 1} is\n    {ours}\n  and should be\n    {theirs}'
            return


def compare_statistics(stats, books, known):
    expected = {name: books.counts[name] for name in COUNTED} | known
    for key, value in expected.items():
        found = stats[key]
        if isinstance(value, dict):
            found = {name: found.get(name, 0) for name in value}
        if found != value:
            yield f'{key} is {found} and should be {value}'


def compare_trades(rows, books):
    """The newest snapshots of a segment, each with the trades of its instrument."""
    scaled = lambda ticks: None if ticks is None else ticks / 10 ** books.places
    expected = {books.symbols[key]: (one.count, one.volume, *map(scaled, (
        one.open, one.high, one.low, one.last))) for key, one in books.trades.items()}
    seen = 0
    for row in rows:
        trades = row['statistics']
        names = ('trades', 'volume', 'open', 'high', 'low', 'last')
        found = tuple(trades[name] for name in names)
        want = expected.get(row['symbol'], (0, 0, None, None, None, None))
        seen += want[0]
        if found != want:
            yield f'trades of {row["symbol"]} are {found} and should be {want}'
    if rows and not seen and any(one.count for one in books.trades.values()):
        yield 'no trade stands in the segment'


def replay(program, capture, options, out):
    segment = f'real-runs-{os.getpid()}'
    done = subprocess.run(
        [program, 'replay', capture, *options, '--publish', segment, '--top', out / 'top',
         '--final', out / 'final', '--stats', out / 'stats'],
        capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise SystemExit(f'{capture}: exit status {done.returncode}: {done.stderr}')
    shown = subprocess.run([program, 'tail', segment, '--once', '--json'], capture_output=True,
                           text=True, timeout=60)
    for line in done.stderr.splitlines():
        for word in line.split():
            if word.strip(',').endswith(f'wirebook.{segment}'):
                pathlib.Path(word.strip(',')).unlink(missing_ok=True)
    if shown.returncode != 0:
        raise SystemExit(f'tail {segment}: exit status {shown.returncode}: {shown.stderr}')
    read = lambda name: (out / name).read_text(encoding='latin-1').splitlines()
    return read('top')[1:], read('final')[1:], json.loads((out / 'stats').read_text()), \
        json.loads(shown.stdout)


def run(program, root, name, feed, options, known):
    books = feed()
    for messages, sequence in golden_frames(root / f'{name}.golden.jsonl.gz'):
        books.frame(messages, sequence)
    with tempfile.TemporaryDirectory() as out:
        top, final, stats, rows = replay(program, root / name, options, pathlib.Path(out))
    yield from differences('--top', books.top, top)
    yield from differences('--final', list(books.final()), final)
    yield from compare_statistics(stats, books, known)
    yield from compare_trades(rows, books)
    print(f'{name}: {len(top)} rows of --top, {len(final)} of --final, '
          f'{sum(one.count for one in books.trades.values())} trades')


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    beside = pathlib.Path(__file__).resolve().parents[2] / 'shared' / 'captures'
    root = pathlib.Path(os.environ.get('WIREBOOK_CAPTURES', beside))
    present = [one for one in RUNS if (root / one[0]).exists()]
    for name, *_ in (one for one in RUNS if one not in present):
        print(f'skipped: no {root / name} (WIREBOOK_CAPTURES names the folder of captures)')
    failures = 0
    for name, *rest in present:
        for problem in run(program, root, name, *rest):
            failures += 1
            print(f'{name}: {problem}')
    return SKIPPED if not present else 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
