#!/usr/bin/env python3
"""`wirebook sim`: its feeds replayed give the engine's own books, faults do what they say, and what
cannot be simulated is refused in words.

usage: e2e_sim_test.py PROGRAM [CHECK...]; WIREBOOK_SEED sets the first seed, WIREBOOK_SEEDS how
many (50).
"""
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time

from e2e_tools import main, run, rows, stats

FIRST_SEED = int(os.environ.get('WIREBOOK_SEED', '1'))
SEEDS = int(os.environ.get('WIREBOOK_SEEDS', '50'))
NO_FAULT = ('unknown_orders', 'duplicate_orders', 'overfills', 'bad_orders', 'unknown_levels',
            'crossed', 'decode_errors', 'unknown_messages', 'gaps', 'duplicates', 'bad_checksums',
            'old_session')
# Different worlds: many thin books, one deep one, a slow day, a busy one, hardly any day at all.
WORLDS = [('--messages', 20_000), ('--messages', 20_000, '--instruments', 900),
          ('--messages', 20_000, '--instruments', 1, '--live', 3_000),
          ('--messages', 20_000, '--rate', 500), ('--messages', 20_000, '--rate', 3_000_000),
          ('--messages', 250, '--instruments', 100)]


def sim(program, *arguments, **options):
    return run(program, 'sim', *arguments, **options)


def same(a, b, what):
    assert a.read_bytes() == b.read_bytes(), f'{what}: {a.name} and {b.name} differ'


def sound(found, what):
    wrong = {key: found[key] for key in NO_FAULT if found[key]}
    assert not wrong, f'{what}: {wrong}'
    assert not any(found['drops'].values()), f'{what}: {found["drops"]}'


def check_replay_gives_the_books_of_the_engine(program, folder):
    for seed in range(FIRST_SEED, FIRST_SEED + SEEDS):
        feed = ('itch50', 'iex-deep')[seed % 2]
        world = WORLDS[seed % len(WORLDS)]
        what = f'--feed {feed} --seed {seed} {" ".join(map(str, world))}'
        output, name = ('--pcap', 'a.pcap')
        if feed == 'itch50' and seed % 4 == 0:
            output, name = '--binary', 'a.itch'
        sim(program, '--feed', feed, '--seed', seed, *world, output, folder / name,
            '--truth', folder / 'truth')
        found = stats(program, folder / name, '--top', folder / 'top.csv',
                      '--final', folder / 'final.csv')
        sound(found, what)
        assert found['messages'] == world[1], what
        same(folder / 'top.csv', folder / 'truth.top.csv', what)
        same(folder / 'final.csv', folder / 'truth.final.csv', what)


def check_two_lines_are_packed_differently_and_say_the_same(program, folder):
    for feed in ('itch50', 'iex-deep'):
        sim(program, '--feed', feed, '--seed', FIRST_SEED, '--messages', 20_000,
            '--pcap-a', folder / 'a.pcap', '--pcap-b', folder / 'b.pcap',
            '--truth', folder / 'truth')
        a = stats(program, folder / 'a.pcap', '--top', folder / 'top.csv',
                  '--final', folder / 'a.csv')
        b = stats(program, folder / 'b.pcap', '--final', folder / 'b.csv')
        sound(a, feed), sound(b, feed)
        assert a['packets'] != b['packets'], 'packed alike'
        for name in ('a.csv', 'b.csv'):
            same(folder / name, folder / 'truth.final.csv', feed)
        same(folder / 'top.csv', folder / 'truth.top.csv', feed)
        both = stats(program, '--lines', f'{folder / "a.pcap"},{folder / "b.pcap"}',
                     '--final', folder / 'ab.csv')
        assert both['messages'] == 20_000 and both['gaps'] == 0
        assert both['duplicates'] == 20_000, both['duplicates']
        same(folder / 'ab.csv', folder / 'truth.final.csv', feed)


def check_equal_options_give_equal_bytes_and_seeds_differ(program, folder):
    files = [folder / f'{i}.pcap' for i in range(3)]
    for file, seed in zip(files, (7, 7, 8)):
        sim(program, '--feed', 'itch50', '--seed', seed, '--messages', 5_000, '--pcap', file)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert files[0].read_bytes() != files[2].read_bytes()


