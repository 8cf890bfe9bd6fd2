#!/usr/bin/env python3
"""clang-tidy over every source of src/, and through them over the headers; .clang-tidy says what.

Takes BUILD's compile_commands.json. What passed is remembered there by content. The checks of
clang-analyzer take as long as all the others together: they run with WIREBOOK_LONG set.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess

from source_tree import Cache, arguments, in_parallel, report, skip

ERROR = re.compile(r':\d+:\d+: (error|warning): ')


def main():
    root, build = arguments()
    tool = shutil.which('clang-tidy-14')
    if tool is None:
        skip('clang-tidy-14 is not installed')
    cache = Cache(root, build, 'tidy')
    checks = [] if os.environ.get('WIREBOOK_LONG') else ['--checks=-clang-analyzer-*']
    config = (root / '.clang-tidy').read_text() + str(checks)
    entries = json.loads((build / 'compile_commands.json').read_text())

    def check(entry):
        path = (pathlib.Path(entry['directory']) / entry['file']).resolve()
        key = cache.key(path, config, entry['command'])
        if cache.passed(key):
            return []
        # The commands are g++'s: clang does not know all of its warnings.
        done = subprocess.run([tool, '-p', str(build), '--quiet', *checks,
                               '--extra-arg=-Wno-unknown-warning-option', str(path)],
                              capture_output=True, text=True, check=False)
        if done.returncode == 0:
            cache.store(key)
            return []
        found = [line for line in done.stdout.splitlines() if ERROR.search(line)]
        return [os.path.normpath(os.path.join(entry['directory'], line)) for line in found] or \
            [f'{path}: {done.stdout}{done.stderr}']

    sources = (root / 'src').as_posix() + '/'
    found = in_parallel(check, [
        entry for entry in entries
        if (pathlib.Path(entry['directory']) / entry['file']).resolve().as_posix()
        .startswith(sources)])
    report(sorted(set(sum(found, []))))  # a header's violation shows in every file with it


if __name__ == '__main__':
    main()
