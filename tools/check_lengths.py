#!/usr/bin/env python3
"""No file too long to be read in one go. (Functions: clang-tidy, readability-function-size.)"""
from source_tree import arguments, cpp_files, report

HEADER, SOURCE, TEST, README = 300, 400, 600, 150


def limit(root, path):
    if path.relative_to(root).parts[0] == 'tests':
        return TEST
    return HEADER if path.suffix in ('.hpp', '.h') else SOURCE


def errors(root):
    jobs = [(path, limit(root, path)) for path in cpp_files(root)]
    readme = root / 'README.md'
    if readme.exists():
        jobs.append((readme, README))
    for path, most in jobs:
        lines = len(path.read_text().splitlines())
        if lines > most:
            yield f'{path}: {lines} lines, at most {most}'


if __name__ == '__main__':
    ROOT, _ = arguments()
    report(list(errors(ROOT)))
