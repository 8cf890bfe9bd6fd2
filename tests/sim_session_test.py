#!/usr/bin/env python3
"""pcap/make_itch.py reproduces the committed capture, and what it makes is a sound session.

The session is read back by a decoder of this test's own, with books of its own: sequence numbers
without holes, checksums right, every reference live, no book ever crossed, nothing left out.
usage: make_itch_test.py ROOT
"""
import pathlib
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else '.').resolve()
LENGTHS = {b'S': 12, b'R': 39, b'H': 25, b'Y': 20, b'L': 26, b'V': 35, b'A': 36, b'F': 40,
           b'E': 31, b'C': 36, b'X': 23, b'D': 19, b'U': 35, b'P': 44, b'Q': 40, b'B': 19,
           b'I': 50}


def make(*arguments):
    subprocess.run([sys.executable, ROOT / 'pcap/make_itch.py', *map(str, arguments)], check=True)


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
        assert time > last_time, 'time goes back'
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
        self.orders, self.levels = {}, {}

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
        if locate in self.levels:
            bids, asks = self.levels[locate][b'B'], self.levels[locate][b'S']
            assert not bids or not asks or max(bids) < min(asks), 'crossed'


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make('--pcap', folder / 'sample.pcap', '--binaryfile', folder / 'sample.itch')
        sample = ROOT / 'pcap/itch-sample.pcap'
        assert (folder / 'sample.pcap').read_bytes() == sample.read_bytes(), \
            'pcap/itch-sample.pcap is not what pcap/make_itch.py makes'
        assert sample.stat().st_size < 2_000_000

        found = sequenced(sample)
        assert sorted(found) == list(range(1, 30_001))
        types = {message[:1] for message in found.values()}
        assert types == set(LENGTHS), f'missing: {set(LENGTHS) - types}'
        books = Books()
        for sequence in sorted(found):
            books.apply(found[sequence])
        blocks = b''.join(len(m).to_bytes(2, 'big') + m for _, m in sorted(found.items()))
        assert (folder / 'sample.itch').read_bytes() == blocks + b'\0\0'

        make('--pcap', folder / 'a.pcap', '--pcap-b', folder / 'b.pcap', '--drop', '0.05',
             '--messages', '5000', '--seed', '7')
        line_a, line_b = sequenced(folder / 'a.pcap'), sequenced(folder / 'b.pcap')
        assert len(line_a) < 5000 and len(line_b) < 5000, 'nothing was lost'
        assert sorted({**line_a, **line_b}) == list(range(1, 5001)), 'lost on both lines'
        assert all(line_b.get(sequence, m) == m for sequence, m in line_a.items())
    print('the committed capture is reproduced; the session is sound')


if __name__ == '__main__':
    main()
