#!/usr/bin/env python3
"""examples/imbalance.cpp, built from the headers that pkg-config wirebook-ring ships and nothing
else, gives signals and latencies over a replay, and says what is wrong with its arguments.

Usage: imbalance_test.py WIREBOOK; the repository is at $WIREBOOK_ROOT.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

WIREBOOK = sys.argv[1]
COMPILER = os.environ.get('CXX', 'g++')
ROOT = pathlib.Path(os.environ.get('WIREBOOK_ROOT', '.')).resolve()
CAPTURE = ROOT / 'pcap/itch-sample.pcap'
SHIPPED = ['ring', 'core/base.hpp', 'core/result.hpp', 'core/clock.hpp', 'core/histogram.hpp']
SUMMARY = re.compile(r'signals=(\d+) trades=(\d+) crossings=(\d+) lost=(\d+) p50_ns=(\d+) '
                     r'p99_ns=(\d+) p999_ns=(\d+) max_ns=(\d+)')


def build_example(folder):
    headers = folder / 'include/wirebook'
    (headers / 'core').mkdir(parents=True)
    for name in SHIPPED:
        source = ROOT / 'include/wirebook' / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, headers / name)
    program = folder / 'imbalance'
    subprocess.run([*COMPILER.split(), '-std=c++20', '-O2', '-Wall', '-Wextra', '-Werror',
                    f'-I{folder}/include', ROOT / 'examples/imbalance.cpp', '-o', program], check=True)
    return program


def refuses(program, arguments, text):
    done = subprocess.run([program, *arguments], capture_output=True, text=True)
    assert done.returncode == 2 and text in done.stderr, done


def main():
    with tempfile.TemporaryDirectory(prefix='wirebook-imbalance.', dir='/dev/shm') as name:
        folder = pathlib.Path(name)
        program = build_example(folder)
        refuses(program, [], 'which segment?')
        refuses(program, ['x', '--no-such'], 'unknown option')
        refuses(program, ['x', 'A\\'], "'A\\' ends with a \\")
        refuses(program, ['x', '--wait', '0', '--directory', folder], 'attach')

        configuration = folder / 'test.toml'
        configuration.write_text(f'[publish]\ndirectory = "{folder}"\n')
        common = ['strategy', '--directory', folder, '--until-end', '--wait', '60']
        strategies = [subprocess.Popen([program, *common, *more], stdout=subprocess.PIPE, text=True)
                      for more in (['B*', '--threshold', '0.2'], ['NOSUCH', '--quiet'])]
        try:
            subprocess.run([WIREBOOK, 'replay', CAPTURE, '-c', configuration, '--publish', 'strategy',
                            '--speed', '20'], check=True, stderr=subprocess.DEVNULL)
            printed = [strategy.communicate(timeout=60)[0].splitlines() for strategy in strategies]
        finally:
            for strategy in strategies:
                strategy.kill()
        assert [strategy.returncode for strategy in strategies] == [0, 0]
        signals, trades, crossings, lost, *ns = map(int, SUMMARY.fullmatch(printed[0][-1]).groups())
        assert signals >= crossings > 0 and trades > 0 and lost == 0 and ns == sorted(ns), printed[0][-1]
        rows = printed[0][:-1]
        assert len(rows) == crossings
        assert all(re.fullmatch(r'B\S* +[-+][01]\.\d{3}', row) for row in rows), rows[:5]
        nothing = SUMMARY.fullmatch(printed[1][-1]).groups()
        assert len(printed[1]) == 1 and nothing[:3] == ('0', '0', '0'), printed[1]
        print(printed[0][-1])


if __name__ == '__main__':
    main()
