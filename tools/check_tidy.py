#!/usr/bin/env python3
"""clang-tidy over every source of src/, and through them over the headers; .clang-tidy says what.

Takes BUILD's compile_commands.json. What passed is remembered there by content.
"""
import json
import pathlib
import shutil
import subprocess

from source_tree import Cache, arguments, in_parallel, report, skip


def main():
    root, build = arguments()
    tool = shutil.which('clang-tidy-14')
    if tool is None:
        skip('clang-tidy-14 is not installed')
    cache = Cache(root, build, 'tidy')
    config = (root / '.clang-tidy').read_text()
    entries = json.loads((build / 'compile_commands.json').read_text())

    def check(entry):
        path = (pathlib.Path(entry['directory']) / entry['file']).resolve()
        key = cache.key(path, config, entry['command'])
        if cache.passed(key):
            return []
        done = subprocess.run([tool, '-p', str(build), '--quiet', str(path)],
                              capture_output=True, text=True, check=False)
        if done.returncode == 0:
            cache.store(key)
            return []
        return [done.stdout or done.stderr]

    sources = (root / 'src').as_posix() + '/'
    report(sum(in_parallel(check, [
        entry for entry in entries
        if (pathlib.Path(entry['directory']) / entry['file']).resolve().as_posix()
        .startswith(sources)]), []))


if __name__ == '__main__':
    main()
