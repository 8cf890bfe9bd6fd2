#!/usr/bin/env python3
"""Every header compiles alone, with clang++ 14; with WIREBOOK_LONG (tests/run.sh --all) also with
g++, which compiles each of them as part of something in any case."""
import os
import shutil
import subprocess

from source_tree import Cache, arguments, headers, in_parallel, report, skip

FLAGS = ['-std=c++20', '-fsyntax-only', '-Wall', '-Wextra', '-Wpedantic', '-Wshadow',
         '-Wconversion', '-Wsign-conversion', '-Wold-style-cast', '-Wcast-align', '-Werror']
COMPILERS = ['clang++-14'] + (['g++'] if os.environ.get('WIREBOOK_LONG') else [])


def dpdk_flags():
    """None where DPDK is not installed."""
    try:
        listed = subprocess.run(['pkg-config', '--cflags', 'libdpdk'], capture_output=True,
                                text=True, check=True).stdout.split()
    except (OSError, subprocess.CalledProcessError):
        return None
    return ['-isystem' + flag[2:] if flag.startswith('-I') else flag for flag in listed
            if not flag.startswith('-march')]


def main():
    root, build = arguments()
    missing = [name for name in COMPILERS if shutil.which(name) is None]
    if missing:
        skip(f'{missing[0]} is not installed')
    cache, dpdk = Cache(root, build, 'headers'), dpdk_flags()

    def check(job):
        header, compiler = job
        flags = [compiler, *FLAGS, f'-I{root}/include']
        if 'dpdk' in header.relative_to(root).parts:
            if dpdk is None:
                return []
            flags += dpdk
        key = cache.key(header, flags)
        if cache.passed(key):
            return []
        done = subprocess.run([*flags, '-x', 'c++', '-'], input=f'#include "{header}"\n',
                              capture_output=True, text=True, check=False)
        if done.returncode == 0:
            cache.store(key)
            return []
        return [f'{header}: does not compile alone with {compiler}:\n{done.stderr}']

    jobs = [(header, compiler) for header in headers(root) for compiler in COMPILERS]
    report(sum(in_parallel(check, jobs), []))


if __name__ == '__main__':
    main()
