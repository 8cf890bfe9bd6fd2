#!/usr/bin/env python3
"""examples/top_of_book.cpp, built from the headers that pkg-config wirebook-ring ships and nothing
else, follows a replay, and the next one under the same name; `wirebook tail` shows the same books.

Usage: strategy_test.py WIREBOOK [COMPILER]; the repository is at $WIREBOOK_ROOT.
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
COMPILER = sys.argv[2] if len(sys.argv) > 2 else os.environ.get('CXX', 'g++')
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


def main():
    with tempfile.TemporaryDirectory(prefix='wirebook-strategy.', dir='/dev/shm') as name:
        folder = pathlib.Path(name)
        program = build_example(folder)
        configuration = folder / 'test.toml'
        configuration.write_text(f'[publish]\ndirectory = "{folder}"\nslots = 4096\n')
        said, printed = folder / 'err', folder / 'out'
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

        once = subprocess.run([WIREBOOK, 'tail', 'strategy', 'BAB', '--once', '--json', '--directory',
                               folder], check=True, capture_output=True, text=True).stdout
        books = json.loads(once)
        assert len(books) == 1 and books[0]['symbol'] == 'BAB' and books[0]['bids'], once
        best_bid = f"{books[0]['bids'][0][0]:.4f}"
        assert f' x {best_bid} ' in rows[-2], f'{best_bid} is not in {rows[-2]}'
        for arguments in ([], ['no-such-segment']):
            gone = subprocess.run([WIREBOOK, 'tail', *(arguments or ['strategy']), '--directory', folder],
                                  capture_output=True, text=True)
            assert gone.returncode == 2 and gone.stderr, gone
        print(f'{len(rows) - 1} rows; {rows[-1]}')


if __name__ == '__main__':
    main()
