#!/usr/bin/env python3
"""Weakens the protocols of match/ one labelled line at a time: the model of memory must notice each.

Compiles tests/match_mutants.cpp against each weakened copy. Fails when a mutant survives, when the
unmutated headers fault, or when a labelled line has no mutant. mutant_choice.py: which ones.
(P5 as a plain store, or made by other producers only, loses nothing: it makes them look at more
slots.)
Usage: match_mutants_test.py SOURCE_ROOT [COMPILER]
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
MATCH = 'include/wirebook/match/'
QUEUE, RING, PRODUCER = (MATCH + name for name in ('request_queue.hpp', 'staged_ring.hpp',
                                                   'producer.hpp'))
SOURCES = {name: (ROOT / name).read_text() for name in (QUEUE, RING, PRODUCER)}
HOME = {'P': QUEUE, 'T': QUEUE, 'S': RING, 'R': RING}

RELEASE, ACQUIRE, RELAXED = ('std::memory_order_' + o for o in ('release', 'acquire', 'relaxed'))


def line(label):
    """The one statement that carries `// label`, and the file it stands in."""
    home = HOME[label[0]]
    found = re.findall(rf'^.*// {label}$', SOURCES[home], re.M)
    assert len(found) == 1, f'label {label} stands on {len(found)} lines'
    return home, found[0]


def statement(label):
    """The same with the line that it goes on in."""
    home, text = line(label)
    return re.search(re.escape(text) + r'\n[^;]*;', SOURCES[home])[0]


def edited(home, old, new):
    assert SOURCES[home].count(old) == 1, f'{SOURCES[home].count(old)} times: {old}'
    return home, SOURCES[home].replace(old, new, 1)


def weaker(label, old, new):
    home, text = line(label)
    assert old in text, f'{label}: no {old} in {text}'
    return edited(home, text, text.replace(old, new, 1))


def without(label):
    home, text = line(label)
    return edited(home, text, '')


MUTANTS = {
    'P1 dropped': without('P1'),
    'P1 after P4': edited(QUEUE, '        if (ours) return true;',
                          '        if (ours) {\n            queue.cells[cell].put(request);\n'
                          '            return true;\n        }'),
    'P2 one ahead': weaker('P2', '(std::memory_order_relaxed)',
                           '(std::memory_order_relaxed) + 1'),
    'P3 takes a full slot for free': edited(QUEUE, 'if (word < free) return false;',
                                            'if (word < free) word = free;'),
    'P3 calls a filled slot full': edited(QUEUE, 'if (word < free) return false;',
                                          'if (word != free) return false;'),
    'P3 dropped': weaker('P3', 'slot.load(std::memory_order_relaxed)', 'free'),
    'P4 relaxed': weaker('P4', RELEASE, RELAXED),
    'P4 a store': edited(QUEUE, statement('P4'),
                         '            slot.store(filled, std::memory_order_release), ours = true;'),
    'P5 dropped': edited(QUEUE, statement('P5'), ''),
    'P5 only by its own producer': weaker('P5', 'queue.tail->', 'if (ours) queue.tail->'),
    'lap forgotten': edited(QUEUE, 'return ticket >> std::countr_zero(slot_count) << cell_bits;',
                            'return ticket & 0;'),
    'T1 relaxed': weaker('T1', ACQUIRE, RELAXED),
    'T1 takes an empty slot': edited(QUEUE, 'if (word <= free) break;', 'if (word < free) break;'),
    'T2 of another cell': weaker('T2', 'word - free - 1', 'word - free'),
    'T3 dropped': without('T3'),
    'T3 of the same lap': weaker('T3', 'next_lap', 'free'),
    'S1 relaxed': weaker('S1', ACQUIRE, RELAXED),
    'S1 one ahead': weaker('S1', '(std::memory_order_acquire)', '(std::memory_order_acquire) + 1'),
    'S2 dropped': without('S2'),
    'S3 relaxed': weaker('S3', RELEASE, RELAXED),
    'S3 dropped': without('S3'),
    'S3 one ahead': weaker('S3', 'end,', 'end + 1,'),
    'S3 before it is time': edited(RING, '        staged_ += 1;',
                                   '        staged_ += 1;\n        publish(staged_);'),
    'R1 relaxed': weaker('R1', ACQUIRE, RELAXED),
    'R1 one ahead': weaker('R1', '(std::memory_order_acquire)', '(std::memory_order_acquire) + 1'),
    'R2 dropped': without('R2'),
    'R3 relaxed': weaker('R3', RELEASE, RELAXED),
    'R3 dropped': without('R3'),
    'R3 before R2': weaker('R2', '        out', '        ring_.consumed->store(read_ + 1, '
                           'std::memory_order_release);\n        out'),
    'credit one too many': edited(PRODUCER, 'if (unacknowledged() == in_flight_)',
                                  'if (unacknowledged() > in_flight_)'),
    'credit given by any report': edited(PRODUCER, 'if (is_acknowledgement(out.report)) ack',
                                         'ack'),
    'no room kept for acknowledgements': edited(
        PRODUCER, 'if (writer_.room(in_flight_ + 1) <= in_flight_)', 'if (writer_.room(1) == 0)'),
    'a lost report is not counted': edited(PRODUCER, '            lost_ += 1;', ''),
    'released too early': edited(PRODUCER, '.sequence <= sequence)', '.sequence <= sequence + 1)'),
}

def survives(name):
    with tempfile.TemporaryDirectory(prefix='match_mutant.') as folder:
        folder = pathlib.Path(folder)
        for module in ('core', 'book', 'match'):
            shutil.copytree(ROOT / 'include/wirebook' / module,
                            folder / 'include/wirebook' / module)
        if name in MUTANTS:
            home, text = MUTANTS[name]
            (folder / home).write_text(text)
        subprocess.run([COMPILER, '-std=c++20', '-O0', '-w', '-D_GLIBCXX_ASSERTIONS',
                        f'-I{folder}/include', f'-I{ROOT}/tests', ROOT / 'tests/match_mutants.cpp',
                        '-o', folder / 'model'], check=True)
        try:
            run = subprocess.run([folder / 'model'], capture_output=True, text=True, timeout=60)
        except subprocess.TimeoutExpired:
            return False, 'never ended'
        said = (run.stdout + run.stderr).strip().splitlines()
        return run.returncode == 0, said[-1] if said else f'exit {run.returncode}'


def main():
    labels = {label for source in (QUEUE, RING)
              for label in re.findall(r'// ([PTSR][0-9])$', SOURCES[source], re.M)}
    unmutated = sorted(label for label in labels if not any(m.startswith(label) for m in MUTANTS))
    failures = [f'{label}: no mutant' for label in unmutated]
    for name, (home, text) in MUTANTS.items():
        assert text != SOURCES[home], f'{name}: changes nothing'
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        names = ['unmutated', *chosen(MUTANTS)]
        for name, (alive, said) in zip(names, pool.map(survives, names)):
            print(f'{name:34s} {"passes" if alive else "noticed"}  {said if not alive else ""}',
                  flush=True)
            if alive != (name == 'unmutated'):
                failures.append(f'{name}: {"survives" if alive else "faults"}')
    print('\n'.join(failures) or f'{len(names) - 1} of {len(MUTANTS)} mutants, none survives')
    return bool(failures)


if __name__ == '__main__':
    sys.exit(main())
