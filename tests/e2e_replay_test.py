#!/usr/bin/env python3
"""How `wirebook replay` behaves on its command line: exit statuses, what goes to stdout, inputs of
every kind, pace, outputs after a signal.

    e2e_replay_test.py WIREBOOK [CHECK...]
"""
import gzip
import itertools
import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import threading
import time

from e2e_tools import (ROOT, SAMPLE, add, delete, digits, fingerprint, itch, main, mold, read_pcap, rows,
                       run, stats, system, trading, write_pcap)

CORPUS = ROOT / 'tests/corpus/io'


def check_strict(program, folder):
    clean = [mold(1, [system('Q'), trading('T'), add(1, 'B', 100, 1000), add(2, 'S', 50, 1001)])]
    faults = {
        'gap': clean + [mold(9, [delete(1)])],
        'crossed': clean + [mold(5, [add(3, 'B', 1, 1002)])],
        'unknown_orders': clean + [mold(5, [delete(77)])],
        'decode_errors': clean + [mold(5, [delete(1)[:10]])],
    }
    run(program, 'replay', '--strict', write_pcap(folder / 'clean.pcap', clean))
    for name, payloads in faults.items():
        capture = write_pcap(folder / f'{name}.pcap', payloads)
        run(program, 'replay', '--strict', capture, status=1)
        run(program, 'replay', capture, '--strict', '--stats', '/dev/null', status=1)
        found = stats(program, capture)
        assert found['gaps' if name == 'gap' else name] == 1, found
    # Equal prices, or not in continuous trading, is not crossed.
    locked = clean + [mold(5, [add(3, 'B', 1, 1001)]), mold(6, [trading('H'), add(4, 'B', 1, 1005)])]
    run(program, 'replay', '--strict', write_pcap(folder / 'locked.pcap', locked))


def check_stdout_carries_only_what_was_asked(program, folder):
    assert run(program, 'replay', SAMPLE).stdout == b''
    digits(run(program, 'replay', SAMPLE, '--fingerprint'))
    for option, first in (('--top', b'packet,seq,'), ('--final', b'symbol,side,'),
                          ('--messages', b'{"seq"'), ('--events', b'packet,seq,'), ('--stats', b'{')):
        done = run(program, 'replay', SAMPLE, option, '-')
        run(program, 'replay', SAMPLE, option, folder / 'file')
        assert done.stdout.startswith(first), done.stdout[:80]
        if option != '--stats':
            assert done.stdout == (folder / 'file').read_bytes()
    run(program, 'replay', SAMPLE, '--top', '-', '--final', '-', status=2)
    # With --stats the fingerprint is only the key.
    done = run(program, 'replay', SAMPLE, '--fingerprint', '--stats', folder / 'stats.json')
    assert done.stdout == b''
    key = json.loads((folder / 'stats.json').read_text())['fingerprint']
    assert key == fingerprint(program, SAMPLE)


def check_options_after_and_before_files(program, folder):
    before = run(program, 'replay', '--gap-wait', '0', '--top', '-', SAMPLE).stdout
    after = run(program, 'replay', SAMPLE, '--top', '-', '--gap-wait', '0').stdout
    between = run(program, 'replay', '--top', '-', SAMPLE, '--gap-wait', '0').stdout
    assert before == after == between


def check_wrong_usage(program, folder):
    nothing = folder / 'nothing'
    text = folder / 'text'
    text.write_text('a text that is no capture\n' * 10)
    for arguments in ([], [nothing], [SAMPLE, '--no-such'], [SAMPLE, '--speed', '0'], [text],
                      [SAMPLE, '--speed', 'fast'], [SAMPLE, '--feed', 'itch40'],
                      [SAMPLE, '--gap-wait', '-1'], [SAMPLE, '-c', nothing], [folder],
                      [SAMPLE, '--lines', f'{SAMPLE},{SAMPLE}'],
                      [SAMPLE, '--top', nothing / 'deeper']):
        done = run(program, 'replay', *arguments, status=2)
        assert done.stderr.startswith(b'wirebook') and done.stdout == b'', (arguments, done.stderr)


