#!/usr/bin/env python3
"""Segments from the outside: `wirebook dump-segment` of living, dead, foreign and broken files, who
may read them, readers' lag, pid namespaces, and what the next start removes.

Usage: e2e_segment_test.py WIREBOOK [CHECK...]
"""
import contextlib
import fcntl
import json
import os
import pathlib
import random
import re
import shutil
import signal
import stat
import struct
import subprocess
import sys
import time

from e2e_tools import SAMPLE, main, run, skip

LONG = bool(os.environ.get('WIREBOOK_LONG'))
NOBODY = 65534


def config(folder, text=''):
    path = folder / 'segment.toml'
    path.write_text(f'[publish]\ndirectory = "{folder}"\nslots = 1024\n{text}[sizes]\ninstruments = 64\n')
    return path


def wait_until(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if result := condition():
            return result
        time.sleep(0.01)
    raise AssertionError(f'waited for {what} in vain')


def dump(program, *arguments, **options):
    return json.loads(run(program, 'dump-segment', *arguments, '--once', '--json', **options).stdout)


@contextlib.contextmanager
def publishing(program, folder, name='live', *, before=(), speed='0.01', text='', arguments=()):
    """A slow replay that publishes; ends with the block."""
    with open(folder / f'{name}.err', 'wb') as errors:
        process = subprocess.Popen([*before, program, 'replay', SAMPLE, '--speed', speed, '--publish', name,
                                    '-c', config(folder, text), *arguments],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
    try:
        def has_books():
            assert process.poll() is None, (folder / f'{name}.err').read_text()
            done = subprocess.run([program, 'dump-segment', name, '--json', '--directory', folder],
                                  capture_output=True, check=False)
            return done.returncode == 0 and json.loads(done.stdout)['health']['published'] > 0
        wait_until(has_books, 'the first book')
        yield process
    finally:
        process.kill()
        process.wait(timeout=60)


def published_sample(program, folder, text='depth = 10\norders = true\n'):
    """The file that a replay which has ended leaves."""
    run(program, 'replay', SAMPLE, '--publish', 'sample', '-c', config(folder, text))
    return folder / 'wirebook.sample'


# ---- what it shows

def check_a_living_and_a_dead_writer(program, folder):
    with publishing(program, folder) as writer:
        shown = dump(program, 'live', '--directory', folder)
        assert shown['writer']['pid'] == writer.pid, shown['writer']
        assert shown['health']['state'] == 'running' and shown['health']['alive'] is True
        assert shown['health']['heartbeat_age_ns'] is not None
        text = run(program, 'dump-segment', folder / 'wirebook.live').stdout.decode()
        assert f'process {writer.pid}, running' in text, text
        # Stopped, it still lives, but its heartbeat stands.
        writer.send_signal(signal.SIGSTOP)
        stopped = wait_until(lambda: (lambda d: d if d['health']['hangs'] else None)(
            dump(program, 'live', '--directory', folder)), 'the heartbeat to grow old')
        assert stopped['health']['alive'] is True
        writer.send_signal(signal.SIGCONT)
        wait_until(lambda: not dump(program, 'live', '--directory', folder)['health']['hangs'], 'its heartbeat')
        writer.kill()
        writer.wait(timeout=60)
        dead = dump(program, 'live', '--directory', folder)
        assert dead['health']['state'] == 'dead' and dead['health']['alive'] is False
        assert dead['health']['heartbeat_age_ns'] >= 0
        text = run(program, 'dump-segment', 'live', '--directory', folder).stdout.decode()
        assert 'has died without closing it' in text, text


def check_what_is_in_a_segment(program, folder):
    path = published_sample(program, folder)
    shown = dump(program, path)
    books = json.loads(run(program, 'tail', 'sample', '--once', '--json', '--directory', folder).stdout)
    assert shown['geometry'] == {'depth': 10, 'slots': 1024, 'instruments': 64, 'channels': 64}
    assert shown['sizes']['segment_bytes'] == path.stat().st_size
    assert shown['streams'] == 1 and shown['stream_names'] == ['orders']
    assert shown['health']['state'] == 'closed' and shown['health']['held'] == 1024
    assert shown['instrument_count'] == len(shown['instruments']) == 40
    assert {row['venue'] for row in shown['instruments']} == {1}
    in_rows = {row['symbol']: row['book'] for row in shown['instruments'] if row['book']}
    assert {b['symbol']: (b['bids'], b['asks'], b['sequence']) for b in books} == \
        {symbol: (b['bids'], b['asks'], b['sequence']) for symbol, b in in_rows.items()}
    in_rows = {row['symbol']: row['statistics'] for row in shown['instruments']}
    assert all(in_rows[b['symbol']] == b['statistics'] for b in books)
    assert sum(row['trades'] for row in in_rows.values()) > 0
    # Chosen ones; a copy, under whatever name, is as good.
    copy = folder / 'evidence.bin'
    shutil.copy(path, copy)
    some = dump(program, copy, 'BAB', 'NOSUCH')
    assert [row['symbol'] for row in some['instruments']] == ['BAB']
    done = run(program, 'dump-segment', copy, 'NOSUCH')
    assert b'has no instrument NOSUCH' in done.stderr
    plain = published_sample(program, folder, '')
    assert dump(program, plain)['streams'] == 0


def check_watch_gives_rates_and_readers_lag(program, folder):
    with publishing(program, folder, speed='2') as writer:
        tail = subprocess.Popen([program, 'tail', 'live', '--directory', folder], stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
        watch = subprocess.Popen([program, 'dump-segment', 'live', 'BAB', '--json', '--watch', '0.05',
                                  '--directory', folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            first = json.loads(watch.stdout.readline())
            assert first['health']['rate'] is None
            for _ in range(400):
                line = json.loads(watch.stdout.readline())
                if line['readers'] and line['health']['rate']:
                    break
            reader = line['readers'][0]
            assert reader['pid'] == tail.pid and reader['program'] == os.path.basename(program), reader
            assert reader['lag'] is not None and reader['lost'] == 0
            assert line['health']['rate'] > 0
            assert [row['symbol'] for row in line['instruments']] == ['BAB']
            # A stopped reader falls behind, a killed one is gone, and the writer goes on.
            tail.send_signal(signal.SIGSTOP)
            wait_until(lambda: dump(program, 'live', '--directory', folder)['readers'][0]['lag'] > 300,
                       'the stopped reader to fall behind')
            tail.kill()
            tail.wait(timeout=60)
            assert dump(program, 'live', '--directory', folder)['readers'] == []
            assert writer.poll() is None
        finally:
            tail.kill()
            watch.send_signal(signal.SIGTERM)
            assert watch.wait(timeout=60) == 0, watch.stderr.read()


def check_statistics_name_the_readers(program, folder):
    stats = folder / 'stats'
    with publishing(program, folder, arguments=['--stats', stats]) as writer:
        with subprocess.Popen([program, 'tail', 'live', '--directory', folder], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as tail:
            wait_until(lambda: dump(program, 'live', '--directory', folder)['readers'], 'the reader')
            writer.terminate()
            assert writer.wait(timeout=60) == 0
            tail.terminate()
    readers = json.loads(stats.read_text())['readers']
    assert [reader['pid'] for reader in readers] == [tail.pid], readers
    assert f'reader {tail.pid} (' in (folder / 'live.err').read_text()
    # The reader took its file along, and who publishes nothing has no such key.
    assert not list(folder.glob('*~reader*'))
    run(program, 'replay', SAMPLE, '--stats', stats)
    assert 'readers' not in json.loads(stats.read_text())


# ---- files that are no segment, or a broken one

def check_what_is_refused(program, folder):
    path = published_sample(program, folder)
    whole = path.read_bytes()

    def refused(text, *arguments, status=2):
        done = run(program, 'dump-segment', *arguments, status=status)
        assert text in done.stderr.decode() and not done.stdout, done

    refused('No such file', 'missing', '--directory', folder)
    refused('No such file', folder / 'missing')
    refused('is not a regular file', str(folder) + '/')
    (folder / 'text').write_bytes(b'x' * 10000)
    refused('is not a wirebook segment', folder / 'text')
    (folder / 'empty').touch()
    refused('too short', folder / 'empty')
    (folder / 'link').symlink_to(path)
    refused('is a symbolic link', folder / 'link')
    os.mkfifo(folder / 'fifo')
    refused('is not a regular file', folder / 'fifo')
    cut = folder / 'cut'
    cut.write_bytes(whole[:-4096])
    refused('it was cut', cut)
    other = folder / 'other'
    other.write_bytes(whole[:8] + struct.pack('<I', 77) + whole[12:])
    refused('ABI version 77', other)
    for name in ('../x', 'a b', 'a~b', '-x'):
        run(program, 'dump-segment', '--', name, status=2)
    if os.geteuid() == 0:
        folder.chmod(0o755)
        path.chmod(0o640)
        done = subprocess.run([program, 'dump-segment', path], capture_output=True, check=False, user=NOBODY,
                              group=NOBODY, extra_groups=[])
        assert done.returncode == 3 and b'publish.group' in done.stderr, done


def broken(whole, chance, n):
    data = bytearray(whole)
    for _ in range(chance.randint(1, 12)):
        at = chance.randrange(len(data) if n % 3 else 1024)
        if chance.random() < 0.5:
            data[at] = chance.randrange(256)
        else:
            at = at // 8 * 8
            data[at:at + 8] = (chance.getrandbits(64) >> chance.randrange(64)).to_bytes(8, 'little')
    return bytes(data if n % 8 else data[:chance.randrange(len(data))])


def hold_life_lock(descriptor):
    """The lock of a living writer: struct flock of 64-bit Linux."""
    lock = struct.pack('hhqqixxxx', fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, lock)


def check_broken_segments_do_no_harm(program, folder):
    """Exit status 0 or 2, never a signal; what is shown as JSON is JSON."""
    whole = published_sample(program, folder).read_bytes()
    seed = int(os.environ.get('WIREBOOK_SEED', random.SystemRandom().randrange(2**32)))
    print(f'WIREBOOK_SEED={seed}')
    chance = random.Random(seed)
    path = folder / 'wirebook.broken'
    shown, followed = 0, 0
    for n in range(1000 if LONG else 80):
        path.unlink(missing_ok=True)
        path.write_bytes(broken(whole, chance, n))
        done = run(program, 'dump-segment', path, '--json', status=(0, 2))
        if done.returncode == 0:
            shown += 1
            json.loads(done.stdout)
            run(program, 'dump-segment', 'broken', '--directory', folder)
            json.loads(run(program, 'tail', 'broken', '--once', '--json', '--directory', folder).stdout)
        if n % 8 != 1:
            continue
        # With somebody who looks like a living writer `tail` follows it until it is stopped.
        with open(path, 'r+b') as writer:
            writer.seek(392)  # state: running
            writer.write(bytes(8))
            writer.flush()
            hold_life_lock(writer.fileno())
            tail = subprocess.Popen([program, 'tail', 'broken', '--events', '--json', '--directory', folder],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(0.1)
            tail.terminate()
            assert tail.wait(timeout=60) in (0, 2, -signal.SIGTERM), tail.returncode
            followed += tail.returncode == 0
    assert shown > 10 and followed > 0, (shown, followed)


def check_an_iex_segment_says_venue_and_session(program, folder):
    made, capture, said = folder / 'deep.pcap', folder / 'capture', folder / 'tail.json'
    run(program, 'sim', '--feed', 'iex-deep', '--seed', '7', '--messages', '2000', '--pcap', made)
    os.mkfifo(capture)
    path = folder / 'wirebook.deep'
    replay = subprocess.Popen([program, 'replay', capture, '--publish', 'deep', '-c', config(folder), '--events',
                               folder / 'events.csv'], stderr=subprocess.DEVNULL)
    tail = None
    try:
        with open(capture, 'wb') as pipe, open(said, 'wb') as out:
            pipe.write(made.read_bytes()[:24])
            pipe.flush()
            wait_until(path.exists, 'the segment')
            tail = subprocess.Popen([program, 'tail', 'deep', '--events', '--json', '--directory', folder],
                                    stdout=out, stderr=subprocess.DEVNULL)
            maps = pathlib.Path(f'/proc/{tail.pid}/maps')
            wait_until(lambda: str(path) in maps.read_text(), 'the reader')
            pipe.write(made.read_bytes()[24:])
        assert replay.wait(timeout=60) == 0
        wait_until(lambda: b'"kind": "session"' in said.read_bytes(), 'the session')
    finally:
        for process in filter(None, (replay, tail)):
            process.terminate()
            process.wait(timeout=60)
    first = next(line for line in (folder / 'events.csv').read_text().splitlines() if ',session,' in line)
    session = re.search(r' id=(\d+/\d+)', first).group(1)
    told = [json.loads(line) for line in said.read_text().splitlines() if '"kind": "session"' in line]
    assert [record['session'] for record in told] == [session], (told, first)
    assert {row['venue'] for row in dump(program, path)['instruments']} == {3}


def check_a_foreign_file_under_the_name_is_refused_and_stays(program, folder):
    path = folder / 'wirebook.mine'
    path.write_text('not yours')
    said = run(program, 'replay', SAMPLE, '--publish', 'mine', '-c', config(folder), status=3).stderr.decode()
    assert str(path) in said and path.read_text() == 'not yours', said


# ---- whose it is

def check_owner_group_and_permissions(program, folder):
    path = folder / 'wirebook.access'

    def publish(*arguments, text='', **options):
        return run(program, 'replay', SAMPLE, '--publish', 'access', '-c', config(folder, text), *arguments,
                   **options)

    publish(text='permissions = "0600"\n')
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    publish('--permissions', '0644', text='permissions = "0600"\n')
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    before = path.stat()
    for key, word in (('owner', 'user'), ('group', 'group')):
        done = publish(text=f'{key} = "no-such-name"\n', status=2)
        assert f"there is no {word} 'no-such-name'" in done.stderr.decode(), done.stderr
        assert publish(f'--{key}', 'no-such-name', status=2)
    publish('--permissions', '0666', status=2)
    publish('--owner', '', status=2)
    run(program, 'replay', SAMPLE, '--group', '0', status=2)
    assert path.stat().st_ino == before.st_ino, 'a start that was refused has replaced the segment'
    if os.geteuid() != 0:
        skip('needs root to give files away')
    publish(text='owner = "nobody"\ngroup = "65534"\n')
    assert (path.stat().st_uid, path.stat().st_gid) == (NOBODY, NOBODY)
    publish('--owner', '12345', text='owner = "nobody"\n')
    assert path.stat().st_uid == 12345
    # One who is not root cannot give it away: exit status 3, and nothing is left of the attempt.
    path.unlink()
    folder.chmod(0o777)
    done = publish('--owner', '0', status=3, user=NOBODY, group=NOBODY, extra_groups=[])
    assert b'give ' in done.stderr and b'user 0' in done.stderr, done.stderr
    assert not list(folder.glob('*wirebook.access*'))


# ---- death

def check_the_next_handler_removes_what_a_killed_one_left(program, folder):
    with publishing(program, folder, 'killed') as writer:
        writer.kill()
        writer.wait(timeout=60)
    assert (folder / 'wirebook.killed').exists()
    assert dump(program, 'killed', '--directory', folder)['health']['state'] == 'dead'
    (folder / '.wirebook.killed~1').write_bytes(struct.pack('<5I', 0, 0, 2, 0x01020304, 4096))
    run(program, 'replay', SAMPLE, '--publish', 'closed', '-c', config(folder))
    done = run(program, 'replay', SAMPLE, '--publish', 'next', '-c', config(folder))
    assert not (folder / 'wirebook.killed').exists() and not (folder / '.wirebook.killed~1').exists()
    assert (folder / 'wirebook.closed').exists(), 'a closed segment keeps its last books'
    assert b'removed' not in done.stderr


def check_pid_namespaces(program, folder):
    """Liveness goes by locks, which know no namespaces; a pid is the writer's own."""
    apart = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc']
    try:
        subprocess.run([*apart, 'true'], check=True, capture_output=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        skip('unshare --pid --mount-proc is not allowed here')
    with publishing(program, folder, before=apart) as writer:
        shown = dump(program, 'live', '--directory', folder)
        assert shown['health']['alive'] is True
        assert shown['writer']['pid'] != writer.pid and shown['writer']['pid'] < 10, shown['writer']
        second = run(program, 'replay', SAMPLE, '--publish', 'live', '-c', config(folder), status=3)
        assert f'process {shown["writer"]["pid"]} ' in second.stderr.decode(), second.stderr
        # From yet another one.
        done = run(*apart, program, 'dump-segment', 'live', '--directory', folder, '--json')
        assert json.loads(done.stdout)['health']['alive'] is True
        # A start inside another namespace cleans up, and spares it too.
        run(*apart, program, 'replay', SAMPLE, '--publish', 'other', '-c', config(folder))
        assert dump(program, 'live', '--directory', folder)['health']['alive'] is True
        writer.kill()
        writer.wait(timeout=60)
        wait_until(lambda: not dump(program, 'live', '--directory', folder)['health']['alive'], 'its death')


if __name__ == '__main__':
    sys.exit(main(globals()))
