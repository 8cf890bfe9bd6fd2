#!/usr/bin/env python3
"""wirebook doctor on made-up hosts: a good one, and one with each thing broken in turn.

usage: doctor_test.py WIREBOOK [CHECK...]
"""
import json
import re
import sys

import e2e_tools
from e2e_tools import ROOT, run
from fake_host import CPU, FEED, FEED_B, LIMITS, OWN, PCI, Host

CONFIG = '''[[port]]
device = "{device}"
[[channel]]
name = "a"
feed = "itch50"
lines = [ {{ group = "233.54.12.1:20001", port = 0 }} ]
[publish]
name = "a"
[sizes]
orders = 1024
levels = 1024
instruments = 16
'''


def findings(program, host, *arguments, status=(0, 3)):
    done = run(program, 'doctor', '--json', '--root', host.folder, *arguments, status=status)
    answer = json.loads(done.stdout)
    states = [finding['state'] for finding in answer['findings']]
    for state in ('ok', 'warn', 'fail', 'unknown'):
        assert answer[state] == states.count(state), answer
    assert (done.returncode == 3) == ('fail' in states)
    for finding in answer['findings']:
        assert finding['found'] and finding['why'], finding
        bad = finding['state'] in ('warn', 'fail')
        assert bad == bool(finding['command']), finding
    return {finding['id']: finding for finding in answer['findings']}


def bad(program, host, *arguments):
    """What is not as it should be: name -> state."""
    return {name: finding['state'] for name, finding in findings(program, host, *arguments).items()
            if finding['state'] in ('warn', 'fail')}


def config(folder, device):
    path = folder / 'doctor.toml'
    path.write_text(CONFIG.format(device=device))
    return path


def as_root(host):
    host.replace('proc/self/status', 'Uid:\t1000', 'Uid:\t0')


def check_a_good_host_has_nothing_to_mend(program, folder):
    host = Host(folder / 'host')
    all_of_them = findings(program, host, status=0)
    assert {f['state'] for f in all_of_them.values()} == {'ok'}, all_of_them
    as_root(host)
    assert not bad(program, host)


# What is broken -> which findings turn, and no other.
BROKEN = {
    'hugepages-none': (lambda h: h.hugepages(0, 0), {'hugepages': 'fail'}),
    'hugepages-used': (lambda h: h.hugepages(1024, 4), {'hugepages': 'fail'}),
    'hugepages-node': (lambda h: h.write(
        'sys/devices/system/node/node1/hugepages/hugepages-2048kB/free_hugepages', 1), {'hugepages': 'warn'}),
    'hugepages-boot': (lambda h: h.remove('etc/sysctl.d/60-pages.conf'), {'hugepages-boot': 'warn'}),
    'hugetlbfs': (lambda h: h.replace('proc/mounts', 'hugetlbfs', 'ext4'), {'hugetlbfs': 'warn'}),
    'shm-small': (lambda h: h.replace('proc/mounts', 'size=8g', 'size=65536k'), {'shm': 'fail'}),
    'shm-none': (lambda h: h.replace('proc/mounts', '/dev/shm', '/dev/other'), {'shm': 'fail'}),
    'memlock': (lambda h: h.write('proc/self/limits', LIMITS.replace('unlimited', '8388608')),
                {'memlock': 'fail'}),
    'open-files': (lambda h: h.write('proc/self/limits', LIMITS.replace('65536', '1024')),
                   {'open-files': 'warn'}),
    'rights': (lambda h: h.replace('proc/self/status', '3000', '0000'), {'rights': 'warn'}),
    'thp': (lambda h: h.write('sys/kernel/mm/transparent_hugepage/enabled', '[always] madvise never'),
            {'thp': 'warn'}),
    'numa-balancing': (lambda h: h.write('proc/sys/kernel/numa_balancing', 1), {'numa-balancing': 'warn'}),
    'iommu': (lambda h: (h.remove('sys/kernel/iommu_groups'), h.write('sys/kernel/iommu_groups/x', ''),
                         h.remove('sys/kernel/iommu_groups/x')), {'iommu': 'fail'}),
    'vfio': (lambda h: h.remove('dev/vfio/vfio'), {'vfio': 'fail'}),
    'iommu-group': (lambda h: (h.nic('0000:3b:00.2', 'ice'), h.join_group('0000:3b:00.2', '17')),
                    {'iommu-group': 'fail'}),
    'nic-driver': (lambda h: [h.link(f'{PCI}/devices/{nic}/driver', '../../drivers/ice')
                              for nic in (FEED, FEED_B)], {'nic-driver': 'warn'}),
    'link': (lambda h: h.write('sys/class/net/eth0/carrier', 0), {'link': 'warn'}),
    'nic-numa': (lambda h: [h.write(f'{PCI}/devices/{nic}/numa_node', 0)
                            for nic in (FEED, FEED_B)], {'nic-numa': 'warn'}),
    'multicast-route': (lambda h: h.replace('proc/net/route', 'eth0\t00000000', 'eth0\t0000000B'),
                        {'multicast-route': 'warn'}),
    'isolated-cores': (lambda h: h.write(f'{CPU}/isolated', ''), {'isolated-cores': 'warn'}),
    'nohz-full': (lambda h: h.write(f'{CPU}/nohz_full', '(null)'), {'nohz-full': 'warn'}),
    'nohz-full-part': (lambda h: h.write(f'{CPU}/nohz_full', '7'), {'nohz-full': 'warn'}),
    # nohz_full= moves the clean-up away as well: both have to be missing.
    'rcu-nocbs': (lambda h: (h.replace('proc/cmdline', 'rcu_nocbs=6-7', ''), h.write(f'{CPU}/nohz_full', '')),
                  {'rcu-nocbs': 'warn', 'nohz-full': 'warn'}),
    'irq-affinity': (lambda h: h.write('proc/irq/24/effective_affinity_list', '7'), {'irq-affinity': 'warn'}),
    'smt': (lambda h: h.write(f'{CPU}/cpu6/topology/thread_siblings_list', '2,6'), {'smt': 'warn'}),
    'governor': (lambda h: h.write(f'{CPU}/cpu7/cpufreq/scaling_governor', 'powersave'), {'governor': 'warn'}),
    'c-states': (lambda h: h.write(f'{CPU}/cpu6/cpuidle/state2/disable', 0), {'c-states': 'warn'}),
    'rt-throttling': (lambda h: h.write('proc/sys/kernel/sched_rt_runtime_us', 950000),
                      {'rt-throttling': 'warn'}),
    'clock-source': (lambda h: h.write('sys/devices/system/clocksource/clocksource0/current_clocksource', 'hpet'),
                     {'clock-source': 'warn'}),
    'tsc': (lambda h: h.replace('proc/cpuinfo', 'nonstop_tsc', ''), {'tsc': 'warn'}),
}
# Findings that no single change turns: the machine is what it is; see the check of secure boot.
ALWAYS = {'machine', 'secure-boot'}


