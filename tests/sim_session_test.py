#!/usr/bin/env python3
"""The simulator reproduces the committed captures, and what it makes is a sound session.

The session is read back by a decoder of this test's own, with books of its own: sequence numbers
without holes, checksums right, every reference live, no book crossed while it trades, and the books
at the end are those that the simulator says.
usage: sim_session_test.py PROGRAM ROOT
"""
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

PROGRAM, ROOT = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
LENGTHS = {b'S': 12, b'R': 39, b'H': 25, b'Y': 20, b'L': 26, b'V': 35, b'A': 36, b'F': 40,
           b'E': 31, b'C': 36, b'X': 23, b'D': 19, b'U': 35, b'P': 44, b'Q': 40, b'B': 19,
           b'I': 50, b'J': 35}


def sim(*arguments):
    subprocess.run([PROGRAM, 'sim', *map(str, arguments)], check=True, stderr=subprocess.DEVNULL)


def payloads(path):
    """Yields (time, MoldUDP64 packet) of a ns pcap, its checksums compared the long way."""
    data = path.read_bytes()
    assert data[:4] == b'\x4d\x3c\xb2\xa1', 'not a pcap with nanoseconds'
    offset = 24
    while offset < len(data):
        seconds, ns, length, original = struct.unpack_from('<IIII', data, offset)
        frame = data[offset + 16:offset + 16 + length]
        assert length == original == len(frame)
        offset += 16 + length
        ip, udp = frame[14:34], frame[34:]
        assert folded(ip) == 0xFFFF, 'IP checksum'
        assert folded(ip[12:20] + b'\0\x11' + udp[4:6] + udp) == 0xFFFF, 'UDP checksum'
        yield seconds * 1_000_000_000 + ns, udp[8:]


def folded(data):
    total = sum(struct.unpack(f'>{len(data) // 2}H', data[:len(data) // 2 * 2]))
    total += data[-1] << 8 if len(data) % 2 else 0
    while total > 0xFFFF:
        total = (total >> 16) + (total & 0xFFFF)
    return total


def sequenced(path):
    """{sequence: message}, from one line."""
    found, last_time, ended = {}, 0, False
    for time, packet in payloads(path):
        assert time >= last_time, 'time goes back'
        last_time = time
        sequence, count = struct.unpack_from('>QH', packet, 10)
        ended = count == 0xFFFF
        offset = 20
        for number in range(0 if ended else count):
            length = int.from_bytes(packet[offset:offset + 2], 'big')
            message = packet[offset + 2:offset + 2 + length]
            assert len(message) == length == LENGTHS[message[:1]], message[:1]
            assert found.setdefault(sequence + number, message) == message
            offset += 2 + length
        assert offset == len(packet)
    assert ended, 'no end of session'
    return found


class Books:
    def __init__(self):
        self.orders, self.levels, self.symbols, self.halted = {}, {}, {}, set()

    def change(self, locate, side, price, shares):
        levels = self.levels.setdefault(locate, {b'B': {}, b'S': {}})[side]
        levels[price] = levels.get(price, 0) + shares
        assert levels[price] >= 0
        if levels[price] == 0:
            del levels[price]

    def take(self, reference, shares=None):
        locate, side, price, left = self.orders.pop(reference)
        taken = left if shares is None else shares
        assert 0 < taken <= left, 'more than there is'
        self.change(locate, side, price, -taken)
        if left > taken:
            self.orders[reference] = (locate, side, price, left - taken)
        return locate, side

    def add(self, reference, locate, side, price, shares):
        assert reference not in self.orders and shares > 0
        self.orders[reference] = (locate, side, price, shares)
        self.change(locate, side, price, shares)

    def apply(self, message):
        kind, locate = message[:1], int.from_bytes(message[1:3], 'big')
        if kind in b'AF':
            reference, side, shares, _, price = struct.unpack_from('>QcI8sI', message, 11)
            self.add(reference, locate, side, price, shares)
        elif kind in b'ECX':
            self.take(*struct.unpack_from('>QI', message, 11))
        elif kind == b'D':
            self.take(*struct.unpack_from('>Q', message, 11))
        elif kind == b'U':
            old, new, shares, price = struct.unpack_from('>QQII', message, 11)
            self.add(new, *self.take(old), price, shares)
        elif kind == b'R':
            self.symbols[locate] = message[11:19].decode().rstrip()
        elif kind == b'H':
            (self.halted.discard if message[19:20] == b'T' else self.halted.add)(locate)
        if locate in self.levels and locate not in self.halted:
            bids, asks = self.levels[locate][b'B'], self.levels[locate][b'S']
            assert not bids or not asks or max(bids) < min(asks), 'crossed'


    def final(self):
        """As `--final` has it."""
        orders = {}
        for locate, side, price, _ in self.orders.values():
            orders[locate, side, price] = orders.get((locate, side, price), 0) + 1
        yield 'symbol,side,level,price,qty,orders'
        for symbol, locate in sorted((symbol, locate) for locate, symbol in self.symbols.items()):
            for side in (b'B', b'S'):
                levels = self.levels.get(locate, {}).get(side, {})
                for level, price in enumerate(sorted(levels, reverse=side == b'B')):
                    yield (f'{symbol},{side.decode()},{level},{price // 10000}.{price % 10000:04},'
                           f'{levels[price]},{orders[locate, side, price]}')


def committed():
    """The commands of pcap/README.md give the files that are there."""
    text = (ROOT / 'pcap/README.md').read_text()
    commands = [found for found in re.findall(r'`build/wirebook sim (.*?)`', text)
                if '--pcap' in found]
    made = [words[words.index('--pcap') + 1] for words in map(str.split, commands)]
    there = sorted(f'pcap/{path.name}' for path in (ROOT / 'pcap').glob('*.pcap'))
    assert sorted(made) == there, f'{made} are documented, {there} are there'
    for words in map(str.split, commands):
        with tempfile.TemporaryDirectory() as name:
            at = words.index('--pcap') + 1
            file, words[at] = ROOT / words[at], f'{name}/made.pcap'
            sim(*words)
            assert pathlib.Path(words[at]).read_bytes() == file.read_bytes(), \
                f'{file} is not what its command makes'
            assert file.stat().st_size < 3_000_000


def main():
    committed()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        options = ('--feed', 'itch50', '--seed', 11, '--messages', 40_000, '--instruments', 60)
        sim(*options, '--pcap', folder / 'a.pcap', '--truth', folder / 'truth')
        sim(*options, '--binary', folder / 'a.itch')
        found = sequenced(folder / 'a.pcap')
        assert sorted(found) == list(range(1, 40_001))
        types = {message[:1] for message in found.values()}
        assert types == set(LENGTHS), f'missing: {set(LENGTHS) - types}'
        books = Books()
        for sequence in sorted(found):
            books.apply(found[sequence])
        assert '\n'.join(books.final()) + '\n' == (folder / 'truth.final.csv').read_text()
        blocks = b''.join(len(m).to_bytes(2, 'big') + m for _, m in sorted(found.items()))
        assert (folder / 'a.itch').read_bytes() == blocks + b'\0\0'
    print('the committed captures are reproduced; the session is sound')


if __name__ == '__main__':
    main()
