#!/usr/bin/env python3
"""`wirebook run` on kernel interfaces, with the simulator on the other end of two veth pairs: books,
group membership, links that go, signals, death and restart.

    live_test.py WIREBOOK [CHECK...]

Skipped (exit status 77) without network namespaces or without DPDK.
"""
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import time

from e2e_tools import main, read_pcap, run, skip, write_pcap
from e2e_run_test import payloads
from live_rig import (GROUPS, Handler, Tap, configuration, igmp_of, inside, make_links, query, shell)

LONG = bool(os.environ.get('WIREBOOK_LONG'))


def sim(program, folder, *arguments, interfaces='a0,b0', core=0):
    """The finished simulator; its books are folder/truth.*"""
    return run('taskset', '-c', core, program, 'sim', '--feed', 'itch50', '--seed', 5, '--udp',
               interfaces, '--truth', folder / 'truth', *arguments, timeout=300)


def same_books(folder, name='final.csv'):
    found, truth = (folder / name).read_text(), (folder / 'truth.final.csv').read_text()
    assert found == truth, f'{len(found)} and {len(truth)} bytes'


def start(program, folder, config, *arguments, **options):
    try:
        return Handler(program, folder, config, *arguments, **options)
    except AssertionError as failed:
        if 'no DPDK' in str(failed):
            skip('this build has no DPDK')
        raise


# Both lines packed alike: a fingerprint goes by packets, whichever line brings them first.
LINE = '[[sim.line]]\npayload_bytes = 1200\nflush_delay_us = 10\n'


def whole_day(program, folder, driver, messages, rate):
    """Without loss; where something else wants the CPU, the kernel's ring may overflow: again then."""
    for attempt in range(3):
        found = try_whole_day(program, folder, driver, messages, rate, f'{driver}{attempt}')
        if found['gaps'] == 0 or attempt == 2:
            break
        print(f'{driver}: {found["gap_messages"]} messages lost on a busy machine; again', file=sys.stderr)
    assert found['messages'] == messages and found['gaps'] == 0, found
    same_books(folder)
    return found


def try_whole_day(program, folder, driver, messages, rate, name):
    make_links()
    config = configuration(folder, driver)
    (folder / 'sim.toml').write_text(LINE + LINE)
    with start(program, folder, config, '--final', folder / 'final.csv', '--fingerprint', '--stop',
               'end-of-session', prefix=('taskset', '-c', '1'), name=name) as handler:
        sim(program, folder, '--messages', messages, '--rate', rate, '-c', folder / 'sim.toml')
        found = handler.wait()
    assert found['drops']['not_udp'] <= 8, found['drops']  # IGMP of the kernel's
    assert all(port['packets'] > 1000 and port['driver'] == f'net_{driver}'
               for port in found['ports']), found['ports']
    return found


def check_books_over_af_packet(program, folder):
    found = whole_day(program, folder, 'af_packet', 100_000, 50_000)
    assert [port['hides_loss'] for port in found['ports']] == [True, True]
    assert [port['membership'] for port in found['ports']] == ['kernel', 'kernel']
    # The same packets from a file: the same fingerprint.
    run(program, 'sim', '--feed', 'itch50', '--seed', 5, '--messages', 100_000, '--rate', 50_000,
        '--pcap', folder / 'day.pcap', '-c', folder / 'sim.toml')
    told = run(program, 'replay', folder / 'day.pcap', '--fingerprint').stdout.decode().strip()
    assert told == found['fingerprint'], (told, found['fingerprint'])


def check_books_over_af_xdp(program, folder):
    try:
        whole_day(program, folder, 'af_xdp', 100_000, 50_000)
    except AssertionError as failed:
        if 'net_af_xdp' in str(failed) and 'does not start' in str(failed):
            skip('AF_XDP is not allowed here')
        raise


def check_a_hundred_thousand_packets_a_second(program, folder):
    """Both lines together; for a minute with WIREBOOK_LONG, else for five seconds."""
    seconds = 60 if LONG else 5
    rate = 140_000  # messages a second: lines of about 50,000 packets each
    for driver in ('af_packet', 'af_xdp'):
        try:
            found = whole_day(program, folder, driver, seconds * rate, rate)
        except AssertionError as failed:
            if driver == 'af_xdp' and 'does not start' in str(failed):
                continue
            raise
        packets = sum(port['packets'] for port in found['ports'])
        print(f'{driver}: {packets} packets in {found["wall_seconds"]:.1f} s, gaps '
              f'{found["gaps"]}', file=sys.stderr)


