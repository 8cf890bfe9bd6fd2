#!/usr/bin/env python3
"""`wirebook run` on DPDK's net_pcap gives the books that `wirebook replay` gives of the same file,
stops as told, and says what to do where it cannot start. Without hugepages, without a NIC.

    e2e_run_test.py WIREBOOK [CHECK...]

Skipped (exit status 77) where the build has no DPDK.
"""
import json
import os
import shlex
import signal
import subprocess
import sys
import time

from e2e_tools import (ROOT, SAMPLE, add, digits, fingerprint, frame, main, mold, pcap, run, skip,
                       write_pcap)

FIXTURES = ROOT / 'tests/fixtures'
IDLE = ('--stop', 'idle=0.3')


def configuration(folder, device, groups, feed='itch50', text=''):
    lines = ', '.join(f'{{ group = "{group}", port = 0 }}' for group in groups)
    path = folder / 'run.toml'
    path.write_text(f'''checksum = "count"
{text}
[dpdk]
hugepages = false
file_prefix = "wirebook_e2e_{os.getpid()}"
[[port]]
device = "{device}"
[[channel]]
name = "all"
feed = "{feed}"
lines = [ {lines} ]
[sizes]
orders = 65536
levels = 65536
instruments = 4096
''')
    return path


def run_live(program, config, *arguments, status=0):
    done = run(program, 'run', '-c', config, *arguments, status=(status, 3))
    if b'no DPDK' in done.stderr:
        skip('this build has no DPDK')
    assert done.returncode == status, done.stderr.decode()
    return done


def groups_of(capture):
    """UDP destinations in a plain Ethernet capture, in order of appearance; also behind a VLAN tag."""
    data = capture.read_bytes()
    order = '<' if data[:4] in (b'\xd4\xc3\xb2\xa1', b'\x4d\x3c\xb2\xa1') else '>'
    name = {'<': 'little', '>': 'big'}[order]
    found, at = [], 24
    while at + 16 <= len(data):
        length = int.from_bytes(data[at + 8:at + 12], name)
        packet = data[at + 16:at + 16 + length]
        at += 16 + length
        ip = packet.find(b'\x08\x00\x45', 12)
        if ip < 0 or len(packet) < ip + 26 or packet[ip + 11] != 17:
            continue
        if packet[ip + 24:ip + 26] == b'\0\0':
            continue  # a later fragment
        address = '.'.join(str(byte) for byte in packet[ip + 18:ip + 22])
        group = f'{address}:{int.from_bytes(packet[ip + 24:ip + 26], "big")}'
        if group not in found and 224 <= packet[ip + 18] < 240:
            found.append(group)
    return found


def check_sample_is_the_same_as_in_replay(program, folder):
    config = configuration(folder, f'net_pcap0,rx_pcap={SAMPLE}', groups_of(SAMPLE))
    live = run_live(program, config, '--fingerprint', *IDLE)
    assert digits(live) == fingerprint(program, SAMPLE, '-c', config)
    assert digits(live) == fingerprint(program, SAMPLE)
    # Dumps too, byte for byte; receive times are in neither.
    for option in ('--top', '--final', '--messages', '--events'):
        live = run_live(program, config, option, '-', *IDLE).stdout
        assert live == run(program, 'replay', SAMPLE, '-c', config, option, '-').stdout, option


def check_fixtures_are_the_same_as_in_replay(program, folder):
    """All captures of one file whose holes do not hang on less than a microsecond."""
    compared = 0
    for case in sorted(FIXTURES.glob('*/case.txt')):
        arguments = shlex.split(case.read_text().splitlines()[0])
        files = [a for a in arguments if a.endswith('.pcap')]
        feed = arguments[arguments.index('--feed') + 1] if '--feed' in arguments else 'itch50'
        if '--feed' not in arguments and case.parent.name.startswith(('deep', 'tops')):
            feed = 'iex-' + case.parent.name[:4]
        if len(files) != 1 or '--lines' in arguments or '-c' in arguments:
            continue
        capture = case.parent / files[0]
        groups = groups_of(capture)
        if not groups:
            continue
        wait = arguments[arguments.index('--gap-wait') + 1] if '--gap-wait' in arguments else 500
        config = configuration(folder, f'net_pcap0,rx_pcap={capture}', groups, feed,
                               f'gap_wait_us = {wait}')
        live = run_live(program, config, '--fingerprint', '--stop', 'idle=0.02')
        assert digits(live) == fingerprint(program, capture, '-c', config), case.parent.name
        compared += 1
    assert compared > 10, compared


