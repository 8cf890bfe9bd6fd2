#!/usr/bin/env python3
"""The scripts of dpdk-config/ that a newcomer meets first: their table, and their refusals.

usage: quickstart_test.py ROOT

The quickstart itself takes 20 s of replay and is a README command; what it is made of is tested by
install_test.py and strategy_test.py.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else '.').resolve()
STATS = {'packets': 5_066, 'messages': 30_000, 'messages_by_type': {'A': 20_000, 'D': 10_000},
         'gaps': 1, 'gap_messages': 3, 'drops': {'not_udp': 2, 'checksum': 0}, 'instruments': 40,
         'books': 39, 'snapshots': 12_345, 'wall_seconds': 20.0, 'fingerprint': '0123456789abcdef'}
SUMMARY = ('records=100 lost=7 published_p50_ns=1000 published_p99_ns=2000 published_p999_ns=3000 '
           'read_p50_ns=1500 read_p99_ns=2500 read_p999_ns=3500\n')


def table(folder, strategy):
    (folder / 'stats.json').write_text(json.dumps(STATS))
    (folder / 'strategy.out').write_text(strategy)
    return subprocess.run([sys.executable, ROOT / 'dpdk-config/quickstart_table.py',
                           folder / 'stats.json', folder / 'strategy.out'],
                          check=True, capture_output=True, text=True).stdout


def install_packages(folder, wanted):
    """Runs a copy of the script with other packages, as an ordinary user where we are root."""
    shutil.copy(ROOT / 'dpdk-config/install-packages.sh', folder)
    (folder / 'packages.txt').write_text(wanted)
    folder.chmod(0o755)
    user = {'user': 'nobody'} if os.getuid() == 0 else {}
    return subprocess.run(['bash', folder / 'install-packages.sh'], capture_output=True,
                          text=True, check=False, **user)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shown = table(folder, 'other output\n' + SUMMARY)
        for part in ('30,000 in 20.0 s, 1,500 a second', 'A 20,000  D 10,000', '1 (3 messages)',
                     'not_udp 2\n', 'read 100, lost 7', '1,000 ns', '3,500 ns', '0123456789abcdef'):
            assert part in shown, f'{part!r} is not in\n{shown}'
        assert 'not measured' in table(folder, '')

        if shutil.which('dpkg-query') is None:
            print('skipped: install-packages.sh: this is no Debian')
            return
        done = install_packages(folder, '# words\n\nbash  # a shell\n')
        assert (done.returncode, done.stderr) == (0, ''), done
        done = install_packages(folder, 'bash\nno-such-package-here\n')
        assert done.returncode == 3 and 'only root' in done.stderr, done
        assert 'no-such-package-here' in done.stderr and 'bash' not in done.stderr.split('\n')[1]
    script = (ROOT / 'dpdk-config/quickstart.sh').read_text()
    assert '.$(id -u).$$' in script and '--publish "$segment"' in script  # nobody else's segment
    print('table and refusals as they should be')


if __name__ == '__main__':
    main()