def check_flat_out_every_message_is_had_or_counted(program, folder):
    make_links()
    # Short rings, and a handler on the simulator's own CPU: what it cannot take is lost in the kernel,
    # uncounted there.
    config = configuration(folder).read_text()
    config = config.replace('iface=b1', 'iface=b1,blocksz=4096,framesz=2048,framecnt=64')
    config = config.replace('iface=a1', 'iface=a1,blocksz=4096,framesz=2048,framecnt=64')
    (folder / 'live.toml').write_text(config)
    with start(program, folder, folder / 'live.toml', '--events', folder / 'events.csv', '--stop',
               'end-of-session', prefix=('taskset', '-c', '0')) as handler:
        sim(program, folder, '--messages', 300_000, '--speed', 'max')
        # The end of the day may be lost like the rest: it is said again.
        run(program, 'sim', '--feed', 'itch50', '--seed', 5, '--messages', 300, '--pcap',
            folder / 'few.pcap')
        payload = read_pcap(folder / 'few.pcap')[1][0][16 + 42:]
        end = payload[:10] + struct.pack('>QH', 300_001, 0xFFFF)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton('10.9.1.1'))
            for _ in range(5):
                time.sleep(0.2)
                sender.sendto(end, ('239.192.0.1', 26477))
        found = handler.wait()
    assert found['gaps'] > 0, 'nothing was lost: not flat out'
    assert found['messages'] + found['gap_messages'] == 300_000, found
    assert sum(found['gap_causes'].values()) == found['gaps'], found['gap_causes']
    rows = (folder / 'events.csv').read_text().splitlines()
    gaps = [row for row in rows if ',gap,' in row]
    assert len(gaps) == found['gaps'] and all('cause=loss' in row for row in gaps), gaps[:3]


def check_membership_by_the_kernel(program, folder):
    make_links()
    with start(program, folder, configuration(folder)) as handler:
        joined = pathlib.Path('/proc/net/igmp').read_text()
        assert '0100C0EF' in joined and '0200C0EF' in joined, joined
        handler.stop(signal.SIGTERM)
    left = pathlib.Path('/proc/net/igmp').read_text()
    assert '0100C0EF' not in left and '0200C0EF' not in left, left


def igmp_day(program, folder, port, version):
    """What a port says from the start to the end, asked once in between."""
    make_links()
    tap = Tap('a0')
    config = configuration(folder, port=f'membership = "{port}"\nsource_address = "10.9.1.7"')
    with start(program, folder, config, name=port) as handler:
        said = [tap.igmp(3, lambda found: len(found) >= 2)]
        tap.send(query(version, 5))
        said.append(tap.igmp(2, lambda found: len(found) >= 1))
        asked = time.monotonic()
        tap.send(query(version, 5, GROUPS[0].split(':')[0]))
        said.append(tap.igmp(2, lambda found: len(found) >= 1))
        assert time.monotonic() - asked < 1.0
        found = handler.stop(signal.SIGTERM)
        said.append(tap.igmp(0.5))
    assert all(frame[26:30] == bytes([10, 9, 1, 7]) for frames in said for frame in frames)
    assert found['ports'][0]['igmp_queries'] == 2, found['ports'][0]
    assert found['ports'][0]['igmp_reports'] >= 4, found['ports'][0]
    return tap, [[igmp_of(frame) for frame in frames] for frames in said]


def well_formed(folder, frames):
    capture = folder / 'igmp.pcap'
    data = b'\xd4\xc3\xb2\xa1\x02\0\x04\0' + bytes(8) + b'\xff\xff\0\0\x01\0\0\0'
    for frame in frames:
        size = len(frame).to_bytes(4, 'little')
        data += bytes(8) + size + size + frame
    capture.write_bytes(data)
    try:
        told = subprocess.run(['tshark', '-r', str(capture), '-Y', '!_ws.malformed && igmp && '
                               'igmp.checksum.status == 1'], capture_output=True, check=True)
    except FileNotFoundError:
        return
    assert len(told.stdout.splitlines()) == len(frames), told.stdout.decode()


def check_membership_by_igmpv3(program, folder):
    group = GROUPS[0].split(':')[0]
    tap, (joined, answered, asked, left) = igmp_day(program, folder, 'igmp', 3)
    assert joined == [(0x22, [(4, group, [])])] * 2, joined      # change to exclude nothing
    assert answered == [(0x22, [(2, group, [])])], answered       # mode is exclude nothing
    assert asked == [(0x22, [(2, group, [])])], asked
    assert left and left[0] == (0x22, [(3, group, [])]), left     # change to include nothing
    well_formed(folder, tap.frames)