def check_stdin_and_pipe(program, folder):
    wanted = fingerprint(program, SAMPLE)
    data = SAMPLE.read_bytes()
    assert fingerprint(program, '-', input=data) == wanted
    assert fingerprint(program, '-', input=gzip.compress(data)) == wanted
    fifo = folder / 'fifo'
    os.mkfifo(fifo)
    writer = threading.Thread(target=lambda: fifo.write_bytes(data))
    writer.start()
    assert fingerprint(program, fifo) == wanted
    writer.join()


def check_compressed(program, folder):
    packed = folder / 'named-otherwise.pcap'
    packed.write_bytes(gzip.compress(SAMPLE.read_bytes()))
    assert fingerprint(program, packed) == fingerprint(program, SAMPLE)
    plain = fingerprint(program, CORPUS / 'ns.pcap')
    for name in ('ns.pcap.gz', 'ns.pcap.zst'):
        assert fingerprint(program, CORPUS / name) == plain, name


def check_lines(program, folder):
    header, records = read_pcap(SAMPLE)
    line_a = [r for i, r in enumerate(records) if i % 7 != 3]
    line_b = [r for i, r in enumerate(records) if i % 5 != 2 or i % 7 == 3]
    for name, line in (('a', line_a), ('b', line_b)):
        (folder / name).write_bytes(header + b''.join(line))
    lines = f'{folder / "a"},{folder / "b"}'
    assert fingerprint(program, '--lines', lines) == fingerprint(program, SAMPLE)
    found = stats(program, '--lines', lines)
    assert found['gaps'] == 0 and found['messages'] == 30000, found
    assert found['duplicate_packets'] > 0 and found['packets'] == len(line_a) + len(line_b)
    assert stats(program, folder / 'a')['gaps'] > 0


def check_many_files(program, folder):
    header, records = read_pcap(SAMPLE)
    parts = []
    for first in range(0, len(records), 60):
        parts.append(folder / f'part-{first:05}')
        parts[-1].write_bytes(header + b''.join(records[first:first + 60]))
    assert len(parts) > 64
    wanted = fingerprint(program, SAMPLE)
    assert fingerprint(program, *parts) == wanted
    assert fingerprint(program, *reversed(parts)) == wanted  # merged by time
    # BinaryFILEs are channels of their own; beyond the limit they are counted, not processed.
    messages = [system('O'), add(1, 'B', 100, 1000)]
    data = b''.join(struct.pack('>H', len(m)) + m for m in messages)
    files = []
    for i in range(1030):
        files.append(folder / f'binary-{i}')
        files[-1].write_bytes(data)
    found = stats(program, *files)
    assert found['packets'] == 2060 and found['drops']['no_channel'] == 2 * (1030 - 1024), found


def check_gap_wait(program, folder):
    capture = write_pcap(folder / 'swapped.pcap', [
        mold(1, [add(1, 'B', 100, 1000)]), mold(3, [add(3, 'B', 100, 1000)]),
        mold(2, [add(2, 'B', 100, 1000)])], step_ns=100_000)
    found = stats(program, capture)
    assert (found['gaps'], found['gaps_filled'], found['messages']) == (0, 1, 3), found
    for wait in ('0', '100'):  # the hole ends before a record at its very end
        found = stats(program, capture, '--gap-wait', wait)
        assert (found['gaps'], found['duplicates'], found['messages']) == (1, 1, 2), found
    assert stats(program, capture, '--gap-wait', '101')['gaps'] == 0


def check_speed(program, folder):
    capture = write_pcap(folder / 'slow.pcap',
                         [mold(i + 1, [add(i + 1, 'B', 1, 1000 + i)]) for i in range(41)],
                         step_ns=100_000_000)  # 4 s
    began = time.monotonic()
    paced = stats(program, capture, '--speed', '20')
    elapsed = time.monotonic() - began
    assert elapsed >= 0.199 and paced['wall_seconds'] >= 0.199, (elapsed, paced['wall_seconds'])
    assert paced['ns_per_message'] is None
    assert fingerprint(program, capture, '--speed', '20') == fingerprint(program, capture)