def check_each_broken_thing_turns_its_finding_and_no_other(program, folder):
    good = findings(program, Host(folder / 'good'))
    assert set(good) == ALWAYS | {name for _, expected in BROKEN.values() for name in expected}
    for name, (damage, expected) in BROKEN.items():
        host = Host(folder / name)
        damage(host)
        assert bad(program, host) == expected, f'{name}: {bad(program, host)}'


def check_secure_boot_matters_without_an_iommu(program, folder):
    host = Host(folder / 'host')
    path = host.folder / 'sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c'
    path.parent.mkdir(parents=True)
    path.write_bytes(b'\x06\0\0\0\x01')
    assert findings(program, host)['secure-boot']['found'].startswith('on;')
    BROKEN['iommu'][0](host)
    assert bad(program, host) == {'iommu': 'fail', 'secure-boot': 'fail'}
    path.write_bytes(b'\x06\0\0\0\0')
    assert bad(program, host) == {'iommu': 'fail'}


def check_a_configuration_narrows_the_view(program, folder):
    host = Host(folder / 'host')
    assert not bad(program, host, '-c', config(folder, FEED))
    # The own NIC is with the kernel; a device that is not there; an interface.
    found = findings(program, host, '-c', config(folder, OWN))['nic-driver']
    assert found['state'] == 'fail' and found['command'].endswith(f'wirebook bind {OWN}'), found
    assert bad(program, host, '-c', config(folder, '0000:99:00.0'))['nic-driver'] == 'fail'
    assert bad(program, host, '-c', config(folder, 'net_af_packet0,iface=eth9'))['nic-driver'] == 'fail'
    # Nothing of vfio matters to an interface that the kernel keeps.
    BROKEN['iommu'][0](host)
    BROKEN['vfio'][0](host)
    assert not bad(program, host, '-c', config(folder, 'net_af_packet0,iface=eth0'))
    BROKEN['hugepages-none'][0](host)
    path = config(folder, 'net_af_packet0,iface=eth0')
    assert bad(program, host, '-c', path) == {'hugepages': 'fail'}
    path.write_text(path.read_text() + '[dpdk]\nhugepages = false\n')
    assert not bad(program, host, '-c', path)