def check_the_mix_is_near_a_real_day(program, folder):
    sim(program, '--feed', 'itch50', '--seed', FIRST_SEED, '--messages', 300_000,
        '--instruments', 500, '--live', 10_000, '--binary', folder / 'a.itch')
    found = stats(program, folder / 'a.itch')
    share = {kind: 100 * count / found['messages']
             for kind, count in found['messages_by_type'].items()}
    bounds = {'A': (40, 47), 'D': (37, 41), 'U': (7, 9.5), 'E': (1.5, 4), 'X': (1, 2.2),
              'F': (.7, 1.3), 'P': (.1, 2), 'I': (.1, 3), 'Q': (.1, 1)}
    for kind, (low, high) in bounds.items():
        assert low <= share[kind] <= high, f'{kind}: {share[kind]:.2f} %'
    assert {'C', 'R', 'H', 'Y', 'L', 'S', 'V', 'J', 'B'} <= set(share)


# ---- faults

def faulty(program, folder, *rules, feed='itch50', messages=20_000):
    """A stream with the rules' faults beside its truth; what the simulator said."""
    arguments = [word for rule in rules for word in ('--fault', rule)]
    return sim(program, '--feed', feed, '--seed', FIRST_SEED, '--messages', messages, *arguments,
               '--pcap-a', folder / 'a.pcap', '--pcap-b', folder / 'b.pcap',
               '--truth', folder / 'truth').stderr.decode()


def check_the_other_line_fills_what_one_loses(program, folder):
    for feed in ('itch50', 'iex-deep'):
        text = faulty(program, folder, 'A:loss=0.05', 'A:burst=0.001,10', 'B:duplicate=0.02',
                      'B:reorder=0.01,3', 'B:dead=0..200', feed=feed)
        assert re.search(r'faults of line A: loss \d+, burst \d+', text), text
        assert re.search(r'faults of line B: duplicate \d+, reorder \d+, dead 200', text), text
        alone = stats(program, folder / 'a.pcap')
        assert alone['gaps'] > 100 and alone['gap_messages'] > 0
        both = stats(program, '--lines', f'{folder / "a.pcap"},{folder / "b.pcap"}',
                     '--gap-wait', 1_000_000, '--final', folder / 'final.csv')
        lost_on_both = both['gap_messages']
        assert both['gaps_filled'] > 100 and lost_on_both < 200, both
        if lost_on_both == 0:
            same(folder / 'final.csv', folder / 'truth.final.csv', feed)


def check_a_bad_line_beside_a_good_one_changes_nothing(program, folder):
    text = faulty(program, folder, 'A:loss=0.1', 'A:truncate=0.02', 'A:flip=0.02,3',
                  'A:duplicate=0.02,50us', 'A:delay=0.02,200us', 'A:dead=35000us..70ms')
    for kind in ('loss', 'truncate', 'flip', 'duplicate', 'delay', 'dead'):
        assert re.search(rf'faults of line A:.*\b{kind} \d+', text), (kind, text)
    both = stats(program, '--lines', f'{folder / "a.pcap"},{folder / "b.pcap"}',
                 '--gap-wait', 1_000_000, '--final', folder / 'final.csv', '-c',
                 write(folder / 'drop.toml', 'checksum = "drop"\n[[channel]]\nname = "x"\n'
                       'feed = "itch50"\n'))
    assert both['gaps'] == 0 and both['messages'] == 20_000, both['gaps']
    assert both['drops']['checksum'] > 0 and both['drops']['bad_length'] > 0, both['drops']
    same(folder / 'final.csv', folder / 'truth.final.csv', 'bad line A')


def write(path, text):
    path.write_text(text)
    return path


def check_a_sender_that_restarts_loses_nothing(program, folder):
    faulty(program, folder, 'A:sender_restart=40ms,3s')
    found = stats(program, folder / 'a.pcap', '--final', folder / 'final.csv')
    sound(found, 'sender restart')
    assert found['sessions'] == 1
    same(folder / 'final.csv', folder / 'truth.final.csv', 'sender restart')


