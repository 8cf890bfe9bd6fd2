#!/usr/bin/env python3
"""docs/ring.md is enough to write a reader: tests/ring_reader.py, which was written from that page
alone, follows replays through join, lap and end, and reads what `wirebook tail --json` shows.

usage: ring_python_test.py WIREBOOK [CHECK...]
"""
import decimal
import json
import platform
import signal
import struct
import subprocess
import sys
import time

import e2e_tools
import ring_reader
from ring_reader import CLOSED, DEAD, EMPTY, LAPPED, NO_INSTRUMENT, NO_PRICE

PATIENCE = 120  # s; only ends a hang
SIDES = ['none', 'bid', 'ask']
ACTIONS = ['', 'add', 'execute', 'reduce', 'remove', 'replace']
PRICES = {'price', 'reference', 'indicative', 'far', 'lower', 'upper'}
SHOWN_ELSEWHERE = {'status': {'state'}, 'ipo': {'type'}, 'directory': {'symbol', 'price_places'}}


# ---- records as tail shows them

def price(value):
    return None if value == NO_PRICE else decimal.Decimal(value).scaleb(-9)


def event_of(record):
    """The body with tail's names and words."""
    event = {name: price(value) if name in PRICES else value
             for name, value in record.event().items()
             if name not in SHOWN_ELSEWHERE.get(record.kind, ())}
    if record.kind == 'trade':
        event['resting'] = SIDES[event['resting']]
    if record.kind == 'session' and event['session'][1:2] == '\x80':  # IEX's: numbers
        _, channel, session = struct.unpack_from('<HII', event['session'].ljust(16, '\0').encode('latin-1'))
        event['session'] = f'{channel}/{session}'
    if record.kind == 'quality':
        event = {name: ring_reader.QUALITIES[value] for name, value in event.items()}
    if record.kind == 'order':
        event['side'], event['action'] = SIDES[event['side']], ACTIONS[event['action']]
        other, printable = event.pop('other'), event.pop('printable')
        if event['action'] == 'replace':
            event['new_order'] = other
        if event['action'] == 'execute':
            event |= {'match': other, 'printable': printable}
    return event


def shown(segment, record):
    head = record.head
    quality = max(head['quality'], segment.channel_quality(head['channel']))
    result = {'sequence': record.sequence, 'kind': record.kind, 'channel': head['channel'],
              'quality': ring_reader.QUALITIES[quality],
              'status': ring_reader.STATUSES[head['status']],
              'last_of_packet': head['flags'] & 1 == 1}
    for name in ('exchange_time_ns', 'receive_time_ns', 'feed_sequence', 'packet', 'line'):
        result[name] = head[name]
    if record.instrument != NO_INSTRUMENT:
        result |= {'symbol': segment.identity(record.instrument)[0],
                   'instrument': record.instrument}
    if record.kind != 'snapshot':
        return result | event_of(record)
    for side in ('bid', 'ask'):
        result[side + 's'] = [[price(level[0]), *level[1:]] for level in record.levels(side)]
    return result


# ---- replays, and readers of them

