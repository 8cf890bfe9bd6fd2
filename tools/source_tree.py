"""The project's files, for the checks beside this one. Needs Python alone.

A check is a program `check_X.py ROOT [BUILD]`: it prints one line a violation, `file:line: why`,
and exits 1 if there was one, 77 (skipped, as meson counts) if a tool that it needs is missing.
"""
import hashlib
import os
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

SKIPPED = 77
TEXT_SUFFIXES = {'.hpp', '.cpp', '.c', '.h', '.py', '.sh', '.md', '.build', '.txt', '.toml', '.in'}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
# Comments, string literals and character literals, in the order that makes each win over the
# others inside it. Digit separators are no character literals.
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((.*?)\)"|"(?:\\.|[^"\\\n])*"'
                   r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'", re.DOTALL)


def module_sources(root):
    """Headers and sources of all modules, public and private."""
    return sorted([*root.glob('include/wirebook/**/*.hpp'), *root.glob('src/**/*.hpp'),
                   *root.glob('src/**/*.cpp')])


def headers(root):
    return [path for path in module_sources(root) if path.suffix == '.hpp']


def cpp_files(root):
    """Every C++ and C file, of all folders."""
    return sorted(path for folder in ('include', 'src', 'tests', 'bench', 'examples')
                  for pattern in ('*.hpp', '*.cpp', '*.c', '*.h')
                  for path in (root / folder).rglob(pattern)
                  if 'fixtures' not in path.relative_to(root).parts)


def text_files(root):
    """Every text file of ours: tracked or about to be, where git can say."""
    try:
        listed = subprocess.run(
            ['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], cwd=root,
            capture_output=True, check=True).stdout.decode().split('\0')
        paths = [root / name for name in listed if name]
    except (OSError, subprocess.CalledProcessError):
        paths = [path for path in root.rglob('*')
                 if not path.relative_to(root).parts[0].startswith(('build', '.git'))]
    return sorted(path for path in paths if path.is_file()
                  and 'fixtures' not in path.parts
                  and (path.suffix in TEXT_SUFFIXES or path.suffix == ''))


def module_of(root, path):
    """'ring' of include/wirebook/ring/reader.hpp and of src/ring/segment.cpp."""
    parts = path.relative_to(root).parts
    return parts[2] if parts[0] == 'include' else parts[1]


def without_noise(text):
    """The text with comments and literals blanked out; lines stay where they are."""
    return NOISE.sub(lambda found: re.sub(r'[^\n]', ' ', found.group(0)), text)


def closure(root, path):
    """The file and all project files that it includes, however deep."""
    seen, waiting = set(), [path]
    while waiting:
        current = waiting.pop()
        if current in seen or not current.is_file():
            continue
        seen.add(current)
        for name in INCLUDE.findall(current.read_text(errors='replace')):
            waiting += [root / 'include' / name, current.parent / name, root / 'src' / name]
    return sorted(seen)


class Cache:
    """Remembers what passed, by content: a check runs again only for what changed."""

    def __init__(self, root, build, name):
        self.root, self.folder = root, None
        if build is not None:
            self.folder = pathlib.Path(build) / f'{name}-passed'
            self.folder.mkdir(parents=True, exist_ok=True)

    def key(self, path, *more):
        digest = hashlib.sha256(repr(more).encode())
        for part in closure(self.root, path):
            digest.update(str(part).encode() + b'\0' + part.read_bytes() + b'\0')
        return digest.hexdigest()

    def passed(self, key):
        return self.folder is not None and (self.folder / key).exists()

    def store(self, key):
        if self.folder is not None:
            (self.folder / key).touch()


def in_parallel(function, items):
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return list(pool.map(function, items))


def report(errors):
    """Prints the violations and ends the program."""
    for error in errors:
        print(error)
    sys.exit(1 if errors else 0)


def skip(reason):
    print(f'skipped: {reason}')
    sys.exit(SKIPPED)


def arguments():
    """ROOT and BUILD (None if not given) of the command line."""
    root = pathlib.Path(sys.argv[1]).resolve()
    return root, pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else None
