#!/usr/bin/env python3
"""tshark reads the IGMP frames that we send as we mean them, finds none malformed and each checksum
good.

usage: igmp_tshark_test.py IGMP_FRAMES
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
FIELDS = ['eth.dst', 'vlan.id', 'ip.src', 'ip.dst', 'ip.ttl', 'ip.dsfield', 'ip.opt.ra',
          'ip.checksum.status', 'igmp.type', 'igmp.checksum.status', 'igmp.maddr',
          'igmp.record_type', 'igmp.saddr', '_ws.malformed', '_ws.expert.message']
GROUP = '233.54.12.%d'
TYPES = [1, 2, 3, 4, 5, 6]


def read(path):
    """A dictionary a frame; a field that occurs several times is a list."""
    command = ['tshark', '-n', '-r', path, '-o', 'ip.check_checksum:TRUE', '-T', 'fields',
               '-E', 'separator=|', '-E', 'occurrence=a', '-E', 'aggregator=;']
    for field in FIELDS:
        command += ['-e', field]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        yield {name: [value for value in text.split(';') if value]
               for name, text in zip(FIELDS, line.split('|'), strict=True)}


def check_common(frame, vlan):
    assert frame['_ws.malformed'] == [] and frame['_ws.expert.message'] == [], frame
    assert frame['ip.checksum.status'] == ['1'] and frame['igmp.checksum.status'] == ['1'], frame
    assert frame['ip.ttl'] == ['1'] and frame['ip.src'] == ['10.1.2.3'], frame
    assert int(frame['ip.dsfield'][0], 16) == 0xC0, frame
    assert frame['ip.opt.ra'] == ['0'], frame
    assert frame['vlan.id'] == vlan, frame


def check_small(frame, kind, destination, mac):
    assert int(frame['igmp.type'][0], 16) == kind, frame
    assert frame['igmp.maddr'] == [GROUP % 111], frame
    assert frame['ip.dst'] == [destination] and frame['eth.dst'] == [mac], frame


def check(frames, vlan):
    for frame in frames:
        check_common(frame, vlan)
    check_small(frames[0], 0x12, GROUP % 111, '01:00:5e:36:0c:6f')
    check_small(frames[1], 0x16, GROUP % 111, '01:00:5e:36:0c:6f')
    check_small(frames[2], 0x17, '224.0.0.2', '01:00:5e:00:00:02')
    types, groups, sources = [], [], []
    for frame in frames[3:]:
        assert int(frame['igmp.type'][0], 16) == 0x22, frame
        assert frame['ip.dst'] == ['224.0.0.22'], frame
        assert frame['eth.dst'] == ['01:00:5e:00:00:16'], frame
        types += map(int, frame['igmp.record_type'])
        groups += frame['igmp.maddr']
        sources += frame['igmp.saddr']
    assert types == TYPES + [6] * (len(types) - 6), types
    assert groups == [GROUP % (111 + min(i, 5)) for i in range(len(types))], groups
    few = ['10.0.0.1', '10.0.0.2']
    many = [f'10.0.{i // 256}.{i % 256}' for i in range(1, 801)]
    assert sources == few * 3 + many, sources


def main():
    if shutil.which('tshark') is None:
        print('skipped: tshark is not installed')
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name) / 'igmp.pcap'
        subprocess.run([sys.argv[1], path], check=True)
        frames = list(read(path))
    half = len(frames) // 2
    assert half == 3 + 4, f'{len(frames)} frames'
    check(frames[:half], [])
    check(frames[half:], ['100'])
    print(f'{len(frames)} frames are as tshark wants them')
    return 0


if __name__ == '__main__':
    sys.exit(main())
