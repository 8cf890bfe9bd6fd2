#!/usr/bin/env python3
"""Every C++ file looks as clang-format 14 writes it. Mend with: clang-format-14 -i FILE"""
import shutil
import subprocess

from source_tree import arguments, cpp_files, report, skip

if __name__ == '__main__':
    ROOT, _ = arguments()
    tool = shutil.which('clang-format-14')
    if tool is None:
        skip('clang-format-14 is not installed')
    files = cpp_files(ROOT)
    done = subprocess.run([tool, '--dry-run', '--Werror', '--style=file', *map(str, files)],
                          capture_output=True, text=True, check=False)
    lines = [line for line in done.stderr.splitlines() if 'error:' in line]
    report(lines if done.returncode == 0 or lines else [done.stderr])