def attach(folder, name):
    """The segment of a live writer, as soon as there is one."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            segment = ring_reader.Segment(folder, name)
            if segment.writer_lives():
                return segment
            segment.close()
        except ring_reader.SegmentError:
            pass
        time.sleep(0.002)
    raise AssertionError(f'no segment {name}')


def start_replay(program, folder, capture, speed, slots=65_536):
    configuration = folder / 'test.toml'
    configuration.write_text(f'[publish]\ndirectory = "{folder}"\nslots = {slots}\norders = true\n')
    return subprocess.Popen([program, 'replay', capture, '-c', configuration, '--publish', 'py',
                             '--speed', str(speed)], stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


def read_to_end(segment, records, pause_after=None):
    """How it ended. `records` gets what was read. Pauses once, until the writer is a ring ahead."""
    end, from_ring = time.monotonic() + PATIENCE, 0
    while time.monotonic() < end:
        polled = segment.poll()
        if polled in (CLOSED, DEAD):
            return polled
        if polled == EMPTY:
            time.sleep(0.0005)
        elif polled != LAPPED:
            records.append((polled.from_table, shown(segment, polled)))
            from_ring += not polled.from_table
            if from_ring == pause_after:
                while segment.lag <= segment.slots and segment.writer_lives():
                    time.sleep(0.0005)
                from_ring += 1
    raise AssertionError('the segment has no end')


def made(program, folder, feed):
    capture = folder / f'{feed}.pcap'
    e2e_tools.run(program, 'sim', '--feed', feed, '--seed', 7, '--instruments', 20, '--messages',
                  20_000, '--rate', 8000, '--pcap', capture)  # 2.5 s and more
    return capture


def same_as_tail(program, folder, capture):
    """Both readers see the whole replay; returns the kinds of its records."""
    writer = start_replay(program, folder, capture, 1)
    segment = attach(folder, 'py')
    with open(folder / 'tail', 'w') as out:
        tail = subprocess.Popen([program, 'tail', 'py', '--directory', folder, '--events',
                                 '--json'], stdout=out, stderr=subprocess.PIPE, text=True)
        records = []
        assert read_to_end(segment, records) == CLOSED
        assert writer.wait(PATIENCE) == 0
        time.sleep(0.2)  # tail sleeps half a millisecond at a time
        tail.send_signal(signal.SIGTERM)
        said = tail.communicate(timeout=PATIENCE)[1]
        assert tail.returncode == 0 and '0 lost' in said, f'{tail.returncode}: {said}'
    ours = {record['sequence']: record for _, record in records}
    theirs = [json.loads(line, parse_float=decimal.Decimal)
              for line in (folder / 'tail').read_text().splitlines()]
    ring = [record for from_table, record in records if not from_table]
    assert segment.lost == 0
    assert segment.next == segment.published == segment.first + len(ring) + segment.skipped
    common = [record for record in theirs if record['sequence'] in ours]
    assert len(common) > 1000, f'{len(theirs)} of tail, {len(records)} ours'
    assert common[-1]['sequence'] == ring[-1]['sequence'] == segment.published - 1
    for record in common:
        assert record == ours[record['sequence']], f'\n{record}\n{ours[record["sequence"]]}'
    segment.close()
    return {record['kind'] for record in common}


# ---- checks

def check_every_record_is_the_one_that_tail_shows(program, folder):
    if platform.machine() != 'x86_64':
        e2e_tools.skip('plain loads are ordered on x86-64 alone')
    kinds = set()
    for feed in ('itch50', 'iex-deep'):
        kinds |= same_as_tail(program, folder, made(program, folder, feed))
    print(f'kinds: {", ".join(sorted(kinds))}')
    assert kinds >= {'snapshot', 'trade', 'order', 'status', 'system', 'directory'}, kinds


def check_a_late_join_has_no_hole_and_no_older_book(program, folder):
    writer = start_replay(program, folder, e2e_tools.SAMPLE, 20)
    early, records = attach(folder, 'py'), []
    while len(records) < 2000:
        polled = early.poll()
        if isinstance(polled, ring_reader.Record):
            records.append((polled.from_table, shown(early, polled)))
    late, later = ring_reader.Segment(folder, 'py'), []
    assert read_to_end(late, later) == CLOSED and read_to_end(early, records) == CLOSED
    assert writer.wait(PATIENCE) == 0
    table = [record for from_table, record in later if from_table]
    assert table and max(record['sequence'] for record in table) < late.published
    newest = {}
    for _, record in later:  # an instrument's books never go back
        if record['kind'] == 'snapshot':
            assert newest.get(record['instrument'], -1) < record['sequence'], record
            newest[record['instrument']] = record['sequence']
    seen = {record['sequence']: record for _, record in records}
    ring = {record['sequence'] for from_table, record in later if not from_table}
    assert len(ring) + late.skipped == late.published - late.first, 'a hole'
    assert all(record == seen[record['sequence']] for _, record in later
               if record['sequence'] in seen)
    early.close()
    late.close()


def check_a_lapped_reader_knows_what_it_lost(program, folder):
    writer = start_replay(program, folder, e2e_tools.SAMPLE, 20, slots=256)
    segment, records = attach(folder, 'py'), []
    assert read_to_end(segment, records, pause_after=500) == CLOSED
    assert writer.wait(PATIENCE) == 0
    assert segment.lost > segment.slots
    table = [record for from_table, record in records if from_table]
    assert len(table) > 1, 'the table was not read again'
    read = len(records) - len(table) + segment.skipped
    assert segment.first + read + segment.lost == segment.published, 'an account that is not exact'
    # The end is what the table says now.
    books = {record['instrument']: record for _, record in records if record['kind'] == 'snapshot'}
    final = json.loads(e2e_tools.run(program, 'tail', 'py', '--directory', folder, '--once',
                                     '--json').stdout, parse_float=decimal.Decimal)
    assert len(final) == len(books)
    for book in final:
        assert book['bids'] == books[book['instrument']]['bids'], book
        assert book['asks'] == books[book['instrument']]['asks'], book
    segment.close()


def check_a_killed_writer_is_dead_and_has_a_successor(program, folder):
    writer = start_replay(program, folder, e2e_tools.SAMPLE, 1)
    segment, records = attach(folder, 'py'), []
    while segment.published < 100:
        time.sleep(0.001)
    assert segment.writer_pid == writer.pid and segment.writer_lives()
    writer.kill()
    writer.wait(PATIENCE)
    assert read_to_end(segment, records) == DEAD
    assert segment.next == segment.published and records
    writer = start_replay(program, folder, e2e_tools.SAMPLE, 'max')
    assert writer.wait(PATIENCE) == 0
    successor = ring_reader.Segment(folder, 'py')
    assert successor.epoch > segment.epoch
    assert read_to_end(successor, []) == CLOSED


def check_what_is_no_segment_is_refused(program, folder):
    e2e_tools.run(program, 'replay', e2e_tools.SAMPLE, '-c', write_small(folder), '--publish', 'py')
    path = folder / 'wirebook.py'
    whole = path.read_bytes()
    wrongs = {'cut': whole[:-4096], 'no magic': bytes(8) + whole[8:], 'short': whole[:100],
              'abi': whole[:8] + b'\x63' + whole[9:], 'slots': whole[:40] + b'\x03' + whole[41:]}
    for what, data in wrongs.items():
        (folder / 'wirebook.wrong').write_bytes(data)
        try:
            ring_reader.Segment(folder, 'wrong')
        except ring_reader.SegmentError:
            continue
        raise AssertionError(f'{what}: accepted')


def write_small(folder):
    configuration = folder / 'small.toml'
    configuration.write_text(f'[publish]\ndirectory = "{folder}"\nslots = 64\n')
    return configuration


if __name__ == '__main__':
    sys.exit(e2e_tools.main(globals()))
