#!/usr/bin/env python3
"""examples/top_of_book.cpp, built from the headers that pkg-config wirebook-ring ships and nothing
else, and examples/reader.c, built with libwirebook, follow a replay, and the next one under the
same name; `wirebook tail` shows the same books.

Usage: strategy_test.py WIREBOOK LIBRARY [COMPILER]; the repository is at $WIREBOOK_ROOT.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

WIREBOOK = sys.argv[1]
LIBRARY = pathlib.Path(sys.argv[2]).resolve()
COMPILER = sys.argv[3] if len(sys.argv) > 3 else os.environ.get('CXX', 'g++')
ROOT = pathlib.Path(os.environ.get('WIREBOOK_ROOT', '.')).resolve()
CAPTURE = ROOT / 'pcap/itch-sample.pcap'
SHIPPED = ['ring', 'core/base.hpp', 'core/result.hpp', 'core/clock.hpp']


def build_example(folder):
    headers = folder / 'include/wirebook'
    (headers / 'core').mkdir(parents=True)
    for name in SHIPPED:
        source = ROOT / 'include/wirebook' / name
        if source.is_dir():
            shutil.copytree(source, headers / name)
        else:
            shutil.copy(source, headers / name)
    program = folder / 'top_of_book'
    subprocess.run([COMPILER, '-std=c++20', '-O2', '-Wall', '-Wextra', '-Werror', f'-I{folder}/include',
                    ROOT / 'examples/top_of_book.cpp', '-o', program], check=True)
    return program


def build_c_example(folder):
    program = folder / 'reader'
    subprocess.run(['gcc', '-std=c11', '-O2', '-Wall', '-Wextra', '-pedantic', '-Werror',
                    f'-I{ROOT}/include', ROOT / 'examples/reader.c', LIBRARY,
                    f'-Wl,-rpath,{LIBRARY.parent}', '-o', program], check=True)
    return program


def replay(folder, configuration):
    subprocess.run([WIREBOOK, 'replay', CAPTURE, '-c', configuration, '--publish', 'strategy',
                    '--speed', '50'], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def wait_for(path, text, seconds=60):
    """Until the file holds the text. Waiting is not measuring: the limit only ends a hang."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if text in path.read_text():
            return
        time.sleep(0.02)
    raise AssertionError(f'no {text!r} in:\n{path.read_text()}')


def follow_two_writers(program, folder, configuration):
    """What the program printed of two replays, but its summary, which is checked."""
    said, printed = folder / f'{program.name}.err', folder / f'{program.name}.out'
    with open(said, 'w') as err, open(printed, 'w') as out:
        strategy = subprocess.Popen([program, 'strategy', 'BAB', '--directory', folder, '--latency'],
                                    stdout=out, stderr=err)
        try:
            wait_for(said, 'waiting for the segment')
            replay(folder, configuration)
            wait_for(said, 'the writer has gone')
            first = printed.read_text()
            replay(folder, configuration)
            wait_for(said, 'attached to the next writer')
            # The second death is noticed too, and with it everything has been read.
            end = time.monotonic() + 60
            while said.read_text().count('the writer has gone') < 2 and time.monotonic() < end:
                time.sleep(0.02)
        finally:
            strategy.send_signal(signal.SIGTERM)
            status = strategy.wait(timeout=60)
    rows = printed.read_text().splitlines()
    assert status == 0, f'exit {status}: {said.read_text()}'
    assert first.startswith('BAB'), 'nothing of the first replay was printed'
    summary = re.fullmatch(r'records=(\d+) lost=(\d+)( \w+_p\d+_ns=\d+){6}', rows[-1])
    assert summary, rows[-1]
    assert len(rows) - 1 > len(first.splitlines()), 'nothing of the second replay was printed'
    print(f'{program.name}: {len(rows) - 1} rows; {rows[-1]}')
    return rows[:-1]


def check_against_tail(rows, folder):
    once = subprocess.run([WIREBOOK, 'tail', 'strategy', 'BAB', '--once', '--json', '--directory',
                           folder], check=True, capture_output=True, text=True).stdout
    books = json.loads(once)
    assert len(books) == 1 and books[0]['symbol'] == 'BAB' and books[0]['bids'], once
    best_bid = f"{books[0]['bids'][0][0]:.4f}"
    assert f' x {best_bid} ' in rows[-1], f'{best_bid} is not in {rows[-1]}'
    for arguments in ([], ['no-such-segment']):
        gone = subprocess.run([WIREBOOK, 'tail', *(arguments or ['strategy']), '--directory', folder],
                              capture_output=True, text=True)
        assert gone.returncode == 2 and gone.stderr, gone


def main():
    for build in (build_example, build_c_example):
        with tempfile.TemporaryDirectory(prefix='wirebook-strategy.', dir='/dev/shm') as name:
            folder = pathlib.Path(name)
            program = build(folder)
            configuration = folder / 'test.toml'
            configuration.write_text(f'[publish]\ndirectory = "{folder}"\nslots = 4096\n')
            rows = follow_two_writers(program, folder, configuration)
            books = [row for row in rows if ' trade ' not in row]
            check_against_tail(books, folder)
            for arguments in ([], ['--no-such-option'], ['../x', '--count', '1']):
                wrong = subprocess.run([program, *arguments], capture_output=True, text=True)
                assert wrong.returncode == 2 and wrong.stderr, wrong


if __name__ == '__main__':
    main()