def check_membership_by_igmpv2(program, folder):
    group = GROUPS[0].split(':')[0]
    tap, (joined, answered, asked, left) = igmp_day(program, folder, 'igmpv2', 2)
    assert joined == [(0x16, group)] * 2, joined
    assert answered == [(0x16, group)] and asked == [(0x16, group)], (answered, asked)
    assert left and left[0] == (0x17, group), left
    well_formed(folder, tap.frames)


def check_senders_are_chosen(program, folder):
    make_links()
    text = configuration(folder).read_text()
    for sender, expected in (('10.9.9.9', 0), ('10.9.1.1', 2_000)):
        config = folder / 'senders.toml'
        config.write_text(text.replace('port = 0 }', f'port = 0, sources = ["{sender}"] }}')
                          .replace('port = 1 }', 'port = 1, sources = ["10.9.9.9"] }'))
        with start(program, folder, config, name=f'from{expected}') as handler:
            sim(program, folder, '--messages', 2_000, '--rate', 20_000)
            time.sleep(0.2)
            found = handler.stop(signal.SIGINT)
        assert found['messages'] == expected and found['drops']['no_channel'] > 0, found


def check_a_link_that_goes_and_comes(program, folder):
    make_links()
    config = configuration(folder, publish='flap')
    with start(program, folder, config, '--final', folder / 'final.csv', '--events',
               folder / 'events.csv', '--stop', 'end-of-session') as handler:
        day = subprocess.Popen([program, 'sim', '--feed', 'itch50', '--seed', '5', '--messages',
                                '60000', '--rate', '20000', '--udp', 'a0,b0', '--truth',
                                str(folder / 'truth')], stderr=subprocess.PIPE)
        time.sleep(0.7)
        shell('ip', 'link', 'set', 'a1', 'down')
        time.sleep(0.7)
        shell('ip', 'link', 'set', 'a1', 'up')
        told = day.communicate(timeout=60)[1].decode()
        found = handler.wait()
    # The other line had it all.
    assert found['messages'] == 60_000 and found['gaps'] == 0, (found, told)
    same_books(folder)
    assert [port['link_changes'] for port in found['ports']] == [2, 0], found['ports']
    assert 'the link is down' in handler.text() and 'the link is up' in handler.text()
    assert ',quality,' not in (folder / 'events.csv').read_text().replace('quality=good', '', 1) \
        or 'cause=link' not in (folder / 'events.csv').read_text()


def check_no_link_is_no_good_book(program, folder):
    make_links()
    config = configuration(folder, publish='dark')
    with start(program, folder, config, '--events', folder / 'events.csv') as handler:
        sim(program, folder, '--messages', 5_000, '--rate', 50_000)
        quality = []
        for state in ('down', 'up'):
            for name in ('a1', 'b1'):
                shell('ip', 'link', 'set', name, state)
            time.sleep(0.5)
            told = run(program, 'dump-segment', 'dark', '--directory', folder, '--json')
            quality.append(json.loads(told.stdout)['channels'][0]['quality'])
        found = handler.stop(signal.SIGTERM)
    # Up again, but nothing has come that would show what was missed.
    assert quality == ['stale', 'stale'], quality
    assert found['ports'][0]['link_changes'] == 2, found['ports']
    assert 'quality=stale cause=link' in (folder / 'events.csv').read_text()


def check_an_interface_that_is_deleted(program, folder):
    make_links()
    config = configuration(folder, publish='gone')
    with start(program, folder, config) as handler:
        sim(program, folder, '--messages', 5_000, '--rate', 50_000)
        quality = []
        for change in (lambda: [shell('ip', 'link', 'del', f'{name}0') for name in 'ab'], make_links):
            change()
            time.sleep(0.5)
            told = run(program, 'dump-segment', 'gone', '--directory', folder, '--json')
            quality.append(json.loads(told.stdout)['channels'][0]['quality'])
        found = handler.stop(signal.SIGTERM)
    # Those that are made anew are others: the sockets are on the old ones.
    assert quality == ['stale', 'stale'], quality
    assert [port['link_changes'] for port in found['ports']] == [1, 1], found['ports']


