#!/usr/bin/env python3
"""Shows that each check beside this file can fail: small trees, clean and with one violation."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

TOOLS = pathlib.Path(__file__).resolve().parent
STYLE = TOOLS.parent / '.clang-format'
MARK = 'TO' 'DO'  # in two parts: check_tokens reads this file too

# check -> {what is wrong: {file: text}}; every tree but these is clean.
BROKEN = {
    'layers': {
        'wire includes book': {'src/wire/a.cpp': '#include "wirebook/book/b.hpp"\n'},
        'an indented include counts': {'src/wire/a.cpp': '  #  include <wirebook/io/b.hpp>\n'},
        'book includes app': {'include/wirebook/book/a.hpp': '#include "wirebook/app/b.hpp"\n'},
        'a header of DPDK in io': {'src/io/a.cpp': '#include <rte_mbuf.h>\n'},
        'an unknown module': {'src/misc/a.cpp': '\n'},
        'an unknown module is included': {'src/app/a.cpp': '#include "wirebook/misc/b.hpp"\n'},
        'ring needs a library': {'include/wirebook/ring/a.hpp': '#include <zlib.h>\n'},
        'ring needs a library through core': {
            'include/wirebook/ring/a.hpp': '#include "wirebook/core/b.hpp"\n',
            'include/wirebook/core/b.hpp': '#include <fmt/format.h>\n'},
        'C++ in a header for C': {'include/wirebook.h': '#include "wirebook/ring/c.hpp"\n'},
        'the C interface needs feed': {'src/capi/a.cpp': '#include "wirebook/feed/b.hpp"\n'},
    },
    'format': {'two blanks': {'src/wire/a.cpp': 'int  a = 1;\n'}},
    'headers': {
        'an include is missing': {'include/wirebook/wire/a.hpp':
                                  '#pragma once\ninline std::string a() { return {}; }\n'},
        'a warning': {'include/wirebook/wire/a.hpp':
                      '#pragma once\ninline char a(int b) { return b; }\n'},
    },
    'lengths': {
        'a long header': {'include/wirebook/wire/a.hpp': '\n' * 301},
        'a long source': {'src/wire/a.cpp': '\n' * 401},
        'a long test': {'tests/a_test.cpp': '\n' * 601},
        'a long README': {'README.md': '\n' * 151},
    },
    'tokens': {
        'throw in wire': {'src/wire/a.cpp': 'void a() { throw 1; }\n'},
        'new in io/dpdk': {'src/io/dpdk/a.cpp': 'int* a = new int;\n'},
        'volatile in core': {'include/wirebook/core/a.hpp': 'extern volatile int a;\n'},
        'stdout in feed': {'src/feed/a.cpp': 'void a() { std::cout << 1; }\n'},
        'seq_cst in ring': {'src/ring/a.cpp': 'auto a = std::memory_order_seq_cst;\n'},
        'a cast in feed': {'src/feed/a.cpp': 'auto a = reinterpret_cast<char*>(b);\n'},
        'DPDK in app': {'src/app/a.cpp': 'rte_mbuf* a;\n'},
        'a quote does not hide what follows': {
            'src/wire/a.cpp': "char a = '\"'; void b() { throw 1; }  // \"\n"},
        'unfinished work': {'docs/a.md': f'{MARK}: write this\n'},
        'a path of a machine': {'tests/a.sh': 'cat /ho' 'me/me/a\n'},
    },
    'tidy': {'an uninitialised variable': {
        'src/wire/a.cpp': 'int a() {\n    int b;\n    return 1;\n}\n'}},
}
CLEAN = {
    'include/wirebook/wire/a.hpp': '#pragma once\n// A new throw: volatile, in words only.\n'
                                   '#include <new>\n#include "wirebook/core/b.hpp"\n',
    'include/wirebook/core/b.hpp': '#pragma once\n#include <cstddef>\n',
    'include/wirebook/ring/c.hpp': '#pragma once\n#include <sys/mman.h>\n',
    'src/io/dpdk/a.cpp': 'const char* a = "throw new";\n',
    'src/app/d.cpp': '#include "wirebook/wire/a.hpp"\nvoid a() {\n    throw 1;\n}\n',
    'README.md': 'Short.\n',
}


def run(check, files):
    """The exit status of a check on a tree of these files."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        shutil.copy(STYLE, root)
        (root / '.clang-tidy').write_text((TOOLS.parent / '.clang-tidy').read_text())
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        commands = ', '.join(
            f'{{"directory": "{root}", "file": "{path}", "command": "g++ -std=c++20 '
            f'-I{root}/include -c {path}"}}' for path in sorted(root.glob('src/wire/*.cpp')))
        (root / 'compile_commands.json').write_text(f'[{commands}]')
        return subprocess.run([sys.executable, TOOLS / f'check_{check}.py', root, root],
                              capture_output=True, check=False).returncode


def main():
    failures = []
    for check, trees in BROKEN.items():
        status = run(check, CLEAN)
        if status == 77:
            print(f'skipped: {check}: a tool that it needs is not installed')
            continue
        if status != 0:
            failures.append(f'check_{check}: a clean tree does not pass (exit {status})')
        failures += [f'check_{check}: misses "{wrong}"' for wrong, files in trees.items()
                     if run(check, {**CLEAN, **files}) != 1]
    print('\n'.join(failures) or f'{sum(map(len, BROKEN.values()))} violations found')
    sys.exit(bool(failures))


if __name__ == '__main__':
    main()