def check_a_session_restart_can_be_followed(program, folder):
    for feed in ('itch50', 'iex-deep'):
        text = faulty(program, folder, '*:session_restart=3000', '*:session_restart=80ms',
                      feed=feed)
        assert 'session restarts 2' in text, text
        found = stats(program, folder / 'a.pcap', '--final', folder / 'final.csv',
                      '--top', folder / 'top.csv')
        sound(found, f'{feed}: session restart')
        assert found['sessions'] == 3, found['sessions']
        same(folder / 'final.csv', folder / 'truth.final.csv', feed)
        same(folder / 'top.csv', folder / 'truth.top.csv', feed)


def check_faults_of_every_kind_never_break_the_handler(program, folder):
    for seed in range(4):
        for feed in ('itch50', 'iex-deep'):
            rules = ('*:loss=0.02', '*:truncate=0.02', '*:shorten=0.02', '*:flip=0.02,8',
                     '*:duplicate=0.02', '*:reorder=0.02,9', '*:delay=0.02,5ms',
                     '*:session_restart=5000')
            arguments = [word for rule in rules for word in ('--fault', rule)]
            sim(program, '--feed', feed, '--seed', seed, '--messages', 20_000, *arguments,
                '--pcap-a', folder / 'a.pcap', '--pcap-b', folder / 'b.pcap')
            lines = f'{folder / "a.pcap"},{folder / "b.pcap"}'
            # Without the checksum, flipped bits would be sessions and sequence numbers of their own.
            config = write(folder / 'drop.toml', 'checksum = "drop"\n[[channel]]\nname = "x"\n'
                           f'feed = "{feed}"\n')
            found = stats(program, '--lines', lines, '--final', folder / 'x.csv', '-c', config)
            assert found['messages'] > 10_000, found


# ---- where it goes

def check_from_configuration(program, folder):
    config = write(folder / 'sim.toml', '[sim]\nfeed = "itch50"\nseed = 3\nmessages = 4000\n'
                   'instruments = 10\n[[sim.line]]\ngroup = "239.1.2.3:4000"\n'
                   'payload_bytes = 300\nfaults = ["loss=0.5@0..40"]\n')
    text = sim(program, '-c', config, '--pcap', folder / 'a.pcap').stderr.decode()
    assert 'messages 4000' in text and 'faults of line A: loss' in text, text
    data = (folder / 'a.pcap').read_bytes()
    length = struct.unpack_from('<I', data, 32)[0]
    frame = data[40:40 + length]
    assert frame[30:34] == bytes([239, 1, 2, 3]) and frame[36:38] == (4000).to_bytes(2, 'big')
    text = sim(program, '-c', config, '--messages', 5_000, '--pcap', folder / 'a.pcap')
    assert 'messages 5000' in text.stderr.decode()