def payloads(count, session='SESSION1'):
    return [mold(i + 1, [add(i + 1, 'B', 10, 1000 + i)], session) for i in range(count)]


def check_stop_after_packets(program, folder):
    capture = write_pcap(folder / 'ten.pcap', payloads(10))
    config = configuration(folder, f'net_pcap0,rx_pcap={capture}', ['233.54.12.1:20001'])
    for count in (1, 7, 10):
        done = run_live(program, config, '--stats', '-', '--stop', f'packets={count}')
        found = json.loads(done.stdout)
        assert (found['packets'], found['messages']) == (count, count), found


def check_stop_at_end_of_session(program, folder):
    end = mold(6, [], count=0xFFFF)
    capture = write_pcap(folder / 'end.pcap', payloads(5) + [end])
    config = configuration(folder, f'net_pcap0,rx_pcap={capture}', ['233.54.12.1:20001'])
    done = run_live(program, config, '--stats', '-', '--stop', 'end-of-session')
    found = json.loads(done.stdout)
    assert (found['messages'], found['heartbeats'], found['gaps']) == (5, 1, 0), found


def check_stop_when_idle(program, folder):
    capture = write_pcap(folder / 'five.pcap', payloads(5))
    config = configuration(folder, f'net_pcap0,rx_pcap={capture}', ['233.54.12.1:20001'])
    began = time.monotonic()
    done = run_live(program, config, '--stats', '-', '--stop', 'idle=0.5')
    assert time.monotonic() - began >= 0.5
    found = json.loads(done.stdout)
    assert found['messages'] == 5 and found['wall_seconds'] >= 0.5, found
    assert found['cpu_seconds'] > 0, found


def check_hole_at_the_end_is_given_up(program, folder):
    frames = [(i * 1000, frame(p)) for i, p in enumerate(payloads(9)) if i not in (3, 4)]
    (folder / 'hole.pcap').write_bytes(pcap(frames))
    config = configuration(folder, f'net_pcap0,rx_pcap={folder / "hole.pcap"}', ['233.54.12.1:20001'])
    done = run_live(program, config, '--stats', '-', *IDLE)
    found = json.loads(done.stdout)
    assert (found['messages'], found['gaps'], found['gap_messages']) == (7, 1, 2), found


def check_signal_ends_it(program, folder):
    capture = write_pcap(folder / 'five.pcap', payloads(5))
    config = configuration(folder, f'net_pcap0,rx_pcap={capture}', ['233.54.12.1:20001'])
    run_live(program, config, *IDLE)
    with open(folder / 'stderr', 'wb') as errors:
        with subprocess.Popen([program, 'run', '-c', config, '--stats', folder / 'stats'],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=errors) as live:
            end = time.monotonic() + 60
            while b'net_pcap' not in (folder / 'stderr').read_bytes() and time.monotonic() < end:
                time.sleep(0.02)
            time.sleep(0.2)
            live.send_signal(signal.SIGTERM)
            assert live.wait(timeout=60) == 0
            assert live.stdout.read() == b''
    assert json.loads((folder / 'stats').read_text())['messages'] == 5


def check_exit_statuses(program, folder):
    capture = write_pcap(folder / 'five.pcap', payloads(5))
    group = ['233.54.12.1:20001']
    good = configuration(folder, f'net_pcap0,rx_pcap={capture}', group)
    run_live(program, good, *IDLE)
    for arguments in (['run'], ['run', '-c', folder / 'none.toml'], ['run', '-c', capture],
                      ['run', '-c', good, '--stop', 'never'], ['run', '-c', good, 'FILE']):
        assert run(program, *arguments, status=2).stderr.startswith(b'wirebook'), arguments
    wrong = configuration(folder, f'net_pcap0,rx_pcap={capture}', group, text='gap_wait = 5')
    done = run(program, 'run', '-c', wrong, status=2)
    assert b'run.toml:2' in done.stderr and b'gap_wait' in done.stderr, done.stderr
    for device, status in (('0000:ff:1f.7', 3), ('net_af_packet0,iface=none0', 3),
                           (f'net_pcap0,rx_pcap={folder / "none.pcap"}', 2)):  # an input
        missing = configuration(folder, device, group)
        done = run(program, 'run', '-c', missing, *IDLE, status=status)
        assert done.stderr.strip() and done.stdout == b'', done
    broken = configuration(folder, 'net_nothing0', group)
    assert run(program, 'run', '-c', broken, *IDLE, status=(2, 3)).stderr.strip()


if __name__ == '__main__':
    sys.exit(main(globals()))
