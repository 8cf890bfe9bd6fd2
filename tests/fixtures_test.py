#!/usr/bin/env python3
"""Runs every case of tests/fixtures as its README says and compares what comes out.

    fixtures_test.py WIREBOOK [FIXTURES_DIR] [CASE...]

Tops and finals byte for byte; of the statistics the keys that the case is about; messages as
JSON, line by line. Needs nothing but the program.
"""
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

COUNTS = ('drops', 'messages_by_type')  # entries of 0 may be left out


def same_stat(key, expected, found):
    if key not in COUNTS:
        return expected == found
    drop_zeros = lambda counts: {k: v for k, v in counts.items() if v}
    return drop_zeros(expected) == drop_zeros(found)


def run_case(program, case, out):
    command = shlex.split((case / 'case.txt').read_text().splitlines()[0])
    names = {'top': 'top.csv', 'final': 'final.csv', 'stats': 'stats.json',
             'messages': 'messages.jsonl', 'events': 'events.csv'}
    for option, name in names.items():
        command += [f'--{option}', str(out / name)]
    done = subprocess.run([program, 'replay', *command], cwd=case, capture_output=True, text=True,
                          timeout=60)
    if done.returncode != 0:
        yield f'exit status {done.returncode}: {done.stderr.strip()}'
        return
    for name in ('top.csv', 'final.csv'):
        expected = (case / f'expected.{name}').read_bytes()
        found = (out / name).read_bytes()
        if expected != found:
            yield f'{name}: expected\n{expected.decode()}found\n{found.decode()}'
    stats = json.loads((out / 'stats.json').read_text())
    for key, value in json.loads((case / 'expected.stats.json').read_text()).items():
        if not same_stat(key, value, stats.get(key)):
            yield f'stats: {key} is {stats.get(key)}, expected {value}'
    expected = case / 'expected.messages.jsonl'
    if expected.exists():
        read = lambda path: [json.loads(line) for line in path.read_text().splitlines()]
        if read(expected) != read(out / 'messages.jsonl'):
            yield f'messages: expected\n{expected.read_text()}found\n' + \
                  (out / 'messages.jsonl').read_text()


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    here = pathlib.Path(__file__).resolve().parent
    folder = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else here / 'fixtures'
    wanted = sys.argv[3:]
    cases = [case for case in sorted(folder.iterdir())
             if (case / 'case.txt').exists() and (not wanted or case.name in wanted)]
    failed = 0
    for case in cases:
        with tempfile.TemporaryDirectory() as out:
            problems = list(run_case(program, case.resolve(), pathlib.Path(out)))
        failed += bool(problems)
        for problem in problems:
            print(f'{case.name}: {problem}')
    print(f'{len(cases) - failed} cases as expected, {failed} not')
    return 1 if failed or not cases else 0


if __name__ == '__main__':
    sys.exit(main())
