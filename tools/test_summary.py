#!/usr/bin/env python3
"""Adds up what meson's test logs in a folder say; the last line is the sum.

usage: test_summary.py FOLDER

A Catch2 program counts as its test cases, anything else as one test. A test that exits with 77
was skipped; so was each part of a test that prints a line `skipped: what: why`.
Exit status: 1 if something failed, or nothing was run.
"""
import json
import pathlib
import re
import sys

ALL_PASSED = re.compile(r'^All tests passed \(.* in (\d+) test cases?\)', re.M)
SOME_FAILED = re.compile(r'^test cases: *(\d+) \|(?: *(\d+) passed \|)? *(\d+) failed', re.M)
SKIPPED = re.compile(r'^(?:.*\s)?skipped: (.*)$', re.M)


def count(test):
    """(passed, failed, reasons of what was skipped) of one test of a log."""
    output = test.get('stdout', '') + test.get('stderr', '')
    reasons = [f'{test["name"]}: {why.strip()}' for why in SKIPPED.findall(output)]
    if test['result'] == 'SKIP':
        return 0, 0, reasons[:1] or [f'{test["name"]}: gave no reason']
    if test['result'] in ('OK', 'EXPECTEDFAIL'):
        cases = ALL_PASSED.search(output)
        return max(int(cases.group(1)) - len(reasons), 0) if cases else 1, 0, reasons
    cases = SOME_FAILED.search(output)
    if cases:
        return int(cases.group(2) or 0), int(cases.group(3)), reasons
    return 0, 1, reasons


def main():
    passed, failed, skipped, names = 0, 0, [], []
    for log in sorted(pathlib.Path(sys.argv[1]).glob('*.json')):
        for line in log.read_text().splitlines():
            test = json.loads(line)
            counted = count(test)
            passed += counted[0]
            failed += counted[1]
            skipped += [f'{log.stem}: {reason}' for reason in counted[2]]
            if counted[1]:
                names.append(f'{log.stem}: {test["name"]}')
    for name in names:
        print(f'failed: {name}')
    for reason in skipped:
        print(f'skipped: {reason}')
    print(f'{passed} passed, {failed} failed, {len(skipped)} skipped')
    sys.exit(1 if failed or not passed else 0)


if __name__ == '__main__':
    main()