def check_multicast_arrives(program, folder):
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
    receiver.bind(('239.192.0.1', 26477))
    membership = struct.pack('=4s4si', socket.inet_aton('239.192.0.1'), b'\0' * 4,
                             socket.if_nametoindex('lo'))
    receiver.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)
    receiver.settimeout(10)
    process = subprocess.Popen([program, 'sim', '--feed', 'itch50', '--seed', '1', '--messages',
                                '2000', '--rate', '20000', '--udp', 'lo'],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    expected = 1
    while True:
        packet = receiver.recv(65536)
        sequence, count = struct.unpack_from('>QH', packet, 10)
        assert sequence == expected, f'{sequence} after {expected}'
        if count == 0xFFFF:
            break
        expected += count
    text = process.communicate(timeout=30)[1].decode()
    assert process.returncode == 0 and expected == 2001, text
    assert 'errors 0' in text, text


def check_a_port_sends_what_a_file_has(program, folder):
    made = sim(program, '--feed', 'itch50', '--seed', 5, '--messages', 3_000, '--port',
               f'net_pcap0,tx_pcap={folder / "sent.pcap"}', '--speed', 'max', '-c',
               write(folder / 'dpdk.toml', '[dpdk]\nhugepages = false\n'),
               '--truth', folder / 'truth', status=(0, 3))
    if made.returncode == 3:
        assert b'no DPDK' in made.stderr, made.stderr
        return
    found = stats(program, folder / 'sent.pcap', '--final', folder / 'final.csv')
    assert found['messages'] == 3_000 and found['gaps'] == 0, found
    same(folder / 'final.csv', folder / 'truth.final.csv', 'port')


def check_an_interrupt_ends_the_day_in_order(program, folder):
    process = subprocess.Popen([program, 'sim', '--feed', 'itch50', '--seed', '1', '--messages',
                                '50000000', '--pcap', str(folder / 'a.pcap'), '--truth',
                                str(folder / 'truth')], stderr=subprocess.PIPE)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    text = process.communicate(timeout=60)[1].decode()
    assert process.returncode == 0 and 'cut short' in text, text
    found = stats(program, folder / 'a.pcap', '--final', folder / 'final.csv')
    sound(found, 'interrupted')
    same(folder / 'final.csv', folder / 'truth.final.csv', 'interrupted')


def check_what_cannot_be_written_is_said(program, folder):
    base = ('--feed', 'itch50', '--seed', 1, '--messages', 400_000)
    full = sim(program, *base, '--pcap', '/dev/full', status=2).stderr.decode()
    assert '/dev/full' in full and 'No space left' in full, full
    nowhere = sim(program, *base, '--pcap', folder / 'no/such', status=2).stderr.decode()
    assert 'no/such' in nowhere, nowhere
    truth = sim(program, *base, '--pcap', folder / 'a', '--truth', folder / 'no/such', status=2)
    assert b'no/such' in truth.stderr
    interface = sim(program, *base, '--udp', 'nosuch0', status=3).stderr.decode()
    assert 'nosuch0' in interface, interface


def check_wrong_usage_is_said(program, folder):
    pcap = ('--pcap', folder / 'a.pcap')
    for arguments, text in [
            (('--seed', 1, *pcap), '--feed'),
            (('--feed', 'itch50', *pcap), '--seed'),
            (('--feed', 'itch-jnx', '--seed', 1, *pcap), 'itch50 or iex-deep'),
            (('--feed', 'itch50', '--seed', 1), 'a place for its feed'),
            (('--feed', 'itch50', '--seed', 1, *pcap, '--binary', 'x'), 'exclude'),
            (('--feed', 'itch50', '--seed', 1, '--pcap-a', 'x'), 'belong together'),
            (('--feed', 'iex-deep', '--seed', 1, '--binary', 'x'), 'BinaryFILE'),
            (('--feed', 'itch50', '--seed', 1, *pcap, '--messages', 10), 'too few'),
            (('--feed', 'itch50', '--seed', 1, *pcap, '--messages', 10**9, '--rate', 100),
             'raise'),
            (('--feed', 'itch50', '--seed', 1, *pcap, '--fault', 'A:lose=1'), 'lose'),
            (('--feed', 'itch50', '--seed', 1, *pcap, '--fault', 'B:loss=0.1'), 'no such line'),
            (('--feed', 'itch50', '--seed', 'x', *pcap), '--seed')]:
        said = sim(program, *arguments, status=2).stderr.decode()
        assert text in said and not (folder / 'a.pcap').exists(), f'{arguments}: {said}'


def check_tshark_finds_nothing_malformed(program, folder):
    tshark = shutil.which('tshark')
    assert tshark, 'tshark is not installed; dpdk-config/packages.txt has it'
    for feed, layer in (('itch50', 'moldudp64'), ('iex-deep', 'udp')):
        sim(program, '--feed', feed, '--seed', FIRST_SEED, '--messages', 5_000,
            '--pcap', folder / 'a.pcap')
        arguments = ['-r', folder / 'a.pcap', '-o', 'ip.check_checksum:TRUE', '-o',
                     'udp.check_checksum:TRUE', '-T', 'fields', '-e', 'frame.number',
                     '-e', '_ws.malformed', '-e', 'ip.checksum.status', '-e',
                     'udp.checksum.status', '-e', f'{layer}.length' if layer == 'udp' else
                     'moldudp64.sequence']
        if layer == 'moldudp64':
            arguments += ['-d', 'udp.port==26477,moldudp64']
        lines = run(tshark, *arguments).stdout.decode().splitlines()
        assert len(lines) > 1_000
        for line in lines:
            _, malformed, ip, udp, field = line.split('\t')
            assert not malformed and ip == '1' and udp == '1' and field, line


if __name__ == '__main__':
    sys.exit(main(globals()))