def check_a_signal_ends_the_wait_for_links(program, folder):
    make_links()
    shell('ip', 'link', 'set', 'a0', 'down')
    config = configuration(folder, dpdk='link_wait_ms = 60000')
    process = subprocess.Popen([program, 'run', '-c', str(config)], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
    time.sleep(2)
    process.send_signal(signal.SIGTERM)
    told = process.communicate(timeout=10)[1].decode()
    assert process.returncode == 0 or 'no DPDK' in told, told
    assert 'link down' in told and told.count('link up') <= 1, told


def check_symbols_are_reloaded(program, folder):
    make_links()
    config = configuration(folder, publish='reload', channel='symbols = ["NONE"]')
    with start(program, folder, config) as handler:
        sim(program, folder, '--messages', 3_000, '--rate', 30_000)
        symbols = sorted({row.split(',')[0] for row in
                          (folder / 'truth.final.csv').read_text().splitlines()[1:]})
        text = config.read_text()
        config.write_text(text.replace('["NONE"]', f'["{symbols[0]}"]'))
        handler.service.forget()
        handler.process.send_signal(signal.SIGHUP)
        handler.service.wait('RELOADING=1')
        handler.service.wait('READY=1')
        time.sleep(0.2)
        # The next session is another day of the same exchange.
        run(program, 'sim', '--feed', 'itch50', '--seed', 6, '--messages', 3_000, '--rate', 30_000,
            '--udp', 'a0,b0', '--truth', folder / 'truth')
        told = run(program, 'dump-segment', 'reload', '--directory', folder, '--json').stdout
        listed = [row['symbol'] for row in json.loads(told)['instruments']]
        # What cannot change while running is refused, and nothing changes.
        config.write_text(text.replace('depth', 'depth').replace('orders = 1048576',
                                                                 'orders = 2097152'))
        handler.process.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        config.write_text('nonsense')
        handler.process.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        handler.stop(signal.SIGTERM)
    assert listed == [symbols[0]], (listed, symbols[:3])
    assert 'only symbols and [log] can change' in handler.text(), handler.text()
    assert 'the configuration stays as it was' in handler.text(), handler.text()


def check_the_log_goes_where_it_is_told(program, folder):
    make_links()
    log = folder / 'live.log'
    config = configuration(folder)
    config.write_text(config.read_text() + f'[log]\nlevel = "info"\nfile = "{log}"\n')
    with start(program, folder, config) as handler:
        log.rename(folder / 'live.log.1')
        handler.process.send_signal(signal.SIGHUP)
        handler.service.forget()
        handler.service.wait('READY=1')
        handler.stop(signal.SIGTERM)
    line = log.read_text().splitlines()[0]
    assert line[4] == '-' and 'Z info reload:' in line, line


def leftovers(prefix):
    found = []
    for folder in ('/var/run/dpdk', '/tmp/dpdk', os.environ.get('XDG_RUNTIME_DIR', '/nowhere') +
                   '/dpdk', '/dev/hugepages'):
        if os.path.isdir(folder):
            found += [p for p in pathlib.Path(folder).iterdir() if prefix in p.name]
    return found


def check_killed_and_started_twenty_times(program, folder):
    make_links()
    config = configuration(folder, publish='again')
    prefix = f'wirebook_live_{os.getpid()}'
    for index in range(20):
        with start(program, folder, config, name=f'run{index}') as handler:
            assert (folder / 'again').exists() or list(folder.glob('*again*')), 'no segment'
            handler.process.kill()
            handler.process.wait()
    with start(program, folder, config, '--final', folder / 'final.csv', '--stop',
               'end-of-session', name='last') as handler:
        sim(program, folder, '--messages', 5_000, '--rate', 50_000)
        handler.wait()
    same_books(folder)
    files = [p.name for p in folder.iterdir() if 'again' in p.name]
    assert len([name for name in files if not name.startswith('.')]) <= 1, files
    assert leftovers(prefix) == [], leftovers(prefix)


def check_two_handlers_side_by_side(program, folder):
    make_links()
    first, second = folder / 'one', folder / 'two'
    for part in (first, second):
        part.mkdir()
    text = configuration(folder, publish='one').read_text()
    (first / 'one.toml').write_text(text)
    (second / 'two.toml').write_text(text.replace('name = "one"', 'name = "two"')
                                     .replace('wirebook_live_', 'wirebook_other_'))
    with start(program, first, first / 'one.toml', '--final', first / 'final.csv', '--stop',
               'end-of-session') as one, \
            start(program, second, second / 'two.toml', '--final', second / 'final.csv', '--stop',
                  'end-of-session') as two:
        sim(program, folder, '--messages', 20_000, '--rate', 20_000)
        assert one.wait()['messages'] == two.wait()['messages'] == 20_000
    truth = (folder / 'truth.final.csv').read_text()
    assert (first / 'final.csv').read_text() == (second / 'final.csv').read_text() == truth


def check_the_watchdog_is_fed(program, folder):
    make_links()
    with start(program, folder, configuration(folder), watchdog=200_000) as handler:
        for _ in range(3):
            handler.service.forget()
            handler.service.wait('WATCHDOG=1', 2)
        handler.process.send_signal(signal.SIGTERM)
        handler.service.wait('STOPPING=1')
        handler.wait()


def check_two_lcores(program, folder):
    """Two channels, each with a queue and an lcore of its own; net_pcap has a queue a file."""
    if len(os.sched_getaffinity(0)) < 2:
        skip('one CPU')
    groups = []
    for index, name in enumerate('xy'):
        run(program, 'sim', '--feed', 'itch50', '--seed', 30 + index, '--messages', 5_000, '--pcap',
            folder / f'{name}.pcap', '--truth', folder / name)
        groups.append(GROUPS[0].replace('.1:', f'.{1 + index}:'))
    config = folder / 'lcores.toml'
    # Line A of the simulator is group 1; the second day is sent to group 2.
    run(program, 'sim', '--feed', 'itch50', '--seed', 31, '--messages', 5_000, '--pcap-a',
        folder / 'unused.pcap', '--pcap-b', folder / 'y.pcap', '--truth', folder / 'y')
    config.write_text(f'''[[port]]
device = "net_pcap0,rx_pcap={folder}/x.pcap,rx_pcap={folder}/y.pcap"
[[lcore]]
cpu = 0
channels = ["x"]
[[lcore]]
cpu = 1
[[channel]]
name = "x"
feed = "itch50"
lines = [ {{ group = "{groups[0]}", port = 0, queue = 0 }} ]
[[channel]]
name = "y"
feed = "itch50"
lines = [ {{ group = "{groups[1]}", port = 0, queue = 1 }} ]
[sizes]
orders = 65536
levels = 65536
instruments = 4096
[dpdk]
hugepages = false
file_prefix = "wirebook_live_{os.getpid()}"
[publish]
name = "both"
directory = "{folder}"
''')
    with start(program, folder, config, '--final', folder / 'final.csv', '--top',
               folder / 'top.csv', '--stop', 'idle=0.5') as handler:
        found = handler.wait()
    assert found['messages'] == 10_000 and found['fingerprint'] is None, found
    for index, name in enumerate('xy'):
        top = (folder / f'top.csv.{index}').read_text()
        assert top == run(program, 'replay', folder / f'{name}.pcap', '--top', '-').stdout.decode()
        told = run(program, 'dump-segment', f'both.{index}', '--directory', folder, '--json')
        assert json.loads(told.stdout)['channels'][0]['quality'] == 'good'
    rows = (folder / 'final.csv').read_text().splitlines()[1:]
    both = [row for name in 'xy' for row in
            (folder / f'{name}.final.csv').read_text().splitlines()[1:]]
    assert sorted(rows) == sorted(both)


def check_an_unprivileged_user(program, folder):
    """A capture through DPDK by somebody who may do nothing: no hugepages, no root."""
    capture = write_pcap(folder / 'five.pcap', payloads(5))
    os.chmod(folder, 0o777)
    os.chmod(capture, 0o644)
    config = folder / 'nobody.toml'
    config.write_text(f'''[[port]]
device = "net_pcap0,rx_pcap={capture}"
[[channel]]
name = "all"
feed = "itch50"
lines = [ {{ group = "233.54.12.1:20001", port = 0 }} ]
checksum = "count"
'''.replace('checksum = "count"\n', '') + '''[sizes]
orders = 65536
levels = 65536
instruments = 4096
[dpdk]
hugepages = false
file_prefix = "wirebook_nobody"
''')
    config.write_text('checksum = "count"\n' + config.read_text())
    if os.geteuid() != 0 or subprocess.run(['setpriv', '--reuid=65534', '--clear-groups', program,
                                            '--version'], capture_output=True,
                                           check=False).returncode != 0:
        skip('cannot become another user here')
    done = run('setpriv', '--reuid=65534', '--clear-groups', program, 'run', '-c', config,
               '--stats', '-', '--stop', 'idle=0.3')
    assert json.loads(done.stdout)['messages'] == 5


if __name__ == '__main__':
    inside()
    sys.exit(main(globals()))
