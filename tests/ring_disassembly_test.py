#!/usr/bin/env python3
"""The writer's path, compiled for x86-64, has no locked instruction, fence or call.

Usage: ring_disassembly_test.py SOURCE_ROOT [COMPILER]. Skips (77) on other machines.
"""
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else '.').resolve()
COMPILER = sys.argv[2] if len(sys.argv) > 2 else os.environ.get('CXX', 'g++')
PROGRAM = '''
#include "wirebook/ring/writer.hpp"
using namespace wirebook::ring;
extern "C" void hot_snapshot(Writer& w, Record& r) { w.publish_snapshot(r); }
extern "C" void hot_event(Writer& w, Record& r) { w.publish_event(r); }
extern "C" void hot_quality(Writer& w) { w.set_channel_quality(1, Quality::stale); }
extern "C" void hot_heartbeat(Writer& w, std::uint64_t t) { w.heartbeat(t); }
'''
FORBIDDEN = re.compile(r'\block\b|\b[ml]fence\b|\bsfence\b|\bxchg\b|\bsyscall\b')
# What may be called: the one way out of a broken promise.
ALLOWED_CALL = re.compile(r'check_failed')


def main():
    if platform.machine() != 'x86_64':
        print('skipped: not an x86-64 machine')
        return 77
    with tempfile.TemporaryDirectory(prefix='ring_disassembly.') as folder:
        source = pathlib.Path(folder) / 'hot.cpp'
        source.write_text(PROGRAM)
        binary = pathlib.Path(folder) / 'hot.o'
        subprocess.run([COMPILER, '-std=c++20', '-O2', '-fno-exceptions', '-fno-rtti', '-c', source,
                        f'-I{ROOT}/include', '-o', binary], check=True)
        text = subprocess.run(['objdump', '-dr', '--no-show-raw-insn', '-C', binary], check=True,
                              capture_output=True, text=True).stdout
    functions = re.split(r'^[0-9a-f]+ <', text, flags=re.M)
    faults, seen = [], 0
    for body in functions[1:]:
        name = body.split('>', 1)[0]
        if not name.startswith('hot_') or '.cold' in name:
            continue
        seen += 1
        lines = body.splitlines()
        for number, line in enumerate(lines):
            target = line + (lines[number + 1] if number + 1 < len(lines) else '')
            if FORBIDDEN.search(line) or (re.search(r'\bcall\b', line) and not ALLOWED_CALL.search(target)):
                faults.append(f'{name}: {line.strip()}')
    if seen != 4:
        faults.append(f'{seen} functions found, 4 expected')
    print('\n'.join(faults) or 'the hot path is plain moves')
    return bool(faults)


if __name__ == '__main__':
    sys.exit(main())
