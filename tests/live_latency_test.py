#!/usr/bin/env python3
"""The live latency bench measures every way of receiving that this machine has, and loses nothing.

    live_latency_test.py BUILD [CHECK...]

Skipped (exit status 77) where the build has no such bench, or network namespaces with veth are not
allowed. Only orders between figures are looked at: how long something takes is the machine's.
"""
import csv
import pathlib
import subprocess

from e2e_tools import main, run, skip

PARTS = ['sendto', 'receive', 'decode', 'book', 'place', 'take', 'published', 'read']
# io_uring may be switched off, and AF_XDP wants more of the kernel; the others are always there.
ALWAYS = {'blocking', 'epoll', 'busy_poll', 'busy_poll_napi', 'spinning', 'af_packet'}
PACKETS = 200


def bench(build, *arguments):
    program = pathlib.Path(build) / 'bench/live_latency'
    if not program.exists():
        skip('this build has no bench/live_latency')
    done = subprocess.run([program, '--packets', str(PACKETS), '--rounds', '1', *arguments],
                          capture_output=True, text=True, timeout=300, check=False)
    if done.returncode == 3:
        skip(done.stderr.strip())
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done


def check_every_way_is_measured(build, _):
    done = bench(build, '--csv')
    rows = list(csv.DictReader(done.stdout.splitlines()))
    found = {row['way'] for row in rows}
    assert found >= ALWAYS, (found, done.stderr)
    for way in found:
        own = {row['part']: {key: int(text) for key, text in row.items()
                             if key not in ('way', 'part')} for row in rows if row['way'] == way}
        assert list(own) == PARTS, (way, own)
        for part, row in own.items():
            assert row['count'] + row['lost'] == PACKETS, (way, part, row)
            assert row['lost'] <= PACKETS // 10, (way, part, row)
            assert row['min_ns'] <= row['p50_ns'] <= row['p99_ns'] <= row['p999_ns'], (way, row)
        for figure in ('min_ns', 'p50_ns', 'p99_ns'):
            assert 0 < own['published'][figure] < own['read'][figure], (way, figure, own)
        assert own['receive']['p50_ns'] <= own['published']['p50_ns'], (way, own)
        # No stage of the handler goes without its stamp.
        assert all(own[part]['p50_ns'] > 0 for part in ('decode', 'book', 'place')), (way, own)


def check_one_way_as_a_table(build, _):
    told = bench(build, '--only', 'af_packet').stdout
    lines = [line for line in told.splitlines() if line.startswith('af_packet')]
    assert len(lines) == 3 and 'not measured' not in told, told
    assert 'blocking' not in told, told


def check_wrong_usage(build, _):
    program = pathlib.Path(build) / 'bench/live_latency'
    if not program.exists():
        skip('this build has no bench/live_latency')
    for wrong in (['--only', 'none'], ['--packets', '1'], ['--fifo', '100']):
        told = subprocess.run([program, *wrong], capture_output=True, check=False)
        assert told.returncode not in (0, 3) and told.stderr, (wrong, told)


if __name__ == '__main__':
    main(globals())
