#!/usr/bin/env python3
"""The C interface is the one that programs were built with: sizes, offsets, values, prototypes and
exported symbols are those of tests/capi_abi.txt; and its headers compile as C and as C++.

usage: capi_abi_test.py ROOT LIBRARY [--write]      --write: takes what is there as the new text

A C compiler says what the headers mean: a program made from every struct, field, enum value and
macro of them prints it. Another text is another ABI; HOW_TO_CHANGE says what to do then.
"""
import difflib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT, LIBRARY = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
HEADERS = [ROOT / 'include' / name for name in ('wirebook/capi/records.h',
                                                'wirebook/capi/instrument.h', 'wirebook.h')]
GOLDEN = ROOT / 'tests/capi_abi.txt'
HOW_TO_CHANGE = '''
The ABI of the C interface is not that of tests/capi_abi.txt (- committed, + now).
* Only lines that came with a new function, a new enum value, or a field at the end of a struct that
  starts with its size: list new functions in src/capi/wirebook.map in a node of a new version (with
  the older node as its parent), raise the minor number of `version` in src/capi/meson.build.
* Anything else breaks programs that are built: undo it, or raise soversion, version and the map's
  node to the next major number (and abi_version, WIREBOOK_ABI where the segment's layout changed).
Then: python3 tests/capi_abi_test.py . BUILD/src/capi/libwirebook.so --write
'''
STANDARDS = {'gcc': ('c99', 'c11', 'c17'), 'g++': ('c++98', 'c++11', 'c++20'),
             'clang': ('c99', 'c11'), 'clang++-14': ('c++98', 'c++20')}


def without_comments(path):
    return re.sub(r'//[^\n]*', '', path.read_text())


def c_program(text):
    """A program that prints a line for each type, field, value and macro of the headers."""
    lines = []
    for name, body in re.findall(r'struct (\w+) \{(.*?)\n\};', text, re.S):
        fields = re.findall(r'([\w ]+?[ *]+)(\w+)(?:\[[^\]]*\])?;', body)
        assert fields and len(fields) == body.count(';'), f'struct {name} is not understood'
        lines.append(f'printf("struct {name}: %zu bytes, alignment %zu\\n", sizeof(struct {name}), '
                     f'_Alignof(struct {name}));')
        lines += [f'printf("    %4zu %4zu {" ".join(kind.split())} {field}\\n", '
                  f'offsetof(struct {name}, {field}), sizeof(((struct {name}*)0)->{field}));'
                  for kind, field in fields]
    for name, body in re.findall(r'enum (\w+) \{(.*?)\}', text, re.S):
        lines.append(f'puts("enum {name}");')
        lines += [f'printf("    {value} = %lld\\n", (long long){value});'
                  for value in re.findall(r'(WIREBOOK_\w+) =', body)]
    for name in re.findall(r'^#define (WIREBOOK_\w+) [^_]', text, re.M):
        lines.append(f'printf("macro {name} = %lld\\n", (long long){name});')
    body = '\n    '.join(lines)
    return f'#include <stdio.h>\n#include "wirebook.h"\nint main(void) {{\n    {body}\n}}\n'


def prototypes(text):
    found = re.findall(r'^WIREBOOK_API ([^;]*);', text, re.M)
    return sorted(' '.join(one.split()) for one in found)


def exported(library):
    """What the dynamic symbol table defines: (name, version) of functions; else a failure."""
    table = subprocess.run(['readelf', '--dyn-syms', '--wide', library], check=True,
                           capture_output=True, text=True).stdout
    symbols = []
    for line in table.splitlines():
        parts = line.split()
        if len(parts) != 8 or not parts[0].endswith(':') or parts[6] in ('UND', 'Ndx'):
            continue
        if parts[3] == 'OBJECT' and parts[6] == 'ABS':
            continue  # the name of a version
        assert parts[3] == 'FUNC' and parts[7].startswith('wirebook_'), f'exports {parts[7]}'
        symbols.append(parts[7])
    return sorted(symbols)


def check_headers():
    flags = ['-Wall', '-Wextra', '-pedantic', '-Werror', '-fsyntax-only', f'-I{ROOT}/include']
    for compiler, standards in STANDARDS.items():
        if shutil.which(compiler) is None:
            print(f'skipped: headers with {compiler}: it is not installed')
            continue
        language = 'c++' if '++' in compiler else 'c'
        for standard in standards:
            for header in HEADERS:
                subprocess.run([compiler, f'-std={standard}', *flags, '-x', language, '-'],
                               input=f'#include "{header}"\n', text=True, check=True)


def main():
    check_headers()
    text = '\n'.join(map(without_comments, HEADERS))
    assert '/*' not in text and text.count('struct wirebook_') > 20
    with tempfile.TemporaryDirectory(prefix='wirebook-abi.') as name:
        folder = pathlib.Path(name)
        (folder / 'abi.c').write_text(c_program(text))
        subprocess.run(['gcc', '-std=c11', '-Wall', '-Wextra', '-Werror', f'-I{ROOT}/include',
                        folder / 'abi.c', '-o', folder / 'abi'], check=True)
        now = subprocess.run([folder / 'abi'], check=True, capture_output=True, text=True).stdout
    symbols, declared = exported(LIBRARY), prototypes(text)
    names = {re.search(r'(\w+)\(', one).group(1) for one in declared}
    assert names == {one.split('@')[0] for one in symbols}, \
        f'declared or exported, not both: {names ^ {one.split("@")[0] for one in symbols}}'
    now += '\n'.join([*declared, *(f'symbol {one}' for one in symbols)]) + '\n'
    if '--write' in sys.argv:
        GOLDEN.write_text(now)
    committed = GOLDEN.read_text()
    if now != committed:
        print(*difflib.unified_diff(committed.splitlines(), now.splitlines(), 'committed', 'now',
                                    lineterm='', n=2), sep='\n')
        print(HOW_TO_CHANGE)
        return 1
    print(f'{len(now.splitlines())} lines, {len(symbols)} symbols as committed')
    return 0


if __name__ == '__main__':
    sys.exit(main())
