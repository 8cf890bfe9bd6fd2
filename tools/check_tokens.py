#!/usr/bin/env python3
"""Words that may not stand in some folders, and words that may not stand anywhere."""
import re

from source_tree import arguments, module_sources, report, text_files, without_noise

HOT = ('core', 'wire', 'book', 'ring', 'feed', 'publish', 'io/dpdk')
# What a hot path may not do, whichever function it stands in.
HOT_TOKENS = {
    r'\bthrow\b': 'errors are Result, a status or a counter',
    r'(?<!operator )\bnew\b': 'memory comes from the arena, before the hot path starts',
    r'\bstd::cout\b': 'stdout carries only dumps, and those are written by app',
    r'\bvolatile\b': 'use atomics',
    r'\bmemory_order_seq_cst\b': 'use the weakest order that is correct, with its argument',
}
# Bytes become objects in few places, which check lengths.
CAST_FILES = (re.compile(r'^include/wirebook/wire/view\.hpp$'),
              re.compile(r'^(include/wirebook|src)/core/arena\.[ch]pp$'),
              re.compile(r'^(include/wirebook|src)/ring/(segment_)?mapping\.[ch]pp$'),
              re.compile(r'^(include/wirebook|src)/io/'))
# Anywhere in a text file. Spelled so that this file passes.
TEXT_TOKENS = {
    r'\bTO' r'DO\b|\bFIX' r'ME\b|\bXX' r'X\b': 'unfinished work belongs into an issue',
    r'(?<![\w.])/(?:ho' r'me|ro' r'ot|wo' r'rk|Us' r'ers)/\w': 'a path of one machine',
}


def folder_of(root, path):
    """'ring', 'io', 'io/dpdk' ...: the module, or the part of one, that a file belongs to."""
    parts = list(path.relative_to(root).parts[:-1])
    return '/'.join(parts[2:] if parts[0] == 'include' else parts[1:])


def code_errors(root):
    for path in module_sources(root):
        name = path.relative_to(root).as_posix()
        folder = folder_of(root, path)
        rules = {}
        if any(folder == hot or folder.startswith(hot + '/') for hot in HOT):
            rules |= HOT_TOKENS
        if not folder.startswith('io/dpdk'):
            rules[r'\brte_'] = 'DPDK stays in src/io/dpdk'
        if not any(allowed.match(name) for allowed in CAST_FILES):
            rules[r'\breinterpret_cast\b'] = 'bytes become a type in wire/view.hpp'
        for number, line in enumerate(without_noise(path.read_text()).splitlines(), 1):
            if re.match(r'\s*#\s*include', line):
                continue
            for pattern, why in rules.items():
                if found := re.search(pattern, line):
                    yield f'{path}:{number}: {found.group(0)}: {why}'


def text_errors(root):
    for path in text_files(root):
        for number, line in enumerate(path.read_text(errors='replace').splitlines(), 1):
            for pattern, why in TEXT_TOKENS.items():
                if found := re.search(pattern, line):
                    yield f'{path}:{number}: {found.group(0)}: {why}'


if __name__ == '__main__':
    ROOT, _ = arguments()
    report([*code_errors(ROOT), *text_errors(ROOT)])