def check_lcores_of_a_configuration(program, folder):
    host = Host(folder / 'host')
    path = config(folder, FEED)
    text = path.read_text()
    for cpu, expected in (('6', {}), ('3', {'isolated-cores': 'warn', 'nic-numa': 'warn'}),
                          ('99', {'isolated-cores': 'fail', 'nic-numa': 'warn'})):
        path.write_text(f'{text}[[lcore]]\ncpu = {cpu}\n')
        assert bad(program, host, '-c', path) == expected, (cpu, bad(program, host, '-c', path))
    host.write('proc/sys/kernel/sched_rt_runtime_us', 950000)
    path.write_text(f'{text}[[lcore]]\ncpu = 6\n')
    assert not bad(program, host, '-c', path)
    path.write_text(f'{text}[[lcore]]\ncpu = 6\nfifo_priority = 50\n')
    assert bad(program, host, '-c', path) == {'rt-throttling': 'warn'}


def check_publish_directory_of_a_configuration(program, folder):
    host = Host(folder / 'host')
    path = config(folder, FEED)
    path.write_text(path.read_text().replace('[publish]', '[publish]\ndirectory = "/srv/segments"'))
    assert bad(program, host, '-c', path) == {'shm': 'fail'}


def check_what_is_outside_a_container_says_so(program, folder):
    host = Host(folder / 'host')
    host.write('.dockerenv', '')
    host.hugepages(0, 0)
    host.write(f'{CPU}/cpu7/cpufreq/scaling_governor', 'powersave')
    found = findings(program, host)
    assert 'a container' in found['machine']['found']
    assert found['hugepages']['outside'] and found['governor']['outside']
    assert not found['multicast-route']['outside']
    assert b'on the host outside' in run(program, 'doctor', '--root', host.folder, status=3).stdout
    # A virtual machine reserves its own pages; the frequency is the hypervisor's.
    host.remove('.dockerenv')
    host.replace('proc/cpuinfo', 'flags :', 'flags : hypervisor')
    found = findings(program, host)
    assert 'a virtual machine' in found['machine']['found']
    assert not found['hugepages']['outside'] and found['governor']['outside']


def check_text_is_aligned_and_has_commands(program, folder):
    host = Host(folder / 'host')
    host.write(f'{CPU}/isolated', '')
    done = run(program, 'doctor', '--root', host.folder)
    lines = done.stdout.decode().splitlines()
    assert not done.stderr
    assert '\033' not in done.stdout.decode()
    names = [line for line in lines if line.startswith(('ok ', 'warn ', 'unknown '))]
    assert all(re.match(r'(ok|warn|unknown) +\S+ +\S', line) and line[8] != ' ' for line in names), names
    at = next(i for i, line in enumerate(lines) if 'isolated-cores' in line)
    assert lines[at].startswith('warn') and 'why ' in lines[at + 1], lines
    # The node of the NIC, not the first cores of all.
    assert lines[at + 2].strip() == 'mend  sudo bash dpdk-config/isolate-cores.sh 4-7 --apply   # then restart'
    assert re.fullmatch(r'0 fail, 1 warn, \d+ ok, \d unknown', lines[-1]), lines[-1]


def check_an_empty_or_odd_host_is_no_crash(program, folder):
    for name in ('sys', 'proc'):
        (folder / 'empty' / name).mkdir(parents=True)
    run(program, 'doctor', '--root', folder / 'empty', status=3)
    run(program, 'doctor', '--root', folder / 'nowhere', status=2)
    # Files that say nothing sensible.
    host = Host(folder / 'odd')
    for path in sorted(host.folder.rglob('*')):
        if path.is_file() and not path.is_symlink() and not re.search('/cpu[1-5]/', str(path)):
            for text in (b'', b'\xff\0\x80,-,--,9-1,0-99999999999999999999\n', b'7' * 5000, b'\n\n :\n'):
                kept = path.read_bytes()
                path.write_bytes(text)
                json.loads(run(program, 'doctor', '--json', '--root', host.folder, status=(0, 3)).stdout)
                path.write_bytes(kept)


def check_here(program, folder):
    """This very machine: whatever it is, an answer."""
    answer = json.loads(run(program, 'doctor', '--json', status=(0, 3)).stdout)
    assert len(answer['findings']) == len(BROKEN_NAMES | ALWAYS)
    run(program, 'doctor', status=(0, 3), cwd=folder)


BROKEN_NAMES = {name for _, expected in BROKEN.values() for name in expected}


def check_the_page_lists_every_finding(program, folder):
    answer = json.loads(run(program, 'doctor', '--json', '--root', Host(folder / 'host').folder).stdout)
    rows = re.findall(r'^\| `([a-z-]+)` \| (.*) \| (.*) \|$', (ROOT / 'docs/doctor.md').read_text(), re.MULTILINE)
    assert [name for name, _, _ in rows] == [finding['id'] for finding in answer['findings']]
    assert all(why and what for _, what, why in rows)


if __name__ == '__main__':
    sys.exit(e2e_tools.main(globals()))