def check_corrupt_file(program, folder):
    header, records = read_pcap(SAMPLE)
    broken = folder / 'broken.pcap'
    wrong = struct.pack('<IIII', 0, 0, 0x7FFFFFFF, 0x7FFFFFFF)
    broken.write_bytes(header + b''.join(records[:500]) + wrong + b''.join(records[500:]))
    done = run(program, 'replay', broken, '--top', folder / 'top', '--stats', folder / 'stats',
               '--final', folder / 'final', status=2)
    assert b'broken.pcap' in done.stderr, done.stderr
    assert str(24 + sum(map(len, records[:500]))).encode() in done.stderr, done.stderr
    assert json.loads((folder / 'stats').read_text())['packets'] == 500
    whole = folder / 'whole.pcap'
    whole.write_bytes(header + b''.join(records[:500]))
    run(program, 'replay', whole, '--top', folder / 'top2', '--final', folder / 'final2')
    assert (folder / 'top').read_bytes() == (folder / 'top2').read_bytes()
    assert (folder / 'final').read_bytes() == (folder / 'final2').read_bytes()
    # Cut in a record: done, and said.
    cut = folder / 'cut.pcap'
    cut.write_bytes(SAMPLE.read_bytes()[:-10])
    assert b'cut.pcap' in run(program, 'replay', cut).stderr


def check_ns_per_message(program, folder):
    assert stats(program, SAMPLE)['ns_per_message'] > 0
    assert stats(program, SAMPLE)['fingerprint'] is None
    packed = folder / 'sample.gz'
    packed.write_bytes(gzip.compress(SAMPLE.read_bytes()))
    for arguments in ([SAMPLE, '--fingerprint'], [SAMPLE, '--top', '/dev/null'], [packed],
                      [SAMPLE, '--speed', '100000']):
        assert stats(program, *arguments)['ns_per_message'] is None, arguments
    published = stats(program, SAMPLE, '--publish', segment(folder, 'ns'), '-c', config(folder))
    assert published['ns_per_message'] > 0 and published['snapshots'] > 0


# ---- publishing

def config(folder, text=''):
    path = folder / 'test.toml'
    path.write_text(f'[publish]\ndirectory = "{folder}"\nslots = 4096\n{text}')
    return path


def segment(folder, name):
    return f'{name}-{folder.name.split(".")[-1]}'


def check_fingerprint_is_the_same_whatever_is_published(program, folder):
    wanted = fingerprint(program, SAMPLE)
    assert fingerprint(program, SAMPLE, '--speed', '1000') == wanted
    for text in ('depth = 1\n', 'depth = 20\nmode = "touched"\n'):
        assert fingerprint(program, SAMPLE, '--publish', segment(folder, 'fp'), '-c',
                           config(folder, text)) == wanted
    # Another configuration of what the books hold is another fingerprint.
    some = folder / 'some.toml'
    some.write_text('[[channel]]\nname = "some"\nfeed = "itch50"\nsymbols = ["BAB"]\n')
    assert fingerprint(program, SAMPLE, '-c', some) != wanted


def check_tail_shows_the_final_books(program, folder):
    name = segment(folder, 'tail')
    done = run(program, 'replay', SAMPLE, '--publish', name, '-c', config(folder), '--final', '-')
    best = {}
    for row in rows(done.stdout.decode()):
        levels = best.setdefault(row['symbol'], {'B': [], 'S': []})[row['side']]
        if len(levels) < 5:
            levels.append([float(row['price']), int(row['qty']), int(row['orders'])])
    said = run(program, 'tail', name, '--once', '--json', '--directory', folder).stdout
    books = json.loads(said)
    shown = {book['symbol']: {'B': book['bids'], 'S': book['asks']} for book in books
             if book['bids'] or book['asks']}
    assert shown == best and len(best) == 40, set(shown) ^ set(best)


