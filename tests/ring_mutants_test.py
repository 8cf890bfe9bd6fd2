#!/usr/bin/env python3
"""Weakens ring/protocol.hpp one labelled line at a time: the model of memory must notice each.

Compiles tests/ring_mutants.cpp against each weakened copy. Fails when a mutant survives, when the
unmutated header faults, or when a labelled line has no mutant. (P1 before P2 is for the readers'
latency only: the other way round nothing is torn or missing.)
Usage: ring_mutants_test.py SOURCE_ROOT [COMPILER]
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from mutant_choice import chosen

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else '.').resolve()
COMPILER = sys.argv[2] if len(sys.argv) > 2 else os.environ.get('CXX', 'g++')
HEADER = 'include/wirebook/ring/protocol.hpp'
SOURCE = (ROOT / HEADER).read_text()

RELEASE, ACQUIRE, RELAXED = ('std::memory_order_' + o for o in ('release', 'acquire', 'relaxed'))


def line(label):
    """The one statement that carries `// label`."""
    found = re.findall(rf'^.*// {label}$', SOURCE, re.M)
    assert len(found) == 1, f'label {label} stands on {len(found)} lines'
    return found[0]


def weaker(label, old, new):
    text = line(label)
    assert old in text, f'{label}: no {old} in {text}'
    return SOURCE.replace(text, text.replace(old, new), 1)


def without(label):
    return SOURCE.replace(line(label), '', 1)


def edited(old, new):
    assert SOURCE.count(old) == 1, f'{SOURCE.count(old)} times: {old}'
    return SOURCE.replace(old, new, 1)


def swapped(first, second):
    a, b = line(first), line(second)
    return SOURCE.replace(a, '\0').replace(b, a).replace('\0', b)


MUTANTS = {
    'W1 dropped': without('W1'),
    'W1 says complete': weaker('W1', '+ 1', '+ 2'),
    'W2 dropped': without('W2'),
    'W3 dropped': without('W3'),
    'W4 dropped': without('W4'),
    'W4 relaxed': weaker('W4', RELEASE, RELAXED),
    'R1 relaxed': weaker('R1', ACQUIRE, RELAXED),
    'R2 dropped': weaker('R2', 'block[i].load(std::memory_order_relaxed)', '0'),
    'R3 dropped': without('R3'),
    'R4 dropped': without('R4'),
    'P1 of another number': weaker('P1', 'ring.slot(n), n,', 'ring.slot(n), n + 1,'),
    'P1 dropped': without('P1'),
    'P2 dropped': without('P2'),
    'P2 after P3': swapped('P2', 'P3'),
    'P3 relaxed': weaker('P3', RELEASE, RELAXED),
    'P3 dropped': without('P3'),
    'P3 one ahead': weaker('P3', 'n + 1', 'n + 2'),
    'J1 relaxed': weaker('J1', ACQUIRE, RELAXED),
    'J1 one late': edited('next_ = first;', 'next_ = first + 1;'),
    'J2 takes a torn entry': without('J2'),
    'J2 takes a busy entry': edited('if (!block_complete(version)) return false;', ''),
    'J3 dropped': without('J3'),
    'J3 skips one too many': edited('next_ <= shown_[i];', 'next_ <= shown_[i] + 1;'),
    'J3 skips events': edited('i < shown_.size() && next_', 'next_'),
    'J3 ends early': weaker('J3', 'next_ <= join_end_', 'next_ < join_end_'),
    'L1 dropped': without('L1'),
    'L2 relaxed': weaker('L2', ACQUIRE, RELAXED),
    'loss not counted': edited('lost_ += resume - next_;', ''),
    'lap not seen': edited('if (version > complete) return lapped(keep_old);', ''),
    'lap taken for empty': edited('if (version > complete) return lapped(keep_old);',
                                  'if (version > complete) return CursorPoll::empty;'),
}


def survives(name):
    with tempfile.TemporaryDirectory(prefix='ring_mutant.') as folder:
        folder = pathlib.Path(folder)
        shutil.copytree(ROOT / 'include/wirebook/core', folder / 'include/wirebook/core')
        (folder / HEADER).parent.mkdir(parents=True)
        (folder / HEADER).write_text(MUTANTS.get(name, SOURCE))
        subprocess.run([COMPILER, '-std=c++20', '-O0', '-w', '-D_GLIBCXX_ASSERTIONS', f'-I{folder}/include', f'-I{ROOT}/tests',
                        ROOT / 'tests/ring_mutants.cpp', '-o', folder / 'model'], check=True)
        try:
            run = subprocess.run([folder / 'model'], capture_output=True, text=True, timeout=60)
        except subprocess.TimeoutExpired:
            return False, 'never ended'
        return run.returncode == 0, run.stdout.strip() or f'exit {run.returncode}'


def main():
    labels = set(re.findall(r'// ([WRPJL][0-9])$', SOURCE, re.M))
    unmutated = sorted(label for label in labels if not any(m.startswith(label) for m in MUTANTS))
    failures = [f'{label}: no mutant' for label in unmutated]
    for name, text in MUTANTS.items():
        assert text != SOURCE, f'{name}: changes nothing'
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        names = ['unmutated', *chosen(MUTANTS)]
        for name, (alive, said) in zip(names, pool.map(survives, names)):
            print(f'{name:24s} {"passes" if alive else "noticed"}  {said if not alive else ""}', flush=True)
            if alive != (name == 'unmutated'):
                failures.append(f'{name}: {"survives" if alive else "faults"}')
    print('\n'.join(failures) or f'{len(names) - 1} of {len(MUTANTS)} mutants, none survives')
    return bool(failures)


if __name__ == '__main__':
    sys.exit(main())
