#!/usr/bin/env python3
"""Runs a libFuzzer program for some seconds, from a corpus that it may not write to.

usage: fuzz_run.py PROGRAM CORPUS        $WIREBOOK_FUZZ_SECONDS: how long (default 10)

What it finds new is kept beside the program, in PROGRAM.found, and used the next time. An input
that breaks it is written there as well, and named: copy it to CORPUS once it is mended.
"""
import os
import pathlib
import subprocess
import sys


def main():
    program, corpus = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    found = program.with_suffix('.found')
    found.mkdir(exist_ok=True)
    done = subprocess.run([program, f'-max_total_time={os.environ.get("WIREBOOK_FUZZ_SECONDS", 10)}',
                           '-timeout=10', '-rss_limit_mb=2048', '-print_final_stats=1',
                           f'-artifact_prefix={found}/', found, corpus],
                          check=False)
    sys.exit(done.returncode)


if __name__ == '__main__':
    main()
