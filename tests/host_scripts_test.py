#!/usr/bin/env python3
"""The scripts of dpdk-config on made-up hosts, and shellcheck of every script of the repository.

usage: host_scripts_test.py WIREBOOK [CHECK...]
"""
import grp
import os
import re
import shutil
import subprocess
import sys

import e2e_tools
from e2e_tools import ROOT, skip
from fake_host import CPU, Host

SCRIPTS = ROOT / 'dpdk-config'
PAGES = 'sys/kernel/mm/hugepages/hugepages-2048kB'
GRUB = 'etc/default/grub.d/wirebook.cfg'


def script(host, name, *arguments, status=0):
    done = subprocess.run(['bash', SCRIPTS / name, *map(str, arguments)], capture_output=True, check=False,
                          env=os.environ | {'WIREBOOK_HOST': str(host.folder)}, stdin=subprocess.DEVNULL)
    assert done.returncode == status, (name, arguments, done)
    return done.stdout.decode() + done.stderr.decode()


def snapshot(host):
    return {path: path.read_bytes() for path in host.folder.rglob('*') if path.is_file()}


def check_shellcheck(program, folder):
    if not shutil.which('shellcheck'):
        skip('shellcheck is not installed')
    scripts = [path for path in ROOT.rglob('*.sh') if not any(part.startswith('build') for part in path.parts)]
    assert len(scripts) >= 8
    done = subprocess.run(['shellcheck', *scripts], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def check_every_script_has_help_and_refuses_nonsense(program, folder):
    host = Host(folder / 'host')
    before = snapshot(host)
    for name in ('hugepages.sh', 'vfio.sh', 'isolate-cores.sh'):
        text = script(host, name, '--help')
        assert name in text and '--dry-run' in text, text
        # Each word of the first lines that looks like an option is one.
        for option in set(re.findall(r'--[a-z-]+', text)):
            assert option in (SCRIPTS / name).read_text().split('\nset -euo', 1)[1], option
        script(host, name, status=2)
        script(host, name, '--nonsense', status=2)
    for arguments in (['reserve'], ['reserve', 'x'], ['reserve', '1', '--size', '3M'], ['reserve', '1', '--node'],
                      ['mount', 'here'], ['reserve', '-5']):
        script(host, 'hugepages.sh', *arguments, status=2)
    for arguments in (['8'], ['0-7'], ['x'], ['1-'], ['--iommu=x']):
        script(host, 'isolate-cores.sh', *arguments, status=2)
    assert snapshot(host) == before


def check_hugepages(program, folder):
    host = Host(folder / 'host')
    assert '2048kB pages: 1024 reserved, 1024 free' in script(host, 'hugepages.sh', 'status')
    before = snapshot(host)
    assert 'nr_hugepages' in script(host, 'hugepages.sh', 'reserve', 2048, '--persist', '--dry-run')
    assert snapshot(host) == before
    script(host, 'hugepages.sh', 'reserve', 100)  # there are more: none is taken away
    assert snapshot(host) == before
    for _ in range(2):
        script(host, 'hugepages.sh', 'reserve', 2048, '--persist')
        assert host.read(f'{PAGES}/nr_hugepages') == '2048\n'
        assert host.read('etc/tmpfiles.d/wirebook-hugepages-2M.conf') == f'w! /{PAGES}/nr_hugepages - - - - 2048\n'
    script(host, 'hugepages.sh', 'reserve', 700, '--node', 1, '--persist')
    node = 'sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages'
    assert host.read(node) == '700\n'
    assert host.read('etc/tmpfiles.d/wirebook-hugepages-2M-node1.conf') == f'w! /{node} - - - - 700\n'
    assert 'do not fit' in script(host, 'hugepages.sh', 'reserve', 99999999, status=3)
    script(host, 'hugepages.sh', 'reserve', 1, '--node', 7, status=3)
    # The doctor knows what was written.
    host.remove('etc/sysctl.d/60-pages.conf')
    found = subprocess.run([program, 'doctor', '--root', host.folder], capture_output=True, text=True, check=False)
    assert 'reserved when the machine starts' in found.stdout, found.stdout
    script(host, 'hugepages.sh', 'release', '--persist')
    assert host.read(f'{PAGES}/nr_hugepages') == '1024\n'  # those in use: 2048 - 1024 free
    assert not (host.folder / 'etc/tmpfiles.d/wirebook-hugepages-2M.conf').exists()


def check_mount_persists_in_fstab(program, folder):
    host = Host(folder / 'host')
    group = grp.getgrgid(os.getgid()).gr_name
    line = f'none /dev/hugepages hugetlbfs pagesize=2M,mode=0770,gid={os.getgid()} 0 0\n'
    host.write('etc/fstab', '/dev/sda1 / ext4 defaults 0 1\n')
    for _ in range(2):
        script(host, 'hugepages.sh', 'mount', '--group', group, '--persist')
        assert host.read('etc/fstab') == '/dev/sda1 / ext4 defaults 0 1\n' + line
        assert (host.folder / 'dev/hugepages').stat().st_mode & 0o777 == 0o770
    script(host, 'hugepages.sh', 'mount', '--group', 'nosuchgroup', status=3)


def check_vfio(program, folder):
    host = Host(folder / 'host')
    group = grp.getgrgid(os.getgid()).gr_name
    before = snapshot(host)
    script(host, 'vfio.sh', 'load', '--persist', '--group', group, '--dry-run')
    assert snapshot(host) == before
    script(host, 'vfio.sh', 'load', '--persist', '--group', group)
    assert host.read('etc/modules-load.d/wirebook.conf') == 'vfio-pci\n'
    assert f'GROUP="{group}", MODE="0660"' in host.read('etc/udev/rules.d/60-wirebook-vfio.rules')
    assert 'IOMMU groups: 3' in script(host, 'vfio.sh', 'status')
    script(host, 'vfio.sh', 'unload')
    assert snapshot(host) == before
    host.remove('sys/bus/pci/drivers/vfio-pci')
    assert 'modprobe vfio-pci' in script(host, 'vfio.sh', 'load', '--dry-run')
    script(host, 'vfio.sh', 'load', status=3)


def grub_arguments(host):
    """What grub makes of the file."""
    return subprocess.run(['sh', '-c', f'GRUB_CMDLINE_LINUX_DEFAULT=quiet; . {host.folder / GRUB}; '
                           'echo "$GRUB_CMDLINE_LINUX_DEFAULT"'], capture_output=True, text=True,
                          check=True).stdout.strip()


def check_isolate_cores(program, folder):
    host = Host(folder / 'host')
    cores = 'isolcpus=managed_irq,domain,2-3,6 nohz_full=2-3,6 rcu_nocbs=2-3,6 irqaffinity=0-1,4-5,7'
    iommu = 'intel_iommu=on iommu=pt'
    assert script(host, 'isolate-cores.sh', '2-3,6').strip() == cores
    before = snapshot(host)
    script(host, 'isolate-cores.sh', '2-3,6', '--apply', '--dry-run')
    assert snapshot(host) == before
    script(host, 'isolate-cores.sh', '2-3,6', '--apply')
    assert grub_arguments(host) == f'quiet {cores}'
    assert 'has that already' in script(host, 'isolate-cores.sh', '2-3,6', '--apply')
    # One of the two lines changes, the other stays.
    script(host, 'isolate-cores.sh', '--iommu', '--apply')
    assert grub_arguments(host) == f'quiet {cores} {iommu}'
    script(host, 'isolate-cores.sh', '7', '--apply')
    assert grub_arguments(host) == ('quiet isolcpus=managed_irq,domain,7 nohz_full=7 rcu_nocbs=7 '
                                    f'irqaffinity=0-6 {iommu}')
    assert 'online: 0-7' in script(host, 'isolate-cores.sh', '--status')
    script(host, 'isolate-cores.sh', '--undo')
    assert snapshot(host) == before
    assert 'nothing to undo' in script(host, 'isolate-cores.sh', '--undo')
    assert 'core 0' in script(host, 'isolate-cores.sh', '0-1')
    host.write(f'{CPU}/online', '0')
    script(host, 'isolate-cores.sh', '0', status=2)


if __name__ == '__main__':
    sys.exit(e2e_tools.main(globals()))
