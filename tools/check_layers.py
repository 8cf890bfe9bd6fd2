#!/usr/bin/env python3
"""A module includes only the modules below it, and DPDK stays in its folder."""
import re

from source_tree import INCLUDE, arguments, closure, headers, module_of, module_sources, report

MAY_INCLUDE = {  # module -> modules whose headers it may include besides its own
    'core': set(),
    'wire': {'core'}, 'book': {'core'}, 'ring': {'core'},
    'io': {'core', 'wire'}, 'feed': {'core', 'wire', 'book'},
    'publish': {'core', 'book', 'ring'}, 'match': {'core', 'book'}, 'capi': {'core', 'ring'},
    'sim': None, 'app': None,  # None: whatever is not app itself
}
# Headers of the standard library, and Linux's: what a strategy's machine has for certain.
STANDARD = re.compile(r'^([a-z_0-9]+|c?(assert|errno|float|limits|math|stdint|stddef|string|time)'
                      r'\.h|x86intrin\.h|immintrin\.h|fcntl\.h|unistd\.h|dirent\.h|fnmatch\.h|sched\.h'
                      r'|sys/[a-z]+\.h|linux/[a-z_]+\.h)$')


def includes(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if found := INCLUDE.match(line):
            yield number, found.group(1)


def layer_errors(root):
    for path in module_sources(root):
        module = module_of(root, path)
        if module not in MAY_INCLUDE:
            yield f'{path}: unknown module {module}; tools/check_layers.py lists them'
            continue
        allowed = MAY_INCLUDE[module]
        for number, name in includes(path):
            where = f'{path}:{number}'
            if name.startswith('rte_') and path.relative_to(root).parts[:3] != ('src', 'io', 'dpdk'):
                yield f'{where}: DPDK headers belong in src/io/dpdk only'
            target = re.match(r'wirebook/(\w+)/', name)
            if target is None or target.group(1) == module:
                continue
            if target.group(1) not in MAY_INCLUDE:
                yield f'{where}: unknown module {target.group(1)}'
            elif target.group(1) == 'app' or (allowed is not None
                                              and target.group(1) not in allowed):
                yield f'{where}: {module} may not include {target.group(1)}'


def ring_errors(root):
    """What a strategy includes needs nothing but the standard library."""
    ours = {path for path in headers(root)
            if path.relative_to(root).parts[:3] == ('include', 'wirebook', 'ring')}
    for path in sorted({part for header in ours for part in closure(root, header)}):
        for number, name in includes(path):
            if not name.startswith('wirebook/') and not STANDARD.match(name):
                yield f'{path}:{number}: <{name}> is neither standard nor Linux, and strategies ' \
                      'include this file'


def c_errors(root):
    """The C interface shows nothing of C++, nor anything else of ours."""
    for path in sorted([*root.glob('include/*.h'), *root.glob('include/wirebook/**/*.h')]):
        for number, name in includes(path):
            if name not in ('stddef.h', 'stdint.h') and not name.startswith('wirebook/capi/'):
                yield f'{path}:{number}: <{name}> does not belong into a header for C'


if __name__ == '__main__':
    ROOT, _ = arguments()
    report([*layer_errors(ROOT), *ring_errors(ROOT), *c_errors(ROOT)])