def wait_until(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError(f'waited for {what} in vain')


class OrderClient:
    """Queues by symbol, side and price, from the order stream alone; checks each place told."""

    def __init__(self):
        self.queues = {}
        self.prices = {}

    def join(self, record, order):
        key = record['symbol'], record['side'], record['price']
        queue = self.queues.setdefault(key, {})
        assert record['orders_ahead'] == len(queue), record
        assert record['quantity_ahead'] == sum(queue.values()), record
        queue[order] = record['quantity']
        self.prices[order] = key

    def take(self, record):
        order = record['order']
        if record['action'] == 'add':
            return self.join(record, order)
        key = self.prices[order]
        queue = self.queues[key]
        if record['action'] != 'replace':
            ahead = list(itertools.takewhile(lambda held: held != order, queue))
            assert record['orders_ahead'] == len(ahead), record
            assert record['quantity_ahead'] == sum(queue[held] for held in ahead), record
            assert queue[order] == record['quantity'] + record['left'], record
            queue[order] = record['left']
        if record['action'] == 'replace' or record['left'] == 0:
            del queue[order], self.prices[order]
        if record['action'] == 'replace':
            self.join(record, record['new_order'])

    def books(self):
        return {key: (sum(queue.values()), len(queue)) for key, queue in self.queues.items() if queue}


def times_asleep(pid):
    status = pathlib.Path(f'/proc/{pid}/status').read_text()
    return int(re.search(r'^voluntary_ctxt_switches:\s+(\d+)', status, re.M)[1])


def check_the_order_stream_alone_gives_the_books(program, folder):
    name, capture = segment(folder, 'orders'), folder / 'capture'
    os.mkfifo(capture)
    options = folder / 'orders.toml'
    options.write_text(f'[publish]\ndirectory = "{folder}"\nslots = 262144\norders = true\n')
    path, said = folder / f'wirebook.{name}', folder / 'tail.json'
    replay = subprocess.Popen([program, 'replay', capture, '--publish', name, '-c', options, '--final',
                               folder / 'final.csv'], stderr=subprocess.DEVNULL)
    tail = None
    try:
        # The file's header makes the segment; the rest waits until the reader polls, which is when it
        # goes to sleep again and again: it misses nothing.
        with open(capture, 'wb') as pipe, open(said, 'wb') as out:
            pipe.write(SAMPLE.read_bytes()[:24])
            pipe.flush()
            wait_until(path.exists, 'the segment')
            tail = subprocess.Popen([program, 'tail', name, '--events', '--json', '--directory', folder],
                                    stdout=out, stderr=subprocess.DEVNULL)
            maps = pathlib.Path(f'/proc/{tail.pid}/maps')
            wait_until(lambda: str(path) in maps.read_text(), 'the reader')
            asleep = times_asleep(tail.pid)
            wait_until(lambda: times_asleep(tail.pid) > asleep + 20, 'the reader to poll')
            pipe.write(SAMPLE.read_bytes()[24:])
        assert replay.wait(timeout=60) == 0
        wait_until(lambda: b'"kind": "system"' in said.read_bytes()[-4096:], 'the last event')
    finally:
        for process in filter(None, (replay, tail)):
            process.terminate()
            process.wait(timeout=60)
    client = OrderClient()
    records = [json.loads(line) for line in (folder / 'tail.json').read_text().splitlines()]
    orders = [record for record in records if record['kind'] == 'order']
    for record in orders:
        client.take(record)
    side = {'B': 'bid', 'S': 'ask'}
    final = {(row['symbol'], side[row['side']], float(row['price'])): (int(row['qty']), int(row['orders']))
             for row in rows((folder / 'final.csv').read_text())}
    assert client.books() == final, set(client.books()) ^ set(final)
    assert {record['action'] for record in orders} == {'add', 'execute', 'reduce', 'remove', 'replace'}
    assert len(orders) > 25_000


def start_slow_replay(program, folder, *arguments):
    with open(folder / 'stderr', 'wb') as errors:
        return subprocess.Popen([program, 'replay', SAMPLE, '--speed', '0.01', *map(str, arguments)],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors)


def check_second_writer(program, folder):
    name = segment(folder, 'two')
    with start_slow_replay(program, folder, '--publish', name, '-c', config(folder)) as first:
        try:
            wait_until(lambda: (folder / f'wirebook.{name}').exists(), 'the segment')
            wait_until(lambda: b'segment' in (folder / 'stderr').read_bytes(), 'the notice')
            second = run(program, 'replay', SAMPLE, '--publish', name, '-c', config(folder), status=3)
            assert str(first.pid).encode() in second.stderr, second.stderr
        finally:
            first.terminate()
            assert first.wait(timeout=60) == 0
    run(program, 'replay', SAMPLE, '--publish', name, '-c', config(folder))


def check_signal_ends_a_paced_replay_with_whole_outputs(program, folder):
    outputs = {name: folder / name for name in ('top', 'final', 'messages', 'events', 'stats')}
    arguments = [part for name, path in outputs.items() for part in (f'--{name}', path)]
    for number in (signal.SIGTERM, signal.SIGINT):
        for path in outputs.values():
            path.unlink(missing_ok=True)
        name = segment(folder, f'signal{number}')
        with start_slow_replay(program, folder, '--publish', name, '-c', config(folder),
                               *arguments) as replay:
            def published():
                done = subprocess.run([program, 'tail', name, '--once', '--json', '--directory',
                                       folder], capture_output=True, check=False)
                return done.returncode == 0 and done.stdout.strip() not in (b'', b'[]', b'[\n]')
            wait_until(published, 'the first book')
            replay.send_signal(number)
            assert replay.wait(timeout=60) == 0, (folder / 'stderr').read_text()
        found = json.loads(outputs['stats'].read_text())
        assert 0 < found['messages'] < 30000, found
        for path in outputs.values():
            assert path.read_bytes().endswith(b'\n'), path
        messages = outputs['messages'].read_text().splitlines()
        assert len([json.loads(line) for line in messages]) == found['messages']
        for row in rows(outputs['top'].read_text()):
            assert None not in row.values(), row
        assert rows(outputs['final'].read_text())


def check_odd_symbols_stay_whole(program, folder):
    capture = write_pcap(folder / 'odd.pcap', [mold(1, [add(1, 'B', 100, 1000, stock='A\0B'),
                                                       add(2, 'B', 100, 1000, 2, stock='A\0C')])])
    top, final = folder / 'top', folder / 'final'
    run(program, 'replay', capture, '--top', top, '--final', final)
    for path in (top, final):
        assert b'A\0B,' in path.read_bytes() and b'A\0C,' in path.read_bytes(), path.read_bytes()


def check_breaks_of_unknown_trades_are_counted(program, folder):
    capture = write_pcap(folder / 'break.pcap', [mold(1, [itch('B', 1, (77).to_bytes(8, 'big'))])])
    found = stats(program, capture, '-c', config(folder), '--publish', segment(folder, 'broken'))
    assert (found['unknown_breaks'], found['unrepresentable']) == (1, 0), found


def check_binaryfile_with_a_configuration_that_names_groups(program, folder):
    data = b''.join(struct.pack('>H', len(m)) + m
                    for m in (add(1, 'B', 100, 1000), add(2, 'B', 100, 1000, 2, stock='OTHER')))
    (folder / 'day.itch').write_bytes(data)
    (folder / 'groups.toml').write_text('[[channel]]\nname = "mine"\nfeed = "itch50"\n'
                                        'lines = [{ group = "233.54.12.1:20001" }]\n'
                                        'symbols = ["OTHER"]\n')
    done = run(program, 'replay', folder / 'day.itch', '-c', folder / 'groups.toml', '--final', '-')
    assert [row['symbol'] for row in rows(done.stdout.decode())] == ['OTHER'], done.stdout


def check_samples_fit_any_day(program, folder):
    for path in sorted((ROOT / 'dpdk-config/samples').glob('*.toml')):
        text = path.read_text()
        assert not [line for line in text.splitlines() if line.startswith('date')], path
    sample = ROOT / 'dpdk-config/samples/replay.toml'
    assert stats(program, SAMPLE, '-c', sample)['packets'] > 0


if __name__ == '__main__':
    sys.exit(main(globals()))
