#!/usr/bin/env python3
"""Weakens core/hand_back.hpp and core/epoch.hpp one labelled line at a time: the model of memory
must notice each.

Compiles tests/core_mutants.cpp against each weakened copy. Fails when a mutant survives, when an
unmutated header faults, or when a labelled line has no mutant.
Usage: core_mutants_test.py SOURCE_ROOT [COMPILER]
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
CORE = 'include/wirebook/core'

RELEASE, ACQUIRE, ACQ_REL, RELAXED = (
    'std::memory_order_' + o for o in ('release', 'acquire', 'acq_rel', 'relaxed'))


class Header:
    """The text of one header, and weakened versions of it."""

    def __init__(self, name):
        self.name = name
        self.text = (ROOT / CORE / f'{name}.hpp').read_text()

    def labels(self):
        return set(re.findall(r'// ([A-Z][0-9])$', self.text, re.M))

    def line(self, label):
        """The one line of code that carries `// label`."""
        found = re.findall(rf'^.*// {label}$', self.text, re.M)
        assert len(found) == 1, f'label {label} stands on {len(found)} lines'
        return found[0]

    def weaker(self, label, old, new):
        text = self.line(label)
        assert old in text, f'{label}: no {old} in {text}'
        return self.text.replace(text, text.replace(old, new), 1)

    def without(self, label):
        return self.text.replace(self.line(label), '', 1)

    def edited(self, old, new):
        assert self.text.count(old) == 1, f'{self.text.count(old)} times: {old}'
        return self.text.replace(old, new, 1)


def hand_back_mutants(h):
    return {
        'H1 dropped': h.without('H1'),
        'H1 of our own first': h.weaker('H1', 'static_cast<std::uint32_t>(before)', 'chain.first'),
        'H1 only once': h.edited('    for (;;) {\n' + h.line('H1'),
                                 h.line('H1') + '\n    for (;;) {'),
        'H2 relaxed': h.weaker('H2', RELEASE, RELAXED),
        'H2 acquire': h.weaker('H2', RELEASE, ACQUIRE),
        'H2 a plain store': re.sub(r'if \(word.compare_exchange_weak\([^)]*\)\)',
                                   f'word.store(chain.first, {RELEASE});', h.text, count=1),
        'H2 puts the last in front': h.weaker('H2', 'chain.first', 'chain.last'),
        'T1 relaxed': h.weaker('T1', ACQUIRE, RELAXED),
        'T1 a load and a store': h.weaker(
            'T1', f'return static_cast<std::uint32_t>(word.exchange(0, {ACQUIRE}));',
            f'const auto all = word.load({ACQUIRE}); word.store(0, {RELAXED}); '
            'return static_cast<std::uint32_t>(all);'),
        'T1 leaves all there': h.weaker('T1', f'exchange(0, {ACQUIRE})', f'load({ACQUIRE})'),
        'T1 never': h.edited(f'word.load({RELAXED}) == 0', 'true'),
        'T2 dropped': h.without('T2'),
        'T2 of the wrong object': h.weaker('T2', 'at(all)', 'at(all + 1)'),
        'untouched first': h.edited('if (pool_->list_empty()) collect();', ''),
        'batch of no end': h.edited('if (count_ == batch_) flush();', ''),
        'batch without links': h.edited('SlabPool<T>::set_next(object, first_);', ''),
        'batch handed over twice': h.edited('        count_ = 0;\n', ''),
        'batch ends at its newest': h.edited('if (count_ == 0) last_', 'last_'),
    }


def epoch_mutants(h):
    return {
        'C1 relaxed': h.weaker('C1', ACQUIRE, RELAXED),
        'C1 dropped': h.weaker('C1', f'word.load({ACQUIRE})', '0'),
        'C1 takes any epoch': h.edited('return seen == now_;', 'return true;'),
        'C1 takes the epoch before': h.edited('return seen == now_;', 'return seen + 1 >= now_;'),
        'C1 of the first reader only': h.edited('if (!passed(words_[reader].word))',
                                                'if (!passed(words_[0].word))'),
        'C2 takes the load for it': h.edited('if (seen != 0) return seen == now_;',
                                             'if (seen == 0) return true;\nreturn seen == now_;'),
        'C2 release only': h.weaker('C2', ACQ_REL, RELEASE),
        'C2 acquire only': h.weaker('C2', ACQ_REL, ACQUIRE),
        'C2 never': h.edited('if (seen != 0) return seen == now_;', 'return seen == now_;'),
        'C3 dropped': h.without('C3'),
        'C3 an epoch early': h.weaker('C3', 'waiting_', 'filling_'),
        'C3 frees for ever': h.edited('waiting_ = filling_;', ''),
        'C4 dropped': h.without('C4'),
        'C4 relaxed': h.weaker('C4', RELEASE, RELAXED),
        'C4 stays in the epoch': h.edited('        now_ += 1;\n', ''),
        'Q1 relaxed': h.weaker('Q1', ACQUIRE, RELAXED),
        'Q1 dropped': h.weaker('Q1', f'epoch_->word.load({ACQUIRE})', 'announced_'),
        'Q2 relaxed': h.weaker('Q2', RELEASE, RELAXED),
        'Q2 dropped': h.without('Q2'),
        'Q2 one ahead': h.weaker('Q2', 'store(epoch,', 'store(epoch + 1,'),
        'N1 relaxed': h.weaker('N1', ACQUIRE, RELAXED),
        'N2 dropped': h.without('N2'),
        'N2 a plain store': h.weaker('N2', f'exchange(announced_, {ACQUIRE})',
                                     f'store(announced_, {RELEASE})'),
        'N2 relaxed': h.weaker('N2', ACQUIRE, RELAXED),
        'V1 dropped': h.without('V1'),
        'V1 relaxed': h.weaker('V1', RELEASE, RELAXED),
        'batch without an end': h.edited('if (filling_.count == batch_capacity) return false;',
                                         ''),
    }


def compiled(folder, source, target, *flags):
    subprocess.run([COMPILER, '-std=c++20', '-O1', '-w', '-D_GLIBCXX_ASSERTIONS', *flags, source,
                    '-o', folder / target], check=True)


def prepare(folder):
    """What all mutants share: the standard headers, precompiled, and the arena."""
    (folder / 'standard.hpp').write_text(
        ''.join(f'#include <{name}>\n' for name in (
            'algorithm', 'array', 'atomic', 'cstdio', 'cstring', 'functional', 'map', 'memory',
            'span', 'string', 'system_error', 'variant', 'vector', 'ucontext.h')))
    compiled(folder, folder / 'standard.hpp', 'standard.hpp.gch', '-x', 'c++-header')
    compiled(folder, ROOT / 'src/core/arena.cpp', 'arena.o', '-c', f'-I{ROOT}/include')


def noticed(shared, header, text):
    """What the model said, or None when it found nothing."""
    with tempfile.TemporaryDirectory(prefix='core_mutant.') as folder:
        folder = pathlib.Path(folder)
        shutil.copytree(ROOT / CORE, folder / CORE)
        (folder / CORE / f'{header.name}.hpp').write_text(text)
        compiled(folder, ROOT / 'tests/core_mutants.cpp', 'model', '-include',
                 shared / 'standard.hpp', f'-I{folder}/include', f'-I{ROOT}/tests',
                 shared / 'arena.o')
        try:
            run = subprocess.run([folder / 'model', header.name], capture_output=True, text=True,
                                 timeout=300, check=False)
        except subprocess.TimeoutExpired:
            return 'never ended'
        if run.returncode == 0:
            return None
        return (run.stdout + run.stderr).strip() or f'exit {run.returncode}'


def main():
    failures = []
    jobs = {}
    known = 0
    for name, mutants_of in (('hand_back', hand_back_mutants), ('epoch', epoch_mutants)):
        header = Header(name)
        mutants = mutants_of(header)
        failures += [f'{name} {label}: no mutant' for label in sorted(header.labels())
                     if not any(mutant.startswith(label) for mutant in mutants)]
        jobs[name, 'unmutated'] = (header, header.text)
        for mutant, text in mutants.items():
            assert text != header.text, f'{mutant}: changes nothing'
            known += 1
        for mutant in chosen(mutants):
            jobs[name, mutant] = (header, mutants[mutant])
    with tempfile.TemporaryDirectory(prefix='core_mutants.') as shared, \
            concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        shared = pathlib.Path(shared)
        prepare(shared)
        said = pool.map(lambda job: noticed(shared, *job), jobs.values())
        for (name, mutant), what in zip(jobs, said):
            print(f'{name:10s} {mutant:28s} {what or "passes"}', flush=True)
            if (what is None) != (mutant == 'unmutated'):
                failures.append(f'{name} {mutant}: {"faults" if what else "survives"}')
    print('\n'.join(failures) or f'{len(jobs) - 2} of {known} mutants, none survives')
    return bool(failures)


if __name__ == '__main__':
    sys.exit(main())
