"""Which of a protocol's mutants a run tries: one for each labelled step, and with WIREBOOK_LONG
(tests/run.sh --all) every one."""
import os


def chosen(names):
    """`names` begin with the step that they weaken, as in 'W4 relaxed'."""
    if os.environ.get('WIREBOOK_LONG'):
        return list(names)
    first = {}
    for name in names:
        first.setdefault(name.split()[0], name)
    return list(first.values())
