#!/usr/bin/env python3
"""Is what a virtual machine of run.sh left behind as it should be?

usage: judge.py NIC DRIVER FOLDER FEED

FOLDER/out: the steps of guest.sh, each with NAME.out, NAME.err, NAME.status; FOLDER/came-out.json:
what send_frames.py received. FEED: truth.final.csv, fingerprint and lines.json of the feed.
"""
import json
import pathlib
import sys

from send_frames import reports

NIC, DRIVER, FOLDER, FEED = *sys.argv[1:3], *map(pathlib.Path, sys.argv[3:5])
OUT = FOLDER / 'out'
GROUPS = ('239.192.0.1', '239.192.0.2')
ADDRESSES = ('0000:00:05.0', '0000:00:06.0')
# The kernel for clouds has no driver for e1000e: nothing has the NIC before, nothing takes it back.
HAS_KERNEL_DRIVER = NIC == 'virtio-net-pci'
DPDK_DRIVER = {'e1000e': 'net_e1000_em', 'virtio-net-pci': 'net_virtio'}[NIC]
RECEPTION = {'e1000e': 'list of multicast addresses', 'virtio-net-pci': 'all-multicast'}[NIC]


def status(step):
    return int((OUT / f'{step}.status').read_text())


def said(step):
    return (OUT / f'{step}.out').read_text() + (OUT / f'{step}.err').read_text()


def expect(step, code, *texts):
    assert status(step) == code, f'{step}: exit status {status(step)}\n{said(step)}'
    for text in texts:
        assert text in said(step), f'{step}: no "{text}" in\n{said(step)}'


def states(step):
    findings = json.loads((OUT / f'{step}.out').read_text())['findings']
    return {finding['id']: finding['state'] for finding in findings}


def check_the_machine_as_it_was_found():
    found = states('doctor_before')
    expect('doctor_before', 3)
    for name in ('hugepages', 'nic-driver', 'vfio'):
        assert found[name] == 'fail', f'doctor_before: {name}: {found[name]}'
    assert found['iommu'] == ('ok' if DRIVER == 'vfio-pci' else 'fail'), found
    if HAS_KERNEL_DRIVER:
        assert found['link'] == found['multicast-route'] == 'ok', found
        expect('early', 3, 'hugepages')


def check_the_scripts_prepare_it():
    expect('hugepages', 0)
    expect('hugepages_status', 0, '96 reserved')
    expect('mount', 0)
    expect('vfio', 0)


def check_bind_takes_the_nics():
    if HAS_KERNEL_DRIVER:
        expect('refused', 3, 'not touched: its interface eth0 carries', 'route')
    expect('bind', 0, *ADDRESSES)
    expect('bind_again', 0, 'nothing to do')


def check_doctor_is_content():
    found = states('doctor')
    for name in ('rights', 'hugepages', 'hugetlbfs', 'shm', 'memlock', 'open-files', 'iommu', 'vfio',
                 'nic-driver', 'secure-boot', 'nic-numa'):
        assert found[name] == 'ok', f'doctor: {name}: {found[name]}\n{said("doctor_text")}'
    assert found['clock-source'] == 'ok', found
    assert found['iommu-group'] == ('ok' if DRIVER == 'vfio-pci' else 'unknown'), found
    # An emulated CPU promises nothing about its time stamp counter.
    assert [name for name, state in found.items() if state == 'fail'] in ([], ['tsc']), found


def check_all_packets_came():
    expect('run', 0, DPDK_DRIVER, RECEPTION, 'link up')
    stats = json.loads((OUT / 'stats.json').read_text())
    feed = json.loads((FEED / 'lines.json').read_text())
    assert stats['messages'] == feed['messages'] and stats['gaps'] == 0, said('run')
    assert stats['packets'] == feed['packets'] + 2, said('run')  # two queries
    assert stats['gaps_filled'] > 100, 'each line loses packets that the other has'
    assert [port['link_changes'] for port in stats['ports']] == [2, 0], stats['ports']
    for port, address in zip(stats['ports'], ADDRESSES):
        assert port['device'] == address and port['driver'] == DPDK_DRIVER, port
        assert port['packets'] > 20_000 and port['membership'] == 'igmp', port
        assert port['missed'] == port['no_mbuf'] == port['errors'] == 0, port
        assert port['igmp_queries'] == 1 and port['igmp_reports'] >= 2, port
    print(f'  {stats["packets"]} packets, {stats["messages"]} messages, {stats["gaps_filled"]} holes '
          f'filled by the other line, {stats["wall_seconds"]:.1f} s')


def check_books_are_the_exchanges():
    assert (OUT / 'final.csv').read_bytes() == (FEED / 'truth.final.csv').read_bytes(), 'final.csv'
    stats = json.loads((OUT / 'stats.json').read_text())
    wanted = (FEED / 'fingerprint').read_text().strip()
    assert stats['fingerprint'] == wanted, (stats['fingerprint'], wanted)


def check_groups_are_joined_answered_and_left():
    came_out = json.loads((FOLDER / 'came-out.json').read_text())
    for group, frames in zip(GROUPS, came_out):
        # Change to exclude nothing: join; mode is exclude nothing: answer; change to include: leave.
        plugged = [(['plugged'], 4)] if group == GROUPS[0] else []
        for phases, record in ((['start'], 4), *plugged, (['query', 'end'], 2), (['end'], 3)):
            said_then = reports(out for out in frames if out['at'] in phases)
            records = [one for kind, several in said_then if kind == 0x22 for one in several]
            assert [record, group, []] in map(list, records), (record, group, said_then)


def check_unbind_gives_them_back():
    if HAS_KERNEL_DRIVER:
        expect('unbind', 0)
        assert (OUT / 'drivers_after').read_text().split() == ['virtio-pci'] * 2
    else:
        expect('unbind', 3, 'no kernel driver takes it')


def main():
    failed = 0
    for name, check in list(globals().items()):
        if not name.startswith('check_'):
            continue
        try:
            check()
        except (AssertionError, OSError, ValueError, KeyError) as problem:
            failed += 1
            print(f'{name}: {type(problem).__name__} {problem}')
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
