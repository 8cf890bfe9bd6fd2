#!/usr/bin/env python3
"""What `meson install` leaves is enough for others: a strategy builds through `pkg-config
wirebook-ring` alone, one in C through `pkg-config wirebook-c`, a program with a receive path of its
own through `pkg-config wirebook`.

usage: install_test.py ROOT BUILD        with g++, and with clang++-14 where it is installed
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT, BUILD = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
PROGRAM = '''
#include <cstdio>
#include "wirebook/core/arena.hpp"
#include "wirebook/core/clock.hpp"
#include "wirebook/io/capture_source.hpp"
int main(int argc, char** argv) {
    wirebook::io::CaptureOptions options;
    options.files.assign(argv + 1, argv + argc);
    auto source = wirebook::io::CaptureSource::open(options);
    auto arena = wirebook::Arena::create({.bytes = 1 << 20, .hugetlb = false});
    std::puts(source.ok() && arena.ok() && wirebook::rdtsc() != 0 ? "opened" : "failed");
    return 0;
}
'''


def run(*command, env=None):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False,
                          env=env)
    assert done.returncode == 0, f'{command}: {done.stdout}{done.stderr}'
    return done.stdout


def books_of_own_packets(folder, env, compilers):
    """examples/embed_books.cpp gives what `wirebook replay --top` gives for the same packets."""
    sample = ROOT / 'pcap/itch-sample.pcap'
    flags = run('pkg-config', '--cflags', '--libs', 'wirebook', env=env).split()
    run(BUILD / 'wirebook', 'replay', sample, '--top', folder / 'top', '--events', folder / 'events')
    rows = [line.split(',') for line in (folder / 'top').read_text().splitlines()[1:]]
    books = [','.join(['book', row[1], row[3], *row[4:6], *row[7:9]]) for row in rows]
    trades = (folder / 'events').read_text().count(',trade,')
    assert books and trades, 'the sample has neither books nor trades'
    for compiler in compilers:
        program = folder / 'embed_books'
        run(compiler, '-std=c++20', '-O1', '-Wall', '-Wextra', '-Werror',
            ROOT / 'examples/embed_books.cpp', *flags, '-o', program)
        lines = run(program, sample).splitlines()
        assert [line for line in lines if line.startswith('book,')] == books
        assert sum(line.startswith('trade,') for line in lines) == trades
        needs = run('ldd', program)
        assert not [name for name in ('rte_', 'dpdk', 'pcap') if name in needs], needs


def strategy_in_c(folder, env, library):
    """examples/reader.c needs libwirebook.so.1 and no other library of ours, nor C++ in its face."""
    flags = run('pkg-config', '--cflags', '--libs', 'wirebook-c', env=env).split()
    assert [one for one in flags if one.startswith('-l')] == ['-lwirebook'], flags
    for compiler in (one for one in ('gcc', 'clang-14') if shutil.which(one)):
        program = folder / 'reader'
        run(compiler, '-std=c11', '-O1', '-Wall', '-Wextra', '-pedantic', '-Werror',
            ROOT / 'examples/reader.c', *flags, '-o', program)
        needed = [line for line in run('readelf', '-d', program).splitlines() if 'NEEDED' in line]
        ours = [line for line in needed if 'libc.so' not in line]
        assert len(ours) == 1 and '[libwirebook.so.1]' in ours[0], needed
        assert 'NAME' in run(program, '--help', env={**env, 'LD_LIBRARY_PATH': str(library)})


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run('meson', 'install', '-C', BUILD, '--no-rebuild', '--quiet', '--destdir', folder / 'to')
        found = list((folder / 'to').rglob('wirebook-ring.pc'))
        assert len(found) == 1, found
        env = {**os.environ, 'PKG_CONFIG_PATH': str(found[0].parent)}
        libraries = run('pkg-config', '--libs', 'wirebook-ring', env=env).split()
        assert not [one for one in libraries if one.startswith('-l')], libraries

        compilers = [one for one in ('g++', 'clang++-14') if shutil.which(one)]
        for compiler in compilers:
            flags = run('pkg-config', '--cflags', '--libs', 'wirebook-ring', env=env).split()
            example = folder / 'top_of_book'
            run(compiler, '-std=c++20', '-O1', '-Wall', '-Wextra', '-Werror',
                ROOT / 'examples/top_of_book.cpp', *flags, '-o', example)
            assert 'NAME' in run(example, '--help')
            assert 'wirebook' not in run('ldd', example), 'links more than headers'

        strategy_in_c(folder, env, found[0].parent.parent)
        books_of_own_packets(folder, env, compilers)

        (folder / 'own.cpp').write_text(PROGRAM)
        flags = run('pkg-config', '--cflags', '--libs', 'wirebook', env=env).split()
        run('g++', '-std=c++20', folder / 'own.cpp', *flags, '-o', folder / 'own')
        assert run(folder / 'own', ROOT / 'pcap/itch-sample.pcap') == 'opened\n'
    print(f'installed; the example builds with {" and ".join(compilers)}')


if __name__ == '__main__':
    main()
